package tables

import (
	"archive/zip"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
	"github.com/gpc-tune/gpc-tune/internal/pattern"
)

// workbook is an xlsx file: a zip archive of XML documents.
type workbook struct {
	archive *zip.Reader
	shared  []string // texts to which cells refer
	styles  []style  // styles of cells
	from    int      // day 0 of its dates, as an offset: 1462 if it counts from 1904
	left    int64    // bytes that may still be unpacked
}

// style tells whether a cell shows a number as a date, as a time of day, or as a duration.
type style struct{ date, time, elapsed bool }

// Limits of a sheet.
const sheetRows, sheetColumns = 1 << 20, 1 << 14

// sheetCell is a cell that is not empty, with its column from 0.
type sheetCell struct {
	column int
	Field
}

// sheetRow is a row that is not empty, with its number from 1.
type sheetRow struct {
	number int
	cells  []sheetCell
}

// openXLSX opens a sheet of a workbook: the requested one, or the only one that is not empty. Empty
// rows and columns do not count. A first row without a number is a header. A first row with a
// number is a header if some column has a text in it and a number in the second row.
func openXLSX(t *Table, src Source, _ *Options) (Rows, int) {
	t.Form = "xlsx"
	name, rows, err := readWorkbook(src.text, src.part)
	if err != nil {
		t.Faults.Add(0, 0, "%v", err)
		return nil, 0
	}
	if len(rows) == 0 {
		t.Faults.Add(0, 0, "sheet %q is empty; a sheet has one row for each case", name)
		return nil, 0
	}
	t.Faults.place = func(row, column int) string {
		letters := ""
		for ; column > 0; column = (column - 1) / 26 {
			letters = string(rune('A'+(column-1)%26)) + letters
		}
		return name + "!" + letters + strconv.Itoa(row)
	}
	s, values := &sheet{columns: slices.Repeat([]int{-1}, sheetColumns)}, 0
	for _, row := range rows {
		values += len(row.cells)
		for _, c := range row.cells {
			s.columns[c.column] = 0
		}
	}
	for j, used := range s.columns {
		if used == 0 {
			s.columns[j] = len(s.places)
			s.places = append(s.places, j+1)
		}
	}
	t.Names, t.Label = cells.Positional(len(s.places)), len(s.places)-1
	if t.Header = isHeading(rows); t.Header {
		t.Form += ", header"
		for _, c := range rows[0].cells {
			t.Names[s.columns[c.column]] = c.Text
		}
		t.distinguish()
		rows = rows[1:]
	} else {
		t.Form += ", no header"
	}
	if len(rows) == 0 {
		t.Faults.Add(0, 0, "sheet %q has a header without cases", name)
		return nil, 0
	}
	if !t.Faults.filled(len(rows), len(s.places), values) {
		return nil, 0
	}
	s.rows, s.row = rows, make([]Field, len(s.places))
	return s, len(rows)
}

// isHeading reports whether the first row has the names of the columns.
func isHeading(rows []sheetRow) bool {
	isText := func(c sheetCell) bool { return !c.Typed && !cells.IsNumber(c.Text) }
	first := rows[0].cells
	if !slices.ContainsFunc(first, func(c sheetCell) bool { return !isText(c) }) {
		return true
	}
	return len(rows) > 1 && slices.ContainsFunc(rows[1].cells, func(below sheetCell) bool {
		return !isText(below) && slices.ContainsFunc(first, func(c sheetCell) bool {
			return c.column == below.column && isText(c)
		})
	})
}

// sheet are the rows of a sheet.
type sheet struct {
	columns []int // column of the table for each column of the sheet; -1: empty
	places  []int // column of the sheet, from 1, for each column of the table
	rows    []sheetRow
	row     []Field
}

func (s *sheet) Next() (line int, ok bool) {
	if len(s.rows) == 0 {
		return 0, false
	}
	clear(s.row)
	first := s.rows[0]
	for _, c := range first.cells {
		s.row[s.columns[c.column]] = c.Field
	}
	s.rows = s.rows[1:]
	return first.number, true
}

func (s *sheet) Cell(column int) Field { return s.row[column] }

func (s *sheet) At(column int) int { return s.places[column] }

