package prior

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// inducingSearch is the Search of a prior with inducing inputs.
type inducingSearch struct{ *inducingSites }

func (p *inducingSites) Search() Search { return inducingSearch{p} }

// These implement Search.
func (p inducingSearch) Close()                    {}
func (p inducingSearch) Variances(sigma []float64) { copy(sigma, p.inducingSites.Variances()) }
func (p inducingSearch) Swept([]float64) bool      { return false }

// PrefersSweeps implements Search: a sweep takes twice as long as a new factor, on one thread.
func (p inducingSearch) PrefersSweeps() bool { return false }

func (p inducingSearch) Jacobian(sigma []float64, _ At) func(dst, x []float64) {
	return p.inducingSites.Jacobian(sigma)
}

// Sweep implements Search. It is GPML Algorithm 3.5 lines 4-12 in terms of the whitened mean û of
// the inducing variables and C = M⁻¹. A change Δe of E_i, and Δh of T_i (ν_i - τ_i m_i), gives
//
//	C - k Cv (Cv)ᵀ,   û + (Δh - k (v_iᵀû + Δh v_iᵀCv)) Cv,   k = Δe/(1 + Δe v_iᵀCv)
func (p inducingSearch) Sweep(_ bool, s Sites, visit Visit) error {
	m := p.points()
	c := full(linalg.InverseCholesky(copyOf(p.um)))
	known, v, cv := make([]float64, m), make([]float64, m), make([]float64, m) // û
	p.project(known, s.B)
	for i, independent := range p.independent {
		for k := range v {
			v[k] = p.v.Data[k*p.v.Stride+i]
		}
		linalg.Gemv(blas.NoTrans, 1, c, v, 0, cv)
		square, at, tau, nu := floats.Dot(v, cv), floats.Dot(v, known), s.Tau[i], s.Nu[i]
		left := 1 / (1 + tau*independent)
		own := left * (nu - tau*(s.Mean[i]+at))
		s.Mu[i] = s.Mean[i] + at + independent*own
		dTau, dOffset, err := visit(i, Resolved(left*(independent+left*square), p.variance[i]), own)
		if err != nil {
			return err
		}
		s.Tau[i] += dTau
		s.Nu[i] += dOffset + dTau*s.Mu[i]
		now := 1 / (1 + s.Tau[i]*independent)
		de := s.Tau[i]*now - tau*left
		dh := now*(s.Nu[i]-s.Tau[i]*s.Mean[i]) - left*(nu-tau*s.Mean[i])
		k := de / (1 + de*square)
		floats.AddScaled(known, dh-k*(at+dh*square), cv)
		for r, x := range cv {
			floats.AddScaled(c.Data[r*c.Stride:r*c.Stride+m], -k*x, cv)
		}
	}
	return nil
}
