package comparator

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// TestP1NNByDefinition compares with all distances computed in full, with more columns than are summed at a time.
func TestP1NNByDefinition(t *testing.T) {
	const n, dim = 60, 19
	spread := func(d objective.Data) objective.Data {
		x := mat.NewDense(d.X.N(), dim, nil)
		for i := range d.X.N() {
			for j := range dim {
				x.Set(i, j, d.X.X.At(i, j%2)*math.Sin(float64(j+1)))
			}
		}
		d.X = &kernel.Inputs{X: x}
		return d
	}
	d, z := spread(blobs(n, 3, 3)), spread(blobs(40, 3, 4))
	closest := func(to []float64, leave int) (at int) {
		best := math.Inf(1)
		for i := range n {
			if s := floats.Distance(d.X.X.RawRowView(i), to, 2); i != leave && s < best {
				at, best = i, s
			}
		}
		return at
	}
	// The leave-one-out likelihood of π on a grid has its maximum at the fitted value.
	right := 0.0
	for i, c := range d.Y.Index {
		if d.Y.Index[closest(d.X.X.RawRowView(i), i)] == c {
			right++
		}
	}
	likelihood := func(pi float64) float64 { return right*math.Log(pi) + (n-right)*math.Log((1-pi)/2) }
	f := fitted(t, P1NN{}, d)
	pi := f.Summary().Natural[0]
	for step := 1; step < 1000; step++ {
		if other := float64(step) / 1000; likelihood(other) > likelihood(pi)+1e-12 {
			t.Fatalf("pi = %v is likelier than the fitted %v", other, pi)
		}
	}
	p, sure := predicted(f, z.X, 3), make([]float64, 40)
	f.(Confident).Confidence(sure, z.X)
	for i := range 40 {
		j := closest(z.X.X.RawRowView(i), -1)
		for c := range 3 {
			want := (1 - pi) / 2
			if d.Y.Index[j] == c {
				want = pi
			}
			if p.At(i, c) != want {
				t.Errorf("case %d, class %d: %v, want %v", i, c, p.At(i, c), want)
			}
		}
		if want := -floats.Distance(d.X.X.RawRowView(j), z.X.X.RawRowView(i), 2); math.Abs(sure[i]-want) > 1e-14 {
			t.Errorf("case %d: confidence %v, want %v", i, sure[i], want)
		}
	}
}

// Equally near cases vote together, in the fit and in predictions. π then maximises Σ ln(π s_i +
// (1-π)(1-s_i)), with s_i the fraction of the case's class in its vote.
func TestP1NNOfTies(t *testing.T) {
	of := func(x, y, weight []float64) objective.Data {
		return objective.Data{X: &kernel.Inputs{X: mat.NewDense(len(x), 1, x)}, Y: approx.Targets{Classes: 2, Value: y, Weight: weight}}
	}
	// Of the case at 5 the neighbours, at 2, are of both classes: s = ½ says nothing. 0 has the same
	// neighbours. Those at 2 have each other, of the other class: s = 0, 0, so that π = 0.
	d := of([]float64{0, 2, 2, 5}, []float64{-1, 1, -1, 1}, nil)
	f := fitted(t, P1NN{}, d)
	if pi := f.Summary().Natural[0]; pi != 0 {
		t.Errorf("pi = %v, want 0", pi)
	}
	if p := predicted(f, &kernel.Inputs{X: mat.NewDense(2, 1, []float64{1, 5})}, 2); math.Abs(p.At(0, 0)-1./3) > 1e-15 || p.At(1, 0) != 1 {
		t.Errorf("%v, want 1/3 and 1 of the first class", mat.Formatted(p))
	}
	// s is 2/3 three times, 0 once and 1 twice. The likelihood ((1+π)/3)³ (1-π) π² has its maximum
	// where 3/(1+π) - 1/(1-π) + 2/π = 0, that is 6π² - 2π - 2 = 0.
	d = of([]float64{1, 1, 1, 1, 9, 9}, []float64{1, 1, 1, -1, 1, 1}, nil)
	pi, want := fitted(t, P1NN{}, d).Summary().Natural[0], (1+math.Sqrt(13))/6
	if math.Abs(pi-want) > 1e-14 {
		t.Errorf("pi = %v, want %v", pi, want)
	}
	// The order of the cases does not matter. A weight is equivalent to repeated cases.
	for _, same := range []objective.Data{
		of([]float64{9, 1, 1, 9, 1, 1}, []float64{1, -1, 1, 1, 1, 1}, nil),
		of([]float64{1, 1, 9}, []float64{1, -1, 1}, []float64{3, 1, 2}),
	} {
		if got := fitted(t, P1NN{}, same).Summary().Natural[0]; math.Abs(got-pi) > 1e-14 {
			t.Errorf("pi = %v, want %v", got, pi)
		}
	}
	// Rounding makes no neighbour nearer than another.
	third := of([]float64{0.1, 0.3, 7, 7.5}, []float64{-1, 1, 1, -1}, nil)
	if p := predicted(fitted(t, P1NN{}, third), &kernel.Inputs{X: mat.NewDense(1, 1, []float64{0.2})}, 2); p.At(0, 0) != 0.5 {
		t.Errorf("between two cases: %v", mat.Formatted(p))
	}
	// Where votes have no information, π is ½, as by chance.
	blind := of([]float64{0, 0, 0, 0, 0, 0}, []float64{1, 1, 1, -1, -1, -1}, []float64{1, 1, 1, 1, 1, 1})
	blind.Groups = []string{"a", "b", "c", "a", "b", "c"}
	if got := fitted(t, P1NN{}, blind).Summary().Natural[0]; got != 0.5 {
		t.Errorf("pi = %v, want ½", got)
	}
}

// TestP1NNOfWeights: when a case of weight 2 or more is left out, equal cases stay, and vote
// together with other cases of the same inputs.
func TestP1NNOfWeights(t *testing.T) {
	of := func(weight ...float64) float64 {
		d := objective.Data{X: &kernel.Inputs{X: mat.NewDense(4, 1, []float64{0, 2, 3, 5})},
			Y: approx.Targets{Classes: 2, Value: []float64{-1, 1, -1, 1}, Weight: weight}}
		return fitted(t, P1NN{}, d).Summary().Natural[0]
	}
	// Neighbours of 0, 2, 3 and 5 are 2, 3, 2 and 3: none is of the case's class.
	for _, c := range []struct{ got, want float64 }{
		{of(2, 1, 1, 1), 2.0 / 5}, {of(1, 1, 3, 1), 3.0 / 6}, {of(1, 3, 1, 2), 5.0 / 7}, {of(1.5, 1, 1, 1), 0},
	} {
		if math.Abs(c.got-c.want) > 1e-15 {
			t.Errorf("pi = %v, want %v", c.got, c.want)
		}
	}
}

// TestP1NNOnDigits: the values were computed from the definition with numpy.
func TestP1NNOnDigits(t *testing.T) {
	train, test := digits(t, "train"), digits(t, "test")
	f := fitted(t, P1NN{}, train)
	if pi := f.Summary().Natural[0]; math.Abs(pi-0.9595827900912647) > 1e-15 {
		t.Errorf("pi = %v", pi)
	}
	wrong, bits := scores(t, f, train, test)
	if wrong != 20 || math.Abs(bits-0.8178358748) > 1e-9 {
		t.Errorf("%d errors, %.10f bits; want 20 and 0.8178358748", wrong, bits)
	}
}
