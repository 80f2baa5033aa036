package spec

import (
	"strings"
	"testing"
)

// Nested names reach JSON nested, a group where its first member stands, and arguments as they are.
func TestNestedNames(t *testing.T) {
	const file = "program:\n  command: [train, '{model.lr}', '{opt.adam.beta}']\n  input: json\n  hyperparameters:\n" +
		"    model.lr: {linear: {from: 0, to: 1}}\n    seed: {whole: {from: 1, to: 4}}\n" +
		"    model.depth: {whole: {from: 1, to: 4}}\n    opt.adam.beta: {linear: {from: 0, to: 1}}\n"
	s, err := Parse("a.yaml", []byte(file), nil)
	if err != nil {
		t.Fatal(err)
	}
	x := []float64{0.5, 2, 3, 0.25}
	const want = `{"model": {"lr": 0.5, "depth": 3}, "seed": 2, "opt": {"adam": {"beta": 0.25}}}`
	if got := s.Program.JSON(x); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if args := strings.Join(s.Program.Arguments(x), " "); args != "train 0.5 0.25" {
		t.Error(args)
	}
	_, err = Parse("a.yaml", []byte(file+"    model: {linear: {from: 0, to: 1}}\n"), nil)
	if err == nil || !strings.Contains(err.Error(), "one of them is a group") {
		t.Errorf("a group that is a value too: %v", err)
	}
}
