package tables

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/pattern"
)

// delimiters in order of preference, with their names. A blank stands for any sequence of blanks.
var delimiters = []struct {
	char rune
	name string
}{{'\t', "tab"}, {';', "semicolon"}, {',', "comma"}, {'|', "bar"}, {' ', "blank"}}

// delimiter returns the delimiter that occurs, outside quotes, in most of the first ten lines.
// There is none if the first line is one known name. A comma between digits is part of a number if
// numbers can have commas, unless commas separated the training file.
func (want *Options) delimiter(text string) (char rune, name string) {
	in, lines := make([]int, len(delimiters)), 0
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		if lines == 0 && slices.Contains(want.Names, line) {
			break
		}
		if want.Decimal != "" && want.Delimiter != "" && want.Delimiter != "," {
			line = withCommas().ReplaceAllString(line, "0")
		}
		for k, d := range delimiters {
			if outsideQuotes(line, byte(d.char)) > 0 {
				in[k]++
			}
		}
		if lines++; lines == 10 {
			break
		}
	}
	best := slices.Index(in, slices.Max(in))
	return delimiters[best].char, delimiters[best].name
}

// withCommas matches digits with commas between them.
var withCommas = pattern.Of(`[0-9](?:,[0-9]+)+`)

// outsideQuotes counts a byte outside quotes.
func outsideQuotes(line string, c byte) (n int) {
	quoted := false
	for i := range len(line) {
		switch {
		case line[i] == '"':
			quoted = !quoted
		case line[i] == c && !quoted:
			n++
		}
	}
	return n
}

// lines returns the fields of one line after another, and where they begin; the next call
// overwrites them.
type lines interface {
	Read() (fields []string, err error)
	FieldPos(field int) (line, column int)
}

// unquoted reads lines without quotes like csv.Reader, but without copying the text.
type unquoted struct {
	rest   string
	comma  byte
	line   int
	fields []string
	at     []int // byte offset of each field in its line
}

func (u *unquoted) FieldPos(field int) (line, column int) { return u.line, u.at[field] + 1 }

func (u *unquoted) Read() (fields []string, err error) {
	line := ""
	for line == "" || line[0] == '#' {
		if u.rest == "" {
			return nil, io.EOF
		}
		u.line++
		line, u.rest, _ = strings.Cut(u.rest, "\n")
		line = strings.TrimSuffix(line, "\r")
	}
	u.fields, u.at = u.fields[:0], u.at[:0]
	for from := 0; ; {
		if u.comma != '\t' { // a tab is also white space
			from = len(line) - len(strings.TrimLeftFunc(line[from:], unicode.IsSpace))
		}
		size := strings.IndexByte(line[from:], u.comma)
		u.at = append(u.at, from)
		if size < 0 {
			u.fields = append(u.fields, line[from:])
			return u.fields, nil
		}
		u.fields = append(u.fields, line[from:from+size])
		from += size + 1
	}
}

// records reads lines of delimited fields.
type records struct {
	lines
	comma    rune
	trailing int  // width of a line without the empty field after a trailing delimiter; 0: no trailing delimiter
	single   bool // the file has one column, so an empty line is a case
	faults   *FileError
}

func newRecords(text string, comma rune, faults *FileError) *records {
	r := &records{lines: &unquoted{rest: text, comma: byte(comma)}, comma: comma, faults: faults}
	if strings.IndexByte(text, '"') >= 0 {
		quoted := csv.NewReader(strings.NewReader(text))
		quoted.Comma, quoted.Comment = comma, '#'
		quoted.FieldsPerRecord, quoted.ReuseRecord = -1, true
		quoted.TrimLeadingSpace = comma != '\t'
		r.lines = quoted
	}
	return r
}

// blanks reports whether the delimiter is any sequence of blanks.
func (r *records) blanks() bool { return r.comma == ' ' }

// next returns the fields of the next line, without surrounding blanks; nil at the end. It skips
// empty lines, unless an empty line is a case. A line with incorrect quotes gives one empty record.
func (r *records) next() []string {
	for {
		fields, err := r.Read()
		var quote *csv.ParseError
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &quote):
			column := quote.Column
			if quote.Line != quote.StartLine { // an open quote: report where it begins
				column = 0
			}
			r.faults.Once(fault{"quote", 0}, quote.StartLine, column, "a quote out of place or not closed: "+
				"put the whole field in quotes and double those inside it, or remove it")
			return []string{}
		}
		for j, f := range fields {
			fields[j] = strings.TrimSpace(f)
		}
		last := len(fields) - 1
		if last == 0 && fields[0] == "" {
			if r.single {
				return fields
			}
			continue
		}
		if fields[last] == "" && (r.blanks() || last == r.trailing) {
			fields = fields[:last]
		}
		return fields
	}
}

// delimitedRows reads the rows of delimited columns.
type delimitedRows struct {
	*records
	table  *Table
	fields []string
}

