package approx

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/prior"
)

// joint is the posterior of C > 2 classes, with a latent process each, of a method with Gaussian
// sites. The likelihood is a RandomUtility: given the largest utility g of a case it is a product
// over the classes, and every factor has a site of one value, x_c = g - f_c. For the multinomial
// probit likelihood these are the sites of nested expectation propagation (Riihimäki, Jylänki &
// Vehtari 2013), whose inner and outer iteration have the same fixed point. prior.Contrasts has the
// posterior of f with these sites, in O(C n³) time and O(C n²) memory. If the log evidence is
// stationary in the sites,
//
//	∂L/∂K_c = ½ b_c b_cᵀ - ½ R_cc,   ∂L/∂m_c = b_c
type joint struct {
	*siteState
	classPrediction
	sites *prior.Contrasts
	index []int
	count int // number of covariances: one for all classes, or one for each
}

// usesJoint is Uses of a method with a categorical likelihood; own is the power of its correction
// for inducing inputs.
func (o Iteration) usesJoint(
	method string, own float64, s Structure, lik likelihood.Likelihood, classes int,
) (Caps, error) {
	if _, ok := bound(lik).(likelihood.RandomUtility); !ok {
		return Caps{}, fmt.Errorf("%s needs a likelihood of classes that compares utilities; use softmax or "+
			"multinomial_probit", method)
	}
	if power(s, own) != 1 {
		return Caps{}, fmt.Errorf("%s for several classes with inducing inputs needs their variances in the prior; "+
			"use correction: fitc", method)
	}
	return Caps{Gradient: !o.accepts(), Unconverged: o.accepts(), LeaveOneOut: true}, usesClasses(classes)
}

// exactJoint returns an error unless the averages of several classes are exact.
func exactJoint(method string, e EvidenceForm, q Quadrature) error {
	if e != CavityForm || q.Order > 0 {
		return fmt.Errorf("%[1]s for several classes has exact averages; use %[1]s without evidence and quadrature",
			method)
	}
	return nil
}

// newSites checks the arguments of a fit of one latent process or of several.
func newSites(
	method string, o Iteration, e EvidenceForm, q Quadrature, power float64, cov []Cov, y Targets,
	lik likelihood.Bound,
) (*siteState, error) {
	if likelihood.Processes(lik.Likelihood(), y.Classes) > 1 {
		return newJoint(method, o, power, cov, y, lik.(likelihood.RandomUtility))
	}
	return newSiteState(method, o, e, q, power, cov, y, lik)
}

const (
	// Newton's method computes small terms of the Jacobian from covariances of rank responseRank.
	// responseError is the relative error of this approximation.
	responseRank  = 64
	responseError = 1e-3
)

// newJoint checks the arguments of a fit of several latent processes.
func newJoint(
	method string, o Iteration, power float64, cov []Cov, y Targets, lik likelihood.RandomUtility,
) (*siteState, error) {
	o.work.Reset()
	n, classes := len(y.Index), y.Classes
	if len(cov) != 1 && len(cov) != classes || n == 0 {
		panic(fmt.Sprintf("approx: %d covariances, %d classes, %d labels, want 1 or one per class, and at least 1",
			len(cov), classes, n))
	}
	if err := y.takesNone(method + " of several classes"); err != nil {
		return nil, err
	}
	k, err := prior.NewClasses(o.work, cov, n, classes, power, nil)
	if err != nil {
		return nil, err
	}
	size := classes * n
	c := &cases{mean: make([]float64, size), y: make([]float64, size), lik: lik.Noise(), b: make([]float64, size)}
	for i, label := range y.Index {
		c.y[label*n+i] = 1
	}
	for class := range classes {
		if mean := share(cov, class).Mean; mean != nil {
			floats.AddScaled(c.mean[class*n:(class+1)*n], -1, mean)
		}
	}
	sites := prior.NewContrasts(k, n, classes)
	if near := prior.Reduced(cov, responseRank); near != nil {
		if of, err := prior.NewClasses(nil, near, n, classes, 1, nil); err == nil {
			sites.Approximate(of)
		}
	}
	c.diagnostics.Jitter, c.diagnostics.Unexplained = k.Describe()
	p := &joint{
		siteState: stateOf(method, o, process{cases: c}, sites, c.lik), sites: sites, index: y.Index, count: len(cov),
	}
	p.classPrediction.lik, p.classPrediction.classes = lik, classes
	p.initial = func(ctx context.Context, start State) (State, error) {
		if start != nil {
			return start, nil
		}
		return p.atMode(ctx, cov, y)
	}
	p.closing, p.newtonDistance, p.jacobianError = p.conclude, 1e3, responseError
	p.jacobian, p.pull = sites.Jacobian, p.pullClasses
	return p.siteState, nil
}

