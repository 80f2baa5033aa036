package job

import (
	"encoding/binary"
	"math"
	"sync"
)

// twinResults keeps results that another job has computed for the job whose Twin it is, by the
// request. If there are none, because that job ran in another process or run, the job computes them
// itself, with bit-identical results.
type twinResults[T any] struct{ results sync.Map }

// keep keeps a result until it is taken.
func (r *twinResults[T]) keep(asked string, result T) { r.results.Store(asked, result) }

// take returns a result, once.
func (r *twinResults[T]) take(asked string) (result T, found bool) {
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
