//go:build unix

package submit

import "syscall"

// apart keeps the signals of a terminal from a process: it gets those that are passed on.
var apart = &syscall.SysProcAttr{Setpgid: true}
