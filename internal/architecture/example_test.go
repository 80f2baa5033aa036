package architecture

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
)

// TestExampleModule checks the types of the program of docs/example and of its tests; make test-all builds and tests it,
// without the network. It is a separate module that adds components, so it cannot import internal packages.
func TestExampleModule(t *testing.T) {
	if !exhaustive.All() { // a separate module compiles all packages again
		names, err := filepath.Glob(filepath.Join("..", "..", "docs", "example", "*.go"))
		if err != nil || len(names) < 3 {
			t.Fatal(names, err)
		}
		var sources []string
		for _, name := range names {
			text, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			sources = append(sources, string(text))
		}
		for _, wrong := range check(importable(t), sources...) {
			t.Error(wrong)
		}
		return
	}
	c := exec.Command("go", "test", "./...")
	c.Dir = filepath.Join("..", "..", "docs", "example")
	c.Env = append(os.Environ(), "GOPROXY=off", "GOWORK=off")
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s\nwhere the requirements of the module have changed: GOFLAGS=-mod=mod go mod tidy -e in docs/example",
			err, out)
	}
}
