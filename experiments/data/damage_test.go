package data

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"unsafe"

	"github.com/gpc-tune/gpc-tune/experiments/data/tables"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
)

// The first bytes of two formats.
const parquetMagic, zipMagic = "PAR1", "PK\x03\x04"

// small is a table that every format can hold.
const small = "a,b,c\n1,0.5,x\n2,1.5,y\n3,-2,x\n4,8.25,y\n"

// skippable is a frame that decompressors of zstd and lz4 pass over.
func skippable(content string) string {
	return string(binary.LittleEndian.AppendUint32([]byte("\x5a\x2a\x4d\x18"), uint32(len(content)))) + content
}

// checksummed are files of the table small in formats with checksums of their content.
func checksummed(t testing.TB) map[string]string {
	names, rows := []string{"a", "b", "c"}, [][]string{}
	for _, line := range strings.Split(strings.TrimSpace(small), "\n")[1:] {
		rows = append(rows, strings.Split(line, ","))
	}
	bzipped, err := os.ReadFile("testdata/small.csv.bz2")
	if err != nil {
		t.Fatal(err)
	}
	return map[string]string{
		"gzip":                  zipped(small[:20]) + zipped(small[20:]),
		"bzip2":                 string(bzipped),
		"zstd":                  skippable("ab") + asZstd(small[:20]) + asZstd(small[20:]),
		"xlsx":                  asXLSX("", map[string][][]string{"s": cellsOf(names, rows)}),
		"Parquet, old pages":    asParquet(names, rows, 10, "", "none", 1),
		"Parquet, new pages":    asParquet(names, rows, 10, "", "snappy", 2),
		"Parquet, dictionaries": asParquet(names, rows, 2, "dictionary", "zstd", 1),
	}
}

// A file with one wrong bit is refused, or it is the same table.
func TestFlippedBits(t *testing.T) {
	read := func(content []byte) (*Data, error) {
		src, err := tables.Decode("f", bytes.NewReader(content), "", 1<<20, 0)
		if err != nil {
			return nil, err
		}
		return Spec{}.readTrain(src)
	}
	for format, content := range checksummed(t) {
		want, err := read([]byte(content))
		if err != nil {
			t.Errorf("%s: %v", format, err)
			continue
		}
		step := (1 + 6*(len(content)/800)) * exhaustive.Of(3, 1) // a larger file has fewer flips
		for bit := 0; bit < 8*len(content); bit += step {
			broken := []byte(content)
			broken[bit/8] ^= 1 << (bit % 8)
			if got, err := read(broken); err == nil && got.hash() != want.hash() {
				t.Errorf("%s: bit %d of byte %d of %d gives another table: %v, %v, %v", format, bit%8, bit/8, len(content), got.ColumnNames, got.Classes,
					got.X.RawMatrix().Data)
			}
		}
	}
}

