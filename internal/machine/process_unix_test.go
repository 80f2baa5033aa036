//go:build unix

package machine

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// A command runs in a group of its own, all of which ends with its context.
func TestApart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	file := filepath.Join(t.TempDir(), "late")
	c := exec.CommandContext(ctx, "sh", "-c", `(sleep 0.5; echo > "$0") & wait`, file)
	Apart(c)
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	group, err := syscall.Getpgid(c.Process.Pid)
	if own, _ := syscall.Getpgid(0); err != nil || group == own || group != c.Process.Pid {
		t.Errorf("group %d, own group %d, %v", group, own, err)
	}
	cancel()
	if err := c.Wait(); err == nil {
		t.Error("it was not killed")
	}
	time.Sleep(time.Second)
	if _, err := os.Stat(file); err == nil {
		t.Error("a process that it started goes on")
	}
	Apart(exec.Command("sh"))
}
