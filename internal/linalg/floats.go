package linalg

// leastHugePages is the size, in numbers, from which memory is put in huge pages.
const leastHugePages = 1 << 17 // a MiB

// Floats returns n zeros. Large slices are in huge pages if the system grants them. In pages of 4
// KiB every row of a large matrix would be in another page, and going down a column would cost more
// than the arithmetic.
func Floats(n int) []float64 {
	x := make([]float64, n)
	if n >= leastHugePages {
		inHugePages(x)
	}
	return x
}