// What the programs of compressed formats accept is read, or refused with the command that
// decompresses it.
func TestCompressedAsTheirProgramsAccept(t *testing.T) {
	want, err := load(t, Spec{}, small, "")
	if err != nil {
		t.Fatal(err)
	}
	bzipped := checksummed(t)["bzip2"]
	for name, content := range map[string]string{
		"zstd, skippable frames":             skippable("") + skippable("abcd") + asZstd(small[:20]) + skippable("x") + asZstd(small[20:]) + skippable("\x00\x00"),
		"gzip, zeros":                        zipped(small) + strings.Repeat("\x00", 5000),
		"gzip, members and empty ones":       zipped("") + zipped(small[:9]) + strings.Repeat(zipped(""), 200) + zipped(small[9:]) + "\x00",
		"bzip2, streams":                     bzipped,
		"gzip of Parquet, with zeros behind": zipped(checksummed(t)["Parquet, new pages"]) + "\x00\x00\x00",
	} {
		if got, err := load(t, Spec{}, content, ""); err != nil || got.Hash != want.Hash {
			t.Errorf("%s: %+v, %v", name, got, err)
			continue
		}
		cases := 0
		path := file(t, "f", content)
		if err := want.Schema.Stream(path, nil, 2, func(d *Data) error { cases += len(d.Rows); return nil }); err != nil || cases != 4 {
			t.Errorf("%s: streamed %d cases, %v", name, cases, err)
		}
	}
	for name, c := range map[string]struct{ content, want string }{
		"lz4":                  {"\x04\x22\x4d\x18\x64\x40\xa7", "lz4 -d FILE"},
		"lz4, old":             {"\x02\x21\x4c\x18\x10\x00\x00\x00", "lz4 -d FILE"},
		"lz4, skippable frame": {skippable("abc") + "\x04\x22\x4d\x18\x64\x40\xa7", "lz4 -d FILE"},
		"xz":                   {"\xfd7zXZ\x00\x00\x04", "xz -d FILE"},
		"gzip, another byte":   {zipped(small) + "\x00\x00x", "gzip -d FILE"},
		"bzip2, zeros":         {bzipped + "\x00\x00\x00", "bzip2 -d FILE"},
		"zstd, zeros":          {asZstd(small) + "\x00\x00\x00\x00", "zstd -d FILE"},
		"a frame cut short":    {skippable("abcdef")[:10], "fetch the file again"},
		"tar":                  {"train.csv" + strings.Repeat("\x00", 248) + "ustar\x0000" + strings.Repeat("\x00", 249), "tar -xf FILE"},
		"gzip twice":           {zipped(zipped(small)), "gzip -d FILE"},
	} {
		if _, err := load(t, Spec{}, c.content, ""); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
	}
}

// A text that begins like a binary format is text.
func TestTextThatBeginsLikeOtherFormats(t *testing.T) {
	for _, name := range []string{"RDA", "RDX", "FEA1", "BZh", "LZIP", "Rar!", "ORC", "PARENT", "$FL"} {
		if d, err := load(t, Spec{}, name+",c\n1,x\n2,y\n", ""); err != nil || d.ColumnNames[0] != name {
			t.Errorf("%s: %+v, %v", name, d, err)
		}
	}
}

