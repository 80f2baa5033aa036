package spec

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/experiments/declared"
	"github.com/gpc-tune/gpc-tune/internal/pattern"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
)

// programming is a Program as written in a file.
type programming struct {
	Command         []string         `yaml:"command"`
	Hyperparameters *strictyaml.Node `yaml:"hyperparameters"`
	Input           string           `yaml:"input"`
	Field           string           `yaml:"field"`
	Minimize        *strictyaml.Node `yaml:"minimize"`
	Require         *strictyaml.Node `yaml:"require"`
	Timeout         search.Span      `yaml:"timeout"`
	Grace           search.Span      `yaml:"grace"`
	StopEarly       *strictyaml.Node `yaml:"stop_early"`
	Files           []string         `yaml:"files"`
}

// usualGrace is the time that a program has to end by itself, unless the file says otherwise.
const usualGrace = 10 * time.Second

// programSections are the sections of a file with a program.
var programSections = []string{"version", "name", "seed", "program", "tune", "report"}

// inputs are the ways in which a command reads hyperparameters, the first by default.
var inputs = []string{"arguments", "json"}

// parameterName matches names of hyperparameters of programs.
var parameterName = pattern.Of(`^[A-Za-z][A-Za-z0-9_]*(\.[A-Za-z][A-Za-z0-9_]*)*$`)

// program reads the program section, and how its hyperparameters are searched.
func (d *decoder) program(n, tune *strictyaml.Node, s *Spec) {
	var of programming
	d.Into(n, &of)
	command := strictyaml.Find(n, "command")
	if len(of.Command) == 1 && command.Kind == strictyaml.ScalarNode { // a text
		var err error
		if of.Command, err = words(command.Value); err != nil {
			d.At(command, "command: %v", err)
		}
	}
	choose(d, n, "input", &of.Input, inputs)
	within, _ := time.ParseDuration(string(of.Timeout)) // none: 0
	grace, err := time.ParseDuration(string(of.Grace))
	if err != nil {
		grace = usualGrace
	}
	s.Program = &Program{Timeout: within, Grace: grace, Files: of.Files, CommandPlace: d.Found.Place(command),
		FilesPlace: d.Found.Place(strictyaml.Find(n, "files")),
		Program: record.Program{Command: append([]string{}, of.Command...), Input: of.Input,
			Field: of.Field}}
	d.minimize(of.Minimize, s.Program)
	d.require(of.Require, s.Program)
	if of.StopEarly != nil {
		s.Program.Early, _, _ = component(d, of.StopEarly, "rule", search.EarlyStops)
		s.Program.StopEarly = strictyaml.Flow(of.StopEarly)
	}
	if of.Hyperparameters == nil {
		d.At(n, "no hyperparameters; add for example hyperparameters: {rate: {log: {from: 0.001, to: 1}}}")
		return
	}
	var names []string // names of all hyperparameters, also wrong ones
	d.Mapping(of.Hyperparameters, func(key, value *strictyaml.Node) {
		names = append(names, key.Value)
		if !parameterName().MatchString(key.Value) {
			d.At(key, "%q names no hyperparameter; take letters, digits and '_', beginning with a letter", key.Value)
		}
		for _, other := range names[:len(names)-1] {
			if strings.HasPrefix(key.Value, other+".") || strings.HasPrefix(other, key.Value+".") {
				d.At(key, "%q and %q cannot both be hyperparameters: one of them is a group with a value in it", other,
					key.Value)
			}
		}
		r, _, ok := component(d, value, "range", param.Ranges)
		if !ok {
			return
		}
		h, err := r.Spec(key.Value, s.Program.Space)
		if err != nil {
			d.At(value, "%v", err)
			return
		}
		s.Program.Space = append(s.Program.Space, h)
		reads := func(arg string) bool {
			found := false
			fill(arg, func(name string) string { found = found || name == h.Name; return "" })
			return found
		}
		if of.Input != "json" && len(of.Command) > 0 && !slices.ContainsFunc(of.Command, reads) {
			d.At(key, "no argument of the command has {%s}; add it there, or write input: json", h.Name)
		}
	})
	d.checkPlaceholders(command, names)
	s.TuneText = strictyaml.Flow(tune)
	for _, way := range d.ways(tune) {
		s.Program.Ways = append(s.Program.Ways, d.searching(way, s.Program.Space))
	}
}

