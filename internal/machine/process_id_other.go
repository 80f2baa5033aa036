//go:build !linux

package machine

import "os"

// place names this machine, in which a number is of one process only.
func place() string {
	host, _ := os.Hostname() // "": it is not known
	return host
}

// started has no times of starts: a number that another process has now counts as that process.
func started(string) string { return "-" }
