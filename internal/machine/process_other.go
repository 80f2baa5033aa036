//go:build !unix

package machine

import "os/exec"

// Apart does nothing on this system.
func Apart(*exec.Cmd) {}

// End does nothing on this system.
func End(*exec.Cmd) {}
