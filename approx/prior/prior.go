// Package prior contains the covariances of latent values that methods of inference can work with,
// as operators: a matrix (dense), a matrix with equal cases (tied), a matrix of lower rank with
// inducing inputs, and a matrix whose inverse is sparse, with neighbours. Each is one file or a
// few, and implements Prior, for one latent process, or Classes, for the processes of several
// classes.
//
// A Prior is K together with Gaussian sites of precision τ, S = diag(τ). It computes what every
// method needs of the two, without forming matrices that its structure does not have:
//
//	K x,   (I + S K)⁻¹ x,   ½ log|I + S K|,   Σ_ii,
//	R = (K + S⁻¹)⁻¹,   Σ = (K⁻¹ + S)⁻¹ = K - K R K
//
// and it converts derivatives with respect to K into derivatives with respect to the numbers that K
// was made of, a Cov. It knows no likelihoods and no kernels.
//
// An error names the covariance that is not finite or not positive definite, with a remedy; wrong
// shapes panic.
package prior

import (
	"fmt"

	"gonum.org/v1/gonum/mat"
)

// SiteSolver is a Gaussian prior of latent values with sites, as the iteration of the sites needs
// it.
type SiteSolver interface {
	// Variance is K_ii, and LargestVariance the largest of them, at least 0.
	Variance(i int) float64
	LargestVariance() float64
	// Factorise sets S = diag(tau), for all methods that follow.
	Factorise(tau []float64) error
	// LogDet is ½ log|I + S K|.
	LogDet() float64
	// Locate sets the means μ and b of sites, and returns a bound of the error of a mean beyond the
	// rounding of its last digit.
	Locate(s Sites) (uncertain float64)
	// Search prepares the iteration of sites.
	Search() Search

	Correction
}

// Prior is the covariance K of one latent process at n cases, as an operator, with the sites for
// which it was factored last.
type Prior interface {
	SiteSolver
	// Rank is the numerical rank of K, or n if it is not known.
	Rank() int
	// Multiply sets dst = K x. They must not share memory.
	Multiply(dst, x []float64)
	// WithoutSites is K with other sites, and Subset is K of some of the cases, with their indices,
	// in memory that the next Factorise overwrites: for a start of an iteration, nil if it is not
	// worth the time.
	WithoutSites() Prior
	Subset() (k Prior, cases []int)

	// Shrink sets dst = (I + S K)⁻¹ x = (I - R K) x, given kx = K x, which it may overwrite. dst
	// may be x, and kx may be dst if x is not.
	Shrink(dst, x, kx []float64)
	// Solve replaces x by R x, and returns xᵀR x, for τ ≥ 0.
	Solve(x []float64) (square float64)
	// Marginals are the posterior variances, as leave-one-out needs them.
	Marginals() []Marginal
	// Latent sets mean[j] and, unless it is nil, variance[j] of f at new inputs, without their
	// prior mean, given b, their covariance with the cases or the inducing inputs, and their prior
	// variances. A variance is floored at 0, against rounding.
	Latent(b, mean, variance []float64, cross *mat.Dense, diag []float64)
	// Condensed returns the numbers that Latent needs in addition to its arguments. ok is false if
	// Latent needs the cases.
	Condensed(b []float64) (numbers []float64, ok bool)

	// Variances are the Σ_ii. Where τ_i is 0 they need not be exact, because they are multiplied by
	// 0.
	Variances() []float64
	// Pull sets dst to a derivative with respect to the Cov from which K was made. adjoint returns
	// the derivative with respect to K, which may depend on the Variances.
	Pull(dst *Cov, adjoint func(variances []float64) Adjoint)
	// Diagonal is the diagonal of an adjoint of K.
	Diagonal(g Adjoint) []float64
	// Jacobian returns the function that sets dst to the changes of the marginals for changes x of
	// the sites: vectors of n numbers for ν or means and then n for τ or variances, in units of the
	// marginals, whose variances are sigma. The coefficients are the correlations of the posterior,
	// and minus their squares.
	Jacobian(sigma []float64) func(dst, x []float64)
}

// Correction is the treatment of the variances D that a prior of lower rank lacks; 0 for others.
type Correction interface {
	// Power is α; 1 without a correction.
	Power() float64
	// ResidualVariance is D_i.
	ResidualVariance(i int) float64
	// Penalty is (1-α)/2α log(1 + α D_i τ), which is subtracted from the log evidence for a site of
	// precision τ. PenaltySlope is its derivative by D_i divided by τ, which equals its derivative
	// by τ divided by D_i.
	Penalty(i int, tau float64) float64
	PenaltySlope(i int, tau float64) float64
	// Describe returns the value added to a diagonal, and the fraction of the prior variance of the
	// cases, without noise, that D is: Σ_i D_i/Σ_i K_ii.
	Describe() (jitter, unexplained float64)
}

