//go:build !linux

package machine

import (
	"iter"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
)

// environments visits the processes of the user with command line and environment, by the command
// ps. Other systems than Unix have none.
func environments() iter.Seq2[int, string] {
	shown := "-axwwe"
	if runtime.GOOS == "darwin" {
		shown = "-axwwE"
	}
	return func(yield func(int, string) bool) {
		text, _ := exec.Command("ps", shown, "-o", "pid=,command=").Output() // without it no process is found
		for line := range strings.Lines(string(text)) {
			number, rest, _ := strings.Cut(strings.TrimSpace(line), " ")
			if pid, err := strconv.Atoi(number); err == nil && !yield(pid, rest) {
				return
			}
		}
	}
}
