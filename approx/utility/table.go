package utility

// table interpolates log F(y) and h = F'/F of the distribution function F of the noise plus
// a normal variate, by cubic polynomials; y is standardised by the mean and standard deviation of
// the sum.
type table struct {
	cubic    [tableSize - 1][8]float64
	from, to float64 // F(from) = e^-35 and 1 - F(to) = 1e-9
}

const (
	tableFrom, tableTo = -9.5, 21.5
	tableStep          = 1.0 / 8
	tableSize          = (tableTo-tableFrom)/tableStep + 1
)

// place returns the interval of x, counted from tableFrom, and the position of x in it.
func (g *table) place(x float64) (c *[8]float64, rest float64) {
	if !(x > 0) {
		x = 0
	} else if x >= tableSize-1 {
		x = tableSize - 1 - 1e-9
	}
	return &g.cubic[int(x)], x - float64(int(x))
}

// along sets h and adds log F to total at every t, for a sum with this mean and standard deviation.
func (g *table) along(total, h, t []float64, mean, sd float64) {
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
func (g *table) evaluate(total, slope, h, t, means []float64, sd float64, which []int) {
	scale, perUnit := 1/(sd*tableStep), 1/sd
	for _, j := range which {
		c, x := g.place((t[j]-means[j])*scale - tableFrom/tableStep)
		total[j] += c[0] + x*(c[1]+x*(c[2]+x*c[3]))
		v := (c[4] + x*(c[5]+x*(c[6]+x*c[7]))) * perUnit
		h[j] = v
		slope[j] += v
	}
}

// logTable has log(-log F), log h and the derivative of log h at the ends of the intervals. The
// table of a maximum has -log F and h in the place of their logarithms.
type logTable [3][tableSize]float64

// interpolate makes cubic polynomials of -log F, h and the derivative of log h.
func (g *table) interpolate(v *logTable) {
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
