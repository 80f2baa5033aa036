package data

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
	"github.com/gpc-tune/gpc-tune/experiments/data/sets"
	"github.com/gpc-tune/gpc-tune/experiments/data/tables"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
)

// sheetOf returns the texts of a table: names, and rows of cells. An empty cell is missing.
func sheetOf(t testing.TB, name string) (names []string, rows [][]string) {
	t.Helper()
	set, err := sets.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	_, text, err := set.File(false)
	if err != nil {
		t.Fatal(err)
	}
	all, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range all[1:] {
		for j, text := range row {
			if cells.Missing(text) {
				row[j] = ""
			}
		}
	}
	return all[0], all[1:]
}

// numeric reports whether a column has numbers alone.
func numeric(rows [][]string, j int) bool {
	return !slices.ContainsFunc(rows, func(row []string) bool { return row[j] != "" && !cells.IsNumber(row[j]) })
}

func asCSV(names []string, rows [][]string) string {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Write(names)
	w.WriteAll(rows)
	return b.String()
}

func asJSON(names []string, rows [][]string) string {
	var b strings.Builder
	for _, row := range rows {
		b.WriteByte('{')
		for j, name := range names {
			value := strconv.Quote(row[j])
			switch {
			case row[j] == "":
				value = "null"
			case numeric(rows, j):
				value = row[j]
			}
			fmt.Fprintf(&b, "%s%q: %s", map[bool]string{true: ", "}[j > 0], name, value)
		}
		b.WriteString("}\n")
	}
	return b.String()
}

func asZstd(text string) string {
	w, _ := zstd.NewWriter(nil)
	return string(w.EncodeAll([]byte(text), nil))
}

// Three tables give the same data in every format.
func TestReaderAgainstReader(t *testing.T) {
	for _, name := range []string{"iris", "crabs", "housing"} {
		names, all := sheetOf(t, name)
		rows := all[:0:0]
		for i := 0; i < len(all); i += 3 {
			rows = append(rows, all[i])
		}
		s := Spec{Missing: "mean", Regression: name == "housing", Label: cells.Name(names[len(names)-1])}
		for _, c := range names[:len(names)-1] {
			s.Columns.Chosen = append(s.Columns.Chosen, cells.Name(c))
		}
		want, err := load(t, s, asCSV(names, rows), "")
		if err != nil {
			t.Fatal(err)
		}
		pq := func(group int, as, by string, page int) string {
			return asParquet(names, rows, group, as, by, page)
		}
		array := "[" + strings.ReplaceAll(strings.TrimSpace(asJSON(names, rows)), "}\n", "},\n") + "]"
		for format, content := range map[string]string{
			"JSON lines":            asJSON(names, rows),
			"a JSON array":          array,
			"a sheet of Excel":      asXLSX("", map[string][][]string{"s": cellsOf(names, rows)}),
			"zstd":                  asZstd(asCSV(names, rows)),
			"zstd of JSON lines":    asZstd(asJSON(names, rows)),
			"Parquet":               pq(1000, "", "none", 2),
			"Parquet, old pages":    pq(1000, "", "snappy", 1),
			"Parquet, row groups":   pq(40, "", "snappy", 2),
			"Parquet, dictionaries": pq(70, "dictionary", "zstd", 1),
			"Parquet, gzip":         pq(1000, "dictionary", "gzip", 2),
			"Parquet, brotli":       pq(1000, "plain", "brotli", 1),
			"Parquet, lz4":          pq(1000, "plain", "lz4", 2),
			"Parquet, split bytes":  pq(30, "split", "zstd", 2),
			"gzip of Parquet":       zipped(pq(1000, "", "none", 2)),
		} {
			got, err := load(t, s, content, "")
			if err != nil {
				t.Errorf("%s, %s: %v", name, format, err)
				continue
			}
			if got.Hash != want.Hash || !reflect.DeepEqual(got.Warnings, want.Warnings) || !reflect.DeepEqual(got.Schema.Classes, want.Schema.Classes) {
				t.Errorf("%s, %s: other data than CSV has; warnings %v, not %v", name, format, got.Warnings, want.Warnings)
			}
			checkScanAndStream(t, content, got)
		}
	}
}

