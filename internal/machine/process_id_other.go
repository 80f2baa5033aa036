//go:build !linux

package machine

import "os"

// place is where numbers of processes count: this machine.
func place() string {
	host, _ := os.Hostname() // "": it is not known
	return host
}

// started has no times of starts: a number that another process has now counts as that process.
func started(string) string { return "-" }
