package data

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
)

// Meaning describes how the texts of an input are converted to numbers.
type Meaning struct {
	// Ordered lists all values, the lowest first. The input is the rank of a value, from 1.
	Ordered []cells.Name `yaml:"ordered"`
	Date    *cells.Date  `yaml:"date"`
	// Unit is the unit that may stand behind numbers. Other lengths, weights, volumes and sizes of
	// files are converted.
	Unit cells.Name `yaml:"unit"`
	// Limits reads limits of detection, <0.5 and >100, as the number, and adds an input "NAME
	// beyond limit" that is -1 below a limit, 1 above one and else 0.
	Limits bool `yaml:"limits"`
	// Duration reads durations (see ParseDuration) as numbers in this unit.
	Duration cells.TimeUnit `yaml:"duration"`
}

// check checks the meaning by itself, without other keys.
func (m Meaning) check() error {
	given := 0
	for _, is := range []bool{m.Ordered != nil, m.Date != nil, m.Unit != "" || m.Limits, m.Duration != ""} {
		if is {
			given++
		}
	}
	switch {
	case given != 1:
		return errors.New("it needs one of ordered, date, duration, and unit with limits or not")
	case m.Date != nil:
		return m.Date.Mistake()
	case m.Duration != "":
		return m.Duration.Mistake()
	}
	if a, ok := cells.ParseAmount("1 "+string(m.Unit), ""); m.Unit != "" && (!ok || a.Unit != string(m.Unit)) {
		return fmt.Errorf("%q is no unit; a unit begins with a letter, ° or µ and has no blanks, as in unit: kg",
			m.Unit)
	}
	return nil
}

// meaning makes numbers of the values of an input that are not written as numbers.
type meaning interface {
	// Number is the value of a text, with a mark such as the sign of a limit.
	Number(text string) (v float64, mark string, ok bool)
	// Explain returns the fault of a text without a number, and a remedy in the data section.
	Explain(text string) (wrong, remedy string)
	// ExplainSeveral returns the fault of several texts.
	ExplainSeveral() string
}

// ranked orders the texts of an ordinal input.
type ranked struct {
	order []string // the lowest first
	place func(text string) int
}

func (r ranked) Number(text string) (v float64, mark string, ok bool) {
	k := r.place(text)
	return float64(k + 1), "", k >= 0
}

func (r ranked) Explain(string) (wrong, remedy string) {
	return fmt.Sprintf("is not in its order (%s)", cells.List(r.order)), "or add it there"
}

func (r ranked) ExplainSeveral() string { return "are not in its order" }

// meaning returns the conversion of the column's texts to numbers, whose notation is decimal. It is
// nil if the column has plain numbers.
func (c Column) meaning(decimal string) meaning {
	switch {
	case c.Order != nil:
		return ranked{c.Order, c.place(c.Order)}
	case c.Date != nil:
		return c.Date
	case c.Unit != "" || c.Limits:
		return cells.Quantity{Unit: c.Unit, Limits: c.Limits, Decimal: decimal}
	case c.Duration != "":
		return cells.Durations{Unit: c.Duration, Decimal: decimal}
	}
	return nil
}

// marked reports whether an input needs the marks of its values.
func (c Column) marked() bool {
	return c.Limits || c.Date != nil && slices.Contains(c.Date.Parts, "hour")
}

// limits sets the column of the matrix to the side of the limit that each mark is on; NaN where the
// value is.
func (d *Data) limits(column int, values []float64, marks []string) {
	for i, v := range values {
		side := map[string]float64{"<": -1, ">": 1}[marks[i]]
		if math.IsNaN(v) {
			side = v
		}
		d.X.Set(i, column, side)
	}
}
