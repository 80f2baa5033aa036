package data

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
	"github.com/gpc-tune/gpc-tune/experiments/data/tables"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
)

// file writes a file into a folder of its own, and returns its path.
func file(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// restored is the schema of d as a model file has it.
func restored(t testing.TB, d *Data) *Schema {
	t.Helper()
	written, err := json.Marshal(d.Schema)
	if err != nil {
		t.Fatal(err)
	}
	schema := new(Schema)
	if err := json.Unmarshal(written, schema); err != nil {
		t.Fatal(err)
	}
	if err := schema.Check(); err != nil {
		t.Fatal(err)
	}
	return schema
}

// load writes the files train and, unless it is empty, test, and loads them with s.
func load(t testing.TB, s Spec, train, test string) (*Data, error) {
	t.Helper()
	dir := t.TempDir()
	write := func(name, content string) string {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		return name
	}
	s.Train = write("f.csv", train)
	if test != "" {
		s.Test = write("g.csv", test)
	}
	d, err := Load(s, dir, 1)
	if err != nil { // the folder differs from run to run
		err = fmt.Errorf("%s", strings.ReplaceAll(err.Error(), dir+string(filepath.Separator), ""))
	}
	return d, err
}

func zipped(text string) string {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	w.Close()
	return b.String()
}

const good = "a,b,label\n1,2,M\n3,4,F\n5,6,M\n"

func rows(values ...[]float64) *mat.Dense {
	m := mat.NewDense(len(values), len(values[0]), nil)
	for i, v := range values {
		m.SetRow(i, v)
	}
	return m
}

var goodX = rows([]float64{1, 2}, []float64{3, 4}, []float64{5, 6})

// Every notation of the same three cases gives the same data.
func TestFormsOfTheSameData(t *testing.T) {
	want, err := load(t, Spec{}, good, "")
	if err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(want.X, goodX) || !reflect.DeepEqual(want.Classes, []string{"F", "M"}) || !reflect.DeepEqual(want.Labels, []int{1, 0, 1}) ||
		!reflect.DeepEqual(want.ColumnNames, []string{"a", "b"}) || !reflect.DeepEqual(want.Rows, []int{0, 1, 2}) || len(want.Warnings) > 1 {
		t.Fatalf("read %+v", want)
	}
	for name, text := range map[string]string{
		"semicolons":             "a;b;label\n1;2;M\n3;4;F\n5;6;M\n",
		"tabs":                   "a\tb\tlabel\n1\t2\tM\n3\t4\tF\n5\t6\tM\n",
		"several blanks":         "  a   b label\n1    2 M\n  3 4   F  \n5 6 M",
		"blanks and tabs":        "a b label\n1 \t2 M\n3\t 4 F\n5 6  M\t\n",
		"no end of line":         strings.TrimSuffix(good, "\n"),
		"byte-order mark":        "\ufeff" + good,
		"CRLF":                   strings.ReplaceAll(good, "\n", "\r\n"),
		"CRLF, blanks":           "a b label \r\n1 2 M \r\n3 4 F \r\n5 6 M \r\n",
		"CR":                     strings.ReplaceAll(good, "\n", "\r"),
		"BOM, CRLF, quotes":      "\ufeff\"a\",\"b\",\"label\"\r\n\"1\",2,\"M\"\r\n3,4,F\r\n5,6,M\r\n",
		"quotes, blanks":         "\"a\" \"b\"  \"label\"\n1 2 \"M\"\n3 4 F\n5 6 M\n",
		"comments, blank lines":  "# about\na,b,label\n\n1,2,M\n# middle\n3,4,F\n   \n5,6,M\n#end",
		"blanks around fields":   "a , b, label\n 1, 2 ,M\n3,4 , F\n5,6, \"M\"\n",
		"trailing delimiter":     "a,b,label,\n1,2,M,\n3,4,F,\n5,6,M,\n",
		"trailing, not header":   "a,b,label\n1,2,M,\n3,4,F,\n5,6,M,\n",
		"other number texts":     "a,b,label\n+1.0,2e0,M\n3.,.4e1,F\n5,0.06E+2,M\n",
		"gzip":                   zipped(good),
		"gzip of BOM and CRLF":   zipped("\ufeff" + strings.ReplaceAll(good, "\n", "\r\n")),
		"gzip in several pieces": zipped(good[:20]) + zipped(good[20:]),
	} {
		t.Run(name, func(t *testing.T) {
			got, err := load(t, Spec{}, text, "")
			if err != nil {
				t.Fatal(err)
			}
			if got.Hash != want.Hash || !mat.Equal(got.X, want.X) || !reflect.DeepEqual(got.ColumnNames, want.ColumnNames) {
				t.Errorf("read %q %v %v", got.ColumnNames, mat.Formatted(got.X), got.Labels)
			}
		})
	}
}

func TestBzip2(t *testing.T) {
	d, err := Load(Spec{Train: "testdata/good.csv.bz2"}, "", 1)
	if err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(d.X, goodX) || d.Name != "good" {
		t.Errorf("read %q %v", d.Name, mat.Formatted(d.X))
	}
}

func TestHashDependsOnWhatResultsDependOn(t *testing.T) {
	want, err := load(t, Spec{}, good, good)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]string{want.Hash: "itself"}
	for name, f := range map[string]struct {
		s           Spec
		train, test string
	}{
		"no test":      {Spec{}, good, ""},
		"value":        {Spec{}, strings.Replace(good, "1", "1.0000000000000002", 1), good},
		"test value":   {Spec{}, good, strings.Replace(good, "1", "7", 1)},
		"column name":  {Spec{}, strings.Replace(good, "a", "c", 1), strings.Replace(good, "a", "c", 1)},
		"label":        {Spec{}, strings.Replace(good, "6,M", "6,F", 1), good},
		"class name":   {Spec{}, strings.ReplaceAll(good, "M", "N"), strings.ReplaceAll(good, "M", "N")},
		"positive":     {Spec{Positive: "F"}, good, good},
		"column order": {Spec{Columns: Columns{Chosen: []cells.Name{"b", "a"}}}, good, good},
		"row order":    {Spec{}, "a,b,label\n3,4,F\n1,2,M\n5,6,M\n", good},
	} {
		d, err := load(t, f.s, f.train, f.test)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if other, is := seen[d.Hash]; is {
			t.Errorf("%s has the hash of %s", name, other)
		}
		seen[d.Hash] = name
	}
	zero, err := load(t, Spec{}, strings.Replace(good, "1", "-0", 1), "")
	if err != nil {
		t.Fatal(err)
	}
	if plus, err := load(t, Spec{}, strings.Replace(good, "1", "0", 1), ""); err != nil || plus.Hash != zero.Hash {
		t.Errorf("0 and -0 differ (%v)", err)
	}
}

