package data

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// streamBytes is the size of a read; a record may exceed it.
const streamBytes = 1 << 21

// Stream reads cases to predict like Read, but in parts: each receives at most this many records,
// in order, with Rows counted from the beginning; the first has both records that determine the
// columns. Only one part is in memory. name is a file, or - for r.
func (s *Schema) Stream(name string, r io.Reader, records int, each func(*Data) error) error {
	again := false // the file can be read again
	if name != "-" {
		file, _ := Located(name)
		f, err := os.Open(file)
		if err != nil {
			return err
		}
		defer f.Close()
		info, err := f.Stat()
		if err == nil && info.IsDir() {
			return s.whole(name, input{}, true, records, each)
		}
		r, again = f, err == nil && info.Mode().IsRegular()
	}
	in, err := (&FileError{Path: name}).input(r, s.encoding())
	if err != nil {
		return err
	}
	if in.binary != "" {
		return s.whole(name, in, again, records, each)
	}
	p := parts{r: bufio.NewReaderSize(in, 1<<16)}
	as, lines := &firstLines{}, 0
	for {
		part, err := p.next(records)
		if as.names == nil && err == nil { // the columns are determined by the first two records
			part, err = p.more(part, 2)
			if !(source{text: strings.TrimPrefix(part.text, "\ufeff")}).reader().lines {
				in.Reader = io.MultiReader(strings.NewReader(part.text), p.r)
				return s.whole(name, in, again, records, each)
			}
		}
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", name, err)
		case as.names == nil || part.records > 0:
			d, err := s.readPart(source{path: name, text: part.text, encoding: in.encoding}, as, lines)
			if err == nil {
				err = each(d)
			}
			if err != nil {
				return err
			}
		}
		if p.ends {
			return nil
		}
		p.single, lines = as.single, lines+strings.Count(part.text, "\n")
	}
}

// whole reads a file whose parts cannot be read separately: again the file of this name, or else
// the content of in. It still passes the cases on in parts.
func (s *Schema) whole(name string, in input, again bool, records int, each func(*Data) error) error {
	var d *Data
	var err error
	if again {
		d, err = s.Read(name)
	} else if src, wrong := (&FileError{Path: name}).content(in, maxPipe, 0); wrong != nil {
		err = wrong
	} else {
		d, err = s.read(src, nil, false)
	}
	if err != nil {
		return err
	}
	for from := 0; from < len(d.Rows) && err == nil; from += records {
		rows := make([]int, min(records, len(d.Rows)-from))
		for i := range rows {
			rows[i] = from + i
		}
		part := d.subset(rows)
		if from > 0 {
			part.Warnings, part.Unread = nil, nil // the first part has the warnings of all cases
		}
		err = each(part)
	}
	return err
}

// readPart reads records that begin after this many lines of the file.
func (s *Schema) readPart(part source, as *firstLines, lines int) (*Data, error) {
	src, err := decoded(part.path, part.text, part.encoding)
	foreign := false
	if err != nil && s.Encoding == "" && part.encoding == utf8Name && !as.unicode {
		text, wrong := named(western).NewDecoder().String(part.text)
		if other, undefined := decoded(part.path, text, western); wrong == nil && undefined == nil {
			src, err, foreign = other, nil, true
		}
	}
	as.unicode = as.unicode || !foreign && strings.IndexFunc(src.text, func(r rune) bool { return r > 127 }) >= 0
	var d *Data
	if err == nil {
		d, err = s.read(src, as, false)
	}
	if err == nil && foreign {
		d.Warnings = append(d.Warnings, readAsWestern)
	}
	if err == nil {
		for _, u := range d.Unread {
			for k := range u.First {
				u.First[k].Line += lines
			}
		}
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

// records splits a text between records: at line ends outside quotes.
type parts struct {
	r            *bufio.Reader
	ends, single bool // single is as in records
}

// part is a sequence of records.
type part struct {
	text    string
	records int
}

// more extends a part until it has this many records.
func (p *parts) more(out part, records int) (part, error) {
	if out.records >= records || p.ends {
		return out, nil
	}
	rest, err := p.next(records - out.records)
	return part{out.text + rest.text, out.records + rest.records}, err
}

// next returns the next part; an empty text is the end.
func (p *parts) next(records int) (part, error) {
	var out part
	var text strings.Builder
	quotes, begun := 0, true // begun: the next line begins a record
	for !p.ends && (out.records < records && text.Len() < streamBytes || !begun) {
		line, err := p.line()
		if err != nil {
			return out, err
		}
		if text.Len()+len(line) > maxPipe {
			return out, fmt.Errorf("more than %d bytes without the end of a record; is a quote not closed?", maxPipe)
		}
		text.WriteString(line)
		if trimmed := strings.TrimSpace(line); begun &&
			(trimmed == "" && !(p.single && line != "") || trimmed != "" && trimmed[0] == '#' ||
				out.records == 0 && isNote(line)) {
			continue
		}
		quotes += strings.Count(line, `"`)
		if begun = quotes%2 == 0; begun {
			out.records++
		}
	}
	out.text = text.String()
	return out, nil
}

// line returns the next line. A NUL or a line beyond all limits ends the text; the reader of the
// text reports either.
func (p *parts) line() (string, error) {
	var line []byte
	for {
		piece, err := p.r.ReadSlice('\n')
		line = append(line, piece...)
		p.ends = errors.Is(err, io.EOF) || bytes.IndexByte(piece, 0) >= 0 || len(line) > maxPipe
		switch {
		case p.ends || err == nil:
			return string(line), nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return "", err
		}
	}
}
