package tables

import (
	"bufio"
	"bytes"
	"compress/bzip2"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"
	"golang.org/x/text/encoding/charmap"
)

// Limits on the size of files.
const (
	MaxText     = 1 << 31 // bytes of a plain file
	maxUnzipped = 1 << 28 // bytes of text in a compressed file, whose size is unknown before it is decompressed
	maxPipe     = 1 << 26 // bytes of input other than a regular file, which may have no end
	maxRatio    = 200     // decompressed bytes per compressed byte, beyond ratioFree
	ratioFree   = 1 << 25 // decompressed bytes that any file may have
	maxLine     = 1 << 24 // bytes of one line
	MaxColumns  = 1 << 20 // columns of a file, and the largest svmlight index
	MaxCells    = 1 << 27 // cases × inputs: 1 GiB as a dense matrix
	maxSparsity = 4000    // cells per value of a svmlight file, beyond sparseFree
	maxEmpty    = 100     // cells per value of a JSON file or a workbook, beyond sparseFree
	sparseFree  = 1 << 22 // cells
)

// Source is the content of a file, decompressed. text is UTF-8 without a byte-order mark, and its
// lines end with \n or \r\n. encoding is the encoding of the file; empty is UTF-8.
type Source struct {
	path, text, encoding string
	binary               string   // the first bytes of a binary format; empty: text
	part                 string   // name of the requested sheet
	files                []Source // files of a folder
	Guessed              bool     // the encoding was guessed, of the file or of one of the files
	other                bool     // it is UTF-8, and another encoding is declared
}

// Located splits the path FILE#SHEET of a sheet of a workbook. A file whose name has a # is found
// as well.
func Located(path string) (file, part string) {
	exists := func(file string) bool {
		_, err := os.Stat(file)
		return err == nil
	}
	for i, c := range path {
		if c == '#' && !exists(path) && exists(path[:i]) {
			return path[:i], path[i+1:]
		}
	}
	return path, ""
}

// Reading has the options for opening a file.
type Reading struct {
	Encoding string // encoding of a text without a byte-order mark; empty: UTF-8
	Guess    bool   // text that is not UTF-8 is windows-1252
	Pipe     bool   // a pipe is read too: nothing reads it again
}

// Open reads a file, a sheet FILE#SHEET of a workbook, or the files of a folder. A file that cannot
// be opened is an *fs.PathError, one with wrong content a *FileError.
func Open(path string, how Reading) (Source, error) {
	file, part := Located(path)
	if info, err := os.Stat(file); err == nil && info.IsDir() {
		return openFiles(file, how)
	}
	src, err := openFile(file, how)
	if err == nil && part != "" && src.binary != zipMagic {
		err = (&FileError{Path: file}).Refuse("has no sheets, of which %q could be one; leave out # and what "+
			"follows it", part)
	}
	src.part = part
	return src, err
}

// Files lists the files that Open reads, sorted by name. In a folder, names that begin with . or _
// are left out.
func Files(path string) (files []string, err error) {
	path, _ = Located(path)
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		return []string{path}, err
	}
	entries, err := os.ReadDir(path)
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), ".") && !strings.HasPrefix(e.Name(), "_") {
			files = append(files, filepath.Join(path, e.Name()))
		}
	}
	return files, err
}

// openFiles is Open for a folder, whose files are the parts of one table.
func openFiles(folder string, how Reading) (Source, error) {
	src, size := Source{path: folder}, 0
	e := &FileError{Path: folder}
	files, err := Files(folder)
	for _, file := range files {
		if info, err := os.Stat(file); err == nil && !info.Mode().IsRegular() {
			return src, e.Refuse("has %s in it, which is %s; a table in parts has its files in one folder, and "+
				"nothing else", filepath.Base(file), modeName(info.Mode()))
		}
		part, err := openPart(file, how)
		if err != nil {
			return src, err
		}
		if size += len(part.text); size > MaxText {
			return src, e.Refuse("has more than the %d bytes that will be read; take a part of it", MaxText)
		}
		src.Guessed = src.Guessed || part.Guessed
		src.files = append(src.files, part)
	}
	if err == nil && len(files) == 0 {
		err = e.Refuse("has no files; a folder has the parts of one table")
	}
	return src, err
}

