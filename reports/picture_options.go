package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/reports/figure"
)

// optionPictures show scores against a numeric option of inference, likelihood or kernel for which three values or more were tried, all
// else being equal: a panel for each data set and score, a line for whatever else differs, level where there is no such
// option. So learning curves are drawn of online: {seen: […]}.
func optionPictures(r *Report) (out []figure.Figure) {
	for _, section := range []func(c *Configuration) *string{
		func(c *Configuration) *string { return &c.Inference },
		func(c *Configuration) *string { return &c.Likelihood },
		func(c *Configuration) *string { return &c.Kernel },
	} {
		var paths []string
		values := map[string][]string{} // of every path, different ones
		met := map[string]bool{}
		for _, c := range r.Configurations {
			text := *section(&c)
			if met[text] {
				continue
			}
			met[text] = true
			numericOptions(text, func(path, value string) {
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
			if f := r.optionPicture(section, path); len(f.Panels) > 0 {
				out = append(out, f)
			}
		}
	}
	return out
}

// optionPicture is that of one option.
func (r *Report) optionPicture(section func(c *Configuration) *string, path string) figure.Figure {
	name, label := optionLabel(path)
	f := figure.Figure{Name: "option-" + name, Title: "Scores against " + label, Columns: 2}
	for _, series := range r.series(section, path) {
		if !slices.ContainsFunc(series, func(s optionSeries) bool { return len(distinct(s.x)) > 2 }) {
			continue
		}
		var members []member
		for _, s := range series {
			members = append(members, s.member)
		}
		texts := Report{}
		for _, m := range members {
			texts.Configurations = append(texts.Configurations, m.configuration)
		}
		n := named(texts.shorten(), members...)
		for k := range series {
			_, n.members[k], _ = strings.Cut(n.members[k], " ")
		}
		left := ""
		if k := partials(series); k > 0 {
			left = fmt.Sprintf("%d points are not drawn, of which not all folds are done", k)
		}
		if note := remarks(n.note, "with 95 % intervals where two lines at most share a panel", left); !slices.Contains(f.Notes, note[0]) {
			f.Notes = append(f.Notes, note[0])
		}
		for _, score := range []string{"error_rate", "information_bits", "rmse", "standardized_log_loss"} {
			if p := optionPanel(series, n.members, score); len(p.Layers) > 0 {
				p.Title, p.X.Label = n.heading, label
				f.Panels = append(f.Panels, p)
			}
		}
	}
	return f
}

// optionPanel draws a score.
func optionPanel(series []optionSeries, names []string, score string) (p figure.Panel) {
	s, err := cv.ScoreNamed(score)
	if err != nil {
		panic(err) // it is in the table
	}
	p.Y.Label = fmt.Sprintf("%s (%s)", spaced(score), s.Unit)
	var ends []float64
	for _, of := range series {
		ends = append(ends, of.x...)
	}
	ends = []float64{slices.Min(ends), slices.Max(ends)}
	var lines []figure.Line
	var bands []figure.Layer
	evaluations := map[string]bool{}
	for _, of := range series {
		for _, c := range of.configurations {
			for _, e := range c.Evaluations {
				evaluations[e.Name] = true
			}
		}
	}
	for k, of := range series {
		for _, e := range of.configurations[0].Evaluations {
			words := []string{names[k]}
			if len(evaluations) > 1 {
				words = append(words, e.Name)
			}
			l := figure.Line{Name: cmp.Or(strings.Join(slices.DeleteFunc(words, func(w string) bool { return w == "" }), ", "), e.Name), Markers: true}
			band := figure.Band{Name: l.Name}
			for i, c := range of.configurations {
				at := slices.IndexFunc(c.Evaluations, func(o Evaluation) bool { return o.Name == e.Name })
				if at < 0 {
					continue
				}
				v, ok := c.Evaluations[at].Scores.Value(score)
				if !ok || !figure.Drawable(v.Value) || c.Evaluations[at].Scores.Partial != nil {
					continue
				}
				if l.Y, band.Lo, band.Hi = append(l.Y, v.Value), append(band.Lo, v.Lo), append(band.Hi, v.Hi); of.x != nil {
					l.X = append(l.X, of.x[i])
				}
			}
			switch {
			case len(l.Y) == 0:
			case of.x == nil: // level
				lines = append(lines, figure.Line{Name: l.Name, X: ends, Y: []float64{l.Y[0], l.Y[0]}})
			default:
				band.X = l.X
				lines, bands = append(lines, l), append(bands, band)
			}
		}
	}
	if len(bands) <= 2 {
		p.Layers = bands
	}
	for _, l := range lines[:min(len(lines), mostTold)] {
		p.Layers = append(p.Layers, l)
	}
	if left := len(lines) - mostTold; left > 0 {
		p.Y.Label += fmt.Sprintf("; %d more lines are not drawn", left)
	}
	return p
}

// optionSeries are configurations that differ in one option alone, which they have without it in member. Without x they have no
// such option.
type optionSeries struct {
	member
	configurations []Configuration
	x              []float64 // ascending
}

// series are those of every data set.
func (r *Report) series(section func(c *Configuration) *string, path string) (sets [][]optionSeries) {
	for i, c := range r.Configurations {
		rest := c
		text, value, found := withoutOption(*section(&c), path)
		if found {
			if *section(&rest) = text; c.TuneInference == c.Inference {
				rest.TuneInference = rest.Inference
			}
		}
		same := func(o optionSeries) bool {
			a, b := o.configuration, rest
			return (o.x != nil) == found && found && a.sameButTune(b) && a.Inference == b.Inference && a.Tune == b.Tune
		}
		g := slices.IndexFunc(sets, func(set []optionSeries) bool { return set[0].configuration.Dataset == c.Dataset })
		if g < 0 {
			g, sets = len(sets), append(sets, nil)
		}
		k := slices.IndexFunc(sets[g], same)
		if k < 0 {
			k, sets[g] = len(sets[g]), append(sets[g], optionSeries{member: member{index: i, configuration: rest}})
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

// partials counts the evaluations of which not all folds are done.
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

// distinct are the different ones of ascending values.
func distinct(x []float64) []float64 { return slices.Compact(slices.Clone(x)) }

// optionLabel is the name of an option, and that with the component that it is of and how a hyperparameter is given.
func optionLabel(path string) (name, label string) {
	words := strings.Split(path, ".")
	given := ""
	if last := words[len(words)-1]; len(words) > 1 && (last == "fixed" || last == "init") {
		given, words = ", "+last, words[:len(words)-1]
	}
	name = spaced(words[len(words)-1])
	if label = name + given; len(words) > 1 {
		label = fmt.Sprintf("%s: %s", spaced(words[len(words)-2]), label)
	}
	return name, label
}

// numericOptions visits the numbers in a component's text.
func numericOptions(text string, visit func(path, value string)) {
	var root strictyaml.Node
	if strictyaml.Unmarshal([]byte(text), &root) != nil {
		return
	}
	var walk func(n *strictyaml.Node, path string)
	walk = func(n *strictyaml.Node, path string) {
		switch n.Kind {
		case strictyaml.DocumentNode:
			walk(n.Content[0], path)
		case strictyaml.MappingNode:
			for i := 0; i+1 < len(n.Content); i += 2 {
				walk(n.Content[i+1], path+"."+n.Content[i].Value)
			}
		case strictyaml.SequenceNode:
			for i, item := range n.Content {
				walk(item, fmt.Sprintf("%s.%d", path, i))
			}
		default:
			if _, err := strconv.ParseFloat(n.Value, 64); err == nil && path != "" {
				visit(strings.TrimPrefix(path, "."), n.Value)
			}
		}
	}
	walk(&root, "")
}

// withoutOption takes a number out of a component's text.
func withoutOption(text, path string) (rest string, value float64, found bool) {
	var root strictyaml.Node
	if strictyaml.Unmarshal([]byte(text), &root) != nil || len(root.Content) != 1 {
		return text, 0, false
	}
	n := root.Content[0]
	for words := strings.Split(path, "."); ; words = words[1:] {
		at := -1
		switch n.Kind {
		case strictyaml.MappingNode:
			for i := 0; i+1 < len(n.Content); i += 2 {
				if n.Content[i].Value == words[0] {
					at = i + 1
				}
			}
		case strictyaml.SequenceNode:
			if i, err := strconv.Atoi(words[0]); err == nil && i < len(n.Content) {
				at = i
			}
		}
		if at < 0 {
			return text, 0, false
		}
		if len(words) > 1 {
			n = n.Content[at]
			continue
		}
		value, err := strconv.ParseFloat(n.Content[at].Value, 64)
		if err != nil || !figure.Drawable(value) || n.Kind == strictyaml.SequenceNode {
			return text, 0, false
		}
		n.Content = slices.Delete(n.Content, at-1, at+1)
		out, err := strictyaml.Marshal(root.Content[0])
		return strings.TrimSpace(string(out)), value, err == nil
	}
}
