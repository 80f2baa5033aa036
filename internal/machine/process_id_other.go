//go:build !linux

package machine

import "os"

// place names this machine. Within it a number belongs to one process.
func place() string {
	host, _ := os.Hostname() // "": it is not known
	return host
}

// started knows no start times: a number that another process has reused counts as the old process.
func started(string) string { return "-" }
