package spec

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/experiments/declared"
	"github.com/gpc-tune/gpc-tune/internal/pattern"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// programming is a Program as written in a file.
type programming struct {
	Command         []string         `yaml:"command"`
	Hyperparameters *strictyaml.Node `yaml:"hyperparameters"`
	Where           *strictyaml.Node `yaml:"where"`
	Input           string           `yaml:"input"`
	Field           string           `yaml:"field"`
	Minimize        *strictyaml.Node `yaml:"minimize"`
	Require         *strictyaml.Node `yaml:"require"`
	Noise           bool             `yaml:"noise"`
	Timeout         schedule.Span    `yaml:"timeout"`
	Grace           schedule.Span    `yaml:"grace"`
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
	command := strictyaml.Find(n, "command")
	d.unquoted(command)
	d.Into(n, &of)
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
			Field: of.Field, Noise: of.Noise}}
	d.minimize(of.Minimize, s.Program)
	d.require(of.Require, s.Program)
	if n := strictyaml.Find(n, "noise"); of.Noise && len(s.Program.Objectives) > 0 {
		d.At(n, "noise: one objective has a best expected value, and minimize names %d; leave noise out, or minimise "+
			"one of them", len(s.Program.Objectives))
	}
	if of.StopEarly != nil {
		s.Program.Early, _, _ = component(d, of.StopEarly, "rule", schedule.EarlyStops)
		s.Program.StopEarly = strictyaml.Flow(of.StopEarly)
	}
	if of.Hyperparameters == nil {
		d.At(n, "no hyperparameters; add for example hyperparameters: {rate: {log: {from: 0.001, to: 1}}}")
		return
	}
	var names []string // names of all hyperparameters, also wrong ones
	var all []*ranged
	d.Mapping(of.Hyperparameters, func(key, value *strictyaml.Node) {
		names, all = append(names, key.Value), append(all, &ranged{key: key, value: value})
		if !parameterName().MatchString(key.Value) {
			d.At(key, "%q names no hyperparameter; take letters, digits and '_', beginning with a letter", key.Value)
		}
		for _, other := range names[:len(names)-1] {
			if strings.HasPrefix(key.Value, other+".") || strings.HasPrefix(other, key.Value+".") {
				d.At(key, "%q and %q cannot both be hyperparameters: one of them is a group with a value in it", other,
					key.Value)
			}
		}
	})
	for _, r := range all {
		d.ranged(r, all, names, s.Program)
	}
	for _, h := range s.Program.Space {
		reads := func(arg string) bool {
			found := false
			fill(arg, func(name string) string { found = found || name == h.Name; return "" })
			return found
		}
		if of.Input != "json" && len(of.Command) > 0 && !slices.ContainsFunc(of.Command, reads) {
			d.At(all[slices.Index(names, h.Name)].key, "no argument of the command has {%s}; add it there, or write "+
				"input: json", h.Name)
		}
	}
	d.where(of.Where, all, s.Program)
	d.checkPlaceholders(command, names)
	s.TuneText = strictyaml.Flow(tune)
	for _, way := range d.ways(tune) {
		s.Program.Ways = append(s.Program.Ways, d.searching(way, s.Program.Space))
	}
}

// ranged is a hyperparameter as written in a file.
type ranged struct {
	key, value    *strictyaml.Node
	begun, refers bool // its reading has begun; it is being read
	read          bool // it is in the space
}

// option is the node of an option of the range; nil: it is not given.
func (r *ranged) option(name string) *strictyaml.Node {
	if r.value.Kind != strictyaml.MappingNode || len(r.value.Content) < 2 {
		return nil
	}
	return strictyaml.Find(r.value.Content[1], name)
}

// example is a range as it is written, for one in which a list or a misplaced option says what is
// meant; "" for other ranges.
func (r *ranged) example() string {
	if r.value.Kind != strictyaml.MappingNode || len(r.value.Content) < 2 {
		return ""
	}
	name, of := r.value.Content[0].Value, r.value.Content[1]
	switch {
	case len(r.value.Content) > 2 && of.Kind == strictyaml.MappingNode:
		inside := append(slices.Clone(of.Content), r.value.Content[2:]...)
		return fmt.Sprintf("the options together, as in {%s: %s}", name,
			strictyaml.Flow(&strictyaml.Node{Kind: strictyaml.MappingNode, Tag: "!!map", Content: inside}))
	case of.Kind != strictyaml.SequenceNode:
		return ""
	case name == "choice":
		return fmt.Sprintf("{choice: {values: %s}}", strictyaml.Flow(of))
	case len(of.Content) == 2 && slices.Contains(param.Ranges.Names(), name):
		return fmt.Sprintf("{%s: {from: %s, to: %s}}", name, of.Content[0].Value, of.Content[1].Value)
	}
	return ""
}

// unquoted replaces arguments such as {rate} without quotes, which are mappings in YAML, by texts,
// and reports them.
func (d *decoder) unquoted(command *strictyaml.Node) {
	if command == nil || command.Kind != strictyaml.SequenceNode {
		return
	}
	for _, arg := range command.Content {
		if arg.Kind == strictyaml.MappingNode && len(arg.Content) == 2 && strictyaml.IsNull(arg.Content[1]) {
			text := "{" + arg.Content[0].Value + "}"
			d.At(arg, "%s needs quotes, as in \"%s\"; without them it is a mapping of YAML", text, text)
			arg.Kind, arg.Tag, arg.Value, arg.Content = strictyaml.ScalarNode, "!!str", text, nil
		}
	}
}

