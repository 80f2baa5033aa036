package reports

import (
	"encoding/csv"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/gpc-tune/gpc-tune/cv"
)

// renderCSV writes results.csv: a header and, per configuration, a row for the study of all the training data
// (evaluation "all"), a row for every fold, and a row for every evaluation with all of its folds pooled (fold "pooled"),
// which repeats the hyperparameters, the log evidence and the leave-one-out log probability of "all". Scores have three columns, the value and the ends of the 95 % interval, counts one. Numbers are exact; a
// cell is empty where there is none. hyperparameters is name=value, separated by blanks.
func renderCSV(w io.Writer, r *Report) error {
	out := csv.NewWriter(w)
	header := []string{"configuration", "dataset", "preprocess", "kernel", "mean", "likelihood", "inference", "tune_inference", "tune",
		"evaluation", "repeat", "fold", "status", "hyperparameters", "log_evidence", "leave_one_out", "n"}
	for _, s := range cv.Scores {
		header = append(header, s.Name)
		if !s.Count {
			header = append(header, s.Name+"_lo", s.Name+"_hi")
		}
	}
	out.Write(header) // errors surface in out.Error
	for i, c := range r.Configurations {
		row := func(evaluation, repeat, fold, status string, hyperparameters Values, evidence, leaveOneOut Number, scores Scores) {
			cells := []string{strconv.Itoa(i), c.Dataset, c.Preprocess, c.Kernel, c.Mean, c.Likelihood, c.Inference, c.TuneInference, c.Tune,
				evaluation, repeat, fold, status, assignments(hyperparameters, exact), exact(float64(evidence)), exact(float64(leaveOneOut)), ""}
			if scores.N > 0 {
				cells[len(cells)-1] = strconv.Itoa(scores.N)
			}
			for _, s := range cv.Scores {
				e, ok := scores.Value(s.Name)
				if !ok {
					e = cv.Estimate{Value: math.NaN(), Lo: math.NaN(), Hi: math.NaN()}
				}
				cells = append(cells, exact(e.Value))
				if !s.Count {
					cells = append(cells, exact(e.Lo), exact(e.Hi))
				}
			}
			out.Write(cells)
		}
		row("all", "", "", string(c.Status), c.Hyperparameters, c.LogEvidence, c.leaveOneOut(), Scores{})
		for _, f := range c.Folds {
			row(f.Evaluation, strconv.Itoa(f.Repeat), strconv.Itoa(f.Fold), string(f.Status), f.Hyperparameters, f.LogEvidence, Number(math.NaN()), f.Scores)
		}
		for _, e := range c.Evaluations {
			row(e.Name, "", "pooled", string(e.Status), c.Hyperparameters, c.LogEvidence, c.leaveOneOut(), e.Scores)
		}
	}
	out.Flush()
	return out.Error()
}

// exact is the shortest decimal that gives back the same bits; NaN is empty.
func exact(x float64) string {
	if math.IsNaN(x) {
		return ""
	}
	return strconv.FormatFloat(x, 'g', -1, 64)
}

// assignments writes values as "name=value name=value".
func assignments(v Values, format func(float64) string) string {
	var out []string
	for _, value := range v {
		out = append(out, value.Name+"="+format(float64(value.Number)))
	}
	return strings.Join(out, " ")
}
