package approx

import (
	"math"
	"sync/atomic"
)

// Averager posteriors average over latent values numerically, in predictions and leave-one-out.
type Averager interface {
	// AverageError is the largest error estimate of a probability since the fit, 0 if there was
	// none. It is intended to bound the error in about 95 of 100 cases.
	AverageError() float64
}

// AverageDeviation is the largest error estimate of averages; it is safe for concurrent use.
type AverageDeviation struct{ bits atomic.Uint64 }

// Add includes the error estimate of an average.
func (a *AverageDeviation) Add(deviation float64) {
	for now := math.Float64bits(deviation); ; { // the bits of nonnegative numbers are ordered like the numbers
		before := a.bits.Load()
		if before >= now || a.bits.CompareAndSwap(before, now) {
			return
		}
	}
}

// AverageError is the largest estimate, 0 if there was none.
func (a *AverageDeviation) AverageError() float64 { return math.Float64frombits(a.bits.Load()) }
