package record

import _ "embed"

//go:embed inducing.go
var inducingSource string

// Inducing describes the inducing inputs of a fit, and the variance that they leave unexplained.
type Inducing struct {
	Asked  int    `json:"asked"`  // maximum number
	Points int    `json:"points"` // actual number
	Select string `json:"select"` // greedy | kmeans | random
	// the training cases that are inducing inputs, as 0-based rows of the data set, in the order of
	// selection; absent if they are not cases, and for folds
	Cases []int `json:"cases,omitempty"`
	// the inducing inputs were tuned with the hyperparameters, starting from the selected ones
	Tuned bool `json:"tuned,omitempty"`
	// fraction of the prior variance of the training cases, without noise, that the inducing inputs
	// leave unexplained
	Unexplained Number `json:"unexplained"`
	// the numbers of inducing inputs that were tried, if the number is determined automatically
	Tried []Tried `json:"tried,omitempty"`
	// if inducing inputs are selected again after tuning: the log evidence with the previous ones,
	// nats
	Before *Number `json:"before,omitempty"`
}

// Tried is the result for a number of inducing inputs.
type Tried struct {
	Points int `json:"points"` // number of inducing inputs
	// nats, after optimising the hyperparameters from their initial values
	LogEvidence Number `json:"log_evidence"`
}
