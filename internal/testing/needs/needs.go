// Package needs skips tests where the computer lacks something that they use. The reason of a skip
// names it and the way to get it.
package needs

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// That skips the test if met is false. The reason is "needs " and the text, formatted as by
// fmt.Sprintf. The text names what is missing and where the test runs.
func That(t testing.TB, met bool, format string, args ...any) {
	t.Helper()
	if !met {
		t.Skipf("needs "+format, args...)
	}
}

// Program returns the path of an installed program, and skips the test without it.
func Program(t testing.TB, name, debianPackages string) string {
	t.Helper()
	path, err := exec.LookPath(name)
	That(t, err == nil, "%s: install the Debian packages %s", name, debianPackages)
	return path
}

// Data returns the path of a data set that is not bundled: a file of the folder shared/data next to
// the repository. The test is skipped without the file.
func Data(t testing.TB, name string) string {
	t.Helper()
	root, err := filepath.Abs(".")
	if err != nil {
		t.Fatal(err)
	}
	for dir := filepath.Dir(root); root != dir; dir = filepath.Dir(root) {
		if _, err := os.Stat(filepath.Join(root, "go.mod")); err == nil {
			break
		}
		root = dir
	}
	path := filepath.Join(filepath.Dir(root), "shared", "data", name)
	_, err = os.Stat(path)
	That(t, err == nil, "%s, which is not part of the project: it belongs in shared/data next to the repository", name)
	return path
}
