package objective

import (
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// features are the m inducing variables of a covariance of lower rank, such as the values of the
// latent process at inducing inputs.
type features interface {
	rows() int // m
	// gram sets dst, m×m, to the covariance of the features. columns sets dst to the covariances of
	// the features with the cases of a part.
	gram(dst *mat.SymDense, k kernel.Kernel, theta []float64)
	columns(dst *mat.Dense, k kernel.Kernel, theta []float64, p part)
	// pullGram and pullColumns add to grad the derivatives over theta, for an adjoint g of the
	// covariances that gram and columns set.
	pullGram(grad []float64, k kernel.Kernel, theta []float64, g *mat.SymDense)
	pullColumns(grad []float64, k kernel.Kernel, theta []float64, p part, g *mat.Dense)
}

// lowRank implements structure by features, except for the covariances with new cases. It works on
// parts of a few thousand cases; threads share the parts.
type lowRank struct {
	of    features
	x     *kernel.Inputs
	parts []part
}

// part is the cases with the indices from … to-1.
type part struct {
	number   int
	x        *kernel.Inputs
	from, to int
}

const (
	// partSize is the number of cases of a part.
	partSize = approx.PartSize
	// mostKept is the largest number of distances that are kept for the next theta: 256 MB.
	mostKept = 1 << 25
)

func newLowRank(of features, x *kernel.Inputs) lowRank {
	d := lowRank{of: of, x: x}
	for from := 0; from < x.N(); from += partSize {
		to := min(x.N(), from+partSize)
		rows := x.X.Slice(from, to, 0, x.Dim()).(*mat.Dense)
		d.parts = append(d.parts, part{len(d.parts), &kernel.Inputs{X: rows}, from, to})
	}
	return d
}

// each runs work for every part, in parallel.
func (d *lowRank) each(work func(p part)) {
	linalg.Parallel(len(d.parts), func(k int) { work(d.parts[k]) })
}

func (d *lowRank) room() approx.Cov {
	m, n := d.of.rows(), d.x.N()
	cov := d.adjoint(nil)
	cov.Cross, cov.Scratch = mat.NewDense(m, n, linalg.Floats(m*n)), true
	return cov
}

// adjoint implements structure. The columns of Cross come part by part.
func (d *lowRank) adjoint(*approx.Work) approx.Cov {
	n := d.x.N()
	return approx.Cov{K: mat.NewSymDense(d.of.rows(), nil), Diag: make([]float64, n), Noise: make([]float64, n)}
}

func (d *lowRank) prior(cov approx.Cov, k kernel.Kernel, theta []float64) {
	d.of.gram(cov.K, k, theta)
	d.each(func(p part) {
		d.of.columns(cov.Cross.Slice(0, d.of.rows(), p.from, p.to).(*mat.Dense), k, theta, p)
		smooth, noise := cov.Diag[p.from:p.to], cov.Noise[p.from:p.to]
		kernel.SmoothDiag(k, smooth, theta, p.x)
		kernel.Diag(k, noise, theta, p.x)
		floats.Sub(noise, smooth)
	})
}

func (d *lowRank) pullback(
	grad []float64, k kernel.Kernel, theta []float64, _ approx.Cov, adjoint *approx.Cov,
	fill func(*approx.Cov) error,
) error {
	grads := make([][]float64, len(d.parts))
	for i := range grads {
		grads[i] = make([]float64, len(grad))
	}
	adjoint.Part = func(cross *mat.Dense, from int) {
		i := from / partSize
		d.of.pullColumns(grads[i], k, theta, d.parts[i], cross)
	}
	if err := fill(adjoint); err != nil {
		return err
	}
	d.of.pullGram(grad, k, theta, adjoint.K)
	d.each(func(p part) {
		noise := adjoint.Noise[p.from:p.to]
		// noise is the whole variance less the smooth one
		kernel.PullbackDiag(k, grads[p.number], theta, p.x, noise)
		smooth := floats.SubTo(make([]float64, len(noise)), adjoint.Diag[p.from:p.to], noise)
		kernel.PullbackSmoothDiag(k, grads[p.number], theta, p.x, smooth)
	})
	for _, g := range grads {
		floats.Add(grad, g)
	}
	return nil
}