// openDelimited opens a table of columns between delimiters.
func openDelimited(t *Table, src Source, want *Options) (Rows, int) {
	text, known, delimiterName := src.text, t.Names != nil, ""
	if !known {
		t.Delimiter, delimiterName = want.delimiter(text)
	}
	line := 0
	for s := range strings.Lines(text) { // checked before any field is allocated
		switch line++; {
		case len(s) > maxLine:
			t.Faults.Add(line, 0, "has %d bytes, more than the %d that one line may have; "+
				"a data file has one line for each case", len(s), maxLine)
			return nil, 0
		case len(s) > MaxColumns && outsideQuotes(s, byte(t.Delimiter)) > MaxColumns:
			t.Faults.Add(line, 0, "has more than %d fields, which is more than can be held; take a part of "+
				"the file", MaxColumns)
			return nil, 0
		}
	}
	if t.Delimiter == ' ' {
		text = strings.ReplaceAll(text, "\t", " ")
	}
	if !known {
		t.single = len(newRecords(text, t.Delimiter, &FileError{}).next()) == 1
	}
	if t.single {
		text = quoteEmptyLines(text)
	}
	r := newRecords(text, t.Delimiter, t.Faults)
	if !known {
		if want.Words {
			want.Names = wordsAbove(text, t.Delimiter)
		}
		if ok := t.describeColumns(r, text, delimiterName, want); !ok {
			return nil, 0
		}
		t.trailing = r.trailing
	}
	t.commented(text)
	r.single, r.trailing = t.single, t.trailing
	n := 1 + strings.Count(strings.TrimRight(text, "\n"), "\n") // upper bound of the rows
	n = min(n, 1+(len(text)+1)/len(t.Names))                    // each row is at least as long as its delimiters
	return &delimitedRows{records: r, table: t}, n
}

// commented warns of lines that are left out as comments and could be cases, or the header.
func (t *Table) commented(text string) {
	if len(t.Names) == 1 || !strings.HasPrefix(text, "#") && !strings.Contains(text, "\n#") {
		return
	}
	n, first, quoted := 0, "", false
	for line := range strings.Lines(text) {
		if quoted || line[0] != '#' {
			quoted = quoted != (strings.Count(line, `"`)%2 == 1)
			continue
		}
		fields := 1 + outsideQuotes(line, byte(t.Delimiter))
		if t.Delimiter == ' ' {
			fields = len(strings.Fields(line))
		}
		if r, _ := utf8.DecodeRuneInString(line[1:]); unicode.IsSpace(r) || fields != len(t.Names) {
			continue
		}
		if n++; n == 1 {
			first = strings.TrimSpace(line[:min(len(line), 40)])
		}
	}
	if n > 0 {
		t.Warnings = append(t.Warnings, cause.Comments.Of(n, "lines begin with # and have as many fields as a case: %s",
			strings.ToValidUTF8(first, "")))
	}
}

func (l *delimitedRows) Next() (line int, ok bool) {
	for l.fields = l.records.next(); l.fields != nil; l.fields = l.records.next() {
		if len(l.fields) > 0 {
			line, _ = l.FieldPos(0)
			if len(l.fields) == len(l.table.Names) {
				return line, true
			}
			l.table.wrongWidth(line, len(l.fields))
		} // no fields: the quotes are incorrect
	}
	return 0, false
}

func (l *delimitedRows) Cell(column int) Field { return Field{Text: l.fields[column]} }

func (l *delimitedRows) At(column int) int {
	_, at := l.FieldPos(column)
	return at
}

// quoteEmptyLines writes the empty lines of a file of one column as "", because readers of CSV skip
// empty lines.
func quoteEmptyLines(text string) string {
	var out strings.Builder
	quotes := 0
	for line := range strings.Lines(text) {
		switch {
		case quotes%2 == 0 && strings.TrimRight(line, "\r\n") == "":
			out.WriteString(`""`)
		case quotes%2 == 1 || line[0] != '#':
			quotes += strings.Count(line, `"`)
		}
		out.WriteString(line)
	}
	return out.String()
}

// wordsAbove returns the fields of the first line if they look like the names of text columns (see
// Scan).
func wordsAbove(text string, comma rune) []string {
	const lines = 1000
	r := newRecords(text, comma, &FileError{})
	first, met := slices.Clone(r.next()), map[string]bool{}
	for _, f := range first {
		if _, number := cells.ParseNumber(f, "comma"); number || cells.IsNumber(f) || cells.Missing(f) || met[f] {
			return nil
		}
		met[f] = true
	}
	seen, again := make([]map[string]bool, len(first)), false
	for range lines {
		fields := r.next()
		if fields == nil {
			break
		}
		for j, f := range fields[:min(len(fields), len(first))] {
			switch {
			case f == first[j]:
				return nil
			case again:
				continue
			case seen[j] == nil:
				seen[j] = map[string]bool{}
			}
			again, seen[j][f] = again || seen[j][f], true
		}
	}
	if !again {
		return nil
	}
	return first
}

