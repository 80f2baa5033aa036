//go:build linux

package main

import "github.com/gpc-tune/gpc-tune/internal/linalg"

func fmaAVX512(n int)
func fmaAVX2(n int)

// multiplyAdds does a number of floating-point operations in registers alone, with the instructions
// that linalg uses, and returns how many; 0 where it knows none.
func multiplyAdds() (operations float64) {
	const n = 200_000
	switch linalg.SIMD() {
	case "avx512":
		fmaAVX512(n)
		return n * 24 * 8 * 2
	case "avx2":
		fmaAVX2(n)
		return n * 12 * 4 * 2
	}
	return 0
}
