package approx_test

import (
	"compress/gzip"
	"context"
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/testing/needs"
)

// TestUSPSThreesAgainstFives compares both methods with the experiment of GPML 3.7.3 (probit, squared exponential on
// raw pixels). Figures 3.7 and 3.8 give log evidence and test errors; the values here have more digits, from
// evaluating the same points on the same data.
func TestUSPSThreesAgainstFives(t *testing.T) {
	x, y := readDigits(t, "usps_3v5_train.csv.gz")
	z, label := readDigits(t, "usps_3v5_test.csv.gz")
	for _, c := range []struct {
		name              string
		method            approx.Approximation
		logLength, logAmp float64
		logEvidence       float64
		errors            int
	}{
		{"laplace", approx.Laplace{}, 2.85, 2.35, -98.964, 22},
		{"ep", approx.EP{}, 2.6, 4.1, -90.283, 21},
	} {
		t.Run(c.name, func(t *testing.T) {
			k := mat.NewSymDense(len(x), nil)
			for i := range x {
				for j := i; j < len(x); j++ {
					k.SetSym(i, j, squaredExponential(x[i], x[j], c.logLength, c.logAmp))
				}
			}
			p, err := c.method.Fit(context.Background(), []approx.Cov{{K: k}}, approx.Targets{Classes: 2, Value: y}, likelihood.Probit{}, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := p.Evidence().Value(); math.Abs(got-c.logEvidence) > 0.0005 {
				t.Errorf("log evidence %.6f, want %.3f", got, c.logEvidence)
			}
			cross, diag := mat.NewDense(len(x), len(z), nil), make([]float64, len(z))
			for j := range z {
				diag[j] = math.Exp(2 * c.logAmp)
				for i := range x {
					cross.Set(i, j, squaredExponential(x[i], z[j], c.logLength, c.logAmp))
				}
			}
			prob := mat.NewDense(len(z), 2, nil)
			p.PredictProba(prob, []*mat.Dense{cross}, [][]float64{diag}, nil)
			errors := 0
			for j, l := range label {
				if (prob.At(j, 1) > 0.5) != (l > 0) {
					errors++
				}
			}
			if errors != c.errors {
				t.Errorf("%d test errors, want %d", errors, c.errors)
			}
		})
	}
}

func squaredExponential(x, z []float64, logLength, logAmp float64) float64 {
	d := 0.0
	for c, v := range x {
		d += (v - z[c]) * (v - z[c])
	}
	return math.Exp(2*logAmp - d*math.Exp(-2*logLength)/2)
}

// readDigits reads inputs and labels: 3 is -1 and 5 is +1.
func readDigits(t *testing.T, name string) (x [][]float64, y []float64) {
	f, err := os.Open(needs.Data(t, name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	unzipped, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(unzipped).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range rows[1:] {
		v := make([]float64, len(row))
		for i := range row {
			if v[i], err = strconv.ParseFloat(row[i], 64); err != nil {
				t.Fatal(err)
			}
		}
		x = append(x, v[:len(v)-1])
		y = append(y, v[len(v)-1]-4)
	}
	return x, y
}
