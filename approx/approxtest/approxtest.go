// Package approxtest contains the checks that every method of approximate inference must pass:
//
//	func TestMine(t *testing.T) { approxtest.Check(t, Mine{}) }
//
// The checks use the interfaces of package approx only: a method's own tests compare it with an
// independent reference.
//
// Which checks apply depends on what a method declares, never on its name: on approx.Caps
// (Gradient, LeaveOneOutGradient, Sampled, Ordered), an empty State, Diagnostics.Floors and Jitter,
// the options tolerance and max_iterations, and approx.Shortened.
//
// Each likelihood is tried at a part of the hyperparameters, so that all are tried with some. With
// the environment variable GPC_TUNE_TEST_ALL=1 each is tried at all of them.
package approxtest

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
)

// Check runs all checks of m: with every likelihood of likelihood.Table that it accepts, on two
// classes and on numbers, for ordinary and extreme covariances. It also checks the errors for what
// m refuses.
func Check(t *testing.T, m approx.Approximation) {
	t.Helper()
	each(t, m, check.run)
	t.Run("options", func(t *testing.T) { options(t, m) })
}

// CheckWeights runs the checks of weights alone, which Check includes.
func CheckWeights(t *testing.T, m approx.Approximation) {
	t.Helper()
	each(t, m, check.weights)
}

// each runs checks of m with every likelihood that it accepts.
func each(t *testing.T, m approx.Approximation, run func(c check, t *testing.T)) {
	t.Helper()
	takes := 0
	for _, e := range likelihood.Table {
		lik, err := e.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, classes := range []int{0, 2, 4} {
			name := fmt.Sprintf("%s, %d classes", e.Name, classes)
			lik := likelihood.On(lik, classes)
			caps, err := approx.Uses(m, lik, classes)
			if err != nil {
				if len(err.Error()) < 20 {
					t.Errorf("%s: refused without a reason: %v", name, err)
				}
				continue
			}
			takes++
			if caps.Sampled && takes > 1 {
				continue // chains are slow, and do not depend on the likelihood
			}
			c := check{cell: takes, method: m, lik: AtInit(lik), classes: classes, caps: caps}
			t.Run(name, func(t *testing.T) { run(c, t) })
		}
	}
	if takes == 0 {
		t.Error("it takes no likelihood of the table")
	}
}

func (c check) run(t *testing.T) {
	if a, ok := c.method.(approx.Shortened); ok {
		c.method, _ = a.Shortened()
	}
	one := c.one()                  // latent process
	fixed := one && !c.caps.Sampled // the method is deterministic
	gradient := fixed && c.caps.Gradient
	for i, part := range []struct {
		name  string
		check func(t *testing.T)
		runs  bool
	}{
		{"stops", c.stops, true},
		{"memory", c.memory, true},
		{"weights", c.weights, true},
		{"defaults", c.defaults, one},
		{"bad covariances", c.badCovariances, one},
		{"beyond double precision", c.beyondDoublePrecision, fixed},
		{"adjoint through a kernel", c.adjointThroughKernel, gradient},
		{"adjoint of entries", c.adjointOfEntries, gradient},
		{"invariance", c.invariance, gradient},
		{"warm start", c.warmStart, gradient},
		{"always answers", c.alwaysAnswers, gradient},
		{"adjoint of leave-one-out", c.leaveOneOutAdjoint, gradient && c.caps.LeaveOneOutGradient},
	} {
		if part.runs && exhaustive.Tries(2, c.cell, i) {
			t.Run(part.name, part.check)
		}
	}
}

