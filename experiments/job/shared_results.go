package job

import (
	"encoding/binary"
	"math"
	"sync"
)

// sharedResults keeps results that another job has computed for the job that names it as
// SameTraining, by the request. If there are none, because that job ran in another process or run,
// the job computes them itself, with bit-identical results.
type sharedResults[T any] struct{ results sync.Map }

// keep keeps a result until it is taken.
func (r *sharedResults[T]) keep(asked string, result T) { r.results.Store(asked, result) }

// take returns a result, once.
func (r *sharedResults[T]) take(asked string) (result T, found bool) {
	kept, found := r.results.LoadAndDelete(asked)
	if found {
		result = kept.(T)
	}
	return result, found
}

// bitsOf encodes the bits of points, in order.
func bitsOf(points ...[]float64) string {
	var b []byte
	for _, theta := range points {
		b = binary.LittleEndian.AppendUint64(b, uint64(len(theta)))
		for _, u := range theta {
			b = binary.LittleEndian.AppendUint64(b, math.Float64bits(u))
		}
	}
	return string(b)
}
