package build

import (
	"runtime"
	"runtime/debug"
	"testing"
)

func TestStamp(t *testing.T) {
	settings := []debug.BuildSetting{{Key: "vcs", Value: "git"}, {Key: "vcs.revision", Value: "abc"},
		{Key: "vcs.time", Value: "2026-01-02T03:04:05Z"}, {Key: "vcs.modified", Value: "true"}, {Key: "GOOS", Value: "x"}}
	revision, time, changed := Stamp(&debug.BuildInfo{Settings: settings})
	if revision != "abc" || time != "2026-01-02T03:04:05Z" || !changed {
		t.Errorf("%q at %q, changed: %v", revision, time, changed)
	}
	settings[3].Value = "false"
	if _, _, changed := Stamp(&debug.BuildInfo{Settings: settings}); changed {
		t.Error("changed, though it is not modified")
	}
	if revision, time, changed := Stamp(&debug.BuildInfo{}); revision != "" || time != "" || changed {
		t.Errorf("without a clone: %q at %q, changed: %v", revision, time, changed)
	}
}

// A test of this module is a program of this module.
func TestThis(t *testing.T) {
	b := This()
	if b.Program != "" || b.Version == "" || b.Go != runtime.Version() {
		t.Errorf("%+v", b)
	}
	if err := CheckEnvironment(); err != nil {
		t.Error(err)
	}
}

// The version is the version of this module, either as the module of the program, or among the
// modules that the program of somebody else uses.
func TestVersionAndProgram(t *testing.T) {
	const here = "github.com/gpc-tune/gpc-tune"
	own, other := debug.Module{Path: here, Version: "v1.2.3"}, debug.Module{Path: "example.org/app", Version: "v9.0.0"}
	for _, c := range []struct {
		info             debug.BuildInfo
		version, program string
	}{
		{debug.BuildInfo{Path: here + "/cmd/gpc-tune", Main: own, Deps: []*debug.Module{&other}}, "v1.2.3", ""},
		{debug.BuildInfo{Path: "example.org/app/cmd", Main: other, Deps: []*debug.Module{&other, &own}}, "v1.2.3",
			"example.org/app/cmd"},
		{debug.BuildInfo{Path: "example.org/app.test", Main: other, Deps: []*debug.Module{{Path: here}}}, "v0.1.0-devel",
			"example.org/app"},
		{debug.BuildInfo{Path: here + "/cmd/gpc-tune", Main: debug.Module{Path: here}}, "v0.1.0-devel", ""},
		{debug.BuildInfo{Path: "command-line-arguments"}, "v0.1.0-devel", ""},
		{debug.BuildInfo{Main: debug.Module{Path: here, Version: "v0.0.0-20260102030405-abc"}},
			"v0.1.0-0.20260102030405-abc", ""},
		{debug.BuildInfo{Main: debug.Module{Path: here, Version: "(devel)"}}, "v0.1.0-devel", ""},
	} {
		if got := version(&c.info); got != c.version {
			t.Errorf("%+v: version %q, want %q", c.info, got, c.version)
		}
		if got := program(&c.info); got != c.program {
			t.Errorf("%+v: program %q, want %q", c.info, got, c.program)
		}
	}
	if info := running(); info.GoVersion != runtime.Version() || info.Main.Path != here {
		t.Errorf("this program: %+v", info)
	}
}
