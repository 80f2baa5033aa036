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

// outside is the squared distance of z from the nearest point within the bounds, or from the point
// that is evaluated where a constraint forbids z. Searches subtract it from the value there,
// because that value alone is constant further out. So they do not drift away, and the constrained
// maximum does not move.
func (f frame) outside(z []float64) float64 {
	inside := f.clip(slices.Clone(z))
	if f.s.constrained() {
		theta := f.theta(inside)
		if f.s.OnGrid(theta); !f.s.Allows(theta) {
			for j, at := range f.s.NearestAllowed(theta) {
				of, _ := f.s[j].Coordinate()
				inside[j] = (of(at) - f.start[j]) / f.unit[j]
			}
		}
	}
	d := floats.Distance(z, inside, 2)
	return d * d
}

// theta is the point with the coordinates z within the bounds.
func (f frame) theta(z []float64) []float64 {
	theta := slices.Clone(z)
	for j, p := range f.s {
		lo, hi := p.ThetaBounds()
		_, inverse := p.Coordinate()
		theta[j] = min(max(inverse(f.start[j]+z[j]*f.unit[j]), lo), hi)
	}
	return theta
}

// propose proposes the nearest point within the bounds, and of discrete hyperparameters the nearest
// value.
func (f frame) propose(z []float64) Proposal {
	return Proposal{Points: [][]float64{f.s.roundToGrid(f.theta(f.clip(slices.Clone(z))))}}
}
