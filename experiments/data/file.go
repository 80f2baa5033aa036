package data

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"unicode/utf8"
)

// Limits on what a file may ask for.
const (
	maxText    = 1 << 31 // bytes of a file, decompressed
	maxColumns = 1 << 20 // of a file, and the largest svmlight index
	maxCells   = 1 << 27 // cases × inputs: 1 GiB as a dense matrix
	maxFaults  = 20      // told in full
)

// Fault is one thing wrong with a file. Line and Column (in bytes) count from 1; 0 means that there is none to name.
type Fault struct {
	Line, Column int
	Message      string
}

// FileError tells what is wrong with a file: the first faults in full, a line each as path:line:column: message, and how
// many more there are.
type FileError struct {
	Path   string
	Faults []Fault
	More   int
}

func (e *FileError) Error() string {
	var b strings.Builder
	for i, f := range e.Faults {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(e.Path)
		for _, at := range []int{f.Line, f.Column} {
			if at > 0 {
				fmt.Fprintf(&b, ":%d", at)
			}
		}
		b.WriteString(": " + f.Message)
	}
	if e.More > 0 {
		fmt.Fprintf(&b, "\n%s: and %d more", e.Path, e.More)
	}
	return b.String()
}

func (e *FileError) add(line, column int, format string, args ...any) {
	if len(e.Faults) == maxFaults {
		e.More++
		return
	}
	e.Faults = append(e.Faults, Fault{line, column, fmt.Sprintf(format, args...)})
}

// err is e if anything is wrong.
func (e *FileError) err() error {
	if len(e.Faults) == 0 {
		return nil
	}
	return e
}

// source is the text of a file, decompressed: UTF-8 without a byte-order mark, lines ended by \n or \r\n.
type source struct{ path, text string }

// open reads a file. A file that cannot be opened is an *fs.PathError, one with wrong content a *FileError.
func open(path string) (source, error) {
	f, err := os.Open(path)
	if err != nil {
		return source{}, err
	}
	defer f.Close()
	return decode(path, f, maxText)
}

// magics are the first bytes of what a data file may turn out to be instead of text.
var magics = []struct{ bytes, is string }{
	{"\xfd7zXZ\x00", "an xz archive; decompress it first"},
	{"\x28\xb5\x2f\xfd", "a zstd archive; decompress it first"},
	{"PK\x03\x04", "a zip archive or a spreadsheet; unpack it, or save it as CSV"},
	{"\xff\xfe", "UTF-16 text; save it as UTF-8"},
	{"\xfe\xff", "UTF-16 text; save it as UTF-8"},
}

// decode decompresses r and checks that it holds text, at most limit bytes of it.
func decode(path string, r io.Reader, limit int64) (source, error) {
	e := &FileError{Path: path}
	raw := bufio.NewReader(r)
	head, _ := raw.Peek(6)
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m.bytes)) {
			e.add(0, 0, "is %s", m.is)
			return source{}, e
		}
	}
	form, text := "", io.Reader(raw)
	switch {
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		form = "gzip "
		unzipped, err := gzip.NewReader(raw)
		if err != nil {
			e.add(0, 0, "has a broken gzip header (%v); fetch the file again", err)
			return source{}, e
		}
		text = unzipped
	case bytes.HasPrefix(head, []byte("BZh")):
		form, text = "bzip2 ", bzip2.NewReader(raw)
	}
	content, err := io.ReadAll(io.LimitReader(text, limit+1))
	switch {
	case err != nil && form == "":
		return source{}, err
	case err != nil:
		if errors.Is(err, io.ErrUnexpectedEOF) {
			err = errors.New("cut short")
		}
		e.add(1+bytes.Count(content, []byte("\n")), 0, "the %sstream breaks off or is damaged here (%v); fetch the file again", form, err)
		return source{}, e
	case int64(len(content)) > limit:
		e.add(0, 0, "holds more than %d bytes of text, which is more than will be read; take a part of it", limit)
		return source{}, e
	}
	content = bytes.TrimPrefix(content, []byte("\ufeff"))
	if at := notText(content); at >= 0 {
		line := 1 + bytes.Count(content[:at], []byte("\n"))
		e.add(line, at-bytes.LastIndexByte(content[:at], '\n'), "byte %#02x is not UTF-8 text; a data file is CSV or svmlight, plain or under gzip or bzip2", content[at])
		return source{}, e
	}
	if !bytes.ContainsRune(content, '\n') { // line ends of old Macintoshes
		content = bytes.ReplaceAll(content, []byte("\r"), []byte("\n"))
	}
	return source{path, string(content)}, nil
}

// notText is the index of the first byte that is NUL or no part of UTF-8, or -1.
func notText(content []byte) int {
	at := bytes.IndexByte(content, 0)
	if !utf8.Valid(content) {
		for i := 0; i < len(content) && (at < 0 || i < at); {
			r, size := utf8.DecodeRune(content[i:])
			if r == utf8.RuneError && size == 1 {
				return i
			}
			i += size
		}
	}
	return at
}
