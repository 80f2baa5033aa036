package prior

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// tied is the covariance of n cases, where some cases share their latent value: their rows of K are
// bit-identical, as for equal inputs and a kernel without noise. K_v is the covariance of the m
// distinct values, and E, n×m, maps each case to its value. With T = EᵀS E,
//
//	K = E K_v Eᵀ,   |I + S K| = |I + T K_v|,   Σ = E Σ_v Eᵀ,   Σ_v = (K_v⁻¹ + T)⁻¹
//	(I + S K)⁻¹ = I - S E Σ_v Eᵀ,   R = S - S E Σ_v EᵀS
//
// in O(m³). Every case keeps its own site.
type tied struct {
	noCorrection
	values *Dense    // K_v
	value  []int     // the value of each case
	first  []int     // the first case with each value
	tau, q []float64 // τ_i, and the fraction q_i of the precision of the case's value that it is
	mixed  []bool    // values whose cases have precisions that cancel; their q is not used
}

// withEqualCases is a matrix with equal cases merged, if they may be; without equal cases,
// the matrix.
func withEqualCases(work *Work, cov Cov, n int, _ float64, merge bool, _ []float64) (Prior, error) {
	if cov.Cross != nil || !merge {
		return nil, nil
	}
	d, err := NewDense(work, cov, n)
	if err != nil {
		return nil, err
	}
	if t := d.tie(cov.Mean); t != nil {
		return t, nil
	}
	return d, nil
}

// tie merges the cases that share latent values; nil if none do.
func (d *Dense) tie(mean []float64) *tied {
	value, first := d.ties(mean)
	m := len(first)
	if m == len(value) {
		return nil
	}
	values := &Dense{k: principal(d.work.General(m, m), d.k, first), root: make([]float64, m), work: d.work}
	return newTied(values, value, first)
}

func newTied(values *Dense, value, first []int) *tied {
	n := len(value)
	return &tied{
		values: values, value: value, first: first, tau: make([]float64, n), q: make([]float64, n),
		mixed: make([]bool, len(first)),
	}
}

// ties returns the value of each case, and the first case with each value.
func (d *Dense) ties(mean []float64) (value, first []int) {
	n := len(d.root)
	later := make([][]int, n) // the later cases whose covariance with a case equals its variance
	linalg.Rows(n, func(i0, i1 int) {
		known := make(map[int]bool) // equal to a case of this block whose list includes theirs
		for i := i0; i < i1; i++ {
			if known[i] {
				continue
			}
			row := d.k.Data[i*d.k.Stride+i : i*d.k.Stride+n]
			for k, v := range row[1:] {
				if j := i + 1 + k; v == row[0] {
					later[i] = append(later[i], j)
					if j < i1 && d.sameRow(i, j, mean) {
						known[j] = true
					}
				}
			}
		}
	})
	value = slices.Repeat([]int{-1}, n)
	for i := range n {
		if value[i] >= 0 {
			continue
		}
		value[i] = len(first)
		first = append(first, i)
		for _, j := range later[i] {
			if value[j] < 0 && d.sameRow(i, j, mean) {
				value[j] = value[i]
			}
		}
	}
	return value, first
}

// sameRow reports whether cases i and j have the same rows of K and the same prior mean.
func (d *Dense) sameRow(i, j int, mean []float64) bool {
	for a := range d.root {
		if d.at(a, i) != d.at(a, j) {
			return false
		}
	}
	return mean == nil || mean[i] == mean[j]
}

// sum is Eᵀx.
func (t *tied) sum(x []float64) []float64 {
	z := make([]float64, len(t.first))
	for i, a := range t.value {
		z[a] += x[i]
	}
	return z
}

// spread sets dst = E x.
func (t *tied) spread(dst, x []float64) {
	for i, a := range t.value {
		dst[i] = x[a]
	}
}

// ofValues are numbers that the cases of a value share.
func (t *tied) ofValues(x []float64) []float64 {
	y := make([]float64, len(t.first))
	for a, i := range t.first {
		y[a] = x[i]
	}
	return y
}

// These implement Prior.
func (t *tied) WithoutSites() Prior {
	return newTied(t.values.WithoutSites().(*Dense), t.value, t.first)
}
func (t *tied) Variance(i int) float64   { return t.values.Variance(t.value[i]) }
func (t *tied) LargestVariance() float64 { return t.values.LargestVariance() }
func (t *tied) Rank() int                { return t.values.Rank() }
func (t *tied) LogDet() float64          { return t.values.LogDet() }
func (t *tied) Search() Search           { return tiedSearch{t, t.values.Search()} }

// Subset implements Prior: the values of some cases.
func (t *tied) Subset() (Prior, []int) {
	k, cases := t.values.Subset()
	for j, a := range cases {
		cases[j] = t.first[a]
	}
	return k, cases
}

func (t *tied) Multiply(dst, x []float64) {
	y := make([]float64, len(t.first))
	t.values.Multiply(y, t.sum(x))
	t.spread(dst, y)
}

