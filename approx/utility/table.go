package utility

import "math"

// table interpolates log F(y) of the distribution function F of the noise plus a normal variate, by
// quintic polynomials, and h = F'/F by their derivatives; y is standardised by the mean and standard
// deviation of the sum.
type table struct {
	quintic  [tableSize - 1][6]float64
	from, to float64 // F(from) = e^-35 and 1 - F(to) = 1e-12
}

const (
	tableFrom, tableTo = -9.5, 21.5
	tableStep          = 1.0 / 8
	tableSize          = (tableTo-tableFrom)/tableStep + 1
)

// place returns the interval of x, counted from tableFrom, and the position of x in it.
func (g *table) place(x float64) (c *[6]float64, rest float64) {
	if !(x > 0) {
		x = 0
	} else if x >= tableSize-1 {
		x = tableSize - 1 - 1e-9
	}
	return &g.quintic[int(x)], x - float64(int(x))
}

// along sets h and adds log F to total at every t, for a sum with this mean and standard deviation.
func (g *table) along(total, h, t []float64, mean, sd float64) {
	scale := 1 / (sd * tableStep)
	t, h = t[:len(total)], h[:len(total)]
	for j, t := range t {
		c, x := g.place((t-mean)*scale - tableFrom/tableStep)
		total[j] += c[0] + x*(c[1]+x*(c[2]+x*(c[3]+x*(c[4]+x*c[5]))))
		h[j] = (c[1] + x*(2*c[2]+x*(3*c[3]+x*(4*c[4]+x*5*c[5])))) * scale
	}
}

// evaluate sets h, adds it to slope, and adds log F to total, at the t with indices which, for a
// sum with standard deviation sd.
func (g *table) evaluate(total, slope, h, t, means []float64, sd float64, which []int) {
	scale := 1 / (sd * tableStep)
	for _, j := range which {
		c, x := g.place((t[j]-means[j])*scale - tableFrom/tableStep)
		total[j] += c[0] + x*(c[1]+x*(c[2]+x*(c[3]+x*(c[4]+x*c[5]))))
		v := (c[1] + x*(2*c[2]+x*(3*c[3]+x*(4*c[4]+x*5*c[5])))) * scale
		h[j] = v
		slope[j] += v
	}
}

// logTable has log(-log F), log h and the derivative of log h at the ends of the intervals. The
// table of a maximum has -log F and h in the place of their logarithms.
type logTable [3][tableSize]float64

// interpolate makes quintic polynomials of -log F, h and the derivative of log h, which are log F
// and its first two derivatives at both ends.
func (g *table) interpolate(v *logTable) {
	g.from, g.to = tableFrom, tableTo
	for i := range g.quintic {
		h0, h1 := v[1][i]*tableStep, v[1][i+1]*tableStep
		l0, l1, half0, half1 := -v[0][i], -v[0][i+1], h0*v[2][i]*tableStep/2, h1*v[2][i+1]*tableStep/2
		const first, last = -35, -1e-12
		if y := tableFrom + float64(i)*tableStep; l0 < first && l1 >= first {
			g.from = y + tableStep*(first-l0)/(l1-l0)
		} else if l0 < last && l1 >= last {
			g.to = y + tableStep*math.Log(l0/last)/math.Log(l0/l1)
		}
		// what a polynomial of degree 2 from the first end misses at the other
		rest, slope, half := l1-l0-h0-half0, h1-h0-2*half0, half1-half0
		g.quintic[i] = [6]float64{
			l0, h0, half0, 10*rest - 4*slope + half, 7*slope - 15*rest - 2*half, 6*rest - 3*slope + half,
		}
	}
}