// describeColumns reads the first two lines: the number of columns, whether a delimiter ends each
// line, and the names of the columns. Afterwards r is at the first case. It returns false if there
// is nothing to read.
func (t *Table) describeColumns(r *records, text, delimiter string, want *Options) (ok bool) {
	peek := newRecords(text, r.comma, &FileError{})
	first := slices.Clone(peek.next())
	second := slices.Clone(peek.next())
	switch {
	case first == nil:
		t.Faults.Add(0, 0, "is empty; a data file has one line for each case")
		return false
	case len(first) == 0 || second != nil && len(second) == 0: // the number of columns is unknown
		for r.next() != nil { // report further incorrect quotes
		}
		return false
	}
	width := len(first)
	if n := len(second); n > 1 && second[n-1] == "" && (n == width+1 || n == width && first[width-1] == "") {
		width, r.trailing = n-1, n-1
		first, second = first[:width], second[:width]
	}
	if second == nil && width == 1 { // the cases may all be missing values
		peek = newRecords(text, r.comma, &FileError{})
		peek.next()
		peek.single = true
		second = peek.next()
	}
	if second == nil && !slices.ContainsFunc(first, want.isNumber) {
		t.Faults.Add(1, 0, "has a single line, and no number in it: a header without cases")
		return false
	}
	t.Header = want.isHeader(first, second)
	t.Names, t.Label = cells.Positional(width), width-1
	switch {
	case t.Header:
		t.Form = delimiter + "-separated columns, header"
		t.nameColumns(r)
	case r.blanks() && isZip(text, width):
		t.Label, t.Form = 0, "zip.train form: blank-separated columns, the label first, no header"
	default:
		t.Form = delimiter + "-separated columns, no header"
	}
	return true
}

// isHeader reports whether first has the names of columns: it contains a name that the caller knows
// and that is not a number, or it has text in a column in which second has a number.
func (want *Options) isHeader(first, second []string) bool {
	known := make(map[string]bool, len(want.Names))
	for _, name := range want.Names {
		known[name] = true
	}
	for j, f := range first {
		_, missing := want.Number(Field{Text: f})
		if !want.isNumber(f) && (known[f] || !missing && j < len(second) && want.isNumber(second[j])) {
			return true
		}
	}
	return false
}

// nameColumns reads the names from the next line.
func (t *Table) nameColumns(r *records) {
	var numeric []string
	for j, name := range r.next() {
		if name == "" {
			name = t.Names[j]
			t.rename("column %d has no name in the header; it is called %s", j+1, name)
		}
		if cells.IsNumber(name) {
			numeric = append(numeric, name)
		}
		t.Names[j] = name
	}
	t.distinguish()
	if len(numeric) > 0 {
		t.Warnings = append(t.Warnings,
			cause.Columns.New("the first line is taken as the header, although it holds numbers (%s)",
				cells.List(numeric)))
	}
}

// distinguish renames the second and further columns with the same name.
func (t *Table) distinguish() {
	taken := map[string]bool{}
	for _, name := range t.Names {
		taken[name] = true
	}
	first, copies := map[string]int{}, map[string]int{}
	for j, name := range t.Names {
		before, again := first[name]
		if !again {
			first[name], copies[name] = j, 1
			continue
		}
		for taken[t.Names[j]] {
			copies[name]++
			t.Names[j] = fmt.Sprintf("%s.%d", name, copies[name])
		}
		taken[t.Names[j]] = true
		t.rename("the column name %q occurs twice (columns %d and %d); the latter is called %q", name, before+1, j+1,
			t.Names[j])
	}
	if t.renamed > 0 {
		t.Warnings = append(t.Warnings,
			cause.Columns.New("further columns without a name of their own: %d", t.renamed))
	}
}

// rename warns of a column whose name differs from the header. Only the first few columns have a
// warning.
func (t *Table) rename(format string, args ...any) {
	if len(t.Warnings) >= MaxFaults {
		t.renamed++
		return
	}
	t.Warnings = append(t.Warnings, cause.Columns.New(format, args...))
}

// isZip reports whether blank-separated columns without a header have the format of zip.train.
func isZip(text string, width int) bool {
	if width != 257 {
		return false
	}
	digit := func(f string) bool {
		v, ok := cells.ParsePlain(f)
		return ok && v >= 0 && v <= 9 && v == math.Trunc(v)
	}
	other := false
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		first, _, _ := strings.Cut(line, " ")
		if !digit(first) {
			return false
		}
		other = other || !digit(line[strings.LastIndexByte(line, ' ')+1:])
	}
	return other
}

// wrongWidth reports a line of n fields.
func (t *Table) wrongWidth(line, n int) {
	t.Faults.Once(fault{"width", n}, line, 0, "%s, where the first line has %d%s", cells.Several(n, "field"),
		len(t.Names), t.widthHint(n))
}

// widthHint suggests a reason for a line of n fields.
func (t *Table) widthHint(n int) string {
	switch {
	case t.Header && n == len(t.Names)+1:
		return "; a header does not name row numbers (in R: write.table with row.names = FALSE)"
	case n == 1:
		return "; the file was taken as " + t.Form
	}
	return ""
}