// taken is the memory that f takes, freed or not.
func taken(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// No memory is allocated for the sizes that a file declares before they are compared with the rest
// of the file.
func TestDeclaredSizesTakeNoMemory(t *testing.T) {
	footer := func(content string) string {
		return parquetMagic + content + string(binary.LittleEndian.AppendUint32(nil, uint32(len(content)))) + parquetMagic
	}
	for name, content := range map[string]string{
		"a list of 2³¹ structures":            footer("\x15\x02\x19\xfc\xff\xff\xff\xff\x07"),
		"a list of 2³¹ structures, skipped":   footer("\x15\x02\xf9\xfc\xff\xff\xff\xff\x07"),
		"a set":                               footer("\x15\x02\x1a\xfc\xff\xff\xff\xff\x07"),
		"a map":                               footer("\x15\x02\x1b\xff\xff\xff\xff\x07\xcc"),
		"a text of 2³¹ bytes":                 footer("\x15\x02\x68\xff\xff\xff\xff\x07"),
		"a schema element's name of 1 GiB":    footer("\x15\x02\x19\x1c\x48\xff\xff\xff\xff\x03"),
		"a list of numbers within structures": footer("\x15\x02\x49\x1c\x19\x1c\x3c\x29\xf5\xff\xff\xff\xff\x07"),
		"a wide window of zstd":               "\x28\xb5\x2f\xfd\x00\xf8\x01\x00\x00",
		"JSON":                                "{" + keys(2000) + "}\n" + strings.Repeat("{}\n", 60000),
		"a sparse sheet":                      asXLSX("", map[string][][]string{"s": diagonal(700, 6100)}),
	} {
		if got := taken(func() {
			if d, err := load(t, Spec{Missing: "mean", Categorical: "one_hot"}, content, ""); err == nil {
				t.Errorf("%s: read as %v", name, d.ColumnNames)
			}
		}); got > 64<<20 {
			t.Errorf("%s: takes %d bytes", name, got)
		}
	}
}

// keys are n keys of an object, with a value each.
func keys(n int) string {
	var b strings.Builder
	for k := range n {
		b.WriteString(`"k` + strings.Repeat("k", k%7) + string(rune('0'+k%10)) + strings.ReplaceAll(string(rune(0x4e00+k)), "\x00", "") + `":1,`)
	}
	return strings.TrimSuffix(b.String(), ",")
}

// diagonal has n columns. Row i has a value only in column i modulo n.
func diagonal(n, rows int) (cells [][]string) {
	for i := range rows {
		row := make([]string, i%n+1)
		row[i%n] = "<c><v>1</v></c>"
		cells = append(cells, row)
	}
	return cells
}

// A text that several cells share, in a dictionary of Parquet or a workbook, is in memory once. One
// that is a part of a line is copied, so that the line can be freed.
func TestSharedTextsAreKeptOnce(t *testing.T) {
	tb := &table{known: map[string]string{}}
	for k := range maxKnown {
		tb.known[strings.Repeat("k", k)] = ""
	}
	dictionary := asParquet([]string{"a", "b"}, [][]string{{"text", "x"}, {"text", "y"}}, 2, "dictionary", "none", 1)
	rows := source("f", dictionary).Read(tables.Options{}).Rows
	var first tables.Field
	for _, ok := rows.Next(); ok; _, ok = rows.Next() {
		cell := rows.Cell(0)
		if first.Text == "" {
			first = cell
		}
		kept := tb.kept(cell.Text, cell.Own)
		if cell.Text != "text" || unsafe.StringData(kept) != unsafe.StringData(first.Text) {
			t.Errorf("%q is copied", cell.Text)
		}
	}
	line := "a,text"
	if unsafe.StringData(tb.kept(line[2:], false)) == unsafe.StringData(line[2:]) {
		t.Error("a part of a line is kept with its line")
	}
}

// The files of a folder are decoded each by its own encoding, which is named.
func TestEncodingOfEachFile(t *testing.T) {
	const utf8 = "a,c\n1,é\n2,p\n3,é\n4,p\n"
	western := strings.ReplaceAll(utf8, "é", "\xe9")
	folder := func(parts ...string) string {
		dir := t.TempDir()
		for i, text := range parts {
			if err := os.WriteFile(filepath.Join(dir, "p"+string(rune('1'+i))+".csv"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		return dir
	}
	for _, c := range []struct {
		name     string
		parts    []string
		encoding string // that Scan finds
		named    string
	}{
		{"UTF-8 first", []string{utf8, western}, western1252, "utf-8 (p1.csv), windows-1252 (p2.csv)"},
		{"UTF-8 last", []string{western, utf8}, western1252, "utf-8 (p2.csv), windows-1252 (p1.csv)"},
		{"with ASCII", []string{"a,c\n7,p\n", western, utf8}, western1252, "utf-8 (p3.csv), windows-1252 (p2.csv)"},
		{"one alone", []string{"a,c\n7,p\n", western}, western1252, "windows-1252 (p2.csv)"},
		{"a byte-order mark", []string{utf8, inUTF16(binary.LittleEndian, utf8)}, "", "utf-16le (p2.csv), utf-8 (p1.csv)"},
		{"the same", []string{utf8, utf8}, "", ""},
	} {
		dir := folder(c.parts...)
		var l tables.Layout
		labels := map[string]int{}
		if err := tables.Scan(dir, func(found tables.Layout) { l = found }, func(row []string) { labels[row[1]]++ }); err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if len(labels) != 2 || l.Encoding != c.encoding || !strings.Contains(l.Form, c.named) {
			t.Errorf("%s: %v, %q, %q", c.name, labels, l.Encoding, l.Form)
		}
		d, err := Load(Spec{Train: dir, Encoding: l.Encoding}, "", 1)
		if err != nil || !slices.Equal(d.Classes, []string{"p", "é"}) {
			t.Errorf("%s: %+v, %v", c.name, d, err)
			continue
		}
		warned := ""
		for _, w := range d.Warnings {
			warned += w.Text
		}
		if strings.Contains(c.named, ",") != strings.Contains(warned, "in its own encoding: "+c.named) {
			t.Errorf("%s: %q", c.name, warned)
		}
		// So are files of cases to predict.
		for _, schema := range []*Schema{d.Schema, restored(t, d)} {
			again, err := schema.Read(dir)
			if err != nil || !reflect.DeepEqual(again.Labels, d.Labels) {
				t.Errorf("%s: %+v, %v", c.name, again, err)
			}
		}
	}
	if _, err := Load(Spec{Train: folder(utf8, western)}, "", 1); err == nil || !strings.Contains(err.Error(), "p2.csv:2:3: byte 0xe9 is not UTF-8 text; set encoding: windows-1252") {
		t.Errorf("no encoding is declared: %v", err)
	}
	d, err := Load(Spec{Train: folder(utf8, utf8), Encoding: western1252}, "", 1)
	if err != nil || !strings.Contains(d.Warnings[0].Text, "utf-8 (p1.csv, p2.csv)") || d.Classes[1] != "é" {
		t.Errorf("another encoding is declared: %+v, %v", d, err)
	}
}

const western1252 = "windows-1252"

// A file of another form in a folder is named, and one with another header refused.
func TestFormOfEachFile(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("p1.csv", "a,c\n1,x\n2,y\n")
	write("p2.csv", "a;c\n3;x\n4;y\n")
	write("p3.json", `{"a": 5, "c": "x"}`)
	d, err := Load(Spec{Train: dir}, "", 1)
	if err != nil || len(d.Rows) != 5 {
		t.Fatalf("%+v, %v", d, err)
	}
	warned := ""
	for _, w := range d.Warnings {
		warned += w.Text + "\n"
	}
	for _, want := range []string{"p2.csv: semicolon-separated columns, header, and the first file of the folder: comma-separated", "p3.json: JSON lines"} {
		if !strings.Contains(warned, want) {
			t.Errorf("%q lacks %q", warned, want)
		}
	}
	write("p2.csv", "3,x\n4,y\n")
	if _, err := Load(Spec{Train: dir}, "", 1); err == nil || !strings.Contains(err.Error(), "p2.csv:1: has no header, and the first file of the folder a header") {
		t.Error(err)
	}
	// A file of texts alone has the header of the first.
	write("p1.csv", "u,c\nr,x\ns,y\nr,x\n")
	write("p2.csv", "u,c\nr,x\n")
	if err := os.Remove(filepath.Join(dir, "p3.json")); err != nil {
		t.Fatal(err)
	}
	n := 0
	if err := tables.Scan(dir, func(tables.Layout) {}, func([]string) { n++ }); err != nil || n != 4 {
		t.Errorf("%d rows, %v", n, err)
	}
}

// Tables of one line, as programs write JSON, are read in time in proportion to their size.
func TestJSONOfOneLine(t *testing.T) {
	const n = 100000
	text := "[" + strings.Repeat(`{"a":1,"b":2,"c":"x"},`, n) + `{"a":3,"b":4,"c":"y"}]`
	if d, err := load(t, Spec{}, text, ""); err != nil || len(d.Rows) != n+1 {
		t.Errorf("%v", err)
	}
}

// FuzzCompressed checks the promises of the readers for files in all compressions.
func FuzzCompressed(f *testing.F) {
	for _, content := range []string{zipped(small) + "\x00", asZstd(small), skippable("ab") + asZstd("1 1:1\n-1 2:3\n"), checksummed(f)["bzip2"],
		skippable("") + "\x04\x22\x4d\x18\x64\x40\xa7"} {
		f.Add(content)
	}
	f.Fuzz(func(t *testing.T, content string) { checkTable(t, content, Spec{}) })
}
