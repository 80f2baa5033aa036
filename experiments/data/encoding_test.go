package data

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/gpc-tune/gpc-tune/experiments/data/tables"
	"github.com/gpc-tune/gpc-tune/internal/cause"
)

// inUTF16 returns text in UTF-16 with a byte-order mark.
func inUTF16(order binary.AppendByteOrder, text string) string {
	var out []byte
	for _, unit := range utf16.Encode([]rune("\ufeff" + text)) {
		out = order.AppendUint16(out, unit)
	}
	return string(out)
}

// The bytes of é, ü and € in each encoding are from the code charts.
func TestEncodings(t *testing.T) {
	const text = "café\tPrüfung\tlabel\n1\t2\tM\n3\t4\t€😀\n"
	want, err := load(t, Spec{}, text, "")
	if err != nil {
		t.Fatal(err)
	}
	little, big := inUTF16(binary.LittleEndian, text), inUTF16(binary.BigEndian, text)
	for name, file := range map[string]struct{ encoding, text string }{
		"little endian":          {"", little},
		"big endian":             {"", big},
		"gzip":                   {"", zipped(little)},
		"the mark overrides":     {"windows-1252", big},
		"UTF-8 marked":           {"latin-1", "\ufeff" + text},
		"without a mark":         {"utf-16le", little[2:]},
		"without a mark, big":    {"utf-16be", big[2:]},
		"Windows line ends":      {"", inUTF16(binary.LittleEndian, strings.ReplaceAll(text, "\n", "\r\n"))},
		"declared as what it is": {"utf-8", text},
	} {
		got, err := load(t, Spec{Encoding: file.encoding}, file.text, file.text)
		if err != nil || got.Hash == "" || !reflect.DeepEqual(got.ColumnNames, want.ColumnNames) ||
			!reflect.DeepEqual(got.Classes, want.Classes) || got.Test.hash() != want.hash() || !reflect.DeepEqual(got.Warnings, want.Warnings) {
			t.Errorf("%s: %+v, %v, want %+v", name, got, err, want)
		}
	}
	for encoding, bytes := range map[string]string{
		"windows-1252": "\xe9\xfc\x80", "windows-1254": "\xe9\xfc\x80", "latin-9": "\xe9\xfc\xa4",
		"macintosh": "\x8e\x9f\xdb",
	} {
		d, err := load(t, Spec{Encoding: encoding}, bytes+",label\n1,M\n2,F\n", "")
		if err != nil || d.ColumnNames[0] != "éü€" {
			t.Errorf("%s: %+v, %v", encoding, d, err)
		}
	}
	for encoding, bytes := range map[string]string{
		"windows-1251": "\xc4\xe0", "koi8-r": "\xe4\xc1", "cp437": "\x84", "cp850": "\x84", "latin-1": "\xe4",
	} {
		d, err := load(t, Spec{Encoding: encoding}, "x,label\n1,"+bytes+"\n2,F\n", "")
		if want := map[bool]string{true: "Да", false: "ä"}[len(bytes) == 2]; err != nil || d.Classes[1] != want {
			t.Errorf("%s: %+v, %v", encoding, d, err)
		}
	}
}

// UTF-8 declared as another encoding is read as declared, with a warning.
func TestDoubtfulEncoding(t *testing.T) {
	d, err := load(t, Spec{Encoding: "windows-1252"}, "Größe,label\n1,M\n2,F\n", "")
	if err != nil || !strings.Contains(d.Warnings[0].Text, "f.csv is read as windows-1252 and looks like UTF-8") {
		t.Errorf("%+v, %v", d, err)
	}
}

