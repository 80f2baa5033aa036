package prior

import (
	"fmt"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// Classes are the covariances K_c of the latent processes of C classes at n cases. The processes
// are independent a priori, and coupled by sites. The site of case i has the precision W_i = D -
// ππᵀ/S, with D = diag π and S = Σ_c π_c. π are probabilities, S = 1, or a weight w times
// probabilities, S = w. For Contrasts, π are any positive numbers, and there are no weights.
// Vectors of Cn numbers contain one class after the other.
type Classes interface {
	// LargestVariance is the largest prior variance of a class.
	LargestVariance(c int) float64
	// Multiply sets dst = K x. They must not share memory.
	Multiply(dst, x []float64)
	// Preconditioner is a similar prior that is factored in a fraction of the time. It is valid
	// until the next Factorise.
	Preconditioner() Preconditioner

	// Factorise sets π, for all methods that follow.
	Factorise(pi []float64) error
	// LogDet is ½ log|I + W K| + ½ Σ_i log S_i/w_i, w_i the weights or 1.
	LogDet() float64
	// Shrink sets dst = (I + W K)⁻¹ x, given kx = K x. dst may be x.
	Shrink(dst, x, kx []float64)
	// Penalty is (1-α)/2α log|I + α W_i D_i|, for S = 1. It is subtracted from the log evidence for
	// the site of a case. Describe is as in Correction, the largest numbers of all classes.
	Penalty(i int) float64
	Describe() (jitter, unexplained float64)

	// Pull sets dst to the derivative with respect to covariance j, summed over the classes that
	// share it, of an adjoint,
	//
	//	G_c = ½ Σ_k (p_k q_kᵀ + q_k p_kᵀ)_c - ½ c R_cc + [(I - R K) Γ (I - K R)]_cc,
	//	R = (K + W⁻¹)⁻¹
	//
	// and of the Penalty. Γ has the weights γ on the posterior variances of f_c - Σ_d π_d/S f_d. If
	// S = 1, the adjoint may depend on the variances π_c q_c. q_c is the variance of f_c - Σ_d π_d
	// f_d, the variance of the correction included.
	Pull(dst *Cov, j int, adjoint func(variances []float64) Adjoint)
	// Squares returns the function that sets dst to the products with x of the squares of the
	// posterior covariances of f_c - Σ_d π_d/S f_d at one case and at the others.
	Squares() func(dst, x []float64)
	// Marginals calls visit for every case, possibly concurrently. sigma is the covariance of the
	// case's latent values, up to a term common to all entries of a row or of a column. own is the
	// part of its diagonal that is specific to each class. cavityShare is 1 - π_c own_c.
	Marginals(visit func(i int, own, cavityShare []float64, sigma *mat.SymDense))
	// Posterior predicts, given b = K⁻¹(f̂ - m).
	Posterior(b []float64) ClassesPosterior
}

// JointMarginals are Classes that can form all covariances.
type JointMarginals interface {
	// Covariances calls visit for every pair of classes a ≤ c, one after the other. s_ij is the
	// posterior covariance of f_a - Σ_d π_d/S f_d at case i and f_c - Σ_d π_d/S f_d at case j ≠ i.
	// s_ii is 0. visit may keep the matrix.
	Covariances(visit func(a, c int, s blas64.General))
}

// Preconditioner is a prior K̃ with sites.
type Preconditioner interface {
	// Factorise sets π, and reports whether rounding permits that.
	Factorise(pi []float64) bool
	// Covariance sets dst = K̃ (I + W K̃)⁻¹ x. It may overwrite x.
	Covariance(dst, x []float64)
}

// ClassesPosterior is the posterior at new inputs, given covariances with the cases or inducing
// inputs and prior variances, one shared or one per class.
type ClassesPosterior struct {
	predictor
	classes int
}

// predictor is a posterior for one kind of prior. It is also a projector, or eachInput.
type predictor interface {
	// Mean adds to mean[j] the posterior mean of f_c minus the prior mean.
	Mean(mean []float64, c int, cross *mat.Dense)
	// Condensed is as in Prior.
	Condensed() ([]float64, bool)
}

// Latent sets mean[j] to the posterior mean of f_c minus the prior mean and, unless it is nil,
// variance[j] to its variance.
func (p ClassesPosterior) Latent(mean, variance []float64, c int, cross *mat.Dense, diag []float64) {
	CheckLatent(mean, variance, len(diag))
	clear(mean)
	p.Mean(mean, c, cross)
	if variance == nil {
		return
	}
	if of, is := p.predictor.(eachInput); is {
		of.covariances([]int{c}, []*mat.Dense{cross}, [][]float64{diag}, false, func(j int, s *mat.SymDense) {
			variance[j] = max(s.At(0, 0), 0)
		})
		return
	}
	of := p.predictor.(projector)
	x := linalg.NewGeneral(of.rows(), len(diag))
	of.project(variance, x, c, cross, diag)
	of.couple(x)
	linalg.AddSquares(1, x, variance)
}

// Covariances calls visit with the covariance, C×C, of the latent values at every input, possibly
// concurrently. With differences, a term common to all entries is left out: it does not change the
// differences between classes, and may exceed them by orders of magnitude.
func (p ClassesPosterior) Covariances(
	cross []*mat.Dense, diag [][]float64, differences bool, visit func(j int, sigma *mat.SymDense),
) {
	count, known := len(diag[0]), cross[0].RawMatrix().Rows
	if of, is := p.predictor.(eachInput); is {
		classes := make([]int, p.classes)
		for c := range classes {
			classes[c] = c
		}
		of.covariances(classes, cross, diag, differences, visit)
		return
	}
	of := p.predictor.(projector)
	block := min(InputsAtOnce, count)
	all, q := linalg.NewGeneral(of.rows(), p.classes*block), make([][]float64, p.classes)
	x := make([]blas64.General, p.classes) // the columns of all side by side
	for from := 0; from < count; from += block {
		to := min(from+block, count)
		m := to - from
		all.Cols = p.classes * m
		for c := range p.classes {
			q[c], x[c] = make([]float64, m), all
			x[c].Data, x[c].Cols = all.Data[min(c*m, len(all.Data)):], m
			k := share(cross, c).Slice(0, known, from, to).(*mat.Dense)
			of.project(q[c], x[c], c, k, share(diag, c)[from:to])
		}
		of.couple(all)
		eachGram(x, m, differences, func(j int, s *mat.SymDense) {
			for c := range p.classes {
				s.SetSym(c, c, s.At(c, c)+q[c][j])
			}
			visit(from+j, s)
		})
	}
}

// ofClass adds to an error which covariance it refers to, if there are several.
func ofClass(err error, j int, cov []Cov) error {
	if len(cov) > 1 {
		return fmt.Errorf("class %d: %w", j, err)
	}
	return err
}

// share is the entry of a class in a list with one entry for all or one per class.
func share[T any](list []T, class int) T { return list[min(class, len(list)-1)] }

// eachInput computes the covariances of every input alone.
type eachInput interface {
	// covariances is Covariances for some classes. cross and diag have one entry for all of them,
	// or one for each.
	covariances(
		classes []int, cross []*mat.Dense, diag [][]float64, differences bool, visit func(j int, sigma *mat.SymDense),
	)
}

// projector computes covariances of latent values at some inputs: between classes c and d they are
// δ_cd q_c + x_cᵀx_d.
type projector interface {
	// project sets q and x, of some rows, to the contribution of class c, and couple completes x,
	// for any number of columns of any classes.
	project(q []float64, x blas64.General, c int, cross *mat.Dense, diag []float64)
	couple(x blas64.General)
	rows() int
}

// InputsAtOnce is the number of new inputs that Covariances takes at a time, with C n numbers each.
// Every triangle is read twice for all these inputs together. A thread takes inputsEach inputs.
const InputsAtOnce, inputsEach = 384, 64

// eachGram calls visit with the C×C products of columns j of x_c and x_d, for each of m columns,
// possibly concurrently. With differences the mean over the classes is subtracted from every
// number.
func eachGram(x []blas64.General, m int, differences bool, visit func(j int, s *mat.SymDense)) {
	linalg.Parallel((m+inputsEach-1)/inputsEach, func(job int) {
		first := job * inputsEach
		for j, s := range gram(x, first, min(first+inputsEach, m), differences) {
			visit(first+j, s)
		}
	})
}

// gram returns the products of eachGram for columns first to end.
func gram(x []blas64.General, first, end int, differences bool) []*mat.SymDense {
	classes, count := len(x), end-first
	at, mean, pairs := make([][]float64, classes), make([]float64, count), make([][]float64, classes*classes)
	for c := range at {
		at[c] = make([]float64, count)
		for d := c; d < classes; d++ {
			pairs[c*classes+d] = make([]float64, count)
		}
	}
	for i := range x[0].Rows {
		clear(mean)
		for c, own := range at {
			from := i*x[c].Stride + first
			copy(own, x[c].Data[from:from+count])
			if differences {
				floats.Add(mean, own)
			}
		}
		floats.Scale(-1/float64(classes), mean)
		for c, own := range at {
			floats.Add(own, mean)
			for d, other := range at[:c+1] {
				sum := pairs[d*classes+c][:len(own)]
				for j, v := range own {
					sum[j] += v * other[j]
				}
			}
		}
	}
	sums := make([]*mat.SymDense, count)
	for j := range sums {
		sums[j] = mat.NewSymDense(classes, nil)
		for c := range classes {
			for d := c; d < classes; d++ {
				sums[j].SetSym(c, d, pairs[c*classes+d][j])
			}
		}
	}
	return sums
}
