package param

import (
	"encoding/binary"
	"math/rand/v2"
)

// ThetaBounds returns Lo and Hi on the theta scale.
func (s Spec) ThetaBounds() (lo, hi float64) { return s.Map.Theta(s.Lo), s.Map.Theta(s.Hi) }

// Box returns where a search without start points looks, on the theta scale: between the bounds,
// where they were given, else Init ± SearchBox, as far as that lies within the default bounds.
func (s Spec) Box() (lo, hi float64) {
	lo, hi = s.ThetaBounds()
	if s.Given {
		return lo, hi
	}
	u := min(max(s.Map.Theta(s.Init), lo), hi)
	return max(lo, u-SearchBox), min(hi, u+SearchBox)
}

// Start returns the i-th start point of a multi-start search, on the theta scale. Start 0 is Init;
// every other start is uniform on Init ± SearchBox, as far as that lies within the bounds,
// independently in each coordinate. It depends on specs, seed and i alone, so that whoever
// searches, in whatever order, starts at the same points.
func Start(specs []Spec, seed uint64, i int) []float64 {
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	binary.LittleEndian.PutUint64(key[8:], uint64(i))
	rng := rand.New(rand.NewChaCha8(key))
	theta := make([]float64, len(specs))
	for j, s := range specs {
		lo, hi := s.ThetaBounds()
		theta[j] = min(max(s.Map.Theta(s.Init), lo), hi)
		if i > 0 {
			lo, hi = max(lo, theta[j]-SearchBox), min(hi, theta[j]+SearchBox)
			theta[j] = min(lo+(hi-lo)*rng.Float64(), hi)
		}
	}
	return theta
}