// adjointThroughKernel compares the adjoint with central differences of the evidence over the
// hyperparameters of a squared exponential, from priors much narrower to priors much wider than the
// likelihood.
func (c check) adjointThroughKernel(t *testing.T) {
	const h = 2e-5
	x, y := c.cases(15, 2)
	grid := []float64{-5, -2.5, 0, 2.5, 5}
	for i, logLength := range grid {
		for j, logAmp := range grid {
			if !exhaustive.Tries(5, c.cell, i, j) {
				continue
			}
			value := func(dl, da float64) float64 {
				k, _, _ := SquaredExponential(x, logLength+dl, logAmp+da)
				return c.fit(t, k, nil, y, nil).Evidence().Value()
			}
			k, byLength, byAmp := SquaredExponential(x, logLength, logAmp)
			post := c.fit(t, k, nil, y, nil)
			g := adjoint(t, post.Evidence(), len(y))
			got := []float64{along(g.K, byLength), along(g.K, byAmp)}
			want := []float64{(value(h, 0) - value(-h, 0)) / (2 * h), (value(0, h) - value(0, -h)) / (2 * h)}
			scale := max(1, math.Abs(want[0]), math.Abs(want[1]), math.Abs(post.Evidence().Value()))
			for i := range got {
				if !(math.Abs(got[i]-want[i]) <= 1e-6*scale) {
					t.Errorf("log l = %v, log sf = %v: gradient[%d] = %.10g, differences give %.10g",
						logLength, logAmp, i, got[i], want[i])
				}
			}
		}
	}
}

// adjointOfEntries compares the adjoint with central differences along random directions of K and
// of the prior mean.
func (c check) adjointOfEntries(t *testing.T) {
	const n, h = 15, 2e-5
	x, y := c.cases(n, 3)
	rng := rand.New(rand.NewPCG(3, 0))
	for _, logAmp := range []float64{-3, 0, 1.5} {
		k, _, _ := SquaredExponential(x, 0, logAmp)
		scale := math.Exp(2 * logAmp)
		mean := make([]float64, n)
		for i := range n {
			k.SetSym(i, i, k.At(i, i)+scale) // so that K + hE stays positive definite
			mean[i] = rng.NormFloat64()
		}
		g := adjoint(t, c.fit(t, k, mean, y, nil).Evidence(), n)
		for range 4 {
			e, em := mat.NewSymDense(n, nil), make([]float64, n)
			want := 0.0
			for i := range n {
				em[i] = rng.NormFloat64()
				want += g.Mean[i] * em[i]
				for j := i; j < n; j++ {
					e.SetSym(i, j, scale*rng.NormFloat64())
				}
			}
			want += along(g.K, e)
			value := func(h float64) float64 {
				kh, mh := mat.NewSymDense(n, nil), make([]float64, n)
				for i := range n {
					mh[i] = mean[i] + h*em[i]
					for j := i; j < n; j++ {
						kh.SetSym(i, j, k.At(i, j)+h*e.At(i, j))
					}
				}
				return c.fit(t, kh, mh, y, nil).Evidence().Value()
			}
			if got := (value(h) - value(-h)) / (2 * h); !near(got, want, 1e-6) {
				t.Errorf("log sf = %v: differences give %.10g, the adjoint %.10g", logAmp, got, want)
			}
		}
	}
}

