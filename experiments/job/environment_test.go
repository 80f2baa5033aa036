package job

import (
	"math"
	"slices"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/machine"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// A program finds the numbers of its trial in decimal digits. Without a budget or a folder there is
// no variable for it.
func TestEnvironment(t *testing.T) {
	got := environment(&schedule.Evaluation{Trial: 12, Seed: 305419896, Slot: 13, Folder: "runs/f", Budget: 27.5})
	if want := []string{"GPC_TUNE_TRIAL=12", "GPC_TUNE_SEED=305419896", "GPC_TUNE_SLOT=13", machine.Parent(),
		"GPC_TUNE_FOLDER=runs/f", "GPC_TUNE_BUDGET=27.5"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if got := environment(&schedule.Evaluation{Budget: math.NaN()}); len(got) != 4 {
		t.Errorf("%q", got)
	}
}