// openPart is openFile for a part of a table. A part that is UTF-8 is read as UTF-8, whatever
// encoding is declared.
func openPart(path string, how Reading) (Source, error) {
	src, err := openFile(path, how)
	if err == nil && src.doubtful() != "" {
		how.Encoding, how.Guess = UTF8, false
		if utf8, wrong := openFile(path, how); wrong == nil {
			utf8.other = true
			return utf8, nil
		}
	}
	return src, err
}

// modeName names the kind of a file that is not regular.
func modeName(mode os.FileMode) string {
	switch {
	case mode.IsDir():
		return "a folder"
	case mode&os.ModeNamedPipe != 0:
		return "a pipe"
	case mode&os.ModeSocket != 0:
		return "a socket"
	}
	return "a device"
}

// openFile is Open for a file as a whole.
func openFile(path string, how Reading) (Source, error) {
	e := &FileError{Path: path}
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() && !how.Pipe { // opening it could wait
		return Source{}, e.Refuse("is %s, which can be read once, and the data of a study are read again, to check "+
			"them and to go on; save them first: cat %s > data.csv", modeName(info.Mode()), path)
	}
	f, err := os.Open(path)
	if err != nil {
		return Source{}, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return Source{}, err
	}
	var raw io.ReadSeeker = f
	limit, size := int64(MaxText), info.Size()
	switch {
	case !info.Mode().IsRegular():
		content, err := io.ReadAll(io.LimitReader(f, maxPipe+1))
		if err != nil {
			return Source{}, err
		}
		raw, limit, size = bytes.NewReader(content), maxPipe, 0
	case size > MaxText:
		return Source{}, e.Refuse("has %d bytes, more than the %d that will be read; take a part of it", size, MaxText)
	case size > maxUnzipped/maxRatio: // a compressed file may exceed the limit: count before allocating
		in, err := e.input(f, how.Encoding)
		if err == nil {
			size, err = e.inflate(in, MaxText, io.Discard)
		}
		if err != nil {
			return Source{}, err
		}
		if _, err := f.Seek(0, io.SeekStart); err != nil {
			return Source{}, err
		}
	}
	src, err := Decode(path, raw, how.Encoding, limit, size)
	if faults := (*FileError)(nil); how.Guess && errors.As(err, &faults) && faults.notUTF8 {
		if _, wrong := raw.Seek(0, io.SeekStart); wrong != nil {
			return Source{}, wrong
		}
		if other, wrong := Decode(path, raw, Western, limit, size); wrong == nil {
			other.Guessed = true
			return other, nil
		}
	}
	return src, err
}

// binaries lists the first bytes of the binary formats that can be read.
var binaries = []string{parquetMagic, zipMagic}

const parquetMagic, zipMagic = "PAR1", "PK\x03\x04"

