package tables

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"strings"
)

// isJSON reports whether a text begins with an object that has a key, or with an array of objects.
func isJSON(text string) bool {
	text = strings.TrimLeft(text, " \t\r\n")
	inside, array := strings.CutPrefix(text, "[")
	if array {
		inside = strings.TrimLeft(inside, " \t\r\n")
	}
	inside, object := strings.CutPrefix(inside, "{")
	inside = strings.TrimLeft(inside, " \t\r\n")
	return object && inside != "" && (inside[0] == '"' || inside[0] == '}')
}

// objects reads the rows of a file of JSON objects: JSON lines, or one array of objects.
type objects struct {
	table  *Table
	text   string
	tokens *json.Decoder
	// began: something was read; array: the objects are in an array; inside: an object is being
	// read.
	began, array, inside bool
	predicting           bool // a nested value is a text (cases to predict)

	columns map[string]int // nil while these are collected
	names   []string
	values  int // read so far
	row     []Field
	begin   []int // byte offsets of the values
	// The line of an offset is counted from the line before.
	line, counted int
}

// openJSON opens a file of objects. Every key is a column, in the order of first occurrence.
func openJSON(t *Table, src Source, want *Options) (Rows, int) {
	o := newObjects(t, src.text)
	o.predicting = want.Predicting
	o.columns, o.names = map[string]int{}, nil
	n := 0
	for o.object(true) {
		n++
	}
	if len(t.Faults.Faults) > 0 {
		return nil, 0
	}
	if n == 0 || len(o.names) == 0 {
		t.Faults.Add(0, 0, "holds no value; a line is an object such as {\"age\": 34, \"state\": \"ill\"}")
		return nil, 0
	}
	t.Form, t.Header, t.Names, t.Label = "JSON lines", true, o.names, len(o.names)-1
	if o.array {
		t.Form = "JSON, an array of objects"
	}
	if !t.Faults.filled(n, len(o.names), o.values) {
		return nil, 0
	}
	rows := newObjects(t, src.text)
	rows.predicting = want.Predicting
	rows.columns, rows.row, rows.begin = o.columns, make([]Field, len(o.names)), make([]int, len(o.names))
	return rows, n
}

func newObjects(t *Table, text string) *objects {
	o := &objects{table: t, text: text, tokens: json.NewDecoder(strings.NewReader(text)), line: 1}
	o.tokens.UseNumber()
	return o
}

func (o *objects) Next() (line int, ok bool) {
	for j := range o.row {
		o.row[j], o.begin[j] = Field{}, 0
	}
	if !o.object(false) {
		return 0, false
	}
	return o.line, true
}

func (o *objects) Cell(column int) Field { return o.row[column] }

func (o *objects) At(column int) int {
	if o.begin[column] == 0 {
		return 0
	}
	return o.begin[column] - strings.LastIndexByte(o.text[:o.begin[column]], '\n')
}

// fault reports a mistake at a byte offset. Reading ends there, because the rest cannot be parsed.
func (o *objects) fault(offset int, format string, args ...any) bool {
	line := 1 + strings.Count(o.text[:offset], "\n")
	o.table.Faults.Add(line, offset-strings.LastIndexByte(o.text[:offset], '\n'), format, args...)
	return false
}

// token returns the next token, and where it begins.
func (o *objects) token() (token json.Token, offset int, ok bool) {
	rest := o.text[o.tokens.InputOffset():]
	offset = len(o.text) - len(strings.TrimLeft(rest, " \t\r\n,:"))
	token, err := o.tokens.Token()
	switch {
	case err == nil:
		return token, offset, true
	case err == io.EOF && !o.array && !o.inside:
	case strings.HasPrefix(o.text[offset:], "NaN"):
		o.fault(offset, "NaN is not JSON; write null for a missing value")
	case err == io.EOF, err == io.ErrUnexpectedEOF:
		o.fault(len(o.text), "the text breaks off here; fetch the file again")
	default:
		o.fault(offset, "is not JSON here (%v); a line is an object such as {\"age\": 34, \"state\": \"ill\"}", err)
	}
	return nil, offset, false
}

