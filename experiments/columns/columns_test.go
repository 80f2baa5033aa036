package columns

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
)

// file writes a table and returns its path.
func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "table.csv")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

// rows returns a header and n lines; line gets the number of the line.
func rows(n int, head string, line func(i int) string) string {
	var text strings.Builder
	text.WriteString(head + "\n")
	for i := range n {
		text.WriteString(line(i) + "\n")
	}
	return text.String()
}

// Each kind of column is recognised by its content and its name.
func TestKinds(t *testing.T) {
	word := func(i int, words ...string) string { return words[i%len(words)] }
	for name, of := range map[string]struct {
		column string
		value  func(i int) string
		kind   string
		use    Use
	}{
		"sentences":          {"remark", func(i int) string { return fmt.Sprintf("came in the morning of day %d", i) }, "text", Left},
		"texts that differ":  {"who", func(i int) string { return fmt.Sprintf("P%d-%d", i, i*i) }, "identifier", ID},
		"numbers that name":  {"case_id", func(i int) string { return fmt.Sprint(1000 + 7*i) }, "identifier", ID},
		"CamelCase":          {"PatientId", func(i int) string { return fmt.Sprint(1000 + 7*i) }, "identifier", ID},
		"whole numbers":      {"dose", func(i int) string { return fmt.Sprint(1000 + 7*i) }, "number", Input},
		"1 to n":             {"a", func(i int) string { return fmt.Sprint(i + 1) }, "row number", ID},
		"0 to n-1, shuffled": {"a", func(i int) string { return fmt.Sprint(i * 7 % 60) }, "row number", ID},
		"2 to n+1":           {"a", func(i int) string { return fmt.Sprint(i + 2) }, "number", Input},
		"days":               {"seen", func(i int) string { return fmt.Sprintf("2024-02-%02d", 1+i%28) }, "date", Input},
		"times":              {"seen", func(i int) string { return fmt.Sprintf("%d.3.2024 %02d:15", 1+i%28, i%24) }, "date", Input},
		"one value":          {"unit", func(i int) string { return word(i, "kg") }, "constant", Left},
		"one value or none":  {"unit", func(i int) string { return word(i, "kg", "") }, "constant", Left},
		"nothing":            {"unit", func(i int) string { return word(i, "", "NA", "?") }, "empty", Left},
		"few texts":          {"colour", func(i int) string { return word(i, "red", "green", "blue") }, "category", Input},
		"codes":              {"region_code", func(i int) string { return word(i, "1", "2", "3") }, "category", Input},
		"grades":             {"grade", func(i int) string { return word(i, "1", "2", "3") }, "number", Input},
		"answers":            {"smoker", func(i int) string { return word(i, "Yes", "No") }, "yes or no", Input},
		"weights":            {"sample_weight", func(i int) string { return fmt.Sprint(0.5 + float64(i)) }, "weight", Left},
		"body weight":        {"weight", func(i int) string { return fmt.Sprint(50.5 + float64(i)) }, "number", Input},
		"patients":           {"patient", func(i int) string { return fmt.Sprintf("P%d", i/3) }, "group", Group},
		"with tokens":        {"dose", func(i int) string { return word(i, "1.5", "n/a", "2", "-") }, "number", Input},
		"mixed":              {"dose", func(i int) string { return word(i, "1.5", "high", fmt.Sprint(i), fmt.Sprintf("v%d", i)) }, "text", Left},
		"shares":             {"share", func(i int) string { return fmt.Sprintf("%d.5 %%", i) }, "number", Input},
		"prices":             {"price", func(i int) string { return fmt.Sprintf("$%d.%02d", 3*i, i) }, "number", Input},
		"prices in euros":    {"price", func(i int) string { return fmt.Sprintf("%d.%02d €", 3*i, i) }, "number", Input},
		"times of day":       {"at", func(i int) string { return fmt.Sprintf("%02d:%02d", i%24, i) }, "date", Input},
		"with a unit":        {"dose", func(i int) string { return fmt.Sprintf("%d.5 mg", i) }, "measure", Input},
		"sizes":              {"packet", func(i int) string { return word(i, "250 g", "500 g", "1000 g") }, "measure", Input},
		"models":             {"model", func(i int) string { return word(i, "3 X", "5 X", "7 X") }, "category", Input},
		"several units":      {"size", func(i int) string { return fmt.Sprintf("%d.5 %s", i, word(i, "kg", "cm")) }, "numbers in several units", Left},
		"convertible units":  {"size", func(i int) string { return fmt.Sprintf("%d.5 %s", i, word(i, "m", "cm")) }, "measure", Input},
		"two currencies":     {"price", func(i int) string { return fmt.Sprintf("%s%d.50", word(i, "$", "€"), i) }, "numbers in several units", Left},
		"limits":             {"crp", func(i int) string { return word(i%7, "<0.5", fmt.Sprintf("%d.7", i)) }, "measure", Input},
		"a few limits":       {"crp", func(i int) string { return word(min(i, 1), "<0.5", fmt.Sprintf("%d.7", i)) }, "measure", Input},
		"long times":         {"at", func(i int) string { return fmt.Sprintf("%d:%02d:00", i, i) }, "duration", Input},
		"stays":              {"duration", func(i int) string { return fmt.Sprintf("%02d:%02d", i%24, i) }, "duration", Input},
		"spelled times":      {"at", func(i int) string { return word(i, "n/a", fmt.Sprintf("%d min", i), fmt.Sprintf("2h %d min", i)) }, "duration", Input},
		"house numbers":      {"house", func(i int) string { return fmt.Sprintf("%d%c", i%20, 'a'+i%7) }, "identifier", ID},
		"a unit below":       {"speed", func(i int) string { return word(min(i, 1), "[km/h]", fmt.Sprintf("%d.5", 2*i)) }, "number", Input},
		"accounts":           {"balance", func(i int) string { return word(i, fmt.Sprintf("USD %d.50", i), fmt.Sprintf("(%d.25)", i)) }, "number", Input},
		"thousands":          {"price", func(i int) string { return fmt.Sprintf("\"%d,%03d.50\"", i+1, i) }, "number", Input},
	} {
		t.Run(name, func(t *testing.T) {
			path := file(t, rows(60, of.column+",x,label", func(i int) string {
				return fmt.Sprintf("%s,%g,%s", of.value(i), 0.25*float64(i*i), word(i, "a", "b"))
			}))
			table, err := Read(path, "")
			if err != nil {
				t.Fatal(err)
			}
			if c := table.Columns[0]; c.Kind != of.kind || c.Use != of.use || c.Name != of.column {
				t.Errorf("%+v, want %s, %v", c, of.kind, of.use)
			}
			if _, err := data.Load(table.Spec, ".", 0); err != nil {
				t.Errorf("%v\n%+v", err, table.Spec)
			}
		})
	}
}

