// Package build names the program that computes.
package build

import (
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/internal/record"
)

// Version is the module version that Go stamped into the program, "(devel)" in a checkout.
func Version() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, m := range append(info.Deps, &info.Main) {
			if strings.HasPrefix(m.Path, "github.com/gpc-tune/gpc-tune") && m.Version != "" {
				return m.Version
			}
		}
	}
	return "(devel)"
}

// This is what computes here.
func This() record.Build {
	return record.Build{Version: Version(), Go: runtime.Version(), Arch: runtime.GOOS + "/" + runtime.GOARCH + " " +
		linalg.SIMD()}
}

// ErrEnvironment marks a variable of the environment that cannot be.
var ErrEnvironment = errors.New("environment")

// CheckEnvironment is an ErrEnvironment where the environment asks for instructions that this
// machine lacks.
func CheckEnvironment() error {
	if err := linalg.Err(); err != nil {
		return fmt.Errorf("%w: %w", ErrEnvironment, err)
	}
	return nil
}
