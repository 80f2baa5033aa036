//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

func init() {
	// A write beyond the limit on file sizes, or to a closed pipe, must be an error, as on a full
	// disk, instead of ending the process. SIGPIPE is not ignored, because programs that this one
	// starts would inherit that.
	signal.Ignore(syscall.SIGXFSZ)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	// After a crash (see main) only the message is useful, not a core file of gigabytes.
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_CORE, &limit) == nil {
		limit.Cur = 0
		_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &limit)
	}
}
