//go:build !linux

package machine

import "time"

// CPUTime is wall-clock time, because the processor time of a thread is not available.
func CPUTime() time.Duration { return time.Since(began) }

// ProcessTime is wall-clock time, because the processor time of the process is not available.
func ProcessTime() time.Duration { return time.Since(began) }
