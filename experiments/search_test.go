package experiments_test

import (
	"context"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/experiments"
	"github.com/gpc-tune/gpc-tune/reports/picture"
	"github.com/gpc-tune/gpc-tune/search"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// bowl has its minimum, 0, at (0.1, 2), and fails in a corner.
func bowl(calls *atomic.Int64) schedule.Function {
	return schedule.Function{
		Name:     "bowl",
		Space:    search.Space{param.Between("rate", param.Log, 1e-4, 10), param.Between("width", param.Identity, 0, 5)},
		Strategy: search.Bayes{Trials: 20}, Minimize: true,
		Value: func(_ context.Context, x []float64) (float64, error) {
			calls.Add(1)
			if x[0] > 5 && x[1] > 4 {
				return 0, errors.New("diverged")
			}
			return math.Pow(math.Log10(x[0])+1, 2) + math.Pow(x[1]-2, 2), nil
		},
	}
}

// A search finds the minimum, and the folder gives the same bytes however often it was interrupted and for any number
// of workers.
func TestSearch(t *testing.T) {
	var calls atomic.Int64
	dir := t.TempDir()
	x, value, err := experiments.Search(t.Context(), filepath.Join(dir, "whole"), bowl(&calls), experiments.Options{})
	if err != nil || !(value < 0.05) || math.Abs(math.Log10(x[0])+1) > 0.3 || math.Abs(x[1]-2) > 0.3 || calls.Load() != 20 {
		t.Fatalf("%v: %v at %v after %d calls", err, value, x, calls.Load())
	}
	again, same, err := experiments.Search(t.Context(), filepath.Join(dir, "whole"), bowl(&calls), experiments.Options{})
	if err != nil || same != value || again[0] != x[0] || calls.Load() != 20 {
		t.Errorf("again: %v, %v at %v after %d calls", err, same, again, calls.Load())
	}

	calls.Store(0)
	stopped := filepath.Join(dir, "stopped")
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		f := bowl(&calls)
		value, n := f.Value, 0
		f.Value = func(ctx context.Context, x []float64) (float64, error) {
			if n++; n > 5 {
				cancel()
				return 0, ctx.Err()
			}
			return value(ctx, x)
		}
		if _, _, err := experiments.Search(ctx, stopped, f, experiments.Options{Options: schedule.Options{Workers: 1}}); !errors.Is(err, schedule.ErrStopped) {
			t.Fatalf("%v, want a stop", err)
		}
	}
	if _, _, err := experiments.Search(t.Context(), stopped, bowl(&calls), experiments.Options{Options: schedule.Options{Workers: 3}}); err != nil || calls.Load() != 20 {
		t.Errorf("%v after %d calls", err, calls.Load())
	}
	a, err := os.ReadFile(filepath.Join(dir, "whole", "results.json"))
	b, err2 := os.ReadFile(filepath.Join(stopped, "results.json"))
	if err != nil || err2 != nil || string(a) != string(b) {
		t.Errorf("%v, %v; the bytes differ: %t", err, err2, string(a) != string(b))
	}

	other := bowl(&calls)
	other.Minimize = false
	if _, _, err := experiments.Search(t.Context(), stopped, other, experiments.Options{}); !errors.Is(err, experiments.ErrOtherConfiguration) {
		t.Errorf("another function in the folder: %v", err)
	}
	other.Strategy = search.BFGS{}
	if _, _, err := experiments.Search(t.Context(), filepath.Join(dir, "bfgs"), other, experiments.Options{}); !errors.Is(err, experiments.ErrInvalid) {
		t.Errorf("a strategy that follows gradients: %v", err)
	}
	other = bowl(&calls)
	other.Value = func(context.Context, []float64) (float64, error) { return math.NaN(), nil }
	if x, v, err := experiments.Search(t.Context(), filepath.Join(dir, "none"), other, experiments.Options{}); !errors.Is(err, experiments.ErrNoFit) || x != nil || !math.IsNaN(v) {
		t.Errorf("no value at all: %v, %v, %v", x, v, err)
	}
}

// Whole numbers, choices and conditional hyperparameters come as numbers, in natural units: a choice as its number.
func TestSearchMixed(t *testing.T) {
	degree := param.Between("degree", param.Whole, 2, 6)
	degree.When = &param.Condition{Name: "kind", Values: []float64{2}}
	f := schedule.Function{
		Name:     "mixed",
		Space:    search.Space{param.Among("kind", "linear", "rbf", "poly"), degree, param.Between("shift", param.Identity, -1, 1)},
		Strategy: search.Bayes{Trials: 30},
		Value: func(_ context.Context, x []float64) (float64, error) {
			if x[0] != 2 && x[1] != 4 {
				return 0, errors.New("a hyperparameter that does not matter has left its start")
			}
			return x[0] - math.Abs(x[1]-3) - math.Abs(x[2]), nil
		},
	}
	dir := t.TempDir()
	x, value, err := experiments.Search(t.Context(), dir, f, experiments.Options{})
	if err != nil || x[0] != 2 || x[1] != 3 || !(math.Abs(x[2]) < 0.1) || math.Abs(value-2+math.Abs(x[2])) > 1e-15 {
		t.Errorf("%v at %v: %v", value, x, err)
	}
	f.Name, f.Minimize = "least", true
	least, value, err := experiments.Search(t.Context(), t.TempDir(), f, experiments.Options{})
	if err != nil || len(least) != 3 || least[0] == 2 || least[1] != 4 || !(math.Abs(least[2]) > 0.9) || !(value < -1.9) {
		t.Errorf("where degree does not matter: %v at %v: %v", value, least, err)
	}
	report, err := experiments.Report(dir)
	if err != nil || report.Configurations[0].Hyperparameters[0].Text != "poly" {
		t.Errorf("%v: %+v", err, report)
	}
	for _, f := range picture.All(report) {
		if f.Failure != "" {
			t.Errorf("%s: %s", f.Name, f.Failure)
		}
		for _, p := range f.Panels {
			for _, h := range []string{"kind: ", "degree, where kind is poly: ", "shift: "} {
				if f.Kind == "importance" && !slices.ContainsFunc(p.Y.Names, func(name string) bool { return strings.HasPrefix(name, h) }) {
					t.Errorf("%s has no %q", p.Y.Names, h)
				}
			}
		}
	}
}
