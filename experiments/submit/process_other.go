//go:build !unix

package submit

import "syscall"

var apart *syscall.SysProcAttr
