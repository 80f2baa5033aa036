package likelihood

import "github.com/gpc-tune/gpc-tune/approx/param"

// FromLogDensity makes a likelihood without parameters from log p(y|f) and its first three
// derivatives with respect to f, finite for every f; ByQuadrature computes the rest, with the
// accuracy stated there. For a likelihood with parameters, write a type with the methods of
// Likelihood and Density. domain is Binary or Numeric, and shape declares properties of log p.
// likelihoodtest.Check finds violations. Register gives the likelihood that it returns a name for
// files; a likelihood of another call is another one.
func FromLogDensity(domain Domain, shape Shape, derivs func(y, f float64) (logp, d1, d2, d3 float64)) Likelihood {
	if derivs == nil || domain == Categorical {
		panic("likelihood: FromLogDensity needs a function, of one latent value")
	}
	return written{&density{domain, shape, derivs}}
}

type density struct {
	domain Domain
	shape  Shape
	derivs func(y, f float64) (logp, d1, d2, d3 float64)
}

type written struct{ *density }

// Origin implements registry.Made.
func (w written) Origin() any { return w.density }

// Options implements registry.Made: there are none.
func (written) Options() any { return struct{}{} }

// With implements registry.Made.
func (w written) With(any) Likelihood { return w }

func (w written) Domain() Domain           { return w.domain }
func (written) Params() []param.Spec       { return nil }
func (w written) At(theta []float64) Bound { return ByQuadrature(w, w) }

// Shape implements Density.
func (w written) Shape() Shape { return w.shape }

// Derivs implements Density.
func (w written) Derivs(y, f float64) (logp, d1, d2, d3 float64) { return w.derivs(y, f) }

// ParamDerivs implements Density: there are none.
func (written) ParamDerivs(_, _, _ []float64, _, _ float64) {}
