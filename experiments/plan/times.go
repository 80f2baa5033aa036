package plan

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sort"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/machine"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// FitTimes are expected times of the parts of a fit, in seconds of processor time.
type FitTimes struct {
	First    float64 // computations of kernels that are done once for their inputs
	Gram     float64 // the covariance matrix
	Fit      float64 // the iteration, from a cold start
	Again    float64 // the iteration, from the state of a nearby fit
	Gradient float64 // the adjoint
	Pullback float64 // the gradient of the hyperparameters from the adjoint
	Predict  float64 // all new cases
}

// Evaluation is the time of one evaluation with its gradient.
func (t FitTimes) Evaluation() float64 { return t.Gram + t.Fit + t.Pullback + t.Gradient }

// speed has factors of nominal times: cubic for operations that take n³, and rest for all others.
type speed struct{ cubic, rest float64 }

// Rates predict times. Nominal times have the right order of magnitude on any machine and the right
// growth with the size of the problem, so work can be divided by them, the same everywhere.
type Rates struct {
	measure func(m objective.Model, classes, dim int) (speed, error)
	known   map[string]speed // factors by kind of model; nil: nominal times
	last    speed
	spent   time.Duration
}

// Nominal are the rates that do not depend on the machine.
var Nominal = &Rates{}

// Measured are rates of this machine. Each kind of model is timed when its time is needed first.
// After some seconds of timing in all, further kinds get the speed of the last one.
func Measured(ctx context.Context) *Rates {
	return &Rates{known: map[string]speed{}, measure: func(m objective.Model, classes, dim int) (speed, error) {
		return measure(ctx, m, classes, dim)
	}}
}

// speed of a model; ok is false if it could not be measured.
func (r *Rates) speed(m objective.Model, classes, dim int) (s speed, ok bool) {
	const patience = 3 * time.Second
	if r.known == nil {
		return speed{1, 1}, true
	}
	kind := fmt.Sprint(approx.Table.NameOf(plain(m)), classes, dim)
	for _, l := range likelihood.Alternatives(m.Likelihood) {
		kind += fmt.Sprint(" ", likelihood.Table.NameOf(l))
	}
	for _, k := range m.Kernels {
		for _, leaf := range kernel.Leaves(k, dim) {
			kind += fmt.Sprint(" ", kernel.Table.NameOf(leaf.Kernel), len(leaf.Kernel.Params(leaf.Dim)))
		}
	}
	if s, ok := r.known[kind]; ok {
		return s, s != speed{}
	}
	if s = r.last; r.spent < patience || s == (speed{}) {
		began := time.Now()
		measured, err := r.measure(m, classes, dim)
		if r.spent += time.Since(began); err == nil {
			r.last = measured
		}
		s = measured
	}
	r.known[kind] = s
	return s, s != speed{}
}

// mostClasses is the number of classes that are timed at most: the nominal growth serves beyond.
const mostClasses = 5

// measure times the log evidence and its gradient on two small sets of data. It returns the speed
// for which the nominal times equal the measured ones.
func measure(ctx context.Context, m objective.Model, classes, dim int) (_ speed, err error) {
	m.Inference, _ = approx.With(m.Inference, nil)
	if a, ok := m.Inference.(approx.Shortened); ok {
		m.Inference, _ = a.Shortened()
	}
	classes = min(classes, mostClasses)
	var seconds, cubic, rest [2]float64
	for i, n := range []int{128, 512} {
		if seconds[i], err = evaluation(ctx, m, synthetic(n, dim, classes)); err != nil {
			return speed{}, err
		}
		size := approx.Size{Cases: n, Distinct: n, Classes: classes, Kernels: len(m.Kernels)}
		cubic[i] = speed{cubic: 1}.times(m, size, dim).Evaluation()
		rest[i] = speed{rest: 1}.times(m, size, dim).Evaluation()
	}
	return speedOf(cubic, rest, seconds), nil
}

// speedOf is the speed for which seconds = s.cubic cubic + s.rest rest at both sizes, with neither
// below 0.
func speedOf(cubic, rest, seconds [2]float64) speed {
	det := cubic[0]*rest[1] - cubic[1]*rest[0]
	s := speed{(seconds[0]*rest[1] - seconds[1]*rest[0]) / det, (cubic[0]*seconds[1] - cubic[1]*seconds[0]) / det}
	switch {
	case s.rest < 0:
		s = speed{cubic: seconds[1] / cubic[1]}
	case s.cubic < 0:
		s = speed{rest: seconds[1] / rest[1]}
	}
	return s
}

// evaluation is the processor time of a log evidence with its gradient.
func evaluation(ctx context.Context, m objective.Model, d objective.Data) (seconds float64, err error) {
	o, err := objective.New(m, objective.LogEvidence{}, d)
	if err != nil {
		return 0, err
	}
	seconds = machine.Seconds(func() {
		p, failed := o.Fit(ctx, o.Layout.Start(), nil)
		if failed == nil && o.HasGradient() {
			failed = p.Gradient(make([]float64, len(o.Layout.Free)))
		}
		err = cmp.Or(err, failed)
	})
	return seconds, err
}

