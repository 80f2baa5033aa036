// Package garbage, imported for its effect, has the tests of a package collect garbage less often.
// With the few megabytes that most tests have in use, the collector would run all the time.
package garbage

import (
	"os"
	"runtime/debug"
)

func init() {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(400)
	}
}
