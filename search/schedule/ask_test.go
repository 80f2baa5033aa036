package schedule

import (
	"context"
	"errors"
	"path/filepath"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/search"
)

// sameKeys reports whether two lists have the same points, in any order.
func sameKeys(a, b []*Asked) bool {
	points := map[string]float64{}
	for _, of := range a {
		points[of.Key] = of.X[0]
	}
	for _, of := range b {
		if x, is := points[of.Key]; !is || x != of.X[0] {
			return false
		}
	}
	return len(a) == len(b)
}

// A search whose points are asked and told by processes that end after each call has the lines of one
// that Run evaluates; trials are told in any order. Run evaluates no point that is asked.
func TestAskAndTell(t *testing.T) {
	value := func(_ context.Context, x []float64) (float64, error) {
		if x[0] > 0.8 {
			return 0, errors.New("too large")
		}
		return -x[0] * x[0], nil
	}
	space := search.Space{param.Between("x", param.Identity, 0, 1)}
	for name, strategy := range map[string]search.Strategy{
		"one batch":    search.Sobol{Design: search.Design{Trials: 6}},
		"one by one":   search.Bayes{Trials: 6, Batch: 1},
		"asynchronous": search.Bayes{Trials: 6, Batch: 1, Overlap: search.Overlap{Asynchronous: 2}},
	} {
		t.Run(name, func(t *testing.T) {
			studies := []Study{Function{Space: space, Strategy: strategy, Seed: 3, Value: value}.Study("asked")}
			whole := mustOpen(t, "")
			mustRun(t, studies, whole, Options{Workers: 1})
			dir := t.TempDir()
			var out []*Asked
			for told := 0; told < 6; {
				j := mustOpen(t, dir)
				next, untold, err := Ask(studies, j)
				if err != nil {
					t.Fatal(err)
				}
				mustClose(t, j)
				if next != nil {
					out = append(out, next)
				}
				j = mustOpen(t, dir)
				waiting, err := Untold(studies, j)
				if err != nil || !sameKeys(waiting, out) {
					t.Fatalf("%d points wait for values, want %d: %v", len(waiting), len(out), err)
				}
				mustClose(t, j)
				if next != nil {
					if len(out) < 2 && name != "one by one" {
						continue
					}
				} else if len(untold) != len(out) || len(out) == 0 {
					t.Fatalf("%d points are out, untold %q", len(out), untold)
				}
				// of two in a batch the later is told first; an asynchronous search is told in order
				at := out[0]
				if out = out[1:]; name == "one batch" && len(out) > 0 {
					at, out[0] = out[0], at
				}
				j = mustOpen(t, dir)
				v, failure := value(t.Context(), at.X)
				if err := Tell(studies, j, at.Key, Told{Value: v, Failure: failure}); err != nil {
					t.Fatal(err)
				}
				if err := Tell(studies, j, at.Key, Told{Value: v, Failure: failure}); !errors.Is(err, ErrUnasked) {
					t.Errorf("told twice: %v", err)
				}
				mustClose(t, j)
				told++
			}
			if left, _ := filepath.Glob(filepath.Join(dir, "journal", "leases", "*")); len(left) > 0 {
				t.Errorf("reservations are left: %q", left)
			}
			studies[0].Value = func(context.Context, []float64) (float64, error) {
				t.Error("Run evaluates a point")
				return 0, nil
			}
			j := mustOpen(t, dir)
			mustRun(t, studies, j, Options{})
			if name == "asynchronous" { // two were under way, in Run one
				return
			}
			if got, want := canonical(j.Lines()), canonical(whole.Lines()); got != want {
				t.Errorf("lines of asked trials:\n%s\nof Run:\n%s", got, want)
			}
		})
	}
}
