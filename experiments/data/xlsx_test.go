package data

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
	"github.com/gpc-tune/gpc-tune/experiments/data/tables"
)

// asXLSX writes sheets of cells, which are elements c without place, as a workbook of Excel has them.
// Texts are shared.
func asXLSX(properties string, sheets map[string][][]string) string {
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	add := func(name, content string) {
		f, err := w.Create(name)
		if err == nil {
			_, err = f.Write([]byte(xml.Header + content))
		}
		if err != nil {
			panic(err)
		}
	}
	shared, texts := map[string]int{}, ""
	list, relations, names := "", "", []string{}
	for name := range sheets {
		names = append(names, name)
	}
	slices.Sort(names)
	for k, name := range names {
		list += fmt.Sprintf(`<sheet name="%s" sheetId="%d" r:id="rId%d"/>`, name, k+1, k+1)
		relations += fmt.Sprintf(`<Relationship Id="rId%d" Target="worksheets/sheet%d.xml"/>`, k+1, k+1)
		content := ""
		for i, row := range sheets[name] {
			if len(row) == 0 {
				continue
			}
			content += fmt.Sprintf(`<row r="%d">`, i+1)
			for j, c := range row {
				if c == "" {
					continue
				}
				place := fmt.Sprintf(`<c r="%c%d"`, 'A'+j%26, i+1)
				if j >= 26 {
					place = fmt.Sprintf(`<c r="%c%c%d"`, 'A'+j/26-1, 'A'+j%26, i+1)
				}
				if !strings.HasPrefix(c, "<c") {
					if _, met := shared[c]; !met {
						shared[c] = len(shared)
						var text bytes.Buffer
						xml.EscapeText(&text, []byte(c))
						texts += `<si><r><t>` + text.String()[:1] + `</t></r><r><t xml:space="preserve">` + text.String()[1:] + `</t></r><rPh><t>x</t></rPh></si>`
					}
					c = fmt.Sprintf(`<c t="s"><v>%d</v></c>`, shared[c])
				}
				content += place + strings.TrimPrefix(c, "<c")
			}
			content += `</row>`
		}
		add(fmt.Sprintf("xl/worksheets/sheet%d.xml", k+1), `<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><sheetData>`+content+
			`</sheetData></worksheet>`)
	}
	add("xl/workbook.xml", `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships">`+
		properties+`<sheets>`+list+`</sheets></workbook>`)
	add("xl/_rels/workbook.xml.rels", `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">`+relations+`</Relationships>`)
	add("xl/sharedStrings.xml", `<sst xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">`+texts+`</sst>`)
	add("xl/styles.xml", `<styleSheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main"><numFmts count="3"><numFmt numFmtId="164" formatCode="dd\.mm\.yyyy\ hh:mm"/>`+
		`<numFmt numFmtId="165" formatCode="[h]:mm:ss"/><numFmt numFmtId="166" formatCode="#,##0.00\ &quot;dollars&quot;;[Red]-0"/></numFmts>`+
		`<cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="164"/><xf numFmtId="165"/><xf numFmtId="166"/><xf numFmtId="21"/></cellXfs></styleSheet>`)
	if err := w.Close(); err != nil {
		panic(err)
	}
	return b.String()
}

// cellsOf are the elements of a table, as asXLSX takes them.
func cellsOf(names []string, rows [][]string) [][]string {
	out := [][]string{slices.Clone(names)}
	for _, row := range rows {
		texts := slices.Clone(row)
		for j, text := range row {
			if text != "" && numeric(rows, j) {
				texts[j] = "<c><v>" + text + "</v></c>"
			}
		}
		out = append(out, texts)
	}
	return out
}

// scanned are the texts of a file, its names first.
func scanned(t *testing.T, content, part string) ([][]string, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "f")
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	var out [][]string
	err := tables.Scan(path+part, func(l tables.Layout) { out = append(out, l.Names) }, func(row []string) { out = append(out, slices.Clone(row)) })
	return out, err
}

// Characters that XML cannot hold are written as escapes, and texts that look like one with an escape of their own.
func TestSpreadsheetEscapes(t *testing.T) {
	sheet := [][]string{{"a", "b"}, {"one_x000D_\ntwo", `<c t="str"><v>3_x0009_4</v></c>`},
		{"a _x005F_x0041_ _x41_ _X0041_", `<c t="inlineStr"><is><t>_xD83D__xDE00_ _xD83D_ _x0000_</t></is></c>`}}
	want := [][]string{{"a", "b"}, {"one\r\ntwo", "3\t4"}, {"a _x0041_ _x41_ _X0041_", "😀 _xD83D_ _x0000_"}}
	if got, err := scanned(t, asXLSX("", map[string][][]string{"s": sheet}), ""); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, got\n%q, want\n%q", err, got, want)
	}
}

