package objective

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/interrupt"
	"github.com/gpc-tune/gpc-tune/internal/machine"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// everyMethod calls visit with the log evidence of n cases by every inference method, for numbers, two classes and
// three classes.
func everyMethod(t testing.TB, n int, visit func(name string, o *Objective)) {
	x := mat.NewDense(n, 30, nil)
	for i := range n {
		for j := range 30 {
			x.Set(i, j, math.Sin(float64((i+1)*(j+3)*(i+7*j+1))))
		}
	}
	for _, classes := range []int{0, 2, 3} {
		for _, e := range approx.Table {
			m, err := e.New(nil)
			if err != nil {
				t.Fatal(err)
			}
			y, lik := approx.Targets{Classes: classes}, likelihood.Likelihood(likelihood.Probit{})
			if e.Name == "laplace" {
				lik = likelihood.Logit{}
			}
			for i := range n {
				sign := math.Copysign(1, x.At(i, 0)+x.At(i, 1))
				switch classes {
				case 0:
					y.Value, lik = append(y.Value, x.At(i, 0)), likelihood.Gaussian{}
				case 2:
					y.Value = append(y.Value, sign)
				default:
					y.Index = append(y.Index, i%3)
				}
			}
			if _, err := m.Uses(lik, classes); classes == 3 && err != nil {
				if lik = (likelihood.Softmax{}); e.Name != "laplace" {
					lik, m = likelihood.Probit{}, approx.OneVsRest{Binary: m}
				}
			}
			if _, err := m.Uses(lik, classes); err != nil {
				continue
			}
			o, err := New(Model{Kernels: []kernel.Kernel{kernel.SE{ARD: true}}, Likelihood: lik, Inference: m}, LogEvidence{}, Data{X: &kernel.Inputs{X: x}, Y: y})
			if err != nil {
				t.Fatal(err)
			}
			visit(fmt.Sprintf("%s/classes=%d", e.Name, classes), o)
		}
	}
}

// cancelled evaluates o and its gradient repeatedly until its context is cancelled. late is the time from the
// cancellation to the return, left the processor time used from then on, including work in the background.
func cancelled(t testing.TB, o *Objective, after time.Duration) (late, left time.Duration, err error) {
	counted, wait := interrupt.Counted(t.Context())
	ctx, cancel := context.WithCancel(counted)
	ended, used := make(chan time.Time, 1), time.Duration(0)
	time.AfterFunc(after, func() { used = machine.ProcessTime(); ended <- time.Now(); cancel() })
	start, run := o.Layout.Pick(o.Layout.Start()), NewRun(ctx, o)
	for err == nil {
		if _, err = run.At(start); err == nil && o.HasGradient() {
			err = run.Gradient(make([]float64, len(start)), start)
		}
		start[0] += 1e-3
	}
	began := <-ended
	late = time.Since(began)
	wait()
	return late, machine.ProcessTime() - used, err
}

// Every fit, and every gradient of a Run, returns the context's error soon after the context ends, at any point of
// the computation.
func TestFitsEndWithTheirContext(t *testing.T) {
	method := 0
	everyMethod(t, 400, func(name string, o *Objective) {
		method++
		for i, after := range []time.Duration{0, 2, 10, 50, 200} {
			if !exhaustive.Tries(3, method, i) {
				continue
			}
			late, _, err := cancelled(t, o, after*time.Millisecond)
			if !errors.Is(err, context.Canceled) || late > 5*time.Second {
				t.Errorf("%s, cancelled after %v ms: ended %v later with %v", name, int(after), late, err)
			}
		}
	})
}

// Measures, with 2 000 cases, how long a cancelled evaluation takes to return, and the processor time that it uses
// afterwards. Each iteration cancels at another random moment.
func BenchmarkCancel(b *testing.B) {
	everyMethod(b, 2000, func(name string, o *Objective) {
		rng, late, left := rand.New(rand.NewPCG(1, 2)), []float64(nil), []float64(nil)
		b.Run(name, func(b *testing.B) {
			for range b.N {
				l, r, _ := cancelled(b, o, time.Duration(rng.Float64()*float64(2*time.Second)))
				late, left = append(late, l.Seconds()*1e3), append(left, r.Seconds()*1e3)
			}
			for what, v := range map[string][]float64{"return": late, "left": left} {
				slices.Sort(v)
				b.ReportMetric(v[len(v)/2], what+"-median-ms")
				b.ReportMetric(v[len(v)-1], what+"-most-ms")
			}
		})
	})
}
