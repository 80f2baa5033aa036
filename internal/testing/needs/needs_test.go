package needs

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// recorder is a test that notes whether and why it is skipped.
type recorder struct {
	testing.TB
	reason string
}

func (r *recorder) Helper() {}
func (r *recorder) Skipf(format string, args ...any) {
	r.reason = strings.NewReplacer("%s", args[0].(string)).Replace(format)
}

// A test is skipped only without what it needs, and the reason names it.
func TestNeeds(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "project", "package")
	data := filepath.Join(folder, "..", "..", "shared", "data")
	for _, dir := range []string{folder, data} {
		if err := os.MkdirAll(dir, 0o777); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{filepath.Join(folder, "..", "go.mod"), filepath.Join(data, "a.csv")} {
		if err := os.WriteFile(file, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(folder)
	for name, skipped := range map[string]bool{"a.csv": false, "b.csv": true} {
		r := recorder{TB: t}
		if path := Data(&r, name); path != filepath.Join(data, name) || strings.HasPrefix(r.reason, "needs "+name) != skipped {
			t.Errorf("%s: %s, %q", name, path, r.reason)
		}
	}
	for name, skipped := range map[string]bool{"go": false, "no-such-program": true} {
		r := recorder{TB: t}
		if path := Program(&r, name, "p"); (path == "") != skipped || strings.HasPrefix(r.reason, "needs "+name) != skipped {
			t.Errorf("%s: %s, %q", name, path, r.reason)
		}
	}
}
