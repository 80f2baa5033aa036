package cv

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// heldOut are predictions of cases from first on: log odds, with labels that are right for them when
// they are divided by sharp.
func heldOut(t *testing.T, rng *rand.Rand, first, n int, sharp float64) Predictions {
	t.Helper()
	proba, labels, cases := mat.NewDense(n, 2, nil), make([]int, n), make([]int, n)
	for i := range n {
		f := 1.5 * rng.NormFloat64()
		if rng.Float64() < sigmoid(f) {
			labels[i] = 1
		}
		cases[i] = first + i
		proba.SetRow(i, []float64{sigmoid(-sharp * f), sigmoid(sharp * f)})
	}
	p, err := NewPredictions(cases, labels, proba, []int{50, 50})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// The parameters for a fold are learnt from the other fold. In a repeat, no row of a case is used
// to correct the same case.
func TestRecalibrated(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	platt := Calibrations[0]
	a, b := heldOut(t, rng, 0, 60, 4), heldOut(t, rng, 60, 60, 4)
	want := 0.0
	for _, pair := range [][2]Predictions{{a, b}, {b, a}} {
		learnt, is := make([]float64, 60), make([]bool, 60)
		for i, label := range pair[0].Labels {
			learnt[i], is[i] = pair[0].Proba.At(i, 1), label == 1
		}
		of := plattLearn(learnt, is, ones(60))
		for i, label := range pair[1].Labels {
			q := plattApply(of, pair[1].Proba.At(i, 1))
			want += math.Log2([]float64{1 - q, q}[label]/pair[1].Proba.At(i, label)) / 120
		}
	}
	c := Contenders{Parts: [][]Predictions{{a, b}}}
	gain, helps := c.Recalibrated(0, platt)
	if math.Abs(gain.Value-want) > 1e-12 || !helps {
		t.Errorf("a gain of %v, want %v; it helps: %v", gain.Value, want, helps)
	}
	c.Parts[0] = []Predictions{a, b, a, b}
	if twice, _ := c.Recalibrated(0, platt); math.Abs(twice.Value-want) > 1e-3 || twice.DF != 119 {
		t.Errorf("with repeats a gain of %v, want %v, with %d degrees of freedom", twice.Value, want, twice.DF)
	}
	c.Parts[0] = []Predictions{Pool(a, b)} // a test set
	if one, helps := c.Recalibrated(0, platt); math.Abs(one.Value-want) > 0.1 || !helps {
		t.Errorf("of a test set %v, want about %v", one.Value, want)
	}
	c.Groups = make([]int, 120)
	if _, helps := c.Recalibrated(0, platt); helps {
		t.Error("it helps a single group")
	}
}

// It is not tried where it cannot be judged, and hardly ever advised for calibrated predictions.
func TestRecalibratedInVain(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	advised, gains := 0, []float64{}
	for range 200 {
		c := Contenders{Parts: [][]Predictions{{heldOut(t, rng, 0, 50, 1), heldOut(t, rng, 50, 50, 1)}}}
		gain, helps := c.Recalibrated(0, Calibrations[0])
		if helps {
			advised++
		}
		gains = append(gains, gain.Value)
	}
	if advised > 6 || stat.Mean(gains, nil) > 0 {
		t.Errorf("advised in %d of 200 sets, with a mean gain of %v", advised, stat.Mean(gains, nil))
	}
	right := heldOut(t, rng, 0, 50, 1)
	for i, label := range right.Labels {
		right.Proba.SetRow(i, [][]float64{{0.6, 0.4}, {0.4, 0.6}}[label])
	}
	few := heldOut(t, rng, 0, 15, 5)
	for _, p := range []Predictions{right, few} {
		c := Contenders{Parts: [][]Predictions{{p, p.rows([]int{0, 1, 2, 3})}}}
		if gain, helps := c.Recalibrated(0, Calibrations[0]); helps || !math.IsNaN(gain.Value) {
			t.Errorf("a gain of %v", gain.Value)
		}
	}
}

// A temperature is tried without any wrong decision, and with few cases of a class, also where all
// other folds lack the class.
func TestRecalibratedByTemperature(t *testing.T) {
	temperature, err := CalibrationNamed("temperature")
	if err != nil {
		t.Fatal(err)
	}
	fold := func(first, rare int) Predictions {
		const n = 40
		proba, labels, cases := mat.NewDense(n, 3, nil), make([]int, n), make([]int, n)
		for i := range n {
			if labels[i], cases[i] = i%2, first+i; i < rare {
				labels[i] = 2
			}
			rest := 0.1 + 0.02*float64(i%6) // probability of each other class
			for k := range 3 {
				proba.Set(i, k, rest)
			}
			proba.Set(i, labels[i], 1-2*rest)
		}
		p, err := NewPredictions(cases, labels, proba, []int{50, 50, 3})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	c := Contenders{Parts: [][]Predictions{{fold(0, 3), fold(40, 0)}}}
	gain, helps := c.Recalibrated(0, temperature)
	if !helps || !(gain.Value > 0.3 && gain.Value < math.Log2(1/0.6)) {
		t.Errorf("a gain of %v; it helps: %v", gain.Value, helps)
	}
	if other, advised := c.Recalibrated(0, Calibrations[0]); advised || !math.IsNaN(other.Value) {
		t.Errorf("platt gains %v; it helps: %v", other.Value, advised)
	}
}

// A calibration is not advised if a fold has log odds far outside the range that it was learnt
// from, even with a large gain.
func TestRecalibratedOfUncoveredFolds(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	a, b := heldOut(t, rng, 0, 60, 4), heldOut(t, rng, 60, 60, 4)
	if _, helps := (Contenders{Parts: [][]Predictions{{a, b}}}).Recalibrated(0, Calibrations[0]); !helps {
		t.Fatal("it does not help at all")
	}
	far := 40.0
	b.Proba.SetRow(0, []float64{sigmoid(-far), sigmoid(far)})
	gain, helps := Contenders{Parts: [][]Predictions{{a, b}}}.Recalibrated(0, Calibrations[0])
	if helps || !(gain.Value > helpful) {
		t.Errorf("advised: %v, with a gain of %v", helps, gain.Value)
	}
}