// Each faulty file is refused with the place of the fault and a remedy.
func TestFaultyFiles(t *testing.T) {
	many := strings.Repeat("1,x,M\n", 50)
	for name, f := range map[string]struct {
		s    Spec
		text string
		want []string // parts of the error
	}{
		"empty":                {Spec{}, "", []string{"f.csv: is empty"}},
		"blank":                {Spec{}, "\n\r\n  \n# comment\n", []string{"f.csv: is empty"}},
		"byte-order mark only": {Spec{}, "\ufeff", []string{"f.csv: is empty"}},
		"header only":          {Spec{}, "a,b,label\n", []string{"f.csv:1: has a single line", "header"}},
		"header only, known":   {Spec{Label: "label"}, "1,2,label\n", []string{"f.csv: has no cases"}},
		"one row":              {Spec{}, "1,2,M\n", []string{"f.csv:1: is the only case"}},
		"header and one row":   {Spec{}, "a,b,label\n1,2,M\n", []string{"f.csv:2: is the only case"}},
		"one class":            {Spec{}, "a,b,label\n1,2,M\n3,4,M\n", []string{`only cases of class "M"`, "at least two"}},
		"one column":           {Spec{}, "label\n1\n0\n1\n", []string{"data.columns: no input column is left"}},
		"ragged":               {Spec{}, "a,b,label\n1,2,M\n3,F\n5,6,7,M\n", []string{"f.csv:3: 2 fields, where the first line has 3", "f.csv:4: 4 fields"}},
		"ragged, no delimiter": {Spec{}, "1,2,M\n3\n5,6,F\n", []string{"f.csv:2: 1 field,", "taken as comma-separated"}},
		"ragged, all":          {Spec{}, "a,label\n" + strings.Repeat("1,2,M\n", 9), []string{"f.csv:2: 3 fields", "; likewise in lines 3, 4, 5, 6 and 4 more"}},
		"sign of a currency":   {Spec{}, "a,b,label\n1,2,M\n$3,4,F\n", []string{`f.csv:3:1: column "a": "$3" has the sign of a currency; set decimal: point`}},
		"row names":            {Spec{}, "a b label\n\"1\" 1 2 M\n\"2\" 3 4 F\n", []string{"f.csv:2: 4 fields", "row.names = FALSE"}},
		"text":                 {Spec{}, "a,b,label\n1,2,M\n3,\"x\"\"y\",F\n", []string{`f.csv:3:3: column "b": "x\"y" is not a number`, "drop: [b]", "categorical: one_hot"}},
		"text after CRLF":      {Spec{}, "a,b,label\r\n1,2,M\r\n3,xy,F\r\n", []string{`f.csv:3:3: column "b"`}},
		"decimal comma":        {Spec{}, "a;b;label\n1,5;2;M\n2;3;F\n", []string{`f.csv:2:1: column "a": "1,5" has a decimal comma`}},
		"decimal point":        {Spec{Decimal: "comma"}, "a;b;label\n1,5;2;M\n2.5;3;F\n", []string{`f.csv:3:1: column "a": "2.5" has a decimal point, but`}},
		"thousands in blanks":  {Spec{}, "a;b;label\n1 234;2;M\n2;3;F\n", []string{`column "a": "1 234" has blanks, apostrophes or parentheses; set`}},
		"hexadecimal":          {Spec{}, "a,b,label\n1,2,M\n0x10,4,F\n", []string{`f.csv:3:1: column "a": "0x10" is not a number`}},
		"infinite":             {Spec{}, "a,b,label\n1,2,M\n-Inf,4,F\n", []string{`f.csv:3:1: column "a": "-Inf" is not finite`}},
		"overflow":             {Spec{}, "a,b,label\n1,2,M\n1e999,4,F\n", []string{`f.csv:3:1:`, "is not finite, or beyond 1e+100"}},
		"negative overflow":    {Spec{}, "a,b,label\n1,2,M\n-1e999,4,F\n", []string{`f.csv:3:1:`, "is not finite, or beyond 1e+100"}},
		"huge":                 {Spec{}, "a,b,label\n1,2,M\n1e101,4,F\n", []string{`f.csv:3:1:`, "is not finite, or beyond 1e+100"}},
		"missing":              {Spec{}, "a,b,label\n1,2,M\n3,,F\nNA,NaN,F\n5,?,M\n", []string{`f.csv:3:3: column "b" has no value`, "missing: drop, mean or median", "or median; likewise in lines 4 and 5\n", "f.csv:4:1:"}},
		"missing label":        {Spec{Missing: "mean"}, "a,b,label\n1,2,M\n3,4,\n5,6,F\n", []string{`f.csv:3:5: the label (column "label") is missing`, "missing: drop"}},
		"missing group":        {Spec{Group: "a"}, "a,b,label\n1,2,M\n,4,F\n", []string{`f.csv:3:1: the group (column "a") is missing`}},
		"all dropped":          {Spec{Missing: "drop"}, "a,b,label\n1,,M\n,4,F\n", []string{"has no cases (2 dropped for missing values)"}},
		"quote inside":         {Spec{}, "a,b,label\n1,2\",M\n3,4,F\n", []string{"f.csv:2:4: a quote out of place"}},
		"quote in the first":   {Spec{}, "a,b,label\n1\",2,M\n3,4,F\n", []string{"f.csv:2:2: a quote out of place"}},
		"quotes inside":        {Spec{}, "a,b,label\n1,2\",M\n3,4\",F\n5,6,F\n", []string{"f.csv:2:4: a quote out of place", "; likewise in line 3"}},
		"open quote":           {Spec{}, "a,b,label\n1,2,M\n3,\"4,F\n", []string{"f.csv:3:", "a quote out of place"}},
		"open quote, header":   {Spec{Label: "label"}, "a,\"b,label\n1,2,M\n3,4,F\n", []string{"a quote out of place"}},
		"text, many":           {Spec{}, "a,b,label\n1,2,M\n" + many, []string{"f.csv:3:3:", "likewise in lines 4, 5, 6, 7 and 45 more"}},
		"several kinds":        {Spec{}, "a,b,label\n1,2,M\n3,F\nx,4,F\n5,,M\n6,7\",M\n", []string{"f.csv:3: 2 fields", "f.csv:4:1:", "f.csv:5:3:", "f.csv:6:4:"}},
		"NUL":                  {Spec{}, "a,b,label\n1,\x002,M\n", []string{"f.csv:2:3: byte 0x00 is not UTF-8 text"}},
		"binary":               {Spec{}, "\x7fELF\x02\x01\x01\x00\x00", []string{"f.csv:1:8: byte 0x00"}},
		"not UTF-8":            {Spec{}, "a,b,label\n1,2,M\xe9\n", []string{"f.csv:2:6: byte 0xe9 is not UTF-8 text; set encoding: windows-1252", "explain encoding"}},
		"not UTF-8, declared":  {Spec{Encoding: "utf-8"}, "a,b,label\n1,2,M\xe9\n", []string{"f.csv:2:6: byte 0xe9 is not UTF-8 text, as which the file is read"}},
		"not windows-1252":     {Spec{Encoding: "windows-1252"}, "a,b,label\n\xe9,2,M\x81\n", []string{"f.csv:2:6: this character is not windows-1252 text"}},
		"half a character":     {Spec{}, "\xff\xfea\x00,\x00b\x00\n\x001\x00,\x00\x00\xd8\n\x00", []string{"f.csv:2:3: this character is not utf-16le text"}},
		"an odd byte":          {Spec{}, "\xfe\xff\x00a\x00", []string{"f.csv:1:2: this character is not utf-16be text"}},
		"UTF-32":               {Spec{}, "\xff\xfe\x00\x00a\x00\x00\x00", []string{"f.csv:1:1: byte 0x00 is not utf-16le text"}},
		"unknown encoding":     {Spec{Encoding: "latin1"}, good, []string{`data.encoding: unknown value "latin1"`, "latin-1"}},
		"spreadsheet":          {Spec{}, "PK\x03\x04junk", []string{"f.csv: is a zip archive that cannot be read"}},
		"xz":                   {Spec{}, "\xfd7zXZ\x00junk", []string{"xz archive; decompress it"}},
		"truncated gzip":       {Spec{}, zipped(strings.Repeat(good, 1000))[:60], []string{"f.csv:", "the gzip stream breaks off or is damaged here (cut short); fetch the file again"}},
		"truncated header":     {Spec{}, zipped(good)[:5], []string{"f.csv: has a broken gzip header"}},
		"damaged gzip":         {Spec{}, zipped(good)[:30] + "\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00", []string{"the gzip stream breaks off or is damaged"}},
		"truncated bzip2":      {Spec{}, "BZh91AY&SY", []string{"the bzip2 stream breaks off or is damaged"}},
		"empty gzip":           {Spec{}, zipped(""), []string{"f.csv: is empty"}},
		"numeric label":        {Spec{}, "a,label\n1,2.5\n2,3.5\n3,1\n", []string{"data.label:", `column "label" is a numeric label (2.5, for one)`, "above: 25", "gaussian"}},
		"text under above":     {Spec{Above: new(25.0)}, "a,label\n1,20\n2,high\n3,30\n", []string{`f.csv:3: label "high" is not a number`}},
		"text, regression":     {Spec{Regression: true}, "a,label\n1,20\n2,high\n3,30\n", []string{`f.csv:3: label "high" is not a number`}},
		"long text":            {Spec{}, "a,b,label\n1,2,M\n" + strings.Repeat("é", 50) + ",4,F\n", []string{`f.csv:3:1: column "a": "` + strings.Repeat("é", 20) + `…" is not a number`}},
		"too many columns":     {Spec{}, strings.Repeat("1,", 1<<20) + "M\n", []string{"f.csv: 1 row of 1048577 columns are more than can be held"}},
		"a line of too many":   {Spec{}, "1,2,M\n" + strings.Repeat("1,", 1<<20+1) + "M\n", []string{"f.csv:2: has more than 1048576 fields"}},
		"passed over":          {Spec{Classes: []cells.Name{"F", "M"}, Missing: "drop"}, "a,label\n1,M\n?,F\n2,N\n3,M\n", []string{`data.classes: no case has the label "F"`}},
		"one side of above":    {Spec{Above: new(25.0)}, "a,label\n1,20\n2,21\n", []string{`only cases of class "not above 25"`}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(t, f.s, f.text, "")
			if err == nil {
				t.Fatal("no error")
			}
			for _, part := range f.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error\n%v\nshould contain %q", err, part)
				}
			}
		})
	}
}