// Numbers in cells with a date format are dates, whatever else they could be.
func TestSpreadsheetCells(t *testing.T) {
	n := func(style int, value string) string { return fmt.Sprintf(`<c s="%d"><v>%s</v></c>`, style, value) }
	sheet := [][]string{
		{}, {"", "day", "at", "took", "price", "time", "ok", "formula", "inline", "e", "f"},
		{"", n(1, "45322"), n(2, "45322.75"), n(3, "1.5"), n(4, "1234.5"), n(5, "0.5208333333333334"), `<c t="b"><v>1</v></c>`, `<c t="str"><f>A1</f><v> text </v></c>`,
			`<c t="inlineStr"><is><t>in</t></is></c>`, `<c t="e"><v>#N/A</v></c>`, `<c t="b"/>`},
		{},
		{"", n(1, "1"), n(2, "61"), n(3, "0"), n(4, "0.1"), n(5, "0"), `<c t="b"><v>0</v></c>`, "a & b", "x", `<c t="s"/>`, "y"},
	}
	want := [][]string{{"day", "at", "took", "price", "time", "ok", "formula", "inline", "e", "f"},
		{"2024-01-31", "2024-01-31 18:00:00", "36:00:00", "1234.5", "12:30:00", "true", "text", "in", "#N/A", ""},
		{"1900-01-01", "1900-03-01 00:00:00", "0:00:00", "0.1", "00:00:00", "false", "a & b", "x", "", "y"}}
	if got, err := scanned(t, asXLSX("", map[string][][]string{"s": sheet, "empty": {}}), ""); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("%v, got\n%q, want\n%q", err, got, want)
	}
	odd := [][]string{{"took", "id", "formula"},
		{n(3, "-0.0833333333333333"), n(0, "9007199254740993"), `<c><f>1+1</f><v></v></c>`},
		{n(3, "0.000872685185185185"), n(0, "-12345678901234567890"), `<c t="str"><f>A1</f><v></v></c>`}}
	want2 := [][]string{{"took", "id", "formula"}, {"-2:00:00", "9007199254740993", "=1+1"}, {"0:01:15.4", "-12345678901234567890", ""}}
	if got, err := scanned(t, asXLSX("", map[string][][]string{"s": odd}), ""); err != nil || fmt.Sprint(got) != fmt.Sprint(want2) {
		t.Errorf("%v, got\n%q, want\n%q", err, got, want2)
	}
	want[1][0], want[1][1], want[2][0], want[2][1] = "2028-02-01", "2028-02-01 18:00:00", "1904-01-02", "1904-03-02 00:00:00"
	book := asXLSX(`<workbookPr date1904="1"/>`, map[string][][]string{"s": sheet, "t": {{"a"}, {"b"}}})
	if got, err := scanned(t, book, "#s"); err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("from 1904: %v, got\n%q, want\n%q", err, got, want)
	}
	for part, message := range map[string]string{"": "has several sheets (s, t); name one as FILE#SHEET", "#u": `has no sheet "u"; it has s, t`} {
		if _, err := scanned(t, book, part); err == nil || !strings.Contains(err.Error(), message) {
			t.Errorf("part %q: %v", part, err)
		}
	}
	sheet[4][2] = "late"
	_, err := load(t, Spec{Columns: Columns{Chosen: []cells.Name{"at", "price"}}, Label: "ok"}, asXLSX("", map[string][][]string{"s": sheet[1:]}), "")
	if err == nil || !strings.Contains(err.Error(), `f.csv:s!C2: column "at": "2024-01-31 18:00:00" is not a number`) ||
		!strings.Contains(err.Error(), "likewise in s!4") {
		t.Errorf("error %v", err)
	}
}

func FuzzXLSX(f *testing.F) {
	sheet := cellsOf([]string{"a", "b"}, [][]string{{"1", "x"}, {"2", "y"}, {"", "x"}})
	f.Add(asXLSX("", map[string][][]string{"s": sheet}))
	f.Add(asXLSX(`<workbookPr date1904="1"/>`, map[string][][]string{"s": sheet[1:], "t": {}}))
	f.Fuzz(func(t *testing.T, content string) {
		if strings.HasPrefix(content, zipMagic) {
			checkTable(t, content, Spec{Missing: "mean", Categorical: "one_hot"})
		}
	})
}
