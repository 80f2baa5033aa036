package approxtest

import (
	"context"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/testing/allocated"
)

// MemoryProblem is a fit whose memory is measured.
type MemoryProblem struct {
	Method  approx.Approximation
	Lik     likelihood.Likelihood
	Cov     []approx.Cov
	Targets approx.Targets
	Size    approx.Size
	Times   int // how often a fit needs its temporary memory, one after the other; 0 means once
}

const (
	memoryCases = 160
	memoryNew   = 80
)

// CheckMemory compares a method's stated memory with what it allocates, up to a factor of 1.5 and a
// quarter of a matrix: for a fit with a prediction, and for a fit with an adjoint and with
// leave-one-out.
func CheckMemory(t *testing.T, p MemoryProblem) {
	t.Helper()
	caps, err := p.Method.Uses(p.Lik, p.Targets.Classes)
	if err != nil {
		t.Fatal(err)
	}
	lik, n := AtInit(p.Lik), p.Targets.Len()
	stated := p.Method.Memory(p.Size)
	p.Size.New = 0
	silent := p.Method.Memory(p.Size)
	adjoint := approx.Cov{K: mat.NewSymDense(n, nil)}
	grad := make([]float64, len(p.Lik.Params()))
	fit := func() approx.Posterior {
		post, err := p.Method.Fit(context.Background(), p.Cov, p.Targets, lik, nil)
		if err != nil {
			t.Fatal(err)
		}
		return post
	}
	cross, diag := newCases(p.Cov[0].K)
	p.hold(t, "fit", stated.Fit, approx.Bytes{}, func() any {
		post := fit()
		switch p.Targets.Classes {
		case 0:
			post.Latent(make([]float64, memoryNew), make([]float64, memoryNew), cross, diag, 0)
		default:
			dst := mat.NewDense(memoryNew, p.Targets.Classes, nil)
			post.PredictProba(dst, []*mat.Dense{cross}, [][]float64{diag}, nil)
		}
		return post
	})
	if caps.Gradient && fit().Diagnostics().Floors == 0 { // which decide how much it is
		p.hold(t, "fit and adjoint", silent.Fit, silent.Evidence, func() any {
			post := fit()
			for j := range p.Cov {
				if err := post.Evidence().Adjoint(&adjoint, j); err != nil {
					t.Fatal(err)
				}
			}
			if err := post.Evidence().Likelihood(grad); err != nil {
				t.Fatal(err)
			}
			return post
		})
	}
	if caps.LeaveOneOut {
		p.holdLeaveOneOut(t, silent, caps.LeaveOneOutGradient, fit)
	}
}

// holdLeaveOneOut calls hold for the leave-one-out sum of a fit, without and with its adjoint.
func (p MemoryProblem) holdLeaveOneOut(t *testing.T, stated approx.Memory, gradient bool, fit func() approx.Posterior) {
	t.Helper()
	sum := func() (approx.Posterior, approx.Functional) {
		post := fit()
		f, err := post.(approx.LeaveOneOut).LeaveOneOut()
		if err != nil {
			t.Fatal(err)
		}
		return post, f
	}
	p.hold(t, "fit and leave-one-out", stated.Fit, stated.LeaveOneOut, func() any {
		post, f := sum()
		return []any{post, f}
	})
	if !gradient {
		return
	}
	adjoint := approx.Cov{K: mat.NewSymDense(p.Targets.Len(), nil)}
	more := stated.LeaveOneOut.And(stated.LeaveOneOutAdjoint)
	p.hold(t, "fit and leave-one-out with its adjoint", stated.Fit, more, func() any {
		post, f := sum()
		if err := f.Adjoint(&adjoint, 0); err != nil {
			t.Fatal(err)
		}
		return []any{post, f}
	})
}

// newCases takes half of the cases of k as cases to predict.
func newCases(k *mat.SymDense) (cross *mat.Dense, diag []float64) {
	n := k.SymmetricDim()
	cross, diag = mat.NewDense(n, memoryNew, nil), make([]float64, memoryNew)
	for j := range diag {
		diag[j] = k.At(j, j)
		for i := range n {
			cross.Set(i, j, k.At(i, j)/2)
		}
	}
	return cross, diag
}

// hold compares what f allocates with what is stated for a fit and for more after it.
func (p MemoryProblem) hold(t *testing.T, what string, fit, more approx.Bytes, f func() any) {
	t.Helper()
	kept, passing := allocated.Large(f)
	all := fit.Kept + more.Kept + more.Passing + fit.Passing*int64(max(1, p.Times))
	matrix := float64(8 * p.Size.Cases * p.Size.Cases)
	for _, c := range []struct {
		name        string
		got, stated int64
	}{
		{"kept", kept, fit.Kept + more.Kept},
		{"kept and in passing", kept + passing, all},
	} {
		got, stated := float64(c.got)/matrix, float64(c.stated)/matrix
		if math.Abs(got-stated) > 0.25 && !(got < 1.5*stated && stated < 1.5*got) {
			t.Errorf("%s, %s: %.2f matrices, stated %.2f", what, c.name, got, stated)
		}
	}
}