// unread lists the first bytes of common formats that cannot be read, with the remedy; ? is any
// byte.
var unread = []struct{ bytes, is string }{
	{"\xfd7zXZ\x00", "an xz archive; decompress it first: xz -d FILE"},
	{"\x04\x22\x4d\x18", "an lz4 archive; decompress it first: lz4 -d FILE"},
	{"\x02\x21\x4c\x18", "an lz4 archive; decompress it first: lz4 -d FILE"},
	{"LZIP\x01", "an lzip archive; decompress it first: lzip -d FILE"},
	{"\x1f\x9d", "an archive of compress; decompress it first: gzip -d FILE"},
	{"7z\xbc\xaf\x27\x1c", "a 7z archive; unpack it first: 7z x FILE"},
	{"Rar!\x1a", "a RAR archive; unpack it first: unrar x FILE"},
	{"\xd0\xcf\x11\xe0", "a workbook of Excel before 2007 (xls) or another old Office file; save it as xlsx or CSV"},
	{"SQLite format 3", "an SQLite database; write a table or a query as CSV (sqlite3 -header -csv FILE " +
		"'SELECT * FROM …')"},
	{"ARROW1", "a Feather or Arrow file; write it as Parquet (in Python: pandas.read_feather(…).to_parquet(…))"},
	{"FEA1\x00", "a Feather file; write it as Parquet (in Python: pandas.read_feather(…).to_parquet(…))"},
	{"RDX?\nX\n", "an RData file; write its table as CSV (in R: load(…), then write.csv(…, row.names = FALSE))"},
	{"RDA?\nA\n", "an RData file; write its table as CSV (in R: load(…), then write.csv(…, row.names = FALSE))"},
	{"X\n\x00\x00\x00", "an RDS file; write its table as CSV (in R: write.csv(readRDS(…), …, row.names = FALSE))"},
	{strings.Repeat("\x00", 12) + "\xc2\xea\x81\x60", "a SAS file; write it as CSV (in SAS: proc export; in Python: " +
		"pandas.read_sas(…).to_csv(…, index=False))"},
	{"<stata_dta>", "a Stata file; write it as CSV (in Stata: export delimited; in Python: " +
		"pandas.read_stata(…).to_csv(…, index=False))"},
	{"$FL2@(#)", "an SPSS file; write it as CSV (in SPSS: save as; in R: haven::read_sav)"},
	{"\x89HDF", "an HDF5 file; write its table as Parquet or CSV"},
	{"Obj\x01", "an Avro file; write it as Parquet or CSV"},
	{"\x93NUMPY", "an array of NumPy; write it as CSV (in Python: numpy.savetxt(…, numpy.load(…), delimiter=','))"},
	{"%PDF-", "a PDF, not a table; get the table it shows as CSV"},
}

// Decode reads a file, at most limit bytes of text, and allocates size bytes at once.
func Decode(path string, r io.Reader, encoding string, limit, size int64) (Source, error) {
	e := &FileError{Path: path}
	in, err := e.input(r, encoding)
	if err != nil {
		return Source{}, err
	}
	return e.content(in, limit, size)
}

// content reads an opened file, and checks that a text file contains text.
func (e *FileError) content(in input, limit, size int64) (Source, error) {
	var b strings.Builder
	b.Grow(int(size))
	if _, err := e.inflate(in, limit, &b); err != nil {
		return Source{}, err
	}
	if in.binary != "" {
		return Source{path: e.Path, text: b.String(), binary: in.binary}, nil
	}
	return decoded(e.Path, b.String(), in.encoding)
}

// decoded returns the source of a text that was read in the encoding.
func decoded(path, content, encoding string) (Source, error) {
	content = strings.TrimPrefix(content, "\ufeff")
	if fault := undecodable(path, content, encoding); fault != nil {
		return Source{}, fault
	}
	if first, _, _ := strings.Cut(content, "\n"); isNote(first) {
		content = "#" + content[1:]
	}
	if !strings.ContainsRune(content, '\n') { // line ends of old Macintosh files
		content = strings.ReplaceAll(content, "\r", "\n")
	}
	src := Source{path: path, text: content}
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
	e := &FileError{Path: path, notUTF8: is == "UTF-8" && content[at] != 0}
	start := 1 + strings.LastIndexByte(content[:at], '\n')
	line, column := 1+strings.Count(content[:at], "\n"), 1+at-start
	const wayOut = "a data file is CSV, svmlight, JSON lines, Parquet or xlsx, plain or under gzip, bzip2 or zstd"
	switch {
	case content[at] == 0 && len(content) > 262 && content[257:262] == "ustar":
		return e.Refuse("is a tar archive; unpack it first: tar -xf FILE")
	case content[at] == 0:
		e.Add(line, column, "byte 0x00 is not %s text; %s", is, wayOut)
	case is != "UTF-8":
		e.Add(line, 1+utf8.RuneCountInString(content[start:at]), "this character is not %s text; check what the "+
			"file was written in (gpc-tune explain encoding), or save it as UTF-8", is)
	case encoding == "":
		e.Add(line, column, "byte %#02x is not UTF-8 text; set encoding: %s if it is Western text of Windows "+
			"(gpc-tune explain encoding names others), or save it as UTF-8; %s", content[at], Western, wayOut)
	default:
		e.Add(line, column, "byte %#02x is not UTF-8 text, as which the file is read; save it as UTF-8; %s",
			content[at], wayOut)
	}
	return e
}

