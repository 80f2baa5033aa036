package approx

import (
	"context"
	"fmt"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// tied is Laplace's method if some cases share their latent value: their rows of K and prior means
// are bit-identical, as for equal inputs and a kernel without noise. The m distinct values, each
// with the product of the likelihoods of its cases, have the same mode and the same evidence as the
// n values, in O(m³).
//
// No other method merges cases. Laplace's method depends on log p(y|f) only, which adds up over the
// cases that share f; moment-matched sites do not, so merged cases would have another evidence.
type tied struct {
	*laplacePosterior       // of the distinct values
	cov               []Cov // of all cases
	targets           Targets
	base              likelihood.Differentiable
	of, first         []int // the value of each case, and the first case with each value
}

// together is the likelihood of the cases that share a value. Its y is the index of the value.
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
	later := make([][]int, n) // for each case, later ones whose covariance with it equals its own variance
	linalg.Rows(n, func(i0, i1 int) {
		known := make(map[int]bool) // equal to a case of this block whose list includes theirs
		for i := i0; i < i1; i++ {
			if known[i] {
				continue
			}
			row := s.k.Data[i*s.k.Stride+i : i*s.k.Stride+n]
			for d, v := range row[1:] {
				if j := i + 1 + d; v == row[0] {
					later[i] = append(later[i], j)
					if j < i1 && s.sameRow(i, j) {
						known[j] = true
					}
				}
			}
		}
	})
	of = slices.Repeat([]int{-1}, n)
	for i := range n {
		if of[i] >= 0 {
			continue
		}
		of[i] = len(first)
		first = append(first, i)
		for _, j := range later[i] {
			if of[j] < 0 && s.sameRow(i, j) {
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

// tie merges the cases of p that share latent values, if there are any, and converts the state.
func (p *laplacePosterior) tie(cov []Cov, y Targets, start State) (latentModel, State, error) {
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
	prior := []Cov{{K: principal(p.work.general(len(first), len(first)), p.k, first), Mean: mean}}
	targets := Targets{Classes: y.Classes, Value: value}
	distinct, err := newLaplacePosterior(p.work, p.tolerance, prior, targets, p.lik)
	if err != nil {
		return nil, nil, err
	}
	distinct.model = together{p.model, labels}
	t := &tied{distinct, cov, y, p.model, of, first}
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
	n, m, at := len(t.of), len(t.first), t.mode
	checkAdjoint(dst.K, n)
	defer t.work.release(t.work.mark())
	r := t.work.general(m, m)
	inverse := mat.NewSymDense(m, r.Data)
	_, ks, variance := t.implicit(inverse, at)
	linalg.Reflect(blas.Lower, r, r)
	apart, u := t.apart(), make([]float64, n)
	g, w, q := apart.g, apart.w, apart.q
	for i, a := range t.of {
		u[i] = variance[a]/2*apart.d3[i] + apart.d2[i]*ks[a]
	}
	raw := dst.K.RawSymmetric()
	linalg.Rows(n, func(i0, i1 int) {
		for i := i0; i < i1; i++ {
			a := t.of[i]
			row, of, shared := raw.Data[i*raw.Stride+i:i*raw.Stride+n], t.of[i:n], r.Data[a*m:(a+1)*m]
			g, u, q, gi, ui, qi := g[i:n], u[i:n], q[i:n], g[i], u[i], q[i]*t.root[a]
			for d, b := range of {
				rij := qi * q[d] * (shared[b] * t.root[b])
				if a == b {
					rij -= w[i] * q[d]
				}
				row[d] = (gi*g[d] - rij + ui*g[d] + gi*u[d]) / 2
			}
			row[0] -= w[i] / 2
		}
	})
	if dst.Mean != nil {
		floats.AddTo(dst.Mean, g, u)
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

// LeaveOneOut implements LeaveOneOuter: every case has its own cavity. With its fraction q_i of the
// precision W of its value, 1 - W_i v = 1 - q_i + q_i(1 - W v). The derivatives are those of the
// equivalent posterior with a latent value for every case.
func (t *tied) LeaveOneOut() (Functional, error) {
	if !t.diagnostics.Converged {
		return nil, t.evidence.err
	}
	apart := t.apart()
	if slices.ContainsFunc(apart.d2, func(d2 float64) bool { return d2 > 0 }) { // W_i is floored for each case
		p, err := t.untied()
		if err != nil {
			return nil, err
		}
		return p.LeaveOneOut()
	}
	marginals, _ := t.marginals()
	c := newCavities(len(t.of))
	for i, a := range t.of {
		m, q := marginals[a], apart.q[i]
		m.share = 1 - q + q*m.share
		c.add(i, m, apart.w[i], apart.g[i], t.mode.f[a], t.lik, t.targets.Value[i])
	}
	if err := c.check(); err != nil {
		return nil, err
	}
	var equal Functional
	return functional{value: c.sum, err: t.evidence.err, solve: func() error {
		if equal != nil {
			return nil
		}
		p, err := t.untied()
		if err == nil {
			equal, err = p.LeaveOneOut()
		}
		return err
	}, adjoint: func(dst *Cov) { equal.(functional).adjoint(dst) }}, nil
}

// apart is the contribution of each case to b, W and ∂³log p/∂f³ of its value, over the cases j
// that share it.
type apart struct {
	g      []float64 // ∇log p_i + q_i (b - Σ_j ∇log p_j)
	w, q   []float64 // W_i, and its fraction of ΣW_j
	d2, d3 []float64 // derivatives of its own log p, except d3 if ΣW_j = 0
}

func (t *tied) apart() apart {
	vector := func() []float64 { return make([]float64, len(t.of)) }
	c, at := apart{g: vector(), w: vector(), q: vector(), d2: vector(), d3: vector()}, t.mode
	for i, a := range t.of {
		_, c.g[i], c.d2[i], c.d3[i] = t.base.Derivs(t.targets.Value[i], at.f[a])
		if c.w[i], c.q[i] = -c.d2[i], -c.d2[i]/at.w[a]; at.w[a] == 0 { // floored, or a straight tail
			c.w[i], c.q[i], c.d3[i] = 0, 1/float64(len(t.model.(together).labels[a])), 0
		}
		c.g[i] += c.q[i] * (t.b[a] - at.g[a])
	}
	return c
}

// untier posteriors of Laplace's method have an equivalent one with a latent value for every case.
type untier interface {
	untied() (*laplacePosterior, error)
}

// untied implements untier. The mode is known.
func (t *tied) untied() (*laplacePosterior, error) {
	p, err := newLaplacePosterior(t.work, t.tolerance, t.cov, t.targets, t.lik)
	if err != nil {
		return nil, err
	}
	// The entries of a for the cases of a value are set to the gradients of their likelihoods, as
	// at a mode.
	state, at := slices.Clone(t.state), t.mode
	for i, a := range t.of {
		_, g, _, _ := t.base.Derivs(p.y[i], at.f[a])
		state[i] = g + (at.a[a]-at.g[a])/float64(len(t.model.(together).labels[a]))
	}
	mode, length, err := restore(p, state)
	if err != nil {
		return nil, err
	}
	if target, _ := p.precision(mode); length > target {
		if mode, length, _, err = seek(context.Background(), p, mode.state(), defaultIterations); err != nil {
			return nil, err
		}
	}
	_, err = p.finish(mode, length, t.diagnostics.Iterations)
	return p, err
}

// untied implements untier: it is p itself.
func (p *laplacePosterior) untied() (*laplacePosterior, error) { return p, nil }
