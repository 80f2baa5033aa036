package machine

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"syscall"
)

// Process identifies this process among all processes of all machines, at any time. It consists of
// the place where its number counts, its number, and its start time. It is "" if that cannot be
// known.
var Process = sync.OnceValue(func() string {
	where, start := place(), started("self")
	if where == "" || start == "" {
		return ""
	}
	return fmt.Sprintf("%s %d %s", where, os.Getpid(), start)
})

// Ended reports whether the process with this identity is known to have ended: its number counts
// where this process is, and no process has it, or one that started at another time.
func Ended(identity string) bool {
	part := strings.Fields(identity)
	if len(part) != 3 || part[0] != place() {
		return false
	}
	pid, err := strconv.Atoi(part[1])
	if err != nil {
		return false
	}
	p, err := os.FindProcess(pid)
	if err == nil {
		err = p.Signal(syscall.Signal(0))
	}
	if errors.Is(err, os.ErrProcessDone) || errors.Is(err, syscall.ESRCH) {
		return true
	}
	start := started(part[1])
	return start != "" && start != part[2]
}
