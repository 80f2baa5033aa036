package data

import "math/bits"

// pcg64 is the generator of numpy.random.default_rng(seed), bit for bit: PCG XSL-RR 128/64 (M. E.
// O'Neill, PCG: a family of simple fast space-efficient statistically good algorithms for random
// number generation, HMC-CS-2014-0905), seeded by numpy's SeedSequence. The generator of
// math/rand/v2 has another output function and the same increment for all seeds.
type pcg64 struct{ state, increment uint128 }

// uint128 is a number modulo 2¹²⁸.
type uint128 struct{ hi, lo uint64 }

func (a uint128) plus(b uint128) uint128 {
	lo, carry := bits.Add64(a.lo, b.lo, 0)
	hi, _ := bits.Add64(a.hi, b.hi, carry)
	return uint128{hi, lo}
}

func (a uint128) times(b uint128) uint128 {
	hi, lo := bits.Mul64(a.lo, b.lo)
	return uint128{hi + a.hi*b.lo + a.lo*b.hi, lo}
}

// newPCG64 is numpy.random.default_rng(seed).
func newPCG64(seed uint32) *pcg64 {
	words := seedSequence(seed)
	increment := uint128{words[2]<<1 | words[3]>>63, words[3]<<1 | 1}
	p := &pcg64{increment, increment} // one step from 0
	p.state = p.state.plus(uint128{words[0], words[1]})
	p.step()
	return p
}

func (p *pcg64) step() {
	p.state = p.state.times(uint128{2549297995355413924, 4865540595714422341}).plus(p.increment)
}

// uniform returns a number of [lo, hi) as Generator.uniform does.
func (p *pcg64) uniform(lo, hi float64) float64 {
	p.step()
	word := bits.RotateLeft64(p.state.hi^p.state.lo, -int(p.state.hi>>58))
	// the conversion forces rounding; otherwise the operations could be fused
	return lo + float64((hi-lo)*(float64(word>>11)*0x1p-53))
}

// seedSequence is numpy.random.SeedSequence(seed).generate_state(4, uint64).
func seedSequence(seed uint32) (words [4]uint64) {
	constant := uint32(0x43b0d7e5)
	hash := func(v, multiplier uint32) uint32 {
		v ^= constant
		constant *= multiplier
		v *= constant
		return v ^ v>>16
	}
	pool := [4]uint32{seed}
	for i := range pool {
		pool[i] = hash(pool[i], 0x931e8875)
	}
	for from := range pool {
		for to := range pool {
			if from != to {
				mixed := 0xca01f9dd*pool[to] - 0x4973f715*hash(pool[from], 0x931e8875)
				pool[to] = mixed ^ mixed>>16
			}
		}
	}
	constant = 0x8b51f9dd
	for k := range 8 {
		words[k/2] |= uint64(hash(pool[k%4], 0x58f38ded)) << (k % 2 * 32)
	}
	return words
}
