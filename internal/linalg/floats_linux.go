package linalg

import (
	"syscall"
	"unsafe"
)

// inHugePages asks the system for huge pages, which is a hint. x begins with a page, as all large
// objects do.
func inHugePages(x []float64) {
	_ = syscall.Madvise(unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), 8*len(x)), syscall.MADV_HUGEPAGE)
}
