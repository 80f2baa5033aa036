package picture

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// optionPictures show scores against a numeric option of inference, likelihood or kernel, if three
// values or more were tried with everything else equal. Each data set and score has a panel, with a
// line for each combination of the other settings. A configuration without the option is a level
// line. An example are learning curves of online: {seen: […]}.
func optionPictures(r shown.Report) (out []figure.Figure) {
	for _, section := range []func(c *reports.Configuration) *record.Component{
		func(c *reports.Configuration) *record.Component { return &c.Inference },
		func(c *reports.Configuration) *record.Component { return &c.Likelihood },
		func(c *reports.Configuration) *record.Component { return &c.Kernel },
	} {
		var paths []string
		values := map[string][]string{} // distinct values of every path
		met := map[string]bool{}
		for _, c := range r.Configurations {
			of := *section(&c)
			if met[of.Text] {
				continue
			}
			met[of.Text] = true
			numericOptions(of.Node, "", func(path, value string) {
				if values[path] == nil {
					paths = append(paths, path)
				}
				if len(values[path]) < 3 && !slices.Contains(values[path], value) {
					values[path] = append(values[path], value)
				}
			})
		}
		for _, path := range paths {
			if len(values[path]) < 3 {
				continue
			}
			if f := optionPicture(r, section, path); len(f.Panels) > 0 {
				out = append(out, f)
			}
		}
	}
	return out
}

// optionPicture plots the scores against one option.
func optionPicture(r shown.Report, section func(c *reports.Configuration) *record.Component,
	path string) figure.Figure {
	name, label := optionLabel(path)
	f := figure.Figure{Name: "option-" + name, Title: "Scores against " + label, Columns: 2}
	for _, series := range seriesOf(r, section, path) {
		if !slices.ContainsFunc(series, func(s optionSeries) bool {
			return len(slices.Compact(slices.Clone(s.x))) > 2
		}) {
			continue
		}
		var members []shown.Member
		for _, s := range series {
			members = append(members, s.Member)
		}
		texts := reports.Report{}
		for _, m := range members {
			texts.Configurations = append(texts.Configurations, m.Configuration)
		}
		shared, named := shown.NameMembers(texts.ShortNames(), members...)
		shared = slices.DeleteFunc(shared, func(word string) bool { return slices.Contains(r.Shared, word) })
		n := shown.Naming{Heading: shown.Shortened(strings.Join(shared, ", ")),
			Note:    shown.Shortened(strings.Join(r.Shared, ", ")),
			Members: named}
		for k := range series {
			_, n.Members[k], _ = strings.Cut(n.Members[k], " ")
		}
		left := ""
		if k := partials(series); k > 0 {
			left = table.Counted(k, "point is", "points are") + " not drawn, of which not all folds are done"
		}
		intervals := "with 95 % intervals where two lines at most share a panel"
		if nominal(path) {
			intervals = ""
		}
		for _, note := range shown.Remarks(n.Note, intervals, left) {
			if !slices.Contains(f.Notes, note) {
				f.Notes = append(f.Notes, note)
			}
		}
		var panels []figure.Panel
		for _, score := range []string{"error_rate", "information_bits", "rmse", "standardized_log_loss"} {
			panels = append(panels, optionPanel(series, n.Members, score))
		}
		for _, p := range append(panels, optionEvidence(series, n.Members)) {
			switch same, is := oneLevel(p); {
			case len(p.Layers) == 0:
			case is:
				f.Notes = append(f.Notes, fmt.Sprintf("%s, %s: %s everywhere", n.Heading, p.Y.Label,
					shown.Written(same, 4)))
			default:
				p.Title, p.X.Label = n.Heading, label
				f.Panels = append(f.Panels, overOption(p, series[0], path))
			}
		}
	}
	return f
}

// overOption is a panel with the axis that the option needs.
func overOption(p figure.Panel, first optionSeries, path string) figure.Panel {
	if n := first.trained(); strings.HasSuffix(path, "online.seen") && n > 0 {
		p.Layers = append(p.Layers, seenOnce(float64(n), p))
	}
	if p = logarithmic(p); nominal(path) {
		p = scattered(p)
	}
	return p
}

// trained is the number of training cases of the smallest fold.
func (s optionSeries) trained() int {
	n := s.Configuration.Cases
	for _, study := range s.Configuration.Studies {
		n = min(n, study.Train)
	}
	return n
}

// seenOnce is a line at n, where online learning has seen every training case once, and begins to
// take them in again.
func seenOnce(n float64, p figure.Panel) figure.Line {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, l := range p.Layers {
		switch l := l.(type) {
		case figure.Line:
			lo, hi = min(lo, slices.Min(l.Y)), max(hi, slices.Max(l.Y))
		case figure.Band:
			lo, hi = min(lo, slices.Min(l.Lo)), max(hi, slices.Max(l.Hi))
		}
	}
	return figure.Line{Name: "every training case seen once", X: []float64{n, n}, Y: []float64{lo, hi}, Dashed: true}
}

