//go:build !linux

package machine

import "time"

// ProcessTime is wall-clock time, because the processor time of the process is not available.
func ProcessTime() time.Duration { return time.Since(began) }
