// Package doctor checks that the program works on this machine, and measures how fast.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"reflect"
	"runtime"
	"slices"
	"time"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/experiments/ask"
	"github.com/gpc-tune/gpc-tune/experiments/rates"
	"github.com/gpc-tune/gpc-tune/internal/build"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/internal/machine"
	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// Checkup has the results of `gpc-tune doctor`.
type Checkup struct {
	Build  record.Build
	CPU    string // "" if unknown
	Cores  int
	Memory int64 // available, bytes; 0 if unknown
	Speeds []Speed
	Checks []Check
	Rates  *rates.Rates
	Kept   string // the file with the rates; "": they are not saved
}

// DoctorOptions are options of Doctor.
type DoctorOptions struct {
	Cases int // of the largest measured problem; fast methods are also measured with twice as many
	// Quick checks everything, but measures problems with Cases cases only. The growth of times is
	// then unknown, so the rates are not saved, and existing ones are kept.
	Quick bool
	Tell  Findings // nil: no reports
}

// Findings receives results as soon as they are available, in the order of these methods.
type Findings interface {
	Machine(c *Checkup) // before any checks
	Check(Check)
	Speed(Speed)
	Kernel(ComponentTime) // for a covariance matrix and its gradient, with ShownInputs inputs
	Method(ComponentTime) // inference/likelihood: for a log evidence and its gradient, without kernel and prediction
}

// Speed is the arithmetic speed of one core, GFLOP/s.
type Speed struct {
	Path              string // the vector instructions
	N                 int
	Product, Cholesky float64
}

// Check is the result of one check.
type Check struct {
	What string
	Err  error // nil: it works
}

// silent ignores all findings.
type silent struct{}

func (silent) Machine(*Checkup) {}

func (silent) Check(Check) {}

func (silent) Speed(Speed) {}

func (silent) Kernel(ComponentTime) {}

func (silent) Method(ComponentTime) {}

// Doctor checks that the program works on this machine, and measures its speed. Unless Quick is
// set, it saves the rates for later plans.
func Doctor(ctx context.Context, o DoctorOptions) (*Checkup, error) {
	n, tell := o.Cases, o.Tell
	if tell == nil {
		tell = silent{}
	}
	c := &Checkup{Build: build.This(), CPU: machine.CPU(), Cores: runtime.GOMAXPROCS(0)}
	c.Memory, _ = machine.Available()
	tell.Machine(c)
	check := func(found Check) {
		c.Checks = append(c.Checks, found)
		tell.Check(found)
	}
	selfChecks(ctx, check)
	// Processor time is per thread, and garbage is collected between measurements.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	sizes := []int{n / 8, n / 4, n / 2, n, 2 * n} // the last for fast methods
	if o.Quick {
		sizes = []int{n}
	}
	for _, path := range linalg.Paths() {
		for _, n := range sizes {
			if n < o.Cases/4 || n > o.Cases {
				continue
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			var s Speed
			linalg.With(path, func() { s = speed(path, n) })
			c.Speeds = append(c.Speeds, s)
			tell.Speed(s)
		}
	}
	var err error
	if c.Rates, err = measure(ctx, n, sizes, tell); err != nil || o.Quick {
		return c, err
	}
	kept := Check{What: "the rates can be kept"}
	c.Kept, kept.Err = c.Rates.Save()
	check(kept)
	return c, nil
}

// Err is the error of the failed checks.
func (c *Checkup) Err() error {
	var errs []error
	for _, check := range c.Checks {
		if check.Err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", check.What, check.Err))
		}
	}
	return errors.Join(errs...)
}

