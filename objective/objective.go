package objective

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/interrupt"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// ErrNotFinite means that a fit succeeded, but its value or its gradient is NaN or infinite.
var ErrNotFinite error = cause.NotFinite.New("not finite")

// Objective is a criterion of a model on a training set, as a function of theta. It is immutable,
// and safe for concurrent use.
type Objective struct {
	Layout    Layout
	model     Model
	criterion Criterion
	caps      approx.Caps
	data      Data
	gradient  bool
	needs     []bool // needs[j]: the adjoint of covariance j reaches a free hyperparameter
	needsMean bool   // a hyperparameter of the mean is free
	needsLik  bool   // a hyperparameter of the likelihood is free
	structure structure
	room      *room // shared by the points of a Run; nil: every point allocates
}

// room is memory that the points of a Run share: for covariances, adjoints and covariances with new
// cases.
type room struct {
	work    *approx.Work // scratch memory of the fits; nil: none
	cov     []approx.Cov
	adjoint approx.Cov
	cross   [][]float64
}

// New checks that the parts of the model work together and with the data. It returns an error for a
// wrong combination and for data that Data.Check refuses. If the criterion is nil, points can only
// predict: their Value is NaN and they have no gradient.
func New(m Model, c Criterion, d Data) (*Objective, error) {
	m = m.On(d.Y.Classes)
	o := &Objective{model: m, criterion: c, data: d}
	if err := o.check(); err != nil {
		return nil, fmt.Errorf("objective: %w", err)
	}
	o.Layout = m.LayoutOn(d)
	if c != nil && c.AddsPrior() {
		if err := o.Layout.checkPriors(); err != nil {
			return nil, fmt.Errorf("objective: %w", err)
		}
	}
	apart, err := o.repeatWeights()
	if err != nil {
		return nil, fmt.Errorf("objective: %w", err)
	}
	d = o.data
	if s := structureOf(m.Inference, d.X.N()); s != nil {
		o.structure = s.of(d.X, m.Kernels)
	} else {
		o.structure = matrix{x: d.X, apart: apart}
		o.model.Inference, _ = approx.With(m.Inference, nil)
	}
	free := make([]float64, len(o.Layout.Specs)) // 1 where free
	for _, j := range o.Layout.Free {
		free[j] = 1
	}
	o.needsMean, o.needsLik = slices.Contains(o.Layout.mean(free), 1), slices.Contains(o.Layout.likelihood(free), 1)
	for j := range m.Kernels {
		o.needs = append(o.needs, o.needsMean || slices.Contains(o.Layout.kernel(free, j), 1))
	}
	return o, nil
}

// check sets caps and gradient, or returns an error if the parts do not work together.
func (o *Objective) check() (err error) {
	if err := cmp.Or(linalg.Err(), o.data.Check()); err != nil {
		return err
	}
	if o.data.alphabetical && o.data.Y.Classes > 2 && o.model.Likelihood.Domain() == likelihood.Ordered {
		return fmt.Errorf("the likelihood is of classes in order, and that of the texts %q is only alphabetical; "+
			"label the cases with numbers, which may have a method String", o.data.Classes)
	}
	if o.caps, err = o.model.Check(o.data.Y.Classes); err != nil {
		return err
	}
	if n := o.data.X.N(); structureOf(o.model.Inference, n) == Auto {
		return fmt.Errorf("structure: auto is for experiment files; for %d cases write the structure here, as in "+
			"{inducing: 500}", n)
	}
	if err := o.model.checkOptions(o.data.X.Dim()); err != nil {
		return err
	}
	if err := o.model.CheckDim(o.data.X.Dim()); err != nil {
		return err
	}
	if o.criterion != nil {
		o.gradient, err = o.criterion.Uses(o.caps)
	}
	return err
}

// repeatWeights handles weights: the method takes them, or the cases are repeated. apart reports
// that the copies of a case have independent noise from the kernel. K must then not contain that
// noise.
func (o *Objective) repeatWeights() (apart bool, err error) {
	if o.data = o.data.Present(); o.data.Y.Weight == nil {
		return false, nil
	}
	noise := !o.MergesEqual()
	_, each := o.model.Inference.(approx.OneVsRest)
	one := each || likelihood.Processes(o.model.Likelihood, o.data.Y.Classes) == 1
	if o.caps.Weights && (one || !noise) {
		return noise, nil
	}
	if o.data, err = o.data.Repeated(); err != nil {
		return false, fmt.Errorf("this inference method takes no weights of cases, at least with this kernel and "+
			"these classes; %w. inference: laplace and ep take any, with classes: one_vs_rest for several classes too",
			err)
	}
	return false, nil
}

// induction returns the structure with inducing inputs; nil with another structure.
func (o *Objective) induction() *induction {
	i, _ := o.structure.(*induction)
	return i
}