// Columns with the same name get unique names, in training files and in files to predict.
func TestNamesThatOccurTwice(t *testing.T) {
	d, err := load(t, Spec{Drop: []cells.Name{"a.2"}}, "a,a,b,a.2,a,label\n1,2,3,4,5,M\n6,7,8,9,10,F\n", "")
	if err != nil {
		t.Fatal(err)
	}
	warnings := strings.Join(cause.Texts(d.Warnings), "\n")
	if got := strings.Join(d.ColumnNames, " "); got != "a a.3 b a.4" || d.X.At(1, 1) != 7 || d.X.At(1, 3) != 10 ||
		!strings.Contains(warnings, `the column name "a" occurs twice (columns 1 and 5); the latter is called "a.4"`) {
		t.Errorf("%s: %v\n%s", got, d.X, warnings)
	}
	path := filepath.Join(t.TempDir(), "new.csv")
	if err := os.WriteFile(path, []byte("b,a,a,a\n1,2,3,4\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Schema.Read(path); err == nil || !strings.Contains(err.Error(), "a.4") {
		t.Errorf("a file without the column a.4: %v", err)
	}
	if err := os.WriteFile(path, []byte("b,a.2,a,a,a\n1,0,2,3,4\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	again, err := d.Schema.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := again.X.RawRowView(0); !slices.Equal(got, []float64{2, 3, 1, 4}) {
		t.Errorf("predicted from %v", got)
	}
}

// With ignore_case, texts that differ only in case are one class and one category, spelt as the most
// frequent of them, also in the names of classes and in files to predict; without it they are not.
func TestIgnoreCase(t *testing.T) {
	text := "colour,x,id,label\nRed,1,K,Yes\nblue,2,k,NO\nRED,3,L,yes\nBlue,4,M,no\nred,5,n,maybe\n"
	s := Spec{Categorical: "one_hot", ID: []cells.Name{"id"}, Classes: []cells.Name{"YES", "No"}, Positive: "YES", IgnoreCase: IgnoreCase{All: true}}
	d, err := load(t, s, text, "")
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(d.Classes, d.Labels, d.ColumnNames, d.IDs[0].Values) !=
		"[NO Yes] [1 0 1 0] [colour=Blue colour=RED x] [K k L M]" {
		t.Error(d.Classes, d.Labels, d.ColumnNames, d.IDs[0].Values)
	}
	path := filepath.Join(t.TempDir(), "new.csv")
	if err := os.WriteFile(path, []byte("id,label,x,colour\nZ,YES,1,rED\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	again, err := d.Schema.Read(path)
	if err != nil {
		t.Fatal(err)
	}
	if fmt.Sprint(again.X.RawRowView(0), again.Labels, again.Warnings) != "[0 1 1] [1] []" {
		t.Error(again.X.RawRowView(0), again.Labels, again.Warnings)
	}
	if fmt.Sprint(d.OtherClasses, d.Warnings) != "[{maybe 1}] []" || !strings.Contains(d.About, "left out: id (id), maybe (1) (not in classes)") {
		t.Error(d.OtherClasses, d.Warnings, d.About)
	}
	// A model file of an earlier version has all texts in small letters.
	old := restored(t, d)
	old.IgnoreCase, old.Classes, old.Label.IgnoreCase = true, []string{"no", "yes"}, false
	old.Inputs[0].IgnoreCase, old.Inputs[0].Levels = false, []string{"blue", "red"}
	if again, err = old.Read(path); err != nil || fmt.Sprint(again.X.RawRowView(0), again.Labels) != "[0 1 1] [1]" {
		t.Error(again, err)
	}
	if rows, err := old.Rows(); err != nil || rows.Add([]any{"rED", json.Number("1"), "Z"}) != nil {
		t.Error(rows, err)
	} else if again, err = rows.Data(); err != nil || fmt.Sprint(again.X.RawRowView(0)) != "[0 1 1]" {
		t.Error(again, err)
	}
	// One column alone: the label keeps its five spellings.
	s = Spec{Categorical: "one_hot", ID: []cells.Name{"id"}, IgnoreCase: IgnoreCase{Columns: []cells.Name{"colour"}}}
	if d, err = load(t, s, text, ""); err != nil || len(d.Classes) != 5 || fmt.Sprint(d.ColumnNames) != "[colour=Blue colour=RED x]" {
		t.Error(err, d.Classes, d.ColumnNames)
	}
	if again, err = restored(t, d).Read(path); err != nil || fmt.Sprint(again.X.RawRowView(0), again.Labels) != "[0 1 1] [-1]" {
		t.Error(again, err)
	}
	for column, want := range map[cells.Name]string{"id": `column "id" is neither an input nor the label`, "none": `no column "none"`} {
		s.IgnoreCase.Columns = []cells.Name{column}
		if _, err := load(t, s, text, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Error(err)
		}
	}
	if d, err = load(t, Spec{Categorical: "one_hot", ID: []cells.Name{"id"}}, text, ""); err != nil || len(d.Classes) != 5 || len(d.ColumnNames) != 6 {
		t.Error(err, d.Classes, d.ColumnNames)
	}
}

func TestTooManyClassesIsRefused(t *testing.T) {
	var b strings.Builder
	for i := range 101 {
		fmt.Fprintf(&b, "%d,%d\n", i, 1000+i)
	}
	_, err := load(t, Spec{}, b.String(), "")
	if err == nil || !strings.Contains(err.Error(), "101 different values") || !strings.Contains(err.Error(), "above: 25") {
		t.Errorf("got %v", err)
	}
}

func TestHeaderDetection(t *testing.T) {
	for name, f := range map[string]struct {
		s      Spec
		text   string
		header bool
		n      int
	}{
		"none, text labels":          {Spec{}, "1,2,M\n3,4,F\n", false, 2},
		"none, missing value first":  {Spec{Missing: "mean"}, "?,2,M\n3,4,F\nNA,1,F\n", false, 3},
		"none, numeric labels":       {Spec{}, "1,2,0\n3,4,1\n", false, 2},
		"names":                      {Spec{}, "a,b,c\n1,2,M\n3,4,F\n", true, 2},
		"numbers for names":          {Spec{}, "0,1,label\n1,2,0\n3,4,1\n", true, 2},
		"named label":                {Spec{Label: "y"}, "0,1,y\n1,2,M\n3,4,F\n", true, 2},
		"all text":                   {Spec{Categorical: "one_hot"}, "u,x,M\nv,y,F\n", false, 2},
		"all text, a column known":   {Spec{Categorical: "one_hot", Label: "kind"}, "p,q,kind\nu,x,M\nv,y,F\n", true, 2},
		"label index is no evidence": {Spec{Label: "1"}, "1,2\n0,4\n", false, 2},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := load(t, f.s, f.text, "")
			if err != nil {
				t.Fatal(err)
			}
			if n, _ := d.X.Dims(); d.Schema.Header != f.header || n != f.n {
				t.Errorf("header %v, %d cases", d.Schema.Header, n)
			}
		})
	}
}

func TestDoubtfulHeadersWarn(t *testing.T) {
	d, err := load(t, Spec{}, ",1,label\n1,2,M\n3,4,F\n5,6,M\n", "")
	if err == nil {
		t.Fatalf("a header without any text where a number follows was taken: %+v", d)
	}
	d, err = load(t, Spec{Label: "label"}, ",7,label\n1,2,M\n3,4,F\n5,6,F\n7,8,M\n", "")
	if err != nil {
		t.Fatal(err)
	}
	if w := strings.Join(cause.Texts(d.Warnings), "\n"); !strings.Contains(w, "it is called x1") || !strings.Contains(w, "although it holds numbers (7)") {
		t.Errorf("warnings %q", w)
	}
}

func TestQuotedDelimitersAndLineEnds(t *testing.T) {
	d, err := load(t, Spec{ID: []cells.Name{"name"}}, "name,a,label\n\"Smith, John\",1,\"x;y\"\n\"two\nlines\",2,\"z\"\"z\"\n\"a;b\",3,\"x;y\"\n", "")
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(d.IDs[0].Values, []string{"Smith, John", "two\nlines", "a;b"}) || !reflect.DeepEqual(d.Classes, []string{"x;y", `z"z`}) {
		t.Errorf("read %q, %q", d.IDs, d.Classes)
	}
}

// A spreadsheet's note about the delimiter is no case, and a vertical bar can be the delimiter.
func TestDelimiterNotes(t *testing.T) {
	for _, text := range []string{"sep=;\r\na;b;label\r\n1,5;2;M\r\n2,5;3;F\r\n", "a|b|label\n1,5|2|M\n2,5|3|F\n"} {
		d, err := load(t, Spec{Decimal: "comma"}, text, "")
		if err != nil {
			t.Fatal(err)
		}
		if d.X.At(1, 0) != 2.5 || strings.Join(d.ColumnNames, " ") != "a b" {
			t.Errorf("%v, %q", d.X, d.ColumnNames)
		}
	}
}

// Blank lines take no memory as cases: 2000 cases of 100 000 columns would be refused.
func TestManyColumns(t *testing.T) {
	const columns = 100_000
	line := strings.Repeat("1.5,", columns)
	d, err := load(t, Spec{}, line+"M\n"+line+"F\n"+strings.Repeat("\n", 2000)+line+"M\n", "")
	if err != nil {
		t.Fatal(err)
	}
	if n, c := d.X.Dims(); n != 3 || c != columns || d.ColumnNames[columns-1] != "x100000" || mat.Sum(d.X) != 3*1.5*columns {
		t.Errorf("%d × %d", n, c)
	}
}

func TestZipTrainForm(t *testing.T) {
	var b strings.Builder
	for _, label := range []string{"6.0000", "5.0000", "6.0000"} {
		b.WriteString(label + strings.Repeat(" -1.0000", 255) + " 0.3000 \n")
	}
	d, err := load(t, Spec{}, b.String(), "")
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(d.Classes, []string{"5", "6"}) || d.X.At(0, 255) != 0.3 || d.Counts()[1] != 2 || !strings.HasPrefix(d.Form, "zip.train") {
		t.Errorf("%s: classes %v, last pixel %v", d.Form, d.Classes, d.X.At(0, 255))
	}
	// If the first column has a value other than a digit, the file does not have this form.
	if d, err = load(t, Spec{Above: new(0.0)}, "# c\n\n"+strings.Replace(b.String(), "6.0000", "6.5000", 1)+strings.Repeat("0 ", 257), ""); err != nil || d.X.At(0, 0) != 6.5 {
		t.Errorf("6.5 first gives %v", err)
	}
	// An explicit label takes precedence over the form.
	if d, err = load(t, Spec{Label: "257", Above: new(0.1)}, strings.Replace(b.String(), "0.3000 \n", "0.0000 \n", 1), ""); err != nil || d.X.At(0, 0) != 6 {
		t.Errorf("label: 257 gives %v", err)
	}
}

func TestFilesThatCannotBeOpened(t *testing.T) {
	dir := t.TempDir()
	_, err := Load(Spec{Train: "no.csv", Test: "."}, dir, 1)
	if err == nil || !strings.Contains(err.Error(), "data.train: cannot read no.csv (no such file or directory); relative paths begin at "+dir+"\n") || !strings.Contains(err.Error(), dir+": has no files") {
		t.Errorf("got %v", err)
	}
}

func TestSVMLight(t *testing.T) {
	text := "# made by hand\n+1 qid:3 1:0.5 4:-2 # first\n-1 qid:3 2:1e1\n\n1.0 qid:4\n"
	d, err := load(t, Spec{Group: "qid"}, text, "")
	if err != nil {
		t.Fatal(err)
	}
	want := rows([]float64{0.5, 0, 0, -2}, []float64{0, 10, 0, 0}, []float64{0, 0, 0, 0})
	if !mat.Equal(d.X, want) || !reflect.DeepEqual(d.Classes, []string{"-1", "1"}) || !reflect.DeepEqual(d.Labels, []int{1, 0, 1}) ||
		!reflect.DeepEqual(d.Groups, []string{"3", "3", "4"}) || !reflect.DeepEqual(d.ColumnNames, []string{"x1", "x2", "x3", "x4"}) {
		t.Errorf("read %v %v %v %v", mat.Formatted(d.X), d.Classes, d.Labels, d.Groups)
	}
	if d, err = load(t, Spec{Classes: []cells.Name{"1", "2"}}, text+"2 1:1\n", ""); err != nil || !reflect.DeepEqual(d.Rows, []int{0, 2, 3}) {
		t.Errorf("classes: %+v, %v", d, err)
	}
	d, err = load(t, Spec{Columns: Columns{Chosen: []cells.Name{"4", "x1"}}}, strings.ReplaceAll(text, "\n", "\r\n"), "")
	if err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(d.X, rows([]float64{-2, 0.5}, []float64{0, 0}, []float64{0, 0})) {
		t.Errorf("read %v", mat.Formatted(d.X))
	}
}

func TestTimesAreNoSVMLight(t *testing.T) {
	d, err := load(t, Spec{ID: []cells.Name{"when"}}, "when,a,label\n2001-02-03 10:20,1,M\n2001-02-03 10:30,2,F\n", "")
	if err != nil || d.Schema.Sparse || d.IDs[0].Values[1] != "2001-02-03 10:30" {
		t.Errorf("read %+v, %v", d, err)
	}
}

func TestSVMLightTestFile(t *testing.T) {
	d, err := load(t, Spec{}, "1 1:1 3:1\n2 2:1\n", "2 1:5\n1 2:1 9:4\n")
	if err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(d.Test.X, rows([]float64{5, 0, 0}, []float64{0, 1, 0})) || len(d.Test.Warnings) != 1 {
		t.Errorf("read %v, warnings %q", mat.Formatted(d.Test.X), d.Test.Warnings)
	}
	if _, err = load(t, Spec{}, "1 1:1 3:1\n2 2:1\n", good); err == nil || !strings.Contains(err.Error(), "g.csv: has another format") {
		t.Errorf("got %v", err)
	}
}

func TestFaultySVMLight(t *testing.T) {
	for name, f := range map[string]struct {
		text string
		want []string
	}{
		"absurd index":     {"1 1:1\n-1 1000000000000:1\n", []string{"f.csv:2:4: index 1000000000000 is larger than 1048576"}},
		"beyond 64 bits":   {"1 99999999999999999999999:1\n-1 1:1\n", []string{"f.csv:1:3: index 99999999999999999999999 is larger than 1048576"}},
		"too much":         {strings.Repeat("1 1:1\n", 200) + "-1 1048570:1\n", []string{"f.csv: 201 rows of 1048572 columns are more than can be held"}},
		"from 0":           {"1 0:1 1:2\n-1 1:1\n", []string{"f.csv:1:3: index 0: indices start at 1; add 1"}},
		"negative":         {"1 -3:1\n-1 1:1\n", []string{"f.csv:1:3: index -3: indices start at 1"}},
		"falling":          {"1 2:1 1:1\n-1 1:1\n", []string{"f.csv:1:7: index 1 after 2: indices must increase"}},
		"twice":            {"1 2:1 2:1\n-1 1:1\n", []string{"f.csv:1:7: index 2 after 2"}},
		"no pair":          {"1 2:1 7\n-1 1:1\n", []string{`f.csv:1:7: "7" is not index:value`}},
		"no label":         {"1 1:1\n1:1 2:1\n", []string{`f.csv:2:1: "1:1" where the label should be`}},
		"text index":       {"1 1:1 b:2\n-1 1:1\n", []string{`f.csv:1:7: index "b" is not a whole number`}},
		"text value":       {"1 1:x\n-1 1:1\n", []string{`f.csv:1:3: index 1: "x" is not a number`}},
		"no value":         {"1 1:\n-1 1:1\n", []string{`f.csv:1:3: index 1 has no value`}},
		"missing value":    {"1 1:nan\n-1 1:1\n", []string{`f.csv:1:3: index 1 has no value ("nan")`, "use CSV"}},
		"infinite":         {"1 1:inf\n-1 1:1\n", []string{`f.csv:1:3: index 1: "inf" is not finite`}},
		"missing label":    {"1 1:1\n? 1:1\n", []string{"f.csv:2:1: the label", "is missing"}},
		"one class":        {"1 1:1\n1 1:2\n", []string{`only cases of class "1"`}},
		"one row":          {"1 1:1\n", []string{"f.csv:1: is the only case"}},
		"many":             {strings.Repeat("1 0:1\n", 30), []string{"f.csv:20:3:", "f.csv: and 10 more"}},
		"qid in the wrong": {"1 1:1 qid:2\n-1 1:1\n", []string{`f.csv:1:7: index "qid" is not a whole number`}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(t, Spec{}, f.text, "")
			if err == nil {
				t.Fatal("no error")
			}
			for _, part := range f.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error\n%v\nshould contain %q", err, part)
				}
			}
		})
	}
	if _, err := load(t, Spec{Label: "1"}, "1 1:1 2:0\n-1 1:1\n", ""); err == nil || !strings.Contains(err.Error(), "label first; remove the key") {
		t.Errorf("label: 1 gives %v", err)
	}
	for _, s := range []Spec{{ID: []cells.Name{"1"}}, {Group: "x2"}, {Columns: Columns{Chosen: []cells.Name{"1", "qid"}}}} {
		if _, err := load(t, s, "1 qid:1 1:1 2:0\n-1 qid:2 1:1\n", ""); err == nil || !strings.Contains(err.Error(), "only qid can be id or group, and only the features inputs") {
			t.Errorf("%+v gives %v", s, err)
		}
	}
	if d, err := load(t, Spec{ID: []cells.Name{"qid"}, Drop: []cells.Name{"2"}}, "1 qid:1 1:1 2:0\n-1 qid:2 1:1\n", ""); err != nil || d.IDs[0].Values[1] != "2" || len(d.ColumnNames) != 1 {
		t.Errorf("id: qid gives %+v, %v", d, err)
	}
	if _, err := load(t, Spec{Group: "qid"}, "1 qid:1 1:1\n-1 1:1\n", ""); err == nil || !strings.Contains(err.Error(), "f.csv:2:1: the group") {
		t.Errorf("a qid that is missing gives %v", err)
	}
}

