package approx

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// OneVsRest makes a classifier for C > 2 classes from a binary method: C independent binary
// problems, each class (y = +1) against all others (y = -1), with one shared covariance or one per
// class.
//
// Its log evidence, in nats, is the sum of the binary ones, so one vector of hyperparameters serves
// all. It is the evidence of C binary data sets. Do not compare it with the log evidence of a joint
// method such as multi-class Laplace. Class probabilities are the binary ones, p(y_c = +1), divided
// by their sum. Its State is the sequence of the binary states, each preceded by its length.
type OneVsRest struct {
	Binary Approximation
}

// Uses is Uses of the binary method for two classes.
func (a OneVsRest) Uses(lik likelihood.Likelihood, classes int) (Caps, error) {
	if lik.Domain() == likelihood.Categorical {
		return Caps{}, errors.New("one_vs_rest is for likelihoods of two classes, and this one is of all classes; " +
			"use likelihood: probit or logit, or classes: joint")
	}
	if classes <= 2 {
		return Caps{}, fmt.Errorf("one_vs_rest is for more than two classes and there are %d; use classes: joint",
			classes)
	}
	if lik.Domain() == likelihood.Ordered {
		return Caps{}, errors.New("one_vs_rest is for likelihoods of two classes, and this one is of all classes in " +
			"their order; use classes: joint")
	}
	return a.Binary.Uses(lik, 2)
}

func (a OneVsRest) structure() Structure { return StructureOf(a.Binary) }

func (a OneVsRest) with(s Structure) (Approximation, bool) {
	binary, ok := With(a.Binary, s)
	return OneVsRest{binary}, ok
}

func (a OneVsRest) scalesGeometrically() bool {
	g, ok := a.Binary.(geometric)
	return ok && g.scalesGeometrically()
}

// Memory counts the kept bytes of the binary method once per class, and n² numbers for the adjoint
// of one class, which is then added to the sum.
func (a OneVsRest) Memory(s Size) Memory {
	classes, n2 := s.Classes, s.Cases*s.Cases
	s.Classes, s.Kernels = 2, 1
	m := a.Binary.Memory(s)
	for _, b := range []*Bytes{&m.Fit, &m.Evidence, &m.LeaveOneOut, &m.LeaveOneOutAdjoint} {
		b.Kept *= int64(classes)
	}
	m.Evidence, m.LeaveOneOutAdjoint = m.Evidence.And(words(0, n2)), m.LeaveOneOutAdjoint.And(words(0, n2))
	return m
}

// Fit fits every class against the rest.
func (a OneVsRest) Fit(
	ctx context.Context, cov []Cov, y Targets, lik likelihood.Bound, start State,
) (Posterior, error) {
	return a.each(cov, y, start, func(cov []Cov, y Targets, start State) (Posterior, error) {
		return a.Binary.Fit(ctx, cov, y, lik, start)
	})
}

// Restore restores every class.
func (a OneVsRest) Restore(cov []Cov, y Targets, lik likelihood.Bound, s State) (Posterior, error) {
	return a.each(cov, y, s, func(cov []Cov, y Targets, s State) (Posterior, error) {
		return a.Binary.Restore(cov, y, lik, s)
	})
}

// each calls fit with the problem of every class and its part of the state; nil: none.
func (a OneVsRest) each(
	cov []Cov, y Targets, s State, fit func([]Cov, Targets, State) (Posterior, error),
) (Posterior, error) {
	if y.Classes < 3 || len(cov) != 1 && len(cov) != y.Classes {
		panic(fmt.Sprintf("approx: %d covariances for %d classes, want 1 or one per class of at least 3",
			len(cov), y.Classes))
	}
	p := &oneVsRest{shared: len(cov) == 1}
	for c := range y.Classes {
		against := Targets{Classes: 2, Value: make([]float64, len(y.Index)), Weight: y.Weight}
		for i, class := range y.Index {
			against.Value[i] = -1
			if class == c {
				against.Value[i] = 1
			}
		}
		var own State
		if s != nil {
			if len(s) == 0 || !(s[0] >= 0 && s[0] < float64(len(s))) {
				return nil, fmt.Errorf("one_vs_rest: the state ends before that of class %d does; "+
					"it belongs to other data or another method", c)
			}
			end := 1 + int(s[0])
			own, s = s[1:end:end], s[end:]
		}
		k := min(c, len(cov)-1)
		prior := cov[k]
		// a covariance that all classes share must not be overwritten
		prior.Scratch = prior.Scratch && len(cov) > 1
		binary, err := fit([]Cov{prior}, against, own)
		if err != nil {
			return nil, fmt.Errorf("class %d against the rest: %w", c, err)
		}
		p.classes = append(p.classes, binary)
	}
	if len(s) > 0 {
		return nil, fmt.Errorf("one_vs_rest: state has %d numbers more than its classes; "+
			"it belongs to other data or another method", len(s))
	}
	return p, nil
}

// oneVsRest is the posterior of every class against the rest.
type oneVsRest struct {
	classes []Posterior
	shared  bool // one covariance for all classes
}

// Evidence is the sum of the classes' log evidences.
func (p *oneVsRest) Evidence() Functional {
	f, _ := p.sum(func(c Posterior) (Functional, error) { return c.Evidence(), nil })
	return f
}

// LeaveOneOut is the sum of the classes' leave-one-out log probabilities.
func (p *oneVsRest) LeaveOneOut() (Functional, error) {
	return p.sum(func(c Posterior) (Functional, error) { return c.(LeaveOneOut).LeaveOneOut() })
}

