package machine

import (
	"math"
	"time"
)

// Seconds is the processor time of f: the least of three calls, so that a first call, which fills
// caches, and other work on the machine do not count.
func Seconds(f func()) float64 {
	least := math.Inf(1)
	for range 3 {
		began := ProcessTime()
		f()
		least = min(least, (ProcessTime() - began).Seconds())
	}
	return max(least, time.Nanosecond.Seconds())
}
