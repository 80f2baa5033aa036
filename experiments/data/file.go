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
	"path/filepath"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding/charmap"
)

// Limits on the size of files.
const (
	maxText     = 1 << 31 // bytes of a plain file
	maxUnzipped = 1 << 28 // bytes of text in a compressed file, whose size is unknown before it is decompressed
	maxPipe     = 1 << 26 // bytes of input other than a regular file, which may have no end
	maxRatio    = 200     // decompressed bytes per compressed byte, beyond ratioFree
	ratioFree   = 1 << 25 // decompressed bytes that any file may have
	maxLine     = 1 << 24 // bytes of one line
	maxColumns  = 1 << 20 // of a file, and the largest svmlight index
	maxCells    = 1 << 27 // cases × inputs: 1 GiB as a dense matrix
	maxSparsity = 4000    // cells per value of a svmlight file, beyond sparseFree
	sparseFree  = 1 << 22 // cells
	maxKnown    = 1000    // texts of which a single copy is kept
	maxFaults   = 20      // listed in full
	maxFault    = 500     // bytes of one fault
	maxAlso     = 4       // further lines listed for one fault
	// also the maximum number of levels of a categorical input; a column with more is treated as a
	// mistake
	MaxClasses = 100
)

// Fault is one problem of a file. Line and Column (in bytes of UTF-8) count from 1; 0 means
// unknown. The first few further lines with the same problem are listed.
type Fault struct {
	Line, Column int
	Message      string
	lines        []int // further lines with it
	further      int   // number of lines beyond those
	kind         fault
}

// fault identifies a problem that is reported once, however many lines have it.
type fault struct {
	what   string
	column int
}

// also lists the further lines with the same problem.
func (f Fault) also() string {
	if len(f.lines) == 0 {
		return ""
	}
	text := "; likewise in line"
	if len(f.lines)+f.further > 1 {
		text += "s"
	}
	for i, line := range f.lines {
		switch {
		case i > 0 && i == len(f.lines)-1 && f.further == 0:
			text += " and"
		case i > 0:
			text += ","
		}
		text += fmt.Sprintf(" %d", line)
	}
	if f.further > 0 {
		text += fmt.Sprintf(" and %d more", f.further)
	}
	return text
}

// FileError lists the problems of a file: the first ones in full, one per line as path:line:column:
// message, and the number of the others.
type FileError struct {
	Path   string
	Faults []Fault
	More   int

	foreign bool // it is not UTF-8, and nothing says what else it is
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
		b.WriteString(": " + f.Message + f.also())
	}
	if e.More > 0 {
		fmt.Fprintf(&b, "\n%s: and %d more", e.Path, e.More)
	}
	return b.String()
}

func (e *FileError) add(line, column int, format string, args ...any) {
	e.once(fault{}, line, column, format, args...)
}

// repeats reports whether the problem was already reported for an earlier line, and adds this line
// to it.
func (e *FileError) repeats(kind fault, line int) bool {
	for i := range e.Faults {
		f := &e.Faults[i]
		switch {
		case f.kind != kind:
			continue
		case len(f.lines) < maxAlso:
			f.lines = append(f.lines, line)
		default:
			f.further++
		}
		return true
	}
	return false
}

// once adds a fault, only once if kind is not empty.
func (e *FileError) once(kind fault, line, column int, format string, args ...any) {
	if kind != (fault{}) && e.repeats(kind, line) {
		return
	}
	if len(e.Faults) == maxFaults {
		e.More++
		return
	}
	message := fmt.Sprintf(format, args...)
	if len(message) > maxFault {
		message = strings.ToValidUTF8(message[:maxFault], "") + "…"
	}
	e.Faults = append(e.Faults, Fault{Line: line, Column: column, Message: message, kind: kind})
}

// refuse adds a fault of the file as a whole.
func (e *FileError) refuse(format string, args ...any) error {
	e.add(0, 0, format, args...)
	return e
}

// err returns e if there are faults.
func (e *FileError) err() error {
	if len(e.Faults) == 0 {
		return nil
	}
	return e
}

// source is the text of a file, decompressed: UTF-8 without a byte-order mark, lines ended by \n or
// \r\n. encoding is what the file is in; empty is UTF-8.
type source struct{ path, text, encoding string }

