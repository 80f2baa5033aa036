package declared

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/types"
	"github.com/expr-lang/expr/vm"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/registry"
)

// whereFunctions are the functions of the expression language that a constraint can call.
var whereFunctions = []string{"abs", "ceil", "floor", "max", "min", "round"}

// WhereError is a mistake in the text of a constraint.
type WhereError struct {
	Line, Column int // place in the text, counted from 1
	Message      string
}

// Error implements error.
func (e *WhereError) Error() string { return e.Message }

// Where reads a constraint on hyperparameters, an expression such as `lr * batch < 10`. Whole
// numbers are integers in it, other numbers floating-point numbers, and choices have the types of
// the file. A point where the expression has no value, as after a division of integers by 0, is
// forbidden. The error is a WhereError.
func Where(text string, specs []param.Spec) (*param.Constraint, error) {
	named := tree{}
	for i, s := range specs {
		named.put(s.Name, i)
	}
	options := []expr.Option{expr.Env(named.types(specs)), expr.AsBool(), expr.Optimize(false),
		expr.DisableAllBuiltins()}
	for _, name := range whereFunctions {
		options = append(options, expr.EnableBuiltin(name))
	}
	program, err := expr.Compile(text, options...)
	if err != nil {
		return nil, misplaced(err, specs)
	}
	root, used := program.Node(), &reading{text: text, specs: specs}
	ast.Walk(&root, used)
	if used.err == nil && used.of == nil {
		used.err = &WhereError{1, 1, "it names no hyperparameter"}
	}
	if used.err != nil {
		return nil, used.err
	}
	c := &param.Constraint{Text: text}
	values := tree{}    // positions in c.Names
	var choices [][]any // the values of each choice, by position in c.Names; nil for a number
	for k, i := range used.of {
		var of []any
		for v := range specs[i].Choices {
			of = append(of, goValue(specs[i], float64(v)))
		}
		c.Names, choices = append(c.Names, specs[i].Name), append(choices, of)
		values.put(specs[i].Name, k)
	}
	c.Holds = func(x []float64) bool {
		holds, err := vm.Run(program, values.at(func(k int) any {
			if choices[k] != nil {
				return choices[k][int(x[k])]
			}
			return goValue(specs[used.of[k]], x[k])
		}))
		return err == nil && holds == true
	}
	return c, nil
}

// tree has hyperparameters by name, as numbers. A name with a dot is in the tree of its group.
type tree map[string]any

func (t tree) put(name string, number int) {
	group, rest, nested := strings.Cut(name, ".")
	if !nested {
		t[name] = number
		return
	}
	in, is := t[group].(tree)
	if !is {
		in = tree{}
		t[group] = in
	}
	in.put(rest, number)
}

// types are the types of the hyperparameters.
func (t tree) types(specs []param.Spec) types.Map {
	out := types.Map{}
	for name, of := range t {
		if group, is := of.(tree); is {
			out[name] = group.types(specs)
			continue
		}
		s := specs[of.(int)]
		out[name] = types.TypeOf(goValue(s, s.Lo))
		for k := 1; k < len(s.Choices); k++ {
			if !out[name].Equal(types.TypeOf(goValue(s, float64(k)))) {
				out[name] = types.Any
				break
			}
		}
	}
	return out
}

// at are the values of the hyperparameters.
func (t tree) at(value func(number int) any) map[string]any {
	out := make(map[string]any, len(t))
	for name, of := range t {
		if group, is := of.(tree); is {
			out[name] = group.at(value)
		} else {
			out[name] = value(of.(int))
		}
	}
	return out
}

// reading collects the hyperparameters that an expression names, and finds comparisons with texts
// that are no value of a choice.
type reading struct {
	text  string
	specs []param.Spec
	of    []int // indices of specs
	err   error
}

// Visit implements ast.Visitor.
func (r *reading) Visit(n *ast.Node) {
	if i := r.named(*n); i >= 0 && !slices.Contains(r.of, i) {
		r.of = append(r.of, i)
	}
	if of, is := (*n).(*ast.BinaryNode); is && slices.Contains([]string{"==", "!=", "in"}, of.Operator) {
		r.compared(of.Left, of.Right)
		r.compared(of.Right, of.Left)
	}
}

// named is the index of the hyperparameter that a node names, or -1.
func (r *reading) named(n ast.Node) int {
	name := pathOf(n)
	return slices.IndexFunc(r.specs, func(s param.Spec) bool { return s.Name == name })
}

// pathOf is the name that a node writes, such as model.lr; "": none.
func pathOf(n ast.Node) string {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return n.Value
	case *ast.MemberNode:
		if member, is := n.Property.(*ast.StringNode); is {
			return pathOf(n.Node) + "." + member.Value
		}
	}
	return ""
}

// compared checks that a text with which a choice is compared, or each of a list, is a value of it.
func (r *reading) compared(choice, with ast.Node) {
	i := r.named(choice)
	if i < 0 || r.specs[i].Choices == nil {
		return
	}
	all := []ast.Node{with}
	if list, is := with.(*ast.ArrayNode); is {
		all = list.Nodes
	}
	for _, n := range all {
		text, is := n.(*ast.StringNode)
		if !is || r.err != nil {
			continue
		}
		if _, err := r.specs[i].Value(param.Literal{Text: text.Value, JSON: strconv.Quote(text.Value)}); err != nil {
			place := (&file.Error{Location: n.Location()}).Bind(file.NewSource(r.text))
			r.err = &WhereError{place.Line, place.Column + 1, fmt.Sprintf("%q is no value of %s%s", text.Value,
				r.specs[i].Name, registry.Suggest(text.Value, r.specs[i].Choices))}
		}
	}
}

// goValue is a value in natural units as a Go value: a choice as the text, number, truth value or
// nil that the file gives, a whole number as an int, and another number as a float64.
func goValue(s param.Spec, v float64) any {
	switch s.Map {
	case param.Choice:
		var of any
		if err := json.Unmarshal([]byte(s.JSON(v)), &of); err != nil {
			panic(err) // cannot fail for JSON
		}
		if number, is := of.(float64); is && number == math.Round(number) && math.Abs(number) < 1<<53 {
			return int(number)
		}
		return of
	case param.Whole:
		return int(v)
	}
	return v
}

// misplaced is a mistake that the compiler of expressions has found.
func misplaced(err error, specs []param.Spec) *WhereError {
	var at *file.Error
	if !errors.As(err, &at) {
		return &WhereError{1, 1, err.Error() + "; write a condition, such as lr * batch < 10"}
	}
	message := at.Message
	for _, of := range []string{"unknown name ", "unknown field "} {
		if name, unknown := strings.CutPrefix(message, of); unknown {
			have := slices.Clone(whereFunctions)
			for _, s := range specs {
				have = append(have, s.Name)
			}
			message = fmt.Sprintf("%s%q%s", of, name, registry.Suggest(name, have))
		}
	}
	return &WhereError{at.Line, at.Column + 1, message}
}
