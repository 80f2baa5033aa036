package linalg

import (
	"syscall"
	"unsafe"
)

// inHugePages asks for huge pages; it is a hint, and x begins with a page, as all large objects do.
func inHugePages(x []float64) {
	_ = syscall.Madvise(unsafe.Slice((*byte)(unsafe.Pointer(&x[0])), 8*len(x)), syscall.MADV_HUGEPAGE)
}
