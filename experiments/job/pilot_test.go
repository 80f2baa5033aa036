package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// field is a set of n cases in a unit square, with classes of a latent process of standard deviation
// 3: a sum of 40 functions of one direction each. These are processes with exponential covariance
// if the field is rough, and cosines if it is smooth.
func field(n int, rough bool) *Set {
	rng := rand.New(rand.NewPCG(3, 4))
	d := &data.Data{X: mat.NewDense(n, 2, nil), Classes: []string{"a", "b"}, ColumnNames: []string{"u", "v"},
		Schema: &data.Schema{Inputs: []data.Column{{Name: "u"}, {Name: "v"}}}}
	for i := range n {
		d.X.SetRow(i, []float64{rng.Float64(), rng.Float64()})
	}
	f := make([]float64, n)
	const directions = 40
	for range directions {
		sin, cos := math.Sincos(math.Pi * rng.Float64())
		at, order := make([]float64, n), make([]int, n)
		for i := range n {
			at[i], order[i] = floats.Dot(d.X.RawRowView(i), []float64{sin, cos}), i
		}
		slices.SortFunc(order, func(i, j int) int { return cmp.Compare(at[i], at[j]) })
		w, last, shift := rng.NormFloat64(), at[order[0]], 2*math.Pi*rng.Float64()
		for _, i := range order {
			a := math.Exp(-(at[i] - last) / 0.1)
			w, last = a*w+math.Sqrt(1-a*a)*rng.NormFloat64(), at[i]
			if rough {
				f[i] += w
			} else {
				f[i] += math.Sqrt2 * math.Cos(6*at[i]+shift)
			}
		}
	}
	for i := range n {
		class := 0
		if 3*f[i]/math.Sqrt(directions)+rng.NormFloat64() > 0 {
			class = 1
		}
		d.Rows, d.Labels = append(d.Rows, i), append(d.Labels, class)
	}
	return WholeSet(d, data.Spec{})
}

// shuffled is a set with the same cases in another order.
func shuffled(t *Set) *Set {
	d := *t.Source
	order := rand.New(rand.NewPCG(5, 6)).Perm(len(d.Rows))
	d.X, d.Labels = data.PickRows(d.X, order), data.Pick(d.Labels, order)
	return WholeSet(&d, data.Spec{})
}

// settled is a choice.
type settled struct {
	structure approx.Structure
	text, why string
}

// settle is the choice for a model by a pilot of some cases.
func settle(t *testing.T, s *Set, m objective.Model, some int) (chosen settled) {
	t.Helper()
	var err error
	if chosen.structure, chosen.text, chosen.why, err = s.settle(t.Context(), m, objective.LogEvidence{}, some); err != nil {
		t.Fatal(err)
	}
	return chosen
}

func modelOf(k kernel.Kernel) objective.Model {
	return objective.Model{Kernels: []kernel.Kernel{k}, Likelihood: likelihood.Probit{},
		Inference: approx.Laplace{Structure: objective.Auto}}
}

// A rough field of two inputs gets neighbours, and a smooth one inducing inputs. The choice is the
// same for every order of the cases and for every number of threads.
func TestAPilotChoosesTheStructure(t *testing.T) {
	rough, smooth := field(1600, true), field(1600, false)
	if got := settle(t, smooth, modelOf(kernel.SE{}), 800); got.structure != (objective.Inducing{Points: 200}) || got.text != "inducing: 200" {
		t.Errorf("a smooth field: %+v", got)
	}
	got := settle(t, rough, modelOf(kernel.Matern12{}), 800)
	if !strings.Contains(got.text, "neighbours: 10") || !strings.HasPrefix(got.why, "structure: auto takes "+got.text+" for 1600 cases") {
		t.Errorf("a rough field: %+v", got)
	}
	linalg.SetThreads(3)
	defer linalg.SetThreads(1)
	if again := settle(t, shuffled(rough), modelOf(kernel.Matern12{}), 800); again != got {
		t.Errorf("%+v, in another order %+v", got, again)
	}
}