// readWorkbook reads a sheet of a workbook.
func readWorkbook(content, asked string) (name string, rows []sheetRow, err error) {
	archive, err := zip.NewReader(strings.NewReader(content), int64(len(content)))
	if err != nil {
		return "", nil, fmt.Errorf("is a zip archive that cannot be read (%v); it %w", err, errDamaged)
	}
	b := &workbook{archive: archive, left: max(ratioFree, min(maxUnzipped, maxRatio*int64(len(content))))}
	var book struct {
		Properties struct {
			Since1904 string `xml:"date1904,attr"`
		} `xml:"workbookPr"`
		Sheets []struct {
			Name string `xml:"name,attr"`
			ID   string `xml:"http://schemas.openxmlformats.org/officeDocument/2006/relationships id,attr"`
		} `xml:"sheets>sheet"`
	}
	var relations struct {
		Relations []struct {
			ID     string `xml:"Id,attr"`
			Type   string `xml:"Type,attr"`
			Target string `xml:"Target,attr"`
		} `xml:"Relationship"`
	}
	if _, err := archive.Open("xl/workbook.xml"); err != nil {
		return "", nil, errors.New("is a zip archive, and no workbook of Excel (xlsx); unpack it, or save it as xlsx " +
			"or CSV")
	}
	err = errors.Join(b.decode("xl/workbook.xml", &book), b.decode("xl/_rels/workbook.xml.rels", &relations))
	if err != nil {
		return "", nil, err
	}
	if is := book.Properties.Since1904; is == "1" || is == "true" {
		b.from = 1462
	}
	targets, documents := map[string]string{}, map[string]string{} // targets by id, and by the last part of the type
	for _, r := range relations.Relations {
		targets[r.ID] = strings.TrimPrefix(path.Join("/xl", r.Target), "/")
		if strings.HasPrefix(r.Target, "/") {
			targets[r.ID] = r.Target[1:]
		}
		documents[path.Base(r.Type)] = targets[r.ID]
	}
	if err := errors.Join(b.readShared(documents["sharedStrings"]), b.readStyles(documents["styles"])); err != nil {
		return "", nil, err
	}
	var names, empty []string
	for _, s := range book.Sheets {
		target, known := targets[s.ID]
		if asked != "" && s.Name != asked || !known {
			names = append(names, s.Name)
			continue
		}
		found, err := b.readSheet(target)
		switch {
		case err != nil:
			return "", nil, fmt.Errorf("sheet %q: %w", s.Name, err)
		case asked != "":
			return asked, found, nil
		case len(found) == 0:
			empty = append(empty, s.Name)
		default:
			name, rows, names = s.Name, found, append(names, s.Name)
		}
	}
	switch {
	case asked != "":
		return "", nil, fmt.Errorf("has no sheet %q; it has %s", asked, cells.List(names))
	case len(names) > 1:
		return "", nil, fmt.Errorf("has several sheets (%s); name one as FILE#SHEET", cells.List(names))
	case len(names) == 0:
		return cells.List(empty), nil, nil
	}
	return name, rows, nil
}

// open opens a document of the workbook.
func (b *workbook) open(name string) (io.ReadCloser, error) {
	f, err := b.archive.Open(name)
	if err != nil {
		return nil, fmt.Errorf("has no %s, which a workbook needs; it %w", name, errDamaged)
	}
	return struct {
		io.Reader
		io.Closer
	}{readerFunc(func(p []byte) (int, error) {
		n, err := f.Read(p)
		if b.left -= int64(n); b.left < 0 {
			return n, fmt.Errorf("unpacks to more than %d bytes, or %d times its size; save it as CSV", maxUnzipped,
				maxRatio)
		}
		return n, err
	}), f}, nil
}

// readerFunc is a function that reads.
type readerFunc func(p []byte) (int, error)

func (r readerFunc) Read(p []byte) (int, error) { return r(p) }

// decode reads a document into v.
func (b *workbook) decode(name string, v any) error {
	f, err := b.open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	err = xml.NewDecoder(f).Decode(v)
	if err == nil { // the checksum of the document comes after its end
		_, err = io.Copy(io.Discard, f)
	}
	if err != nil {
		return fmt.Errorf("has a document %s that cannot be read (%v); it %w", name, err, errDamaged)
	}
	return nil
}

// richText is a text, whole or in runs of several fonts. Its phonetic guide does not count.
type richText struct {
	Text string   `xml:"t"`
	Runs []string `xml:"r>t"`
}

func (r richText) String() string {
	text := plain(r.Text)
	for _, run := range r.Runs {
		text += plain(run)
	}
	return text
}

// escapes are characters that XML cannot hold, by their numbers in UTF-16: _x000D_ is a carriage
// return, and _x005F_ the underscore of a text that looks like an escape (ECMA-376, ST_Xstring).
var escapes = pattern.Of(`(?:_x[0-9A-Fa-f]{4}_)+`)

// plain replaces the escapes of a text, except escapes of invalid characters.
func plain(text string) string {
	return escapes().ReplaceAllStringFunc(text, func(run string) string {
		var units []uint16
		for at := 0; at < len(run); at += len("_x000D_") {
			unit, _ := strconv.ParseUint(run[at+2:at+6], 16, 16) // escapes has matched it
			units = append(units, uint16(unit))
		}
		if runes := utf16.Decode(units); !slices.Contains(runes, utf8.RuneError) && !slices.Contains(runes, 0) {
			return string(runes)
		}
		return run
	})
}

