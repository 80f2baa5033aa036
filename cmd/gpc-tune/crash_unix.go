//go:build unix

package main

import (
	"os"
	"os/signal"
	"syscall"
)

func init() {
	// A write beyond the limit on file sizes, or to a pipe that nobody reads any more, is to be an
	// error like that of a full disk, not the end of the process. Programs that this one starts are
	// to have SIGPIPE as usual, so it is not ignored.
	signal.Ignore(syscall.SIGXFSZ)
	signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE)
	// Of a crash (see main) the message is of use, not gigabytes of memory in a file.
	var limit syscall.Rlimit
	if syscall.Getrlimit(syscall.RLIMIT_CORE, &limit) == nil {
		limit.Cur = 0
		_ = syscall.Setrlimit(syscall.RLIMIT_CORE, &limit)
	}
}
