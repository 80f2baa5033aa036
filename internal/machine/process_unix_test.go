//go:build unix

package machine

import (
	"bufio"
	"context"
	"io"
	"os/exec"
	"syscall"
	"testing"
)

// A command runs in a group of its own. The whole group ends with its context: nothing writes to
// its output any more.
func TestApart(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := exec.CommandContext(ctx, "sh", "-c", "(sleep 3; echo late) & echo started; wait")
	Apart(c)
	pipe, err := c.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	out := bufio.NewReader(pipe)
	if line, err := out.ReadString('\n'); err != nil || line != "started\n" {
		t.Errorf("%q, %v", line, err)
	}
	group, err := syscall.Getpgid(c.Process.Pid)
	if own, _ := syscall.Getpgid(0); err != nil || group == own || group != c.Process.Pid {
		t.Errorf("group %d, own group %d, %v", group, own, err)
	}
	cancel()
	if rest, err := io.ReadAll(out); err != nil || len(rest) > 0 {
		t.Errorf("a process that it started goes on: %q, %v", rest, err)
	}
	if err := c.Wait(); err == nil {
		t.Error("it was not killed")
	}
	c = exec.Command("sh", "-c", ":")
	Apart(c)
	if err := c.Run(); err != nil {
		t.Errorf("without a context: %v", err)
	}
}