// seconds is the time of f: the median of five calls, or of fewer if f is slow. A fast f is
// repeated until it can be measured. setup runs before every call and is not included.
//
// Wall-clock time is more precise, and correct unless the machine gave the core to other processes,
// which it does for milliseconds at a time; for longer times the thread's processor time is used.
func seconds(setup, f func()) float64 {
	const enough, undisturbed, long = 200 * time.Microsecond, 3 * time.Millisecond, 20 * time.Millisecond
	var times []float64
	for began := machine.CPUTime(); len(times) < 5; {
		var passed, computed time.Duration
		calls := 0
		for start := machine.CPUTime(); calls == 0 || passed < enough && machine.CPUTime()-start < long/5; {
			setup()
			wall, cpu := time.Now(), machine.CPUTime()
			f()
			computed += machine.CPUTime() - cpu
			passed += time.Since(wall)
			calls++
		}
		if passed > undisturbed && computed > undisturbed/2 {
			passed = computed
		}
		times = append(times, passed.Seconds()/float64(calls))
		if machine.CPUTime()-began > long {
			break
		}
	}
	slices.Sort(times)
	return times[len(times)/2]
}

func nothing() {}

// speed measures products and factorisations of n×n matrices.
func speed(path string, n int) Speed {
	a, b, c := linalg.NewGeneral(n, n), linalg.NewGeneral(n, n), linalg.NewGeneral(n, n)
	for i := range a.Data {
		a.Data[i], b.Data[i] = math.Sin(float64(i)), math.Cos(float64(i))
	}
	s, u := linalg.NewSym(n), linalg.NewSym(n)
	linalg.Syrk(blas.NoTrans, 1, a, 0, s)
	for i := range n {
		s.Data[i*n+i] += float64(n)
	}
	cube := 1e-9 * float64(n) * float64(n) * float64(n)
	return Speed{
		Path: path, N: n,
		Product:  2 * cube / seconds(nothing, func() { linalg.Gemm(blas.NoTrans, blas.NoTrans, 1, a, b, 0, c) }),
		Cholesky: cube / 3 / seconds(func() { copy(u.Data, s.Data) }, func() { linalg.Cholesky(u) }),
	}
}

// selfChecks evaluates models with known values, and tests system functions that runs need. The
// values come from an independent dense computation.
func selfChecks(ctx context.Context, tell func(Check)) {
	for _, known := range []struct {
		likelihood, inference string
		value                 float64
	}{{"logit", "laplace", -69.97728636}, {"probit", "ep", -59.5615426}} {
		q := ask.Query{
			Data: "crabs", Preprocess: "standardize", Kernel: "se", Mean: "zero", Likelihood: known.likelihood,
			Inference: known.inference,
			Theta:     map[string]string{"log_amplitude": "1.1513", "log_length_scale": "0"},
		}
		answer, err := q.Evaluate(ctx)
		if err == nil && !(math.Abs(float64(answer.LogEvidence)-known.value) < 1e-6) {
			err = fmt.Errorf("it is %.9g, and should be %.9g", answer.LogEvidence, known.value)
		}
		tell(Check{fmt.Sprintf("log evidence of crabs, %s with %s", known.inference, known.likelihood), err})
	}
	tell(Check{"vector instructions give correct results", agreement()})
	dir, err := os.MkdirTemp(".", ".gpc-tune-*")
	tell(Check{"run folders can be created here", errors.Join(err, os.RemoveAll(dir))})
}

// agreement compares the instruction sets on a product and a factorisation.
func agreement() (err error) {
	const n = 150
	a := linalg.NewGeneral(n, n)
	for i := range a.Data {
		a.Data[i] = math.Sin(float64(i))
	}
	var first []float64
	for _, path := range linalg.Paths() {
		s := linalg.NewSym(n)
		linalg.With(path, func() {
			linalg.Syrk(blas.NoTrans, 1, a, 0, s)
			for i := range n {
				s.Data[i*n+i] += n
			}
			linalg.InverseCholesky(must(linalg.Cholesky(s)))
		})
		if first == nil {
			first = s.Data
		}
		for i := range n {
			for j := i; j < n; j++ {
				if d := s.Data[i*n+j] - first[i*n+j]; !(math.Abs(d) < 1e-12) {
					return fmt.Errorf("an inverse by %s and one by %s differ by %.2g", linalg.Paths()[0], path, d)
				}
			}
		}
	}
	return nil
}

func must(u blas64.Triangular, ok bool) blas64.Triangular {
	if !ok {
		panic("experiments: a matrix with eigenvalues of at least n is not positive definite")
	}
	return u
}

