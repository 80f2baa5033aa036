package record

import (
	_ "embed"

	"github.com/gpc-tune/gpc-tune/internal/cause"
)

var (
	//go:embed illustration.go
	illustrationSource string
	//go:embed component.go
	componentSource string
)

// Sources are the source files with the records of results.json; the comments of fields become
// descriptions in its schema.
func Sources() []string {
	return []string{illustrationSource, componentSource, describedSource, importanceSource, inducingSource,
		programSource}
}

// Illustration shows a property of models without data, in columns of numbers and, for some kinds,
// in Gaussians. It is computed with the plan.
type Illustration struct {
	Key  string `json:"key"`  // content hash of everything that determines it
	Kind string `json:"kind"` // prior | likelihood | posterior | softmax | cavity
	// index of the entry among the experiment's illustrations, from 0; the illustrations of one
	// entry are drawn together
	Entry  int       `json:"entry"`
	Kernel Component `json:"kernel,omitzero"` // as YAML flow text; absent: not shown
	// the prior mean, as YAML flow text; absent: not shown
	Mean       Component `json:"mean,omitzero"`
	Likelihood Component `json:"likelihood,omitzero"` // as YAML flow text; absent: not shown
	// hyperparameters of the parts shown, natural units
	Hyperparameters []Named `json:"hyperparameters,omitempty"`
	// classes of a prior with one latent function per class
	Classes []string `json:"classes,omitempty"`
	// for a prior: the number added to the diagonal of a covariance that is numerically singular
	Jitter Number `json:"jitter,omitempty"`
	// for a likelihood or a posterior: y, one for each latent value
	Labels []Number `json:"labels,omitempty"`
	// columns of equal length. For a prior x, f1, f2, … and p1, p2, …, or f1[class], …; for a
	// likelihood f, log_likelihood (nats) and its first_derivative, second_derivative and
	// third_derivative; for a posterior f, prior, likelihood and exact, or f1, f2 and exact over a
	// square lattice, f1 changing fastest, where all but likelihood are densities; for a softmax
	// f1, p1, …, averaged1, … and eigenvalue1, …; for a cavity precision, mean, variance,
	// cavity_mean and cavity_variance.
	Columns []Column `json:"columns"`
	// for a posterior: the prior of the latent values, without log_evidence
	Prior *Gaussian `json:"prior,omitempty"`
	// for a posterior: its exact moments, and its mass before normalisation
	Exact *Gaussian `json:"exact,omitempty"`
	// for a posterior: the approximation of every inference method
	Approximations []Approximated `json:"approximations,omitempty"`
}

// Gaussian is a mean and a covariance, with the logarithm of a mass.
type Gaussian struct {
	Mean        []Number   `json:"mean"`                   // one or two numbers
	Covariance  [][]Number `json:"covariance"`             // row by row
	LogEvidence *Number    `json:"log_evidence,omitempty"` // nats; absent if there is none
}

// Approximated is the approximation of a posterior by an inference method.
type Approximated struct {
	Inference  Component `json:"inference"`          // as YAML flow text
	Gaussian   *Gaussian `json:"gaussian,omitempty"` // absent if it failed
	Converged  bool      `json:"converged"`          // within the method's tolerance
	Iterations int       `json:"iterations"`         // as counted by the method
	// the approximation after each of the first 15 iterations
	Iterates []Gaussian     `json:"iterates,omitempty"`
	Warnings []cause.Notice `json:"warnings,omitempty"` // of the fit
	Failure  cause.Notice   `json:"failure,omitzero"`   // why there is no gaussian
	Cavity   *Cavity        `json:"cavity,omitempty"`   // the cavity at which EP failed
}

// Cavity is a cavity distribution without a finite positive variance.
type Cavity struct {
	Case      int    `json:"case"`      // from 0
	Variance  Number `json:"variance"`  // 0 or less, or infinite
	Iteration int    `json:"iteration"` // from 1
}

// Column is a named list of numbers.
type Column struct {
	Name   string   `json:"name"`   // name of the quantity
	Values []Number `json:"values"` // in order
}

// Named is a named number.
type Named struct {
	Name  string `json:"name"`  // name of the quantity
	Value Number `json:"value"` // natural units
	// text for the value, if it is one of several without an order
	Text string `json:"text,omitempty"`
	// Text in JSON, with its type in the file; empty: it is a text
	JSON string `json:"-"`
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
