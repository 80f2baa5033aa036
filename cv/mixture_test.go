package cv

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Parts mixed one after another with the weights 1/2, 1/3, … have equal weight: probabilities are
// averaged, and a numeric target has the mean and the variance of the mixture, E[y²] - E[y]².
func TestMix(t *testing.T) {
	means, variances := [][]float64{{1, -5}, {4, 1e3}, {2.5, 7}}, [][]float64{{0.5, 1}, {2, 3}, {0.1, 9}}
	probas := [][]float64{{0.25, 0.75}, {1, 0}, {0.5, 0.5}}
	numeric, classes := Predictions{}, Predictions{}
	var m1, m2, p [2]float64
	for k := range means {
		part := Predictions{Mean: means[k], Variance: variances[k]}
		class := Predictions{Proba: mat.NewDense(1, 2, probas[k])}
		for i := range 2 {
			m1[i] += means[k][i] / 3
			m2[i] += (variances[k][i] + means[k][i]*means[k][i]) / 3
			p[i] += probas[k][i] / 3
		}
		if k == 0 {
			numeric, classes = part, class
			continue
		}
		numeric.Mix(part, 1/float64(k+1))
		classes.Mix(class, 1/float64(k+1))
	}
	for i := range 2 {
		for _, c := range [][2]float64{{numeric.Mean[i], m1[i]}, {numeric.Variance[i], m2[i] - m1[i]*m1[i]}, {classes.Proba.At(0, i), p[i]}} {
			if math.Abs(c[0]-c[1]) > 1e-12*max(1, math.Abs(c[1])) {
				t.Errorf("case %d: %v, want %v", i, c[0], c[1])
			}
		}
	}
}
