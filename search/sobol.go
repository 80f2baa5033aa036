package search

import (
	_ "embed"
	"errors"
	"fmt"
	"math/bits"
	"math/rand/v2"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/record"
)

// Sobol evaluates the first points of Sobol's sequence, scrambled as Owen (1995) proposed: every
// binary digit of a coordinate is flipped with probability ½, independently for each value of the
// digits before it. Every point is then uniform on the box, and the first 2^m points remain as
// evenly distributed as in the sequence itself. More trials extend the same list.
type Sobol struct {
	Design `yaml:",inline"`
}

// sobolNumbers has a line for each dimension after the first: a primitive polynomial modulo 2, as
// the binary digits of a number, and the initial direction numbers m_1, m_2, … up to its degree.
// They are from Joe & Kuo, SIAM J. Sci. Comput. 30 (2008) 2635, "new-joe-kuo-6".
//
//go:embed sobol.txt
var sobolNumbers string

const sobolDimensions = 128

// Check implements Strategy.
func (b Sobol) Check(s Space) error {
	return errors.Join(b.Design.Check(s), checkSobol(s))
}

func checkSobol(s Space) error {
	if len(s) > sobolDimensions {
		return fmt.Errorf("%d free hyperparameters are more than the %d dimensions of the Sobol sequence; "+
			"use method: latin_hypercube", len(s), sobolDimensions)
	}
	return nil
}

// Ask implements Strategy.
func (b Sobol) Ask(s Space, done []record.Trial, seed uint64) []Proposal {
	return b.ask(s, done, func(u *mat.Dense) { sobol(u, seed) })
}

// sobol sets row i to the i-th point of the scrambled sequence in the unit cube.
func sobol(u *mat.Dense, seed uint64) {
	n, d := u.Dims()
	keys := param.Source(seed, 1)
	for j, v := range sobolDirections(d) {
		key := keys.Uint64()
		for i := range n {
			x := sobolDigits(&v, i)
			y := x
			for b := range 32 {
				node := 1<<b | x>>1>>(31-b) // the digits before the b-th, preceded by a 1: unique for each prefix
				y ^= uint32(coin(key, uint64(node))>>63) << (31 - b)
			}
			below := float64(coin(key, 1<<32|uint64(x))>>11) / (1 << 53) // the digits after the 32nd
			u.Set(i, j, (float64(y)+below)/(1<<32))
		}
	}
}

// coin returns random bits that depend on its arguments only.
func coin(key, node uint64) uint64 { return rand.NewPCG(key, node).Uint64() }

// sobolDigits returns the first 32 binary digits of a coordinate of the i-th point: the sum modulo
// 2 of the direction numbers at the binary digits of i that are 1.
func sobolDigits(v *[32]uint32, i int) (x uint32) {
	for k := uint32(i); k != 0; k &= k - 1 {
		x ^= v[bits.TrailingZeros32(k)]
	}
	return x
}

// sobolDirections returns the direction numbers v_1 … v_32 of d dimensions, by the recurrence of
// Bratley & Fox, ACM TOMS 14 (1988) 88: with a polynomial x^s + a_1 x^(s-1) + … + a_(s-1) x + 1,
//
//	v_k = m_k / 2^k for k ≤ s, else a_1 v_(k-1) ⊕ … ⊕ a_(s-1) v_(k-s+1) ⊕ v_(k-s) ⊕ v_(k-s) / 2^s
func sobolDirections(d int) [][32]uint32 {
	all := make([][32]uint32, d)
	for k := range all[0] {
		all[0][k] = 1 << (31 - k)
	}
	lines := strings.Split(sobolNumbers, "\n")
	for j := 1; j < d; j++ {
		fields := strings.Fields(lines[j-1])
		number := func(i int) uint32 {
			m, err := strconv.ParseUint(fields[i], 10, 32)
			if err != nil {
				panic(err)
			}
			return uint32(m)
		}
		polynomial, s, v := number(0), len(fields)-1, &all[j]
		for k := range v {
			if k < s {
				v[k] = number(k+1) << (31 - k)
				continue
			}
			v[k] = v[k-s] ^ v[k-s]>>s
			for i := 1; i < s; i++ {
				if polynomial>>(s-i)&1 == 1 {
					v[k] ^= v[k-i]
				}
			}
		}
	}
	return all
}
