//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// tenClasses is one evaluation of softmax on all digits: the book's 4649, or, without them, the
// 1797 that come with gpc-tune.
func (b *bench) tenClasses() {
	spec, free := data.Spec{Train: b.tenTrain}, []float64{1, 2.5}
	if _, err := os.Stat(b.tenTrain); err != nil {
		spec, free = data.Spec{Dataset: "digits"}, []float64{1, 3}
	}
	d := got(data.Load(spec, ".", 1))
	linalg.SetThreads(runtime.NumCPU())
	defer linalg.SetThreads(1)
	run := objective.NewRun(context.Background(), got(objective.New(
		model(false, likelihood.Softmax{}, approx.Laplace{}),
		objective.LogEvidence{},
		objective.Data{X: &kernel.Inputs{X: d.X}, Y: approx.Targets{Classes: len(d.Classes), Index: d.Labels}})))
	n, C, dim := float64(len(d.Labels)), float64(len(d.Classes)), float64(len(d.ColumnNames))
	cores := float64(runtime.NumCPU())
	var rows []string
	for i, name := range []string{"the first", "the next one of a tuned fit"} {
		theta := []float64{free[0] + 0.1*float64(i), free[1] + 0.1*float64(i)}
		var t answer
		var diagnostics approx.Diagnostics
		before := stolen()
		peak := peakDuring(func() {
			t = here(func() answer {
				p := got(run.Converged(theta))
				a := answer{Value: p.Value(), Out: make([]float64, len(theta))}
				must(p.Gradient(a.Out))
				diagnostics = p.Diagnostics()
				return a
			})()
		})
		lost := stolen() - before
		F, P := float64(diagnostics.Factorizations), float64(diagnostics.Products)
		// A factorisation: potrf, trtri and lauum of every B_c, a third of n³ each, and potrf of
		// the sum of E_c; the gradient: trsm and syrk of every class, n³ each, and trtri of that
		// factor; the mode: products with K; the distances, once: syrk. All else of O(n²) is left
		// out, and the preconditioner of the mode, about n³/64 a step.
		work := F*(C+1.0/3)*n*n*n + (2*C+1.0/3)*n*n*n + P*C*2*n*n
		if i == 0 {
			work += n * n * dim
		}
		row := fmt.Sprintf("| %s | %.1f, %.1f | %.6f | %.4f, %.4f | %d, %v, %v | %.1f s | %.1f s | %.1f s | %.2f GiB |",
			name, theta[0], theta[1], t.Value, t.Out[0], t.Out[1],
			diagnostics.Iterations, P, F, t.Wall, t.CPU, lost, t.Bytes/(1<<30))
		row += fmt.Sprintf(" %.3g | %.1f | **%.1f %%** | %.1f %% | %.1f %% |",
			work, peak/1e9, 100*work/t.Wall/peak/cores, 100*work/(cores*t.Wall-lost)/peak, 100*work/t.CPU/peak)
		rows = append(rows, row)
	}
	b.say("ten", n, dim, runtime.NumCPU(), strings.Join(rows, "\n"))
	if spec.Dataset != "" {
		b.say("ten, without the book", spec.Dataset)
	}
}