func (t *tied) Factorise(tau []float64) error {
	copy(t.tau, tau)
	sum := t.sum(tau)
	clear(t.mixed)
	for i, a := range t.value {
		if t.q[i] = 0; tau[i] != 0 {
			t.q[i] = tau[i] / sum[a]
		}
		t.mixed[a] = t.mixed[a] || !(math.Abs(t.q[i]) <= 2)
	}
	return t.values.Factorise(sum)
}

// Shrink implements Prior. As T Σ_v z = z - (I + T K_v)⁻¹ z with z = Eᵀx, nothing is multiplied by
// K unless precisions cancel.
func (t *tied) Shrink(dst, x, kx []float64) {
	z, y, shrunk := t.sum(x), t.ofValues(kx), make([]float64, len(t.first))
	t.values.Shrink(shrunk, z, y)
	if slices.Contains(t.mixed, true) {
		t.values.Multiply(y, shrunk) // Σ_v z
	}
	for i, a := range t.value {
		if t.mixed[a] {
			dst[i] = x[i] - t.tau[i]*y[a]
		} else {
			dst[i] = (x[i] - t.q[i]*z[a]) + t.q[i]*shrunk[a]
		}
	}
}

// Solve implements Prior. x̄ are the means of x over the cases of each value, weighted by τ, and
// R_v is R of the values. Then R x = S(x - E x̄) + S E T⁻¹R_v x̄, and xᵀR x = (x - E x̄)ᵀS(x - E
// x̄) + x̄ᵀR_v x̄.
func (t *tied) Solve(x []float64) (square float64) {
	mean := make([]float64, len(t.first))
	for i, a := range t.value {
		mean[a] += t.q[i] * x[i]
	}
	solved := slices.Clone(mean)
	square = t.values.Solve(solved)
	for i, a := range t.value {
		rest := x[i] - mean[a]
		square += t.tau[i] * rest * rest
		x[i] = t.tau[i]*rest + t.q[i]*solved[a]
	}
	return square
}

// Locate implements Prior. With ν and b of its value, b_i = ν_i - τ_i μ_i is ν_i - q_i ν + q_i b.
func (t *tied) Locate(s Sites) (uncertain float64) {
	v := t.sites(s)
	uncertain = t.values.Locate(v)
	t.spread(s.Mu, v.Mu)
	for i, a := range t.value {
		if t.mixed[a] {
			s.B[i] = s.Nu[i] - t.tau[i]*s.Mu[i]
		} else {
			s.B[i] = s.Nu[i] - t.q[i]*v.Nu[a] + t.q[i]*v.B[a]
		}
	}
	return uncertain
}

// sites returns the sites of the values.
func (t *tied) sites(s Sites) Sites {
	return Sites{t.sum(s.Tau), t.sum(s.Nu), t.ofValues(s.Mean), t.ofValues(s.Mu), make([]float64, len(t.first))}
}

func (t *tied) Latent(b, mean, variance []float64, cross *mat.Dense, diag []float64) {
	n, m := cross.Dims()
	if n != len(t.value) {
		panic(fmt.Sprintf("prior: cross is %d×%d, want %d×m", n, m, len(t.value)))
	}
	rows := mat.NewDense(len(t.first), m, nil)
	for a, i := range t.first {
		rows.SetRow(a, cross.RawRowView(i))
	}
	t.values.Latent(t.sum(b), mean, variance, rows, diag)
}

// Marginals implements Prior: every case has its own cavity.
func (t *tied) Marginals() []Marginal {
	values, m := t.values.Marginals(), make([]Marginal, len(t.value))
	for i, a := range t.value {
		m[i] = values[a]
		m[i].CavityShare = 1 - t.q[i] + t.q[i]*m[i].CavityShare
	}
	return m
}

// covariance is an entry of Σ_v, for τ ≥ 0, given B⁻¹ of the values.
func (t *tied) covariance(inverse blas64.General, a, b int) float64 {
	v, root := inverse.Data[a*inverse.Stride+b], t.values.root
	switch {
	case a != b:
		return -v / root[a] / root[b]
	case root[a] > leastRoot:
		return (1 - v) / (root[a] * root[a])
	}
	return t.values.Variance(a) // no derivative depends on it
}

func (t *tied) Variances() []float64 {
	v := make([]float64, len(t.value))
	t.spread(v, t.values.Variances())
	return v
}

