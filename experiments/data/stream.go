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

// streamBytes is how much text is read at a time, and a record more.
const streamBytes = 1 << 21

// Stream reads cases to predict as Read does, but a part at a time: each gets at most so many
// records, in their order, with Rows counted from the beginning. Not more than a part is in memory.
// name is a file, or - for r.
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
	head, lines, rows, named := "", 0, 0, 0 // the first record, and how many of it are no case
	for {
		part, err := p.next(records)
		if head == "" && err == nil { // what the columns are is known from the first records
			part, err = p.more(part, 3)
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
		} else if named == 0 { // the first record, which keeps others from being taken for a header
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

// readPart reads records that stand so many lines further down in their file; the first of them
// says what the columns are.
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

// parts cuts a text between records: at the ends of lines outside quotes.
type parts struct {
	r    *bufio.Reader
	ends bool
}

// part is some records; first is the text up to the end of the first of them.
type part struct {
	text, first string
	records     int
}

// more is a part, and what follows it until it has so many records.
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

// next is the next part; an empty text is the end.
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