// leaveOneOutAdjoint compares it with differences over hyperparameters and the prior mean. The sum
// is not stationary in the result of an iteration, so differences include the effect of its
// tolerance, which is therefore tightened.
func (c check) leaveOneOutAdjoint(t *testing.T) {
	const n, h = 25, 1e-4
	c.method = with(c.method, "tolerance", 1e-13)
	x, y := c.cases(n, 16)
	direction, mean := make([]float64, n), make([]float64, n)
	for i := range n {
		direction[i], mean[i] = x[i][0], 0.2*x[i][1]
	}
	for i, theta := range [][2]float64{{-2, 0}, {0, -3}, {0, 0}, {0.5, 1.5}, {1, 4}, {4, 1}, {5, 5}} {
		if !exhaustive.Tries(3, c.cell, i) {
			continue
		}
		leaveOneOut := func(dl, da, dm float64) approx.Functional {
			k, _, _ := SquaredExponential(x, theta[0]+dl, theta[1]+da)
			m := make([]float64, n)
			for i := range n {
				m[i] = mean[i] + dm*direction[i]
			}
			f, err := c.fit(t, k, m, y, nil).(approx.LeaveOneOut).LeaveOneOut()
			if err != nil {
				t.Fatal(err)
			}
			return f
		}
		_, byLength, byAmp := SquaredExponential(x, theta[0], theta[1])
		f := leaveOneOut(0, 0, 0)
		g := adjoint(t, f, n)
		byMean := mat.Dot(mat.NewVecDense(n, g.Mean), mat.NewVecDense(n, direction))
		got := []float64{along(g.K, byLength), along(g.K, byAmp), byMean}
		scale := max(1, math.Abs(f.Value()))
		for i, want := range []float64{
			(leaveOneOut(h, 0, 0).Value() - leaveOneOut(-h, 0, 0).Value()) / (2 * h),
			(leaveOneOut(0, h, 0).Value() - leaveOneOut(0, -h, 0).Value()) / (2 * h),
			(leaveOneOut(0, 0, h).Value() - leaveOneOut(0, 0, -h).Value()) / (2 * h),
		} {
			if !(math.Abs(got[i]-want) <= 1e-6*max(scale, math.Abs(want))) {
				t.Errorf("log l, log sf = %v: gradient[%d] = %.10g, differences give %.10g", theta, i, got[i], want)
			}
		}
	}
}

// invariance: the results do not depend on the order of the cases and the names of the classes.
func (c check) invariance(t *testing.T) {
	const n = 60
	x, y := c.cases(n, 4)
	k, _, _ := SquaredExponential(x, 0.3, 1.5)
	permutation := rand.New(rand.NewPCG(4, 0)).Perm(n)
	px, py, flipped := make([][]float64, n), make([]float64, n), make([]float64, n)
	for i, j := range permutation {
		px[i], py[i] = x[j], y[j]
		flipped[i] = -y[i]
	}
	pk, _, _ := SquaredExponential(px, 0.3, 1.5)
	want := c.fit(t, k, nil, y, nil).Evidence().Value()
	got := c.fit(t, pk, nil, py, nil).Evidence().Value()
	if same := near(got, want, 1e-10); !same && !c.caps.Ordered || same && c.caps.Ordered && c.classes == 2 {
		t.Errorf("permuted: %.14g, want %.14g; the method says of itself, ordered: %v", got, want, c.caps.Ordered)
	}
	if got := c.fit(t, k, nil, flipped, nil).Evidence().Value(); !near(got, want, 1e-10) {
		t.Errorf("flipped labels: %.14g, want %.14g", got, want)
	}
}

// warmStart: the state of a nearby fit saves iterations and does not change the result; the state
// of the fit itself restores it bit for bit.
func (c check) warmStart(t *testing.T) {
	x, y := c.cases(80, 5)
	var cold, warm int
	for i, theta := range [][2]float64{{0, 0}, {0.5, 2}, {1, 3}, {-1, 4}} {
		if !exhaustive.Tries(2, c.cell, i) {
			continue
		}
		neighbour, _, _ := SquaredExponential(x, theta[0]+0.05, theta[1]-0.05)
		k, byLength, byAmp := SquaredExponential(x, theta[0], theta[1])
		start := c.fit(t, neighbour, nil, y, nil).State()
		kept := slices.Clone(start)
		a, b := c.fit(t, k, nil, y, nil), c.fit(t, k, nil, y, start)
		if !slices.Equal(start, kept) {
			t.Error("Fit wrote to its start")
		}
		cold, warm = cold+a.Diagnostics().Iterations, warm+b.Diagnostics().Iterations
		if got, want := b.Evidence().Value(), a.Evidence().Value(); !near(got, want, 1e-9) {
			t.Errorf("%v: warm %.13g, cold %.13g", theta, got, want)
		}
		ga, gb := adjoint(t, a.Evidence(), len(y)), adjoint(t, b.Evidence(), len(y))
		for _, e := range []*mat.SymDense{byLength, byAmp} {
			if got, want := along(gb.K, e), along(ga.K, e); !near(got, want, 1e-8) {
				t.Errorf("%v: warm gradient %.13g, cold %.13g", theta, got, want)
			}
		}
		r, err := c.method.Restore(c.prior(k, nil), c.targets(y), c.lik, a.State())
		if err != nil {
			t.Fatal(err)
		}
		same := r.Evidence().Value() == a.Evidence().Value() && slices.Equal(r.State(), a.State())
		if !same || !r.Diagnostics().Converged {
			t.Errorf("%v: restored %v %+v, fitted %v",
				theta, r.Evidence().Value(), r.Diagnostics(), a.Evidence().Value())
		}
		if gr := adjoint(t, r.Evidence(), len(y)); !mat.Equal(gr.K, ga.K) || !slices.Equal(gr.Mean, ga.Mean) {
			t.Errorf("%v: restored adjoint differs", theta)
		}
		if !mat.Equal(c.predict(r, k), c.predict(a, k)) {
			t.Errorf("%v: restored predictions differ", theta)
		}
		if len(start) == 0 && warm != cold {
			t.Errorf("%d iterations from an empty state, %d from none", warm, cold)
		}
	}
	if one := cold <= 4; warm >= cold && !one { // a fit of about one step cannot become shorter
		t.Errorf("%d iterations from a neighbour's state, %d without", warm, cold)
	}
}