// An absurd index is refused before anything of its size is allocated.
func TestAbsurdIndexAllocatesNothing(t *testing.T) {
	text := "1 1:1\n-1 1000000000000:1\n1 1048576:1\n" + strings.Repeat("-1 1:1\n", 1000)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	_, err := read(source("f", text), readOptions{plan: func(*table) error { return nil }})
	runtime.ReadMemStats(&after)
	if err == nil {
		t.Error("no error")
	}
	if bytes := after.TotalAlloc - before.TotalAlloc; bytes > 4<<20 {
		t.Errorf("%d bytes", bytes)
	}
}

// source returns the content of a file in memory.
func source(path, text string) tables.Source {
	src, err := tables.Decode(path, strings.NewReader(text), "", tables.MaxText, 0)
	if err != nil {
		panic(err)
	}
	return src
}

// checkTable checks the promises of the readers for any file that they accept.
func checkTable(t *testing.T, text string, s Spec) {
	if len(text) > 1<<16 {
		return
	}
	var src tables.Source
	var d *Data
	var err error
	if bytes := taken(func() {
		if src, err = tables.Decode("f", strings.NewReader(text), s.Encoding, 1<<20, 0); err == nil {
			d, err = s.readTrain(src)
		}
	}); bytes > 1<<30 {
		t.Fatalf("%d bytes of memory for %d of the file", bytes, len(text))
	}
	if err != nil {
		if err.Error() == "" {
			t.Error("an error without a message")
		}
		return
	}
	n, columns := d.X.Dims()
	if columns != len(d.ColumnNames) || n != len(d.Rows) || n < 2 {
		t.Fatalf("%d × %d with %d names, %d rows", n, columns, len(d.ColumnNames), len(d.Rows))
	}
	for i := range n {
		if i > 0 && d.Rows[i] <= d.Rows[i-1] {
			t.Fatalf("rows %v", d.Rows)
		}
		for _, v := range d.X.RawRowView(i) {
			if math.IsInf(v, 0) || math.IsNaN(v) && s.Missing != "mean" {
				t.Fatalf("value %v", v)
			}
		}
	}
	for _, k := range d.Counts() {
		if k == 0 || k == n {
			t.Fatalf("counts %v", d.Counts())
		}
	}
	// The training file read again as a test file gives the same cases, with and without labels.
	// Dropped cases may differ: they may have lacked the group (which test data do not have) or the
	// label, or had text where others have numbers.
	for _, labels := range []bool{true, false} {
		if s.Missing == "drop" && (!labels || s.Group != "" || s.Categorical == "one_hot") {
			continue
		}
		again, err := d.Schema.read(src, nil, labels)
		if err != nil {
			t.Fatalf("read again: %v", err)
		}
		again.Groups = d.Groups // which test data do not have
		if got := again.hash(); got != d.hash() {
			t.Fatalf("read again, labels %v: differs\n%v\n%v", labels, again, d)
		}
	}
	// Written as plain CSV it gives the same data.
	if s.Categorical == "one_hot" {
		return
	}
	var b strings.Builder
	for _, name := range d.ColumnNames {
		b.WriteString(quote(name) + ",")
	}
	b.WriteString("the label\n")
	for i := range n {
		for _, v := range d.X.RawRowView(i) {
			fmt.Fprintf(&b, "%v,", v)
		}
		b.WriteString(quote(d.Classes[d.Labels[i]]) + "\n")
	}
	plain, err := Spec{Missing: s.Missing, Label: "the label"}.readTrain(source("g", b.String()))
	if err != nil {
		t.Fatalf("written as\n%s\n%v", b.String(), err)
	}
	plain.Rows, plain.Groups, plain.IDs = d.Rows, d.Groups, d.IDs
	if plain.hash() != d.hash() {
		t.Fatalf("written as\n%s\ndiffers", b.String())
	}
}

