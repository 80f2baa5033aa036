package lowrank

import (
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// outer is V times ½ Σ_k (p_k q_kᵀ + q_k p_kᵀ).
type outer struct{ p, q, vp, vq [][]float64 }

func (p *Prior) outer(a, b [][]float64) outer {
	o := outer{p: a, q: b}
	project := func(x []float64) []float64 {
		vx := make([]float64, p.Points())
		p.project(vx, x)
		return vx
	}
	for r := range a {
		o.vp, o.vq = append(o.vp, project(a[r])), append(o.vq, project(b[r]))
	}
	return o
}

// add adds columns j0 to j1 of it to x.
func (o outer) add(x blas64.General, j0, j1 int) {
	for k := range x.Rows {
		xk := x.Data[k*x.Stride : k*x.Stride+x.Cols]
		for r := range o.p {
			floats.AddScaled(xk, o.vp[r][k]/2, o.q[r][j0:j1])
			floats.AddScaled(xk, o.vq[r][k]/2, o.p[r][j0:j1])
		}
	}
}