// written returns the encoding for the description of the format, unless it is UTF-8 or nothing
// depends on it.
func (s Source) written() string {
	if s.encoding == "" || s.ascii() {
		return ""
	}
	return ", " + s.encoding
}

// ascii reports whether the text is ASCII.
func (s Source) ascii() bool {
	return strings.IndexFunc(s.text, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
}

// doubtful returns a warning if the text was read in a single-byte encoding and also is valid
// UTF-8, judged by the first line with a character beyond ASCII.
func (s Source) doubtful() string {
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

// compressions lists the formats of compressed files: their first bytes, and the command that
// decompresses them.
var compressions = []struct {
	name, magic, command string
	open                 func(r *bufio.Reader) (io.Reader, error)
}{
	{"gzip", "\x1f\x8b", "gzip -d FILE", openGzip},
	{"bzip2", "BZh?1AY&SY", "bzip2 -d FILE", func(r *bufio.Reader) (io.Reader, error) {
		return bzip2.NewReader(r), nil
	}},
	{"zstd", "\x28\xb5\x2f\xfd", "zstd -d FILE", func(r *bufio.Reader) (io.Reader, error) {
		return zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
			zstd.WithDecoderMaxWindow(1<<27))
	}},
}

// gzipped reads the members of a gzip file, and ignores zeros after the last, with which tapes and
// some programs fill their blocks.
type gzipped struct {
	*gzip.Reader
	in *bufio.Reader
}

func openGzip(r *bufio.Reader) (io.Reader, error) {
	z, err := gzip.NewReader(r)
	if err != nil {
		return nil, err
	}
	z.Multistream(false)
	return gzipped{z, r}, nil
}

func (g gzipped) Read(p []byte) (int, error) {
	for {
		switch n, err := g.Reader.Read(p); {
		case !errors.Is(err, io.EOF):
			return n, err
		case n > 0:
			return n, nil
		}
		next, err := g.in.ReadByte()
		for zeros := next == 0; zeros && err == nil && next == 0; {
			next, err = g.in.ReadByte()
		}
		if err != nil {
			return 0, err
		}
		if err := errors.Join(g.in.UnreadByte(), g.Reader.Reset(g.in)); err != nil {
			return 0, err
		}
		g.Multistream(false)
	}
}

// skipFrames skips the frames at the beginning of r that decompressors of zstd and lz4 pass over
// (RFC 8878, 3.1.2). Programs put indices there, or the sizes of the frames that follow.
func skipFrames(r *bufio.Reader) error {
	for {
		if head, _ := r.Peek(4); len(head) < 4 || head[0]>>4 != 5 || string(head[1:]) != "\x2a\x4d\x18" {
			return nil
		}
		head, err := r.Peek(8)
		if err == nil {
			_, err = r.Discard(8)
		}
		if err == nil {
			_, err = io.CopyN(io.Discard, r, int64(binary.LittleEndian.Uint32(head[4:])))
		}
		if err != nil {
			return err
		}
	}
}

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

// input is an opened file: its text as UTF-8, or the content of a binary format.
type input struct {
	io.Reader
	compressed string // how; empty: plain
	command    string // decompresses the file
	raw        *counter
	binary     string // see Source
	encoding   string // encoding of the text
}

// begins returns a function that reports whether r begins with some bytes; ? stands for any byte.
// It reads no more bytes than the comparison needs.
func begins(r *bufio.Reader) func(magic string) bool {
	is := func(head []byte, magic string) bool {
		for i, b := range head {
			if magic[i] != b && magic[i] != '?' {
				return false
			}
		}
		return len(head) > 0
	}
	return func(magic string) bool {
		head, _ := r.Peek(min(4, len(magic)))
		if !is(head, magic) {
			return false
		}
		head, _ = r.Peek(len(magic))
		return len(head) == len(magic) && is(head, magic)
	}
}

// input returns the decompressed content of the file r. Its text has the given encoding unless a
// byte-order mark names another.
func (e *FileError) input(r io.Reader, encoding string) (input, error) {
	in := input{raw: &counter{Reader: r}}
	plain := bufio.NewReaderSize(in.raw, 1<<16)
	if skipFrames(plain) != nil {
		return in, e.Refuse("breaks off in its first frame (zstd or lz4); fetch the file again")
	}
	for _, c := range compressions {
		if begins(plain)(c.magic) {
			inside, err := c.open(plain)
			if err != nil {
				return in, e.Refuse("has a broken %s header (%v); fetch the file again", c.name, err)
			}
			in.compressed, in.command, plain = c.name, c.command, bufio.NewReaderSize(inside, 1<<16)
			break
		}
	}
	for _, c := range compressions {
		if begins(plain)(c.magic) {
			return in, e.Refuse("is compressed twice; decompress it first: %s", in.command)
		}
	}
	for _, magic := range binaries {
		if begins(plain)(magic) {
			in.Reader, in.binary = plain, magic
			return in, nil
		}
	}
	for _, m := range unread {
		if begins(plain)(m.bytes) {
			return in, e.Refuse("is %s", m.is)
		}
	}
	in.Reader, in.encoding = unicodeOf(plain, encoding)
	return in, nil
}

// inflate copies in to w, and counts the bytes. It stops with a fault if they exceed limit, exceed
// maxRatio per compressed byte, or are not text where they should be.
func (e *FileError) inflate(in input, limit int64, w io.Writer) (size int64, err error) {
	if in.compressed != "" {
		limit = min(limit, maxUnzipped)
	}
	buffer, lines := make([]byte, 1<<16), 1
	for {
		n, err := in.Read(buffer)
		part := buffer[:n]
		size += int64(n)
		switch {
		case size > limit && in.compressed != "":
			return 0, e.Refuse("holds more than %d bytes of text; decompress it: a plain file may have %d",
				limit, int64(MaxText))
		case size > limit:
			return 0, e.Refuse("holds more than %d bytes of text, which is more than will be read; take a part of "+
				"it", limit)
		case in.compressed != "" && size > ratioFree && size > maxRatio*in.raw.n:
			return 0, e.Refuse("expands to more than %d times its compressed size, which no table does; check "+
				"the file", maxRatio)
		}
		if _, err := w.Write(part); err != nil {
			return 0, err
		}
		lines += bytes.Count(part, []byte("\n"))
		switch {
		case errors.Is(err, io.EOF),
			in.binary == "" && bytes.IndexByte(part, 0) >= 0: // after a NUL the file is not text in any case
			return size, nil
		case err == nil:
			continue
		case in.compressed == "":
			return 0, err
		case errors.Is(err, io.ErrUnexpectedEOF):
			err = errors.New("cut short")
		}
		e.Add(lines, 0, "the %s stream breaks off or is damaged here (%v); fetch the file again, or decompress it "+
			"first if its own program finds nothing wrong: %s", in.compressed, err, in.command)
		return 0, e
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
