package linalg

// AllFinite reports whether no number is infinite or NaN. It is fast if so: 0·v is 0 for a finite v
// and NaN for any other.
func AllFinite(x []float64) bool {
	var a, b, c, d float64
	for ; len(x) >= 4; x = x[4:] {
		a, b, c, d = a+0*x[0], b+0*x[1], c+0*x[2], d+0*x[3]
	}
	for _, v := range x {
		a += 0 * v
	}
	return a+b+c+d == 0
}

// Sum is the sum of x in order. floats.Sum has another order, and so other bits, where x does not
// begin at a multiple of 16 bytes, like every second row of a matrix with an odd number of columns.
func Sum(x []float64) (sum float64) {
	for _, v := range x {
		sum += v
	}
	return sum
}
