package likelihood

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// The mean and the variance of a standard Gumbel variate, of distribution function exp(-e^-x).
const (
	gumbelMean     = 0.57721566490153286061
	gumbelVariance = math.Pi * math.Pi / 6
)

// utilityNoise is the distribution of the noise of a RandomUtility: its mean, its variance, and the
// table of the noise plus a normal variate.
type utilityNoise struct {
	mean, variance float64
	tabulate       func(v *gumbelTable, variance float64)
}

// utilityMaximum has the probabilities that f_c + g_c is the largest of independent ones, f_c ~
// N(mean_c + u_c, λ_c) and g_c the noise, for softmax standard Gumbel variates: with F_c the
// distribution function of f_c + g_c and h_c = F_c'/F_c,
//
//	p_c = ∫ h_c(t) Π_k F_k(t) dt
//
// If p_c is about 1e-15 or less, only its order of magnitude is correct.
type utilityMaximum struct {
	mean, sd []float64 // moments of f_c + g_c
	tables   []utilityTable
	between  gumbelTable // memory of tabulate

	// The memory of evaluate, for up to block values t. means has the means of f_c + g_c, one row
	// per class.
	t, total, slope []float64
	means, h        blas64.General
	which           []int

	at, weight   []float64 // memory of add: the means, and the weights of a quadrature rule
	want, lo, hi []float64 // memory of shares: log Π F_k(t), and bounds of t
}

const block = 256

// utilityPool has the memory of earlier averages.
var utilityPool sync.Pool

// newUtilityMaximum makes one, reusing memory of the pool.
func newUtilityMaximum(noise utilityNoise, mean, lambda []float64) *utilityMaximum {
	classes := len(mean)
	g, _ := utilityPool.Get().(*utilityMaximum)
	if g == nil || len(g.tables) != classes {
		v := func(n int) []float64 { return make([]float64, n) }
		g = &utilityMaximum{
			mean: v(classes), sd: v(classes), tables: make([]utilityTable, classes), at: v(classes),
			t: v(block), total: v(block), slope: v(block), weight: v(block), want: v(block), lo: v(block), hi: v(block),
			means: linalg.NewGeneral(classes, block), h: linalg.NewGeneral(classes, block), which: make([]int, block),
		}
	}
	for c, v := range lambda {
		g.mean[c], g.sd[c] = mean[c]+noise.mean, math.Sqrt(v+noise.variance)
		noise.tabulate(&g.between, v)
		g.tables[c].interpolate(&g.between)
	}
	return g
}

// The Gauss-Legendre rule of 8 nodes on [0, 1].
var legendreNodes, legendreWeights = func() (x, w [8]float64) {
	quad.Legendre{}.FixedLocations(x[:], w[:], 0, 1)
	return x, w
}()

// all are the indices of the first n values.
func (g *utilityMaximum) all(n int) []int {
	for j := range n {
		g.which[j] = j
	}
	return g.which[:n]
}

// evaluate sets, at the values t with indices which, total to Σ_c log F_c, slope to Σ_c h_c, and h.
func (g *utilityMaximum) evaluate(which []int) {
	for _, j := range which {
		g.total[j], g.slope[j] = 0, 0
	}
	for c := range g.tables {
		row := c * block
		h, means := g.h.Data[row:row+block], g.means.Data[row:row+block]
		g.tables[c].evaluate(g.total, g.slope, h, g.t, means, g.sd[c], which)
	}
}

