package table

import (
	"math"
	"strconv"

	"github.com/gpc-tune/gpc-tune/reports"
)

// Fact is something by its name.
type Fact struct{ Name, Text string }

// Cell is a cell of a Table: its text, empty where there is nothing to say, and what that is.
type Cell struct {
	Text    string
	Numeric bool             // a number, Value
	Value   float64          // by which numbers are sorted
	Partial *reports.Partial // the number is over some of the planned folds; nil: over all
	Starred bool             // what it is over stands elsewhere in the row
	Mark    Mark             // of the row
}

// Mark says how a row of a summary stands.
type Mark string

// The marks: the best, what cannot be told apart from it, and what did not compete.
const (
	Winner Mark = "best"
	AsGood Mark = "asgood"
	Apart  Mark = "apart"
)

// MarkOf is the mark of a row; empty: none.
func MarkOf(row []Cell) Mark {
	for _, c := range row {
		if c.Mark != "" {
			return c.Mark
		}
	}
	return ""
}

// String is the text, with the count of folds where that is due: "0.71 (1 of 5 folds)", or "0.71*".
func (c Cell) String() string {
	if c.Starred {
		return c.Text + "*"
	}
	return c.Partial.Beside(c.Text)
}

// over is the cell of a number that may be over some folds alone.
func (c Cell) over(of *reports.Partial) Cell {
	if c.Text != "" {
		c.Partial = of
	}
	return c
}

// Row makes a row of words, whole numbers and cells.
func Row(cells ...any) (out []Cell) {
	for _, cell := range cells {
		switch v := cell.(type) {
		case int:
			out = append(out, number(strconv.Itoa(v), float64(v)))
		case string:
			out = append(out, Cell{Text: v})
		case Cell:
			out = append(out, v)
		case []Cell:
			out = append(out, v...)
		}
	}
	return out
}

// Texts are the cells as texts.
func Texts(row []Cell) (texts []string) {
	for _, c := range row {
		texts = append(texts, c.String())
	}
	return texts
}

// Written is a number with a text of its own, if it has one.
func Written[F ~float64](text string, x F) Cell { return number(text, float64(x)) }

// readable is a number to four digits, if there is one.
func readable[F ~float64](x F) Cell { return number(reports.Readable(float64(x)), float64(x)) }

// decimals is a number with so many digits after the point, if there is one.
func decimals[F ~float64](x F, digits int) Cell {
	return number(reports.Decimals(float64(x), digits), float64(x))
}

func number(text string, x float64) Cell { return Cell{Text: text, Numeric: text != "", Value: x} }

// probability is a p value, if there is one.
func probability(p reports.Number) Cell { return number(reports.P(p), float64(p)) }

// interval is from lo to hi, of which the larger has four digits and the other as many after the
// point, if there is such an interval and it is over all folds.
func interval[F ~float64](lo, hi F, of *reports.Partial) string {
	if math.IsNaN(float64(lo)) || of != nil {
		return ""
	}
	digits := commonDigits(1, reports.Number(lo), reports.Number(hi))
	return reports.Decimals(float64(lo), digits) + " – " + reports.Decimals(float64(hi), digits)
}

// commonDigits are so many after the point that the largest of the numbers has four in all.
func commonDigits(factor float64, all ...reports.Number) int {
	largest := 0.0
	for _, x := range all {
		if x.Finite() {
			largest = max(largest, math.Abs(factor*float64(x)))
		}
	}
	if largest == 0 {
		return 1
	}
	return min(max(4-int(math.Ceil(math.Log10(largest))), 0), 6)
}
