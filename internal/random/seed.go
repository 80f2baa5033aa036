// Package random has what several rooms draw random numbers with: derived seeds, and a transition
// of elliptical slice sampling.
package random

import (
	"crypto/sha256"
	"encoding/binary"
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
