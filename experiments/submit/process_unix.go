//go:build unix

package submit

import "syscall"

// apart runs a process in its own group, so that it receives only the signals that are passed on,
// not those of the terminal.
var apart = &syscall.SysProcAttr{Setpgid: true}
