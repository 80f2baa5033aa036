//go:build unix

package machine

import (
	"os/exec"
	"syscall"
	"time"
)

// Apart makes a command run in its own group of processes, so that it receives only signals that
// are passed on, and none from the terminal. The end of its context kills the whole group.
func Apart(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if c.Cancel != nil {
		c.Cancel = func() error { return syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
	}
}

// Supervise is Apart for a command that can end by itself: the end of its context sends SIGTERM to
// the whole group and, if a process of the group still runs after the time of grace, SIGKILL. On
// Linux the command is killed when the thread that started it ends, so also when this process dies.
func Supervise(c *exec.Cmd, grace time.Duration) {
	Apart(c)
	dying(c.SysProcAttr)
	c.Cancel = func() error {
		group := -c.Process.Pid
		syscall.Kill(group, syscall.SIGTERM)
		for end := time.Now().Add(grace); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
			if syscall.Kill(group, 0) != nil { // no process is left
				return nil
			}
		}
		return syscall.Kill(group, syscall.SIGKILL)
	}
}

func kill(pid int) { syscall.Kill(pid, syscall.SIGKILL) }

// End kills the processes that an Apart command has left in its group when it ended. There must be
// at least one: the number of an empty group may belong to another group.
func End(c *exec.Cmd) { syscall.Kill(-c.Process.Pid, syscall.SIGKILL) }
