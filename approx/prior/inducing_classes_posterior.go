package prior

import (
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// inducingClassesPosterior predicts at new inputs from the posterior of several processes' inducing
// variables. A new input takes O(C m) for the means and O(C² m²) for the covariance.
type inducingClassesPosterior struct {
	of      *inducingClasses
	weights [][]float64 // w = U⁻¹ V b of every class
}

func (k *inducingClasses) Posterior(b []float64) ClassesPosterior {
	t := inducingClassesPosterior{of: k}
	for c := range k.classes {
		w := make([]float64, k.size())
		k.prior(c).project(w, k.of(c, b))
		linalg.SolveTriVec(blas.NoTrans, k.prior(c).u, w)
		t.weights = append(t.weights, w)
	}
	return ClassesPosterior{t, k.classes}
}

func (t inducingClassesPosterior) Mean(mean []float64, c int, cross *mat.Dense) {
	linalg.Gemv(blas.Trans, 1, cross.RawMatrix(), t.weights[c], 1, mean)
}

// These implement projector.
func (t inducingClassesPosterior) rows() int             { return t.of.um.N }
func (t inducingClassesPosterior) couple(blas64.General) {}

// project implements projector: with w = U⁻ᵀ cross,
//
//	q_c = k** - wᵀw,   x_c = U_M⁻ᵀ w in the place of V_c
//
// q_c is floored at 0, against rounding.
func (t inducingClassesPosterior) project(q []float64, x blas64.General, c int, cross *mat.Dense, diag []float64) {
	k := t.of
	w := k.prior(c).whiten(cross, diag)
	copy(q, diag)
	linalg.AddSquares(-1, w, q)
	for j, v := range q {
		q[j] = max(v, 0)
	}
	k.invert()
	for i := range c * k.size() {
		clear(x.Data[i*x.Stride : i*x.Stride+x.Cols])
	}
	k.half(x, c, w)
}

// Condensed implements predictor: the weights of all classes and then the rows of U_M.
func (t inducingClassesPosterior) Condensed() ([]float64, bool) {
	return InducingPosterior{um: t.of.um, weights: slices.Concat(t.weights...)}.Condensed(), true
}

// ReadClasses rebuilds a posterior with inducing inputs from its Condensed numbers, bit for bit,
// given the K_zz of cov, one for all classes or one for each.
func ReadClasses(cov []Cov, classes int, numbers []float64) (ClassesPosterior, error) {
	all, err := readNumbers(numbers, classes*cov[0].K.SymmetricDim())
	if err != nil {
		return ClassesPosterior{}, err
	}
	k := &inducingClasses{classes: classes, um: all.um}
	for _, c := range cov {
		p := &inducing{v: linalg.NewGeneral(c.K.SymmetricDim(), 0)}
		if err := p.factorInducing(c.K.RawSymmetric()); err != nil {
			return ClassesPosterior{}, err
		}
		k.priors = append(k.priors, p)
	}
	t := inducingClassesPosterior{of: k}
	for w := range slices.Chunk(all.weights, k.size()) {
		t.weights = append(t.weights, w)
	}
	return ClassesPosterior{t, classes}, nil
}
