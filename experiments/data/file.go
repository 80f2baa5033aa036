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
	maxText     = 1 << 31 // bytes of a plain file
	maxUnzipped = 1 << 28 // bytes of text in a compressed one, which are not known before they have been counted
	maxPipe     = 1 << 26 // bytes of what is no regular file and so may have no end
	maxRatio    = 200     // bytes for each compressed one, beyond
	ratioFree   = 1 << 25 // bytes, which any file may hold
	maxLine     = 1 << 24 // bytes of one
	maxColumns  = 1 << 20 // of a file, and the largest svmlight index
	maxCells    = 1 << 27 // cases × inputs: 1 GiB as a dense matrix
	maxSparsity = 4000    // cells for each value of a svmlight file, beyond
	sparseFree  = 1 << 22 // cells
	maxFaults   = 20      // told in full
	maxFault    = 500     // bytes of one
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
	message := fmt.Sprintf(format, args...)
	if len(message) > maxFault {
		message = strings.ToValidUTF8(message[:maxFault], "") + "…"
	}
	e.Faults = append(e.Faults, Fault{line, column, message})
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
	info, err := f.Stat()
	switch {
	case err != nil:
		return source{}, err
	case !info.Mode().IsRegular():
		return decode(path, f, maxPipe)
	case info.Size() > maxText:
		e := &FileError{Path: path}
		e.add(0, 0, "has %d bytes, more than the %d that will be read; take a part of it", info.Size(), maxText)
		return source{}, e
	case info.Size() > maxUnzipped/maxRatio: // it might be compressed, and hold more: count first
		if err := measure(path, f, maxText); err != nil {
			return source{}, err
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return source{}, err
		}
	}
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
	var b strings.Builder
	var parts [][]byte
	keep := func(part []byte) { parts = append(parts, bytes.Clone(part)) }
	if f, ok := r.(*os.File); ok { // where the size is known, at once in its place
		if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
			b.Grow(int(info.Size()) + 1)
			keep = func(part []byte) { b.Write(part) }
		}
	}
	size, err := e.inflate(r, limit, keep)
	if err != nil {
		return source{}, err
	}
	b.Grow(int(size) - b.Len())
	for i, part := range parts {
		b.Write(part)
		parts[i] = nil
	}
	content := strings.TrimPrefix(b.String(), "\ufeff")
	if at := notText(content); at >= 0 {
		line := 1 + strings.Count(content[:at], "\n")
		e.add(line, at-strings.LastIndexByte(content[:at], '\n'), "byte %#02x is not UTF-8 text; a data file is CSV or svmlight, plain or under gzip or bzip2", content[at])
		return source{}, e
	}
	if !strings.ContainsRune(content, '\n') { // line ends of old Macintoshes
		content = strings.ReplaceAll(content, "\r", "\n")
	}
	return source{path, content}, nil
}

// measure finds what decode would refuse for its size, without keeping it.
func measure(path string, r io.Reader, limit int64) error {
	raw := bufio.NewReader(r)
	if head, _ := raw.Peek(3); !bytes.HasPrefix(head, gzipMagic) && !bytes.HasPrefix(head, bzip2Magic) {
		return nil
	}
	e := &FileError{Path: path}
	_, err := e.inflate(raw, limit, func([]byte) {})
	return err
}

var gzipMagic, bzip2Magic = []byte("\x1f\x8b"), []byte("BZh")

// counter counts what is read of a compressed file.
type counter struct {
	io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

// inflate hands on the decompressed bytes of r, part by part, and ends as soon as they are more than limit, more than
// maxRatio for each compressed one, or no text.
func (e *FileError) inflate(r io.Reader, limit int64, part func([]byte)) (size int64, err error) {
	compressed := &counter{Reader: r}
	raw := bufio.NewReader(compressed)
	head, _ := raw.Peek(6)
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m.bytes)) {
			e.add(0, 0, "is %s", m.is)
			return 0, e
		}
	}
	form, text := "", io.Reader(raw)
	switch {
	case bytes.HasPrefix(head, gzipMagic):
		form = "gzip "
		unzipped, err := gzip.NewReader(raw)
		if err != nil {
			e.add(0, 0, "has a broken gzip header (%v); fetch the file again", err)
			return 0, e
		}
		text = unzipped
	case bytes.HasPrefix(head, bzip2Magic):
		form, text = "bzip2 ", bzip2.NewReader(raw)
	}
	if form != "" {
		limit = min(limit, maxUnzipped)
	}
	buffer, lines := make([]byte, 1<<20), 1
	for err == nil {
		n := 0
		for n < len(buffer) && err == nil {
			var more int
			more, err = text.Read(buffer[n:])
			n += more
		}
		size += int64(n)
		switch {
		case size > limit && form != "":
			e.add(0, 0, "holds more than %d bytes of text; decompress it: a plain file may have %d", limit, int64(maxText))
			return 0, e
		case size > limit:
			e.add(0, 0, "holds more than %d bytes of text, which is more than will be read; take a part of it", limit)
			return 0, e
		case form != "" && size > ratioFree && size > maxRatio*compressed.n:
			e.add(0, 0, "holds more than %d bytes for each compressed one, as no table does; look what is in it", maxRatio)
			return 0, e
		}
		part(buffer[:n])
		lines += bytes.Count(buffer[:n], []byte("\n"))
		if bytes.IndexByte(buffer[:n], 0) >= 0 { // no text; what follows does not matter
			return size, nil
		}
	}
	switch {
	case errors.Is(err, io.EOF):
		return size, nil
	case form == "":
		return 0, err
	case errors.Is(err, io.ErrUnexpectedEOF):
		err = errors.New("cut short")
	}
	e.add(lines, 0, "the %sstream breaks off or is damaged here (%v); fetch the file again", form, err)
	return 0, e
}

// notText is the index of the first byte that is NUL or no part of UTF-8, or -1.
func notText(content string) int {
	at := strings.IndexByte(content, 0)
	if !utf8.ValidString(content) {
		for i := 0; i < len(content) && (at < 0 || i < at); {
			r, size := utf8.DecodeRuneInString(content[i:])
			if r == utf8.RuneError && size == 1 {
				return i
			}
			i += size
		}
	}
	return at
}
