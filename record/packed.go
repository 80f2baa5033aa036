package record

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"math"
	"strconv"
)

// Vector is a list of numbers in JSON: an array or, from 10 000 numbers on, one text, which is
// shorter and faster to read: 1, a colon, and the base64 of the float64s, lowest byte first.
type Vector []Number

// Matrix is a list of lists in JSON: an array of arrays, or one text if all lists have equal length
// and there are at least 10 000 numbers. The text is written as for a Vector of all the numbers,
// with the length of a list in place of the 1 before the colon.
type Matrix [][]Number

// packedFrom is the number of values from which on they are one text; fewer stay readable.
const packedFrom = 10_000

// MarshalJSON implements json.Marshaler.
func (v Vector) MarshalJSON() ([]byte, error) {
	if len(v) < packedFrom {
		return json.Marshal([]Number(v))
	}
	return packed(1, len(v), v), nil
}

// MarshalJSON implements json.Marshaler.
func (m Matrix) MarshalJSON() ([]byte, error) {
	numbers, width := 0, 0
	for i, row := range m {
		if i == 0 {
			width = len(row)
		}
		if len(row) != width {
			width = 0 // rows of different lengths are not packed
		}
		numbers += len(row)
	}
	if width == 0 || numbers < packedFrom {
		return json.Marshal([][]Number(m))
	}
	return packed(width, numbers, m...), nil
}

// UnmarshalJSON reads both forms.
func (v *Vector) UnmarshalJSON(text []byte) error {
	if text[0] != '"' {
		return json.Unmarshal(text, (*[]Number)(v))
	}
	width, all, err := unpacked(text)
	if err == nil && width != 1 {
		err = errPacked
	}
	*v = all
	return err
}

// UnmarshalJSON reads both forms.
func (m *Matrix) UnmarshalJSON(text []byte) error {
	if text[0] != '"' {
		return json.Unmarshal(text, (*[][]Number)(m))
	}
	width, all, err := unpacked(text)
	if err != nil {
		return err
	}
	*m = make(Matrix, len(all)/width)
	for i := range *m {
		(*m)[i] = all[i*width : (i+1)*width : (i+1)*width]
	}
	return nil
}

// JSONSchema is the schema of MarshalJSON's output.
func (Vector) JSONSchema() map[string]any {
	return packable(map[string]any{"type": "array", "items": Number(0).JSONSchema()})
}

// JSONSchema is the schema of MarshalJSON's output.
func (Matrix) JSONSchema() map[string]any {
	return packable(map[string]any{"type": "array", "items": map[string]any{
		"type": "array", "items": Number(0).JSONSchema(),
	}})
}

func packable(arrays map[string]any) map[string]any {
	return map[string]any{"anyOf": []map[string]any{
		arrays, {"type": "string", "pattern": "^[1-9][0-9]*:[A-Za-z0-9+/]+=*$"},
	}}
}

// packed is the text of rows with this number of values in all.
func packed(width, numbers int, rows ...[]Number) []byte {
	bits := make([]byte, 0, 8*numbers)
	for _, row := range rows {
		for _, v := range row {
			if v.None() {
				v = Number(math.NaN()) // a single representation
			}
			bits = binary.LittleEndian.AppendUint64(bits, math.Float64bits(float64(v)))
		}
	}
	text := append(strconv.AppendInt([]byte(`"`), int64(width), 10), ':')
	return append(base64.StdEncoding.AppendEncode(text, bits), '"')
}

var errPacked = errors.New("record: a text that is no list of numbers")

// unpacked reads what packed writes.
func unpacked(text []byte) (width int, all []Number, err error) {
	head, code, _ := bytes.Cut(text[1:len(text)-1], []byte(":"))
	if width, err = strconv.Atoi(string(head)); err != nil || width < 1 {
		return 0, nil, errPacked
	}
	bits, err := base64.StdEncoding.AppendDecode(nil, code)
	if err != nil || len(bits) == 0 || len(bits)%8 != 0 || len(bits)/8%width != 0 {
		return 0, nil, errPacked
	}
	all = make([]Number, len(bits)/8)
	for i := range all {
		all[i] = Number(math.Float64frombits(binary.LittleEndian.Uint64(bits[8*i:])))
	}
	return width, all, nil
}