// alwaysAnswers: the result is finite over the whole range of hyperparameters, with any labels and
// with repeated cases. For more than two classes the widest priors are left out: with classes in
// order, two cut points bound f on both sides, and double precision does not suffice for that and a
// very wide prior.
func (c check) alwaysAnswers(t *testing.T) {
	x, y := c.cases(12, 6)
	x = append(x, x[0], x[0], x[1]) // the same case again, with the same label and with the other
	y = append(y, y[0], -y[0], -y[1])
	one := slices.Repeat([]float64{1}, len(y))
	steps := []float64{-10, -4, 0, 4, 7, 10}
	widest := 10.0
	if c.classes > 2 {
		widest = 4
	}
	for set, data := range []struct {
		name string
		x    [][]float64
		y    []float64
	}{
		{"both", x, y}, {"one class", x, one}, {"one case", x[:1], y[:1]},
		{"two cases", x[:2], []float64{-1, 1}}, {"contradiction", [][]float64{x[0], x[0]}, []float64{-1, 1}},
	} {
		for i, logLength := range steps {
			for j, logAmp := range steps {
				if logAmp > widest || !exhaustive.Tries(5, c.cell, set, i, j) {
					continue
				}
				at := fmt.Sprintf("%s: log l = %v, log sf = %v", data.name, logLength, logAmp)
				k, _, _ := SquaredExponential(data.x, logLength, logAmp)
				c.answers(t, at, k, data.y)
			}
		}
	}
}

func (c check) answers(t *testing.T, at string, k *mat.SymDense, y []float64) {
	post := c.fit(t, k, nil, y, nil)
	if v := post.Evidence().Value(); !(v < 0) && c.classes > 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		t.Errorf("%s: log evidence %v", at, v)
	}
	for _, g := range adjoint(t, post.Evidence(), len(y)).K.RawSymmetric().Data {
		if math.IsNaN(g) || math.IsInf(g, 0) {
			t.Fatalf("%s: adjoint holds %v", at, g)
		}
	}
	prob := c.predict(post, k)
	for i := range y {
		row := prob.RawRowView(i)
		if mean, variance := row[0], row[1]; c.classes == 0 && (math.IsNaN(mean) || !(variance >= 0)) {
			t.Errorf("%s: latent mean %v and variance %v", at, mean, variance)
		}
		if c.classes > 0 && !(slices.Min(row) >= 0 && math.Abs(floats.Sum(row)-1) <= 1e-15) {
			t.Errorf("%s: probabilities %v", at, row)
		}
	}
}