// synthetic is a problem of n cases with d columns: overlapping classes, and numbers with noise.
type synthetic struct {
	x, z *mat.Dense // training and new cases
	y    map[int]approx.Targets
}

const manyClasses = 5

func newSynthetic(n, d int) synthetic {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	p := synthetic{x: mat.NewDense(n, d, nil), z: mat.NewDense(n/2, d, nil)}
	for _, x := range []*mat.Dense{p.x, p.z} {
		raw := x.RawMatrix()
		for i := range raw.Data {
			raw.Data[i] = rng.NormFloat64()
		}
	}
	numbers, signs, classes := approx.Targets{}, approx.Targets{Classes: 2}, approx.Targets{Classes: manyClasses}
	for i := range n {
		row := p.x.RawRowView(i)
		f := row[0] + math.Sin(2*row[1%d]) + 0.5*rng.NormFloat64()
		numbers.Value = append(numbers.Value, f)
		signs.Value = append(signs.Value, math.Copysign(1, f))
		classes.Index = append(classes.Index, int(min(max(f+manyClasses/2., 0), manyClasses-1)))
	}
	p.y = map[int]approx.Targets{0: numbers, 2: signs, manyClasses: classes}
	return p
}

// measure times every kernel, and every method with every likelihood that it accepts, on problems
// of these sizes: kernels on n/2 and n cases.
func measure(ctx context.Context, n int, sizes []int, tell Findings) (*rates.Rates, error) {
	r := rates.ThisMachine()
	shown := shownSizes(n, len(sizes) == 1)
	var problems []synthetic
	var half []int // the sizes for kernels
	for _, size := range sizes {
		problems = append(problems, newSynthetic(size, 4))
		if n/2 <= size && size <= n {
			half = append(half, size)
		}
	}
	for _, e := range kernel.Table {
		for _, ard := range []bool{false, true} {
			k, err := e.New(func(v any) error { return setARD(v, ard) })
			if err != nil {
				continue // it has no such option
			}
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			r.Kernels[rates.KernelKey(k)] = kernelRates(k, half)
			tell.Kernel(kernelTime(r, rates.KernelKey(k), shown))
		}
	}
	for _, m := range approx.Table {
		for _, l := range likelihood.Table {
			method, lik := approx.Table.Default(m.Name), likelihood.Table.Default(l.Name)
			t, ok := newMethodTimer(ctx, method, lik)
			if !ok {
				continue
			}
			times, err := t.rates(problems)
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if err == nil { // otherwise plans show no time for it
				r.Methods[rates.MethodKey(method, lik)] = times
				tell.Method(methodTime(r, rates.MethodKey(method, lik), shown))
			}
		}
	}
	return r, nil
}

// kernelRates times a kernel on few and many columns.
func kernelRates(k kernel.Kernel, sizes []int) rates.KernelRates {
	var terms [][3]float64
	var first, gram, pullback []float64
	for _, dim := range []int{2, 32} {
		for _, n := range sizes {
			x := newSynthetic(n, dim).x
			theta := make([]float64, len(k.Params(dim)))
			for j, s := range k.Params(dim) {
				if theta[j] = s.Map.Theta(s.Init); s.FromData {
					theta[j] = s.Map.Theta(math.Sqrt(float64(dim)))
				}
			}
			grad, own, g := make([]float64, len(theta)), mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
			for i := range n {
				for j := i; j < n; j++ {
					g.SetSym(i, j, math.Sin(float64(i+j)))
				}
			}
			inputs := &kernel.Inputs{X: x}
			kernel.Gram(k, own, theta, inputs)
			again := seconds(nothing, func() { kernel.Gram(k, own, theta, inputs) })
			var fresh *kernel.Inputs
			once := seconds(func() { fresh = &kernel.Inputs{X: x} }, func() { kernel.Gram(k, own, theta, fresh) })
			terms = append(terms, rates.KernelTerms(n, dim))
			first = append(first, max(once-again, again/100))
			gram = append(gram, again)
			pullback = append(pullback, seconds(nothing, func() { kernel.Pullback(k, grad, theta, inputs, own, g) }))
		}
	}
	return rates.KernelRates{First: rates.FitRate(terms, first), Gram: rates.FitRate(terms, gram),
		Pullback: rates.FitRate(terms, pullback)}
}