// Every finding about a column has a remedy.
func TestFound(t *testing.T) {
	table, err := Read(file(t, rows(60, "a,b,c,d,label", func(i int) string {
		value := fmt.Sprintf("%.1f", float64(i)/7)
		if i%9 == 4 {
			value = "-999"
		}
		return fmt.Sprintf("%s,%d,%02d:30,%d,%d", value, 900+i%100, i%24, i%2*999, i%2)
	})), "")
	if err != nil {
		t.Fatal(err)
	}
	for j, want := range []string{"numbers, 0 to 8.4, mean 4.18491; -999 (7 times) is taken for a missing value", "",
		"times of the day, 00:30 to 23:30", ""} {
		found := table.Columns[j].Found
		if !strings.Contains(found, want) || want == "" && strings.Contains(found, "missing") {
			t.Errorf("%s: %s", table.Names[j], found)
		}
	}
}

// A code is a missing value of the file if it occurs three times, farther from all others than three
// times their range, and if no other column may have it as a value. Otherwise a note asks.
func TestCodesOfMissingValues(t *testing.T) {
	for name, of := range map[string]struct {
		a, b    func(i int) string
		missing []cells.Name
		note    string
	}{
		"clear":           {coded(10, 6, "-999"), counts(50), []cells.Name{"-999"}, "a has -999 10 times, far from all other values: written into missing_values"},
		"with decimals":   {coded(10, 6, "-999.0"), counts(50), []cells.Name{"-999"}, "a has -999 10 times, far"},
		"above":           {coded(10, 6, "999"), counts(50), []cells.Name{"999"}, "a has 999 10 times, far"},
		"wide range":      {func(i int) string { return []string{"99", "-15", "-3", "5", "14"}[i%5] }, counts(5), nil, "a has 99 12 times: if it stands for a missing value"},
		"both columns":    {coded(10, 6, "-999"), coded(10, 6, "-999"), []cells.Name{"-999"}, "b has -999 10 times, far"},
		"a value of b":    {coded(3, 6, "99"), func(i int) string { return fmt.Sprint(2*i + 1) }, nil, "a has 99 10 times: if it stands for a missing value"},
		"twice":           {coded(10, 30, "-999"), counts(50), nil, "a has -999 2 times: if it stands for a missing value"},
		"once":            {coded(10, 60, "-999"), counts(50), nil, ""},
		"within":          {counts(120), counts(50), nil, ""},
		"below 0 as well": {func(i int) string { return []string{"-999", "-0.5", "0.25", "1.5", "2"}[i%5] }, counts(50), nil, "a has -999 12 times: if"},
	} {
		table, err := Read(file(t, rows(60, "a,b,label", func(i int) string {
			return fmt.Sprintf("%s,%s,%c", of.a(i), of.b(i), "xy"[i%2])
		})), "")
		if err != nil {
			t.Fatal(err)
		}
		notes := strings.Join(table.Notes, "\n")
		if !slices.Equal(table.Spec.MissingValues, of.missing) || !strings.Contains(notes, of.note) || of.note == "" && notes != "" {
			t.Errorf("%s: missing_values %q, notes %q", name, table.Spec.MissingValues, notes)
		}
		if of.missing != nil && (table.Columns[0].Missing != 10 || table.Columns[0].Use != Input) {
			t.Errorf("%s: %+v", name, table.Columns[0])
		}
	}
}

