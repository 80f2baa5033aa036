package objective

import (
	"context"
	"errors"
	"math"
	"os"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/interrupt"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// Every fit, and every gradient of a Run, ends with the context's error soon after the context does, wherever it is then. How soon
// depends on the machine: GPC_TUNE_LATENCY=2000 prints it for that many cases.
func TestFitsEndWithTheirContext(t *testing.T) {
	n, print := 400, os.Getenv("GPC_TUNE_LATENCY") != ""
	if print {
		n = 2000
	}
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
			start, slowest := o.Layout.Pick(o.Layout.Start()), time.Duration(0)
			for _, after := range []time.Duration{0, 2, 10, 50, 200} {
				counted, wait := interrupt.Counted(t.Context())
				ctx, cancel := context.WithCancel(counted)
				ended := make(chan time.Time, 1)
				time.AfterFunc(after*time.Millisecond, func() { ended <- time.Now(); cancel() })
				run := NewRun(ctx, o)
				err := run.Gradient(make([]float64, len(start)), start)
				for err == nil { // it was done before: on and on
					start[0] += 1e-3
					err = run.Gradient(make([]float64, len(start)), start)
				}
				late := time.Since(<-ended)
				slowest = max(slowest, late)
				if !errors.Is(err, context.Canceled) && e.Name != "sampling" || late > 5*time.Second {
					t.Errorf("%d classes, %s, cancelled after %v ms: ended %v later with %v", classes, e.Name, int(after), late, err)
				}
				cancel()
				began := time.Now()
				if wait(); print && time.Since(began) > 50*time.Millisecond {
					t.Logf("%d classes, %s, n = %d: left for %v", classes, e.Name, n, time.Since(began))
				}
			}
			if print {
				t.Logf("%d classes, %s, n = %d: ended within %v", classes, e.Name, n, slowest)
			}
		}
	}
}
