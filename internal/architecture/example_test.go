package architecture

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestExampleModule builds and tests the program of docs/example, without the network. It is a separate module that
// adds components, so it cannot import internal packages.
func TestExampleModule(t *testing.T) {
	c := exec.Command("go", "test", "./...")
	c.Dir = filepath.Join("..", "..", "docs", "example")
	c.Env = append(os.Environ(), "GOPROXY=off", "GOWORK=off")
	if out, err := c.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s\nwhere the requirements of the module have changed: GOFLAGS=-mod=mod go mod tidy -e in docs/example",
			err, out)
	}
}
