// Package build identifies the program.
package build

import (
	"cmp"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// Build identifies the program; bit-identical results are promised for one build on one
// architecture.
type Build struct {
	Version string `json:"version"`
	Go      string `json:"go"`
	Arch    string `json:"arch"` // operating system, processor, vector instructions in use
	// the main package of another program than gpc-tune, which may have components of its own
	Program string `json:"program,omitempty"`
}

// String names the build in one line.
func (b Build) String() string { return strings.Join([]string{b.Version, b.Go, b.Arch}, " ") }

// running is the build information that Go recorded in the running program; empty if there is none.
func running() *debug.BuildInfo {
	info, _ := debug.ReadBuildInfo()
	return cmp.Or(info, &debug.BuildInfo{})
}

// Version is the module version that Go stamped into the program. Before the release, that is in a
// checkout or at a commit without a tag, it is a version that sorts before release.
func Version() string { return version(running()) }

// release is the version that the sources become when they are released.
const release = "v0.1.0"

func version(info *debug.BuildInfo) string {
	for _, m := range append(info.Deps, &info.Main) {
		if !strings.HasPrefix(m.Path, "github.com/gpc-tune/gpc-tune") {
			continue
		}
		if commit, untagged := strings.CutPrefix(m.Version, "v0.0.0-"); untagged {
			return release + "-0." + commit
		}
		if m.Version != "" && m.Version != "(devel)" {
			return m.Version
		}
	}
	return release + "-devel"
}

// Commit is the commit that Go recorded in the program, the time of the commit (RFC 3339), and
// whether the sources had uncommitted changes. All are empty in a program that was not built in a
// clone: by go install of a version, or in a test.
func Commit() (revision, time string, changed bool) { return Stamp(running()) }

// Stamp is Commit for any program.
func Stamp(info *debug.BuildInfo) (revision, time string, changed bool) {
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value
		case "vcs.time":
			time = s.Value
		case "vcs.modified":
			changed = s.Value == "true"
		}
	}
	return revision, time, changed
}

// This is the running program.
func This() Build {
	return Build{Version: Version(), Go: runtime.Version(), Arch: runtime.GOOS + "/" + runtime.GOARCH + " " +
		linalg.SIMD(), Program: program(running())}
}

// program is the main package, if it is not one of this module.
func program(info *debug.BuildInfo) string {
	if info.Main.Path == "" || strings.HasPrefix(info.Main.Path, "github.com/gpc-tune/gpc-tune") {
		return ""
	}
	return strings.TrimSuffix(info.Path, ".test")
}

// ErrEnvironment marks an invalid value of an environment variable.
var ErrEnvironment = errors.New("environment")

// CheckEnvironment returns an ErrEnvironment if the environment selects instructions that this
// machine lacks.
func CheckEnvironment() error {
	if err := linalg.Err(); err != nil {
		return fmt.Errorf("%w: %w", ErrEnvironment, err)
	}
	return nil
}
