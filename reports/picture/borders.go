package picture

import (
	"math"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports/figure"
)

// borders is the line on which two classes share the largest probability. The probabilities are
// known at the points of a lattice and linear over the halves of its cells, so that borders of
// three classes meet in a point. NaN separates the pieces of the line.
func borders(x, y []float64, proba [][]record.Number) figure.Line {
	out := figure.Line{Name: "border of decisions"}
	nx := len(x)
	place := func(i, j int) corner {
		c := corner{x: x[j], y: y[i]}
		for k := range proba {
			c.p = append(c.p, float64(proba[k][i*nx+j]))
		}
		return c
	}
	for i := range len(y) - 1 {
		for j := range nx - 1 {
			a, b, c, d := place(i, j), place(i, j+1), place(i+1, j+1), place(i+1, j)
			for _, triangle := range [][3]corner{{a, b, c}, {a, c, d}} {
				for first := range proba {
					for second := range first {
						border(&out, triangle, first, second)
					}
				}
			}
		}
	}
	return out
}

// corner is a place with the probabilities of the classes.
type corner struct {
	x, y float64
	p    []float64
}

// toward is the place at a fraction of the way to another one.
func (c corner) toward(to corner, share float64) corner {
	mix := func(a, b float64) float64 { return a + share*(b-a) }
	out := corner{x: mix(c.x, to.x), y: mix(c.y, to.y)}
	for k := range c.p {
		out.p = append(out.p, mix(c.p[k], to.p[k]))
	}
	return out
}

// border adds the part of a triangle in which two classes are equally probable and no other class
// is more probable.
func border(out *figure.Line, triangle [3]corner, first, second int) {
	lead := func(c corner) float64 { return c.p[first] - c.p[second] }
	var ends []corner
	for i, from := range triangle {
		to := triangle[(i+1)%3]
		if a, b := lead(from), lead(to); (a >= 0) != (b >= 0) {
			ends = append(ends, from.toward(to, a/(a-b)))
		}
	}
	if len(ends) != 2 {
		return
	}
	from, to := 0.0, 1.0 // fractions of the way between which all other classes are less probable
	for k := range ends[0].p {
		if k == first || k == second {
			continue
		}
		a, b := ends[0].p[first]-ends[0].p[k], ends[1].p[first]-ends[1].p[k]
		switch {
		case a < 0 && b < 0:
			return
		case a < 0:
			from = max(from, a/(a-b))
		case b < 0:
			to = min(to, a/(a-b))
		}
	}
	if from >= to {
		return
	}
	start, end := ends[0].toward(ends[1], from), ends[0].toward(ends[1], to)
	out.X, out.Y = append(out.X, start.x, end.x, math.NaN()), append(out.Y, start.y, end.y, math.NaN())
}
