package lowrank

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// Site is the site of one case, with precision Tau and ν Nu, and the case's prior mean Mean.
type Site struct{ Tau, Nu, Mean float64 }

// Marginal is N(Mean, Variance) of a case, with B = ν - τ μ.
type Marginal struct{ Mean, Variance, B float64 }

// Sweep visits one case after the other, given the factorised sites and their b. visit receives the
// marginal after the previous visits, and returns the new site. It is GPML Algorithm 3.5 in terms
// of the whitened mean û of the inducing variables and C = M⁻¹. A change Δe of E_i, and Δh of T_i
// (ν_i - τ_i m_i), gives
//
//	C - k Cv (Cv)ᵀ,   û + (Δh - k (v_iᵀû + Δh v_iᵀCv)) Cv,   k = Δe/(1 + Δe v_iᵀCv)
func (p *Sites) Sweep(b []float64, site func(i int) Site, visit func(i int, m Marginal) (Site, error)) error {
	m := p.Points()
	c := full(linalg.InverseCholesky(copyOf(p.um)))
	known, v, cv := make([]float64, m), make([]float64, m), make([]float64, m) // û
	p.project(known, b)
	for i, lambda := range p.lambda {
		for k := range v {
			v[k] = p.v.Data[k*p.v.Stride+i]
		}
		linalg.Gemv(blas.NoTrans, 1, c, v, 0, cv)
		square, at, s := floats.Dot(v, cv), floats.Dot(v, known), site(i)
		left := 1 / (1 + s.Tau*lambda)
		own := left * (s.Nu - s.Tau*(s.Mean+at))
		to, err := visit(i, Marginal{s.Mean + at + lambda*own, left * (lambda + left*square), own})
		if err != nil {
			return err
		}
		now := 1 / (1 + to.Tau*lambda)
		de := to.Tau*now - s.Tau*left
		dh := now*(to.Nu-to.Tau*s.Mean) - left*(s.Nu-s.Tau*s.Mean)
		k := de / (1 + de*square)
		floats.AddScaled(known, dh-k*(at+dh*square), cv)
		for r, x := range cv {
			floats.AddScaled(c.Data[r*c.Stride:r*c.Stride+m], -k*x, cv)
		}
	}
	return nil
}