// ranged adds a hyperparameter to the space. The hyperparameters in its conditions come before it.
func (d *decoder) ranged(r *ranged, all []*ranged, names []string, p *Program) {
	if r.begun {
		return
	}
	if example := r.example(); example != "" {
		r.begun = true
		d.At(r.value, "%s: write %s", r.key.Value, example)
		return
	}
	r.begun, r.refers = true, true
	defer func() { r.refers = false }()
	known := true // the hyperparameters of its conditions are in the space
	if when := r.option("when"); when != nil && when.Kind == strictyaml.MappingNode {
		for i := 0; i < len(when.Content); i += 2 {
			key := when.Content[i]
			at := slices.Index(names, key.Value)
			switch {
			case at < 0:
				d.At(key, "%s: when names %q, which is no hyperparameter%s", r.key.Value, key.Value,
					registry.Suggest(key.Value, names))
			case all[at].refers:
				d.At(key, "%s: when names %q, which is conditional on %s itself; leave out one of these conditions",
					r.key.Value, key.Value, r.key.Value)
			default:
				d.ranged(all[at], all, names, p)
			}
			known = known && at >= 0 && all[at].read
		}
	}
	of, _, ok := component(d, r.value, "range", param.Ranges)
	if !ok || !known {
		return
	}
	h, err := of.Spec(r.key.Value, p.Space)
	if err != nil {
		d.At(r.value, "%v", err)
		return
	}
	p.Space, r.read = append(p.Space, h), true
}

// leastAllowed is the least fraction of the points of a space that its constraints must allow.
const leastAllowed = 0.001

// where reads the constraints of the hyperparameters. If they forbid the initial values, a search
// starts at the nearest allowed point of many that has the values that the file gives for init.
func (d *decoder) where(n *strictyaml.Node, all []*ranged, p *Program) {
	if n == nil || strictyaml.IsNull(n) || slices.ContainsFunc(all, func(r *ranged) bool { return !r.read }) {
		return
	}
	nodes := []*strictyaml.Node{n}
	if n.Kind == strictyaml.SequenceNode {
		nodes = n.Content
	}
	before := d.Found.Found()
	for _, n := range nodes {
		if n.Kind != strictyaml.ScalarNode || n.Value == "" {
			d.At(n, "where is a condition such as \"lr * batch < 10\", or a list of several; found %s",
				strictyaml.Describe(n))
			continue
		}
		c, err := declared.Where(n.Value, p.Space)
		var mistake *declared.WhereError
		if errors.As(err, &mistake) {
			d.Found.AtPlace(placeWithin(d.Found.Place(n), n, mistake), "where: %v", mistake)
			continue
		}
		for i, h := range slices.Backward(p.Space) {
			if slices.Contains(c.Names, h.Name) { // the last one has it
				p.Space[i].Where = append(p.Space[i].Where, c)
				break
			}
		}
		p.Where = append(p.Where, c.Text)
	}
	if d.Found.Found() > before {
		return
	}
	var held []string
	for _, r := range all {
		if r.option("init") != nil {
			held = append(held, r.key.Value)
		}
	}
	share, start := p.Space.Allowed(held)
	switch {
	case share < leastAllowed:
		d.At(n, "where: %.2g %% of the points of the ranges satisfy it, less than %v %%; change it, or the ranges",
			100*share, 100*leastAllowed)
	case start == nil:
		d.At(n, "where: it does not hold at the initial values; give others by init of %s", strings.Join(held, ", "))
	default:
		for i, v := range start {
			p.Space[i].Init = v
		}
	}
}

// placeWithin is the place of a mistake in a text that is a node of the file.
func placeWithin(at strictyaml.Place, n *strictyaml.Node, mistake *declared.WhereError) strictyaml.Place {
	if plain := n.Style == 0; mistake.Line == 1 && (plain || strictyaml.Quoted(n)) {
		at.Column += mistake.Column - 1
		if !plain {
			at.Column++
		}
	}
	return at
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
	if len(names) == 1 && slices.Contains([]string{"yes", "no", "on", "off"}, strings.ToLower(names[0])) {
		d.At(n, "minimize: %s would be the name of a value; write true or false", names[0])
		return
	}
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
		p.Bounds = append(p.Bounds, schedule.Require{Name: key.Value, AtMost: of.AtMost, AtLeast: of.AtLeast})
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
	d.axesOf(strictyaml.Find(n, "grid"), space)
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

// axesOf replaces the choices that the axes of a grid list by their numbers, and the ends of log by
// their natural logarithms.
func (d *decoder) axesOf(grid *strictyaml.Node, space search.Space) {
	for _, h := range space {
		axis := strictyaml.Find(grid, h.Name)
		if axis == nil {
			continue
		}
		if h.Map != param.Choice {
			d.logarithms(h.Name, strictyaml.Find(axis, "log"))
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

// logarithms replaces the ends of an axis by their natural logarithms.
func (d *decoder) logarithms(name string, ends *strictyaml.Node) {
	if ends == nil || ends.Kind != strictyaml.SequenceNode {
		return
	}
	for _, end := range ends.Content {
		v, err := strconv.ParseFloat(end.Value, 64)
		if err != nil {
			continue // the decoder of the axis reports it
		}
		if !(v > 0) {
			d.At(end, "grid axis %q: log takes the first and the last value themselves, above 0, as in {log: [0.001, "+
				"1], points: 4}, not their logarithms", name)
			continue
		}
		end.Value = strconv.FormatFloat(math.Log(v), 'g', -1, 64)
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
