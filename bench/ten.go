//go:build linux

package main

import (
	"context"
	"os"
	"runtime"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// tenClasses is one evaluation of softmax on all digits: the book's 4649, or, without them, the 1797 that come with
// gpc-tune.
func (b *bench) tenClasses() error {
	spec := data.Spec{Train: b.tenTrain}
	free := []float64{1, 2.5}
	if _, err := os.Stat(b.tenTrain); err != nil {
		spec = data.Spec{Dataset: "digits"}
		free[1] = 3
	}
	d, err := data.Load(spec, ".", 1)
	if err != nil {
		return err
	}
	model := objective.Model{Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: likelihood.Softmax{}, Inference: approx.Laplace{}}
	linalg.SetThreads(runtime.NumCPU())
	defer linalg.SetThreads(1)
	var diagnostics approx.Diagnostics
	var all []timing
	peak := peakDuring(func() {
		all, err = race(1, contender{"gpc-tune", here(func() (answer, error) {
			o, err := objective.New(model, objective.LogEvidence{}, objective.Data{X: &kernel.Inputs{X: d.X}, Y: approx.Targets{Classes: len(d.Classes), Index: d.Labels}})
			if err != nil {
				return answer{}, err
			}
			a := answer{Out: make([]float64, len(free))}
			p, err := o.At(context.Background(), free)
			if err != nil {
				return a, err
			}
			a.Value, diagnostics = p.Value(), p.Diagnostics()
			return a, p.Gradient(a.Out)
		})})
	})
	if err != nil {
		return err
	}
	t := all[0].first()
	n, C, F, P := float64(len(d.Labels)), float64(len(d.Classes)), float64(diagnostics.Factorizations), float64(diagnostics.Products)
	dim := float64(len(d.ColumnNames))
	// A factorisation: potrf, trtri and lauum of every B_c, a third of n³ each, and potrf of the sum of E_c; the gradient:
	// trsm and syrk of every class, n³ each, and trtri of that factor; the distances: syrk; the mode: products
	// with K. All else of O(n²) is left out.
	work := F*(C+1.0/3)*n*n*n + (2*C+1.0/3)*n*n*n + n*n*dim + P*C*2*n*n
	b.printf("## Ten classes at once\n\nLaplace's method with softmax on %.0f digits of %.0f pixels, kernel se with amplitude e^%v and length scale e^%v, one log evidence with its gradient, %d threads: log evidence %.6f, gradient %.4f and %.4f over ln amplitude and ln length scale, after %d Newton steps with P = %v products with K and F = %v of the factorisations that are C + 1 Cholesky factors each.\n\n",
		n, dim, free[0], free[1], runtime.NumCPU(), t.Value, t.Out[0], t.Out[1], diagnostics.Iterations, P, F)
	b.printf("%.1f s of wall-clock time and %.1f s of processor time; %.2f GiB. They need F(C + ⅓)n³ + (2C + ⅓)n³ + n²d + 2PCn² = %.3g operations (n³/3 for a Cholesky factor, for the inverse of a triangle and for the square of that, n³ for a triangular solve with n right-hand sides and for a symmetric product). "+
		"A core did %.1f GFLOP/s of multiply-adds from registers meanwhile, measured five times a second, so that these operations are **%.0f %% of the cores' peak over the whole evaluation**, and %.0f %% of the peak in the processor time that it was given.\n\n",
		t.Wall, t.CPU, t.Bytes/(1<<30), work, peak/1e9, 100*work/t.Wall/(peak*float64(runtime.NumCPU())), 100*work/t.CPU/peak)
	if spec.Dataset != "" {
		b.printf("The book's digits were not there; these are the `%s` that come with gpc-tune.\n\n", spec.Dataset)
	}
	return nil
}
