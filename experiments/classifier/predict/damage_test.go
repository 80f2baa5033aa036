package predict

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/internal/testing/golden"
	"github.com/gpc-tune/gpc-tune/reports"
)

// damageFile is a run of 2 configurations, one with restarts and one with a grid, small enough to
// be repaired thousands of times.
const damageFile = `name: damaged
seed: 5
data: {dataset: crabs, preprocess: standardize, subsample: 12}
model: {kernel: se, likelihood: probit, inference: laplace}
tune: [{method: bfgs, restarts: 2}, {method: grid, grid: {length_scale: {log: [0, 1], points: 2}, amplitude: {log: [0, 1], points: 2}}}]
evaluate: {hold_out: {}}
`

// damages is the number of damaged files tried; the variable GPC_TUNE_DAMAGES overrides it.
const damages = 200

// One byte of a file is flipped in one bit, replaced, lost or added. Then either the damage is
// reported and the run completes with the original bytes, or the file is refused, with its name and
// advice. The layout of a model file is free, as documented: a change that keeps its content, by
// its hash, is no damage.
func TestDamagedByte(t *testing.T) {
	n := damages
	if text := os.Getenv("GPC_TUNE_DAMAGES"); text != "" {
		var err error
		if n, err = strconv.Atoi(text); err != nil {
			t.Fatalf("GPC_TUNE_DAMAGES: %v", err)
		}
	}
	t.Setenv("XDG_CONFIG_HOME", t.TempDir()) // no rates
	dir := t.TempDir()
	source := plantest.Planned(t, damageFile)
	silent := func(string, ...any) {}
	if _, err := run.LayOut(source, dir, run.LayOutOptions{Blocks: 2}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := run.Run(t.Context(), plantest.Planned(t, damageFile), dir, run.Options{Resume: true, Warn: silent}); err != nil {
		t.Fatal(err)
	}
	model := filepath.Join(dir, "model.json")
	if _, _, err := Fit(t.Context(), plantest.Planned(t, damageFile), model, FitOptions{Configuration: new(0), Dir: dir, Options: run.Options{Resume: true, Warn: silent}}); err != nil {
		t.Fatal(err)
	}
	undamaged, err := LoadClassifier(model)
	if err != nil {
		t.Fatal(err)
	}
	segments, err := filepath.Glob(filepath.Join(dir, "journal", "*.jsonl"))
	if err != nil || len(segments) != 1 {
		t.Fatal(segments, err)
	}
	want := []byte(plantest.ReadAll(t, dir, "results.json"))
	manifest, plan := filepath.Join(dir, "manifest.json"), filepath.Join(dir, "plan.json")
	files := []string{segments[0], manifest, plan, model}
	pristine := map[string][]byte{}
	for _, name := range files {
		pristine[name] = []byte(plantest.ReadAll(t, name))
	}
	mended, refused, same := map[string]int{}, map[string]int{}, 0
	random := rand.New(rand.NewPCG(16, 8))
	for i := range n {
		name := files[i%len(files)]
		text, kind := damage1(random, pristine[name])
		if err := os.WriteFile(name, text, 0o666); err != nil {
			t.Fatal(err)
		}
		what, at := fmt.Sprintf("damage %d: %s of %s", i, kind, filepath.Base(name)), filepath.Base(name)
		refuse := func(err error, remedy string) {
			if !strings.Contains(err.Error(), at) || !strings.Contains(err.Error(), remedy) {
				t.Errorf("%s: the error names no place, or no remedy: %v", what, err)
			}
			refused[at]++
		}
		switch name {
		case model:
			c, err := LoadClassifier(model)
			switch {
			case err != nil:
				refuse(err, "gpc-tune fit")
			case !reflect.DeepEqual(c.file, undamaged.file):
				t.Errorf("%s: silently another model", what)
			default:
				same++
			}
		case plan:
			if _, err := run.OpenLaidOut(t.Context(), dir); err != nil {
				refuse(err, "with gpc-tune submit")
			} else {
				t.Errorf("%s: not told", what)
			}
		default:
			told, whole := false, false // whole: every job of the report is on record, as where a line of the fit is damaged
			if f, err := run.ReadFolder(dir); err == nil {
				progress, err := reports.BuildProgress(f.Manifest, f.Lines)
				if whole = progress.Finished; err != nil || whole != (len(f.Notes) == 0) {
					t.Errorf("%s: finished %v, said where the folder is read %q, %v", what, whole, f.Notes, err)
				}
			} else if !strings.Contains(err.Error(), at) || !strings.Contains(err.Error(), "--resume") {
				t.Errorf("%s: the error names no place, or no remedy: %v", what, err)
			}
			_, _, err := run.Run(t.Context(), plantest.Planned(t, damageFile), dir, run.Options{Resume: true, Warn: func(format string, args ...any) {
				told = told || strings.Contains(fmt.Sprintf(format, args...), at)
			}})
			switch got := []byte(plantest.ReadAll(t, dir, "results.json")); {
			case err != nil:
				refuse(err, "; ")
			case !golden.Equal(t, what+": results.json differs", got, want):
			case told == whole:
				t.Errorf("%s: told %v, though all jobs on record %v", what, told, whole)
			default:
				mended[at]++
			}
		}
		if err := errors.Join(os.WriteFile(name, pristine[name], 0o666), os.WriteFile(filepath.Join(dir, "results.json"), nil, 0o666)); err != nil {
			t.Fatal(err)
		}
		made, _ := filepath.Glob(filepath.Join(dir, "journal", "*.jsonl"))
		for _, s := range slices.Concat(made, []string{filepath.Join(dir, "manifest-damaged.json")}) {
			if s != segments[0] {
				os.Remove(s)
			}
		}
	}
	t.Logf("%d damages: told and mended %v, refused with place and remedy %v, model files of the same content %d", n, mended, refused, same)
}

// damage1 changes one byte of a text.
func damage1(random *rand.Rand, text []byte) (damaged []byte, kind string) {
	at := random.IntN(len(text))
	damaged = bytes.Clone(text)
	switch random.IntN(4) {
	case 0:
		bit := random.IntN(8)
		damaged[at] ^= 1 << bit
		kind = fmt.Sprintf("bit %d of byte %d flipped", bit, at)
	case 1:
		damaged[at] += byte(1 + random.IntN(255))
		kind = fmt.Sprintf("byte %d is %q", at, damaged[at])
	case 2:
		damaged = slices.Delete(damaged, at, at+1)
		kind = fmt.Sprintf("byte %d lost", at)
	default:
		b := byte(random.IntN(256))
		damaged = slices.Insert(damaged, at, b)
		kind = fmt.Sprintf("%q added at byte %d", b, at)
	}
	return damaged, kind
}
