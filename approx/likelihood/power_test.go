package likelihood_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/integrate/quad"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

// TestPower compares log ∫ p^α N df with Gauss-Legendre quadrature on both sides of f = 0, and derivatives over the
// mean and the parameters with differences.
func TestPower(t *testing.T) {
	var nodes, weights [40]float64
	quad.Legendre{}.FixedLocations(nodes[:], weights[:], 0, 1)
	for _, e := range likelihood.Table {
		lik, err := e.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		if lik.Domain() == likelihood.Categorical {
			continue
		}
		labels := []float64{-1, 1}
		if lik.Domain() == likelihood.Ordered {
			labels = likelihood.Labels(3)
		}
		for _, alpha := range []float64{0.001, 0.3, 0.95} {
			at := func(j int, shift float64) (p, powered likelihood.MomentMatcher) {
				var theta []float64
				for _, s := range lik.Params() {
					theta = append(theta, s.Map.Theta(s.Init))
				}
				if shift != 0 {
					theta[j] += shift
				}
				p = lik.At(theta).(likelihood.MomentMatcher)
				powered, ok := likelihood.Power(p, alpha)
				if !ok {
					t.Fatalf("%s has no power", e.Name)
				}
				return p, powered
			}
			p, powered := at(0, 0)
			_, concave := p.(likelihood.LogConcave)
			if _, still := powered.(likelihood.LogConcave); still != concave {
				t.Errorf("%s: log-concave %v, its power %v", e.Name, concave, still)
			}
			for _, mean := range []float64{-4, -0.3, 0.2, 2} {
				for _, variance := range []float64{0.01, 0.9, 7, 300} {
					for _, y := range labels {
						sd, mass := math.Sqrt(variance), 0.0
						for _, ends := range [][2]float64{{mean - 12*sd, min(0, mean+12*sd)}, {max(0, mean-12*sd), mean + 12*sd}} {
							const panels = 60
							for k := range panels {
								for j, x := range nodes {
									width := max(0, ends[1]-ends[0]) / panels
									f := ends[0] + width*(float64(k)+x)
									z := (f - mean) / sd
									mass += weights[j] * width * math.Exp(alpha*p.LogProb(y, f)-z*z/2) / (sd * math.Sqrt(2*math.Pi))
								}
							}
						}
						where := func(what string, got, want, tol float64) {
							if !(math.Abs(got-want) <= tol*max(alpha, math.Abs(want))) {
								t.Errorf("%s to the power %v, y = %v, N(%v, %v): %s %.14g, want %.14g", e.Name, alpha, y, mean, variance, what, got, want)
							}
						}
						logZ, d := powered.Moments(y, mean, variance)
						where("log Z", logZ, math.Log(mass), 1e-9)
						h := 1e-3 * max(1, sd)
						for k := range 4 {
							want := func(mean float64) float64 {
								logZ, d := powered.Moments(y, mean, variance)
								return append([]float64{logZ}, d[:]...)[k]
							}
							if concave || sd > 0.5 { // a threshold varies on the scale of sd
								scale := math.Pow(max(1, sd), float64(k+1))
								where("derivative", d[k]*scale, (8*(want(mean+h)-want(mean-h))-want(mean+2*h)+want(mean-2*h))/(12*h)*scale, 1e-6)
							}
						}
						if len(lik.Params()) == 0 {
							continue
						}
						var got [3][2]float64
						n := len(lik.Params())
						powered.(likelihood.Parametric).DMoments(got[0][:n], got[1][:n], got[2][:n], y, mean, variance)
						const step = 1e-4
						for j := range lik.Params() {
							_, above := at(j, step)
							_, below := at(j, -step)
							logA, dA := above.Moments(y, mean, variance)
							logB, dB := below.Moments(y, mean, variance)
							for k, want := range []float64{logA - logB, dA[0] - dB[0], dA[1] - dB[1]} {
								where("derivative over the parameter", got[k][j], want/(2*step), 1e-6)
							}
						}
					}
				}
			}
		}
	}
}

// fromOutside is p(y|f)^α as a density of another program: only its values are known.
type fromOutside struct {
	likelihood.Differentiable
	alpha float64
}

