package objective_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	_ "github.com/gpc-tune/gpc-tune/internal/testing/garbage"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// amplitudeSets are the kinds of sets of TestEstimatesOfAmplitudes. The sign of f is the label.
var amplitudeSets = []struct {
	name string
	f    func(rng *rand.Rand, x *mat.Dense) []float64
}{
	{"either side of a line", func(_ *rand.Rand, x *mat.Dense) []float64 {
		return eachCase(x, func(x []float64) float64 { return x[0] + x[1] })
	}},
	{"inside or outside a circle", func(_ *rand.Rand, x *mat.Dense) []float64 {
		return eachCase(x, func(x []float64) float64 { return x[0]*x[0] + x[1]*x[1] - 1.4 })
	}},
	{"two normal classes, 6 apart", func(rng *rand.Rand, x *mat.Dense) []float64 { return moveApart(rng, x, 6) }},
	{"two normal classes, 4 apart", func(rng *rand.Rand, x *mat.Dense) []float64 { return moveApart(rng, x, 4) }},
	{"a process of amplitude 10", func(rng *rand.Rand, x *mat.Dense) []float64 { return processAt(rng, x, 10) }},
	{"a process of amplitude 3", func(rng *rand.Rand, x *mat.Dense) []float64 { return processAt(rng, x, 3) }},
	{"a process of amplitude 1", func(rng *rand.Rand, x *mat.Dense) []float64 { return processAt(rng, x, 1) }},
}

func eachCase(x *mat.Dense, f func(x []float64) float64) (values []float64) {
	for i := range x.RawMatrix().Rows {
		values = append(values, f(x.RawRowView(i)))
	}
	return values
}

// moveApart moves the classes to means that are this far from each other.
func moveApart(rng *rand.Rand, x *mat.Dense, distance float64) []float64 {
	return eachCase(x, func(x []float64) float64 {
		sign := float64(2*rng.IntN(2) - 1)
		x[0] += sign * distance / 2
		return sign
	})
}

// processAt draws from a Gaussian process of length scale 1, and adds normal noise, as probit does.
func processAt(rng *rand.Rand, x *mat.Dense, amplitude float64) []float64 {
	n := x.RawMatrix().Rows
	k, z := mat.NewSymDense(n, nil), mat.NewVecDense(n, nil)
	for i := range n {
		for j := range i + 1 {
			d := floats.Distance(x.RawRowView(i), x.RawRowView(j), 2)
			k.SetSym(i, j, amplitude*amplitude*math.Exp(-d*d/2))
		}
		k.SetSym(i, i, k.At(i, i)*(1+1e-6))
		z.SetVec(i, rng.NormFloat64())
	}
	var chol mat.Cholesky
	if !chol.Factorize(k) {
		panic("K is not positive definite")
	}
	var lower mat.TriDense
	chol.LTo(&lower)
	var f mat.VecDense
	f.MulVec(&lower, z)
	i := -1
	return eachCase(x, func([]float64) float64 {
		i++
		return f.AtVec(i) + rng.NormFloat64()
	})
}

