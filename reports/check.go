package reports

import (
	"github.com/gpc-tune/gpc-tune/internal/record"
)

// CheckSchema names the form of a Check in JSON.
const CheckSchema = "gpc-tune/check/1"

// Check is what became of holding inference methods to differences and to Monte Carlo, at one point
// each.
type Check struct {
	Schema     string     `json:"schema"`
	Experiment string     `json:"experiment"`
	Passed     bool       `json:"passed"`
	Step       Number     `json:"step"` // of the differences, on the theta scale
	Rows       []CheckRow `json:"rows"`
	Notes      []string   `json:"notes"`
}

// CheckRow is one inference method on one data set, with one kernel, mean and likelihood. A Number
// is NaN where there is none, and Notes say why.
type CheckRow struct {
	Dataset    string           `json:"dataset"`
	Preprocess string           `json:"preprocess"`
	Kernel     record.Component `json:"kernel"`
	Mean       record.Component `json:"mean"`
	Likelihood record.Component `json:"likelihood"`
	Inference  record.Component `json:"inference"`
	// Theta has all hyperparameters, fixed ones too.
	Theta         Values `json:"theta"`
	LogEvidence   Number `json:"log_evidence"`   // nats
	StandardError Number `json:"standard_error"` // of a sampled one
	Converged     bool   `json:"converged"`
	// GradientError is the largest |g - d| over the free hyperparameters, divided by max(1, |g|∞,
	// |L|), for the gradient g of the log evidence L and its differences d.
	GradientError Number `json:"gradient_error"`
	Reference     bool   `json:"reference"`   // the sampled log evidence that the rows after it are held to
	LowerBound    bool   `json:"lower_bound"` // so the difference must not be positive
	// Difference is the log evidence less the reference; in standard errors, those of both.
	Difference       Number   `json:"difference"`
	InStandardErrors Number   `json:"in_standard_errors"`
	Failures         []string `json:"failures"`
	Notes            []string `json:"notes"`
}