// optional returns the name of a document: the given one or, if it is empty, the usual one, which
// may be missing.
func (b *workbook) optional(name, usual string) (of string, missing bool) {
	if name != "" {
		return name, false
	}
	f, err := b.archive.Open(usual)
	if err == nil {
		f.Close()
	}
	return usual, err != nil
}

// readShared reads the texts that cells share; there may be none.
func (b *workbook) readShared(name string) error {
	name, missing := b.optional(name, "xl/sharedStrings.xml")
	if missing {
		return nil
	}
	return b.each(name, map[string]func(*xml.Decoder, xml.StartElement) error{
		"si": func(d *xml.Decoder, e xml.StartElement) error {
			var text richText
			err := d.DecodeElement(&text, &e)
			b.shared = append(b.shared, text.String())
			return err
		},
	})
}

// each calls a function for every element whose name is in of.
func (b *workbook) each(name string, of map[string]func(*xml.Decoder, xml.StartElement) error) error {
	f, err := b.open(name)
	if err != nil {
		return err
	}
	defer f.Close()
	d := xml.NewDecoder(f)
	for {
		token, err := d.Token()
		if err == io.EOF {
			return nil
		}
		if start, is := token.(xml.StartElement); is && err == nil && of[start.Name.Local] != nil {
			err = of[start.Name.Local](d, start)
		}
		if err != nil {
			return fmt.Errorf("has a document %s that cannot be read (%w); it %w", name, err, errDamaged)
		}
	}
}

// readStyles reads which cells show dates.
func (b *workbook) readStyles(name string) error {
	name, missing := b.optional(name, "xl/styles.xml")
	if missing {
		return nil
	}
	var doc struct {
		Formats []struct {
			ID   int    `xml:"numFmtId,attr"`
			Code string `xml:"formatCode,attr"`
		} `xml:"numFmts>numFmt"`
		Cells []struct {
			Format int `xml:"numFmtId,attr"`
		} `xml:"cellXfs>xf"`
	}
	if err := b.decode(name, &doc); err != nil {
		return err
	}
	codes := map[int]string{}
	for _, f := range doc.Formats {
		codes[f.ID] = f.Code
	}
	for _, c := range doc.Cells {
		code, own := codes[c.Format]
		if !own {
			code = builtIn(c.Format)
		}
		b.styles = append(b.styles, styleOf(code))
	}
	return nil
}

// builtIn returns the code of a built-in format of dates and times, which the file does not define
// (ECMA-376, 18.8.30).
func builtIn(format int) string {
	switch {
	case format >= 14 && format <= 17, format >= 27 && format <= 31, format == 36, format >= 50 && format <= 58:
		return "yyyy-mm-dd"
	case format == 22:
		return "yyyy-mm-dd h:mm"
	case format == 46:
		return "[h]:mm:ss"
	case format >= 18 && format <= 21, format >= 32 && format <= 35, format == 45, format == 47:
		return "h:mm:ss"
	}
	return "General"
}

// styleOf interprets the first section of a format code. Quoted and escaped characters, and those
// in brackets, are no placeholders, unless the brackets count hours, minutes or seconds.
func styleOf(code string) (s style) {
	months := false
	for code = strings.ToLower(code); code != ""; {
		c := code[0]
		code = code[1:]
		switch c {
		case ';':
			code = ""
		case '"', '[':
			inside, rest, _ := strings.Cut(code, map[byte]string{'"': "\"", '[': "]"}[c])
			s.elapsed = s.elapsed || c == '[' && inside != "" && (strings.Trim(inside, "h") == "" ||
				strings.Trim(inside, "m") == "" || strings.Trim(inside, "s") == "")
			code = rest
		case '\\', '_', '*':
			code = code[min(1, len(code)):]
		case 'y', 'd':
			s.date = true
		case 'm':
			months = true
		case 'h', 's':
			s.time = true
		case 'g': // begins General, or is an era
			if strings.HasPrefix(code, "eneral") {
				return s
			}
		}
	}
	s.date = s.date || months && !s.time && !s.elapsed
	return s
}

