package ledger

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/record"
)

// csatoEnsemble and csatoNaive are the names of the two theories here.
const csatoEnsemble, csatoNaive = "ensemble_mean_field", "naive_mean_field"

// csatoWay is the path of the descent by the naive theory from equal length scales.
func csatoWay(r Runs) ([]record.Step, error) {
	c, err := r.One("csato_figure1", Of{Inference: csatoNaive})
	if err != nil {
		return nil, err
	}
	way := c.Studies[0].Trials[0].Path
	if len(way) < 2 {
		return nil, errors.New("the descent has no way on record")
	}
	return way, nil
}

// csatoIterations counts the passes through equation (9), case by case, that every update of the
// hyperparameters in gallery:csato_figure1 needs. The passes start from the α of the previous
// update.
func csatoIterations(r Runs) (f Found, err error) {
	way, err := csatoWay(r)
	if err != nil {
		return f, err
	}
	pima, err := data.Load(data.Spec{Dataset: "pima"}, "", 1)
	if err != nil {
		return f, err
	}
	n, dim := pima.X.Dims()
	x := make([][]float64, dim) // standardised inputs, one by one
	for j := range x {
		mean, square := 0.0, 0.0
		for i := range n {
			x[j] = append(x[j], pima.X.At(i, j))
			mean += x[j][i] / float64(n)
		}
		for i := range n {
			x[j][i] -= mean
			square += x[j][i] * x[j][i] / float64(n)
		}
		for i := range n {
			x[j][i] /= math.Sqrt(square)
		}
	}
	e := csatoEquations{alpha: make([]float64, n)}
	for _, class := range pima.Labels {
		e.y = append(e.y, float64(2*class-1))
	}
	to := []float64{1e-3, 1e-4}
	counts := make([][]int, len(to))
	for k, step := range way {
		e.kernel(x, step)
		changes := e.solve(to[len(to)-1])
		for t, tolerance := range to {
			count := 1 + slices.IndexFunc(changes, func(c float64) bool { return c < tolerance })
			if k > 0 { // updates, not the start from α = 0
				counts[t] = append(counts[t], count)
			}
		}
	}
	for t := range counts {
		slices.Sort(counts[t])
	}
	middle := len(counts[0]) / 2
	f.Here = fmt.Sprintf("through (9) case by case, the median of %d updates: %d times to 0.001 in α, %d to 0.0001",
		len(way)-1, counts[0][middle], counts[1][middle])
	f.Agrees = within(float64(counts[1][middle]), 10, 5)
	return f, nil
}

// csatoEquations are (9) of the naive theory for the step likelihood: with h_i = Σ_{j≠i} K_ij y_j
// α_j and z_i = y_i h_i/√K_ii, α_i = N(z_i)/(√K_ii Φ(z_i)).
type csatoEquations struct {
	k        [][]float64
	y, alpha []float64
}

// kernel computes e.k for the hyperparameters of a step, which are the length scales and the noise.
func (e *csatoEquations) kernel(x [][]float64, s record.Step) {
	n := len(e.y)
	e.k = make([][]float64, n)
	for a := range n {
		e.k[a] = make([]float64, n)
		for b := range n {
			square := 0.0
			for j, column := range x {
				d := (column[a] - column[b]) / math.Exp(float64(s.Theta[j]))
				square += d * d
			}
			e.k[a][b] = math.Exp(-square / 2)
		}
		e.k[a][a] += math.Exp(2 * float64(s.Theta[len(x)]))
	}
}

// solve passes through the equations until no α changes by more than the tolerance. It returns the
// largest change of every pass.
func (e *csatoEquations) solve(tolerance float64) (changes []float64) {
	const most = 10_000
	for range most {
		largest := 0.0
		for i, row := range e.k {
			h, sd := 0.0, math.Sqrt(row[i])
			for j, v := range row {
				if j != i {
					h += v * e.y[j] * e.alpha[j]
				}
			}
			z := e.y[i] * h / sd
			alpha := math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) / (math.Erfc(-z/math.Sqrt2) / 2) / sd
			largest = max(largest, math.Abs(alpha-e.alpha[i]))
			e.alpha[i] = alpha
		}
		if changes = append(changes, largest); largest < tolerance {
			break
		}
	}
	return changes
}
