//go:build unix

package machine

import (
	"os/exec"
	"syscall"
)

// Apart makes a command run in its own group of processes, so that it receives only the signals
// that are passed on, not those of the terminal. The end of its context kills the whole group.
func Apart(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if c.Cancel != nil {
		c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	}
}
