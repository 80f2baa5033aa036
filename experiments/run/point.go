package run

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/experiments/declared"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/record"
)

// Point reads a point for the searches of configuration k, each value as NAME=VALUE with a name of
// the report. Values of choices are written as in the file. The error lists everything that keeps a
// search from trying the point: unknown names, values out of range, and hyperparameters that have
// no effect there.
func Point(k int, of record.Configuration, assignments []string) (map[string]record.Number, error) {
	if slices.Contains([]string{"none", "grid", "mcmc"}, of.Tune) {
		return nil, fmt.Errorf("configuration %d has tune: %s, which searches no further points", k, of.Tune)
	}
	var have []string
	for _, h := range of.Hyperparameters {
		if !h.Fixed {
			have = append(have, h.Shown())
		}
	}
	point := map[string]record.Number{}
	var errs []error
	wrong := func(at, format string, args ...any) {
		errs = append(errs, fmt.Errorf("%q: "+format, append([]any{at}, args...)...))
	}
	for _, at := range assignments {
		name, text, _ := strings.Cut(at, "=")
		i := slices.IndexFunc(of.Hyperparameters, func(h record.Hyperparameter) bool {
			return !h.Fixed && (h.Name == name || h.Shown() == name)
		})
		if i < 0 {
			meant, _, _ := strings.Cut(registry.Suggest(name, have), " (have ")
			wrong(at, "configuration %d tunes no %q; it tunes %s%s", k, name, strings.Join(have, ", "), meant)
			continue
		}
		h := of.Hyperparameters[i]
		if _, twice := point[h.Name]; twice {
			wrong(at, "%s has a value already; give it once", name)
			continue
		}
		value, err := valueOf(h, name, text)
		if err != nil {
			wrong(at, "%v", err)
		}
		point[h.Name] = value // also where it is wrong, so that other conditions are checked
	}
	for _, h := range of.Hyperparameters {
		if _, given := point[h.Name]; given && len(errs) == 0 {
			if why := idle(of, h, point); why != "" {
				errs = append(errs, errors.New(why))
			}
		}
	}
	if len(errs) == 0 {
		switch text, err := forbidden(of, point); {
		case err != nil:
			errs = append(errs, err)
		case text != "":
			errs = append(errs, fmt.Errorf("the point is forbidden, because where: %s does not hold there", text))
		}
	}
	return point, errors.Join(errs...)
}

