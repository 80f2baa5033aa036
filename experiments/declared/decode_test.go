package declared

import (
	"errors"
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// forms has an option of every form.
type forms struct {
	Number float64            `yaml:"number" within:"(0,10]"`
	Count  uint8              `yaml:"count"`
	Flag   bool               `yaml:"flag"`
	Text   string             `yaml:"text"`
	Word   word               `yaml:"word"`
	Level  level              `yaml:"level"`
	Pair   [2]float64         `yaml:"pair"`
	Some   []int              `yaml:"some" within:"[1,9]"`
	Maybe  *float64           `yaml:"maybe" within:"[0,1]"`
	By     map[string]float64 `yaml:"by"`
	Either either             `yaml:"either"`
	Later  *strictyaml.Node   `yaml:"later"`
	Odd    complex128         `yaml:"odd"`
}

type word string

func (w *word) UnmarshalText(text []byte) error { *w = word(text); return nil }

type level int

func (l *level) UnmarshalText(text []byte) error {
	if string(text) != "7" {
		return errors.New("no level " + string(text))
	}
	*l = 7
	return nil
}

// either is a list or a mapping.
type either struct {
	list []int
	by   map[string]int
}

func (e *either) List() any { return &e.list }
func (e *either) Map() any  { return &e.by }

// shape is one of a table whose names are options.
type shape interface{ area() float64 }

type round struct {
	Radius float64 `yaml:"radius"`
}

type square struct {
	Side float64 `yaml:"side"`
}

func (r round) area() float64  { return math.Pi * r.Radius * r.Radius }
func (s square) area() float64 { return s.Side * s.Side }

var _ = registry.Inlined(registry.Table[shape]{registry.Of[round, shape]("round", "a circle"),
	registry.Of[square, shape]("square", "a square")})

// into decodes a text.
func into(text string, v any) error {
	d := NewDecoder(strictyaml.NewFindings("f"))
	if n := strictyaml.Parse([]byte(text), d.Found); n != nil {
		d.Into(n, v)
	}
	return d.Found.Err()
}

// Every form of a value is read, an empty one is left as it is, and one value is a list of one.
func TestFormsOfValues(t *testing.T) {
	got := forms{Count: 3}
	err := into("{number: 10, count: ~, flag: true, text: hello, word: 0x10, level: 7, pair: [1, 2], "+
		"some: 4, maybe: 0.5, by: {a: 1, b: 2}, either: [3, 4], later: {x: [1]}}", &got)
	later := got.Later
	got.Later = nil
	want := forms{Number: 10, Count: 3, Flag: true, Text: "hello", Word: "0x10", Level: 7, Pair: [2]float64{1, 2},
		Some:  []int{4},
		Maybe: there(0.5), By: map[string]float64{"a": 1, "b": 2}, Either: either{list: []int{3, 4}}}
	if err != nil || !reflect.DeepEqual(got, want) || strictyaml.Flow(later) != "{x: [1]}" {
		t.Errorf("%+v, %s, error %v, want %+v", got, strictyaml.Flow(later), err, want)
	}
	for text, want := range map[string]either{"{either: {k: 5, l: 6}}": {by: map[string]int{"k": 5, "l": 6}},
		"{either: 5}": {list: []int{5}}} {
		var got forms
		if err := into(text, &got); err != nil || !reflect.DeepEqual(got.Either, want) {
			t.Errorf("%s: %+v, %v", text, got.Either, err)
		}
	}
}

// What cannot be read is a mistake at its place.
func TestMistakesInValues(t *testing.T) {
	for text, want := range map[string]string{
		"{number: [1]}":                  "1:10: expected a number, found a list",
		"{number: 0}":                    "1:10: number = 0 must be greater than 0 and at most 10; leave the key",
		"{number: 11}":                   "1:10: number = 11 must be greater than 0 and at most 10",
		"{numbr: 3}":                     `1:2: unknown key "numbr"; did you mean "number"? (have number, count, `,
		"{number: 1, number: 2}":         `1:13: duplicate key "number", first given at line 1`,
		"{[a]: 1}":                       "1:2: a key must be plain text, found a list",
		"[1]":                            "1:1: expected a mapping (key: value), found a list",
		"{count: 256}":                   "1:9: expected a whole number, 0 or more",
		"{text: ''}":                     "1:8: an empty text; write a value, or leave the key out",
		"{word: ''}":                     "1:8: an empty text; write a value, or leave the key out",
		"{level: 010}":                   `1:9: "010" has a leading zero`,
		"{level: 8}":                     "1:9: no level 8",
		"{pair: [1]}":                    "1:8: expected a list of 2 values, found a list",
		"{pair: 1}":                      `1:8: expected a list of 2 values, found "1"`,
		"{some: [1, ~]}":                 "1:12: expected an element, found nothing",
		"{some: [1, 10]}":                "1:12: some = 10 must be from 1 to 9",
		"{some: {}}":                     "1:8: expected a list, found a mapping",
		"{maybe: 2}":                     "1:9: maybe = 2 must be from 0 to 1",
		"{by: {a: b}}":                   `1:10: expected a number, found "b"`,
		"{odd: 1}":                       "1:7: the component declares an option of type complex128, which",
		strings.Repeat("x", 201) + ": 1": "1:1: unknown key",
	} {
		err := into(text, &forms{})
		if err == nil || !strings.HasPrefix(err.Error(), "f:"+want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", text, err, want)
		}
		// only a 0 has advice on what to write instead
		if err != nil && strings.Contains(err.Error(), "leave the key out for the default") != (text == "{number: 0}") {
			t.Errorf("%s: %v", text, err)
		}
	}
	// A number out of range keeps its previous value, so that the rest can be checked with it.
	f := forms{Number: 5}
	if err := into("{number: 11, text: rest}", &f); err == nil || f.Number != 5 || f.Text != "rest" {
		t.Errorf("%+v, %v", f, err)
	}
	var one struct {
		Shape shape `yaml:",inline"`
	}
	if err := into("{square: {side: 2}}", &one); err != nil || one.Shape != (square{2}) {
		t.Errorf("%+v, %v", one, err)
	}
	one.Shape = nil
	err := into("{round: {radius: 1}, square: {side: 2}}", &one)
	if err == nil || err.Error() != "f:1:22: round and square exclude each other; leave one out" {
		t.Error(err)
	}
}

// A component is a name, or a mapping with one.
func TestNamesOfComponents(t *testing.T) {
	for _, text := range []string{"{se: {}, noise: {}}", "[se, noise]", "[]", "~", "{[se]: {}}"} {
		d := NewDecoder(strictyaml.NewFindings("f"))
		n := strictyaml.Parse([]byte(text), d.Found)
		if _, _, ok := d.Named(n, "kernel"); ok || d.Found.Err() == nil ||
			!strings.HasPrefix(d.Found.Err().Error(),
				"f:1:1: expected a kernel: its name, or {name: {options}}, found ") {
			t.Errorf("%s: %t, %v", text, ok, d.Found.Err())
		}
	}
}

// The settings of a component are checked at their places, and it as a whole where it stands.
func TestSettingsAreChecked(t *testing.T) {
	of := func(text string, what func(d *Decoder, n *strictyaml.Node)) error {
		d := NewDecoder(strictyaml.NewFindings("f"))
		what(d, strictyaml.Parse([]byte(text), d.Found))
		return d.Found.Err()
	}
	lik := func(d *Decoder, n *strictyaml.Node) { d.likelihood(n) }
	mean := func(d *Decoder, n *strictyaml.Node) { d.mean(n) }
	kern := func(d *Decoder, n *strictyaml.Node) { d.kernel(n) }
	method := func(d *Decoder, n *strictyaml.Node) { d.Inference(n, "joint") }
	for _, c := range []struct {
		text, want string
		what       func(d *Decoder, n *strictyaml.Node)
	}{
		{"{noise: {amplitude: -1}}", "f:1:21: amplitude = -1 must be greater than 0", kern},
		{"{noisy_threshold: {epsilon: 2}}", "f:1:29: epsilon = 2 must be between 0 and 1", lik},
		{"{noisy_threshold: {epsilon: 0.7}}", "f:1:1: epsilon = 0.7 must be less than 0.5", lik},
		{"probits", `f:1:1: unknown likelihood "probits"; did you mean "probit"?`, lik},
		{"{constant: .inf}", "f:1:12: ", mean},
		{"svm", "f:1:1: svm is a comparator, which tunes only itself; name it in model: {inference: …}", method},
	} {
		if err := of(c.text, c.what); err == nil || !strings.HasPrefix(err.Error(), c.want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", c.text, err, c.want)
		}
	}
}

// An empty choice is the first, and the mistake of another is at its place, within a list too.
func TestChoices(t *testing.T) {
	d := NewDecoder(strictyaml.NewFindings("f"))
	parent := strictyaml.Parse([]byte("{classes: [joint, some]}"), d.Found)
	empty := ""
	if Choose(d, parent, "classes", &empty, ClassModes); empty != "joint" || d.Found.Err() != nil {
		t.Errorf("%q, %v", empty, d.Found.Err())
	}
	some := "some"
	Choose(d, parent, "classes", &some, ClassModes)
	if err := d.Found.Err(); err == nil ||
		!strings.HasPrefix(err.Error(), `f:1:19: unknown way to model classes "some"`) {
		t.Error(err)
	}
	places := d.Places(strictyaml.Parse([]byte("{a: 1, b: [2]}"), d.Found))
	want := map[string]strictyaml.Place{"a": {File: "f", Line: 1, Column: 5}, "b": {File: "f", Line: 1, Column: 11}}
	if !reflect.DeepEqual(places, want) {
		t.Errorf("%+v", places)
	}
	if len(d.Places(nil)) != 0 || len(d.Places(parent.Content[1])) != 0 {
		t.Error("places without keys")
	}
}

// Inputs from the same column share a length scale. Inputs of categories need a kernel for
// categories.
func TestModelsOnColumns(t *testing.T) {
	ard := Model{Model: objective.Model{Kernels: []kernel.Kernel{kernel.SE{ARD: true}}}}
	m, err := ard.OnColumns([]int{0, 0, 2}, nil)
	if err != nil || len(m.Kernels) != 1 || len(m.Kernels[0].Params(3)) != 3 || len(ard.Kernels[0].Params(3)) != 4 {
		t.Errorf("%+v, %v: want an amplitude and two length scales", m, err)
	}
	if _, err := ard.OnColumns([]int{0, 1}, []bool{true, false}); err == nil ||
		!strings.Contains(err.Error(), "no kernel uses the categories") {
		t.Error(err)
	}
	for lik, want := range map[likelihood.Likelihood]bool{nil: false, likelihood.Probit{}: false,
		likelihood.Table.Default("ordinal"): true} {
		m := Model{Model: objective.Model{Likelihood: lik}}
		if m.Ordered() != want {
			t.Errorf("%T: ordered %t", lik, m.Ordered())
		}
	}
}

// A missing part of a model is reported as missing, and a model with an empty part is not read.
func TestPartsLeftOut(t *testing.T) {
	found := strictyaml.NewFindings("f")
	null := strictyaml.Parse([]byte("~"), found)
	m := NewDecoder(found).Model(Nodes{Kernel: strictyaml.Parse([]byte("se"), found), Inference: null,
		Classes: "joint"}, objective.Averaged{})
	if w := m.Written; found.Err() != nil || w.Inference.Text != "" || w.Mean.Text != "zero" || w.Tuning.Text != "" ||
		w.Likelihood.Text != "" {
		t.Errorf("%+v, %v", w, found.Err())
	}
	texts := Texts{"se", "zero", "probit", "ep", "joint", "averaged"}
	if m := ReadModel(found, texts, "", true); m.Written.Tuning.Text != "ep" || found.Err() != nil {
		t.Errorf("%+v, %v", m.Written, found.Err())
	}
	for _, empty := range []string{" ", "null"} {
		texts.Kernel = empty
		if m := ReadModel(strictyaml.NewFindings("f"), texts, "", true); m.Likelihood != nil || m.Inference != nil {
			t.Errorf("%q for a kernel: %+v", empty, m)
		}
	}
	texts.Kernel, texts.Inference = "none", "base_rate"
	found = strictyaml.NewFindings("f")
	if ReadModel(found, texts, "", false); found.Err() == nil ||
		!strings.Contains(found.Err().Error(), `unknown kernel "none"`) {
		t.Errorf("without a use for its inference: %v", found.Err())
	}
	got, err := TextsOf(objective.Model{Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: likelihood.Probit{},
		Inference: approx.Laplace{}}, objective.Averaged{})
	if want := (Texts{"se", "zero", "probit", "laplace", "joint", "averaged"}); err != nil || got != want {
		t.Errorf("%+v, %v", got, err)
	}
}

// A comparator has the given kernel. A part that it refuses is a mistake at its position.
func TestComparatorsAreChecked(t *testing.T) {
	of := func(kernel, inference string) (Model, error) {
		found := strictyaml.NewFindings("f")
		m := ReadModel(found, Texts{Kernel: kernel, Mean: "none", Likelihood: "none", Inference: inference,
			Classes: "joint"}, "", true)
		return m, found.Err()
	}
	one, errOne := of("se", "svm")
	two, errTwo := of("matern52", "svm")
	if errOne != nil || errTwo != nil || reflect.DeepEqual(one.Comparator, two.Comparator) {
		t.Errorf("%v, %v: the same with another kernel: %+v", errOne, errTwo, two.Comparator)
	}
	for inference, want := range map[string]string{
		"{logistic_regression: {amplitude: -1}}": "f:1:1: amplitude = -1 must be greater than 0",
		"{svm: {cost: 1}}":                       `f:1:8: unknown key "cost"; did you mean "costs"?`,
	} {
		kernel := map[bool]string{true: "se", false: "none"}[strings.Contains(inference, "svm")]
		if _, err := of(kernel, inference); err == nil || !strings.HasPrefix(err.Error(), want) ||
			strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %s", inference, err, want)
		}
	}
}

type nameless struct{ param.InverseGamma }

// An option that has no text is an error, and a count is a decimal number.
func TestOptionsWithoutAText(t *testing.T) {
	k := kernel.SE{LengthScale: param.Setting{Init: there(2.0), Prior: nameless{}}}
	if got, err := text[kernel.Kernel](k, "kernel", kernel.Table); err == nil ||
		!strings.Contains(err.Error(), "a prior of type") {
		t.Errorf("%q, %v", got, err)
	}
	if got, err := scalar(reflect.ValueOf(uint(12))); err != nil || got != "12" {
		t.Errorf("%q, %v", got, err)
	}
}
