package data

import (
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
	"github.com/gpc-tune/gpc-tune/internal/cause"
)

// One line describes the label, the inputs, and the columns left out.
func TestAbout(t *testing.T) {
	two := func() *Data {
		return &Data{Classes: []string{"no", "yes"}, Labels: []int{0, 1, 1}, ColumnNames: []string{"a", "b"},
			Schema: &Schema{Label: Column{Name: "y"}, Inputs: []Column{{Name: "a"}, {Name: "b"}}}}
	}
	for _, c := range []struct {
		spec   Spec
		change func(d *Data)
		want   string
	}{
		{Spec{}, func(d *Data) { d.Guessed = true }, "y (guessed: no label is declared): no (1), yes (2); from 2 inputs"},
		{Spec{Label: "y"}, func(*Data) {}, "y: no (1), yes (2); from 2 inputs"},
		{Spec{Label: "y", Group: "who"}, func(d *Data) { d.Groups = []string{"b", "a", "b"} }, "y: no (1), yes (2); from 2 inputs; 2 groups by who"},
		{Spec{Label: "y", Duplicates: "together"}, func(d *Data) { d.Groups = []string{"0", "1", "0"} }, "y: no (1), yes (2); from 2 inputs; 2 groups by equal rows"},
		{Spec{Dataset: "crabs"}, func(*Data) {}, "y: no (1), yes (2); from 2 inputs"},
		{Spec{Label: "y"}, func(d *Data) { d.Schema.Inputs = d.Schema.Inputs[:1] }, "y: no (1), yes (2); from 1 input, coded in 2 columns"},
		{Spec{Label: "y"}, func(d *Data) { d.Classes, d.Labels, d.Targets = nil, nil, []float64{2.5, -1, 1e7} }, "y: numbers, -1 to 1e+07; from 2 inputs"},
		{Spec{Label: "y", Classes: []cells.Name{"no", "yes"}, Subsample: 3},
			func(d *Data) {
				d.OtherClasses = []Count{{Class: "maybe", N: 3}, {Class: "never", N: 1}}
				d.LeftOut = []LeftOut{{"u", "dropped"}, {"v", "dropped"}, {"k", "id"}, {"g", "group"}, {"w", "weights"}, {"n", "counts"}}
				d.Warnings = []cause.Notice{{Kind: cause.Dropped, Cases: 4, Text: "no label"}, {Kind: cause.Failure, Cases: 5, Text: "else"}}
			},
			"y: no (1), yes (2); from 2 inputs; left out: u, v (dropped), k (id), g (group), w (weights), n (counts), " +
				"maybe (3), never (1) (not in classes), all other cases (subsample), cases: 4 (no label)"},
	} {
		d := two()
		c.change(d)
		if got := d.about(c.spec); got != c.want {
			t.Errorf("%+v:\n%s\nwant\n%s", c.spec, got, c.want)
		}
	}
}
