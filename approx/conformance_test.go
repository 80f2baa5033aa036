package approx_test

import (
	"context"
	"errors"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/approxtest"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
)

// TestConformance runs the conformance kit on every method of the table.
func TestConformance(t *testing.T) {
	for _, e := range approx.Table {
		m, err := e.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		t.Run(e.Name, func(t *testing.T) { approxtest.Check(t, m) })
	}
	t.Run("one_vs_rest", func(t *testing.T) { approxtest.Check(t, approx.OneVsRest{Binary: approx.NaiveMeanField{}}) })
}

// TestIndefinite: Laplace's method detects an indefinite K.
func TestIndefinite(t *testing.T) {
	x, y := twoClasses(5, 7)
	k, _, _ := seGram(x, 0, 0)
	k.SetSym(1, 3, 1e4)
	for _, lik := range []likelihood.Bound{likelihood.Probit{}, likelihood.Logit{}} {
		_, err := approx.Laplace{}.Fit(context.Background(), []approx.Cov{{K: k}}, approx.Targets{Classes: 2, Value: y}, lik, nil)
		if !errors.Is(err, approx.ErrNotPositiveDefinite) {
			t.Errorf("%T: error %v", lik, err)
		}
	}
}

// TestNegativeState: EP and PL reject a state with negative site precisions.
func TestNegativeState(t *testing.T) {
	const n = 40
	x, y := twoClasses(n, 8)
	k, _, _ := seGram(x, 0, 3)
	negative := make(approx.State, 2*n)
	negative[3] = -0.1
	for _, method := range []approx.Approximation{approx.EP{}, approx.PL{}} {
		_, err := method.Restore([]approx.Cov{{K: k}}, approx.Targets{Classes: 2, Value: y}, likelihood.Probit{}, negative)
		if err == nil {
			t.Errorf("%T restored a negative site precision", method)
		}
	}
}

// TestOnlineMeetsNoSmallVariance: the evidence of online learning is right wherever it reports convergence, that is
// where no case meets a variance that is too small.
func TestOnlineMeetsNoSmallVariance(t *testing.T) {
	x, y := twoClasses(45, 13)
	k, _, _ := seGram(x, 3, 15)
	for i, p := range pairs(t) {
		if _, ok := p.method.(approx.Online); !ok || !exhaustive.Tries(2, i) {
			continue
		}
		post, err := p.method.Fit(context.Background(), []approx.Cov{{K: p.prior(k)}}, approx.Targets{Classes: 2, Value: y}, p.lik, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !post.Diagnostics().Converged {
			continue
		}
		exact := zeros(len(y))
		for i := range exact {
			for j := range exact {
				exact[i][j] = number(p.prior(k).At(i, j))
			}
		}
		if want := p.extended(t, exact, y, nil).logEvidence; !near(post.Evidence().Value(), want, 1e-7) {
			t.Errorf("%s: log evidence %v, want %v", p.name, post.Evidence().Value(), want)
		}
	}
}

// TestRefusals: Uses, which is called when a plan is checked, refuses what a method cannot do.
func TestRefusals(t *testing.T) {
	for _, m := range approx.Table {
		method, err := m.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, classes := range []int{0, 3} {
			if _, err := method.Uses(likelihood.Probit{}, classes); err == nil {
				t.Errorf("%s takes %d classes", m.Name, classes)
			}
		}
	}
	for _, bad := range []approx.Approximation{
		approx.EP{Iteration: approx.Iteration{Damping: -0.1}}, approx.EP{Quadrature: approx.Quadrature{Order: 101}},
		approx.PL{Evidence: approx.PosteriorForm, Quadrature: approx.Quadrature{Order: -1}},
	} {
		if _, err := bad.Uses(likelihood.Probit{}, 2); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
	for _, bad := range []approx.Approximation{
		approx.EP{Quadrature: approx.Quadrature{Order: 1}}, approx.PL{Quadrature: approx.Quadrature{Order: 1}},
	} {
		if _, err := bad.Uses(likelihood.Logit{}, 2); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
	var s approx.Schedule
	if s.UnmarshalText([]byte("parallel")) != nil || s != approx.Parallel || s.UnmarshalText([]byte("zigzag")) == nil {
		t.Error("schedule names")
	}
	var e approx.EvidenceForm
	if e.UnmarshalText([]byte("posterior")) != nil || e != approx.PosteriorForm || e.UnmarshalText([]byte("exact")) == nil {
		t.Error("evidence names")
	}
	var n approx.NegativeSites
	if n.UnmarshalText([]byte("error")) == nil || n.UnmarshalText([]byte("floor")) != nil || n != approx.FloorNegative || n.UnmarshalText([]byte("keep")) != nil || n != approx.KeepNegative || n.UnmarshalText([]byte("narrow")) != nil || n != approx.NarrowNegative || n.UnmarshalText([]byte("")) == nil {
		t.Error("negative_sites names")
	}
}
