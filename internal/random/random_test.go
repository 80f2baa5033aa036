package random

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/rand/v2"
	"testing"
)

// A derived seed is the first eight bytes of a hash of the seed and the path, whose parts end in 0.
func TestDerive(t *testing.T) {
	sum := sha256.Sum256([]byte("\x07\x01\x00\x00\x00\x00\x00\x00ab\x00c\x00"))
	if got, want := Derive(263, "ab", "c"), binary.LittleEndian.Uint64(sum[:8]); got != want {
		t.Errorf("%x, want %x", got, want)
	}
	known := map[uint64]bool{}
	for _, path := range [][]string{nil, {""}, {"", ""}, {"abc"}, {"ab", "c"}, {"a", "bc"}} {
		for seed := range uint64(3) {
			known[Derive(seed, path...)] = true
		}
	}
	if len(known) != 18 {
		t.Errorf("%d different seeds of 18", len(known))
	}
}

// The angles follow Murray, Adams & MacKay 2010, Figure 2: the bracket shrinks to the side of each
// angle that is refused.
func TestAnglesOfASlice(t *testing.T) {
	for seed := range uint64(20) {
		var angles []float64
		EllipticalSlice(rand.New(rand.NewPCG(seed, 1)), func(sin, cos float64) bool {
			angles = append(angles, math.Atan2(sin, cos))
			return len(angles) == 6
		})
		u := rand.New(rand.NewPCG(seed, 1))
		theta := u.Float64() * 2 * math.Pi
		least, most := theta-2*math.Pi, theta
		for k, angle := range angles {
			if d := math.Remainder(angle-theta, 2*math.Pi); math.Abs(d) > 1e-12 {
				t.Fatalf("seed %d, angle %d is %v, want %v", seed, k, angle, theta)
			}
			if theta < 0 {
				least = theta
			} else {
				most = theta
			}
			theta = least + u.Float64()*(most-least)
		}
	}
}

// The transition leaves N(0, 1) restricted to x > 1 as it is: its mean is φ(1)/Φ(-1) = 1.52513.
func TestSliceKeepsTheDistribution(t *testing.T) {
	rng, x, sum := rand.New(rand.NewPCG(3, 4)), 1.5, 0.0
	const draws = 40_000
	for range draws {
		nu := rng.NormFloat64()
		EllipticalSlice(rng, func(sin, cos float64) bool {
			next := x*cos + nu*sin
			if next > 1 {
				x = next
			}
			return next > 1
		})
		sum += x
	}
	// The standard deviation is .446, and the chain's autocorrelation time below 5.
	if mean, error := sum/draws, 0.446*math.Sqrt(5./draws); math.Abs(mean-1.52513) > 4*error {
		t.Errorf("mean %v, want 1.52513 within %v", mean, 4*error)
	}
}