// valueOf reads a value of a hyperparameter, in natural units.
func valueOf(h record.Hyperparameter, name, text string) (record.Number, error) {
	s := h.Spec()
	s.Name = name
	if h.Choices != nil {
		if i := slices.Index(h.Choices, text); i >= 0 {
			return record.Number(i), nil
		}
		v, err := s.Value(literalOf(text))
		if err != nil {
			err = fmt.Errorf("%s is one of %s", name, strings.Join(h.Choices, ", "))
		}
		return record.Number(v), err
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsInf(v, 0) || math.IsNaN(v) || strings.ContainsAny(text, "_xX") { // as in files
		return 0, fmt.Errorf("write NAME=VALUE with a number, as in %s=2", name)
	}
	if err := s.Admits(v); err != nil {
		return 0, err
	}
	if h.Budget && v != s.Hi {
		return 0, fmt.Errorf("%s is the budget of the search, and a point has all of it, %v; leave it out", name, s.Hi)
	}
	return record.Number(v), nil
}

// literalOf reads a value as in a file. A text that is no YAML scalar is taken literally.
func literalOf(text string) param.Literal {
	n := strictyaml.Parse([]byte(text), strictyaml.NewFindings(""))
	if n != nil && n.Kind == strictyaml.ScalarNode {
		if written, json, err := strictyaml.Literal(n); err == nil {
			return param.Literal{Text: written, JSON: json}
		}
	}
	return param.Literal{Text: text}
}

// idle returns why a hyperparameter does not matter at a point; "": it matters. Hyperparameters
// that the point does not give are at their initial values.
func idle(of record.Configuration, h record.Hyperparameter, point map[string]record.Number) string {
	for c := h.When; c != nil; c = c.And {
		on := of.Hyperparameters[slices.IndexFunc(of.Hyperparameters,
			func(o record.Hyperparameter) bool { return o.Name == c.Name })]
		v := at(on, point)
		if !c.Admits(v) {
			return fmt.Sprintf("%s has no effect with this %s; leave it out (%s=%s)", h.Shown(), on.Shown(), on.Shown(),
				on.Spec().Text(v))
		}
		if why := idle(of, on, point); why != "" {
			return why
		}
	}
	return ""
}

// at is the value of a hyperparameter at a point, or its initial value.
func at(h record.Hyperparameter, point map[string]record.Number) float64 {
	if v, given := point[h.Name]; given {
		return float64(v)
	}
	return float64(h.Init)
}

// forbidden returns the constraint that forbids a point; "": none does.
func forbidden(of record.Configuration, point map[string]record.Number) (string, error) {
	if of.Program == nil {
		return "", nil
	}
	var specs []param.Spec
	var theta []float64
	for _, h := range of.Hyperparameters {
		s := h.Spec()
		specs, theta = append(specs, s), append(theta, s.Map.Theta(at(h, point)))
	}
	for _, text := range of.Program.Where {
		c, err := declared.Where(text, specs)
		if err != nil {
			return "", err
		}
		specs[0].Where = append(specs[0].Where, c)
	}
	if c := param.Violated(specs, theta); c != nil {
		return c.Text, nil
	}
	return "", nil
}

// Enqueued finds a point of configuration k that was enqueued and not withdrawn, by its number or
// by its values; of several with these values the last.
func (f *Folder) Enqueued(k int, assignments []string) (record.Enqueued, error) {
	var points []record.Enqueued
	for _, of := range f.Control.Enqueued {
		if of.Configuration == k && !of.Withdrawn {
			points = append(points, of)
		}
	}
	number, err := strconv.Atoi(assignments[0])
	byNumber := err == nil && len(assignments) == 1
	var point map[string]record.Number
	if !byNumber {
		if point, err = Point(k, f.Manifest.Configurations[k], assignments); err != nil {
			return record.Enqueued{}, err
		}
	}
	for _, of := range slices.Backward(points) {
		if byNumber && of.Number == number || !byNumber && maps.Equal(of.Point, point) {
			return of, nil
		}
	}
	var all []string
	for _, of := range points {
		all = append(all, fmt.Sprintf("\n  %d: %s", of.Number, pointText(f.Manifest.Configurations[k], of.Point)))
	}
	return record.Enqueued{}, fmt.Errorf("configuration %d has no such point; it has %d%s", k, len(points),
		strings.Join(all, ""))
}

// Known is the trial of configuration k with this point, whose result is used for it again; nil:
// there is none, or the values have noise.
func (f *Folder) Known(k int, point map[string]record.Number) *record.Trial {
	c := f.Manifest.Configurations[k]
	if c.Program == nil || c.Program.Noise {
		return nil
	}
	for _, line := range f.Lines {
		t := line.Trial
		if t == nil || t.Configuration != k || !t.Failure.IsZero() || len(t.Points) != 1 {
			continue
		}
		same := true
		for i, h := range c.Hyperparameters {
			v, given := point[h.Name]
			if !given {
				v = h.Init
			}
			at := float64(t.Points[0].Natural[i])
			same = same && math.Abs(float64(v)-at) <= 1e-12*math.Abs(at)
		}
		if same {
			return t
		}
	}
	return nil
}

// pointText writes a point as NAME=VALUE, in the order of the hyperparameters.
func pointText(c record.Configuration, point map[string]record.Number) string {
	var parts []string
	for _, h := range c.Hyperparameters {
		v, given := point[h.Name]
		if !given {
			continue
		}
		text := strconv.FormatFloat(float64(v), 'g', -1, 64)
		if v >= 0 && int(v) < len(h.Choices) {
			text = h.Choices[int(v)]
		}
		parts = append(parts, h.Shown()+"="+text)
	}
	return strings.Join(parts, " ")
}

// Tried is the trial of an enqueued point; nil: it has none on record.
func (f *Folder) Tried(of record.Enqueued) *record.Trial {
	for _, line := range f.Lines {
		t := line.Trial
		if t != nil && t.Configuration == of.Configuration && t.Enqueued == of.Number && t.Failure.IsZero() {
			return t
		}
	}
	return nil
}
