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