// TestEstimatesOfAmplitudes compares the held-out bits per case of five estimates of an amplitude.
// The program's estimate is the maximum of the log evidence or, on a flat one, the smallest value
// above which a factor of e gains at most 0.01 nats. No other estimate is better. docs/evidence.md
// has the table of all sets.
func TestEstimatesOfAmplitudes(t *testing.T) {
	const held, names = 400, 5
	inputs := func(x mat.Matrix) *kernel.Inputs { return &kernel.Inputs{X: mat.DenseCopyOf(x)} }
	var all [names][]float64
	runaways := 0
	for k, set := range amplitudeSets {
		var of [names][]float64
		for seed := range exhaustive.Of(1, 8) {
			if !exhaustive.Tries(3, k, seed) {
				continue
			}
			n := 40 + 20*(seed%4)
			rng := rand.New(rand.NewPCG(uint64(seed), uint64(k)))
			x, y := mat.NewDense(n+held, 2, nil), make([]float64, n+held)
			for i := range y {
				x.SetRow(i, []float64{rng.NormFloat64(), rng.NormFloat64()})
			}
			for i, f := range set.f(rng, x) {
				y[i] = math.Copysign(1, f)
			}
			cases := objective.Data{X: inputs(x.Slice(0, n, 0, 2)), Y: approx.Targets{Classes: 2, Value: y[:n]}, Scaled: true}
			// at is the optimum with this amplitude or, for nil, with a free one
			at := func(fixed *float64) (logAmplitude, value, bits float64) {
				o, err := objective.New(objective.Model{
					Kernels: []kernel.Kernel{kernel.SE{Amplitude: param.Setting{Fixed: fixed}}}, Likelihood: likelihood.Probit{},
					Inference: approx.EP{},
				}, objective.LogEvidence{}, cases)
				if err != nil {
					t.Fatal(err)
				}
				m, err := objective.Optimize(t.Context(), o, o.Layout.Pick(o.Layout.Start()), objective.Settings{})
				if err != nil {
					t.Fatal(err)
				}
				p, err := o.At(t.Context(), m.Theta)
				if err != nil {
					t.Fatal(err)
				}
				proba := mat.NewDense(held, 2, nil)
				p.PredictProba(proba, inputs(x.Slice(n, n+held, 0, 2)), objective.Averaged{})
				for i, label := range y[n:] {
					bits -= math.Log2(proba.At(i, int(label+1)/2)) / held
				}
				return p.Theta[0], m.Value, bits
			}
			own, _, bits := at(nil)
			of[0] = append(of[0], bits)
			var logs, values, losses []float64
			for a := -2.0; a <= 11; a += map[bool]float64{true: 0.25, false: 1}[exhaustive.All()] {
				amplitude := math.Exp(a)
				_, value, bits := at(&amplitude)
				logs, values, losses = append(logs, a), append(values, value), append(losses, bits)
			}
			best := floats.MaxIdx(values)
			for j, worth := range []func(i int) float64{
				func(i int) float64 { return values[i] },
				func(i int) float64 {
					return map[bool]float64{true: -float64(i), false: math.Inf(-1)}[values[i] >= values[best]-0.01]
				},
				func(i int) float64 { return values[i] - logs[i]*logs[i]/(2*3*3) },
				func(i int) float64 { return values[i] - logs[i]*logs[i]/(2*2*2) },
			} {
				top := 0
				for i := range logs {
					if worth(i) > worth(top) {
						top = i
					}
				}
				of[j+1] = append(of[j+1], losses[top])
			}
			if logs[best] > math.Log(1000) {
				runaways++
				if own > logs[best]-1 {
					t.Errorf("%s, set %d: amplitude e^%.1f, and the log evidence is largest at e^%.1f", set.name, seed, own, logs[best])
				}
			}
		}
		if of[0] == nil {
			continue
		}
		line := "| " + set.name + " |"
		for j, bits := range of {
			all[j] = append(all[j], bits...)
			line += fmt.Sprintf(" %.4f |", stat.Mean(bits, nil))
		}
		t.Log(line)
	}
	t.Logf("%d sets, in %d the log evidence is largest at an amplitude above 1000", len(all[0]), runaways)
	for j, bits := range all {
		if j == 0 {
			continue
		}
		floats.Sub(bits, all[0])
		mean, sd := stat.MeanStdDev(bits, nil)
		se := sd / math.Sqrt(float64(len(bits)))
		t.Logf("estimate %d has %+.4f ± %.4f bits per case more", j, mean, se)
		if mean < -2*se-0.001 {
			t.Errorf("estimate %d is better by %.4f ± %.4f bits per case", j, -mean, se)
		}
	}
	if runaways == 0 {
		t.Error("no log evidence is largest at an amplitude above 1000")
	}
}
