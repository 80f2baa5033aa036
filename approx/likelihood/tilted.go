package likelihood

import (
	"math"
	"slices"
)

// sigmoids are the likelihoods whose powers are sigmoidal densities.
type sigmoids interface {
	around(y float64) []float64
}

// sigmoidal densities are log-concave, and log p(y|f) varies as sums of logarithms of sigmoids do:
// its second derivative is at least -1. The distance of its singularities from the real axis is at
// least 2 near the centres around(y), and elsewhere at least the distance to the next centre.
// Averages then take some hundred values of the density.
type sigmoidal interface {
	differentiated
	sigmoids
}

// differentiated is log p(y|f) with three derivatives.
type differentiated interface {
	Derivs(y, f float64) (logp, d1, d2, d3 float64)
}

// average is an average over f = mean + s x, x ~ N(0, 1). The function varies fast near centres,
// and for a tilted density also near mode, over a distance of width. Contributions farther than
// reach from 0 and from the mode are negligible.
type average struct {
	mean, s            float64
	centres            []float64
	mode, width, reach float64
	noise              float64 // relative rounding error of the function
}

func newAverage(centres []float64, mean, variance float64) average {
	g := average{mean: mean, s: math.Sqrt(variance), width: 1, reach: 9.5, noise: 1e-14}
	for _, c := range centres {
		g.centres = append(g.centres, (c-mean)/g.s)
	}
	return g
}

func (g average) f(x float64) float64 { return g.mean + g.s*x }

// tilted is an average under the density proportional to p(y|f) N(f; mean, s²), whose logarithm is
// top at its mode.
type tilted struct {
	average
	density   differentiated
	y         float64
	logp, top float64
	falls     bool // the density falls ever faster on both sides of its mode
}

// vanished is a tilted density relative to its maximum. Smaller densities are negligible.
const vanished = 1e-22

// integrands adds integrands at every x, times its weight in w, to sum.
type integrands func(sum, x, w []float64)

// each are integrands that are computed one x after the other.
func each(f func(sum []float64, x, w float64)) integrands {
	return func(sum, x, w []float64) {
		for j, x := range x {
			f(sum, x, w[j])
		}
	}
}

// integrate computes count integrals over x.
func (t tilted) integrate(count int, f integrands) []float64 {
	if d, ok := t.density.(sigmoidal); ok {
		return t.march(d, count, f)
	}
	return t.average.integrate(count, f)
}

// together is the number of nodes of a block, or of a panel.
const together = len(panelNodes)

// sum returns the integrals that integrate returns. If step > 0, it uses the trapezoidal rule with
// nodes at most step apart in f where that takes fewer nodes than panels. proper is the result of
// ExactMoments.Proper. f also returns the tilted density at the last x, divided by the density at
// the mode.
func (t tilted) sum(step float64, proper bool, count int, f func(sum, x, w []float64) (last float64)) []float64 {
	if step == 0 || t.s > 30 && !proper {
		return t.integrate(count, func(sum, x, w []float64) { f(sum, x, w) })
	}
	total, h := make([]float64, count), min(step/t.s, 0.45*t.width)
	left, right := t.mode-min(t.mode, 0)+t.reach, max(t.mode, 0)-t.mode+t.reach
	most := math.Inf(1)
	if proper { // beyond, tails that fall like exp(-|f|) are negligible
		most = 40 / t.s
	}
	x, w := append(make([]float64, 0, together), t.mode), slices.Repeat([]float64{h}, together)
	f(total, x, w)
	for _, side := range [2]float64{-min(left, most), min(right, most)} {
		nodes, step := math.Ceil(math.Abs(side)/h), math.Copysign(h, side)
		for k := 1.0; k <= nodes; {
			for x = x[:0]; k <= nodes && len(x) < together; k++ {
				x = append(x, t.mode+k*step)
			}
			if last := f(total, x, w); t.falls && last < vanished {
				break
			}
		}
	}
	return total
}

// climb finds the mode of a log-concave density to about a tenth of its width, by Newton's method
// where that stays in the interval that has the mode.
func (t tilted) climb() float64 {
	slope := func(x float64) (first, second float64) {
		_, d1, d2, _ := t.density.Derivs(t.y, t.f(x))
		return t.s*d1 - x, t.s*t.s*d2 - 1
	}
	atMean, _ := slope(0)
	lo, hi := min(0, atMean), max(0, atMean) // since second ≤ -1
	x := min(max(t.centres[0], lo), hi)
	first, second := slope(x)
	for range 200 {
		if !(math.Abs(first) > 0.1*math.Sqrt(-second)) {
			break
		}
		if first > 0 {
			lo = x
		} else {
			hi = x
		}
		if x -= first / second; !(x > lo && x < hi) {
			x = lo + (hi-lo)/2
		}
		first, second = slope(x)
	}
	return x
}