// badCovariances: covariances that hyperparameters can produce lead to errors and never to endless
// loops.
func (c check) badCovariances(t *testing.T) {
	x, y := c.cases(5, 7)
	fit := func(k *mat.SymDense, mean []float64) (approx.Posterior, error) {
		cov := []approx.Cov{{K: k, Mean: mean}}
		return c.method.Fit(context.Background(), cov, c.targets(y), c.lik, nil)
	}
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), -1e6} {
		k, _, _ := SquaredExponential(x, 0, 0)
		k.SetSym(2, 2, bad)
		if _, err := fit(k, nil); !errors.Is(err, approx.ErrNotPositiveDefinite) {
			t.Errorf("K[2,2] = %v: error %v", bad, err)
		}
	}
	// An indefinite K may go undetected if the method does not test it; the largest variances may
	// overflow.
	indefinite, _, _ := SquaredExponential(x, 0, 0)
	indefinite.SetSym(1, 3, 1e4)
	huge, _, _ := SquaredExponential(x, 0, 354)
	for _, k := range []*mat.SymDense{indefinite, huge} {
		post, err := fit(k, nil)
		if err != nil || c.caps.NoEvidence {
			continue
		}
		if v := post.Evidence().Value(); math.IsNaN(v) || math.IsInf(v, 0) {
			t.Errorf("log evidence %v without an error", v)
		}
	}
	k, _, _ := SquaredExponential(x, 0, 0)
	if _, err := fit(k, []float64{0, math.NaN(), 0, 0, 0}); err == nil {
		t.Error("a NaN in the mean is no error")
	}
}

// stops: cancellation, too few iterations and bad states are reported.
func (c check) stops(t *testing.T) {
	const n = 40
	x, y := c.cases(n, 8)
	k, _, _ := SquaredExponential(x, 0, 3)
	cov, targets := c.prior(k, nil), c.targets(y)
	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := c.method.Fit(cancelled, cov, targets, c.lik, nil); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled fit: error %v", err)
	}
	post, err := c.method.Fit(context.Background(), cov, targets, c.lik, nil)
	if err != nil {
		t.Fatal(err)
	}
	good := post.State()
	wrong := []approx.State{append(slices.Clone(good), 1)}
	if len(good) > 0 {
		wrong = append(wrong, append(slices.Clone(good[1:]), math.NaN()))
	}
	for _, bad := range wrong {
		if _, err := c.method.Restore(cov, targets, c.lik, bad); err == nil {
			t.Errorf("restored a state of %d numbers ending in %v", len(bad), bad[len(bad)-1])
		}
		if _, err := c.method.Fit(context.Background(), cov, targets, c.lik, bad); err == nil {
			t.Errorf("started from a state of %d numbers ending in %v", len(bad), bad[len(bad)-1])
		}
	}
	if c.one() && c.classes > 0 && has(c.method, "max_iterations") {
		c.stopsShort(t, cov, targets)
	}
}

func (c check) stopsShort(t *testing.T, cov []approx.Cov, targets approx.Targets) {
	short := with(c.method, "max_iterations", 2)
	post, err := short.Fit(context.Background(), cov, targets, c.lik, nil)
	if err != nil {
		t.Fatal(err)
	}
	d := post.Diagnostics()
	if d.Converged || d.Iterations != 2 || math.IsNaN(post.Evidence().Value()) {
		t.Errorf("%+v after 2 iterations", d)
	}
	dst := approx.Cov{K: mat.NewSymDense(targets.Len(), nil)}
	if err := post.Evidence().Adjoint(&dst, 0); !errors.Is(err, approx.ErrNotConverged) {
		t.Errorf("adjoint of an unfinished fit: error %v", err)
	}
	if l, ok := post.(approx.LeaveOneOut); ok {
		if _, err := l.LeaveOneOut(); !errors.Is(err, approx.ErrNotConverged) {
			t.Errorf("leave-one-out of an unfinished fit: error %v", err)
		}
	}
}

