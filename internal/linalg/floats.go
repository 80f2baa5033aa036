package linalg

// hugeFrom is the size, in numbers, from which memory is worth a word with the system.
const hugeFrom = 1 << 17 // a MiB

// Floats returns n zeros. Large slices are in huge pages where the system has them for those who
// ask: every row of a large matrix lies in another page of 4 KiB, and going down a column then
// costs more than the arithmetic does.
func Floats(n int) []float64 {
	x := make([]float64, n)
	if n >= hugeFrom {
		inHugePages(x)
	}
	return x
}
