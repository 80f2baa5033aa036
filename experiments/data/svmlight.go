package data

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

// readSVMLight reads the sparse format. Dense columns are made only after checking that the largest
// index fits.
func readSVMLight(t *table, text string, want readOptions) error {
	t.form, t.sparse = "svmlight", true
	var cases []sparseCase
	features, values, hasQID, line := 0, 0, false, 0
	for s := range strings.Lines(text) {
		if line++; len(s) > maxLine {
			t.faults.add(line, 0, "has %d bytes, more than the %d that one line may have", len(s), maxLine)
			return nil
		}
		s, _, _ = strings.Cut(s, "#")
		const most = maxColumns + 2 // label, qid, and each index once
		fields := fieldsAt(s, most+1)
		switch {
		case len(fields) == 0:
			continue
		case len(fields) > most:
			t.faults.add(line, 0, "has more than %d fields, which is more than can be held; take a part of "+
				"the file", most)
			return nil
		}
		c := t.parseSparse(want, line, fields)
		cases = append(cases, c)
		hasQID = hasQID || c.qid.text != ""
		if n := len(c.index); n > 0 {
			features = max(features, int(c.index[n-1])+1)
			values += n
		}
	}
	if !t.fits(len(cases), features+2) { // checked before the names are made
		return nil
	}
	if cells := len(cases) * features; cells > max(sparseFree, maxSparsity*values) {
		return t.faults.refuse("%d rows with indices up to %d hold only %d values, but would need a dense matrix "+
			"of %d; number the features from 1 without gaps", len(cases), features, values, cells)
	}
	t.names = cells.Positional(features)
	if hasQID {
		t.names = append(t.names, "qid")
	}
	t.label = len(t.names)
	t.names = append(t.names, "label")
	if err := t.begin(want, len(cases)); err != nil {
		return err
	}
	for _, c := range cases {
		text := func(j int) fieldAt { // the text of label or qid
			if t.names[j] == "label" {
				return c.label
			}
			return c.qid
		}
		if !t.add(want, c.line, func(j int) field { return field{text: text(j).text} },
			func(j int) int { return text(j).at + 1 }) {
			continue
		}
		for k, j := range c.index {
			if t.roles[j] == number {
				t.numbers.Set(len(t.rows)-1, t.place[j], c.value[k])
				if text, is := c.unread[k]; is {
					t.unreadCell(int(j), t.read-1, c.line, 0, text, "are no numbers: they are treated as missing")
				}
			}
		}
	}
	return nil
}

// parseSparse reads label, qid and pairs, and records faults.
func (t *table) parseSparse(want readOptions, line int, fields []fieldAt) sparseCase {
	c := sparseCase{line: line, label: fields[0], unread: map[int]string{}}
	fault := func(f fieldAt, format string, args ...any) { t.faults.add(line, f.at+1, format, args...) }
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
		case errors.Is(err, strconv.ErrRange), err == nil && j > maxColumns:
			fault(f, "index %s is larger than %d, the limit for a dense matrix; number the features from 1 "+
				"without gaps", index, maxColumns)
		case err != nil:
			fault(f, "index %q is not a whole number", index)
		case j < 1:
			fault(f, "index %d: indices start at 1; add 1 to all of them if the file counts from 0", j)
		case len(c.index) > 0 && int64(c.index[len(c.index)-1]) >= j-1:
			fault(f, "index %d after %d: indices must increase along a line; sort them, and give each once",
				j, c.index[len(c.index)-1]+1)
		case !ok && want.predicting && want.missing != "error":
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