// within returns a path that is relative to dir unless it is absolute.
func within(dir, path string) string {
	if dir == "" || filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(dir, path)
}

// open reads a file in an encoding, which its byte-order mark overrides. A file that cannot be
// opened is an *fs.PathError, one with wrong content a *FileError.
func open(path, encoding string) (source, error) {
	f, err := os.Open(path)
	if err != nil {
		return source{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	e := &FileError{Path: path}
	switch {
	case err != nil:
		return source{}, err
	case !info.Mode().IsRegular():
		return decode(path, f, encoding, maxPipe, 0)
	case info.Size() > maxText:
		return source{}, e.refuse("has %d bytes, more than the %d that will be read; take a part of it", info.Size(),
			maxText)
	}
	size := info.Size()
	if size > maxUnzipped/maxRatio { // a compressed file may exceed the limit: count before allocating
		if size, _, err = e.inflate(f, encoding, maxText, io.Discard); err != nil {
			return source{}, err
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return source{}, err
		}
	}
	return decode(path, f, encoding, maxText, size)
}

// magics are the first bytes of common files that are not text.
var magics = []struct{ bytes, is string }{
	{"\xfd7zXZ\x00", "an xz archive; decompress it first"},
	{"\x28\xb5\x2f\xfd", "a zstd archive; decompress it first"},
	{"PK\x03\x04", "a zip archive or a spreadsheet; unpack it, or save it as CSV"},
}

// decode decompresses r and checks that it contains text, at most limit bytes as UTF-8; it
// allocates size bytes at once.
func decode(path string, r io.Reader, encoding string, limit, size int64) (source, error) {
	e := &FileError{Path: path}
	var b strings.Builder
	b.Grow(int(size))
	_, encoding, err := e.inflate(r, encoding, limit, &b)
	if err != nil {
		return source{}, err
	}
	return decoded(path, b.String(), encoding)
}

// decoded is the source of a text that was read as the encoding.
func decoded(path, content, encoding string) (source, error) {
	content = strings.TrimPrefix(content, "\ufeff")
	if fault := undecodable(path, content, encoding); fault != nil {
		return source{}, fault
	}
	if first, _, _ := strings.Cut(content, "\n"); isNote(first) {
		content = "#" + content[1:]
	}
	if !strings.ContainsRune(content, '\n') { // line ends of old Macintosh files
		content = strings.ReplaceAll(content, "\r", "\n")
	}
	src := source{path: path, text: content}
	if named(encoding) != nil {
		src.encoding = encoding
	}
	return src, nil
}

// undecodable returns a fault if content has bytes that are not text in the encoding; "" is UTF-8.
func undecodable(path, content, encoding string) error {
	at, is := notText(content), "UTF-8"
	if named(encoding) != nil {
		is = encoding
		if bad := strings.IndexRune(content, utf8.RuneError); at < 0 || bad >= 0 && bad < at {
			at = bad // the decoder replaces undefined bytes by this
		}
	}
	if at < 0 {
		return nil
	}
	e := &FileError{Path: path, foreign: encoding == "" && content[at] != 0}
	start := 1 + strings.LastIndexByte(content[:at], '\n')
	line, column := 1+strings.Count(content[:at], "\n"), 1+at-start
	const wayOut = "a data file is CSV or svmlight, plain or under gzip or bzip2"
	switch {
	case content[at] == 0:
		e.add(line, column, "byte 0x00 is not %s text; %s", is, wayOut)
	case is != "UTF-8":
		e.add(line, 1+utf8.RuneCountInString(content[start:at]), "this character is not %s text; check what the "+
			"file was written in (gpc-tune explain encoding), or save it as UTF-8", is)
	case e.foreign:
		e.add(line, column, "byte %#02x is not UTF-8 text; set encoding: %s if it is Western text of Windows "+
			"(gpc-tune explain encoding names others), or save it as UTF-8; %s", content[at], western, wayOut)
	default:
		e.add(line, column, "byte %#02x is not UTF-8 text, as which the file is read; save it as UTF-8; %s",
			content[at], wayOut)
	}
	return e
}

// written returns the encoding for the description of the format.
func (s source) written() string {
	if s.encoding == "" {
		return ""
	}
	return ", " + s.encoding
}

// doubtful returns a warning if the text was read in a single-byte encoding and also is valid
// UTF-8, judged by the first line with a character beyond ASCII.
func (s source) doubtful() string {
	from, is := named(s.encoding).(*charmap.Charmap)
	at := strings.IndexFunc(s.text, func(r rune) bool { return r >= utf8.RuneSelf })
	if !is || at < 0 {
		return ""
	}
	line, _, _ := strings.Cut(s.text[at:], "\n")
	if raw, err := from.NewEncoder().String(line); err != nil || !utf8.ValidString(raw) {
		return ""
	}
	return "is read as " + s.encoding + " and looks like UTF-8; if letters are wrong, save it in the encoding that " +
		"is declared, or with a byte-order mark"
}

// isNote reports whether a first line only tells spreadsheets the delimiter: sep=;.
func isNote(line string) bool {
	line = strings.ToLower(strings.TrimRight(line, "\r\n"))
	return strings.HasPrefix(line, "sep=") && len(line) <= len("sep=;")
}

var gzipMagic, bzip2Magic = []byte("\x1f\x8b"), []byte("BZh")

// counter counts the bytes read from a compressed file.
type counter struct {
	io.Reader
	n int64
}

func (c *counter) Read(p []byte) (int, error) {
	n, err := c.Reader.Read(p)
	c.n += int64(n)
	return n, err
}

// plain decompresses compressed input, whose format it names; form is empty for plain text.
func (e *FileError) plain(r io.Reader) (form string, text io.Reader, err error) {
	raw := bufio.NewReaderSize(r, 1<<16)
	head, _ := raw.Peek(6)
	for _, m := range magics {
		if bytes.HasPrefix(head, []byte(m.bytes)) {
			return "", nil, e.refuse("is %s", m.is)
		}
	}
	switch {
	case bytes.HasPrefix(head, gzipMagic):
		unzipped, err := gzip.NewReader(raw)
		if err != nil {
			return "", nil, e.refuse("has a broken gzip header (%v); fetch the file again", err)
		}
		return "gzip ", unzipped, nil
	case bytes.HasPrefix(head, bzip2Magic):
		return "bzip2 ", bzip2.NewReader(raw), nil
	}
	return "", raw, nil
}

// inflate writes the decompressed text of r to w as UTF-8 and counts its bytes; is names the
// encoding. It stops with a fault if they exceed limit, exceed maxRatio per compressed byte, or are
// not text.
func (e *FileError) inflate(r io.Reader, encoding string, limit int64, w io.Writer) (size int64, is string,
	err error) {
	compressed := &counter{Reader: r}
	form, plain, err := e.plain(compressed)
	if err != nil {
		return 0, "", err
	}
	text, is := unicodeOf(plain, encoding)
	if form != "" {
		limit = min(limit, maxUnzipped)
	}
	buffer, lines := make([]byte, 1<<16), 1
	for {
		n, err := text.Read(buffer)
		part := buffer[:n]
		size += int64(n)
		switch {
		case size > limit && form != "":
			return 0, "", e.refuse("holds more than %d bytes of text; decompress it: a plain file may have %d",
				limit, int64(maxText))
		case size > limit:
			return 0, "", e.refuse("holds more than %d bytes of text, which is more than will be read; take a part of "+
				"it", limit)
		case form != "" && size > ratioFree && size > maxRatio*compressed.n:
			return 0, "", e.refuse("expands to more than %d times its compressed size, which no table does; check "+
				"the file", maxRatio)
		}
		if _, err := w.Write(part); err != nil {
			return 0, "", err
		}
		lines += bytes.Count(part, []byte("\n"))
		switch {
		case errors.Is(err, io.EOF), bytes.IndexByte(part, 0) >= 0: // after a NUL the file is not text in any case
			return size, is, nil
		case err == nil:
			continue
		case form == "":
			return 0, "", err
		case errors.Is(err, io.ErrUnexpectedEOF):
			err = errors.New("cut short")
		}
		e.add(lines, 0, "the %sstream breaks off or is damaged here (%v); fetch the file again", form, err)
		return 0, "", e
	}
}

// notText returns the index of the first byte that is NUL or not valid UTF-8, or -1.
func notText(content string) int {
	if utf8.ValidString(content) {
		return strings.IndexByte(content, 0)
	}
	for i, r := range content {
		if r == 0 || r == utf8.RuneError && !strings.HasPrefix(content[i:], "\ufffd") {
			return i
		}
	}
	return -1
}