// MergesEqual reports whether cases with equal inputs have equal rows of K at every theta. This is
// so if no kernel has noise.
func (o *Objective) MergesEqual() bool {
	for _, k := range o.model.Kernels {
		for _, leaf := range kernel.Leaves(k, o.data.X.Dim()) {
			// Noise counts whatever its initial amplitude is.
			if _, noise := leaf.Kernel.(kernel.Noise); noise {
				return false
			}
		}
	}
	// A kernel of another package may have noise too.
	first := o.data.X.X.RawRowView(0)
	twice := mat.NewDense(2, len(first), slices.Repeat(first, 2))
	k := mat.NewSymDense(2, nil)
	for _, theta := range o.Layout.choices() {
		for j, kernelOf := range o.model.Kernels {
			kernel.Gram(kernelOf, k, o.Layout.kernel(theta, j), &kernel.Inputs{X: twice})
			if k.At(0, 1) != k.At(0, 0) {
				return false
			}
		}
	}
	return true
}

// HasGradient reports whether points have a gradient.
func (o *Objective) HasGradient() bool { return o.gradient }

// Point is the model fitted at one theta. A point from Objective stays valid. A point from a Run is
// valid until the Run's next evaluation. It is not safe for concurrent use.
type Point struct {
	Theta     []float64 // free and fixed entries
	Posterior approx.Posterior
	objective *Objective
	cov       []approx.Cov
	lik       likelihood.Bound
	criterion approx.Functional
	value     float64
}

// At fits the model with these free hyperparameters and the fixed ones at their Init. The result
// depends on free alone.
func (o *Objective) At(ctx context.Context, free []float64) (*Point, error) {
	return o.Fit(ctx, o.Layout.Fill(free), nil)
}

// Fit fits the model at theta, which has the free and the fixed entries. start is the State of a
// fit nearby, or nil; it saves time and changes the result within the approximation's tolerance
// only.
func (o *Objective) Fit(ctx context.Context, theta []float64, start approx.State) (*Point, error) {
	return interrupt.Do(ctx, func() (*Point, error) {
		p, err := o.unfitted(ctx, theta)
		if err == nil {
			p.Posterior, err = o.model.Inference.Fit(ctx, p.cov, o.data.Y, p.lik, start)
		}
		return o.finish(p, err)
	})
}

// Restore rebuilds, without iterating, the point that was fitted at theta and left this state.
func (o *Objective) Restore(theta []float64, state approx.State) (*Point, error) {
	p, err := o.unfitted(context.Background(), theta)
	if err == nil {
		p.Posterior, err = o.model.Inference.Restore(p.cov, o.data.Y, p.lik, state)
	}
	return o.finish(p, err)
}

// unfitted makes a point that has its covariances and no posterior yet.
func (o *Objective) unfitted(ctx context.Context, theta []float64) (*Point, error) {
	l, n := o.Layout, o.data.X.N()
	if len(theta) != len(l.Specs) {
		panic(fmt.Sprintf("objective: len(theta) = %d, want %d", len(theta), len(l.Specs)))
	}
	p := &Point{Theta: slices.Clone(theta), objective: o}
	if err := l.checkFinite(theta); err != nil {
		return p, err
	}
	// The first kernel stands for the kernels of all classes.
	if err := o.structure.prepare(ctx, o.model.Kernels[0], l.kernel(l.Start(), 0)); err != nil {
		return p, err
	}
	r, s := cmp.Or(o.room, &room{}), o.structure
	if r.cov == nil {
		r.cov = make([]approx.Cov, len(o.model.Kernels))
		for j := range r.cov {
			r.cov[j] = s.room()
		}
	}
	if r.work != nil {
		r.work.Reset()
		r.adjoint = approx.Cov{} // its memory may lie in work
	}
	p.cov = r.cov
	var mean []float64
	if o.model.mean() != (Zero{}) {
		mean = make([]float64, n)
		o.model.mean().At(mean, l.mean(p.Theta), o.data.X)
	}
	for j, k := range o.model.Kernels {
		s.prior(p.cov[j], k, l.kernel(p.Theta, j))
		p.cov[j].Mean = mean
	}
	p.lik = o.model.Likelihood.At(l.likelihood(p.Theta))
	return p, nil
}

// finish computes the criterion of a fitted point, or adds theta to the error of a failed fit.
func (o *Objective) finish(p *Point, err error) (*Point, error) {
	if err == nil {
		err = p.evaluate()
	}
	if err != nil {
		return nil, cause.At("objective: at "+o.Layout.describe(p.Theta), err)
	}
	return p, nil
}

// evaluate computes the criterion's value.
func (p *Point) evaluate() (err error) {
	o := p.objective
	if p.value = math.NaN(); o.criterion == nil {
		return nil
	}
	if p.criterion, err = o.criterion.Of(p.Posterior); err != nil {
		return err
	}
	p.value = p.criterion.Value()
	if o.criterion.AddsPrior() {
		p.value += o.Layout.LogPrior(nil, p.Theta)
	}
	if !finite(p.value) {
		return fmt.Errorf("%w: the value is %v", ErrNotFinite, p.value)
	}
	return nil
}

