//go:build !unix

package machine

import (
	"os"
	"os/exec"
	"time"
)

// Apart does nothing on this system.
func Apart(*exec.Cmd) {}

// Supervise does nothing on this system: the end of the context kills the command.
func Supervise(*exec.Cmd, time.Duration) {}

func kill(pid int) {
	if p, err := os.FindProcess(pid); err == nil {
		p.Kill()
	}
}

// End does nothing on this system.
func End(*exec.Cmd) {}