// A later file is read in its own encoding if it has a byte-order mark, otherwise in the encoding
// of the training file. This holds for files in parts too.
func TestLaterFilesInOtherEncodings(t *testing.T) {
	const utf8 = "Größe,label\n1,früh\n2,spät\n3,früh\n4,spät\n"
	western := strings.NewReplacer("ö", "\xf6", "ß", "\xdf", "ü", "\xfc", "ä", "\xe4").Replace(utf8)
	train, err := Load(Spec{Train: file(t, "train.csv", western), Encoding: "windows-1252"}, "", 1)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"the same": western, "UTF-16": inUTF16(binary.BigEndian, utf8), "UTF-8 with a mark": "\ufeff" + utf8, "gzip": zipped(western),
	} {
		path := file(t, "later.csv", text)
		whole, err := train.Schema.Read(path)
		if err != nil || !reflect.DeepEqual(whole.Labels, train.Labels) {
			t.Errorf("%s: %+v, %v", name, whole, err)
		}
		var labels []int
		err = train.Schema.Stream(path, nil, 1, func(d *Data) error {
			labels = append(labels, d.Labels...)
			return nil
		})
		if err != nil || !reflect.DeepEqual(labels, train.Labels) {
			t.Errorf("%s in parts: %v, %v", name, labels, err)
		}
	}
	path := file(t, "damaged.csv", strings.Replace(western, "4,", "4\x81,", 1))
	err = train.Schema.Stream(path, nil, 1, func(*Data) error { return nil })
	if err == nil || !strings.Contains(err.Error(), path+":5:2: this character is not windows-1252 text") {
		t.Error(err)
	}
}

// Where the experiment names no encoding, cases that are not UTF-8 are read as windows-1252, with a
// warning, unless the text before has shown that it is UTF-8 and is damaged.
func TestWesternCasesOfUTF8Models(t *testing.T) {
	const utf8 = "Größe,Farbe,label\n1,früh,a\n2,spät,b\n3,früh,a\n4,spät,b\n"
	western := strings.NewReplacer("ö", "\xf6", "ß", "\xdf", "ü", "\xfc", "ä", "\xe4").Replace(utf8)
	train, err := Load(Spec{Train: file(t, "train.csv", utf8), Categorical: "one_hot"}, "", 1)
	if err != nil {
		t.Fatal(err)
	}
	path := file(t, "later.csv", western)
	check := func(d *Data, err error) {
		t.Helper()
		if err != nil || !slices.ContainsFunc(d.Warnings, func(w cause.Notice) bool { return strings.Contains(w.Text, "read as windows-1252") }) {
			t.Fatalf("%+v, %v", d, err)
		}
		for i, row := range d.Rows {
			if !slices.Equal(d.X.RawRowView(i), train.X.RawRowView(row)) {
				t.Errorf("row %d: %v", row, d.X.RawRowView(i))
			}
		}
	}
	check(train.Schema.Read(path))
	parts := 0
	err = train.Schema.Stream(path, nil, 1, func(d *Data) error {
		parts++
		check(d, nil)
		return nil
	})
	if err != nil || parts < 3 {
		t.Error(parts, err)
	}
	damaged := file(t, "damaged.csv", strings.Replace(utf8, "4,", "4\xfc,", 1))
	err = train.Schema.Stream(damaged, nil, 1, func(*Data) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "damaged.csv:5:2: byte 0xfc is not UTF-8 text") {
		t.Error(err)
	}
	train.Schema.Encoding = "utf-8"
	if _, err := train.Schema.Read(path); err == nil || !strings.Contains(err.Error(), ":1:3: byte 0xf6 is not UTF-8 text") {
		t.Error(err)
	}
}

// Text that is not UTF-8 is scanned as Western text, and Load reads it with the encoding that Scan
// names.
func TestScanOfWesternText(t *testing.T) {
	path := filepath.Join(t.TempDir(), "f.csv")
	if err := os.WriteFile(path, []byte("Gr\xf6\xdfe;Klasse\n1;ja\n2;nein\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	var found tables.Layout
	if err := tables.Scan(path, func(l tables.Layout) { found = l }, func([]string) {}); err != nil || found.Encoding != "windows-1252" ||
		found.Names[0] != "Größe" || !strings.HasSuffix(found.Form, ", header, windows-1252") {
		t.Errorf("%+v, %v", found, err)
	}
	if d, err := Load(Spec{Train: path, Encoding: found.Encoding}, "", 1); err != nil || d.ColumnNames[0] != "Größe" {
		t.Errorf("%+v, %v", d, err)
	}
	if err := os.WriteFile(path, []byte("Gr\xf6\x81e;Klasse\n1;ja\n2;nein\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := tables.Scan(path, func(tables.Layout) {}, func([]string) {}); err == nil || !strings.Contains(err.Error(), ":1:3: byte 0xf6 is not UTF-8 text; set") {
		t.Error(err)
	}
}
