package picture

import (
	"fmt"
	"slices"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
)

// mostFitted is the maximum number of figures of a picture that has one for each configuration.
const mostFitted = 6

// fitted draws a figure for every configuration with a fit on all of the training data, and names
// it. A configuration has no figure if of gives no panels.
func fitted(r shown.Report, name, title string, of func(c reports.Configuration, fit *record.Fit) figure.Figure) (
	out []figure.Figure) {
	return r.InTurn(name, mostFitted, func(m shown.Member) (f figure.Figure) {
		if m.Configuration.Status != reports.Done {
			return f
		}
		if f = of(m.Configuration, m.Configuration.Studies[0].Fit); len(f.Panels) == 0 {
			return f
		}
		n := r.Naming(m)
		f.Title = shown.Titled(title, n.Heading)
		f.Notes = append(shown.Remarks(n.Note), f.Notes...)
		f.Looks = classLooks(m.Configuration.Classes)
		return f
	})
}

// sampled is a note that a figure shows one sample of Markov chains.
func sampled(what string, fit *record.Fit) []string {
	if len(fit.Posterior) == 0 {
		return nil
	}
	return []string{what + " at the sample of largest posterior density"}
}

// heldOut are the fits with held-out cases of the first evaluation, and its name, with the number
// of folds if that is not all.
func heldOut(c reports.Configuration) (fits []*record.Fit, name string) {
	if len(c.Evaluations) == 0 {
		return nil, ""
	}
	of := c.Evaluations[0]
	for _, s := range c.Studies {
		if s.Evaluation == of.Name && !s.Nested && s.Predictions != nil {
			fits = append(fits, s.Fit)
		}
	}
	if name = of.Name; of.Scores.Partial != nil {
		name += ", " + of.Scores.Partial.String()
	}
	return fits, name
}

// mostClasses is the maximum number of classes with a panel each.
const mostClasses = 4

// frequent are the classes with the most training cases, at most mostClasses of them in their
// order, and a note if there are others.
func frequent(c reports.Configuration, fit *record.Fit) (classes []int, note []string) {
	counts := make([]int, len(c.Classes))
	for _, label := range fit.TrainLabels {
		counts[label]++
	}
	for k := range counts {
		classes = append(classes, k)
	}
	if len(classes) > mostClasses {
		slices.SortStableFunc(classes, func(a, b int) int { return counts[b] - counts[a] })
		classes = slices.Sorted(slices.Values(classes[:mostClasses]))
		note = []string{fmt.Sprintf("the %d of %d classes with the most training cases", mostClasses, len(counts))}
	}
	return classes, note
}

// className is the name of a class in a legend.
func className(c reports.Configuration, k int) string { return "class " + c.Classes[k] }

// classLooks gives the points of each class the same look in all figures.
func classLooks(classes []string) map[string]int {
	out := map[string]int{}
	for k, class := range classes {
		out["class "+class] = k
	}
	return out
}