// coded has numbers from 1 up to a limit and, in one row of several, a code.
func coded(limit float64, every int, code string) func(i int) string {
	return func(i int) string {
		if i%every == 3 {
			return code
		}
		return fmt.Sprintf("%.3f", 1+(limit-1)*float64(i)/60)
	}
}

// counts are whole numbers from 0 on, below a limit.
func counts(limit int) func(i int) string {
	return func(i int) string { return fmt.Sprint(i * limit / 60) }
}

// A group that is found by its values and not by its name is asked about, and may be named an input.
// Columns that are left out have their reason, with a text.
func TestNotes(t *testing.T) {
	path := file(t, rows(240, "city,patient_id,mixed,label", func(i int) string {
		mixed := fmt.Sprint(i)
		if i%3 == 1 {
			mixed = "about 7"
		}
		if i%3 == 2 {
			mixed = "perhaps " + fmt.Sprint(i)
		}
		return fmt.Sprintf("city %d,%d,%s,%c", i*7%30, i/4, mixed, "xy"[i/30%2])
	}))
	for name, of := range map[string]struct {
		given Given
		use   Use
		notes []string
	}{
		"found":    {Given{Drop: []cells.Name{"patient_id"}}, Group, []string{"city is taken for a group, because its 30 values repeat", `mixed is left out: text: 80 numbers and 160 texts, such as "about 7"`}},
		"an input": {Given{Drop: []cells.Name{"patient_id"}, Inputs: []cells.Name{"city"}}, Input, []string{"mixed is left out"}},
	} {
		table, err := ReadGiven(path, of.given)
		if err != nil {
			t.Fatal(err)
		}
		if table.Columns[0].Use != of.use || len(table.Notes) != len(of.notes) {
			t.Errorf("%s: %+v, notes %q", name, table.Columns[0], table.Notes)
			continue
		}
		for k, want := range of.notes {
			if !strings.Contains(table.Notes[k], want) {
				t.Errorf("%s: %q, want %q", name, table.Notes[k], want)
			}
		}
	}
	table, err := Read(file(t, rows(240, "patient_id,a,label", func(i int) string {
		return fmt.Sprintf("%d,%.2f,%c", i/4, float64(i)/7, "xy"[i/30%2])
	})), "")
	if err != nil || table.Columns[0].Use != Group || table.Notes != nil {
		t.Errorf("a group by its name has a note: %q, %v", table.Notes, err)
	}
}