// The choice is the least log loss, with 0.002 bits for each doubling of the operations. All numbers
// are computed here again: the parts of the pilot, its fits with fewer inducing inputs, and the
// operations for all cases.
func TestThePilotWeighsLossAndOperations(t *testing.T) {
	set := field(900, true)
	chosen := settle(t, set, modelOf(kernel.Matern32{}), 400)
	pilot := set.pilot(400)
	if held := len(pilot.Test); held != 133 || len(pilot.Train) != 267 {
		t.Fatalf("%d held out, %d trained on", held, len(pilot.Train))
	}
	p, err := pilot.Prepare()
	if err != nil {
		t.Fatal(err)
	}
	inducing := func(m int) objective.Inducing { return objective.Inducing{Points: m} }
	near, width := objective.Neighbours{Count: 10}, 0.6*10/2*math.Sqrt(900)
	best, least := "", math.Inf(1)
	for _, of := range []struct {
		text       string
		used       approx.Structure
		operations float64
	}{
		{"inducing: 200", inducing(133), 6 * 900 * 200 * 200},
		{"inducing: 500", inducing(333), 6 * 900 * 500 * 500},
		{"neighbours: 10", near, 24 * 900 * width * width},
		{"inducing: 200, neighbours: 10", objective.FullScale{Inducing: inducing(133), Neighbours: near},
			24 * 900 * (200 + width) * (200 + width)},
	} {
		m := modelOf(kernel.Matern32{})
		m.Inference = approx.Laplace{Structure: of.used}
		o, err := objective.New(m, objective.LogEvidence{}, p.Data)
		if err != nil {
			t.Fatal(err)
		}
		top, err := objective.Optimize(t.Context(), o, o.Layout.Pick(o.Layout.Start()), objective.Settings{Evaluations: 20})
		if err != nil {
			t.Fatal(err)
		}
		fit, err := o.At(t.Context(), top.Theta)
		if err != nil {
			t.Fatal(err)
		}
		proba, loss := mat.NewDense(133, 2, nil), 0.0
		fit.PredictProba(proba, p.Held, objective.Averaged{})
		for i, row := range pilot.Test {
			loss -= math.Log2(proba.At(i, set.Source.Labels[row])) / 133
		}
		if want := fmt.Sprintf("%.4f with %s", loss, of.text); !strings.Contains(chosen.why, want) {
			t.Errorf("%q lacks %q", chosen.why, want)
		}
		if value := loss + 0.002*math.Log2(of.operations); value < least {
			best, least = of.text, value
		}
	}
	if chosen.text != best {
		t.Errorf("%q, want %q", chosen.text, best)
	}
}

// Few cases keep the matrix. Joint classes cannot have inducing inputs together with
// neighbours, which are left out, and five of them are too many for neighbours. Cases of one
// group are on one side of the pilot.
func TestCandidatesOfAPilot(t *testing.T) {
	set := field(500, false)
	if few := settle(t, set, modelOf(kernel.SE{}), 500); few.structure != nil || few.text != "" {
		t.Errorf("%+v", few)
	}
	for i := range set.Source.Labels {
		set.Source.Groups = append(set.Source.Groups, fmt.Sprint(i%7))
	}
	pilot := set.pilot(300)
	side := map[string]bool{}
	for _, row := range pilot.Train {
		side[set.Source.Groups[row]] = true
	}
	for _, row := range pilot.Test {
		if side[set.Source.Groups[row]] {
			t.Errorf("a case of group %s is held out", set.Source.Groups[row])
		}
	}
	set.Source.Groups, set.Source.Classes = nil, []string{"a", "b", "c"}
	for i := range set.Source.Labels {
		set.Source.Labels[i] = i % 3
	}
	m := modelOf(kernel.SE{})
	m.Likelihood = likelihood.Softmax{}
	if got := settle(t, set, m, 150); !strings.Contains(got.why, "with neighbours: 10;") {
		t.Errorf("%+v", got)
	}
	set.Source.Classes = []string{"a", "b", "c", "d", "e"}
	for i := range set.Source.Labels {
		set.Source.Labels[i] = i % 5
	}
	if got := settle(t, set, m, 150); got.text != "inducing: 200" || strings.Contains(got.why, "neighbours") {
		t.Errorf("%+v", got)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, _, err := set.settle(ended, m, objective.LogEvidence{}, 150); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// withoutGradient is the log evidence without its gradient.
type withoutGradient struct{ objective.LogEvidence }

func (withoutGradient) Uses(approx.Caps) (bool, error) { return false, nil }

// A candidate whose fit stops before it converges is left out, with a gradient and without.
func TestCandidatesMustConverge(t *testing.T) {
	m := modelOf(kernel.SE{})
	m.Inference = approx.Laplace{Structure: objective.Auto, MaxIterations: 1}
	for _, c := range []objective.Criterion{objective.LogEvidence{}, withoutGradient{}} {
		if _, text, _, err := field(60, true).settle(t.Context(), m, c, 30); !errors.Is(err, approx.ErrNotConverged) {
			t.Errorf("%T: %q, %v", c, text, err)
		}
	}
}
