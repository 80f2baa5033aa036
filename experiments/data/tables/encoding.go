package tables

import (
	"bufio"
	"bytes"
	"io"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"
)

// utf8Name is the encoding of a file without a byte-order mark and without the key encoding.
// western is the encoding that init tries for a file that is not UTF-8.
const UTF8, Western = "utf-8", "windows-1252"

// encodings lists the values of the key encoding; the first is the default. UTF-8 needs no decoder.
var encodings = []struct {
	name string
	encoding.Encoding
}{
	{UTF8, nil},
	{"utf-16le", unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM)},
	{"utf-16be", unicode.UTF16(unicode.BigEndian, unicode.IgnoreBOM)},
	{Western, charmap.Windows1252},
	{"windows-1250", charmap.Windows1250},
	{"windows-1251", charmap.Windows1251},
	{"windows-1253", charmap.Windows1253},
	{"windows-1254", charmap.Windows1254},
	{"windows-1257", charmap.Windows1257},
	{"latin-1", charmap.ISO8859_1},
	{"latin-2", charmap.ISO8859_2},
	{"latin-9", charmap.ISO8859_15},
	{"koi8-r", charmap.KOI8R},
	{"macintosh", charmap.Macintosh},
	{"cp437", charmap.CodePage437},
	{"cp850", charmap.CodePage850},
}

// marks lists the byte-order marks. A mark takes precedence over the key.
var marks = []struct{ bytes, encoding string }{
	{"\xef\xbb\xbf", UTF8}, {"\xff\xfe", "utf-16le"}, {"\xfe\xff", "utf-16be"},
}

// encodingModes returns the names of encodings.
func Encodings() (names []string) {
	for _, e := range encodings {
		names = append(names, e.name)
	}
	return names
}

// named returns the encoding of a name; nil for UTF-8 and unknown names.
func named(name string) encoding.Encoding {
	for _, e := range encodings {
		if e.name == name {
			return e.Encoding
		}
	}
	return nil
}

// unicodeOf decodes r to UTF-8, from the encoding of its byte-order mark or, without one, from the
// encoding asked. It also returns the name of the encoding.
func unicodeOf(r io.Reader, asked string) (*bufio.Reader, string) {
	raw := bufio.NewReaderSize(r, 1<<16)
	head, _ := raw.Peek(3)
	for _, m := range marks {
		if bytes.HasPrefix(head, []byte(m.bytes)) {
			asked = m.encoding
		}
	}
	if from := named(asked); from != nil {
		return bufio.NewReaderSize(from.NewDecoder().Reader(raw), 1<<16), asked
	}
	return raw, asked
}
