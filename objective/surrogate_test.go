package objective

import (
	"math"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// surrogateData returns the values of a function of two columns at nine points.
func surrogateData() (x *mat.Dense, y []float64) {
	x = mat.NewDense(9, 2, []float64{0, 0, 0.1, 0.9, 0.3, 0.4, 0.35, 0.8, 0.5, 0.1, 0.6, 0.55, 0.75, 0.95, 0.9, 0.3, 1, 0.7})
	for i := range 9 {
		y = append(y, -120+40*math.Sin(3*x.At(i, 0))*math.Cos(2*x.At(i, 1)))
	}
	return x, y
}

// The prediction equals GPML (2.25)-(2.26), written out with an explicit inverse.
func TestSurrogatePredicts(t *testing.T) {
	x, y := surrogateData()
	s, err := NewSurrogate(x, y, 1)
	if err != nil {
		t.Fatal(err)
	}
	more, err := s.With([]float64{0.2, 0.2}, -100)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(more.point.Theta, s.point.Theta) {
		t.Error("With changes the hyperparameters")
	}
	z := mat.NewDense(3, 2, []float64{0.2, 0.2, 0.5, 0.5, 3, -2})
	check := func(s *Surrogate, x *mat.Dense, y []float64, mean, sd float64) {
		t.Helper()
		n, m := len(y), 3
		theta := s.point.Theta // log amplitude, log length scales, constant mean, log noise
		k := func(a, b []float64) float64 {
			r := math.Sqrt(5) * math.Hypot((a[0]-b[0])/math.Exp(theta[1]), (a[1]-b[1])/math.Exp(theta[2]))
			return math.Exp(2*theta[0]) * (1 + r + r*r/3) * math.Exp(-r)
		}
		a := mat.NewDense(n, n, nil)
		r := mat.NewVecDense(n, nil)
		for i := range n {
			for j := range n {
				a.Set(i, j, k(x.RawRowView(i), x.RawRowView(j)))
			}
			a.Set(i, i, a.At(i, i)+math.Exp(2*theta[4]))
			r.SetVec(i, (y[i]-mean)/sd-theta[3])
		}
		var inverse mat.Dense
		if err := inverse.Inverse(a); err != nil {
			t.Fatal(err)
		}
		gotMean, gotSD := make([]float64, m), make([]float64, m)
		s.Predict(gotMean, gotSD, z)
		for j := range m {
			cross := mat.NewVecDense(n, nil)
			for i := range n {
				cross.SetVec(i, k(x.RawRowView(i), z.RawRowView(j)))
			}
			wantMean := mean + sd*(theta[3]+mat.Inner(cross, &inverse, r))
			wantSD := sd * math.Sqrt(k(z.RawRowView(j), z.RawRowView(j))-mat.Inner(cross, &inverse, cross))
			// The explicit inverse loses the digits of the condition number, about 1e6; small variances suffer from
			// cancellation.
			if math.Abs(gotMean[j]-wantMean) > 1e-6*sd || math.Abs(gotSD[j]-wantSD) > 1e-4*sd {
				t.Errorf("point %d: mean %v and sd %v, want %v and %v", j, gotMean[j], gotSD[j], wantMean, wantSD)
			}
		}
	}
	mean, variance := stat.PopMeanVariance(y, nil)
	check(s, x, y, mean, math.Sqrt(variance))
	check(more, mat.NewDense(10, 2, append(slices.Clone(x.RawMatrix().Data), 0.2, 0.2)), append(slices.Clone(y), -100), mean, math.Sqrt(variance))
}

// The hyperparameters are at a maximum of the log posterior density.
func TestSurrogateHyperparameters(t *testing.T) {
	x, y := surrogateData()
	s, err := NewSurrogate(x, y, 1)
	if err != nil {
		t.Fatal(err)
	}
	gradient := make([]float64, len(s.point.Theta))
	if err := s.point.Gradient(gradient); err != nil {
		t.Fatal(err)
	}
	for i, p := range s.point.objective.Layout.FreeSpecs() {
		lo, hi := p.ThetaBounds()
		if u := s.point.Theta[i]; u > lo && u < hi && math.Abs(gradient[i]) > 1e-5*max(1, math.Abs(s.point.Value())) {
			t.Errorf("%s: slope %v", p.ThetaName(), gradient[i])
		}
	}
}

// Values may be equal, points may coincide, and units do not matter.
func TestSurrogateExtremes(t *testing.T) {
	x, y := surrogateData()
	z := mat.NewDense(2, 2, []float64{0.2, 0.2, 0.5, 0.5})
	predict := func(x *mat.Dense, y []float64) (mean, sd []float64) {
		s, err := NewSurrogate(x, y, 1)
		if err != nil {
			t.Fatal(err)
		}
		mean, sd = make([]float64, 2), make([]float64, 2)
		s.Predict(mean, sd, z)
		for i := range mean {
			if math.IsNaN(mean[i]) || math.IsNaN(sd[i]) || math.IsInf(mean[i], 0) || math.IsInf(sd[i], 0) {
				t.Fatalf("mean %v, sd %v", mean, sd)
			}
		}
		return mean, sd
	}
	mean, sd := predict(x, y)
	scaled := slices.Clone(y)
	for i := range scaled {
		scaled[i] = 1e6 * y[i]
	}
	mean6, sd6 := predict(x, scaled)
	for i := range mean {
		if math.Abs(mean6[i]/1e6-mean[i]) > 1e-5*math.Abs(mean[i]) || math.Abs(sd6[i]/1e6-sd[i]) > 1e-3*sd[i] {
			t.Errorf("mean %v and sd %v in other units are %v and %v", mean, sd, mean6, sd6)
		}
	}
	if mean, _ := predict(x, slices.Repeat([]float64{7}, 9)); math.Abs(mean[0]-7) > 1e-9 {
		t.Errorf("a constant 7 is predicted as %v", mean)
	}
	predict(mat.NewDense(3, 2, slices.Repeat([]float64{0.5}, 6)), []float64{1, 1, 1})
	predict(mat.NewDense(3, 2, slices.Repeat([]float64{0.5}, 6)), []float64{1, -1, 1e3})
	predict(mat.NewDense(1, 2, []float64{0.5, 0.5}), []float64{-3})
}
