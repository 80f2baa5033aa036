package comparator

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// without returns the data without case i.
func without(d objective.Data, i int) objective.Data {
	n := d.X.N()
	x, y := mat.NewDense(n-1, d.X.Dim(), nil), make([]float64, 0, n-1)
	for j, row := 0, 0; j < n; j++ {
		if j != i {
			x.SetRow(row, d.X.X.RawRowView(j))
			y = append(y, d.Y.Value[j])
			row++
		}
	}
	return objective.Data{X: &kernel.Inputs{X: x}, Y: approx.Targets{Value: y}}
}

// TestLeastSquaresByDefinition refits without each case, using the objective's own regression.
func TestLeastSquaresByDefinition(t *testing.T) {
	d, z := blobs(40, 2, 21), blobs(20, 2, 22)
	l := LeastSquares{kernel: kernel.SE{}}
	f := fitted(t, l, d).(*regressions)
	regress := func(d objective.Data, theta []float64) *objective.Point {
		o, err := objective.New(l.model(), objective.LeaveOneOut{}, d)
		if err != nil {
			t.Fatal(err)
		}
		p, err := o.Fit(context.Background(), theta, nil)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	whole := d
	whole.Y = approx.Targets{Value: d.Y.Value}
	theta, total := []float64{0.2, -0.1, -0.7}, 0.0
	mean, variance, fit := l.leaveOut(theta, d.X, d.Y.Value, nil)
	all, none := make([]float64, 40), make([]float64, 40)
	regress(whole, theta).PredictMoments(all, none, d.X.Fresh())
	if !floats.EqualApprox(fit, all, 1e-9) {
		t.Errorf("means at the training cases %v, want %v", fit, all)
	}
	for i := range d.X.N() {
		m, v := []float64{0}, []float64{0}
		regress(without(d, i), theta).PredictMoments(m, v, &kernel.Inputs{X: d.X.X.Slice(i, i+1, 0, 2).(*mat.Dense)})
		if math.Abs(m[0]-mean[i]) > 1e-9 || math.Abs(v[0]-variance[i]) > 1e-9*v[0] {
			t.Fatalf("case %d left out: mean %v and variance %v, from all at once %v and %v", i, m[0], v[0], mean[i], variance[i])
		}
		total += distuv.Normal{Mu: m[0], Sigma: math.Sqrt(v[0])}.LogProb(d.Y.Value[i])
	}
	if got := regress(whole, theta).Value(); math.Abs(got-total) > 1e-8 {
		t.Errorf("leave-one-out log density %.10f, added up %.10f", got, total)
	}
	// Groups, by the same definition.
	groups := members(groupsOf(40))
	mean, variance, _ = l.leaveOut(theta, d.X, d.Y.Value, groups)
	for _, g := range groups {
		rest := d
		for k := range g {
			rest = without(rest, g[len(g)-1-k])
		}
		for _, i := range g {
			m, v := []float64{0}, []float64{0}
			regress(rest, theta).PredictMoments(m, v, &kernel.Inputs{X: d.X.X.Slice(i, i+1, 0, 2).(*mat.Dense)})
			if math.Abs(m[0]-mean[i]) > 1e-9 || math.Abs(v[0]-variance[i]) > 1e-9*v[0] {
				t.Fatalf("case %d left out with its group: mean %v and variance %v, from all at once %v and %v", i, m[0], v[0], mean[i], variance[i])
			}
		}
	}
	// The hyperparameters found are a stationary point, to the accuracy that objective.Optimize accepts when rounding
	// stops it, and the probabilities follow their definition.
	gradient := make([]float64, 3)
	if err := f.points[0].Gradient(gradient); err != nil {
		t.Fatal(err)
	}
	for j, g := range gradient {
		if math.Abs(g) > 1e-4*max(1, math.Abs(f.points[0].Value())) {
			t.Errorf("derivative %v by hyperparameter %d at the chosen ones", g, j)
		}
	}
	p, s := predicted(f, z.X, 2), f.sigmoids[0]
	m, v := make([]float64, 20), make([]float64, 20)
	regress(whole, f.points[0].Theta).PredictMoments(m, v, z.X)
	for i := range 20 {
		want := distuv.UnitNormal.CDF((s.alpha*m[i] + s.beta) / math.Sqrt(1+s.alpha*s.alpha*v[i]))
		if math.Abs(p.At(i, 1)-want) > 1e-12 {
			t.Errorf("case %d: probability %v, want %v", i, p.At(i, 1), want)
		}
	}
}

// groupsOf returns groups of one to four cases, which are not next to each other.
func groupsOf(n int) (groups []string) {
	for i := range n {
		groups = append(groups, string(rune('a'+i*i%17)))
	}
	return groups
}

// TestLeastSquaresOfGroups: the hyperparameters found are a stationary point of the leave-group-out log density, and
// α and β are fitted to the leave-group-out predictions.
func TestLeastSquaresOfGroups(t *testing.T) {
	d := blobs(80, 2, 21)
	d.Groups = groupsOf(80)
	l := LeastSquares{kernel: kernel.SE{}}
	f := fitted(t, l, d).(*regressions)
	o, err := objective.New(l.model(), objective.LeaveGroupOut{Groups: members(d.Groups)}, objective.Data{X: d.X, Y: approx.Targets{Value: d.Y.Value}})
	if err != nil {
		t.Fatal(err)
	}
	at := func(theta ...float64) *objective.Point {
		p, err := o.Fit(context.Background(), theta, nil)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	gradient := make([]float64, 3)
	if err := at(0.2, -0.1, -0.7).Gradient(gradient); err != nil {
		t.Fatal(err)
	}
	for j, g := range gradient {
		const h = 1e-5
		up, down := []float64{0.2, -0.1, -0.7}, []float64{0.2, -0.1, -0.7}
		up[j], down[j] = up[j]+h, down[j]-h
		value := at(up...).Value()
		if want := (value - at(down...).Value()) / (2 * h); math.Abs(g-want) > 1e-6*max(1, math.Abs(want), math.Abs(value)) {
			t.Errorf("derivative %v by hyperparameter %d, by differences %v", g, j, want)
		}
	}
	p := at(f.points[0].Theta...)
	if err := p.Gradient(gradient); err != nil {
		t.Fatal(err)
	}
	for j, g := range gradient {
		if math.Abs(g) > 1e-4*max(1, math.Abs(p.Value())) {
			t.Errorf("derivative %v by hyperparameter %d at the chosen ones", g, j)
		}
	}
	mean, variance, _ := l.leaveOut(p.Theta, d.X, d.Y.Value, members(d.Groups))
	if want := platt(d.Y.Value, mean, variance, nil); f.sigmoids[0] != want {
		t.Errorf("probabilities by %+v, want %+v", f.sigmoids[0], want)
	}
}

func TestLeastSquaresNoise(t *testing.T) {
	d := blobs(40, 2, 21)
	fixed, zero := 0.7, 0.0
	l := LeastSquares{kernel: kernel.SE{}}
	l.Noise.Fixed = &fixed
	natural := fitted(t, l, d).Summary().Natural
	if math.Abs(natural[2]-0.7) > 1e-12 || !l.Params(2, []string{"a", "b"})[2].Fixed {
		t.Errorf("fixed noise: %v", natural)
	}
	l.Noise.Fixed, l.Noise.Bare = nil, &fixed
	if l.Params(2, []string{"a", "b"})[2].Fixed {
		t.Error("a bare number holds the noise")
	}
	l.Noise.Bare, l.Noise.Bounds = nil, &[2]float64{0.3, 2}
	if init := l.Params(2, []string{"a", "b"})[2].Init; init != 0.3 {
		t.Errorf("the noise starts at %v, outside its bounds", init)
	}
	l.Noise.Bounds, l.Noise.Fixed = nil, &zero
	if l.Check() == nil {
		t.Error("noise 0: no error")
	}
	if name := l.Params(1, []string{"a", "b", "c"})[5].Name; name != "class[b].likelihood.noise" {
		t.Errorf("%q", name)
	}
}
