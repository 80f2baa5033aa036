package table

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/internal/terminal"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
)

// coefficients is the table of the coefficients of logistic regression, of preprocessed inputs.
func coefficients(c reports.Configuration) []Table {
	t := Table{Columns: Columns("class", "input", "coefficient", "standard error")}
	for _, w := range c.Coefficients {
		t.Add(w.Class, w.Input, w.Value, w.StandardError)
	}
	return []Table{t}
}

// forSecond names the class that the coefficients are for, if there are two classes.
func forSecond(c reports.Configuration) string {
	if len(c.Classes) != 2 {
		return ""
	}
	return ", for " + terminal.OneLine(c.Classes[1])
}

// largestCoefficients are the few inputs with the largest ratios of coefficient and standard error.
func largestCoefficients(c reports.Configuration) string {
	const most = 6
	ratio := func(w record.Coefficient) float64 { return math.Abs(float64(w.Value / w.StandardError)) }
	all := slices.Clone(c.Coefficients)
	slices.SortStableFunc(all, func(a, b record.Coefficient) int { return cmp.Compare(ratio(b), ratio(a)) })
	var texts []string
	for _, w := range all[:min(most, len(all))] {
		name := w.Input
		if len(c.Classes) > 2 {
			name = w.Class + " " + name
		}
		texts = append(texts, fmt.Sprintf("%s %s ± %s", terminal.OneLine(name), reports.Readable(float64(w.Value)),
			reports.Brief(float64(w.StandardError))))
	}
	if more := len(all) - len(texts); more > 0 {
		texts = append(texts, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(texts, ", ")
}
