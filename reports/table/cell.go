package table

import (
	"fmt"
	"math"
	"strconv"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
)

// Fact is a named text.
type Fact struct {
	Name, Text string
	Kind       FactKind
}

// FactKind is the kind of a fact. Pages show each kind in its own style.
type FactKind int

const (
	Plain      FactKind = iota
	Conclusion          // what to do with the best
	Hedged              // a conclusion with reasons to doubt the best
	Doubtful            // no answer, or a doubt that the best is better than the base rate, or honestly so
	Command             // a command that can be run
)

// Concludes reports whether the fact is a conclusion, hedged or not.
func (f Fact) Concludes() bool { return f.Kind == Conclusion || f.Kind == Hedged }

// Hedged reports whether the fact is a conclusion with reasons to doubt it.
func (f Fact) Hedged() bool { return f.Kind == Hedged }

// Doubts reports whether the fact denies an answer, or doubts that the best is worth anything.
func (f Fact) Doubts() bool { return f.Kind == Doubtful }

// Command reports whether the fact is a command.
func (f Fact) Command() bool { return f.Kind == Command }

// Cell is a cell of a Table.
type Cell struct {
	// string, int, bool, reports.Number, reports.Values, record.Literal, Interval or className;
	// nil: empty
	Value   any
	Text    string           // for people; empty: the usual text of the value
	Partial *reports.Partial // the number is over some of the planned folds; nil: over all
	Starred bool             // another cell of the row names the folds that the number is over
	Mark    Mark             // rank of the row
}

// Interval has a lower and an upper end.
type Interval [2]reports.Number

// className is the name of a class, which is sorted and aligned as a number if it is one.
type className string

// Mark is the rank of a row in a summary.
type Mark string

// The marks: the best, a row in the set that may be the best, and a row that did not compete.
const (
	Winner       Mark = "best"
	InSet        Mark = "asgood"
	NotCompeting Mark = "apart"
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
		return c.text() + "*"
	}
	return c.Partial.Beside(c.text())
}

// text is the text without a mark. Numbers have four significant digits; NaN is empty.
func (c Cell) text() string {
	if c.Text != "" {
		return c.Text
	}
	switch v := c.Value.(type) {
	case nil:
		return ""
	case reports.Number:
		return reports.Readable(float64(v))
	case reports.Values:
		return reports.Assignments(v, reports.Readable)
	default:
		return fmt.Sprint(v)
	}
}

// exact is the value for programs; NaN is empty.
func (c Cell) exact() string {
	switch v := c.Value.(type) {
	case nil:
		return ""
	case reports.Number:
		return reports.Shortest(v)
	case reports.Values:
		return reports.Assignments(v, reports.Exact)
	default:
		return fmt.Sprint(v)
	}
}

// Number is the value as a number; false: it is none.
func (c Cell) Number() (x float64, ok bool) {
	switch v := c.Value.(type) {
	case int:
		return float64(v), true
	case reports.Number:
		return float64(v), !v.None()
	case className:
		x, err := strconv.ParseFloat(string(v), 64)
		return x, err == nil && !math.IsNaN(x)
	}
	return 0, false
}

// over marks the cell of a number that may be over some folds only.
func (c Cell) over(of *reports.Partial) Cell {
	if c.text() != "" {
		c.Partial = of
	}
	return c
}

// Row makes a row of values and cells.
func Row(cells ...any) (out []Cell) {
	for _, cell := range cells {
		switch v := cell.(type) {
		case Cell:
			out = append(out, v)
		case []Cell:
			out = append(out, v...)
		case float64:
			out = append(out, Cell{Value: reports.Number(v)})
		default:
			out = append(out, Cell{Value: v})
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

// written is a number with the given text.
func written(text string, x reports.Number) Cell { return Cell{Value: x, Text: text} }

// assigned is the value of a hyperparameter: a number, or a choice.
func assigned(v record.Named) Cell {
	if v.Text != "" {
		return Cell{Value: record.Literal{Text: v.Text, JSON: v.JSON}}
	}
	return Cell{Value: v.Value}
}

// decimals is a number with this many decimals; NaN is empty.
func decimals[F ~float64](x F, digits int) Cell {
	return written(reports.Decimals(float64(x), digits), reports.Number(x))
}

// probability is a p value; NaN is empty.
func probability(p reports.Number) Cell { return written(reports.P(p), p) }

// between is an interval, empty if there is none or it is not over all folds.
func between(lo, hi reports.Number, of *reports.Partial) Cell {
	if lo.None() || of != nil {
		return Cell{}
	}
	return Cell{Value: Interval{lo, hi}}
}

// String is the interval for people: the larger end has four significant digits and the other as
// many decimals.
func (i Interval) String() string {
	digits := commonDigits(1, i[:]...)
	return reports.Between(reports.Decimals(float64(i[0]), digits), reports.Decimals(float64(i[1]), digits))
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