func quote(s string) string { return `"` + strings.ReplaceAll(s, `"`, `""`) + `"` }

func FuzzCSV(f *testing.F) {
	for _, s := range []string{good, "1 2 M\n3 4 F\n", "a;b;c,\n1;2;x,\n3;?;y,\n", "\ufeff\"a\"\t\"b\"\r\n1\tx\r\n,\ty\r\n", "u,x,M\nv,y,F\n", "1,2,\n3,4,\n", "# c\n 1  2\n 3  4 ", "0 44444:4",
		"\xff\xfea\x00\t\x00b\x00\n\x001\x00\t\x00\xe9\x00\n\x002\x00\t\x00\x00\xd8"} {
		f.Add(s, uint8(0))
		f.Add(s, uint8(5))
		f.Add(s, uint8(16))
	}
	f.Fuzz(func(t *testing.T, text string, how uint8) {
		s := Spec{Missing: missingModes[how%3]}
		if how&4 != 0 {
			s.Categorical = "one_hot"
		}
		if how&8 != 0 {
			s.Label = "1"
		}
		s.Encoding = tables.Encodings()[int(how>>4)%len(tables.Encodings())]
		checkTable(t, text, s)
	})
}

func FuzzSVMLight(f *testing.F) {
	for _, s := range []string{"1 1:1\n-1 2:3\n", "+1 qid:3 1:0.5 4:-2 # first\n-1 qid:3 2:1e1\n\n1.0 qid:4\n", "1 1000000000000:1\n2 1:1\n", "a 1:0\nb\n", "1\n2 7:1e99\r\n"} {
		f.Add(s)
	}
	wide := regexp.MustCompile(`[0-9]{5,7}:`) // would be allocated, which takes long
	f.Fuzz(func(t *testing.T, text string) {
		if wide.MatchString(text) {
			return
		}
		checkTable(t, text, Spec{})
		if len(text) < 1<<12 {
			checkTable(t, text, Spec{Group: "qid", Missing: "drop"})
		}
	})
}