// add adds the p_c given u to p. The rule is applied to panels from the t where a factor of the
// product is e^-35 to the t where all are 1 - 1e-9. Each panel is at most as wide as twice a
// standard deviation near its mean, or as half the distance from there.
func (g *utilityMaximum) add(p, u []float64) {
	floats.AddTo(g.at, g.mean, u)
	floats.AddConst(-floats.Max(g.at), g.at)
	from, to := math.Inf(-1), math.Inf(-1)
	for c, m := range g.at {
		from = max(from, m+g.tables[c].from*g.sd[c])
		to = max(to, m+g.tables[c].to*g.sd[c])
	}
	for from < to {
		n := 0
		for ; n < block && from < to; n += len(legendreNodes) {
			width := to - from
			for c, m := range g.at {
				width = min(width, max(2*g.sd[c], (math.Abs(from-m)-6*g.sd[c])/2))
			}
			for k, x := range legendreNodes {
				g.t[n+k], g.weight[n+k] = from+width*x, width*legendreWeights[k]
			}
			if from+width == from {
				from = to
			}
			from += width
		}
		total := g.total[:n]
		clear(total)
		for c, m := range g.at {
			g.tables[c].along(total, g.h.Data[c*block:c*block+n], g.t, m, g.sd[c])
		}
		linalg.Exp(total, total)
		floats.Mul(total, g.weight[:n])
		for c := range p {
			p[c] += floats.Dot(g.h.Data[c*block:c*block+n], total)
		}
	}
}

// utilityTable interpolates log F(y) and h = F'/F of the distribution function F of the noise plus
// a normal variate, by cubic polynomials; y is standardised by the mean and standard deviation of
// the sum.
type utilityTable struct {
	cubic    [tableSize - 1][8]float64
	from, to float64 // F(from) = e^-35 and 1 - F(to) = 1e-9
}

const (
	tableFrom, tableTo = -9.5, 21.5
	tableStep          = 1.0 / 8
	tableSize          = (tableTo-tableFrom)/tableStep + 1
)

// place returns the interval of x, counted from tableFrom, and the position of x in it.
func (g *utilityTable) place(x float64) (c *[8]float64, rest float64) {
	if !(x > 0) {
		x = 0
	} else if x >= tableSize-1 {
		x = tableSize - 1 - 1e-9
	}
	return &g.cubic[int(x)], x - float64(int(x))
}

// along sets h and adds log F to total at every t, for a sum with this mean and standard deviation.
func (g *utilityTable) along(total, h, t []float64, mean, sd float64) {
	scale, perUnit := 1/(sd*tableStep), 1/sd
	t, h = t[:len(total)], h[:len(total)]
	for j, t := range t {
		c, x := g.place((t-mean)*scale - tableFrom/tableStep)
		total[j] += c[0] + x*(c[1]+x*(c[2]+x*c[3]))
		h[j] = (c[4] + x*(c[5]+x*(c[6]+x*c[7]))) * perUnit
	}
}

// evaluate sets h, adds it to slope, and adds log F to total, at the t with indices which, for a
// sum with standard deviation sd.
func (g *utilityTable) evaluate(total, slope, h, t, means []float64, sd float64, which []int) {
	scale, perUnit := 1/(sd*tableStep), 1/sd
	for _, j := range which {
		c, x := g.place((t[j]-means[j])*scale - tableFrom/tableStep)
		total[j] += c[0] + x*(c[1]+x*(c[2]+x*c[3]))
		v := (c[4] + x*(c[5]+x*(c[6]+x*c[7]))) * perUnit
		h[j] = v
		slope[j] += v
	}
}

// The tables of F are for normal variates of standard deviations s = ½ sinh q, with q a multiple of
// a step, from 0 to where the sum is normal up to 1e-8. Between them log(-log F), log h and its
// derivative, which are even functions of s, are interpolated over q by polynomials of degree 5.
const (
	gumbelTableStep = 0.07
	gumbelTableSize = 110
)

var gumbelTables = func() (tables [gumbelTableSize]func() *gumbelTable) {
	for k := range tables {
		s := math.Sinh(gumbelTableStep*float64(k)) / 2
		tables[k] = sync.OnceValue(func() *gumbelTable { return newGumbelTable(s) })
	}
	return tables
}()

// gumbelTable has log(-log F), log h and the derivative of log h at the ends of the intervals. The
// table of a utilityMaximum has -log F and h in the place of their logarithms.
type gumbelTable [3][tableSize]float64