// methodTimer times fits, criteria and predictions of a method with a likelihood, for a squared
// exponential of length scale √d and amplitude 3.
type methodTimer struct {
	ctx     context.Context
	fits    approx.Approximation
	lik     likelihood.Likelihood
	bound   likelihood.Bound
	caps    approx.Caps
	classes int

	post   approx.Posterior // of the last fit
	failed error

	terms, each         [][3]float64 // by problem, of a fit and of a prediction
	fit, again, predict []float64
	criteria            map[string][2][]float64 // value and gradient
}

// newMethodTimer uses the smallest number of classes for which method and likelihood are
// compatible, if there is one.
func newMethodTimer(ctx context.Context, method approx.Approximation, lik likelihood.Likelihood) (*methodTimer, bool) {
	t := &methodTimer{ctx: ctx, fits: method, lik: lik, bound: lik.At(starts(lik)), criteria: map[string][2][]float64{}}
	if a, ok := method.(approx.Abridger); ok {
		t.fits, _ = a.Abridged()
	}
	for _, t.classes = range []int{2, manyClasses, 0} {
		var err error
		if t.caps, err = method.Uses(lik, t.classes); err == nil {
			return t, true
		}
	}
	return nil, false
}

// time is the time of f without setup. The first error is kept.
func (t *methodTimer) time(setup func(), f func() error) float64 {
	return seconds(setup, func() { t.failed = errors.Join(t.failed, f()) })
}

// rates are measured on problems of growing size.
func (t *methodTimer) rates(problems []synthetic) (r rates.MethodRates, err error) {
	for _, p := range problems {
		cold := t.on(p)
		if t.failed != nil {
			return r, t.failed
		}
		if cold > 0.05 && len(t.terms) > 2 {
			break // enough for the three rates
		}
	}
	processes := 1
	if t.classes > 2 {
		processes = t.classes
	}
	rate := func(terms [][3]float64, times []float64) (r rates.Rate) {
		if len(times) == 0 {
			return r
		}
		r = rates.FitRate(terms, times)
		for i := range r {
			r[i] /= float64(processes)
		}
		return r
	}
	r = rates.MethodRates{
		Fit: rate(t.terms, t.fit), Again: rate(t.terms, t.again), Predict: rate(t.each, t.predict),
		Criteria: map[string]rates.CriterionRate{},
	}
	for name, times := range t.criteria {
		r.Criteria[name] = rates.CriterionRate{Value: rate(t.terms, times[0]), Gradient: rate(t.terms, times[1])}
	}
	return r, nil
}

// on times one problem, and returns the time of a cold fit.
func (t *methodTimer) on(p synthetic) (cold float64) {
	n, d := p.x.Dims()
	inputs, z := &kernel.Inputs{X: p.x}, &kernel.Inputs{X: p.z}
	prior := func(length, amplitude float64) []approx.Cov {
		k := mat.NewSymDense(n, nil)
		kernel.Gram(kernel.SE{}, k, []float64{math.Log(amplitude), math.Log(length)}, inputs)
		if noise, is := t.bound.(likelihood.GaussianNoise); is && noise.NoiseVariance() == 0 {
			for i := range n {
				k.SetSym(i, i, k.At(i, i)+1)
			}
		}
		return []approx.Cov{{K: k}}
	}
	length := math.Sqrt(float64(d))
	cov, near := prior(length, 3), prior(1.2*length, 3.5)
	fit := func(cov []approx.Cov, start approx.State) func() error {
		return func() (err error) {
			t.post, err = t.fits.Fit(t.ctx, cov, p.y[t.classes], t.bound, start)
			return err
		}
	}
	t.terms = append(t.terms, rates.MethodTerms(n))
	if cold = t.time(nothing, fit(cov, nil)); t.failed != nil {
		return cold
	}
	t.fit = append(t.fit, cold)
	t.again = append(t.again, t.time(nothing, fit(near, t.post.State())))
	for _, e := range objective.Criteria {
		if t.failed == nil {
			t.criterion(e.Name, n, cold > 5e-3, fit(cov, nil))
		}
	}
	if t.failed != nil {
		return cold
	}
	held, _ := p.z.Dims()
	cross, diag := mat.NewDense(n, held, nil), slices.Repeat([]float64{9}, held)
	kernel.Cross(kernel.SE{}, cross, []float64{math.Log(3), math.Log(length)}, inputs, z)
	t.predict = append(t.predict, seconds(nothing, func() {
		if t.classes == 0 {
			t.post.Latent(make([]float64, held), make([]float64, held), cross, diag, 0)
		} else {
			t.post.PredictProba(mat.NewDense(held, t.classes, nil), []*mat.Dense{cross}, [][]float64{diag}, nil)
		}
	})/float64(held))
	t.each = append(t.each, [3]float64{float64(n) * float64(n), float64(n), 1})
	return cold
}

