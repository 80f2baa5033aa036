package approx

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

// tied is Laplace's method for cases of which some share their latent value: rows of K and prior
// means are equal, bit for bit, as they are for equal inputs and a kernel without noise. The m
// distinct values, each with the likelihood of all its cases, have the same mode and the same
// evidence as the n equal ones, for O(m³).
//
// No other method merges cases. Laplace's sees log p(y|f) alone, which adds up over the cases that
// share f; sites that match moments do not, so that merged cases have another evidence there.
type tied struct {
	*laplacePosterior // of the distinct values
	maxIterations     int
	cov               []Cov // of all cases
	targets           Targets
	base              likelihood.Differentiable
	of, first         []int // the value that a case has, and the first case that has a value
}

// together is the likelihood of the cases that share a value. Its y is the value's number.
type together struct {
	likelihood.Differentiable
	labels [][]float64
}

// Derivs implements likelihood.Differentiable.
func (l together) Derivs(y, f float64) (logp, d1, d2, d3 float64) {
	for _, label := range l.labels[int(y)] {
		a, b, c, d := l.Differentiable.Derivs(label, f)
		logp, d1, d2, d3 = logp+a, d1+b, d2+c, d3+d
	}
	return logp, d1, d2, d3
}

// ties finds the cases that share a latent value; nil, nil if none do.
func (s *sites) ties() (of, first []int) {
	n := len(s.y)
	of = slices.Repeat([]int{-1}, n)
	for i := range n {
		if of[i] >= 0 {
			continue
		}
		of[i] = len(first)
		first = append(first, i)
		row := s.k.Data[i*s.k.Stride+i : i*s.k.Stride+n]
		for d, v := range row[1:] {
			if j := i + 1 + d; v == row[0] && of[j] < 0 && s.sameRow(i, j) {
				of[j] = of[i]
			}
		}
	}
	if len(first) == n {
		return nil, nil
	}
	return of, first
}

// sameRow reports whether cases i and j have the same rows of K and the same prior mean.
func (s *sites) sameRow(i, j int) bool {
	for a := range s.y {
		if s.k.Data[min(a, i)*s.k.Stride+max(a, i)] != s.k.Data[min(a, j)*s.k.Stride+max(a, j)] {
			return false
		}
	}
	return s.mean[i] == s.mean[j]
}

// tie merges the cases of p that share latent values, if there are any, and takes the state from
// them.
func (p *laplacePosterior) tie(
	cov []Cov, y Targets, start State, maxIterations int,
) (latentModel, State, error) {
	of, first := p.ties()
	if of == nil {
		return p, start, nil
	}
	mean, value, labels := make([]float64, len(first)), make([]float64, len(first)), make([][]float64, len(first))
	for a, i := range first {
		mean[a], value[a] = p.mean[i], float64(a)
	}
	for i, a := range of {
		labels[a] = append(labels[a], p.y[i])
	}
	prior := []Cov{{K: principal(p.k, first), Mean: mean}}
	targets := Targets{Classes: y.Classes, Value: value}
	distinct, err := newLaplacePosterior(p.work, p.tolerance, prior, targets, p.lik)
	if err != nil {
		return nil, nil, err
	}
	distinct.model = together{p.model, labels}
	t := &tied{distinct, maxIterations, cov, y, p.model, of, first}
	if start != nil {
		start, err = t.gather(start)
	}
	return t, start, err
}

// gather is the State of the distinct values: a is the sum over the cases that share one.
func (t *tied) gather(s State) (State, error) {
	n, m := len(t.of), len(t.first)
	if err := checkState("laplace", s, 2*n); err != nil {
		return nil, err
	}
	out := make(State, 2*m)
	for i, a := range t.of {
		out[a] += s[i]
	}
	for a, i := range t.first {
		out[m+a] = s[n+i]
	}
	return out, nil
}

// finish implements latentModel.
func (t *tied) finish(at *point, length float64, iterations int) (Posterior, error) {
	_, err := t.laplacePosterior.finish(at, length, iterations)
	n, m := len(t.of), len(t.first)
	merged := t.state
	t.state = make(State, 2*n)
	for a, i := range t.first {
		t.state[i] = merged[a]
	}
	for i, a := range t.of {
		t.state[n+i] = merged[m+a]
	}
	t.evidence.adjoint = t.adjoint
	return t, err
}