// nominal reports whether the numbers of an option have no order, as seeds.
func nominal(path string) bool { return strings.HasSuffix(path, "seed") }

// scattered replaces the lines over an option by points. It leaves out their intervals, which are
// equally wide for every seed.
func scattered(p figure.Panel) figure.Panel {
	var layers []figure.Layer
	for _, l := range p.Layers {
		line, is := l.(figure.Line)
		switch {
		case is && line.Markers:
			layers = append(layers, figure.Points{Name: line.Name, X: line.X, Y: line.Y})
		case is:
			layers = append(layers, line)
		}
	}
	p.Layers = layers
	return p
}

// oneLevel is the value of all lines of a panel, if all values are equal: then there is nothing to
// draw.
func oneLevel(p figure.Panel) (value float64, is bool) {
	for _, l := range p.Layers {
		line, _ := l.(figure.Line)
		for _, y := range line.Y {
			if is && y != value {
				return 0, false
			}
			value, is = y, true
		}
	}
	return value, is
}

// logarithmic is the panel with a logarithmic axis of the option, if its values are positive and
// spread over more than a factor of 20.
func logarithmic(p figure.Panel) figure.Panel {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, l := range p.Layers {
		if line, is := l.(figure.Line); is {
			lo, hi = min(lo, slices.Min(line.X)), max(hi, slices.Max(line.X))
		}
	}
	if lo <= 0 || hi < 20*lo {
		return p
	}
	logs := func(x []float64) (out []float64) {
		for _, v := range x {
			out = append(out, math.Log(v))
		}
		return out
	}
	p.X.Log = true
	for i, l := range p.Layers {
		switch l := l.(type) {
		case figure.Line:
			l.X = logs(l.X)
			p.Layers[i] = l
		case figure.Band:
			l.X = logs(l.X)
			p.Layers[i] = l
		}
	}
	return p
}

// optionEvidence draws the log evidence, where there is one at three values or more.
func optionEvidence(series []optionSeries, names []string) (p figure.Panel) {
	p.Y.Label = "log evidence (nats)"
	var ends []float64
	for _, of := range series {
		ends = append(ends, of.x...)
	}
	drawn := 0
	for k, of := range series {
		line := figure.Line{Name: names[k], Markers: of.x != nil}
		for i, c := range of.configurations {
			v := float64(c.LogEvidence)
			switch {
			case !figure.Drawable(v):
			case of.x == nil: // level
				line.X, line.Y = []float64{slices.Min(ends), slices.Max(ends)}, []float64{v, v}
			default:
				line.X, line.Y = append(line.X, of.x[i]), append(line.Y, v)
			}
		}
		if of.x != nil && len(line.X) > 2 {
			drawn++
		}
		if len(line.X) > 0 && len(p.Layers) < shown.MostTold {
			p.Layers = append(p.Layers, line)
		}
	}
	if drawn == 0 {
		return figure.Panel{}
	}
	return p
}

// optionPanel draws a score.
func optionPanel(series []optionSeries, names []string, score string) (p figure.Panel) {
	s, err := cv.ScoreNamed(score)
	if err != nil {
		panic(err) // the score is in the table
	}
	p.Y.Label = fmt.Sprintf("%s (%s)", reports.Spaced(score), s.Unit)
	var ends []float64
	evaluations := map[string]bool{}
	for _, of := range series {
		ends = append(ends, of.x...)
		for _, c := range of.configurations {
			for _, e := range c.Evaluations {
				evaluations[e.Name] = true
			}
		}
	}
	ends = []float64{slices.Min(ends), slices.Max(ends)}
	var lines, bands []figure.Layer
	for k, of := range series {
		for _, e := range of.configurations[0].Evaluations {
			name := cmp.Or(names[k], e.Name)
			if names[k] != "" && len(evaluations) > 1 {
				name += ", " + e.Name
			}
			line, band := of.line(e.Name, score)
			line.Name, band.Name = name, name
			switch {
			case len(line.Y) == 0:
			case of.x == nil: // level
				lines = append(lines, figure.Line{Name: name, X: ends, Y: []float64{line.Y[0], line.Y[0]}})
			default:
				lines, bands = append(lines, line), append(bands, band)
			}
		}
	}
	if len(bands) <= 2 {
		p.Layers = bands
	}
	p.Layers = append(p.Layers, lines[:min(len(lines), shown.MostTold)]...)
	if left := len(lines) - shown.MostTold; left > 0 {
		p.Y.Label += "; " + table.Counted(left, "more line is", "more lines are") + " not drawn"
	}
	return p
}

