package tables

import (
	"errors"
	"math"
	"strconv"
	"strings"
	"unicode"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
)

// isSVMLight reports whether the second field of the first line with two fields is index:value or
// qid:number, with no comma or semicolon before it.
func isSVMLight(text string) bool {
	for line := range strings.Lines(text) {
		line, _, _ = strings.Cut(line, "#")
		fields := fieldsAt(line, 2)
		for _, f := range fields {
			if strings.ContainsAny(f.text, ",;") {
				return false
			}
		}
		if len(fields) < 2 {
			continue
		}
		index, value, pair := strings.Cut(fields[1].text, ":")
		_, err := strconv.ParseInt(index, 10, 64)
		return pair && (index == "qid" || err == nil || errors.Is(err, strconv.ErrRange)) &&
			!strings.Contains(value, ":")
	}
	return false
}

// fieldAt is a field with its byte offset in the line.
type fieldAt struct {
	text string
	at   int
}

// fieldsAt splits a line at its blanks into at most limit fields (the rest is dropped); 0 means
// all.
func fieldsAt(line string, limit int) []fieldAt {
	var fields []fieldAt
	for at := 0; limit == 0 || len(fields) < limit; {
		from := strings.IndexFunc(line[at:], func(r rune) bool { return !unicode.IsSpace(r) })
		if from < 0 {
			break
		}
		at += from
		size := strings.IndexFunc(line[at:], unicode.IsSpace)
		if size < 0 {
			size = len(line) - at
		}
		fields = append(fields, fieldAt{line[at : at+size], at})
		at += size
	}
	return fields
}

// sparseCase is a line of an svmlight file, with indices from 0.
type sparseCase struct {
	line       int
	label, qid fieldAt
	index      []int32
	value      []float64
	unread     map[int]string // values of cases to predict that are no numbers, by their places in value
}

// openSVMLight opens a file in the sparse format. Names are made only after checking that the
// largest index fits.
func openSVMLight(t *Table, src Source, want *Options) (Rows, int) {
	t.Form, t.Sparse = "svmlight", true
	var cases []sparseCase
	features, values, hasQID, line := 0, 0, false, 0
	for s := range strings.Lines(src.text) {
		if line++; len(s) > maxLine {
			t.Faults.Add(line, 0, "has %d bytes, more than the %d that one line may have", len(s), maxLine)
			return nil, 0
		}
		s, _, _ = strings.Cut(s, "#")
		const most = MaxColumns + 2 // label, qid, and each index once
		fields := fieldsAt(s, most+1)
		switch {
		case len(fields) == 0:
			continue
		case len(fields) > most:
			t.Faults.Add(line, 0, "has more than %d fields, which is more than can be held; take a part of "+
				"the file", most)
			return nil, 0
		}
		c := t.parseSparse(want, line, fields)
		cases = append(cases, c)
		hasQID = hasQID || c.qid.text != ""
		if n := len(c.index); n > 0 {
			features = max(features, int(c.index[n-1])+1)
			values += n
		}
	}
	if !t.Faults.Fits(len(cases), features+2) { // checked before the names are made
		return nil, 0
	}
	if cells := len(cases) * features; cells > max(sparseFree, maxSparsity*values) {
		t.Faults.Add(0, 0, "%d rows with indices up to %d hold only %d values, but would need a dense matrix "+
			"of %d; number the features from 1 without gaps", len(cases), features, values, cells)
		return nil, 0
	}
	t.Names = cells.Positional(features)
	if hasQID {
		t.Names = append(t.Names, "qid")
	}
	t.Label = len(t.Names)
	t.Names = append(t.Names, "label")
	rows := &sparseRows{cases: cases, row: make([]Field, len(t.Names)), begins: make([]int, len(t.Names))}
	for j := range features {
		rows.row[j].Typed = true
	}
	return rows, len(cases)
}

// sparseRows has the rows of a svmlight file. Their columns are the features, then qid, if the file
// has any, and the label.
type sparseRows struct {
	cases  []sparseCase
	now    sparseCase
	row    []Field // its fields
	begins []int   // the begins of label and qid in the line
}

func (s *sparseRows) Next() (line int, ok bool) {
	for _, j := range s.now.index {
		s.row[j] = Field{Typed: true}
	}
	if len(s.cases) == 0 {
		return 0, false
	}
	s.now, s.cases = s.cases[0], s.cases[1:]
	for k, f := range []fieldAt{s.now.label, s.now.qid} {
		if j := len(s.row) - 1 - k; j >= 0 && !s.row[j].Typed {
			s.row[j], s.begins[j] = Field{Text: f.text}, f.at+1
		}
	}
	for k, j := range s.now.index {
		s.row[j] = Field{Text: s.now.unread[k], Typed: true, Number: s.now.value[k]}
	}
	return s.now.line, true
}

func (s *sparseRows) Cell(column int) Field { return s.row[column] }

func (s *sparseRows) At(column int) int { return s.begins[column] }

// parseSparse reads label, qid and pairs, and records faults.
func (t *Table) parseSparse(want *Options, line int, fields []fieldAt) sparseCase {
	c := sparseCase{line: line, label: fields[0], unread: map[int]string{}}
	fault := func(f fieldAt, format string, args ...any) { t.Faults.Add(line, f.at+1, format, args...) }
	if strings.Contains(c.label.text, ":") {
		fault(c.label, "%q where the label should be; a line is: label index:value index:value …", c.label.text)
	}
	for k, f := range fields[1:] {
		index, value, pair := strings.Cut(f.text, ":")
		if !pair {
			fault(f, "%q is not index:value", f.text)
			continue
		}
		if k == 0 && index == "qid" {
			c.qid = fieldAt{value, f.at}
			continue
		}
		j, err := strconv.ParseInt(index, 10, 64)
		v, ok := cells.ParsePlain(value)
		switch {
		case errors.Is(err, strconv.ErrRange), err == nil && j > MaxColumns:
			fault(f, "index %s is larger than %d, the limit for a dense matrix; number the features from 1 "+
				"without gaps", index, MaxColumns)
		case err != nil:
			fault(f, "index %q is not a whole number", index)
		case j < 1:
			fault(f, "index %d: indices start at 1; add 1 to all of them if the file counts from 0", j)
		case len(c.index) > 0 && int64(c.index[len(c.index)-1]) >= j-1:
			fault(f, "index %d after %d: indices must increase along a line; sort them, and give each once",
				j, c.index[len(c.index)-1]+1)
		case !ok && want.Unparsed:
			c.unread[len(c.value)] = value
			c.index, c.value = append(c.index, int32(j-1)), append(c.value, math.NaN())
		case !ok && cells.Missing(value):
			fault(f, "index %d has no value (%q): this form has no missing values; write a number, or use CSV", j,
				value)
		case !ok:
			fault(f, "index %d: %s", j, cells.WhyNoNumber(value, ""))
		default:
			c.index, c.value = append(c.index, int32(j-1)), append(c.value, v)
		}
	}
	return c
}
