package reports

import (
	"cmp"
	"math"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/record"
)

// Trial has everything on record about a trial. Hyperparameters and starts are in natural units.
type Trial struct {
	Evaluation string `json:"evaluation"`
	Repeat     int    `json:"repeat"`
	Fold       int    `json:"fold"`
	Trial      int    `json:"trial"`
	Status     string `json:"status"`
	Own        bool   `json:"own,omitempty"` // a user has enqueued it
	// what was tuned instead, if the trial only finds a start: another inference method, or fewer
	// cases, folds or inducing inputs
	Preliminary string       `json:"preliminary,omitempty"`
	Evaluations int          `json:"evaluations"`
	Start       Values       `json:"start"` // for local optimisers and chains
	Points      []TrialPoint `json:"points"`
	// for local optimisers on all of the training data, from the start to the end
	Path []TrialStep `json:"path,omitempty"`
	// values on the way of a program, by its own steps
	Interim  []Interim `json:"interim,omitempty"`
	Warnings []string  `json:"warnings"`
	Failure  string    `json:"failure,omitempty"`
	// path, in the run folder, of what the program wrote, without .stdout.txt and .stderr.txt
	Output  string  `json:"output,omitempty"`
	Seconds float64 `json:"-"` // wall time
}

// Interim is a value that a program gave on the way, after a step.
type Interim struct {
	Step  Number `json:"step"`
	Value Number `json:"value"`
}

// TrialPoint is an evaluated point. Its Scores are computed from the held-out cases of the trial's
// study.
type TrialPoint struct {
	Hyperparameters Values `json:"hyperparameters"`
	Theta           Values `json:"theta"`    // the free hyperparameters on the theta scale, exactly
	Value           Number `json:"value"`    // of the tuning objective
	Gradient        Number `json:"gradient"` // largest absolute entry, over theta
	// named values of a program: objectives, and values with required bounds
	Values  Values `json:"values,omitempty"`
	Scores  Values `json:"scores"`
	Chosen  bool   `json:"chosen,omitempty"`
	Failure string `json:"failure,omitempty"`
}

// TrialStep is the end of an iteration of a local optimiser.
type TrialStep struct {
	Theta Values `json:"theta"` // the free hyperparameters on the theta scale, exactly
	Value Number `json:"value"` // of the tuning objective
}

// TrialsOf lists the trials of a study.
func (c Configuration) TrialsOf(s Study) (out []Trial) {
	for i, t := range s.Trials {
		d := Trial{Evaluation: s.Evaluation, Repeat: s.Repeat, Fold: s.Fold, Trial: t.Index, Status: t.Status,
			Evaluations: t.Evaluations, Own: t.Enqueued > 0,
			Start: natural(c.Record, t.Start), Points: []TrialPoint{},
			Warnings: cause.Texts(t.Warnings), Failure: t.Failure.String(), Output: t.Output, Seconds: s.seconds[i]}
		if t.Preliminary {
			d.Preliminary = cmp.Or(t.Share.String(), c.Record.Start())
		}
		for _, at := range t.Interim {
			d.Interim = append(d.Interim, Interim{Number(at.Step), Number(at.Value)})
		}
		for _, p := range t.Points {
			point := TrialPoint{Hyperparameters: natural(c.Record, p.Natural),
				Theta: onTheta(c.Record, p.Theta), Value: p.Value,
				Gradient: p.Gradient, Scores: Values{}, Failure: p.Failure.String(),
				Values: namedValues(p), Chosen: s.chosePoint(t, p)}
			for _, score := range cv.Scores {
				if v, found := p.Scores[score.Name]; found {
					point.Scores = append(point.Scores, record.Named{Name: score.Name, Value: v})
				}
			}
			d.Points = append(d.Points, point)
		}
		for _, step := range t.Path {
			d.Path = append(d.Path, TrialStep{onTheta(c.Record, step.Theta), step.Value})
		}
		for _, theta := range t.Asked {
			d.Points = append(d.Points, TrialPoint{Hyperparameters: unmeasured(c.Record, theta),
				Theta: onTheta(c.Record, theta), Value: Number(math.NaN()), Gradient: Number(math.NaN()),
				Scores: Values{}, Failure: t.Failure.String()})
		}
		out = append(out, d)
	}
	return out
}