// line is a score of an evaluation, where all folds are done, and its 95 % interval.
func (s optionSeries) line(evaluation, score string) (line figure.Line, band figure.Band) {
	line.Markers = true
	for i, c := range s.configurations {
		at := slices.IndexFunc(c.Evaluations, func(o reports.Evaluation) bool { return o.Name == evaluation })
		if at < 0 {
			continue
		}
		scores := c.Evaluations[at].Scores
		v, ok := scores.Value(score)
		if !ok || !figure.Drawable(v.Value) || scores.Partial != nil {
			continue
		}
		line.Y, band.Lo, band.Hi = append(line.Y, v.Value), append(band.Lo, v.Lo), append(band.Hi, v.Hi)
		if s.x != nil {
			line.X = append(line.X, s.x[i])
		}
	}
	band.X = line.X
	return line, band
}

// optionSeries are configurations that differ in one option only. member describes them without the
// option. x is nil if they have no such option.
type optionSeries struct {
	shown.Member
	configurations []reports.Configuration
	x              []float64 // ascending
}

// seriesOf returns the series of every data set.
func seriesOf(r shown.Report, section func(c *reports.Configuration) *record.Component, path string) (
	sets [][]optionSeries) {
	for i, c := range r.Configurations {
		rest := c
		without, value, found := withoutOption(*section(&c), path)
		if found {
			if *section(&rest) = without; c.TuneInference.Text == c.Inference.Text {
				rest.TuneInference = rest.Inference
			}
		}
		same := func(o optionSeries) bool {
			a, b := o.Configuration, rest
			return (o.x != nil) == found && found && shown.SameButTune(a, b) && a.Inference.Text == b.Inference.Text &&
				a.Tune == b.Tune
		}
		g := slices.IndexFunc(sets, func(set []optionSeries) bool { return set[0].Configuration.Dataset == c.Dataset })
		if g < 0 {
			g, sets = len(sets), append(sets, nil)
		}
		k := slices.IndexFunc(sets[g], same)
		if k < 0 {
			k, sets[g] = len(sets[g]), append(
				sets[g], optionSeries{Member: shown.Member{Index: i, Configuration: rest}})
		}
		s := &sets[g][k]
		at := len(s.configurations)
		if found {
			at, _ = slices.BinarySearch(s.x, value)
			s.x = slices.Insert(s.x, at, value)
		}
		s.configurations = slices.Insert(s.configurations, at, c)
	}
	return sets
}

// partials counts the evaluations with folds that are not done.
func partials(series []optionSeries) (n int) {
	for _, s := range series {
		for _, c := range s.configurations {
			for _, e := range c.Evaluations {
				if e.Scores.Partial != nil {
					n++
				}
			}
		}
	}
	return n
}

// optionLabel returns the name of an option. label also has the name of its component, and how a
// hyperparameter is given.
func optionLabel(path string) (name, label string) {
	words := strings.Split(path, ".")
	given := ""
	if last := words[len(words)-1]; len(words) > 1 && (last == "fixed" || last == "init") {
		given, words = ", "+last, words[:len(words)-1]
	}
	name = reports.Spaced(words[len(words)-1])
	if label = name + given; len(words) > 1 {
		label = fmt.Sprintf("%s: %s", reports.Spaced(words[len(words)-2]), label)
	}
	return name, label
}

// numericOptions visits the numbers in a component.
func numericOptions(n record.Node, path string, visit func(path, value string)) {
	if n.Number != nil && path != "" {
		visit(path[1:], n.Word)
	}
	for i, part := range n.Parts {
		numericOptions(part.Node, path+"."+cmp.Or(part.Key, strconv.Itoa(i)), visit)
	}
}

// withoutOption takes a number out of a component.
func withoutOption(c record.Component, path string) (rest record.Component, value float64, found bool) {
	node, value, found := without(c.Node, strings.Split(path, "."))
	if !found {
		return c, 0, false
	}
	return record.Component{Text: node.String(), Node: node}, value, true
}

func without(n record.Node, path []string) (rest record.Node, value float64, found bool) {
	at := slices.IndexFunc(n.Parts, func(p record.Part) bool { return p.Key == path[0] })
	if i, err := strconv.Atoi(path[0]); at < 0 && err == nil && i < len(n.Parts) && n.Parts[i].Key == "" {
		at = i
	}
	if at < 0 {
		return n, 0, false
	}
	part := n.Parts[at]
	n.Parts = slices.Clone(n.Parts)
	if len(path) > 1 {
		part.Node, value, found = without(part.Node, path[1:])
		n.Parts[at] = part
		return n, value, found
	}
	if part.Key == "" || part.Number == nil || !figure.Drawable(float64(*part.Number)) {
		return n, 0, false
	}
	n.Parts = slices.Delete(n.Parts, at, at+1)
	return n, float64(*part.Number), true
}