// Pull implements Prior. As R = S - S Σ S,
//
//	(I - R K) diag γ (I - K R) = diag γ - S Σ diag γ - diag γ Σ S + S Σ diag γ Σ S
func (t *tied) Pull(dst *Cov, adjoint func(variances []float64) Adjoint) {
	CheckAdjoint(dst.K, len(t.value))
	g, inverse := adjoint(t.Variances()), t.values.wholeInverse()
	raw, n, m, root := dst.K.RawSymmetric(), len(t.value), len(t.first), t.values.root
	var sigma blas64.General
	var square blas64.Symmetric
	if g.Gamma != nil {
		sigma, square = t.squared(inverse, g.Gamma)
	}
	c := g.C / 2
	eachRow(n, func(i int) {
		row, a, q := raw.Data[i*raw.Stride+i:i*raw.Stride+n], t.value[i], t.q[i]
		own := inverse.Data[a*m : (a+1)*m]
		for d, b := range t.value[i:] {
			row[d] = -c * q * root[a] * own[b] * root[b] * t.q[i+d]
			if a == b {
				row[d] += c * t.tau[i] * t.q[i+d]
			}
		}
		row[0] -= c * t.tau[i]
		if g.Gamma != nil {
			own := sigma.Data[a*m : (a+1)*m]
			for d, b := range t.value[i:] {
				j := i + d
				row[d] += t.tau[i]*t.tau[j]*square.Data[min(a, b)*m+max(a, b)] -
					(t.tau[i]*g.Gamma[j]+g.Gamma[i]*t.tau[j])*own[b]
			}
			row[0] += g.Gamma[i]
		}
		g.addProducts(row, i)
	})
}

func (t *tied) Information(dst *mat.SymDense) {
	t.Pull(&Cov{K: dst}, Adjoint{C: -2}.Constant)
}

// squared is Σ_v and Σ_v diag(Eᵀγ) Σ_v, given B⁻¹ of the values.
func (t *tied) squared(inverse blas64.General, gamma []float64) (sigma blas64.General, square blas64.Symmetric) {
	m := len(t.first)
	sigma, square = linalg.NewGeneral(m, m), linalg.NewSym(m)
	eachRow(m, func(a int) {
		for b := range m {
			sigma.Data[a*m+b] = t.covariance(inverse, a, b)
		}
	})
	linalg.SyrkDiag(blas.NoTrans, 1, sigma, t.sum(gamma), 0, square)
	return sigma, square
}

// Diagonal implements Prior, for τ ≥ 0.
func (t *tied) Diagonal(g Adjoint) []float64 {
	diagonal, variances, inverse := make([]float64, len(t.value)), t.Variances(), t.values.wholeInverse()
	var square blas64.Symmetric
	if g.Gamma != nil {
		_, square = t.squared(inverse, g.Gamma)
	}
	shares := t.values.inverseDiagonal()
	for i, a := range t.value {
		tau, v := t.tau[i], variances[i]
		diagonal[i] = -g.C / 2 * tau * (1 - t.q[i] + t.q[i]*shares[a])
		if g.Gamma != nil {
			diagonal[i] += g.Gamma[i]*(1-2*tau*v) + tau*tau*square.Data[a*square.Stride+a]
		}
		for k, p := range g.P {
			diagonal[i] += p[i] * g.Q[k][i]
		}
	}
	return diagonal
}

func (t *tied) Jacobian(sigma []float64) func(dst, x []float64) {
	return t.byValue(t.values.Jacobian(t.ofValues(sigma)))
}

// byValue turns a Jacobian of the values into the Jacobian of the cases.
func (t *tied) byValue(jacobian func(dst, x []float64)) func(dst, x []float64) {
	n, m := len(t.value), len(t.first)
	return func(dst, x []float64) {
		y := make([]float64, 2*m)
		jacobian(y, append(t.sum(x[:n]), t.sum(x[n:])...))
		t.spread(dst[:n], y[:m])
		t.spread(dst[n:], y[m:])
	}
}

// tiedSearch is the Search of tied cases.
type tiedSearch struct {
	*tied
	values Search
}

// These implement Search.
func (s tiedSearch) Close()              { s.values.Close() }
func (s tiedSearch) PrefersSweeps() bool { return true }

func (s tiedSearch) Variances(sigma []float64) {
	v := make([]float64, len(s.first))
	s.values.Variances(v)
	s.spread(sigma, v)
}

func (s tiedSearch) Swept(sigma []float64) bool {
	v := make([]float64, len(s.first))
	ok := s.values.Swept(v)
	s.spread(sigma, v)
	return ok
}

func (s tiedSearch) Jacobian(sigma []float64, at At) func(dst, x []float64) {
	return s.byValue(s.values.Jacobian(s.ofValues(sigma), at))
}

// Sweep implements Search: it visits the cases of a value one after the other.
func (s tiedSearch) Sweep(goOn bool, at Sites, visit Visit) error {
	cases, v := make([][]int, len(s.first)), s.sites(at)
	for i, a := range s.value {
		cases[a] = append(cases[a], i)
	}
	err := s.values.Sweep(goOn, v, func(a int, variance, _ float64) (dTau, dOffset float64, err error) {
		mu := v.Mu[a]
		for _, i := range cases[a] {
			at.Mu[i] = mu
			dt, do, err := visit(i, variance, at.Nu[i]-at.Tau[i]*mu)
			if err != nil {
				return 0, 0, err
			}
			at.Tau[i] += dt
			at.Nu[i] += do + dt*mu
			dTau += dt
			dOffset += do + dt*(mu-v.Mu[a])
			scale := 1 / (1 + dt*variance)
			mu += do * scale * variance
			variance *= scale
		}
		return dTau, dOffset, nil
	})
	s.spread(at.Mu, v.Mu)
	return err
}
