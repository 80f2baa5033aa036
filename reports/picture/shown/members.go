package shown

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// MostBanded is the size of the largest group whose members have their intervals drawn.
const MostBanded = 3

// SameButTune reports whether two configurations maximise the same function of the same
// hyperparameters.
func SameButTune(c reports.Configuration, o reports.Configuration) bool {
	return c.Record.DataHash == o.Record.DataHash && c.Preprocess == o.Preprocess && c.Kernel.Text == o.Kernel.Text &&
		c.Mean.Text == o.Mean.Text &&
		c.Likelihood.Text == o.Likelihood.Text && c.TuneInference.Text == o.TuneInference.Text &&
		c.Objective == o.Objective
}

// PathsOf are the trials on all of the training data whose paths are on record.
func PathsOf(c reports.Configuration) (out []*record.Trial) {
	if len(c.Studies) == 0 {
		return nil
	}
	for _, t := range c.Studies[0].Trials {
		if len(t.Path) > 0 && !t.Preliminary {
			out = append(out, t)
		}
	}
	return out
}

// MostTold is the number of lines that a reader can tell apart.
const MostTold = 8

// MostFigures is the maximum number of figures of a kind with one configuration each.
const MostFigures = 8

// FigurePerConfiguration draws the configurations for which of is true, size of them in each
// figure.
func FigurePerConfiguration(r Report, of func(reports.Configuration) bool, size int,
	draw func(part []Member, n Naming) figure.Figure) []figure.Figure {
	return GroupFigures(r, func(c reports.Configuration) string {
		if of(c) {
			return "all"
		}
		return ""
	}, size, draw)
}

// GroupFigures draws the configurations with the same key in the same figures, size of them in
// each. Configurations without a key are not drawn. If a key has more than one figure, the first
// one has the best configurations.
func GroupFigures(r Report, key func(reports.Configuration) string, size int,
	draw func(part []Member, n Naming) figure.Figure) (out []figure.Figure) {
	var keys []string
	groups := map[string][]Member{}
	for _, i := range r.order {
		k := key(r.Configurations[i])
		if k == "" {
			continue
		}
		if groups[k] == nil {
			keys = append(keys, k)
		}
		groups[k] = append(groups[k], Member{Index: i, Configuration: r.Configurations[i]})
	}
	var all [][]Member
	for _, k := range keys {
		if group := groups[k]; len(group) <= size {
			slices.SortFunc(group, func(a, b Member) int { return cmp.Compare(a.Index, b.Index) })
			all = append(all, group)
		} else {
			all = append(all, slices.Collect(slices.Chunk(group, size))...)
		}
	}
	without := 0
	for k, part := range all {
		if k >= MostFigures {
			without += len(part)
			continue
		}
		n := r.Naming(part...)
		f := r.attempt(Indices(part), func() figure.Figure { return draw(part, n) })
		f.Of = Indices(part)
		if f.Looks == nil {
			f.Looks = r.Looks(part, n.Members)
		}
		f.Name = fmt.Sprintf("%s-%d", f.Name, slices.Min(f.Of))
		out = append(out, f)
	}
	if without > 0 {
		f := &out[len(out)-1]
		kind, _, _ := strings.Cut(f.Name, fmt.Sprintf("-%d", slices.Min(f.Of)))
		f.Notes = append(f.Notes, LeftOut(without, kind))
	}
	return out
}

// ObjectiveLabel names the tuning objective, with its unit.
func ObjectiveLabel(c reports.Configuration) string {
	if c.Program != nil {
		return reports.Spaced(c.Maximised())
	}
	unit := "nats"
	if s, err := cv.ScoreNamed(strings.TrimPrefix(c.Objective, "cv_")); err == nil {
		unit = s.Unit
	}
	return fmt.Sprintf("%s (%s)", reports.Spaced(c.Maximised()), unit)
}

