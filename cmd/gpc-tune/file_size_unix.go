//go:build unix

package main

import (
	"os/signal"
	"syscall"
)

// A write beyond the limit on file sizes is to be an error like that of a full disk, not the end of the process.
func init() { signal.Ignore(syscall.SIGXFSZ) }
