package job

import (
	"encoding/binary"
	"math"
	"sync"

	"github.com/gpc-tune/gpc-tune/experiments/record"
)

// left keeps results that another job has computed for the job whose Twin it is, by the request. If
// there are none, because that job ran in another process or run, the job computes them itself,
// with bit-identical results.
type left struct {
	mu     sync.Mutex
	trials map[string]record.Trial
	fits   map[string]record.Fit
}

// leave keeps a result until it is taken.
func leave[T any](l *left, results *map[string]T, asked string, result T) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if *results == nil {
		*results = map[string]T{}
	}
	(*results)[asked] = result
}

// take returns a result, once.
func take[T any](l *left, results *map[string]T, asked string) (result T, found bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	result, found = (*results)[asked]
	delete(*results, asked)
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