// adjoint is that of laplacePosterior, case by case. With q_i = W_i/Σ W_j over the cases j that
// share a value,
//
//	g_i = ∇log p_i + q_i (a - Σ_j ∇log p_j),  u_i = s_i - W_i [Σs],
//	R_ij = δ_ij W_i - δ_IJ W_i q_j + q_i q_j R_IJ
func (t *tied) adjoint(dst *Cov) {
	n, at := len(t.of), t.mode
	checkAdjoint(dst.K, n)
	r := mat.NewSymDense(len(t.first), nil)
	_, ks, variance := t.implicit(r, at)
	g, u, w, q := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i, a := range t.of {
		var d2, d3 float64
		_, g[i], d2, d3 = t.base.Derivs(t.targets.Value[i], at.f[a])
		if w[i], q[i] = -d2, -d2/at.w[a]; at.w[a] == 0 { // floored, or a straight tail
			w[i], q[i], d3 = 0, 1/float64(len(t.model.(together).labels[a])), 0
		}
		u[i] = variance[a]/2*d3 + d2*ks[a]
	}
	for i, a := range t.of {
		g[i] += q[i] * (t.b[a] - at.g[a])
	}
	raw, shared := dst.K.RawSymmetric(), r.RawSymmetric()
	for i, a := range t.of {
		row := raw.Data[i*raw.Stride+i : i*raw.Stride+n]
		for d := range row {
			j := i + d
			b := t.of[j]
			rij := q[i] * q[j] * shared.Data[min(a, b)*shared.Stride+max(a, b)]
			if a == b {
				rij -= w[i] * q[j]
			}
			if d == 0 {
				rij += w[i]
			}
			row[d] = (g[i]*g[j] - rij + u[i]*g[j] + g[i]*u[j]) / 2
		}
		if dst.Mean != nil {
			dst.Mean[i] = g[i] + u[i]
		}
	}
}

// Latent implements Posterior.
func (t *tied) Latent(mean, variance []float64, cross *mat.Dense, diag []float64, class int) {
	t.laplacePosterior.Latent(mean, variance, t.rows(cross), diag, class)
}

// PredictProba implements Posterior.
func (t *tied) PredictProba(dst *mat.Dense, cross []*mat.Dense, diag, mean [][]float64) {
	t.laplacePosterior.PredictProba(dst, []*mat.Dense{t.rows(cross[0])}, diag, mean)
}

// rows is the covariance of the distinct values with new cases.
func (t *tied) rows(cross *mat.Dense) *mat.Dense {
	n, m := cross.Dims()
	if n != len(t.of) {
		panic(fmt.Sprintf("approx: cross is %d×%d, want %d×m", n, m, len(t.of)))
	}
	out := mat.NewDense(len(t.first), m, nil)
	for a, i := range t.first {
		out.SetRow(a, cross.RawRowView(i))
	}
	return out
}

// LeaveOneOut implements LeaveOneOuter: every case has a cavity of its own.
func (t *tied) LeaveOneOut() (Functional, error) {
	p, err := t.untied()
	if err != nil {
		return nil, err
	}
	return p.LeaveOneOut()
}

// untier posteriors of Laplace's method have an equal one with a latent value for every case.
type untier interface {
	untied() (*laplacePosterior, error)
}

// untied implements untier. It starts at the mode.
func (t *tied) untied() (*laplacePosterior, error) {
	p, err := newLaplacePosterior(t.work, t.tolerance, t.cov, t.targets, t.lik)
	if err != nil {
		return nil, err
	}
	at, length, iterations, err := seek(context.Background(), p, t.state, t.maxIterations)
	if err != nil {
		return nil, err
	}
	_, err = p.finish(at, length, t.diagnostics.Iterations+iterations)
	return p, err
}

// untied implements untier: it is p itself.
func (p *laplacePosterior) untied() (*laplacePosterior, error) { return p, nil }
