package utility

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// Largest returns the mean of the largest f_c + g_c, of independent f_c ~ N(mean_c, variance_c) and
// noises g_c. It sets pi and curvature to its first and second derivatives with respect to the
// means, curvature_c to the second with respect to mean_c. The derivative with respect to
// variance_c is half of this. With F_c and h_c of maximum
//
//	largest = b - ∫_-∞^b Π_k F_k dt
//	pi_c = ∫ h_c Π_k F_k dt,   curvature_c = ∫ h_c Σ_{e≠c} h_e Π_k F_k dt
//
// for any b beyond which the product is 1. log F_c is interpolated, and h_c is the derivative of
// the interpolation: so the errors, about 1e-9 standard deviations, hardly show in differences of
// results.
func (noise Noise) Largest(pi, curvature, mean, variance []float64) (largest float64) {
	classes := len(mean)
	g, _ := largestPool.Get().(*largestMemory)
	if g == nil || len(g.tables) != classes {
		v := func() []float64 { return make([]float64, classes) }
		g = &largestMemory{tables: make([]smoothTable, classes), h: make([]panel, classes), sd: v(), at: v()}
	}
	defer largestPool.Put(g)
	tables, sd, at, h := g.tables, g.sd, g.at, g.h
	from, to := math.Inf(-1), math.Inf(-1)
	top := floats.Max(mean)
	for c, v := range variance {
		at[c], sd[c] = mean[c]-top+noise.Mean, math.Sqrt(v+noise.Variance)
		noise.tabulate(&g.between, v)
		tables[c].interpolate(&g.between)
		from, to = max(from, at[c]+tables[c].from*sd[c]), max(to, at[c]+tableTo*sd[c])
	}
	clear(pi)
	clear(curvature)
	largest = to
	ends := panelEnds(from, to, at, sd)
	for k, end := range ends[1:] {
		width := end - ends[k]
		var t, total, all panel
		for j, x := range legendreNodes {
			t[j] = ends[k] + width*x
		}
		for c := range tables {
			tables[c].along(&total, &h[c], &t, at[c], sd[c])
			for j, v := range h[c] {
				all[j] += v
			}
		}
		linalg.Exp(total[:], total[:])
		for j, w := range legendreWeights {
			total[j] *= w * width
			largest -= total[j]
		}
		for c := range h {
			for j, v := range h[c] {
				p := v * total[j]
				pi[c] += p
				curvature[c] += p * (all[j] - v)
			}
		}
	}
	return top + largest
}

// panel has a number for every node of a panel.
type panel = [len(legendreNodes)]float64

// largestPool has the memory of earlier calls of Largest.
var largestPool sync.Pool

type largestMemory struct {
	tables  []smoothTable
	between logTable // memory of tabulate
	sd, at  []float64
	h       []panel
}

// panelEnds are the ends of panels from one t to another. A panel is at most as wide as half a
// standard deviation near its mean, or as a quarter of the distance from there.
func panelEnds(from, to float64, mean, sd []float64) []float64 {
	ends := []float64{from}
	for from < to {
		width := to - from
		for c, m := range mean {
			width = min(width, max(sd[c]/2, (math.Abs(from-m)-6*sd[c])/4))
		}
		if from+width == from {
			break
		}
		from += width
		ends = append(ends, from)
	}
	return ends
}

// smoothTable interpolates log F(y), y standardised, by polynomials of degree 5 with the values and
// the first two derivatives at both ends of every interval. x is counted from the left end, in
// units of the interval.
type smoothTable struct {
	of   [tableSize - 1][6]float64
	from float64 // F(from) = e^-35
}

func (s *smoothTable) interpolate(v *logTable) {
	s.from = tableFrom
	for i := range s.of {
		l0, l1 := -v[0][i], -v[0][i+1]
		if l0 < -35 {
			s.from = tableFrom + float64(i)*tableStep
		}
		d0, d1 := v[1][i]*tableStep, v[1][i+1]*tableStep
		c0, c1 := v[1][i]*v[2][i]*tableStep*tableStep, v[1][i+1]*v[2][i+1]*tableStep*tableStep
		// what is left after the first three coefficients, at the right end
		r, d, c := l1-l0-d0-c0/2, d1-d0-c0, c1-c0
		s.of[i] = [6]float64{l0, d0, c0 / 2, 10*r - 4*d + c/2, -15*r + 7*d - c, 6*r - 3*d + c/2}
	}
}

// along sets h and adds log F to total at every t, for a sum with this mean and standard deviation.
func (s *smoothTable) along(total, h, t *panel, mean, sd float64) {
	scale := 1 / (sd * tableStep)
	for j, t := range t {
		x := (t-mean)*scale - tableFrom/tableStep
		switch {
		case !(x > 0):
			x = 0
		case x >= tableSize-1:
			h[j] = 0
			continue
		}
		i := int(x)
		c := &s.of[i]
		x -= float64(i)
		total[j] += c[0] + x*(c[1]+x*(c[2]+x*(c[3]+x*(c[4]+x*c[5]))))
		h[j] = (c[1] + x*(2*c[2]+x*(3*c[3]+x*(4*c[4]+x*5*c[5])))) * scale
	}
}
