//go:build linux

package main

import (
	"context"
	"fmt"
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
	o, err := objective.New(model, objective.LogEvidence{}, objective.Data{X: &kernel.Inputs{X: d.X}, Y: approx.Targets{Classes: len(d.Classes), Index: d.Labels}})
	if err != nil {
		return err
	}
	n, C, dim := float64(len(d.Labels)), float64(len(d.Classes)), float64(len(d.ColumnNames))
	cores := float64(runtime.NumCPU())
	run := objective.NewRun(context.Background(), o)
	var rows []string
	for i, name := range []string{"the first", "the next one of a tuned fit"} {
		theta := []float64{free[0] + 0.1*float64(i), free[1] + 0.1*float64(i)}
		var all []timing
		var diagnostics approx.Diagnostics
		before := stolen()
		peak := peakDuring(func() {
			all, err = race(1, contender{"gpc-tune", here(func() (a answer, err error) {
				p, err := run.Converged(theta)
				if err != nil {
					return a, err
				}
				a.Value, a.Out = p.Value(), make([]float64, len(theta))
				err = p.Gradient(a.Out)
				diagnostics = p.Diagnostics()
				return a, err
			})})
		})
		if err != nil {
			return err
		}
		t, lost := all[0].first(), stolen()-before
		F, P := float64(diagnostics.Factorizations), float64(diagnostics.Products)
		// A factorisation: potrf, trtri and lauum of every B_c, a third of n³ each, and potrf of the sum of E_c; the gradient:
		// trsm and syrk of every class, n³ each, and trtri of that factor; the mode: products with K; the distances, once: syrk.
		// All else of O(n²) is left out.
		work := F*(C+1.0/3)*n*n*n + (2*C+1.0/3)*n*n*n + P*C*2*n*n
		if i == 0 {
			work += n * n * dim
		}
		rows = append(rows, fmt.Sprintf("| %s | %.1f, %.1f | %.6f | %.4f, %.4f | %d, %v, %v | %.1f s | %.1f s | %.1f s | %.2f GiB | %.3g | %.1f | **%.1f %%** | %.1f %% | %.1f %% |", name, theta[0], theta[1], t.Value, t.Out[0], t.Out[1],
			diagnostics.Iterations, P, F, t.Wall, t.CPU, lost, t.Bytes/(1<<30), work, peak/1e9, 100*work/t.Wall/peak/cores, 100*work/(cores*t.Wall-lost)/peak, 100*work/t.CPU/peak))
	}
	b.printf("## Ten classes at once\n\nLaplace's method with softmax on %.0f digits of %.0f pixels, kernel se, one log evidence with its gradient over ln amplitude and ln length scale, %d threads. The first evaluation has its memory from the system; the next one of the same fit has that memory already, and starts from the mode that was found.\n\n",
		n, dim, runtime.NumCPU())
	b.table("| evaluation | ln amplitude, ln length scale | log evidence | gradient | Newton steps, products P with K, factorisations F | wall | CPU | stolen | memory, more than before | operations | GFLOP/s of a core | share of the cores' peak | … in the time not stolen | … in the CPU time |", "|---|---|---:|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|", rows...)
	b.printf("Operations are F(C + ⅓)n³ + (2C + ⅓)n³ + 2PCn², and n²d for the distances: n³/3 for a Cholesky factor, for the inverse of a triangle and for the square of that, n³ for a triangular solve with n right-hand sides and for a symmetric product. A factorisation is C + 1 Cholesky factors. GFLOP/s are multiply-adds from registers, measured meanwhile on one core, twice a second, in time that counts as the evaluation's. Stolen is the time in which the host ran something else on these cores.\n\n")
	if spec.Dataset != "" {
		b.printf("The book's digits were not there; these are the `%s` that come with gpc-tune.\n\n", spec.Dataset)
	}
	return nil
}