func TestMessagesQuoteLongFieldsInPart(t *testing.T) {
	for _, field := range []string{strings.Repeat("1", 1000), strings.Repeat("x", 1000), strings.Repeat("1", 50) + "," + strings.Repeat("5", 900)} {
		if m := cells.WhyNoNumber(field, ""); len(m) > 120 || !strings.Contains(m, "…") {
			t.Errorf("%d bytes: %.200s", len(m), m)
		}
	}
}

// TestWideHeaders: reading the names takes a step for each of them, so that hundreds of thousands
// of columns are no problem. If many names are repeated or missing, only a few have a warning.
func TestWideHeaders(t *testing.T) {
	width := exhaustive.Of(20_000, 100_000)
	for name, column := range map[string]func(j int) string{
		"distinct": func(j int) string { return "cg" + strconv.Itoa(j) },
		"repeated": func(int) string { return "cg" },
		"missing":  func(j int) string { return "cg"[:max(0, 2-2*j)] },
	} {
		var header strings.Builder
		for j := range width {
			header.WriteString(column(j) + ",")
		}
		text := header.String() + "label\n" + strings.Repeat("1,", width) + "a\n" + strings.Repeat("2,", width) + "b\n"
		path := filepath.Join(t.TempDir(), "wide.csv")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var names []string
		if err := tables.Scan(path, func(l tables.Layout) { names = l.Names }, func([]string) {}); err != nil {
			t.Fatal(err)
		}
		d, err := Load(Spec{Train: path}, "", 1)
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(names)
		if different := len(slices.Compact(names)); len(d.ColumnNames) != width || different != width+1 {
			t.Errorf("%s: %d inputs, %d different names", name, len(d.ColumnNames), different)
		}
		if n := len(d.Warnings); n > 30 || (n > 3) != (name != "distinct") {
			t.Errorf("%s: %d warnings", name, n)
		}
	}
}