// minimize reads which values are minimised: whether the one value is, or the names of values.
func (d *decoder) minimize(n *strictyaml.Node, p *Program) {
	if n == nil || strictyaml.IsNull(n) {
		return
	}
	var names []string
	if n.Kind == strictyaml.ScalarNode && (n.Value == "true" || n.Value == "false") {
		p.Minimize = n.Value == "true"
		return
	}
	d.Into(n, &names)
	if len(names) == 0 {
		d.At(n, "minimize is true, false, the name of a value, or a list of names")
		return
	}
	for i, name := range names {
		if !parameterName().MatchString(name) || slices.Contains(names[:i], name) {
			d.At(n, "%q names no value that is minimised; take letters, digits and '_', each name once", name)
		}
	}
	if p.Field != "" && p.Field != names[0] {
		d.At(n, "field says %q, and minimize another name; leave out field", p.Field)
	}
	p.Minimize, p.Field = true, names[0]
	if len(names) > 1 {
		p.Objectives = names
	}
}

// requiring is the bound of a value as written in a file.
type requiring struct {
	AtMost  *float64 `yaml:"at_most"`
	AtLeast *float64 `yaml:"at_least"`
}

// require reads the bounds that values must stay within.
func (d *decoder) require(n *strictyaml.Node, p *Program) {
	if n == nil || strictyaml.IsNull(n) {
		return
	}
	d.Mapping(n, func(key, value *strictyaml.Node) {
		var of requiring
		d.Into(value, &of)
		if of.AtMost == nil && of.AtLeast == nil {
			d.At(value, "%s: write a bound, as in {at_most: 1}", key.Value)
		}
		if !parameterName().MatchString(key.Value) {
			d.At(key, "%q names no value; take letters, digits and '_', beginning with a letter", key.Value)
		}
		p.Bounds = append(p.Bounds, search.Require{Name: key.Value, AtMost: of.AtMost, AtLeast: of.AtLeast})
	})
	p.Require = strictyaml.Flow(n)
}

// searching reads one way of searching the hyperparameters of a program.
func (d *decoder) searching(n *strictyaml.Node, space search.Space) Tune {
	for _, key := range tuneKeys {
		if v := strictyaml.Find(n, key); v != nil && key != "method" && key != "stop" && key != "start_from" {
			d.At(v, "a program takes no %q; it has an objective of its own", key)
		}
	}
	before := d.Found.Found()
	d.choicesOf(strictyaml.Find(n, "grid"), space)
	t, _ := d.way(n, "bayes")
	if g, is := t.Strategy.(search.Grid); is {
		g.Apart = true // a point has nothing to start from
		t.Strategy = g
	}
	switch {
	case d.Found.Found() > before:
	case t.Strategy == nil:
		d.At(n, "method none searches nothing; take for example bayes")
	case t.Climbs():
		d.At(valueOr(n, "method"), "method %s follows gradients, which a program does not give; take bayes, cmaes, "+
			"nelder_mead or another one without them", t.Method)
	default:
		of := search.FidelityOf(t.Strategy).Of
		named := func(o param.Spec) bool { return o.Name == of }
		if slices.Contains(search.Shares, of) && !slices.ContainsFunc(space, named) {
			d.At(valueOr(n, "budget"), "budget: there is no hyperparameter %q", of)
		}
		for _, err := range declared.Unjoin(t.Strategy.Check(space)) {
			d.At(n, "%v", err)
		}
	}
	return t
}

// choicesOf replaces the choices that the axes of a grid list by their numbers.
func (d *decoder) choicesOf(grid *strictyaml.Node, space search.Space) {
	for _, h := range space {
		axis := strictyaml.Find(grid, h.Name)
		if h.Map != param.Choice || axis == nil {
			continue
		}
		values := strictyaml.Find(axis, "values")
		if values == nil || values.Kind != strictyaml.SequenceNode {
			d.At(axis, "%s is a choice; list some of its values, as in {values: [%s]}", h.Name,
				strings.Join(h.Choices, ", "))
			continue
		}
		for _, value := range values.Content {
			var l param.Literal
			var err error
			var v float64
			if l.Text, l.JSON, err = strictyaml.Literal(value); err == nil {
				v, err = h.Value(l)
			}
			if err != nil {
				d.At(value, "%v", err)
			}
			value.Value, value.Tag, value.Style = strconv.Itoa(int(v)), "!!int", 0
		}
	}
}

// without reports sections that cannot be combined with another one, and says why.
func (d *decoder) without(root *strictyaml.Node, why string, sections ...string) {
	d.Mapping(root, func(key, _ *strictyaml.Node) {
		if slices.Contains(sections, key.Value) {
			d.At(key, "%s, and cannot be combined with %s; leave out one of the two", why, key.Value)
		}
	})
}