// readSheet reads the cells of a sheet that are not empty.
func (b *workbook) readSheet(name string) (rows []sheetRow, err error) {
	last, column := 0, 0 // previous row; column of the previous cell, from 1
	err = b.each(name, map[string]func(*xml.Decoder, xml.StartElement) error{
		"row": func(_ *xml.Decoder, e xml.StartElement) error {
			number := last + 1
			for _, a := range e.Attr {
				if a.Name.Local == "r" {
					number, _ = strconv.Atoi(a.Value)
				}
			}
			if number <= last || number > sheetRows {
				return fmt.Errorf("row %d after row %d", number, last)
			}
			last, column = number, 0
			if k := len(rows) - 1; k < 0 || len(rows[k].cells) > 0 {
				rows = append(rows, sheetRow{})
			}
			rows[len(rows)-1].number = number
			return nil
		},
		"c": func(d *xml.Decoder, e xml.StartElement) error {
			var c struct {
				Place  string   `xml:"r,attr"`
				Style  int      `xml:"s,attr"`
				Type   string   `xml:"t,attr"`
				Value  *string  `xml:"v"`
				Source *string  `xml:"f"` // formula, whose result is the value
				Inline richText `xml:"is"`
			}
			if err := d.DecodeElement(&c, &e); err != nil {
				return err
			}
			place := column + 1
			if c.Place != "" {
				place = columnOf(c.Place)
			}
			if place <= column || place > sheetColumns || len(rows) == 0 {
				return fmt.Errorf("cell %q after column %d of row %d", c.Place, column, last)
			}
			column = place
			text := c.Inline.String()
			if c.Value != nil {
				text = plain(*c.Value)
			}
			if text == "" && c.Source != nil && c.Type != "str" { // a formula that was not computed
				c.Type, text = "str", "="+*c.Source
			}
			content, err := b.content(c.Type, c.Style, text)
			if err != nil {
				return fmt.Errorf("cell %s: %w", c.Place, err)
			}
			if content.Text != "" {
				row := &rows[len(rows)-1]
				row.cells = append(row.cells, sheetCell{column - 1, content})
			}
			return nil
		},
	})
	if k := len(rows) - 1; k >= 0 && len(rows[k].cells) == 0 {
		rows = rows[:k]
	}
	return rows, err
}

// columnOf returns the column, from 1, of a reference such as B3; 0 if the text is none.
func columnOf(place string) (column int) {
	for _, c := range place {
		if c < 'A' || c > 'Z' || column > sheetColumns {
			break
		}
		column = 26*column + int(c-'A') + 1
	}
	return column
}

// content returns the field of a cell from its type and text.
func (b *workbook) content(kind string, of int, text string) (Field, error) {
	if text == "" {
		return Field{}, nil
	}
	switch kind {
	case "s":
		k, err := strconv.Atoi(text)
		if err != nil || k < 0 || k >= len(b.shared) {
			return Field{}, fmt.Errorf("it has text %q of %d texts", text, len(b.shared))
		}
		return textCell(b.shared[k]), nil
	case "b":
		return Field{Text: strconv.FormatBool(text == "1" || text == "true")}, nil
	case "inlineStr", "str", "e":
		return textCell(text), nil
	case "d":
		for _, form := range []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999", time.DateOnly} {
			if at, err := time.Parse(form, text); err == nil && form == time.DateOnly {
				return Field{Text: text}, nil
			} else if err == nil {
				return timeCell(at), nil
			}
		}
		return textCell(text), nil
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		return Field{}, fmt.Errorf("%q is no number", text)
	}
	if digits := strings.TrimPrefix(text, "-"); math.Abs(v) >= 1<<53 && strings.Trim(digits, "0123456789") == "" {
		return typedCell(text, v), nil // the digits of the nearest float64 may be another id
	}
	if of >= 0 && of < len(b.styles) {
		return b.shown(v, b.styles[of]), nil
	}
	return numberCell(v, 64), nil
}

// shown converts a number to a date or a time if its style shows one. Days are counted from the end
// of 1899, with a 29 February 1900 that never was, or from 1904.
func (b *workbook) shown(v float64, s style) Field {
	const lastDay, millis = 2958466, 86400000
	span := s.elapsed && !s.date
	if s == (style{}) || !(v < lastDay && (v >= 0 || span && v > -lastDay)) {
		return numberCell(v, 64)
	}
	n := int64(math.Round(v * millis))
	if span {
		return Field{Text: elapsed(n)}
	}
	days := n/millis + int64(b.from)
	if days < 60 {
		days++
	}
	at := time.Date(1899, 12, 30, 0, 0, 0, 0, time.UTC).AddDate(0, 0, int(days)).Add(time.Duration(n%millis) *
		time.Millisecond)
	switch {
	case s.date && (s.time || s.elapsed):
		return timeCell(at)
	case s.date:
		return Field{Text: at.Format(time.DateOnly)}
	}
	return Field{Text: at.Format("15:04:05.999")}
}

// elapsed formats a duration in milliseconds as hours, minutes and seconds.
func elapsed(n int64) string {
	minus := ""
	if n < 0 {
		minus, n = "-", -n
	}
	seconds := n / 1000
	text := fmt.Sprintf("%s%d:%02d:%02d", minus, seconds/3600, seconds/60%60, seconds%60)
	if part := n % 1000; part > 0 {
		text += strings.TrimRight(fmt.Sprintf(".%03d", part), "0")
	}
	return text
}
