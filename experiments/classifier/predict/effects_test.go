package predict

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/classifier/explain"
	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
)

// coloured is a classifier of cases whose label is the colour, but for a fifth of them, with an
// ordered input, a number and a date that mean nothing. It also returns the file of the cases.
func coloured(t *testing.T, inference string) (*Classifier, string) {
	t.Helper()
	text := "colour,grade,size,day,label\n"
	for i := range 60 {
		label := []string{"yes", "no", "no"}[i%3]
		if i%5 == 0 {
			label = "yes"
		}
		text += fmt.Sprintf("%s,%s,%d.%d,2024-0%d-1%d,%s\n", []string{"red", "green", "blue"}[i%3],
			[]string{"low", "mid", "high"}[i*7%11%3], i*13%17, i%10, 1+i*5%7, i*3%9, label)
	}
	file := filepath.Join(t.TempDir(), "cases.csv")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	p := plantest.Planned(t, fmt.Sprintf("data: {train: %s, label: label, categorical: one_hot, preprocess: standardize, "+
		"columns: {grade: {ordered: [low, mid, high]}, day: {date: {form: ymd, parts: [month, weekday]}}}}\n"+
		"model: {kernel: se, likelihood: logit, inference: %s}\ntune: none\n", file, inference))
	c, err := LoadClassifier(fitted(t, p, 0))
	if err != nil {
		t.Fatal(err)
	}
	return c, file
}

// A category and a date are one input each, whatever the number of their columns. The label follows
// the colour, so this is the most important. Every format writes the same effects without a NaN.
func TestEffectsOfAModelFile(t *testing.T) {
	for _, inference := range []string{"laplace", "logistic_regression"} {
		c, file := coloured(t, inference)
		e, err := c.Effects(t.Context(), file, EffectOptions{Repeats: 3, Seed: 1, Pairs: []string{"size, colour"},
			Inputs: []string{"colour", "grade", "size", "day"}})
		if err != nil {
			t.Fatal(err)
		}
		var inputs []string
		for _, of := range e.Importance {
			inputs = append(inputs, of.Input)
		}
		if len(inputs) != 4 || inputs[0] != "colour" || e.Scored != 60 || e.Importance[0].Bits <= e.Importance[0].Noise {
			t.Errorf("%s: %+v", inference, e.Importance)
		}
		seen := map[string]int{}
		for _, of := range e.Curves {
			seen[of.Input+of.Given]++
			if banded := of.Lo != nil; banded != (inference == "laplace") {
				t.Errorf("%s: %+v", inference, of)
			}
			if of.Input == "colour" && strings.Join(of.Names, " ") != "blue green red" ||
				of.Input == "grade" && strings.Join(of.Names, " ") != "low mid high" {
				t.Errorf("%s has the points %v", of.Input, of.Names)
			}
		}
		for _, name := range []string{"colour", "grade", "size", "day month (sine)", "day weekday (cosine)", "sizecolour = red"} {
			if seen[name] == 0 {
				t.Errorf("%s: no curve of %s in %v", inference, name, seen)
			}
		}
		for _, form := range explain.Forms {
			var text bytes.Buffer
			if err := form.Render(&text, e); err != nil || strings.Contains(strings.ReplaceAll(text.String(), "isNaN", ""), "NaN") ||
				text.Len() < 500 {
				t.Errorf("%s as %s: %v, %d bytes", inference, form.Name, err, text.Len())
			}
		}
	}
}

// The base is the information of the predictions, as predict scores them.
func TestEffectsHaveTheScoreOfThePredictions(t *testing.T) {
	c, file := coloured(t, "laplace")
	e, err := c.Effects(t.Context(), file, EffectOptions{Repeats: 2, Seed: 1})
	if err != nil {
		t.Fatal(err)
	}
	predicted, err := c.Predict(file, spec.Deciding{})
	if err != nil {
		t.Fatal(err)
	}
	if want := predicted.Scores["information_bits"].Value; math.Abs(float64(e.Base-want)) > 1e-9 {
		t.Errorf("%v bits, predict says %v", e.Base, want)
	}
}

// Mistakes of the user are named.
func TestEffectsRefuse(t *testing.T) {
	c, file := coloured(t, "laplace")
	for _, of := range []struct {
		o    EffectOptions
		want string
	}{
		{EffectOptions{Repeats: 1}, "1 permutations"},
		{EffectOptions{Repeats: 2, Inputs: []string{"color"}}, `no input "color"; did you mean "colour"?`},
		{EffectOptions{Repeats: 2, Pairs: []string{"colour"}}, "with a comma between them"},
		{EffectOptions{Repeats: 2, Pairs: []string{"size,colr"}}, `no input "colr"`},
	} {
		if _, err := c.Effects(t.Context(), file, of.o); !errors.Is(err, spec.ErrInvalid) || !strings.Contains(err.Error(), of.want) {
			t.Errorf("%+v: %v", of.o, err)
		}
	}
}
