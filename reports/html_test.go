package reports

import (
	"fmt"

	"github.com/gpc-tune/gpc-tune/internal/record"
)

// injected is a name that is a script.
const injected = `<script>window.injected = 1</script>&"'`

// large is a run of two configurations with 10 000 trials each: points drawn at random, and restarts.
func large() (m record.Manifest, lines []record.Line) {
	const trials = 10_000
	m = record.Manifest{Experiment: "large", Formats: []string{"html"}}
	for c, tune := range []string{"{random: {trials: 10000}}", "bfgs"} {
		m.Configurations = append(m.Configurations, record.Configuration{Dataset: "d", Kernel: "se", Likelihood: "probit", Inference: "laplace", Classes: []string{"a", "b"}, Tune: tune,
			Hyperparameters: []record.Hyperparameter{{Name: "amplitude", Theta: "log_amplitude"}, {Name: "length_scale", Theta: "log_length_scale"}},
			Studies:         []record.Study{{Key: fmt.Sprint(c), Evaluation: "train", Train: 9}}})
		for i := range trials {
			x, y := float64(i*7919%trials)/trials, float64(i*104_729%trials)/trials
			end := []record.Number{record.Number(x), record.Number(y)}
			trial := &record.Trial{Configuration: c, Index: i, Status: "evaluated", Evaluations: 1, Points: []record.Point{{Theta: end, Natural: end, Value: record.Number(-x * x), Gradient: record.Number(y)}}}
			if c == 1 {
				trial.Start, trial.Status = end, "converged"
			}
			if i%10 == 0 {
				trial.Points, trial.Failure = nil, fmt.Sprintf("the covariance is not positive definite at %v", x)
			}
			lines = append(lines, record.Line{Key: fmt.Sprintf("%d-%d", c, i), Trial: trial})
		}
	}
	return m, lines
}