// There is a warning about comment lines that could be cases or the header, and about numbers with
// and without percent signs in one column.
func TestLinesAndNumbersThatAreDoubtful(t *testing.T) {
	for _, of := range []struct{ text, want string }{
		{"id,a,label\n#1,1,M\n2,2,F\n#3,3,F\n4,4,M\n5,5,F\n", "lines begin with # and have as many fields as a case: #1,1,M (cases: 2)"},
		{"#id,a,label\n1,1,M\n2,2,F\n", "as a case: #id,a,label (cases: 1)"},
		{"id a label\n#1 1 M\n2 2 F\n4 4 M\n", "as a case: #1 1 M (cases: 1)"},
		{"id,a,label\n# of us, by hand, in 2024\n#note\n1,2,\"M\n#x,y,z\"\n2,2,F\n", ""},
		{"id,a,label\n\"#1\",1,M\n\"#2\",2,F\n", ""},
		{"id,a,label\n1,50%,M\n2,0,F\n3,25,F\n4,5 %,F\n", `numbers of "a" have a percent sign and are divided by 100; others, without one, are not: 1 (cases: 2)`},
		{"id,a,label\n1,50%,M\n2,0,F\n", ""},
	} {
		d, err := load(t, Spec{Drop: []cells.Name{"1"}, Categorical: "one_hot", Categories: []cells.Name{"2"}}, of.text, "")
		if strings.Contains(of.text, "%") {
			d, err = load(t, Spec{ID: []cells.Name{"id"}}, of.text, "")
		}
		if err != nil {
			t.Fatalf("%q: %v", of.text, err)
		}
		told := ""
		for _, w := range d.Warnings {
			if w.Kind == cause.Comments || w.Kind == cause.Percent {
				told += w.String()
			}
		}
		if told != of.want && (of.want == "" || !strings.HasSuffix(told, of.want)) {
			t.Errorf("%q: %q, want %q", of.text, told, of.want)
		}
	}
}