// Value is the criterion, in nats.
func (p *Point) Value() float64 { return p.value }

// Converged returns an approx.ErrNotConverged, with theta and the reason, if the fit stopped before
// it converged. It returns nil if the inference method accepts such fits.
func (p *Point) Converged() error {
	if d := p.Diagnostics(); !d.Converged && !p.objective.caps.Unconverged {
		return cause.At("objective: at "+p.objective.Layout.describe(p.Theta),
			cmp.Or(d.Failure, approx.ErrNotConverged))
	}
	return nil
}

// Diagnostics are the fit's iterations, convergence and warnings.
func (p *Point) Diagnostics() approx.Diagnostics {
	d := p.Posterior.Diagnostics()
	if c := p.Choice(); c != nil && !c.Fewer.IsZero() {
		d.Warnings = append(slices.Clip(d.Warnings), c.Fewer)
	}
	return d
}

// Choice has the inducing inputs of the fit; nil where there are none.
func (p *Point) Choice() *Choice {
	if i := p.objective.induction(); i != nil {
		return i.choice
	}
	return nil
}

// Gradient sets dst to the derivative of Value with respect to the free hyperparameters, on the
// theta scale. The error is approx.ErrNoGradient or ErrNotFinite; dst is then undefined.
func (p *Point) Gradient(dst []float64) error {
	l := p.objective.Layout
	if len(dst) != len(l.Free) {
		panic(fmt.Sprintf("objective: len(dst) = %d, want %d", len(dst), len(l.Free)))
	}
	grad := make([]float64, len(p.Theta))
	err := p.pullback(grad)
	for i, j := range l.Free {
		dst[i] = grad[j]
		if err == nil && !finite(grad[j]) {
			err = fmt.Errorf("%w: the derivative by %s is %v", ErrNotFinite, l.Specs[j].ThetaName(), grad[j])
		}
	}
	if err != nil {
		return cause.At("objective: gradient at "+l.describe(p.Theta), err)
	}
	return nil
}

// InputGradient sets dst, m×d, to the derivative of Value with respect to the inducing inputs, in
// the units of the training cases. The fit must have inducing inputs (see Choice). It is an error
// if there is no gradient (approx.ErrNoGradient), a kernel has no derivative by its inputs, or a
// value is not finite (ErrNotFinite); dst is then undefined.
func (p *Point) InputGradient(dst *mat.Dense) error {
	o, l := p.objective, p.objective.Layout
	chosen := o.induction().induced
	dst.Zero()
	if !o.gradient {
		return approx.ErrNoGradient
	}
	for j, k := range o.model.Kernels {
		fill := func(adjoint *approx.Cov) error { return p.criterion.Adjoint(adjoint, j) }
		if err := chosen.pullbackInputs(dst, k, l.kernel(p.Theta, j), fill); err != nil {
			return cause.At("objective: gradient by inducing inputs at "+l.describe(p.Theta), err)
		}
	}
	for i := range chosen.z.N() {
		for j, v := range dst.RawRowView(i) {
			if !finite(v) {
				return fmt.Errorf("%w: the derivative by column %d of inducing input %d is %v", ErrNotFinite, j, i, v)
			}
		}
	}
	return nil
}

// pullback adds to grad, ordered like theta, the derivatives by the kernels, mean and likelihood
// that have free hyperparameters.
func (p *Point) pullback(grad []float64) error {
	o, l := p.objective, p.objective.Layout
	adjoint := &cmp.Or(o.room, &room{}).adjoint
	if !o.gradient {
		return approx.ErrNoGradient
	}
	if o.criterion.AddsPrior() {
		l.LogPrior(grad, p.Theta)
	}
	for j, k := range o.model.Kernels {
		if !o.needs[j] {
			continue
		}
		if n := o.data.X.N(); adjoint.K == nil {
			*adjoint = o.structure.adjoint(cmp.Or(o.room, &room{}).work)
			if o.needsMean {
				adjoint.Mean = make([]float64, n)
			}
		}
		fill := func(dst *approx.Cov) error { return p.criterion.Adjoint(dst, j) }
		theta, by := l.kernel(p.Theta, j), l.kernel(grad, j)
		if err := o.structure.pullback(by, k, theta, p.cov[j], adjoint, fill); err != nil {
			return err
		}
		if o.needsMean {
			o.model.mean().Pullback(l.mean(grad), l.mean(p.Theta), o.data.X, adjoint.Mean)
		}
	}
	if o.needsLik {
		return p.criterion.Likelihood(likelihood.Own(o.model.Likelihood, l.likelihood(p.Theta), l.likelihood(grad)))
	}
	return nil
}
