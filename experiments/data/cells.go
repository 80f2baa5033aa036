package data

import (
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
)

// textCell returns the field of a text, like a field of CSV.
func textCell(text string) field { return field{text: strings.TrimSpace(text), own: true} }

// numberCell returns the field of a number, to which no notation of a file applies. Its text has
// the fewest digits that identify v among floating-point numbers with this number of bits. Its
// value is the value of the text. NaN is a missing value.
func numberCell(v float64, bits int) field {
	if math.IsNaN(v) {
		return field{}
	}
	form := byte('f')
	if size := math.Abs(v); size != 0 && !(size >= 1e-5 && size < 1e21) {
		form = 'e'
	}
	text := strconv.FormatFloat(v, form, -1, bits)
	if bits < 64 {
		v, _ = strconv.ParseFloat(text, 64)
	}
	return typedCell(text, v)
}

// wholeCell returns the field of a whole number.
func wholeCell(v int64) field { return typedCell(strconv.FormatInt(v, 10), float64(v)) }

// typedCell returns the field of a number with its text. A number beyond the limits is not a
// number, as in a text.
func typedCell(text string, v float64) field {
	if !(math.Abs(v) <= cells.MaxMagnitude) {
		v = math.NaN()
	}
	return field{text: text, typed: true, number: v}
}

// timeCell returns the field of a time as databases write it: 2006-01-02 15:04:05, with a fraction
// if it has one.
func timeCell(at time.Time) field {
	return field{text: at.UTC().Format("2006-01-02 15:04:05.999999999")}
}

// memory has rows in memory; lines has their line numbers in the file.
type memory struct {
	rows  [][]field
	lines []int // nil: counted from 1
	row   int   // number of rows read
}

func (m *memory) next() (line int, ok bool) {
	if m.row == len(m.rows) {
		return 0, false
	}
	m.row++
	if m.lines != nil {
		return m.lines[m.row-1], true
	}
	return m.row, true
}

func (m *memory) cell(column int) field { return m.rows[m.row-1][column] }

func (m *memory) at(column int) int { return column + 1 }