// beyondDoublePrecision: if the prior variance is so large that rounding dominates the posterior,
// the fit ends soon and reports that. Jitter changes the model, and must then be reported; a method
// without a state may never meet small variances, and floored sites may hide the problem.
func (c check) beyondDoublePrecision(t *testing.T) {
	const n = 60
	x, y := c.cases(n, 13)
	k, _, _ := SquaredExponential(x, 3, 15)
	post, err := c.method.Fit(context.Background(), c.prior(k, nil), c.targets(y), c.lik, nil)
	if errors.Is(err, approx.ErrNotPositiveDefinite) {
		return
	}
	if err != nil {
		t.Fatal(err)
	}
	d := post.Diagnostics()
	jittered, stateless := d.Jitter > 0 && len(d.Warnings) > 0, d.Converged && len(post.State()) == 0
	if d.Floors > 0 || jittered || stateless || c.caps.NoEvidence {
		return
	}
	if d.Converged || d.Iterations > 50 || math.IsNaN(post.Evidence().Value()) {
		t.Errorf("%+v, log evidence %v", d, post.Evidence().Value())
	}
	dst := approx.Cov{K: mat.NewSymDense(n, nil)}
	if err := post.Evidence().Adjoint(&dst, 0); !errors.Is(err, approx.ErrNotConverged) {
		t.Errorf("adjoint: error %v", err)
	}
}

// defaults: the options that approx.Table has for c.method give the same fit as the zero value of
// its type. The check is skipped if c.method has other options.
func (c check) defaults(t *testing.T) {
	if c.caps.Sampled {
		return // abridged
	}
	for _, e := range approx.Table {
		usual := approx.Table.Default(e.Name)
		if reflect.TypeOf(usual) == reflect.TypeOf(c.method) && !reflect.DeepEqual(usual, c.method) {
			return // it has other options
		}
	}
	x, y := c.cases(12, 5)
	k, _, _ := SquaredExponential(x, 0, 1)
	zero := c
	zero.method = reflect.Zero(reflect.TypeOf(c.method)).Interface().(approx.Approximation)
	if _, err := zero.method.Uses(c.lik.Likelihood(), c.classes); err != nil {
		return
	}
	size := approx.Size{Cases: 9, Distinct: 9, New: 4, Classes: 3}
	if c.method.Memory(size) != zero.method.Memory(size) {
		t.Error("it takes other memory than by default")
	}
	a, b := c.fit(t, k, nil, y, nil), zero.fit(t, k, nil, y, nil)
	if !slices.Equal(a.State(), b.State()) || !reflect.DeepEqual(a.Diagnostics(), b.Diagnostics()) {
		t.Errorf("%+v, %v, by default %+v, %v", b.Diagnostics(), b.State(), a.Diagnostics(), a.State())
	}
}

// memory compares the method's stated memory with what it allocates.
func (c check) memory(t *testing.T) {
	if !c.one() {
		return // the classes of a method use the same memory one after the other
	}
	x, y := c.cases(memoryCases, 30)
	k, _, _ := SquaredExponential(x, 0.5, 1)
	size := approx.Size{
		Cases: memoryCases, Distinct: memoryCases, New: memoryNew, Kernels: 1, Classes: min(c.classes, 2),
	}
	CheckMemory(t, MemoryProblem{
		Method: c.method, Lik: c.lik.Likelihood(), Cov: c.prior(k, nil), Targets: c.targets(y), Size: size,
	})
}

// options checks the bounds of options in files, and the errors for wrong numbers of classes.
func options(t *testing.T, m approx.Approximation) {
	for _, bad := range []struct {
		name  string
		value any
	}{{"tolerance", -1.0}, {"tolerance", math.NaN()}, {"tolerance", 2.0}, {"max_iterations", -1}, {"damping", 1.5}} {
		if !has(m, bad.name) {
			continue
		}
		for _, e := range likelihood.Table {
			lik, _ := e.New(nil)
			if _, err := approx.Uses(with(m, bad.name, bad.value), lik, 2); err == nil {
				t.Errorf("%s: %v is accepted with %s", bad.name, bad.value, e.Name)
			}
		}
	}
}
