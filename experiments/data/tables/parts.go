package tables

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

// Part is a part of a file.
type Part struct {
	Source
	Lines int  // lines of the file before the part
	All   bool // the part is the whole file
}

// Stream reads a file in parts: each receives at most this many records, in order, and returns the
// layout of the file; the first part has both records that determine the columns. Only one part is
// in memory. A file whose parts cannot be read separately is one part. name is a file, or - for r.
func Stream(name string, r io.Reader, how Reading, records int, each func(Part) (Layout, error)) error {
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
			return whole(name, input{}, true, how, each)
		}
		r, again = f, err == nil && info.Mode().IsRegular()
	}
	in, err := (&FileError{Path: name}).input(r, how.Encoding)
	if err != nil {
		return err
	}
	if in.binary != "" {
		return whole(name, in, again, how, each)
	}
	p := parts{r: bufio.NewReaderSize(in, 1<<16), guess: how.Guess}
	for lines, first := 0, true; ; first = false {
		part, err := p.next(records)
		if first && err == nil { // the columns are determined by the first two records
			part, err = p.more(part, 2)
			if !(Source{text: strings.TrimPrefix(part.text, "\ufeff")}).reader().lines {
				in.Reader = io.MultiReader(strings.NewReader(part.text), p.r)
				return whole(name, in, again, how, each)
			}
		}
		switch {
		case err != nil:
			return fmt.Errorf("%s: %w", name, err)
		case first || part.records > 0:
			src, err := p.decoded(name, part.text, in.encoding)
			if err == nil {
				var layout Layout
				layout, err = each(Part{Source: src, Lines: lines})
				p.single = layout.single
			}
			if faults := (*FileError)(nil); errors.As(err, &faults) {
				faults.shift(lines)
			}
			if err != nil {
				return err
			}
		}
		if p.ends {
			return nil
		}
		lines += strings.Count(part.text, "\n")
	}
}

// whole reads a file whose parts cannot be read separately: again the file of this name, or else
// the content of in.
func whole(name string, in input, again bool, how Reading, each func(Part) (Layout, error)) error {
	var src Source
	var err error
	if again {
		src, err = Open(name, how)
	} else {
		src, err = (&FileError{Path: name}).content(in, maxPipe, 0)
	}
	if err == nil {
		_, err = each(Part{Source: src, All: true})
	}
	return err
}

// parts splits a text between records: at line ends outside quotes.
type parts struct {
	r            *bufio.Reader
	ends, single bool // single is as in records
	guess        bool // a part that is not UTF-8 may be windows-1252
	unicode      bool // a part was UTF-8 and not ASCII alone
}

// part is a sequence of records.
type part struct {
	text    string
	records int
}

// decoded returns the source of a part.
func (p *parts) decoded(path, content, encoding string) (Source, error) {
	src, err := decoded(path, content, encoding)
	if err != nil && p.guess && encoding == UTF8 && !p.unicode {
		text, wrong := named(Western).NewDecoder().String(content)
		if other, undefined := decoded(path, text, Western); wrong == nil && undefined == nil {
			src, err = other, nil
			src.Guessed = true
		}
	}
	p.unicode = p.unicode || !src.Guessed && !src.ascii()
	return src, err
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
