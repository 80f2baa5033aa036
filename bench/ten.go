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
	var steps int
	all, err := race(1, contender{"gpc-tune", here(func() (answer, error) {
		o, err := objective.New(model, objective.LogEvidence{}, objective.Data{X: &kernel.Inputs{X: d.X}, Y: approx.Targets{Classes: len(d.Classes), Index: d.Labels}})
		if err != nil {
			return answer{}, err
		}
		a := answer{Out: make([]float64, len(free))}
		p, err := o.At(context.Background(), free)
		if err != nil {
			return a, err
		}
		a.Value, a.Evaluations, steps = p.Value(), p.Diagnostics().Iterations, p.Diagnostics().Factorizations
		return a, p.Gradient(a.Out)
	})})
	if err != nil {
		return err
	}
	t := all[0].first()
	n, C := float64(len(d.Labels)), float64(len(d.Classes))
	dim := float64(len(d.ColumnNames))
	// a factorisation: potrf and potri of every B_c, and potrf of their sum; the gradient: potri, trsm and syrk of every
	// class, and one inverse of a triangle; the distances
	work := float64(steps)*(C*(1.0/3+2.0/3)+1.0/3)*n*n*n + (C*(2.0/3+1+1)+1.0/3)*n*n*n + n*n*dim
	b.printf("## Ten classes at once\n\nLaplace's method with softmax on %.0f digits of %.0f pixels, one log evidence with its gradient, %d threads: log evidence %.4f after %d Newton steps with %d factorisations.\n\n",
		n, dim, runtime.NumCPU(), t.Value, t.Evaluations, steps)
	b.printf("%.0f s of wall-clock time and %.0f s of processor time, %.2f GiB. With F = %[4]d factorisations of C = %.0f classes that is F(C + ⅓)n³ + (8C/3 + ⅓)n³ + n²d = %.3g operations: %.0f %% of the cores' peak over the whole evaluation.\n\n",
		t.Wall, t.CPU, t.Bytes/(1<<30), steps, C, work, 100*work/t.Wall/(b.peak*float64(runtime.NumCPU())))
	if spec.Dataset != "" {
		b.printf("The book's digits were not there; these are the `%s` that come with gpc-tune.\n\n", spec.Dataset)
	}
	return nil
}
