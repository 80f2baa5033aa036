package search

import (
	"slices"

	"gonum.org/v1/gonum/floats"
)

// frame is a coordinate system for searches that start at one point: z is 0 at the start, in units
// of param.Spec.Scale, on the scale of param.Spec.Coordinate.
type frame struct {
	s                   Space
	start, unit, lo, hi []float64
}

func (s Space) frame(start []float64) frame {
	f := frame{s: s, start: slices.Clone(start)}
	for j, p := range s {
		unit := p.Scale()
		lo, hi := p.ThetaBounds()
		of, _ := p.Coordinate()
		f.start[j], f.unit = of(start[j]), append(f.unit, unit)
		f.lo, f.hi = append(f.lo, (of(lo)-f.start[j])/unit), append(f.hi, (of(hi)-f.start[j])/unit)
	}
	return f
}

// clip moves z to the nearest point within the bounds.
func (f frame) clip(z []float64) []float64 {
	for j := range z {
		z[j] = min(max(z[j], f.lo[j]), f.hi[j])
	}
	return z
}

// outside is the squared distance of z from the nearest point within the bounds. Searches subtract
// it from the value at the nearest point within the bounds, because that value alone is constant
// further out. So they do not drift away, and the constrained maximum does not move.
func (f frame) outside(z []float64) float64 {
	d := floats.Distance(z, f.clip(slices.Clone(z)), 2)
	return d * d
}

// propose proposes the nearest point within the bounds, and of discrete hyperparameters the nearest
// value.
func (f frame) propose(z []float64) Proposal {
	theta := f.clip(slices.Clone(z))
	for j, p := range f.s {
		lo, hi := p.ThetaBounds()
		_, inverse := p.Coordinate()
		theta[j] = min(max(inverse(f.start[j]+theta[j]*f.unit[j]), lo), hi)
	}
	return Proposal{Points: [][]float64{f.s.roundToGrid(theta)}}
}