func (d fromOutside) Shape() likelihood.Shape                     { return likelihood.Shape{LogConcave: true} }
func (d fromOutside) ParamDerivs(_, _, _ []float64, _, _ float64) {}
func (d fromOutside) Derivs(y, f float64) (logp, d1, d2, d3 float64) {
	logp, d1, d2, d3 = d.Differentiable.Derivs(y, f)
	return d.alpha * logp, d.alpha * d1, d.alpha * d2, d.alpha * d3
}

// TestPowerWithFewNodes compares averages of powers with those by adaptive quadrature, from narrow to wide Gaussians
// and far out, also where cut points are close together and far apart.
func TestPowerWithFewNodes(t *testing.T) {
	cuts := []float64{-0.5, -7, 3, -1} // the distances are 0.0009, 20 and 0.37
	liks := []likelihood.Bound{likelihood.Probit{}, likelihood.Logit{}, likelihood.Gaussian{}.At([]float64{-1})}
	for _, link := range []likelihood.Link{likelihood.ProbitLink, likelihood.LogitLink} {
		liks = append(liks, likelihood.Ordinal{Link: link}.On(5).At(cuts))
	}
	for _, lik := range liks {
		labels := []float64{-1, 1}
		if lik.Likelihood().Domain() == likelihood.Ordered {
			labels = likelihood.Labels(5)
		}
		for _, alpha := range []float64{0.001, 0.5, 0.99} {
			powered, _ := likelihood.Power(lik.(likelihood.MomentMatcher), alpha)
			adaptive := likelihood.ByQuadrature(lik.Likelihood(), fromOutside{lik.(likelihood.Differentiable), alpha}).(likelihood.MomentMatcher)
			for _, mean := range both([]float64{0.3, 11, 1e3}) {
				for _, variance := range []float64{1e-5, 0.7, 3, 90, 1e4, 1e8, 1e12} {
					for _, y := range labels {
						got, d := powered.Moments(y, mean, variance)
						want, e := adaptive.Moments(y, mean, variance)
						if !near(got, want, 1e-12*max(1, math.Abs(want))) {
							t.Errorf("%T to the power %v, y = %v, N(%v, %v): log Z %.15g, want %.15g", lik, alpha, y, mean, variance, got, want)
						}
						sd := max(1, math.Sqrt(variance))
						for k, scale := 0, sd; k < 4; k, scale = k+1, scale*sd {
							// size of the terms whose difference d[k] is
							size := max(1, math.Pow(math.Abs(e[0])*sd, float64(k+1)))
							if !(math.Abs(d[k]-e[k])*scale <= 1e-10*size) {
								t.Errorf("%T to the power %v, y = %v, N(%v, %v): d[%d] = %.15g, want %.15g", lik, alpha, y, mean, variance, k, d[k], e[k])
							}
						}
					}
				}
			}
		}
	}
}

// counted counts the values of the logistic likelihood that are asked for.
type counted struct {
	likelihood.Logit
	values *int
}

func (c counted) Derivs(y, f float64) (logp, d1, d2, d3 float64) {
	*c.values++
	return c.Logit.Derivs(y, f)
}

// An average of the power of a sigmoid takes some hundred values, wherever the Gaussian is; without
// the knowledge where it varies fast, several times as many.
func TestPowersOfSigmoidsTakeFewValues(t *testing.T) {
	for _, mean := range []float64{-30, 0.3, 30} {
		for _, variance := range []float64{0.01, 1, 1e4, 1e8} {
			n := [2]int{}
			known, _ := likelihood.Power(counted{values: &n[0]}, 0.5)
			known.Moments(1, mean, variance)
			lik := likelihood.ByQuadrature(likelihood.Logit{}, fromOutside{counted{values: &n[1]}, 0.5})
			lik.(likelihood.MomentMatcher).Moments(1, mean, variance)
			if n[0] == 0 || n[0] > 500 || n[1] < 2*n[0] {
				t.Errorf("N(%v, %v): %d values, adaptively %d", mean, variance, n[0], n[1])
			}
		}
	}
}
