package table

import (
	"math"
	"strconv"

	"github.com/gpc-tune/gpc-tune/reports"
)

// Fact is a named text.
type Fact struct{ Name, Text string }

// Cell is a cell of a Table: its text, "" if empty, with its value and kind.
type Cell struct {
	Text    string
	Numeric bool             // a number, Value
	Value   float64          // the sort key of numbers
	Partial *reports.Partial // the number is over some of the planned folds; nil: over all
	Starred bool             // what it is over stands elsewhere in the row
	Mark    Mark             // of the row
}

// Mark is the rank of a row in a summary.
type Mark string

// The marks: the best, those not significantly different from it, and those that did not compete.
const (
	Winner Mark = "best"
	AsGood Mark = "asgood"
	Apart  Mark = "apart"
)

// MarkOf is the mark of a row; "": none.
func MarkOf(row []Cell) Mark {
	for _, c := range row {
		if c.Mark != "" {
			return c.Mark
		}
	}
	return ""
}

// String is the text, with a mark if it is partial: "0.71 (1 of 5 folds)", or "0.71*".
func (c Cell) String() string {
	if c.Starred {
		return c.Text + "*"
	}
	return c.Partial.Beside(c.Text)
}

// over marks the cell of a number that may be over some folds only.
func (c Cell) over(of *reports.Partial) Cell {
	if c.Text != "" {
		c.Partial = of
	}
	return c
}

// Row makes a row of words, integers and cells.
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

// Written is a number with the given text; NaN is empty.
func Written[F ~float64](text string, x F) Cell { return number(text, float64(x)) }

// readable is a number to four significant digits; NaN is empty.
func readable[F ~float64](x F) Cell { return number(reports.Readable(float64(x)), float64(x)) }

// decimals is a number with this many decimals; NaN is empty.
func decimals[F ~float64](x F, digits int) Cell {
	return number(reports.Decimals(float64(x), digits), float64(x))
}

func number(text string, x float64) Cell { return Cell{Text: text, Numeric: text != "", Value: x} }

// probability is a p value; NaN is empty.
func probability(p reports.Number) Cell { return number(reports.P(p), float64(p)) }

// interval is the text of an interval from lo to hi: the larger has four significant digits and the
// other as many decimals. It is empty if there is no interval or it is not over all folds.
func interval[F ~float64](lo, hi F, of *reports.Partial) string {
	if math.IsNaN(float64(lo)) || of != nil {
		return ""
	}
	digits := commonDigits(1, reports.Number(lo), reports.Number(hi))
	return reports.Decimals(float64(lo), digits) + " – " + reports.Decimals(float64(hi), digits)
}

// commonDigits is the number of decimals with which the largest of the numbers has four significant
// digits.
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