// gumbelSum fills v for a Gumbel variate plus a normal one with this variance.
func gumbelSum(v *gumbelTable, variance float64) {
	x := min(math.Asinh(2*math.Sqrt(variance))/gumbelTableStep, gumbelTableSize-1)
	first := min(int(x)-2, gumbelTableSize-6)
	*v = gumbelTable{}
	for k := range 6 {
		weight := 1.0
		for j := range 6 {
			if j != k {
				weight *= (x - float64(first+j)) / float64(k-j)
			}
		}
		if weight != 0 {
			table := gumbelTables[max(first+k, -first-k)]()
			for q := range v {
				floats.AddScaled(v[q][:], weight, table[q][:])
			}
		}
	}
	linalg.Exp(v[0][:], v[0][:])
	linalg.Exp(v[1][:], v[1][:])
}

// interpolate makes cubic polynomials of -log F, h and the derivative of log h.
func (g *utilityTable) interpolate(v *gumbelTable) {
	g.from, g.to = tableFrom, tableTo
	for i := range g.cubic { // cubics have the values and slopes of v at both ends
		h0, h1 := v[1][i], v[1][i+1]
		l0, l1, s0, s1 := -v[0][i], -v[0][i+1], h0*tableStep, h1*tableStep
		d0, d1 := h0*v[2][i]*tableStep, h1*v[2][i+1]*tableStep
		if y := tableFrom + float64(i)*tableStep; l0 < -35 {
			g.from = y
		} else if l0 > -1e-9 {
			g.to = min(g.to, y)
		}
		g.cubic[i] = [8]float64{l0, s0, 3*(l1-l0) - 2*s0 - s1, s0 + s1 - 2*(l1-l0), h0, d0, 3*(h1-h0) - 2*d0 - d1,
			d0 + d1 - 2*(h1-h0)}
	}
}

// newGumbelTable integrates, for a normal variate with standard deviation s, over that if it is
// narrow and else over the Gumbel variate, by the trapezoidal rule, with errors below 1e-10 of any
// value.
func newGumbelTable(s float64) *gumbelTable {
	sd := math.Sqrt(s*s + gumbelVariance)
	table := new(gumbelTable)
	const gumbelFrom, gumbelStep, normalFrom, normalStep, normalNodes = -4.0, 0.4, -14.0, 0.25, 216
	var gumbel, negLog, exponents []float64
	for w := gumbelFrom; w < 60; w += gumbelStep {
		gumbel = append(gumbel, gumbelStep*math.Exp(-w-math.Exp(-w)))
	}
	for i := range int(tableSize) {
		x := (tableFrom+float64(i)*tableStep)*sd + gumbelMean
		var below, above, density, slope, top float64 // F, 1 - F, F', F'' over exp(top)
		if s < 1.2 {
			negLog, exponents, top = negLog[:0], exponents[:0], math.Inf(-1)
			for k := range normalNodes {
				z := normalFrom + normalStep*float64(k)
				a := math.Exp(-x - s*z) // -log of the Gumbel variate's distribution function
				e := -z*z/2 - a
				negLog, exponents, top = append(negLog, a), append(exponents, e), max(top, e)
			}
			for k, a := range negLog {
				z := normalFrom + normalStep*float64(k)
				normal := normalStep * math.Exp(-z*z/2) / math.Sqrt(2*math.Pi)
				v := normalStep * math.Exp(exponents[k]-top) / math.Sqrt(2*math.Pi)
				below += v
				density += v * a
				slope += v * (a - 1) * a
				above -= normal * math.Expm1(-a)
			}
		} else {
			for k, v := range gumbel {
				y := (x - gumbelFrom - gumbelStep*float64(k)) / s
				n := v * math.Exp(-y*y/2) / (s * math.Sqrt(2*math.Pi))
				tail := math.Erfc(math.Abs(y)/math.Sqrt2) / 2
				if y > 0 {
					below, above = below+v*(1-tail), above+v*tail
				} else {
					below, above = below+v*tail, above+v*(1-tail)
				}
				density += n
				slope -= n * y / s
			}
		}
		logF, h := top+math.Log(below), density/below
		if above < 0.5 {
			logF = math.Log1p(-above)
		}
		table[0][i], table[1][i], table[2][i] = math.Log(-logF), math.Log(h*sd), (slope/density-h)*sd
	}
	return table
}
