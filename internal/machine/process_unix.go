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

// End kills what an Apart command that has ended left in its group, of which at least one process
// must be there: an empty group's number may be that of another.
func End(c *exec.Cmd) { syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
