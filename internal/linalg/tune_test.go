package linalg

import "testing"

func BenchmarkTile(b *testing.B) {
	for _, k := range []int{24, 48, 96, 176, 264} {
		mr, nr := active.tile()
		a, x, c := make([]float64, mr*300), make([]float64, nr*300), make([]float64, 64*24)
		b.Run("k/"+string(rune('a'+k%26)), func(b *testing.B) {
			measure(b, float64(2*mr*nr*k*1000), "GF/s", func() {}, func() {
				for range 1000 {
					active.multiply(k, a, mr, x, nr, c, nr, 1, true)
				}
			})
		})
	}
	t := make([]float64, 64)
	mr, nr := active.tile()
	c := make([]float64, 24*24)
	b.Run("k/sub", func(b *testing.B) {
		measure(b, float64(mr*mr*nr*1000), "GF/s", func() {}, func() {
			for range 1000 {
				active.substitute(t, c, 0, nr)
			}
		})
	})
}
