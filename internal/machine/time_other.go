//go:build !linux

package machine

import "time"

// CPUTime is the time that has passed, where the processor time of a thread is not to be had.
func CPUTime() time.Duration { return time.Since(began) }

// ProcessTime is the time that has passed, where the processor time of the process is not to be
// had.
func ProcessTime() time.Duration { return time.Since(began) }
