package figure

import "math"

// smooth refines a coarse lattice, so that level lines have no corners at its points: along rows,
// then along columns, by cubic interpolation that preserves monotonicity (Fritsch & Carlson, SIAM
// Journal on Numerical Analysis, 1980). So no new value lies beyond the values of its neighbours. A
// lattice with a hole, or with a single row or column, is unchanged.
func smooth(x, y []float64, z [][]float64) (fineX, fineY []float64, fine [][]float64) {
	if len(x) < 2 || len(y) < 2 || len(known(z)) < len(x)*len(y) {
		return x, y, z
	}
	fineX, fineY = between(x), between(y)
	rows := make([][]float64, len(y))
	for i := range y {
		rows[i] = monotone(x, z[i], fineX)
	}
	fine = make([][]float64, len(fineY))
	for i := range fine {
		fine[i] = make([]float64, len(fineX))
	}
	column := make([]float64, len(y))
	for j := range fineX {
		for i := range y {
			column[i] = rows[i][j]
		}
		for i, v := range monotone(y, column, fineY) {
			fine[i][j] = v
		}
	}
	return fineX, fineY, fine
}

// between inserts equally many points between neighbours, for at least 60 steps in all.
func between(at []float64) (out []float64) {
	each := int(math.Ceil(60 / float64(len(at)-1)))
	for i, to := range at[1:] {
		for k := range each {
			out = append(out, at[i]+(to-at[i])*float64(k)/float64(each))
		}
	}
	return append(out, at[len(at)-1])
}

// monotone evaluates the monotone cubic interpolant of points over ascending x at ascending places.
func monotone(x, y, places []float64) (out []float64) {
	n := len(x)
	step, slope := make([]float64, n-1), make([]float64, n-1)
	for i := range step {
		step[i] = x[i+1] - x[i]
		slope[i] = (y[i+1] - y[i]) / step[i]
	}
	d := make([]float64, n)
	d[0], d[n-1] = slope[0], slope[n-2]
	for i := 1; i < n-1; i++ {
		if slope[i-1]*slope[i] > 0 { // a weighted harmonic mean
			a, b := 2*step[i]+step[i-1], step[i]+2*step[i-1]
			d[i] = (a + b) / (a/slope[i-1] + b/slope[i])
		}
	}
	i := 0
	for _, at := range places {
		for i < n-2 && at >= x[i+1] {
			i++
		}
		t := (at - x[i]) / step[i]
		u := 1 - t
		out = append(out, u*u*(1+2*t)*y[i]+t*t*(3-2*t)*y[i+1]+step[i]*t*u*(u*d[i]-t*d[i+1]))
	}
	return out
}
