package record

import _ "embed"

//go:embed inducing.go
var inducingSource string

// Inducing is which inducing inputs a fit has, and what they leave unexplained.
type Inducing struct {
	Asked  int    `json:"asked"`  // how many there may be
	Points int    `json:"points"` // how many there are
	Select string `json:"select"` // greedy | kmeans | random
	// the training cases that they are, as 0-based rows of the data set, in the order in which they
	// were chosen; absent where they are no cases, and of folds
	Cases []int `json:"cases,omitempty"`
	// they were tuned with the hyperparameters, from where they were chosen
	Tuned bool `json:"tuned,omitempty"`
	// share of the prior variance of the training cases, without noise, that they leave to Λ
	Unexplained Number `json:"unexplained"`
	// where as many are chosen as it takes: the numbers that were tried
	Tried []Tried `json:"tried,omitempty"`
	// where they are chosen anew after tuning: the log evidence with those before, nats
	Before *Number `json:"before,omitempty"`
}

// Tried is what so many inducing inputs come to.
type Tried struct {
	Points int `json:"points"` // how many inducing inputs
	// nats, where a climb over the hyperparameters, from where they start, has ended
	LogEvidence Number `json:"log_evidence"`
}
