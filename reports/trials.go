package reports

import (
	"cmp"
	"io"
	"math"
	"slices"

	"github.com/gpc-tune/gpc-tune/cv"
)

// Trial is all that is on record of a trial. Hyperparameters and starts are in natural units.
type Trial struct {
	Evaluation  string       `json:"evaluation"`
	Repeat      int          `json:"repeat"`
	Fold        int          `json:"fold"`
	Trial       int          `json:"trial"`
	Status      string       `json:"status"`
	Evaluations int          `json:"evaluations"`
	Start       Values       `json:"start"` // of local optimisers and chains
	Points      []TrialPoint `json:"points"`
	Path        []TrialStep  `json:"path,omitempty"` // of local optimisers on all of the training data, from the start to the end
	Warnings    []string     `json:"warnings"`
	Failure     string       `json:"failure,omitempty"`
}

// TrialPoint is an evaluated point. Its Scores are those of the held-out cases of the trial's study.
type TrialPoint struct {
	Hyperparameters Values `json:"hyperparameters"`
	Theta           Values `json:"theta"`    // the free ones on the theta scale, exactly
	Value           Number `json:"value"`    // of the tuning objective
	Gradient        Number `json:"gradient"` // largest absolute entry, over theta
	Scores          Values `json:"scores"`
	Chosen          bool   `json:"chosen,omitempty"`
	Failure         string `json:"failure,omitempty"`
}

// TrialStep is where an iteration of a local optimiser ended.
type TrialStep struct {
	Theta Values `json:"theta"` // the free hyperparameters on the theta scale, exactly
	Value Number `json:"value"` // of the tuning objective
}

// trials lists the trials of a study.
func (c Configuration) trials(s study) (out []Trial) {
	for _, t := range s.trials {
		d := Trial{Evaluation: s.Evaluation, Repeat: s.Repeat, Fold: s.Fold, Trial: t.Index, Status: t.Status, Evaluations: t.Evaluations,
			Start: values(names(c.record), t.Start), Points: []TrialPoint{}, Warnings: append([]string{}, t.Warnings...), Failure: t.Failure}
		for _, p := range t.Points {
			point := TrialPoint{Hyperparameters: values(names(c.record), p.Natural), Theta: values(thetaNames(c.record), p.Theta), Value: p.Value,
				Gradient: p.Gradient, Scores: Values{}, Failure: p.Failure,
				Chosen: s.status() == Done && s.fit.Chosen == t.Index && slices.Equal(p.Natural, s.fit.Natural)}
			for _, score := range cv.Scores {
				if v, found := p.Scores[score.Name]; found {
					point.Scores = append(point.Scores, Value{score.Name, v})
				}
			}
			d.Points = append(d.Points, point)
		}
		for _, step := range t.Path {
			d.Path = append(d.Path, TrialStep{values(thetaNames(c.record), step.Theta), step.Value})
		}
		for _, theta := range t.Asked {
			d.Points = append(d.Points, TrialPoint{Hyperparameters: Values{}, Theta: values(thetaNames(c.record), theta), Value: Number(math.NaN()), Gradient: Number(math.NaN()), Scores: Values{}, Failure: t.Failure})
		}
		out = append(out, d)
	}
	return out
}

// renderTrials writes trials.csv.
func renderTrials(w io.Writer, r *Report) error { return rowsCSV(w, trialRows(r)) }

// trialRows has a row for every point of every trial, and one for a trial without: where it started and came to, the tuning
// objective and its gradient, the scores, and why something failed.
func trialRows(r *Report) Rows {
	t := Rows{columns: []string{"configuration", "evaluation", "repeat", "fold", "trial", "point", "chosen", "status", "evaluations",
		"start", "hyperparameters", "theta", "objective", "value", "gradient", "failure"}}
	for _, s := range cv.Scores {
		t.columns = append(t.columns, s.Name)
	}
	for i, c := range r.Configurations {
		for _, s := range c.studies {
			for _, d := range c.trials(s) {
				head := []any{i, d.Evaluation, d.Repeat, d.Fold, d.Trial}
				if len(d.Points) == 0 {
					t.cells = append(t.cells, append(head, nil, false, d.Status, d.Evaluations, d.Start, nil, nil, c.Objective, nil, nil, d.Failure))
				}
				for k, p := range d.Points {
					row := append(slices.Clip(head), k, p.Chosen, d.Status, d.Evaluations, d.Start, p.Hyperparameters, p.Theta, c.Objective, p.Value, p.Gradient, cmp.Or(p.Failure, d.Failure))
					for _, s := range cv.Scores {
						var cell any
						if v, found := p.Scores.Get(s.Name); found {
							cell = Number(v)
						}
						row = append(row, cell)
					}
					t.cells = append(t.cells, row)
				}
			}
		}
	}
	return t
}

// pathRows has a row for every step of every local optimiser on all of the training data: the free hyperparameters on the theta
// scale, and the tuning objective. Step 0 is the start.
func pathRows(r *Report) Rows {
	t := Rows{columns: []string{"configuration", "trial", "step", "theta", "objective", "value"}}
	for i, c := range r.Configurations {
		for _, d := range c.trials(c.studies[0]) {
			for k, s := range d.Path {
				t.add(i, d.Trial, k, s.Theta, c.Objective, s.Value)
			}
		}
	}
	return t
}
