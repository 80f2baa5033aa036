package record

import _ "embed"

var (
	//go:embed illustration.go
	illustrationSource string
	//go:embed component.go
	componentSource string
)

// Sources are those of the records that results.json has: the comments of their fields describe
// them in its schema.
func Sources() []string { return []string{illustrationSource, componentSource, inducingSource} }

// Illustration shows something of models without data, in columns of numbers and, where its kind
// has them, in Gaussians. It is computed with the plan.
type Illustration struct {
	Key  string `json:"key"`  // content hash of all that determines it
	Kind string `json:"kind"` // prior | likelihood | posterior | softmax | cavity
	// among the experiment's illustrations, from 0; those of one entry are drawn together
	Entry  int       `json:"entry"`
	Kernel Component `json:"kernel,omitzero"` // as YAML flow text; absent: nothing of it is shown
	// the prior mean, as YAML flow text; absent: nothing of it is shown
	Mean            Component `json:"mean,omitzero"`
	Likelihood      Component `json:"likelihood,omitzero"`       // as YAML flow text; absent: nothing of it is shown
	Hyperparameters []Named   `json:"hyperparameters,omitempty"` // those of the parts that are shown, natural units
	Classes         []string  `json:"classes,omitempty"`         // of a prior with a latent function for each class
	// of a prior: what was added to the diagonal of a covariance without full rank in floating
	// point
	Jitter Number `json:"jitter,omitempty"`
	// of a likelihood or a posterior: y, one for each latent value
	Labels []Number `json:"labels,omitempty"`
	// Of one length. Of a prior x, f1, f2, … and p1, p2, …, or f1[class], …; of a likelihood f,
	// log_likelihood (nats) and its first_derivative, second_derivative and third_derivative; of a
	// posterior f, prior, likelihood and exact, or f1, f2 and exact over a square lattice, f1
	// moving fastest, where all but likelihood are densities; of a softmax f1, p1, …, averaged1, …
	// and eigenvalue1, …; of a cavity precision, mean, variance, cavity_mean and cavity_variance.
	Columns []Column `json:"columns"`
	// of a posterior: that of its latent values, without log_evidence
	Prior *Gaussian `json:"prior,omitempty"`
	// of a posterior: its moments, and its mass before it is normalised
	Exact          *Gaussian      `json:"exact,omitempty"`
	Approximations []Approximated `json:"approximations,omitempty"` // of a posterior: as every inference method has it
}

// Gaussian is a mean and a covariance, and the logarithm of a mass.
type Gaussian struct {
	Mean        []Number   `json:"mean"`                   // one or two numbers
	Covariance  [][]Number `json:"covariance"`             // row by row
	LogEvidence *Number    `json:"log_evidence,omitempty"` // nats; absent where there is none
}

// Approximated is a posterior as an inference method has it.
type Approximated struct {
	Inference  Component `json:"inference"`          // as YAML flow text
	Gaussian   *Gaussian `json:"gaussian,omitempty"` // absent where it failed
	Converged  bool      `json:"converged"`          // within the method's tolerance
	Iterations int       `json:"iterations"`         // as the method counts them
	// after one iteration, after two, …, until it ended or failed; the first 15
	Iterates []Gaussian `json:"iterates,omitempty"`
	Warnings []string   `json:"warnings,omitempty"` // of the fit
	Failure  string     `json:"failure,omitempty"`  // why there is no gaussian
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