// checkScanAndStream checks that Scan finds the columns of a file, and that Stream gives its cases.
func checkScanAndStream(t *testing.T, content string, want *Data) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	n := 0
	if err := tables.Scan(path, func(l tables.Layout) {
		if len(l.Names) != want.Schema.Width || !l.Header {
			t.Errorf("scanned as %v", l)
		}
	}, func([]string) { n++ }); err != nil || n != len(want.Rows) {
		t.Errorf("scanned %d rows (%v), want %d", n, err, len(want.Rows))
	}
	for _, name := range []string{path, "-"} {
		var rows []int
		var x []float64
		if err := want.Schema.Stream(name, strings.NewReader(content), 64, func(d *Data) error {
			rows = append(rows, d.Rows...)
			if len(d.Rows) > 64 {
				t.Errorf("a part of %d cases", len(d.Rows))
			}
			for i := range d.Rows {
				x = append(x, d.X.RawRowView(i)...)
			}
			return nil
		}); err != nil || !reflect.DeepEqual(rows, want.Rows) || fmt.Sprint(x) != fmt.Sprint(want.X.RawMatrix().Data) {
			t.Errorf("streamed %d rows (%v), want %d", len(rows), err, len(want.Rows))
		}
	}
}

// Every type of Parquet is written as exporters of CSV write it.
func TestParquetTypes(t *testing.T) {
	want := [][]string{{"true", "-8", "18446744073709551615", "4294967295", "-5", "-9223372036854775808", "0.1", "1e-07", "spaced", "é", "1969-12-31",
		"1969-12-31 23:59:58.25", "1969-12-31 23:59:58.25", "00:00:01.5", "-123.45", "-1.234", "1970-01-01 00:00:01", "12000000-0000-0000-0000-000000000034", "A"},
		{"false", "8", "0", "1", "7", "9223372036854775807", "-1000000000", "100", "text", "é", "2022-01-08", "1970-01-01 00:00:00",
			"1970-01-01 00:00:00.000000001", "00:00:00", "0.05", "0.007", "1970-01-02 00:00:00", "00000000-0000-0000-0000-000000000000", "B"},
		{"false", "8", "0", "1", "700", "3", "3", "1e+22", "texts", "f", "2022-01-08", "1970-01-01 00:00:00", "1970-01-01 00:00:00.000000001",
			"00:00:00", "1.00", "18446744073709551.616", "1970-01-02 00:00:00", "00000000-0000-0000-0000-000000000000", "A"}}
	path := filepath.Join(t.TempDir(), "f.parquet")
	if err := os.WriteFile(path, []byte(typesInParquet()), 0o600); err != nil {
		t.Fatal(err)
	}
	var got [][]string
	var names []string
	if err := tables.Scan(path, func(l tables.Layout) { names = l.Names }, func(row []string) { got = append(got, slices.Clone(row)) }); err != nil {
		t.Fatal(err)
	}
	for i := range want {
		for j := range want[i] {
			if got[i][j] != want[i][j] {
				t.Errorf("row %d, %s: %q, want %q", i+1, names[j], got[i][j], want[i][j])
			}
		}
	}
}

// Numbers of the formats that have numbers are read alike whatever the notation of texts is.
func TestNotationIsForTexts(t *testing.T) {
	text := `{"a": 1.234, "b": "1.234", "c": "x"}` + "\n" + `{"a": 1e3, "b": "2,5", "c": "y"}` + "\n"
	d, err := load(t, Spec{Decimal: "comma"}, text, "")
	if err != nil {
		t.Fatal(err)
	}
	if got := d.X.RawMatrix().Data; !slices.Equal(got, []float64{1.234, 1234, 1000, 2.5}) {
		t.Errorf("read %v", got)
	}
}

