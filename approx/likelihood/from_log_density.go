package likelihood

import "github.com/gpc-tune/gpc-tune/objective/param"

// FromLogDensity is the likelihood, without parameters, of which log p(y|f) and its first three
// derivatives with respect to f are known, finite for every f; ByQuadrature makes the rest, and
// says how accurately. One with parameters is a type with the methods of Likelihood and Density.
// domain is Binary or Numeric, and shape what log p is like. likelihoodtest.Check finds where it is
// not.
func FromLogDensity(domain Domain, shape Shape, derivs func(y, f float64) (logp, d1, d2, d3 float64)) Likelihood {
	if derivs == nil || domain == Categorical {
		panic("likelihood: FromLogDensity needs a function, of one latent value")
	}
	return written{domain, shape, derivs}
}

type written struct {
	domain Domain
	shape  Shape
	derivs func(y, f float64) (logp, d1, d2, d3 float64)
}

func (w written) Domain() Domain           { return w.domain }
func (written) Params() []param.Spec       { return nil }
func (w written) At(theta []float64) Bound { return ByQuadrature(w, w) }

// Shape implements Density.
func (w written) Shape() Shape { return w.shape }

// Derivs implements Density.
func (w written) Derivs(y, f float64) (logp, d1, d2, d3 float64) { return w.derivs(y, f) }

// ParamDerivs implements Density: there are none.
func (written) ParamDerivs(_, _, _ []float64, _, _ float64) {}
