//go:build unix && !linux

package machine

import "syscall"

// dying does nothing on this system: EndOrphans ends what is left.
func dying(*syscall.SysProcAttr) {}
