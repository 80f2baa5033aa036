package picture

import (
	"fmt"
	"slices"

	"github.com/gpc-tune/gpc-tune/experiments/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// mostFitted is how many configurations a picture shows that has a figure for each.
const mostFitted = 12

// fitted draws a figure for every configuration with a fit on all of the training data, but for
// those for which of gives no panels, and names it.
func fitted(r *reports.Report, name, title string, of func(c reports.Configuration, fit *record.Fit) figure.Figure) (
	out []figure.Figure) {
	short := r.ShortNames()
	left := 0
	for i, c := range r.Configurations {
		if c.Status != reports.Done {
			continue
		}
		f := of(c, c.Studies[0].Fit)
		switch {
		case len(f.Panels) == 0:
			continue
		case len(out) == mostFitted:
			left++
			continue
		}
		n := NameMembers(short, Member{Index: i, Configuration: c})
		f.Name, f.Title = fmt.Sprintf("%s-%d", name, i), fmt.Sprintf("%s: #%d %s", title, i, n.Heading)
		f.Notes = append([]string{n.Note}, f.Notes...)
		f.First = classNames(c.Classes)
		out = append(out, f)
	}
	if left > 0 {
		last := &out[len(out)-1]
		last.Notes = append(last.Notes, fmt.Sprintf(
			"%s such a figure; those of the first %d are drawn",
			table.Counted(left, "more configuration has", "more configurations have"), mostFitted))
	}
	return out
}

// sampled is a note on what figures show of Markov chains.
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

// mostClasses is how many classes have panels of their own.
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

// classNames are those of the points of the classes, which have one look in all figures.
func classNames(classes []string) (names []string) {
	for _, class := range classes {
		names = append(names, "class "+class)
	}
	return names
}
