package data

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// streamBytes is the size of a read; a record may exceed it.
const streamBytes = 1 << 21

// Stream reads cases to predict like Read, but in parts: each receives at most this many records,
// in order, with Rows counted from the beginning; the first has both records that determine the
// columns. Only one part is in memory. name is a file, or - for r.
func (s *Schema) Stream(name string, r io.Reader, records int, each func(*Data) error) error {
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		r = f
	}
	_, plain, err := (&FileError{Path: name}).plain(r)
	if err != nil {
		return err
	}
	text, encoding := unicodeOf(plain, s.encoding())
	p := parts{r: text}
	head, lines, rows, named := "", 0, 0, 0 // the first record, and the number of records that are not cases
	for {
		part, err := p.next(records)
		if head == "" && err == nil { // the columns are determined by the first two records
			part, err = p.more(part, 2)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if part.text == "" && head != "" {
			return nil
		}
		d, err := s.readPart(source{name, head + part.text, encoding}, lines-strings.Count(head, "\n"))
		if err != nil {
			return err
		}
		if head == "" {
			head = part.first
			if strings.Contains(d.Form, ", header") {
				named = 1
			}
			part.records -= named
		} else if named == 0 { // prepend the first record, so that no other is mistaken for a header
			d = d.subset(slices.DeleteFunc(upTo(len(d.Rows)), func(i int) bool { return d.Rows[i] == 0 }))
			rows--
			part.records++
		}
		for i := range d.Rows {
			d.Rows[i] += rows
		}
		if err := each(d); err != nil {
			return err
		}
		rows, lines = rows+part.records, lines+strings.Count(part.text, "\n")
	}
}

// readPart reads records that begin after this many lines of the file, preceded by the first
// record, which determines the columns.
func (s *Schema) readPart(part source, lines int) (*Data, error) {
	src, err := decoded(part.path, part.text, part.encoding)
	var d *Data
	if err == nil {
		d, err = s.read(src, false)
	}
	if faults := (*FileError)(nil); errors.As(err, &faults) {
		for i := range faults.Faults {
			f := &faults.Faults[i]
			for k := range f.lines {
				f.lines[k] += lines
			}
			if f.Line > 0 {
				f.Line += lines
			}
		}
	}
	return d, err
}

// parts splits a text between records: at line ends outside quotes.
type parts struct {
	r    *bufio.Reader
	ends bool
}

// part is a sequence of records; first is the text up to the end of the first record.
type part struct {
	text, first string
	records     int
}

// more extends a part until it has this many records.
func (p *parts) more(out part, records int) (part, error) {
	if out.records >= records || p.ends {
		return out, nil
	}
	rest, err := p.next(records - out.records)
	return part{out.text + rest.text, out.first, out.records + rest.records}, err
}

// upTo are the numbers from 0 to n - 1.
func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// next returns the next part; an empty text is the end.
func (p *parts) next(records int) (part, error) {
	var out part
	var text strings.Builder
	quotes, begun := 0, true // at the beginning of a record
	for !p.ends && (out.records < records && text.Len() < streamBytes || !begun) {
		line, err := p.r.ReadString('\n')
		if p.ends = errors.Is(err, io.EOF); err != nil && !p.ends {
			return out, err
		}
		if text.Len()+len(line) > maxPipe {
			return out, fmt.Errorf("more than %d bytes without the end of a record; is a quote not closed?", maxPipe)
		}
		text.WriteString(line)
		if trimmed := strings.TrimSpace(line); begun &&
			(trimmed == "" || trimmed[0] == '#' || out.records == 0 && isNote(line)) {
			continue
		}
		quotes += strings.Count(line, `"`)
		if begun = quotes%2 == 0; begun {
			if out.records++; out.records == 1 {
				out.first = text.String()
			}
		}
	}
	out.text = text.String()
	return out, nil
}