// ThetaLabels name the free hyperparameters on the theta scale: "ln length scale".
func ThetaLabels(c reports.Configuration) (out []string) {
	for _, h := range c.Record.Hyperparameters {
		if !h.Fixed {
			scale := map[int]string{len("log_"): "ln ", len("logit_"): "logit "}[len(h.Theta)-len(h.Name)]
			out = append(out, scale+reports.Spaced(h.Name))
		}
	}
	return out
}

// Estimate is an estimate with its interval.
func Estimate(e cv.Estimate, digits int) string {
	if !figure.Drawable(e.Lo) || !figure.Drawable(e.Hi) {
		return Written(e.Value, digits)
	}
	return fmt.Sprintf("%s (%s)", Written(e.Value, digits),
		reports.Between(figure.Number(e.Lo, digits), figure.Number(e.Hi, digits)))
}

// Written is a number with this number of decimals and a true minus sign.
func Written(x float64, digits int) string {
	return strings.ReplaceAll(reports.Decimals(x, digits), "-", "−")
}

// GroupsOf groups the evaluations that have the same name and the same data set, in order of
// appearance.
func GroupsOf(r Report) (groups [][]Member) {
	for i, c := range r.Configurations {
		for _, e := range c.Evaluations {
			g := slices.IndexFunc(groups,
				func(g []Member) bool { return g[0].Configuration.Dataset == c.Dataset && g[0].Name == e.Name })
			if g < 0 {
				g = len(groups)
				groups = append(groups, nil)
			}
			groups[g] = append(groups[g], Member{Index: i, Configuration: c, Evaluation: e})
		}
	}
	return groups
}

// Cases is the number of predictions of each member of a group, as text; empty if the members
// differ.
func Cases(group []Member) string {
	n := group[0].Scores.N
	if slices.ContainsFunc(group, func(m Member) bool { return m.Scores.N != n }) {
		return ""
	}
	return table.Counted(n, "prediction", "predictions")
}

// Most is the maximum number of members of a picture: more looks cannot be told apart.
const Most = 20

// Remarks joins the texts that are not empty; nil: all are empty.
func Remarks(all ...string) []string {
	text := strings.Join(slices.DeleteFunc(all, func(n string) bool { return n == "" }), "; ")
	if text == "" {
		return nil
	}
	return []string{text}
}

// ChosenPath returns the steps of the chosen restart.
func ChosenPath(c reports.Configuration) []record.Step {
	for _, t := range PathsOf(c) {
		if c.Studies[0].Chose(t) {
			return t.Path
		}
	}
	return nil
}

// PooledOf returns the predictions of all folds of the evaluation.
func PooledOf(m Member) cv.Predictions {
	var parts []cv.Predictions
	for _, s := range m.Configuration.Studies {
		if s.Evaluation == m.Name && s.Predictions != nil && !s.Nested {
			parts = append(parts, *s.Predictions)
		}
	}
	if len(parts) == 0 {
		return cv.Predictions{}
	}
	return cv.Pool(parts...)
}

// Trace is the tuning objective over the iterations.
func Trace(path []record.Step) (l figure.Line) {
	for k, s := range path {
		l.X, l.Y = append(l.X, float64(k)), append(l.Y, float64(s.Value))
	}
	return l
}

// TraceAxis is the axis of the objective of traces. It leaves out very low starts, if the rest of
// the traces would look flat with them.
func TraceAxis(c reports.Configuration, traces ...figure.Line) figure.Axis {
	var all []float64
	for _, l := range traces {
		all = append(all, l.Y...)
	}
	a := figure.Axis{Label: ObjectiveLabel(c)}
	lo, _ := Bulk(all)
	if least, hi := slices.Min(all), slices.Max(all); hi-least > 2*(hi-lo) {
		a.Lo, a.Hi = lo, hi+0.04*(hi-lo)
		a.Label += fmt.Sprintf(", and below it down to %s", figure.Number(least, 0))
	}
	return a
}
