package approx

import (
	"fmt"
	"strconv"
)

// Inducing selects a prior of lower rank, as an option of a method. It replaces K by
//
//	K̂ = Q + Λ,   Q = K_xz K_zz⁻¹ K_zx,
//
// for m inducing inputs Z, at a cost of O(n m²) time and O(n m) memory (Quiñonero-Candela &
// Rasmussen 2005). With the zero value, or with no more cases than points, the method uses K
// itself.
type Inducing struct {
	// Points is m.
	Points int `yaml:"points" within:"[1,1000000]"`
	// Select is how the inducing inputs are selected, once per training set and at the initial
	// hyperparameters.
	Select Selection `yaml:"select"`
	// Correction is the treatment of the variance that Q lacks.
	Correction Correction `yaml:"correction"`
	// Tolerance, if not 0, reduces the number of inputs: to the smallest number for which doubling
	// changes the log evidence by at most this, in nats per case. Points is the maximum.
	Tolerance float64 `yaml:"tolerance" within:"(0,inf)"`
	// Rechoose selects the inputs again at the tuned hyperparameters, and fits the model with
	// these.
	Rechoose bool `yaml:"rechoose"`
	// TuneInputs moves the inducing inputs together with the hyperparameters, in local optimisers.
	TuneInputs bool `yaml:"tune_inputs"`
}

// auto is the meaning of the text "auto".
var auto = Inducing{Points: 2000, Tolerance: DefaultTolerance}

// DefaultTolerance is the tolerance of auto. A larger change of the log evidence by another
// selection of inducing inputs, in nats per case, is a warning.
const DefaultTolerance = 1e-3

// Reads lists the texts that UnmarshalText reads, besides numbers.
func (Inducing) Reads() (texts []string, numbers bool) { return []string{"auto"}, true }

// none reports whether the method uses K itself.
func (i Inducing) none() bool { return i.Points == 0 }

// cavities reports whether leave-one-out probabilities can be computed from the cavities: K̂ has
// the variances of K. own is the power of the method's own correction.
func (i Inducing) cavities(own float64) bool { return i.none() || i.Correction.power(own) == 1 }

// UnmarshalText reads a number of points, or auto.
func (i *Inducing) UnmarshalText(text []byte) error {
	if string(text) == "auto" {
		*i = auto
		return nil
	}
	points, err := strconv.Atoi(string(text))
	if err != nil || points < 1 {
		return fmt.Errorf("inducing: %q is no number of points; write how many, as in 200, or auto, or {points: 200, "+
			"select: greedy, correction: fitc}", text)
	}
	i.Points = points
	return nil
}

// Selection is how inducing inputs are selected.
type Selection int

const (
	// Greedy takes, one after the other, the case with the largest conditional variance given those
	// before (Burt, Rasmussen & van der Wilk 2020).
	Greedy Selection = iota
	// KMeans takes the centres of k-means clusters, from k-means++.
	KMeans
	// Random takes cases at random.
	Random
)

// Names are the names of the selections.
func (Selection) Names() []string { return []string{"greedy", "kmeans", "random"} }

// UnmarshalText reads a selection's name.
func (s *Selection) UnmarshalText(text []byte) error { return choose(s, "selection", text) }

// Correction is the treatment of D = diag(K - Q). The prior includes α D as independent variances
// of the cases; for the rest Σ_i (1-α)/2α log(1 + α D_i τ_i) is subtracted from the log evidence,
// with τ_i the precision of a case's site: power EP with Gaussian noise (Bui, Yan & Turner 2017,
// (13)), whose limits are FITC (Snelson & Ghahramani 2006), α = 1, and VFE (Titsias 2009), α = 0,
// with ½ D_i τ_i. The variational method averages log p(y|f) over the marginals with (1-α) D added
// instead, and at α = 0 remains a bound of the evidence of K itself (Hensman, Matthews & Ghahramani
// 2015).
type Correction struct {
	Form CorrectionForm `yaml:"-"`
	// Power is α, from 0, VFE, to 1, FITC.
	Power float64 `yaml:"power" within:"(0,1)"`
}

// Reads are the texts that UnmarshalText reads.
func (c Correction) Reads() (texts []string, numbers bool) { return c.Form.Names(), false }

// UnmarshalText reads a form's name.
func (c *Correction) UnmarshalText(text []byte) error { return choose(&c.Form, "correction", text) }

// Word is the form's name, if it has one.
func (c Correction) Word() string {
	if c.Power > 0 || c.Form == MethodsOwn {
		return ""
	}
	return c.Form.Names()[c.Form]
}

// CorrectionForm is a correction with a name.
type CorrectionForm int

const (
	// MethodsOwn is VFE for the variational method and FITC for the others, unless Power is given.
	MethodsOwn CorrectionForm = iota
	FITC
	VFE
)

// Names are the forms' names.
func (CorrectionForm) Names() []string { return []string{"default", "fitc", "vfe"} }

// power is α, or the method's own.
func (c Correction) power(own float64) float64 {
	switch {
	case c.Form == FITC:
		return 1
	case c.Form == VFE:
		return 0
	case c.Power > 0:
		return c.Power
	}
	return own
}

// inducer methods have the option inducing.
type inducer interface {
	inducing() Inducing
	with(Inducing) Approximation
}

// InducingOf is the option inducing of a method; zero if it has none.
func InducingOf(m Approximation) Inducing {
	if i, ok := m.(inducer); ok {
		return i.inducing()
	}
	return Inducing{}
}

// Exactly returns the method without inducing inputs.
func Exactly(m Approximation) Approximation {
	if InducingOf(m) == (Inducing{}) {
		return m
	}
	return m.(inducer).with(Inducing{})
}