// Fisher is a prior that can form R.
type Fisher interface {
	Information(dst *mat.SymDense)
}

// Adjoint is the derivative G of a scalar with respect to K, in terms of its parts:
//
//	G = ½ Σ_k (p_k q_kᵀ + q_k p_kᵀ) - ½ c R + (I - R K) diag(γ) (I - K R)
type Adjoint struct {
	P, Q     [][]float64
	C        float64
	Gamma    []float64 // nil: 0
	Residual []float64 // other derivatives with respect to D; nil: 0
	// independent returns the derivative with respect to Λ_i, given the derivative with respect to
	// K_ii, where cases are means of copies; nil: the two are equal.
	independent func(i int, diagonal float64) float64
}

// Constant is g, for Pull.
func (g Adjoint) Constant([]float64) Adjoint { return g }

// addProducts adds ½ Σ_k (p_k q_kᵀ + q_k p_kᵀ) to row i, from column i on.
func (g Adjoint) addProducts(row []float64, i int) {
	for k, p := range g.P {
		q := g.Q[k]
		pi, qi, p, q := p[i]/2, q[i]/2, p[i:i+len(row)], q[i:i+len(row)]
		for j := range row {
			row[j] += pi*q[j] + qi*p[j]
		}
	}
}

// ofClass are the products of a class.
func (g Adjoint) ofClass(c, n int) (own Adjoint) {
	for k, p := range g.P {
		own.P, own.Q = append(own.P, p[c*n:(c+1)*n]), append(own.Q, g.Q[k][c*n:(c+1)*n])
	}
	return own
}

// Sites are the sites of all cases with the prior mean m, and the means μ and b = K⁻¹(μ - m) of
// their posterior.
type Sites struct{ Tau, Nu, Mean, Mu, B []float64 }

// Marginal is the variance v of a latent value, CavityShare 1 - τv, the share of its cavity in the
// precision, and the rounding error of v.
type Marginal struct{ Variance, CavityShare, Rounding float64 }

// Search gives an iteration of sites the posteriors on its way. Until Close it may use the memory
// of the factor: after a Factorise call Locate and Variances before the others.
type Search interface {
	// Variances sets sigma to the Σ_ii of the factor.
	Variances(sigma []float64)
	// Sweep visits one case after the other: visit receives the variance and b of the marginal that
	// the visits before left, whose mean is s.Mu[i], and returns the changes of τ_i and ν_i - τ_i
	// μ_i. It starts from the factor, or goes on from the last sweep.
	Sweep(goOn bool, s Sites, visit Visit) error
	// Swept sets sigma to the variances after a sweep; false: only a new factor has them.
	Swept(sigma []float64) bool
	// Jacobian is as in Prior, for the posterior that at names.
	Jacobian(sigma []float64, at At) func(dst, x []float64)
	// PrefersSweeps reports whether a sweep takes no longer than a new factor.
	PrefersSweeps() bool
	Close()
}

// Visit is called for every case of a sweep.
type Visit func(i int, variance, b float64) (dTau, dOffset float64, err error)

// At names the posterior for which a search returns a Jacobian.
type At int

const (
	Factored      At = iota // the posterior of the last factor
	AfterSweep              // after the last sweep
	LastCalled              // the nearby posterior of the previous call, if that saves time
	AtFactorExact           // the posterior of the last factor, with no term approximated
)

// eps is the spacing of float64 at 1.
const eps = 0x1p-52

// Resolved bounds a posterior variance from below by its rounding error; it is never 0.
func Resolved(v, variance float64) float64 { return max(v, eps*variance, 1e-60) }

// noCorrection is the Correction of priors that lack no variance.
type noCorrection struct{}

func (noCorrection) Power() float64                        { return 1 }
func (noCorrection) ResidualVariance(int) float64          { return 0 }
func (noCorrection) Penalty(int, float64) float64          { return 0 }
func (noCorrection) PenaltySlope(int, float64) float64     { return 0 }
func (noCorrection) Describe() (jitter, lacks float64)     { return 0, 0 }
func (noCorrection) Condensed([]float64) ([]float64, bool) { return nil, false }

// CheckLatent panics unless there are m means and, if requested, m variances.
func CheckLatent(mean, variance []float64, m int) {
	if len(mean) != m || variance != nil && len(variance) != m {
		panic(fmt.Sprintf("prior: mean and variance have %d and %d entries, want %d", len(mean), len(variance), m))
	}
}

// CheckAdjoint panics unless an adjoint is n×n.
func CheckAdjoint(dst *mat.SymDense, n int) {
	if r := dst.SymmetricDim(); r != n {
		panic(fmt.Sprintf("prior: adjoint is %d×%d, want %d×%d", r, r, n, n))
	}
}
