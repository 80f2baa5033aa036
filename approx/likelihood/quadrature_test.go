package likelihood_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

// TestQuadratureIsASum: log Z and the tilted moments are the weighted sums over the nodes, for both labels.
func TestQuadratureIsASum(t *testing.T) {
	for _, order := range []int{2, 3, 10, 32, 100} {
		rule := likelihood.Logit{}.Quadrature(order)
		nodes, weights := make([]float64, order), make([]float64, order)
		quad.Hermite{}.FixedLocations(nodes, weights, math.Inf(-1), math.Inf(1))
		for _, y := range []float64{-1, 1} {
			for _, mean := range []float64{-9, -0.7, 0, 3, 20} {
				for _, variance := range []float64{1e-2, 1, 30, 400} {
					var z, first, second float64
					for k, x := range nodes {
						f := mean + math.Sqrt(2*variance)*x
						p := weights[k] / math.Sqrt(math.Pi) / (1 + math.Exp(-y*f))
						z, first, second = z+p, first+p*(f-mean), second+p*(f-mean)*(f-mean)
					}
					first, second = first/z, second/z
					logZ, d1, d2 := matched(rule, y, mean, variance)
					if !near(logZ, math.Log(z), 1e-13) || !near(variance*d1, first, 1e-13*math.Sqrt(variance)) || !near(variance+variance*variance*d2, second-first*first, 1e-12*max(variance, first*first)) {
						t.Errorf("order %d, y %v, N(%v, %v): log Z %v, moments %v and %v; the sums are %v, %v and %v",
							order, y, mean, variance, logZ, variance*d1, variance+variance*variance*d2, math.Log(z), first, second-first*first)
					}
				}
			}
		}
	}
}

// near allows an absolute tolerance, or a relative one of 1e-13.
func near(got, want, tolerance float64) bool {
	return math.Abs(got-want) <= max(tolerance, 1e-13*math.Abs(want))
}

// TestQuadratureSlopes compares the slopes with central differences of LogZ.
func TestQuadratureSlopes(t *testing.T) {
	for _, order := range []int{2, 5, 10, 40} {
		rule := likelihood.Logit{}.Quadrature(order)
		for _, y := range []float64{-1, 1} {
			for _, mean := range []float64{-6, -0.4, 0, 2} {
				for _, variance := range []float64{0.3, 4, 90} {
					at, byMean, byVariance := rule.Slopes(y, mean, variance)
					if logZ, d1, d2 := matched(rule, y, mean, variance); !near(at[0], logZ, 1e-14) || !near(at[1], d1, 1e-14) || !near(at[2], d2, 1e-14) {
						t.Errorf("order %d, y %v, N(%v, %v): %v beside its slopes, LogZ %v %v %v", order, y, mean, variance, at, logZ, d1, d2)
					}
					for name, c := range map[string]struct {
						got       [3]float64
						dm, dv, h float64
					}{"mean": {byMean, 1, 0, 1e-5 * math.Sqrt(variance)}, "variance": {byVariance, 0, 1, 1e-5 * variance}} {
						var up, down [3]float64
						up[0], up[1], up[2] = matched(rule, y, mean+c.h*c.dm, variance+c.h*c.dv)
						down[0], down[1], down[2] = matched(rule, y, mean-c.h*c.dm, variance-c.h*c.dv)
						scale := math.Sqrt(variance) // the scale of the mean
						if name == "variance" {
							scale = variance
						}
						for i, unit := range []float64{1, math.Sqrt(variance), variance} { // scales of the results
							if want := (up[i] - down[i]) / (2 * c.h); math.Abs(c.got[i]-want)*scale*unit > 1e-8 {
								t.Errorf("order %d, y %v, N(%v, %v), result %d by %s: %.12g, differences give %.12g", order, y, mean, variance, i, name, c.got[i], want)
							}
						}
					}
				}
			}
		}
	}
}

// TestQuadratureApproachesTheAverages: if the Gaussian is narrow compared with the sigmoid, 32 nodes give all digits
// of the average; if it is wide, even 100 nodes give a wrong one.
func TestQuadratureApproachesTheAverages(t *testing.T) {
	exact, many, most := likelihood.Logit{}, likelihood.Logit{}.Quadrature(32), likelihood.Logit{}.Quadrature(100)
	for _, mean := range []float64{-5, -1, 0, 0.5, 3} {
		want, d1, d2 := matched(exact, 1, mean, 0.5)
		for _, rule := range []likelihood.MomentRule{many, most} {
			if logZ, e1, e2 := matched(rule, 1, mean, 0.5); !near(logZ, want, 1e-12) || !near(e1, d1, 1e-12) || !near(e2, d2, 1e-12) {
				t.Errorf("mean %v: %v %v %v, want %v %v %v", mean, logZ, e1, e2, want, d1, d2)
			}
		}
	}
	want, _ := exact.Moments(1, -60, 3000)
	got, _ := most.Moments(1, -60, 3000)
	if off := math.Abs(got - want); off < 1e-4 {
		t.Errorf("order 100 is off by %v in a wide cavity; the documentation says more", off)
	}
}
