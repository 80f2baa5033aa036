// Package random draws random numbers for several packages: from derived seeds, and by a transition
// of elliptical slice sampling.
package random

import (
	"crypto/sha256"
	"encoding/binary"
	"math"
	"math/rand/v2"
)

// Derive makes an independent seed from another and a path of names.
func Derive(seed uint64, path ...string) uint64 {
	h := sha256.New()
	var b [8]byte
	binary.LittleEndian.PutUint64(b[:], seed)
	h.Write(b[:])
	for _, p := range path {
		h.Write([]byte(p))
		h.Write([]byte{0})
	}
	return binary.LittleEndian.Uint64(h.Sum(nil))
}

// Content is a number that depends on the values only; -0 counts as 0. Draws that are seeded with
// it do not depend on the order of rows.
func Content(values []float64) uint64 {
	h := uint64(len(values))
	for _, v := range values {
		h = rand.NewPCG(h, math.Float64bits(v+0)).Uint64()
	}
	return h
}