// halved reports whether the text just read, which begins at offset, has a U+FFFD that stands for
// half of a surrogate pair: an escape that makes a character only together with another.
func (o *objects) halved(token string, offset int) bool {
	const instead = "\ufffd"
	n := strings.Count(token, instead)
	if n == 0 {
		return false
	}
	written := o.text[offset:o.tokens.InputOffset()]
	return n > strings.Count(written, instead)+strings.Count(strings.ToLower(written), `\ufffd`)
}

// object reads the next object, or only its keys. It is false at the end and after a fault.
func (o *objects) object(keys bool) bool {
	token, offset, ok := o.token()
	if ok && !o.began {
		if o.began, o.array = true, token == json.Delim('['); o.array {
			token, offset, ok = o.token()
		}
	}
	switch {
	case !ok:
		return false
	case o.array && token == json.Delim(']'):
		o.array, ok = false, true
		if token, offset, more := o.token(); more {
			return o.fault(offset, "%v after the array of objects", token)
		}
		o.array = true
		return false
	case token != json.Delim('{'):
		return o.fault(offset, "%v where an object should be, such as {\"age\": 34, \"state\": \"ill\"}", token)
	}
	o.line += strings.Count(o.text[o.counted:offset], "\n")
	o.counted = offset
	seen := map[string]bool{}
	for o.inside = true; ; {
		token, offset, ok := o.token()
		if !ok {
			return false
		}
		if token == json.Delim('}') {
			o.inside = false
			return true
		}
		key := strings.TrimSpace(token.(string))
		switch {
		case o.halved(token.(string), offset):
			return o.fault(offset, "a key has half of a pair of \\u escapes, which is no character")
		case seen[key]:
			return o.fault(offset, "the key %q occurs twice in an object", key)
		case key == "":
			return o.fault(offset, "a key without a name; give every column one")
		}
		seen[key] = true
		if !o.value(key, keys) {
			return false
		}
	}
}

// skip goes to the end of a nested value, whose beginning was read.
func (o *objects) skip() bool {
	for depth := 1; depth > 0; {
		token, _, ok := o.token()
		if !ok {
			return false
		}
		switch token {
		case json.Delim('['), json.Delim('{'):
			depth++
		case json.Delim(']'), json.Delim('}'):
			depth--
		}
	}
	return true
}

// value reads the value of a key.
func (o *objects) value(key string, keys bool) bool {
	token, offset, ok := o.token()
	if !ok {
		return false
	}
	var v Field
	switch token := token.(type) {
	case json.Delim:
		if o.predicting {
			if !o.skip() {
				return false
			}
			v = textCell(o.text[offset:o.tokens.InputOffset()])
			break
		}
		return o.fault(offset, "the value of %q is nested; write a key for each of its parts, with a number, a text, "+
			"true, false or null", key)
	case json.Number:
		number, err := token.Float64()
		if err != nil {
			number = math.NaN()
		}
		v = typedCell(token.String(), number)
	case string:
		if strings.ContainsRune(token, 0) {
			return o.fault(offset, "the value of %q has the character U+0000, which is no text", key)
		}
		if o.halved(token, offset) {
			return o.fault(offset, "the value of %q has half of a pair of \\u escapes, which is no character; write "+
				"the text in UTF-8", key)
		}
		v = textCell(token)
	case bool:
		v = Field{Text: fmt.Sprint(token)}
	}
	o.values++
	j, known := o.columns[key]
	switch {
	case !keys:
		o.row[j], o.begin[j] = v, offset
	case !known && len(o.names) == MaxColumns:
		return o.fault(offset, "has more than %d keys, which is more than can be held", MaxColumns)
	case !known:
		o.columns[key] = len(o.names)
		o.names = append(o.names, key)
	}
	return true
}
