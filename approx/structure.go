package approx

import (
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/registry"
)

// Structure is a representation of the prior covariance of the cases: an option of the methods that
// work with every representation. nil is a matrix. Package objective has the table of structures,
// and makes the Cov for each.
type Structure interface {
	// PowerOr is the power α of the Correction for the variance that the structure lacks; own is
	// the method's own.
	PowerOr(own float64) float64
}

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
func (c *Correction) UnmarshalText(text []byte) error {
	return registry.Choose(&c.Form, "correction", text)
}

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

// PowerOr is α, or the method's own.
func (c Correction) PowerOr(own float64) float64 {
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

// power is the power of the correction, 1 without one: the prior then has the variances of K, so
// that leave-one-out probabilities follow from the cavities.
func power(s Structure, own float64) float64 {
	if s == nil {
		return 1
	}
	return s.PowerOr(own)
}

// structured methods work with every structure of the prior covariance.
type structured interface {
	structure() Structure
	with(Structure) (Approximation, bool)
}

// StructureOf is the structure that a method has as its option, or nil.
func StructureOf(m Approximation) Structure {
	if s, ok := m.(structured); ok {
		return s.structure()
	}
	return nil
}

// With returns the method with another structure; ok is false if it works with matrices only.
func With(m Approximation, s Structure) (with Approximation, ok bool) {
	of, ok := m.(structured)
	if !ok || of.structure() == s { // a method that embeds another stays as it is
		return m, ok || s == nil
	}
	return of.with(s)
}

// Sums sets mean[k] and variance[k] of the sums Σ_j s_jk f_j of latent values at new inputs, with
// the other arguments of Posterior.Latent, which have the kernel's noise left out. ok is false
// where a sum is like any latent value: then Latent gives its moments, for the sums of the
// covariances.
func Sums(
	p Posterior, mean, variance []float64, cross *mat.Dense, diag []float64, s *mat.Dense, class int,
) (ok bool) {
	of, is := p.(interface {
		sums(mean, variance []float64, cross *mat.Dense, diag []float64, s *mat.Dense, class int) bool
	})
	return is && of.sums(mean, variance, cross, diag, s, class)
}