// criterion times a criterion and its gradient for the last fit. A posterior computes parts of its
// derivatives once, so each measurement of a gradient needs a new posterior, unless that is slow.
func (t *methodTimer) criterion(name string, n int, slow bool, refit func() error) {
	c := objective.Criteria.Default(name)
	gradient, err := c.Uses(t.caps)
	if err != nil || c.AddsPrior() {
		return // equal except for a sum over hyperparameters
	}
	var f approx.Functional
	of := func() (err error) {
		f, err = c.Of(t.post)
		return err
	}
	times := t.criteria[name]
	if times[0] = append(times[0], t.time(nothing, of)); t.failed != nil {
		return
	}
	if gradient {
		setup := nothing
		if !slow {
			setup = func() { t.failed = errors.Join(t.failed, refit(), of()) }
		}
		dst, grad := approx.Cov{K: mat.NewSymDense(n, nil)}, make([]float64, len(t.lik.Params()))
		times[1] = append(times[1], t.time(setup, func() error {
			return errors.Join(f.Adjoint(&dst, 0), f.Likelihood(grad))
		}))
	}
	t.criteria[name] = times
}

// setARD sets the option of a kernel, if it exists.
func setARD(v any, ard bool) error {
	switch option := reflect.ValueOf(v).Elem().FieldByName("ARD"); {
	case option.IsValid():
		option.SetBool(ard)
	case ard:
		return errors.New("the kernel has no ard")
	}
	return nil
}

// starts are the initial parameters of a likelihood.
func starts(lik likelihood.Likelihood) []float64 {
	var theta []float64
	for _, s := range lik.Params() {
		theta = append(theta, s.Map.Theta(s.Init))
	}
	return theta
}

// ComponentTime is the time of a component, in seconds, for these numbers of cases.
type ComponentTime struct {
	Name    string
	Cases   []int
	Seconds []float64
}

// shownSizes are the sizes of problems for which times are shown: larger ones than measured only if
// the growth is known.
func shownSizes(n int, quick bool) []int {
	if quick {
		return []int{n}
	}
	return []int{500, 1000, 2000}
}

// ShownInputs is the number of inputs for which the times of kernels are shown.
const ShownInputs = 10

// methodTime is the time of a log evidence with its gradient, for one fit and without a kernel,
// under inference/likelihood.
func methodTime(r *rates.Rates, key string, cases []int) ComponentTime {
	t := ComponentTime{Name: key, Cases: cases}
	for _, n := range cases {
		terms := rates.MethodTerms(n)
		t.Seconds = append(t.Seconds, r.Methods[key].Fit.Of(terms)+
			r.Methods[key].Criteria["log_evidence"].Gradient.Of(terms))
	}
	return t
}

// kernelTime is the time of a kernel's matrix and gradient.
func kernelTime(r *rates.Rates, key string, cases []int) ComponentTime {
	t := ComponentTime{Name: key, Cases: cases}
	for _, n := range cases {
		terms := rates.KernelTerms(n, ShownInputs)
		t.Seconds = append(t.Seconds, r.Kernels[key].Gram.Of(terms)+r.Kernels[key].Pullback.Of(terms))
	}
	return t
}
