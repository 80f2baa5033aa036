package lowrank

import (
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// ToldClasses has what predictions at new inputs need from the posterior of several processes'
// inducing variables, in O(C m) and O(C² m²) per case.
type ToldClasses struct {
	of      *Classes
	weights [][]float64 // of every class, w = U⁻¹ V b
}

// Told returns what predictions need, given b with f = m + K̂ b at the cases.
func (k *Classes) Told(b []float64) ToldClasses {
	t := ToldClasses{of: k}
	for c := range k.classes {
		w := make([]float64, k.size())
		k.prior(c).project(w, k.of(c, b))
		linalg.SolveTriVec(blas.NoTrans, k.prior(c).u, w)
		t.weights = append(t.weights, w)
	}
	return t
}

// Mean adds to mean[j] the posterior mean of f_c at new inputs minus the prior mean, given cross =
// K(Z, new) of the class.
func (t ToldClasses) Mean(mean []float64, c int, cross *mat.Dense) {
	linalg.Gemv(blas.Trans, 1, cross.RawMatrix(), t.weights[c], 1, mean)
}

// Rows is the number of rows that Project sets, Cm.
func (t ToldClasses) Rows() int { return t.of.um.N }

// Project sets q and x, Cm×b, to the contribution of class c to the covariance of the latent values
// at b new inputs: between classes c and d it is, with w = U⁻ᵀ cross,
//
//	δ_cd q_c + x_cᵀx_d,   q_c = k** - wᵀw,   x_c = U_M⁻ᵀ w in the place of V_c
//
// q_c is floored at 0, against rounding.
func (t ToldClasses) Project(q []float64, x blas64.General, c int, cross *mat.Dense, diag []float64) {
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

// Numbers are the weights of all classes and then the rows of U_M.
func (t ToldClasses) Numbers() []float64 {
	return Told{um: t.of.um, weights: slices.Concat(t.weights...)}.Numbers()
}

// ReadClasses rebuilds the ToldClasses from its Numbers, bit for bit, given K_zz, one for all
// classes or one for each.
func ReadClasses(ks []*mat.SymDense, classes int, numbers []float64) (ToldClasses, error) {
	all, err := readNumbers(numbers, classes*ks[0].SymmetricDim())
	if err != nil {
		return ToldClasses{}, err
	}
	k := &Classes{classes: classes, um: all.um}
	for _, kzz := range ks {
		p := &Prior{v: linalg.NewGeneral(kzz.SymmetricDim(), 0)}
		if err := p.factorInducing(kzz.RawSymmetric()); err != nil {
			return ToldClasses{}, err
		}
		k.priors = append(k.priors, p)
	}
	t := ToldClasses{of: k}
	for w := range slices.Chunk(all.weights, k.size()) {
		t.weights = append(t.weights, w)
	}
	return t, nil
}
