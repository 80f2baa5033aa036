package approx_test

import (
	"encoding/csv"
	"math"
	"os"
	"strconv"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

// A Newton step may end far away, where the rounding error is larger than the distance from the
// fixed point. It is then halved or taken back: the prior variance, e⁶ = 400, is not too large. The
// sets are petals of iris without each fifth, fourth or second case.
func TestNewtonStepsThatAreTooLong(t *testing.T) {
	f, err := os.Open("../experiments/data/sets/iris.csv")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		step, first int
		scale       float64
	}{{5, 4, 0.8}, {5, 3, 1.25}, {4, 3, 0.8}, {2, 1, 1.25}, {2, 0, 1.25}} {
		y, columns := approx.Targets{Classes: 3}, [2][]float64{}
		for i, row := range rows[1:] {
			if i%c.step == c.first {
				continue
			}
			y.Index = append(y.Index, i/50)
			for k := range columns {
				v, err := strconv.ParseFloat(row[k+2], 64)
				if err != nil {
					t.Fatal(err)
				}
				columns[k] = append(columns[k], v)
			}
		}
		n := len(y.Index)
		r2 := mat.NewSymDense(n, nil)
		for k, length := range []float64{1.42 * c.scale, 1.62 * c.scale} {
			_, sd := stat.MeanStdDev(columns[k], nil)
			for i, a := range columns[k] {
				for j := i; j < n; j++ {
					d := (a - columns[k][j]) / sd / length
					r2.SetSym(i, j, r2.At(i, j)+d*d)
				}
			}
		}
		k := mat.NewSymDense(n, nil)
		for i := range n {
			for j := i; j < n; j++ {
				k.SetSym(i, j, math.Exp(6-r2.At(i, j)/2))
			}
		}
		p := fitJoint(t, approx.EP{}, []approx.Cov{{K: k}}, y.Index, 3, likelihood.Softmax{})
		if d := p.Diagnostics(); !d.Converged {
			t.Errorf("without case %d of each %d: %v", c.first, c.step, d.Failure)
		}
	}
}
