package machine

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gpc-tune/gpc-tune/internal/testing/needs"
)

// A process has ended if its number is one here and no process has it, or one that started at
// another time. Nothing is known about processes elsewhere.
func TestEnded(t *testing.T) {
	self := strings.Fields(Process())
	needs.That(t, len(self) == 3, "a system that says which process this is: run it on Linux")
	if self[1] != strconv.Itoa(os.Getpid()) || Ended(Process()) {
		t.Errorf("%s, ended: %t", Process(), Ended(Process()))
	}
	child := exec.Command("sleep", "100")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	identity := func(where string, pid int, start string) string { return fmt.Sprintf("%s %d %s", where, pid, start) }
	pid := child.Process.Pid
	start := started(strconv.Itoa(pid))
	alive := identity(self[0], pid, start)
	if Ended(alive) || Ended(identity("elsewhere", 2147483646, "7")) || Ended("") || Ended("a b c") {
		t.Error("a process has ended that runs, or of which nothing is known")
	}
	if !Ended(identity(self[0], 2147483646, "7")) {
		t.Error("a process that cannot exist has not ended")
	}
	if start != "-" && !Ended(identity(self[0], pid, "7")) { // "-": no starts are known
		t.Error("the number of a process that has ended, which another has now, counts as its own")
	}
	child.Process.Kill()
	for range 1000 { // it has ended, and its parent has not waited for it yet
		if start == "-" || Ended(alive) {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if start != "-" && !Ended(alive) {
		t.Error("a process that was killed has not ended")
	}
	child.Wait()
	if !Ended(alive) {
		t.Error("a process that has ended and was waited for has not ended")
	}
}
