package data

import (
	"encoding/csv"
	"errors"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

// delimiters in the order in which they are preferred, with their names. A blank stands for any run of blanks.
var delimiters = []struct {
	char rune
	name string
}{{'\t', "tab"}, {';', "semicolon"}, {',', "comma"}, {' ', "blank"}}

// delimiter finds the one that occurs, outside quotes, in most of the first ten lines.
func delimiter(text string) (char rune, name string) {
	in, lines := make([]int, len(delimiters)), 0
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
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

// outsideQuotes counts a byte where it is not in quotes.
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

// records reads lines of delimited fields.
type records struct {
	*csv.Reader
	blanks   bool // the delimiter is any run of blanks
	trailing int  // width that a line has without the empty field after a trailing delimiter; 0: none
	faults   *FileError
}

func newRecords(text string, comma rune, faults *FileError) *records {
	r := &records{Reader: csv.NewReader(strings.NewReader(text)), blanks: comma == ' ', faults: faults}
	r.Comma, r.Comment = comma, '#'
	r.FieldsPerRecord, r.ReuseRecord = -1, true
	r.TrimLeadingSpace = comma != '\t' // a tab is itself a space
	return r
}

// next returns the fields of the next line that is not blank, without the blanks around them; nil at the end. A line with
// a fault of its quotes gives one empty record.
func (r *records) next() []string {
	for {
		fields, err := r.Read()
		var quote *csv.ParseError
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case errors.As(err, &quote):
			column := quote.Column
			if quote.Line != quote.StartLine { // the quote ran on: what matters is where it was opened
				column = 0
			}
			r.faults.add(quote.StartLine, column, "a quote out of place or not closed: put the whole field in quotes and double those inside it, or remove it")
			return []string{}
		}
		for j, f := range fields {
			fields[j] = strings.TrimSpace(f)
		}
		last := len(fields) - 1
		if last == 0 && fields[0] == "" {
			continue
		}
		if fields[last] == "" && (r.blanks || last == r.trailing) {
			fields = fields[:last]
		}
		return fields
	}
}

// readDelimited reads a table of columns between delimiters.
func (t *table) readDelimited(text string, want request) error {
	number := 0
	for line := range strings.Lines(text) {
		if number++; len(line) > maxLine {
			t.faults.add(number, 0, "has %d bytes, more than the %d that one line may have; a data file has one line for each case", len(line), maxLine)
			return nil
		}
	}
	comma, name := delimiter(text)
	if comma == ' ' {
		text = strings.ReplaceAll(text, "\t", " ")
	}

	number = 0
	for line := range strings.Lines(text) { // before anything is made for each of the fields
		if number++; len(line) > maxColumns && outsideQuotes(line, byte(comma)) > maxColumns {
			t.faults.add(number, 0, "has more than %d fields, which is more than can be held; take a part of the file", maxColumns)
			return nil
		}
	}

	// Look at the first two lines: width, trailing delimiter, header, form.
	peek := newRecords(text, comma, &FileError{})
	first := slices.Clone(peek.next())
	second := slices.Clone(peek.next())
	switch {
	case first == nil:
		t.faults.add(0, 0, "is empty; a data file has one line for each case")
		return nil
	case len(first) == 0 || second != nil && len(second) == 0: // no telling what the columns are
		for r := newRecords(text, comma, t.faults); r.next() != nil; {
		}
		return nil
	}
	width, trailing := len(first), 0
	if n := len(second); n > 1 && second[n-1] == "" && (n == width+1 || n == width && first[width-1] == "") {
		trailing = n - 1
		width = trailing
		first, second = first[:width], second[:width]
	}
	t.header = isHeader(first, second, want.named)
	t.form = name + "-separated columns, " + map[bool]string{true: "header", false: "no header"}[t.header]
	if second == nil && !slices.ContainsFunc(first, func(f string) bool { _, ok := parseNumber(f); return ok }) {
		t.faults.add(1, 0, "has a single line, and no number in it: a header without cases")
		return nil
	}

	r := newRecords(text, comma, t.faults)
	r.trailing = trailing
	t.names = make([]string, width)
	if t.header {
		t.nameColumns(r.next(), r)
	} else {
		for j := range t.names {
			t.names[j] = positional(j)
		}
	}
	t.label = width - 1
	if !t.header && comma == ' ' && isZip(text, width) {
		t.label, t.form = 0, "zip.train form: blank-separated columns, the label first, no header"
	}
	n := 1 + strings.Count(strings.TrimRight(text, "\n"), "\n") // rows at most
	n = min(n, 1+(len(text)+1)/width)                           // each as long as its delimiters
	if !t.fits(n, width) {
		return nil
	}
	if err := want.plan(t); err != nil {
		return err
	}
	t.allocate(n)
	for fields := r.next(); fields != nil; fields = r.next() {
		if len(fields) > 0 {
			t.addRecord(want, r, fields)
		}
		t.read++
	}
	t.truncate()
	return nil
}

// positional is the name of a column that has none in its file.
func positional(j int) string { return "x" + strconv.Itoa(j+1) }

// isHeader tells whether first names columns: it holds a name the caller knows, or it has text where second has a number.
func isHeader(first, second, named []string) bool {
	for j, f := range first {
		if slices.Contains(named, f) {
			return true
		}
		if _, is := parseNumber(f); is || isMissing(f) || j >= len(second) {
			continue
		}
		if _, is := parseNumber(second[j]); is {
			return true
		}
	}
	return false
}

// nameColumns takes the names from the header.
func (t *table) nameColumns(header []string, r *records) {
	seen := map[string]int{}
	var numeric []string
	for j, name := range header {
		line, column := r.FieldPos(j)
		if name == "" {
			name = positional(j)
			t.warnings = append(t.warnings, "column "+strconv.Itoa(j+1)+" has no name in the header; it is called "+name)
		}
		if before, is := seen[name]; is {
			t.faults.add(line, column, "the column name %q occurs twice (columns %d and %d); rename one", name, before+1, j+1)
		}
		if _, is := parseNumber(name); is {
			numeric = append(numeric, name)
		}
		seen[name] = j
		t.names[j] = name
	}
	if len(numeric) > 0 {
		t.warnings = append(t.warnings, "the first line is taken as the header, although it holds numbers ("+list(numeric)+")")
	}
}

// isZip tells whether blank-separated columns without a header have the form of zip.train.
func isZip(text string, width int) bool {
	if width != 257 {
		return false
	}
	digit := func(f string) bool {
		v, ok := parseNumber(f)
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

// addRecord takes one line as a case.
func (t *table) addRecord(want request, r *records, fields []string) {
	line, _ := r.FieldPos(0)
	if len(fields) != len(t.names) {
		hint := ""
		switch {
		case t.header && len(fields) == len(t.names)+1:
			hint = "; a header does not name row numbers (in R: write.table with row.names = FALSE)"
		case len(fields) == 1:
			hint = "; the file was taken as " + t.form
		}
		t.faults.add(line, 0, "%d fields, where the first line has %d%s", len(fields), len(t.names), hint)
		return
	}
	if t.label >= 0 && t.passes(want, fields[t.label]) {
		return
	}
	n, complete := len(t.rows), true
	for j, role := range t.roles {
		field := fields[j]
		switch role {
		case number:
			v, ok := parseNumber(field)
			if !ok {
				v = math.NaN()
				_, column := r.FieldPos(j)
				if isMissing(field) {
					complete = false
					t.missing(want, role, line, column, j)
				} else {
					t.faults.add(line, column, "column %q: %s; correct it, leave the column out (drop: [%s]), or if it holds categories set categorical: one_hot", t.names[j], notNumber(field), t.names[j])
				}
			}
			t.numbers[j][n] = v
		case level, target, needed:
			if isMissing(field) {
				complete, field = complete && role == target && want.loose, ""
				_, column := r.FieldPos(j)
				t.missing(want, role, line, column, j)
			}
			t.texts[j][n] = strings.Clone(field) // not the whole line
		case carried:
			t.texts[j][n] = strings.Clone(field)
		}
	}
	t.addCase(want, line, complete)
}

// addCase counts the case just written, unless it is to be dropped.
func (t *table) addCase(want request, line int, complete bool) {
	if !complete && want.missing == "drop" {
		t.dropped++
		return
	}
	t.rows, t.lines = append(t.rows, t.read), append(t.lines, line)
}

// truncate cuts the columns to the cases read.
func (t *table) truncate() {
	for j := range t.roles {
		if t.numbers[j] != nil {
			t.numbers[j] = t.numbers[j][:len(t.rows)]
		}
		if t.texts[j] != nil {
			t.texts[j] = t.texts[j][:len(t.rows)]
		}
	}
}

// list writes the first few of names.
func list(names []string) string {
	if len(names) > 10 {
		return strings.Join(names[:10], ", ") + ", … (" + strconv.Itoa(len(names)) + " in all)"
	}
	return strings.Join(names, ", ")
}
