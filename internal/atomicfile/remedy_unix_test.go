//go:build unix

package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"
)

// Each cause of a failed write has its remedy.
func TestRemedies(t *testing.T) {
	for cause, want := range map[error]string{
		syscall.ENOSPC: "room on the disk", syscall.EDQUOT: "in the quota", syscall.EFBIG: "ulimit -f", syscall.EMFILE: "ulimit -n",
		syscall.ENFILE: "ulimit -n", syscall.EROFS: "read-only", fs.ErrPermission: "change the permissions",
	} {
		if got := Remedy(fmt.Errorf("write a: %w", cause)); !strings.Contains(got, want) {
			t.Errorf("%v: %q, want %q", cause, got, want)
		}
	}
	if got := Remedy(fmt.Errorf("again: %w", Remedied{fs.ErrPermission})); got != "" {
		t.Errorf("a second time: %q", got)
	}
	if got := Remedy(errors.New("else")); got != "" {
		t.Errorf("%q", got)
	}
}
