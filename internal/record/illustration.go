package record

import _ "embed"

// IllustrationSource is this file: the comments of the fields describe them in the schema of results.json.
//
//go:embed illustration.go
var IllustrationSource string

// Illustration shows something of models without data, in columns of numbers and, where its kind has them, in Gaussians. It is
// computed with the plan.
type Illustration struct {
	Key             string   `json:"key"`                       // content hash of all that determines it
	Kind            string   `json:"kind"`                      // "prior", …
	Entry           int      `json:"entry"`                     // among the experiment's illustrations; those of one entry are drawn together
	Kernel          string   `json:"kernel,omitempty"`          // as YAML flow text; empty: nothing of it is shown
	Mean            string   `json:"mean,omitempty"`            // the prior mean, as YAML flow text; empty: nothing of it is shown
	Likelihood      string   `json:"likelihood,omitempty"`      // as YAML flow text; empty: nothing of it is shown
	Hyperparameters []Named  `json:"hyperparameters,omitempty"` // natural units
	Classes         []string `json:"classes,omitempty"`         // where each has a latent function
	Labels          []Number `json:"labels,omitempty"`          // of the latent values, where the likelihood of given ones is shown
	Columns         []Column `json:"columns"`                   // of one length
	// Of a posterior: what latent values and their labels give.
	Prior          *Gaussian      `json:"prior,omitempty"`
	Exact          *Gaussian      `json:"exact,omitempty"` // the moments of the posterior, and its mass
	Approximations []Approximated `json:"approximations,omitempty"`
	Jitter         Number         `json:"jitter,omitempty"` // what was added to the diagonal of a covariance without full rank in floating point
}

// Gaussian is a mean and a covariance, and the logarithm of a mass.
type Gaussian struct {
	Mean        []Number   `json:"mean"`
	Covariance  [][]Number `json:"covariance"`
	LogEvidence *Number    `json:"log_evidence,omitempty"` // nats; absent where there is none
}

// Approximated is a posterior as an inference method has it.
type Approximated struct {
	Inference  string     `json:"inference"`          // as YAML flow text
	Gaussian   *Gaussian  `json:"gaussian,omitempty"` // absent where it failed
	Converged  bool       `json:"converged"`
	Iterations int        `json:"iterations"`
	Iterates   []Gaussian `json:"iterates,omitempty"` // after one iteration, after two, …, until it ended or failed; the first 15
	Warnings   []string   `json:"warnings,omitempty"`
	Failure    string     `json:"failure,omitempty"`
}

// Column is a list of numbers and what they are.
type Column struct {
	Name   string   `json:"name"`   // what they are
	Values []Number `json:"values"` // in their order
}

// Named is a number and what it is.
type Named struct {
	Name  string `json:"name"`  // what it is
	Value Number `json:"value"` // natural units
}

// Column finds a column by its name; nil if there is none.
func (i Illustration) Column(name string) []float64 {
	for _, c := range i.Columns {
		if c.Name == name {
			return Floats(c.Values)
		}
	}
	return nil
}
