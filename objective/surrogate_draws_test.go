package objective

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// LeftOut predicts each value as a surrogate does that is made without this value, with the same
// hyperparameters.
func TestSurrogateLeftOut(t *testing.T) {
	x, y := surrogateData()
	s, err := NewSurrogate(x, y, 1)
	if err != nil {
		t.Fatal(err)
	}
	left, err := s.LeftOut()
	if err != nil {
		t.Fatal(err)
	}
	n, d := x.Dims()
	for i := range n {
		others := *s
		others.x, others.y = mat.NewDense(n-1, d, nil), nil
		for k := range n {
			if k != i {
				others.x.SetRow(len(others.y), x.RawRowView(k))
				others.y = append(others.y, s.y[k])
			}
		}
		o, err := New(s.point.objective.model, nil, others.data())
		if err != nil {
			t.Fatal(err)
		}
		if others.point, err = o.Fit(t.Context(), s.point.Theta, nil); err != nil {
			t.Fatal(err)
		}
		var mean, sd [1]float64
		others.Predict(mean[:], sd[:], mat.NewDense(1, d, x.RawRowView(i)))
		if math.Abs(mean[0]-left[i]) > 1e-6*s.sd {
			t.Errorf("value %d: %v is predicted from the others, want %v", i, left[i], mean[0])
		}
	}
}

// The mean of the functions is the prediction. Their standard deviations agree with the
// prediction's up to the error of 400 draws. For normal draws 4 standard errors are 4/√800 = 14 %.
// Sums of few features have longer tails, hence 20 %.
func TestSurrogateDraws(t *testing.T) {
	x, y := surrogateData()
	s, err := NewSurrogate(x, y, 1)
	if err != nil {
		t.Fatal(err)
	}
	d, err := s.Draw(400, 7)
	if err != nil {
		t.Fatal(err)
	}
	z := mat.NewDense(4, 2, []float64{0.2, 0.2, 0.5, 0.5, 0.8, 0, 3, -2})
	mean, sd := make([]float64, 4), make([]float64, 4)
	s.Predict(mean, sd, z)
	f := d.At(z)
	for i := range mean {
		draws := f.RawRowView(i)[1:]
		if math.Abs(f.At(i, 0)-mean[i]) > 1e-6*s.sd {
			t.Errorf("point %d: mean %v, want %v", i, f.At(i, 0), mean[i])
		}
		m, v := stat.PopMeanVariance(draws, nil)
		if math.Abs(m-mean[i]) > 4*sd[i]/20 || math.Abs(math.Sqrt(v)/sd[i]-1) > 0.2 {
			t.Errorf("point %d: draws have mean %v and sd %v, want %v and %v", i, m, math.Sqrt(v), mean[i], sd[i])
		}
	}
	same, err := s.Draw(400, 7)
	if err != nil || !mat.Equal(same.At(z), f) {
		t.Errorf("the same seed gives other functions, %v", err)
	}
}
