package experiments

import (
	"os"
	"runtime/debug"
	"testing"
)

// The heaps of tests are small, and collecting them took a tenth of the time.
func TestMain(m *testing.M) {
	debug.SetGCPercent(400)
	os.Exit(m.Run())
}