// synthetic is a set of n cases with dim columns: overlapping classes, or numbers with noise.
func synthetic(n, dim, classes int) objective.Data {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	x, y := mat.NewDense(n, dim, nil), approx.Targets{Classes: classes}
	for i := range n {
		row := x.RawRowView(i)
		for j := range row {
			row[j] = rng.NormFloat64()
		}
		f := row[0] + math.Sin(2*row[1%dim]) + 0.5*rng.NormFloat64()
		switch {
		case classes == 0:
			y.Value = append(y.Value, f)
		case classes == 2:
			y.Value = append(y.Value, math.Copysign(1, f))
		default:
			y.Index = append(y.Index, int(min(max(f+float64(classes)/2, 0), float64(classes-1))))
		}
	}
	return objective.Data{X: &kernel.Inputs{X: x}, Y: y, Scaled: true}
}

// Times returns the times of a model; ok is false if they could not be measured.
func (r *Rates) Times(m objective.Model, s approx.Size, dim int) (t FitTimes, ok bool) {
	speed, ok := r.speed(m, s.Classes, dim)
	return speed.times(m, s, dim), ok
}

// times are the nominal times, multiplied. A kernel takes n²d once and n² per covariance, and its
// gradient n² per hyperparameter; a method takes terms in n³, n² and n per latent process. With m
// inducing inputs, kernels compute n m covariances, and a method takes about six passes of n m²
// instead of one of n³. The same is estimated for another structure of width m.
func (s speed) times(m objective.Model, size approx.Size, dim int) (t FitTimes) {
	n, known, passes := float64(size.Cases), float64(size.Cases), 1.0
	if width := m.Width(size.Cases, dim); width < size.Cases {
		known, passes = float64(width), 6
	}
	for _, k := range m.Kernels {
		for _, leaf := range kernel.Leaves(k, dim) {
			d := float64(leaf.Dim)
			// kernels share computations that are done once
			each := leaf.Share * s.rest * n * known
			t.First += each * (1e-10*d + 1e-9) / float64(len(m.Kernels))
			t.Gram += each * 1e-8
			t.Pullback += each * (1e-9*min(d, float64(len(leaf.Kernel.Params(leaf.Dim)))) + 1e-9)
		}
	}
	classes, pairs := float64(likelihood.Processes(m.Likelihood, size.Classes)), 1.0
	if _, each := m.Inference.(approx.OneVsRest); !each && passes > 1 {
		pairs = classes // joint classes need products for each pair
	}
	cube := passes * pairs * n * known * known
	apart := size
	apart.Distinct = size.Cases
	if m.Inference.Memory(size) != m.Inference.Memory(apart) {
		// equal cases are merged for the factorisation
		cube = math.Pow(float64(size.Distinct), 3)
	}
	square := n * known
	t.Fit = classes * (s.cubic*1e-10*cube + s.rest*(2e-8*passes*pairs*square+1e-6*n))
	t.Again = classes * (s.cubic*3e-11*cube + s.rest*(1e-8*passes*pairs*square+1e-6*n))
	if a, ok := m.Inference.(approx.Shortened); ok {
		_, more := a.Shortened()
		t.Fit, t.Again = more*t.Fit, more*t.Again
	}
	t.Gradient = classes * (s.cubic*5e-11*cube + s.rest*1e-8*passes*pairs*square)
	if held := float64(size.New); held > 0 {
		t.Predict = 2*held/n*t.Gram + classes*held*(s.cubic*1e-10*pairs*known*known+s.rest*(1e-8*known+1e-6))
	}
	return t
}

// plain is the method of the table, without options.
func plain(m objective.Model) approx.Approximation {
	if each, ok := m.Inference.(approx.OneVsRest); ok {
		return each.Binary
	}
	return m.Inference
}

// inducing is a number of inducing inputs that loses little accuracy on most problems, and faster
// is the speed-up over the exact method from which on they are recommended.
const (
	inducing = 500
	faster   = 10
)

// inducingFrom is the approximate number of cases from which on inducing inputs take a tenth of the
// time of the exact method, for one evaluation with its gradient, and the model with them.
func inducingFrom(m objective.Model, s approx.Size, dim int) (with objective.Model, cases int, err error) {
	with, ok := m, false
	if with.Inference, ok = objective.Induced(m.Inference, inducing); !ok {
		return m, 0, errors.ErrUnsupported
	}
	if _, err := with.Check(s.Classes); err != nil {
		return m, 0, err
	}
	gains := func(n int) bool {
		s.Cases, s.Distinct, s.New = n, n, 0
		exact, known := Nominal.Times(m, s, dim)
		less, _ := Nominal.Times(with, s, dim)
		return known && exact.Evaluation() >= faster*less.Evaluation()
	}
	const most = 1 << 24
	if !gains(most) {
		return m, 0, errors.ErrUnsupported
	}
	cases = inducing + 1 + sort.Search(most-inducing, func(k int) bool { return gains(inducing + 1 + k) })
	digits := math.Pow(10, math.Floor(math.Log10(float64(cases)))-1) // two significant digits
	return with, int(math.Ceil(float64(cases)/digits) * digits), nil
}
