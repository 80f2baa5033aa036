package approx

import (
	"math"
	"sync/atomic"
)

// Averager posteriors average over latent values numerically, in predictions and leave-one-out.
type Averager interface {
	// AverageError is the largest error estimate of a probability since the fit, 0 if there was
	// none. It holds in about 95 of 100 cases; mostly the error is smaller.
	AverageError() float64
}

// AverageDeviation is the largest error estimate of averages that may be made at once.
type AverageDeviation struct{ bits atomic.Uint64 }

// Add counts the error estimate of an average.
func (a *AverageDeviation) Add(deviation float64) {
	for now := math.Float64bits(deviation); ; { // of numbers that are not negative, in their order
		before := a.bits.Load()
		if before >= now || a.bits.CompareAndSwap(before, now) {
			return
		}
	}
}

// AverageError is the largest, 0 if there was none.
func (a *AverageDeviation) AverageError() float64 { return math.Float64frombits(a.bits.Load()) }
