package machine

import (
	"iter"
	"os"
	"strconv"
	"syscall"
)

// environments visits the processes whose environment this process may read, which is text with NUL
// after every assignment.
func environments() iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		entries, _ := os.ReadDir("/proc") // without it no process is found
		for _, e := range entries {
			pid, err := strconv.Atoi(e.Name())
			if err != nil {
				continue
			}
			text, err := os.ReadFile("/proc/" + e.Name() + "/environ")
			if err == nil && !yield(pid, string(text)) {
				return
			}
		}
	}
}

// dying makes the kernel kill the process when the thread that started it ends.
func dying(a *syscall.SysProcAttr) { a.Pdeathsig = syscall.SIGKILL }