// memoryOfSites returns the memory of a joint posterior: the products of its marginals, which are
// kept for the gradient, and the covariances of the values x of every case. If its evidence is not
// stationary in the sites, the derivative also needs the covariances of all pairs of values.
func memoryOfSites(s Size, stationary bool) Memory {
	m, n2 := memoryOfClasses(s, 0), s.Cases*s.Cases
	each := 2*s.Classes + 10 // numbers for each value x
	if s.Cases >= 4*startRank {
		each += 4 * startRank // the first fit, with covariances of lower rank
	}
	m.Fit = m.Fit.And(words(s.Classes*n2, s.Classes*s.Cases*each))
	m.Evidence, m.LeaveOneOut = words(s.Kernels*n2, 0), Bytes{}
	if !stationary {
		m.Evidence = m.Evidence.And(words(0, (2*s.Classes+s.Classes*(s.Classes+1)/2+4)*n2))
	}
	return m
}

// atMode returns the sites of Laplace's method at the mode of softmax, which is near: the
// curvatures of all factors, at the most likely g.
func (p *joint) atMode(ctx context.Context, cov []Cov, y Targets) (State, error) {
	n, size := len(p.index), len(p.tau)
	model := categoriesOf(p.sites.Classes, cov, y, likelihood.Softmax{}, 1e-3, 0)
	at, _, _, err := findMode(ctx, model, nil, defaultIterations)
	p.sites.Forget()
	if err != nil {
		return nil, err
	}
	noise := p.siteState.lik.(likelihood.LogConcave)
	s := make(State, 2*size)
	for i := range n {
		from, to := math.Inf(1), math.Inf(-1)
		for j := i; j < size; j += n {
			from, to = min(from, at.f[j]-20), max(to, at.f[j]+20)
		}
		for range 60 {
			g, slope := (from+to)/2, 0.0
			for j := i; j < size; j += n {
				_, d1, d2, _ := noise.Derivs(p.y[j], g-at.f[j])
				s[j], s[size+j] = -d2, d1-d2*(g-at.f[j])
				slope += d1
			}
			if slope > 0 {
				from = g
			} else {
				to = g
			}
		}
	}
	return s, nil
}

// slopes is b = K⁻¹(f̂ - m) of the latent values.
func (p *joint) slopes() []float64 { return scaled(p.b, -1) }

// conclude is the posterior where the iteration ended.
func (p *joint) conclude() Posterior {
	p.posterior = p.sites.Posterior(p.slopes())
	p.evidence.several = p.count
	return p
}

// pullClasses sets dst to the weights on dK_c and dm_c, summed over the classes that share them, as
// siteState.pullImplicit. With P of Contrasts, a weight γ on the mean of x becomes the weight Pᵀγ
// on the mean of f.
func (p *joint) pullClasses(dst *Cov, j int, total []weight, share float64) {
	b, size := p.slopes(), len(p.tau)
	u, by := make([]float64, size), scaled(b, share/2)
	g := prior.Adjoint{P: [][]float64{b}, Q: [][]float64{by}, C: share}
	if total != nil {
		g.Gamma = make([]float64, size)
		for i, w := range total {
			by[i], g.Gamma[i] = w.mu/math.Sqrt(p.sigma[i]), w.v/p.sigma[i]
		}
		p.sites.Onto(u, by)
		floats.AddScaledTo(by, u, share/2, b)
	}
	p.sites.Pull(dst, j, g.Constant)
	if dst.Mean != nil {
		clear(dst.Mean)
		n := len(p.index)
		for c := range p.classes {
			if p.count == 1 || c == j {
				floats.Add(dst.Mean, u[c*n:(c+1)*n])
				floats.AddScaled(dst.Mean, share, b[c*n:(c+1)*n])
			}
		}
	}
}

// LeaveOneOut implements LeaveOneOut by block cavities, without all sites of a case. It has no
// derivatives.
func (p *joint) LeaveOneOut() (Functional, error) {
	if !p.diagnostics.Converged && !p.options.accepts() {
		return nil, p.evidence.err
	}
	return p.leaveOut(p.sites.Classes, p.blockSites(), p.index, nil)
}

// blockSites are the sites of the latent values of the classes.
func (p *joint) blockSites() classSites {
	b := p.slopes()
	f := make([]float64, len(b))
	p.sites.Multiply(f, b)
	floats.Sub(f, p.mean)
	return classSites{p.tau, f, b, p.sites.Total(), true}
}