// The label is found where tables usually have it.
func TestLabels(t *testing.T) {
	for name, of := range map[string]struct{ text, named, want, why string }{
		"last":             {"a,b,c\n1,2,x\n3,4,y\n5,6,x\n7,9,y\n", "", "c", "the last column, the only column of few values"},
		"first":            {"c,a,b\nx,1,2.5\ny,3,4\nx,5,6\ny,7,9\n", "", "c", "the first column, the only column of few values"},
		"by name":          {"a,target,c\n1,0,x\n3,1,y\n5,0,x\n7,1,y\n", "", "target", "its name"},
		"a number":         {"a,b\n1,2.5\n3,4.5\n5,6\n", "", "b", "the last column, numbers"},
		"asked for":        {"a,b,c\nu,2,x\nv,4,y\nu,6,x\nv,9,y\n", "a", "a", "as asked for"},
		"asked for by no.": {"a,b,c\nu,2,x\nv,4,y\nu,6,x\nv,9,y\n", "1", "a", "as asked for"},
		"last is an id":    {"a,grp,id\n1.5,u,k1\n2.5,v,k2\n3,u,k3\n9,v,k4\n", "", "grp", "the only column of few values"},
		"often missing":    {"a,b,c\nu,2,x\nv,4,\nu,6,\nv,9,x\nu,8,y\nu,8.5,y\n", "", "a", "the first column"},
		"words alone":      {"cap,odour,class\nflat,none,e\nbell,foul,p\nflat,foul,p\nbell,none,e\n", "", "class", "its name, the last column, its values: e (2), p (2)"},
	} {
		table, err := Read(file(t, of.text), of.named)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := table.Names[table.Label]; got != of.want || table.Why != of.why {
			t.Errorf("%s: %q, %s", name, got, table.Why)
		}
	}
	for name, of := range map[string]struct{ text, named, want string }{
		"unknown": {"a,b\n1,x\n2,y\n", "B", `no column "B"; did you mean "b"`},
		"one":     {"a,b,y\n0,0,x\n1,2,x\n2,4,x\n", "", `column "y" looks like the label, but has only one value, x`},
		"useless": {"a,b\n1,x\n2,x\n", "b", "fewer than two different values"},
		"none":    {"a,b\n1,k1\n1,k2\n1,k3\n", "", "no column can be the label"},
	} {
		if _, err := Read(file(t, of.text), of.named); err == nil || !strings.Contains(err.Error(), of.want) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Findings about the whole file go to the data section, which can read the file.
func TestSpec(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	path := file(t, rows(80, "Nr;Preis;Menge;Ort;Klasse", func(i int) string {
		label := []string{"gut", "schlecht", ""}[min(i%2+i/79, 2)]
		if i == 40 {
			label = "selten"
		}
		price := fmt.Sprintf("%d.%03d,5", 1+i, r.IntN(1000))
		if i%9 == 0 {
			price = []string{"", "k.A."}[i%2]
		}
		return fmt.Sprintf("%d;%s;%d %%;%s;%s", i+1, price, 3*i, []string{"Ulm", "Kiel"}[r.IntN(2)], label)
	}))
	table, err := Read(path, "")
	if err != nil {
		t.Fatal(err)
	}
	s := table.Spec
	if s.Decimal != "comma" || fmt.Sprint(s.ID) != "[Nr]" || s.Missing != "median" || s.MissingIndicators ||
		fmt.Sprint(s.MissingValues) != "[k.A.]" || s.Unlabelled != "drop" || s.Categorical != "one_hot" ||
		fmt.Sprint(s.Classes) != "[gut schlecht]" || table.Unlabelled != 1 || len(table.Rare) != 1 {
		t.Errorf("%+v", table)
	}
	d, err := data.Load(s, ".", 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(d.ColumnNames, " | "); got != "Preis | Menge | Ort=Kiel | Ort=Ulm" {
		t.Error(got)
	}
	if n, _ := d.X.Dims(); n != 78 || d.X.At(1, 0) < 2000 || d.X.At(1, 0) > 3001 || d.X.At(1, 1) != 0.03 {
		t.Errorf("%d cases, the second %v", n, d.X.RawRowView(1))
	}
}

// Texts in a numeric label column stand for missing labels; in a column of categories they are
// missing too.
func TestTextsAmongLabels(t *testing.T) {
	for _, whole := range []bool{true, false} {
		table, err := Read(file(t, rows(80, "x,colour,label", func(i int) string {
			label := fmt.Sprint(i % 2)
			if !whole {
				label = fmt.Sprint(0.37 * float64(i*i))
			}
			if i%10 == 3 {
				label = "unknown"
			}
			return fmt.Sprintf("%d.5,%s,%s", i*i, []string{"red", "unknown", "blue"}[i%3], label)
		})), "")
		if err != nil {
			t.Fatal(err)
		}
		s := table.Spec
		if fmt.Sprint(s.MissingValues) != "[unknown]" || s.Unlabelled != "drop" || table.Unlabelled != 8 || s.Missing != "median" ||
			table.Numeric == whole {
			t.Errorf("%+v", table)
		}
		d, err := data.Load(s, ".", 0)
		if err != nil {
			t.Fatal(err)
		}
		if n, _ := d.X.Dims(); n != 72 {
			t.Errorf("%d cases", n)
		}
	}
}

// Only the column that is spelt in several ways is compared without letter case, and labels keep theirs.
func TestSpellingsOfOneColumn(t *testing.T) {
	table, err := Read(file(t, rows(80, "colour,size,label", func(i int) string {
		return []string{"Blue White", "Blue white", "Blue White", "red"}[i%4] + "," + []string{"A b", "C"}[i%2] + "," + []string{"Red Dwarf", "White Dwarf"}[i*i%3%2]
	})), "")
	if err != nil {
		t.Fatal(err)
	}
	d, err := data.Load(table.Spec, ".", 0)
	if err != nil || !reflect.DeepEqual(table.Spec.IgnoreCase, data.IgnoreCase{Columns: []cells.Name{"colour"}}) ||
		fmt.Sprint(d.Classes, d.ColumnNames) != "[Red Dwarf White Dwarf] [colour=Blue White colour=red size=A b size=C]" {
		t.Errorf("%+v, %v", table.Spec.IgnoreCase, err)
	}
	if !strings.HasPrefix(table.Columns[0].Found, "2 categories: Blue White (60), red (20)") || table.Classes[0].Class != "Red Dwarf" {
		t.Errorf("%+v, %+v", table.Columns[0], table.Classes)
	}
}

// Words that differ only in case are one category; single letters are not, unless they are answers.
func TestSpellings(t *testing.T) {
	for name, of := range map[string]struct {
		levels []string
		want   string // of Spellings
		found  string
	}{
		"words":   {[]string{"Red", "RED", "blue", "red"}, "c: RED, Red, red", "2 categories"},
		"alleles": {[]string{"A", "a", "B", "b"}, "", "4 categories"},
		"answers": {[]string{"Y", "y", "N", "-"}, "c: Y, y", "3 categories"},
		"one way": {[]string{"red", "blue"}, "", "2 categories"},
	} {
		table, err := Read(file(t, rows(80, "c,x,label", func(i int) string {
			return fmt.Sprintf("%s,%d.5,%d", of.levels[i%len(of.levels)], i*i, i%2)
		})), "")
		if err != nil {
			t.Fatal(err)
		}
		if table.Spellings != of.want || (table.Spec.IgnoreCase.Columns != nil) != (of.want != "") ||
			!strings.HasPrefix(table.Columns[0].Found, of.found) {
			t.Errorf("%s: %q, %+v", name, table.Spellings, table.Columns[0])
		}
		if _, err := data.Load(table.Spec, ".", 0); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Repeated rows are kept together, with three exceptions: very few rows repeat; so many repeat that
// the inputs have few values; or the rows have groups.
func TestCopies(t *testing.T) {
	for name, of := range map[string]struct {
		head   string
		copies int // copies among 200 rows
		want   string
	}{"few": {"zone,b,y", 1, ""}, "some": {"zone,b,y", 20, "together"}, "most": {"zone,b,y", 150, ""},
		"grouped": {"patient,b,y", 20, ""}, "numbered": {",zone,b,y", 20, "together"},
		"identified": {"customer_id,zone,b,y", 20, "together"}, "half, identified": {"customer_id,zone,b,y", 100, "together"}} {
		k := -1
		path := file(t, rows(200, of.head, func(i int) string {
			number := ""
			switch k++; {
			case of.head[0] == ',':
				number = fmt.Sprintf("%d,", k)
			case of.head[0] == 'c':
				number = fmt.Sprintf("%d,", 20000+7*k*k)
			}
			i = max(i, of.copies) // the first rows are equal
			return number + fmt.Sprintf("p%d,%d,%d", i/3, i*i, i%2)
		}))
		table, err := Read(path, "")
		if err != nil {
			t.Fatal(err)
		}
		if table.Duplicates != of.copies || table.Spec.Duplicates != of.want {
			t.Errorf("%s: %d rows repeat, %q", name, table.Duplicates, table.Spec.Duplicates)
		}
	}
}

// Read and the data section that it writes accept and refuse the same files.
func FuzzRead(f *testing.F) {
	for _, text := range []string{"a,b\n1,x\n2,y\n3,x\n4,y\n", "a;b\n1,5;x\n2,5;y\n1.000,5;x\n", "id,t,l\n1,q r s,0\n2,,1\n3,q,0\n",
		"l\n1\n2\n1\n", "a,a\n1,2\n", "\"a\nb\",c\n1,2\n3,4\n1,4\n", "0 0 0\n0 1 00", "A,B\n0,\n0\"00", "1 2 0\n3 4 1\n5 6 0\n", "a,b,c\n,,\n,,\n"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 1<<10 {
			return
		}
		path := filepath.Join(t.TempDir(), "f.csv")
		if os.WriteFile(path, []byte(text), 0o666) != nil {
			return
		}
		table, err := Read(path, "")
		if err != nil || len(table.Classes) < 2 && !table.Numeric || table.Inputs() == 0 {
			return
		}
		if _, err := data.Load(table.Spec, ".", 0); err != nil {
			t.Errorf("%v\n%+v", err, table.Spec)
		}
	})
}

// Scales, bands and numbered texts have an order, whatever the language; names have none.
func TestOrdered(t *testing.T) {
	for _, of := range []struct {
		name, values string // the values in another order than the one wanted
		want         string
	}{
		{"often", "Sometimes|Never|Always|Often", "Never < Sometimes < Often < Always"},
		{"agreement", "agree|strongly disagree|neutral|disagree|prefer not to say", "strongly disagree < disagree < neutral < agree"},
		{"German", "oft|nie|manchmal|immer", "nie < manchmal < oft < immer"},
		{"French", "souvent|jamais|parfois", "jamais < parfois < souvent"},
		{"Spanish", "alto|bajo|medio", "bajo < medio < alto"},
		{"pain", "mild|none|severe", "none < mild < severe"},
		{"size", "XL|S|M|L", "S < M < L < XL"},
		{"education", "Bachelors|HS-grad|Doctorate|Masters", "HS-grad < Bachelors < Masters < Doctorate"},
		{"month", "feb|dec|jan", "jan < feb < dec"},
		{"age", "65+|18-24|<18|25 - 34", "<18 < 18-24 < 25 - 34 < 65+"},
		{"income", ">100k|20k-50k|<20k|50k-100k", "<20k < 20k-50k < 50k-100k < >100k"},
		{"children", "3+|0|2|1", "0 < 1 < 2 < 3+"},
		{"euros", "1,000-1,999|500-999|2,000 and over", "500-999 < 1,000-1,999 < 2,000 and over"},
		{"points", "1.000-1.999|500-999|2.000-5.000", "500-999 < 1.000-1.999 < 2.000-5.000"},
		{"decimals", "0,5-1|1,5-2,5|<0,5", "<0,5 < 0,5-1 < 1,5-2,5"},
		{"one unit for both", "1-5k|500-999|5-10k", "500-999 < 1-5k < 5-10k"},
		{"numbered", "2 - rarely|10 - always|1 - never", "1 - never < 2 - rarely < 10 - always"},
		{"colours", "red|green|blue", ""},
		{"two values", "high|low", ""},
		{"two of one rank", "often|frequently|never", ""},
		{"a word too many", "low|high|medium|blue", ""},
		{"falling bands", "9-5|18-24|1-2", ""},
		{"bands that begin alike", "0-5|0-9|10-20", ""},
	} {
		values := strings.Split(of.values, "|")
		path := file(t, rows(60, "a;y", func(i int) string { return values[i%len(values)] + ";" + []string{"p", "q"}[i/5%2] }))
		table, err := Read(path, "y")
		if err != nil {
			t.Fatalf("%s: %v", of.name, err)
		}
		if got := strings.Join(table.Columns[0].Order, " < "); got != of.want {
			t.Errorf("%s: order %q, want %q", of.name, got, of.want)
		}
		if of.want == "" {
			continue
		}
		d, err := data.Load(table.Spec, "", 1)
		if err != nil {
			t.Errorf("%s: %v", of.name, err)
		} else if _, columns := d.X.Dims(); columns > 2 || d.ColumnNames[0] != "a" {
			t.Errorf("%s: inputs %q", of.name, d.ColumnNames)
		}
	}
	path := file(t, rows(60, "x;y", func(i int) string { return fmt.Sprintf("%d;%s", i*i, []string{"good", "bad", "fair"}[i%3]) }))
	if table, err := Read(path, "y"); err != nil || fmt.Sprint(table.Spec.Order) != "[bad fair good]" {
		t.Errorf("classes have the order %v, %v", table.Spec.Order, err)
	}
}

// If the other classes are numbers, many labels none are a class, and a few are missing labels.
func TestNoneIsAClass(t *testing.T) {
	for _, c := range []struct {
		each       int // one of each rows has none
		classes    string
		unlabelled int
	}{{4, "[{1 20} {2 20} {3 20} {none 20}]", 0}, {40, "[{1 20} {2 20} {3 38}]", 2}} {
		table, err := Read(file(t, rows(80, "x,y", func(i int) string {
			label := fmt.Sprint(min(i%4, 3))
			if label == "0" {
				label = "3"
			}
			if i%c.each == 0 {
				label = "none"
			}
			return fmt.Sprintf("%d.5,%s", i*i, label)
		})), "y")
		if err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(table.Classes) != c.classes || table.Unlabelled != c.unlabelled {
			t.Errorf("of %d one: %v, %d without a label; %s", c.each, table.Classes, table.Unlabelled, table.Columns[1].Found)
		}
		if found := table.Columns[1].Found; strings.Contains(found, "no label: none (2)") != (c.unlabelled == 2) {
			t.Errorf("found: %s", found)
		}
	}
}