// Later cases must have percent signs if the training cases have them, and else none. A number 0
// may be without.
func TestPercentSignsOfLaterCases(t *testing.T) {
	const all, none = "a,label\n50%,M\n0,F\n7 %,F\n", "a,label\n50,M\n0,F\n7,F\n"
	for _, of := range []struct{ training, later, want string }{
		{all, "a,label\n5%,M\n0,F\n", ""},
		{none, "a,label\n5,M\n0,F\n", ""},
		{all, "a,label\n5,M\n0,F\n0.5,M\n", `numbers of "a" have no percent sign, and are not divided by 100; those of the training cases have one, and are (cases: 2)`},
		{none, "a,label\n5%,M\n0,F\n", `numbers of "a" have a percent sign and are divided by 100; some of the training cases have none, and are not (cases: 1)`},
		{all, "a,label\n5%,M\n3,F\n", `numbers of "a" have a percent sign and are divided by 100; others, without one, are not: 1 (cases: 1)`},
	} {
		for _, categorical := range []string{"", "one_hot"} {
			d, err := load(t, Spec{Label: "label", Decimal: "point", Categorical: categorical}, of.training, of.later)
			if err != nil {
				t.Fatalf("%q, %q: %v", of.training, of.later, err)
			}
			told := ""
			for _, w := range d.Test.Warnings {
				if w.Kind == cause.Percent {
					told += w.String()
				}
			}
			if !strings.HasSuffix(told, of.want) || of.want == "" && told != "" {
				t.Errorf("%q, %q, categorical %q: %q, want %q", of.training, of.later, categorical, told, of.want)
			}
		}
	}
	if d, err := load(t, Spec{Label: "label", Categorical: "one_hot"}, "a,label\n50%,M\n5,F\n7 %,F\n9,M\n", ""); err != nil || len(d.Warnings) != 1 {
		t.Errorf("%v, %v", d.Warnings, err)
	}
}

// Whole numbers that double precision rounds are counted in a warning; those that it has exactly, and
// fractions, are not.
func TestRoundedNumbersAreCounted(t *testing.T) {
	d, err := load(t, Spec{Label: "y"}, "big,even,real,y\n100000000000000076,9007199254740994,0.1,u\n"+
		"9007199254740993,9007199254740992,100000000000000076.5,v\n-9007199254740993,3,1e20,u\n", "")
	if err != nil {
		t.Fatal(err)
	}
	var all []string
	for _, w := range d.Warnings {
		if w.Kind == cause.Rounded {
			all = append(all, w.String())
		}
	}
	const want = `whole numbers of "big" have more digits than double precision, and are rounded; if they are names, list ` +
		"it under categories or drop (cases: 3)"
	if len(all) != 1 || all[0] != want {
		t.Errorf("%q, want %q", all, want)
	}
}
