package data

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/experiments/data/sets"
)

// withInput is a copy of d with another input before all others.
func (d *Data) withInput(c Column, value func(i int) float64) *Data {
	n, columns := d.X.Dims()
	x := mat.NewDense(n, columns+1, nil)
	for i := range n {
		x.SetRow(i, append([]float64{value(i)}, d.X.RawRowView(i)...))
	}
	schema := *d.Schema
	schema.Inputs = append([]Column{c}, d.Schema.Inputs...)
	out := *d
	out.X, out.Schema = x, &schema
	return &out
}

// leaking are the inputs of leaks.
func leaking(d *Data) (names []string) {
	for _, l := range d.Leaks() {
		names = append(names, l.Input)
	}
	return names
}

// bundledClasses are the bundled sets with at least 150 cases, whose labels are classes.
func bundledClasses(t *testing.T) (all []*Data) {
	t.Helper()
	for _, set := range sets.Table {
		if set.Generated() || set.Rows < 150 || set.Classes == nil {
			continue
		}
		d, err := Load(Spec{Dataset: set.Name, Missing: "median"}, "", 1)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, d)
	}
	return all
}

// honest is a generated table of 200 cases. It has 3 numbers, one of them informative, a binary
// test that is right in 60 to 85 % of the cases, and a category that is right equally often.
func honest(seed uint64) *Data {
	rng := rand.New(rand.NewPCG(seed, 3))
	const n = 200
	right := 0.6 + 0.25*rng.Float64()
	d := &Data{X: mat.NewDense(n, 5, nil), Classes: []string{"no", "yes"}, Labels: make([]int, n), Schema: &Schema{
		Inputs: []Column{{Name: "age"}, {Name: "dose"}, {Name: "height"}, {Name: "test"},
			{Name: "ward", Levels: []string{"a", "b", "c", "d"}, Coded: true}}}}
	for i := range n {
		k := 0
		if rng.Float64() < 0.2+0.3*float64(seed%2) {
			k = 1
		}
		d.Labels[i] = k
		said := func() int {
			if rng.Float64() < right {
				return k
			}
			return 1 - k
		}
		d.X.SetRow(i, []float64{rng.NormFloat64() + 2*float64(k), rng.NormFloat64(), rng.ExpFloat64(), float64(said()),
			float64(said() + 2*rng.IntN(2))})
	}
	return d
}

// Of forty tables without a leak none has a name, and in twenty tables with a planted one this alone
// is named: exact copies of the label, copies in which 2 % of the labels are wrong, categories with
// several names for each class, and numbers that are only there for one class.
func TestLeaks(t *testing.T) {
	var tables []*Data
	tables = append(tables, bundledClasses(t)...)
	t.Logf("%d bundled sets", len(tables))
	for seed := uint64(0); len(tables) < 40; seed++ {
		tables = append(tables, honest(seed))
	}
	for i, d := range tables {
		if names := leaking(d); names != nil {
			t.Errorf("table %d, %s: %q", i, d.Name, names)
		}
	}
	for i := range 20 {
		d := tables[2*i]
		rng := rand.New(rand.NewPCG(uint64(i), 4))
		c, kind, classes := Column{Name: "planted"}, i%4, len(d.Classes)
		if kind == 2 {
			for l := range 3 * classes {
				c.Levels = append(c.Levels, fmt.Sprintf("%02d", l))
			}
			c.Coded = true
		}
		planted := d.withInput(c, func(i int) float64 {
			k := d.Labels[i]
			switch {
			case kind == 1 && rng.Float64() < 0.02:
				return float64((k + 1) % classes)
			case kind == 2:
				return float64(3*k + rng.IntN(3))
			case kind == 3 && k == 0:
				return math.NaN()
			case kind == 3:
				return float64(k) + 0.9*rng.Float64()
			}
			return float64(k)
		})
		if names := leaking(planted); !slices.Equal(names, []string{"planted"}) {
			t.Errorf("table %d, %s, leak %d: %q", 2*i, d.Name, kind, names)
		}
	}
}

// Few cases surprise less than many: a test that is right in all of 20 cases may be honest.
func TestFewCasesNameNoLeak(t *testing.T) {
	for n, want := range map[int]int{20: 0, 100: 1} {
		d := &Data{X: mat.NewDense(n, 1, nil), Classes: []string{"a", "b"}, Labels: make([]int, n),
			Schema: &Schema{Inputs: []Column{{Name: "copy"}}}}
		for i := range n {
			d.Labels[i] = i % 2
			d.X.Set(i, 0, float64(i%2))
		}
		if got := d.Leaks(); len(got) != want {
			t.Errorf("%d cases: %v", n, got)
		}
	}
}

// ofSizes is a generated table with classes of these sizes. Its inputs are two numbers, the second
// of them informative, and a test that names the class in the fraction right of the cases.
func ofSizes(rng *rand.Rand, right float64, sizes ...int) *Data {
	d := &Data{Schema: &Schema{Inputs: []Column{{Name: "noise"}, {Name: "dose"}, {Name: "test"}}}}
	var values []float64
	for k, n := range sizes {
		d.Classes = append(d.Classes, fmt.Sprint(k))
		for range n {
			said := k
			if rng.Float64() >= right {
				said = (k + 1 + rng.IntN(len(sizes)-1)) % len(sizes)
			}
			d.Labels = append(d.Labels, k)
			values = append(values, rng.NormFloat64(), rng.NormFloat64()+2*float64(k), float64(said))
		}
	}
	d.X = mat.NewDense(len(d.Labels), 3, values)
	return d
}

// With a rare class of any size the leak of the other classes is found: a number that names the
// class, and a copy of the label. A rare class adds no alarm to honest tables. Each of 20 000 tables
// had a test that is right in 85 % of the cases. With classes of 68, 48 and k cases an input was named
// in 10, 11 and 8 of them for k = 1, 2, 4, and in 5 without the third class. With (40, 10, 4, 3),
// (30, 8, 2) and (12, 12, 3) it was none.
func TestLeaksOfTablesWithRareClasses(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 5))
	for k := 1; k <= 8; k++ {
		d := ofSizes(rng, 0.7, 68, 48, k)
		grade := d.withInput(Column{Name: "grade"}, func(i int) float64 {
			return []float64{90, 80, 40}[d.Labels[i]] + 4*rng.Float64()
		})
		for _, of := range []*Data{grade, ofSizes(rng, 1, 68, 48, k)} {
			found := of.Leaks()
			if len(found) != 1 || found[0].Error != 0 || found[0].Rare != (k < leakFolds) {
				t.Errorf("%d cases of the rare class: %+v", k, found)
			}
		}
	}
	for range 200 {
		if found := ofSizes(rng, 0.85, 68, 48, 4).Leaks(); found != nil {
			t.Fatalf("an honest table: %+v", found)
		}
	}
	// One class of enough cases has no other to be told from.
	if found := ofSizes(rng, 1, 100, 4).Leaks(); found != nil {
		t.Errorf("of one class: %+v", found)
	}
}
