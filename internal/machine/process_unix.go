//go:build unix

package machine

import (
	"os/exec"
	"syscall"
)

// Apart makes a command run in its own group of processes, so that it receives only signals that
// are passed on, and none from the terminal. The end of its context kills the whole group.
func Apart(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if c.Cancel != nil {
		c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	}
}

// End kills the processes that an Apart command has left in its group when it ended. There must be
// at least one: the number of an empty group may belong to another group.
func End(c *exec.Cmd) { syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
