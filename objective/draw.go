package objective

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/interrupt"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// Draw is one draw of the latent processes from their prior, at some cases.
type Draw struct {
	Latent [][]float64 // [process][case]: one process, or one per class if the likelihood has one for each
	// Proba has the class probabilities given the latent values, [class][case]: p(y = +1|f) alone
	// for two classes, p(y = c|f) for more. It is nil where targets are numbers.
	Proba [][]float64
}

// Draw draws from the prior at theta, all of it in the order of LayoutOn(d): f = m + Uᵀz with K =
// UᵀU, GPML A.2, z standard normal. The model needs no Inference. d needs no targets and, for two
// classes, no class names. Draws depend on the arguments alone; draw i is the same for any count.
// If K has no full rank in floating point, the returned jitter is added to its diagonal, see
// linalg.CholeskyJitter. It is an error if K then still has no factor.
func (m Model) Draw(
	ctx context.Context, theta []float64, d Data, count int, seed uint64,
) (draws []Draw, jitter float64, err error) {
	type drawn struct {
		draws  []Draw
		jitter float64
	}
	all, err := interrupt.Do(ctx, func() (all drawn, err error) {
		all.draws, all.jitter, err = m.draw(ctx, theta, d, count, seed)
		return all, err
	})
	return all.draws, all.jitter, err
}

func (m Model) draw(
	ctx context.Context, theta []float64, d Data, count int, seed uint64,
) (draws []Draw, jitter float64, err error) {
	classes := len(d.Classes)
	m = m.On(classes)
	l, n, processes := m.LayoutOn(d), d.X.N(), 1
	if m.Likelihood.Domain() == likelihood.Categorical {
		processes = classes
	}
	mean := make([]float64, n)
	m.mean().At(mean, l.mean(theta), d.X)
	lik := m.Likelihood.At(l.likelihood(theta))
	roots := make([]blas64.Triangular, len(m.Kernels))
	k := mat.NewSymDense(n, nil)
	for j, part := range m.Kernels {
		kernel.Gram(part, k, l.kernel(theta, j), d.X)
		u, added, ok := linalg.CholeskyJitter(k.RawSymmetric())
		if !ok {
			return nil, 0, fmt.Errorf("objective: K at %s overflows, "+
				"or has a negative eigenvalue beyond rounding error",
				l.describe(theta))
		}
		roots[j], jitter = u, max(jitter, added)
	}
	for i := range count {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		var draw Draw
		for c := range processes {
			z, f := make([]float64, n), slices.Clone(mean)
			for j := range z {
				z[j] = rng.NormFloat64()
			}
			u := roots[min(c, len(roots)-1)] // below its diagonal are zeros
			linalg.Gemv(blas.Trans, 1, blas64.General{Rows: n, Cols: n, Stride: u.Stride, Data: u.Data}, z, 1, f)
			draw.Latent = append(draw.Latent, f)
		}
		draw.squash(lik, max(2, classes))
		draws = append(draws, draw)
	}
	return draws, jitter, nil
}

// squash sets Proba.
func (draw *Draw) squash(lik likelihood.Bound, classes int) {
	if lik.Likelihood().Domain() == likelihood.Numeric {
		return
	}
	n := len(draw.Latent[0])
	for range classes {
		draw.Proba = append(draw.Proba, make([]float64, n))
	}
	add, f := squash(lik, classes), make([]float64, len(draw.Latent))
	for i := range n {
		pi := make([]float64, classes)
		for c := range f {
			f[c] = draw.Latent[c][i]
		}
		add(pi, f)
		for c, p := range pi {
			draw.Proba[c][i] = p
		}
	}
	if classes == 2 && len(draw.Latent) == 1 {
		draw.Proba = draw.Proba[1:]
	}
}