// Corrected is the sum of the classes' corrected log evidences.
func (p *oneVsRest) Corrected() (sum Corrected, err error) {
	for _, class := range p.classes {
		of, ok := class.(Corrector)
		if !ok {
			return sum, errCorrection
		}
		c, err := of.Corrected()
		if err != nil {
			return sum, err
		}
		sum.LogEvidence, sum.Next = sum.LogEvidence+c.LogEvidence, sum.Next+c.Next
	}
	return sum, nil
}

func (p *oneVsRest) sum(term func(c Posterior) (Functional, error)) (Functional, error) {
	sum := sumOfClasses{shared: p.shared}
	for _, c := range p.classes {
		t, err := term(c)
		if err != nil {
			return nil, err
		}
		sum.terms = append(sum.terms, t)
	}
	return sum, nil
}

// Latent is the latent process of a class against the rest.
func (p *oneVsRest) Latent(mean, variance []float64, cross *mat.Dense, diag []float64, class int) {
	p.classes[class].Latent(mean, variance, cross, diag, 0)
}

func (p *oneVsRest) sums(mean, variance []float64, cross *mat.Dense, diag []float64, s *mat.Dense, class int) bool {
	return Sums(p.classes[class], mean, variance, cross, diag, s, 0)
}

// PredictProba normalises the probabilities of every class against the rest.
func (p *oneVsRest) PredictProba(dst *mat.Dense, cross []*mat.Dense, diag, mean [][]float64) {
	m, _ := dst.Dims()
	binary := mat.NewDense(m, 2, nil)
	for c, class := range p.classes {
		k := min(c, len(cross)-1)
		var prior [][]float64
		if mean != nil {
			prior = mean[k : k+1]
		}
		class.PredictProba(binary, cross[k:k+1], diag[k:k+1], prior)
		for i := range m {
			dst.Set(i, c, binary.At(i, 1))
		}
	}
	for i := range m {
		row := dst.RawRowView(i)
		if sum := linalg.Sum(row); sum > 0 {
			floats.Scale(1/sum, row)
			continue
		}
		for c := range row { // all probabilities are 0: the classes cannot be distinguished
			row[c] = 1 / float64(len(row))
		}
	}
}

// State concatenates the classes' states.
func (p *oneVsRest) State() State {
	var s State
	for _, c := range p.classes {
		own := c.State()
		s = append(append(s, float64(len(own))), own...)
	}
	return s
}

// Diagnostics adds up counts; the fit has converged if every class has.
func (p *oneVsRest) Diagnostics() Diagnostics {
	all := Diagnostics{Converged: true}
	for c, class := range p.classes {
		d := class.Diagnostics()
		all.Iterations += d.Iterations
		all.Factorizations += d.Factorizations
		all.Products += d.Products
		all.Converged = all.Converged && d.Converged
		if d.Failure != nil && all.Failure == nil {
			all.Failure = cause.At(fmt.Sprintf("class %d against the rest", c), d.Failure)
		}
		all.Floors += d.Floors
		all.Jitter = max(all.Jitter, d.Jitter)
		all.Unexplained = max(all.Unexplained, d.Unexplained)
		all.StandardError += d.StandardError // an upper bound: the classes may share random numbers
		for _, w := range d.Warnings {
			all.Warnings = append(all.Warnings, w.In(fmt.Sprintf("class %d against the rest", c)))
		}
	}
	return all
}

// sumOfClasses is a sum of functionals, one per class.
type sumOfClasses struct {
	terms  []Functional
	shared bool
}

func (s sumOfClasses) Value() float64 {
	sum := 0.0
	for _, t := range s.terms {
		sum += t.Value()
	}
	return sum
}

func (s sumOfClasses) Adjoint(dst *Cov, j int) error {
	if !s.shared {
		return s.terms[j].Adjoint(dst, 0)
	}
	if err := s.terms[0].Adjoint(dst, 0); err != nil {
		return err
	}
	one := Cov{K: new(mat.SymDense), Diag: make([]float64, len(dst.Diag)),
		Noise: make([]float64, len(dst.Noise)), Part: dst.Part}
	if m := dst.K.SymmetricDim(); m > 0 {
		one.K = mat.NewSymDense(m, nil)
	}
	if dst.Mean != nil {
		one.Mean = make([]float64, len(dst.Mean))
	}
	if dst.Cross != nil {
		m, n := dst.Cross.Dims()
		one.Cross = mat.NewDense(m, n, nil)
	}
	if dst.Neighbours != nil {
		one.Neighbours, one.Blocks = dst.Neighbours, dst.Neighbours.NewBlocks()
	}
	for _, t := range s.terms[1:] {
		if err := t.Adjoint(&one, 0); err != nil {
			return err
		}
		to, from := dst.K.RawSymmetric(), one.K.RawSymmetric()
		linalg.Rows(from.N, func(i0, i1 int) {
			for i := i0; i < i1; i++ {
				floats.Add(to.Data[i*to.Stride+i:i*to.Stride+from.N], from.Data[i*from.Stride+i:i*from.Stride+from.N])
			}
		})
		floats.Add(dst.Mean, one.Mean)
		floats.Add(dst.Diag, one.Diag)
		floats.Add(dst.Noise, one.Noise)
		if dst.Cross != nil {
			dst.Cross.Add(dst.Cross, one.Cross)
		}
		for i, block := range one.Blocks {
			floats.Add(dst.Blocks[i], block)
		}
	}
	return nil
}

func (s sumOfClasses) Likelihood(grad []float64) error {
	for _, t := range s.terms {
		if err := t.Likelihood(grad); err != nil {
			return err
		}
	}
	return nil
}
