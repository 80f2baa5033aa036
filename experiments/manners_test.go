package experiments_test

import (
	"errors"
	"path/filepath"
	"runtime/debug"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments"
	"github.com/gpc-tune/gpc-tune/experiments/classifier/predict"
	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// Zero options are enough to run a plan and fit it; neither changes settings of the process.
func TestZeroOptions(t *testing.T) {
	const file = "data: {dataset: crabs, preprocess: standardize, subsample: 20}\nmodel: {kernel: se, likelihood: probit, inference: [laplace, ep]}\ntune: {method: bfgs}\n"
	checked, err := experiments.Parse(t.Context(), "t.yaml", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	settings := func() [2]int64 {
		percent := debug.SetGCPercent(-1)
		debug.SetGCPercent(percent)
		return [2]int64{int64(percent), debug.SetMemoryLimit(-1)}
	}
	before := settings()
	events := 0
	o := experiments.Options{}
	o.Progress = func(schedule.Event) {
		if events++; settings() != before {
			t.Errorf("a run has the process at %v, before %v", settings(), before)
		}
	}
	if _, _, err := experiments.Run(t.Context(), checked, filepath.Join(t.TempDir(), "run"), o); err != nil {
		t.Fatal(err)
	}
	if events == 0 {
		t.Error("nothing was heard")
	}
	events = 0
	if _, _, err := experiments.Run(t.Context(), checked, "", o); !errors.Is(err, experiments.ErrFolder) || !strings.Contains(err.Error(), "the name of the folder is empty") || events > 0 {
		t.Errorf("an empty folder name: %v after %d jobs", err, events)
	}
	p, err := plan.Parse(t.Context(), "t.yaml", []byte(file), nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := predict.Fit(t.Context(), p, filepath.Join(t.TempDir(), "m.json"), predict.FitOptions{}); err != nil {
		t.Fatal(err)
	}
	if settings() != before {
		t.Errorf("the process is left at %v, before %v", settings(), before)
	}
}