// JSON has the columns of all keys, and a key that an object lacks is a missing value.
func TestJSONLines(t *testing.T) {
	text := "{\"a\": 1,\n \"label\": \"x\"}\n{\"b\": true, \"label\": \"y\", \"a\": null}\n\n{ }"
	d, err := load(t, Spec{Missing: "drop", Label: "label", Columns: Columns{Chosen: []cells.Name{"a"}}, ID: []cells.Name{"b"}}, text, "")
	if err == nil || !strings.Contains(err.Error(), "only case") {
		t.Errorf("%v, %v", d, err)
	}
	for text, want := range map[string]string{
		"{\"a\": 1, \"c\": \"x\"}\n{\"a\": 2 \"c\": \"y\"}\n":            "f.csv:2:9: is not JSON here",
		"{\"a\": 1, \"c\": \"x\"}\n{\"a\": [2], \"c\": \"y\"}\n":         "f.csv:2:7: the value of \"a\" is nested",
		"{\"a\": 1, \"c\": \"x\"}\n{\"a\": 2, \"a\": 3, \"c\": \"y\"}\n": "f.csv:2:10: the key \"a\" occurs twice",
		"{\"a\": 1, \"c\": \"x\"}\n{\"a\": 2, \"c\": \"y\"":              "f.csv:2:18: the text breaks off here",
		"[{\"a\": 1, \"c\": \"x\"},\n{\"a\": 2, \"c\": \"y\"}":           "f.csv:2:19: the text breaks off here",
		"{\"a\": 1, \"c\": \"x\"}\n[]":                                   "f.csv:2:1: [ where an object should be",
		"[{\"a\": 1, \"c\": \"x\"}] 5":                                   "f.csv:1:22: 5 after the array",
		"{\"a\": 1, \"c\": \"x\"}\n{\"a\": \"b\", \"c\": \"y\"}":         "f.csv:2:7: column \"a\": \"b\" is not a number",
		"{\"a\": 1, \"c\": \"x\"}\n{\"a\": 1e400, \"c\": \"y\"}":         "f.csv:2:7: column \"a\": \"1e400\" is not finite",
		"{\"a\": 1, \"c\": \"x\"}\n{\"a\": \"\\u0000\", \"c\": \"y\"}":   "f.csv:2:7: the value of \"a\" has the character U+0000",
		"{\"a\": 1, \"c\": \"x\"}\n{\"a\": NaN, \"c\": \"y\"}":           "f.csv:2:7: NaN is not JSON; write null",
		"{\"a\": 1, \"c\": \"\\ud800\"}\n{\"a\": 2, \"c\": \"\\ud801\"}": "f.csv:1:15: the value of \"c\" has half of a pair",
		"{\"a\": 1, \"\\udc00\": \"x\"}\n{\"a\": 2, \"c\": \"y\"}":       "f.csv:1:10: a key has half of a pair",
		"{}\n{}": "holds no value",
	} {
		if _, err := load(t, Spec{}, text, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// The files of a folder are one table, whatever the format of each; a mistake has the name of its file.
func TestFolderOfParts(t *testing.T) {
	names, rows := sheetOf(t, "iris")
	want, err := load(t, Spec{}, asCSV(names, rows), "")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("_SUCCESS", "")
	write("part-1.csv", asCSV(names, rows[:60]))
	write("part-2.json", asJSON(names, rows[60:61]))
	write("part-3.csv.zst", asZstd(asCSV(names, rows[61:])))
	got, err := Load(Spec{Train: dir}, "", 1)
	if err != nil {
		t.Fatal(err)
	}
	if files := (Spec{Train: dir}).Files(""); len(files) != 3 || got.Hash != want.Hash {
		t.Errorf("files %v; the hash is %s, want %s", files, got.Hash, want.Hash)
	}
	n := 0
	if err := tables.Scan(dir, func(tables.Layout) {}, func([]string) { n++ }); err != nil || n != len(rows) {
		t.Errorf("scanned %d rows, %v", n, err)
	}
	n = 0
	if err := got.Schema.Stream(dir, nil, 64, func(d *Data) error { n += len(d.Rows); return nil }); err != nil || n != len(rows) {
		t.Errorf("streamed %d rows, %v", n, err)
	}
	write("part-3.csv.zst", asZstd(asCSV(names, rows[61:])+"#1,2,3,4,iris\n"))
	if got, err = Load(Spec{Train: dir}, "", 1); err != nil || !strings.Contains(fmt.Sprint(got.Warnings), "#1,2,3,4,iris") {
		t.Errorf("%v, %v", got, err)
	}
	write("part-2.json", "{\"x\": 1}")
	if _, err := Load(Spec{Train: dir}, "", 1); err == nil || !strings.Contains(err.Error(), "part-2.json:1: has the columns x") {
		t.Errorf("other columns: %v", err)
	}
	write("part-2.json", asCSV(names, rows[:2])+"late,1,2,3,iris\n1,2\n")
	_, err = Load(Spec{Train: dir}, "", 1)
	if err == nil || !strings.Contains(err.Error(), ":part-2.json:4:1: column ") || !strings.Contains(err.Error(), ":part-2.json:5: 2 fields") {
		t.Errorf("a mistake: %v", err)
	}
}

// A damaged file is refused, and never read as another table, if its description or the structure
// of its pages is damaged; a file that is cut short never is read.
func TestDamagedParquet(t *testing.T) {
	names, rows := sheetOf(t, "iris")
	whole := asParquet(names, rows, 50, "", "snappy", 2)
	for cut := 1; cut < len(whole); cut += exhaustive.Of(19, 7) {
		_, err := load(t, Spec{}, whole[:cut], "")
		if err == nil {
			t.Fatalf("%d of %d bytes are read", cut, len(whole))
		}
		if cut > 4 && !strings.HasPrefix(err.Error(), "f.csv: ") {
			t.Fatalf("%d of %d bytes: %v", cut, len(whole), err)
		}
	}
	broken := []byte(whole)
	copy(broken[60:], "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff")
	if _, err := load(t, Spec{}, string(broken), ""); err == nil || !strings.Contains(err.Error(), "f.csv:row 1: column ") {
		t.Errorf("a damaged page: %v", err)
	}
}

// Files of other formats are refused with the way to a format that is read.
func TestOtherFormatsAreNamed(t *testing.T) {
	for content, want := range map[string]string{
		"ARROW1\x00\x00":                                        "Feather or Arrow file; write it as Parquet",
		zipped("RDX3\nX\n\x00"):                                 "RData file",
		zipped("X\n\x00\x00\x00\x03"):                           "RDS file",
		"SQLite format 3\x00\x10\x00":                           "sqlite3 -header -csv",
		"<stata_dta><header>":                                   "Stata file",
		strings.Repeat("\x00", 12) + "\xc2\xea\x81\x60\xb3\x14": "SAS file",
		"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1":                      "Excel before 2007",
	} {
		if _, err := load(t, Spec{}, content, ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", content, err, want)
		}
	}
}

func FuzzParquet(f *testing.F) {
	names, rows := []string{"a", "b", "c"}, [][]string{{"1", "u", "x"}, {"", "v", "y"}, {"3.5", "", "x"}}
	for _, as := range []string{"", "dictionary", "plain"} {
		for _, by := range []string{"none", "snappy", "zstd"} {
			f.Add(asParquet(names, rows, 2, as, by, 2))
			f.Add(asParquet(names, rows, 10, as, by, 1))
		}
	}
	f.Fuzz(func(t *testing.T, content string) {
		if !strings.HasPrefix(content, parquetMagic) {
			return
		}
		checkTable(t, content, Spec{Missing: "mean", Categorical: "one_hot"})
	})
}

// A text is read as JSON lines if every line is an object for the standard library, with its values.
func FuzzJSON(f *testing.F) {
	for _, text := range []string{"{\"a\":1,\"b\":\"x\"}\n{\"a\":2.5e1,\"b\":\"y\"}\n", "[{\"a\": 1}, {\"b\": null}]", "{\"a\": true}\r\n{ }", "{\"é\": \"\\u00e9\"}", "{\"a\":3E331}"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if !strings.HasPrefix(strings.TrimLeft(text, " \t\r\n["), "{") {
			return
		}
		checkTable(t, text, Spec{Missing: "mean", Categorical: "one_hot"})
		src, err := tables.Decode("f", strings.NewReader(text), "", 1<<20, 0)
		if err != nil {
			return
		}
		tb := src.Read(tables.Options{})
		if tb.Rows == nil || !strings.HasPrefix(tb.Form, "JSON") {
			return
		}
		rows := tb.Rows
		known := json.NewDecoder(strings.NewReader(strings.TrimLeft(strings.TrimSpace(text), "[")))
		known.UseNumber() // which may lie beyond the range of float64
		for i := range tb.Most {
			_, ok := rows.Next()
			if tb.Faults.Err() != nil {
				return
			}
			if i > 0 && tb.Form != "JSON lines" {
				return // commas are between the objects
			}
			var want map[string]any
			if err := known.Decode(&want); err != nil || !ok {
				t.Fatalf("object %d of %d: %v, %v", i+1, tb.Most, ok, err)
			}
			for key, v := range want {
				j := slices.Index(tb.Names, strings.TrimSpace(key))
				if number, is := v.(json.Number); is {
					if x, _ := number.Float64(); math.Abs(x) <= cells.MaxMagnitude && rows.Cell(j).Number != x {
						t.Errorf("%q: %v, want %v", key, rows.Cell(j), x)
					}
				}
				if x, is := v.(string); is && rows.Cell(j).Text != strings.TrimSpace(x) {
					t.Errorf("%q: %v, want %v", key, rows.Cell(j), x)
				}
			}
		}
	})
}
