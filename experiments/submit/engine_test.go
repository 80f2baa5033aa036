package submit

import (
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/run"
)

// Eight jobs of 1 GiB need 8 GiB; a quarter more and 512 MiB are requested, or more if the journal
// is large.
func TestMemoryOfAWorker(t *testing.T) {
	for _, c := range []struct{ journal, asked int64 }{{0, 10240 + 512}, {100 << 20, 10240 + 256 + 400}} {
		r := Run{Jobs: 8, Workload: run.Workload{Memory: 1 << 30, Journal: c.journal}}
		if jobs, asked := r.memory(); jobs != 8<<30 || asked != c.asked {
			t.Errorf("a journal of %d: %d bytes for jobs, %d MiB asked for, want %d and %d",
				c.journal, jobs, asked, int64(8)<<30, c.asked)
		}
	}
}
