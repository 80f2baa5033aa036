package reports

import (
	"github.com/gpc-tune/gpc-tune/record"
)

// CheckSchema is the version of the JSON of a Check.
const CheckSchema = "gpc-tune/check/1"

// Check has comparisons of inference methods with differences and with Monte Carlo, each at one
// point.
type Check struct {
	Schema     string     `json:"schema"`
	Experiment string     `json:"experiment"`
	Passed     bool       `json:"passed"`
	Step       Number     `json:"step"` // step of the differences, on the theta scale
	Rows       []CheckRow `json:"rows"`
	Notes      []string   `json:"notes"`
}

// CheckRow is one inference method on one data set, with one kernel, mean and likelihood. A missing
// Number is NaN, and Notes give the reason.
type CheckRow struct {
	Dataset    string           `json:"dataset"`
	Preprocess string           `json:"preprocess"`
	Kernel     record.Component `json:"kernel"`
	Mean       record.Component `json:"mean"`
	Likelihood record.Component `json:"likelihood"`
	Inference  record.Component `json:"inference"`
	// Theta lists every hyperparameter, including fixed ones.
	Theta         Values `json:"theta"`
	LogEvidence   Number `json:"log_evidence"`   // nats
	StandardError Number `json:"standard_error"` // standard error of a sampled log evidence, nats
	Converged     bool   `json:"converged"`
	// GradientError is the largest |g - d| over the free hyperparameters, divided by max(1, |g|∞,
	// |L|), for the gradient g of the log evidence L and its differences d.
	GradientError Number `json:"gradient_error"`
	Reference     bool   `json:"reference"` // the sampled log evidence that the rows after it are compared with
	// the log evidence is a lower bound, so the difference must not be positive
	LowerBound bool `json:"lower_bound"`
	// Difference is the log evidence minus the reference, in nats; InStandardErrors is its ratio to
	// the standard error of both.
	Difference       Number   `json:"difference"`
	InStandardErrors Number   `json:"in_standard_errors"`
	Failures         []string `json:"failures"`
	Notes            []string `json:"notes"`
}