// bisect finds the mode in the direction in which the density increases from the mean.
func (t tilted) bisect() (mode float64) {
	uphill := func(x float64) float64 {
		_, d1, _, _ := t.density.Derivs(t.y, t.f(x))
		return t.s*d1 - x
	}
	if slope := uphill(0); slope != 0 {
		lo, hi := 0.0, math.Copysign(min(1, math.Abs(slope)), slope)
		for range 100 {
			if uphill(hi)*slope <= 0 {
				break
			}
			lo, hi = hi, 2*hi
		}
		for math.Abs(hi-lo) > 1e-3 && lo+(hi-lo)/2 != lo && lo+(hi-lo)/2 != hi {
			if mid := lo + (hi-lo)/2; uphill(mid)*slope > 0 {
				lo = mid
			} else {
				hi = mid
			}
		}
		mode = lo
	}
	return mode
}

// relative is the tilted density at x relative to that at the mode.
func (t tilted) relative(x, logp float64) float64 {
	return math.Exp(logp - t.logp - (x-t.mode)*(x+t.mode)/2)
}

// march integrates from the mode outwards until the tilted density vanishes: it falls at least as
// N(0, 1) does. The panels have 16 Gauss-Legendre nodes. Their error is 1e-17 for a width of four
// standard deviations, and 1e-19 for singularities that are 1.8 half-widths away.
func (t tilted) march(density sigmoidal, count int, f integrands) []float64 {
	const narrowest = 1e-12
	sum, variance := make([]float64, count), t.s*t.s
	nodes, weights := make([]float64, together), make([]float64, together)
	least := 3 / math.Sqrt(1+variance)
	for _, direction := range [2]float64{-1, 1} {
		x := t.mode
		for range 1000 { // far more than variances up to 1e300 take
			logp, _, d2, _ := density.Derivs(t.y, t.f(x))
			if !(t.relative(x, logp) > vanished) {
				break
			}
			scale := math.Inf(1)
			for _, c := range t.centres {
				beyond := direction * (x - c)
				scale = min(scale, max(beyond, -beyond/2))
			}
			width := max(min(4/math.Sqrt(1-variance*d2), max(least, scale)), narrowest*math.Abs(x))
			for k, node := range panelNodes {
				nodes[k], weights[k] = x+direction*width*node, width*panelWeights[k]
			}
			f(sum, nodes, weights)
			x += direction * width
		}
	}
	return sum
}

// integrate computes count integrals over x. Panels double in width with the distance from the
// centres and from the mode.
func (g average) integrate(count int, f integrands) []float64 {
	from, to := min(g.mode, 0)-g.reach, max(g.mode, 0)+g.reach
	ends := []float64{from, to}
	places := [][2]float64{{g.mode, g.width}}
	for _, c := range g.centres {
		places = append(places, [2]float64{c, 1 / (16 * g.s)})
	}
	for _, p := range places {
		place := func(x float64) {
			if x > from && x < to {
				ends = append(ends, x)
			}
		}
		place(p[0])
		for d := p[1]; d < math.Abs(p[0])+g.reach+to-from; d *= 2 {
			place(p[0] - d)
			place(p[0] + d)
		}
	}
	slices.Sort(ends)
	nodes, weights := make([]float64, together), make([]float64, together)
	panel := func(lo, hi float64) []float64 {
		sum := make([]float64, count)
		for k, node := range panelNodes {
			nodes[k], weights[k] = lo+(hi-lo)*node, (hi-lo)*panelWeights[k]
		}
		f(sum, nodes, weights)
		return sum
	}
	size, total := make([]float64, count), make([]float64, count)
	panels := make([][]float64, len(ends)-1)
	for i := range panels {
		panels[i] = panel(ends[i], ends[i+1])
		for k, v := range panels[i] {
			size[k] += math.Abs(v)
		}
	}
	within := func(tolerance float64, a, b, c []float64) bool {
		for k, s := range size {
			if !(math.Abs(a[k]-b[k]-c[k]) <= tolerance*s) {
				return false
			}
		}
		return true
	}
	zero, budget := make([]float64, count), 1000 // limits halvings if panels never agree
	var refine func(lo, hi float64, whole []float64)
	refine = func(lo, hi float64, whole []float64) {
		if budget--; budget < 0 || within(1e-18, whole, zero, zero) {
			add(total, whole...)
			return
		}
		mid := lo + (hi-lo)/2
		a, b := panel(lo, mid), panel(mid, hi)
		if within(g.noise, whole, a, b) {
			add(total, a...)
			add(total, b...)
			return
		}
		refine(lo, mid, a)
		refine(mid, hi, b)
	}
	for i, p := range panels {
		refine(ends[i], ends[i+1], p)
	}
	return total
}

func add(to []float64, values ...float64) {
	for k, v := range values {
		to[k] += v
	}
}
