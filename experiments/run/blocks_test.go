package run

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/journal"
	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/build"
	"github.com/gpc-tune/gpc-tune/internal/testing/golden"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// divided are experiments of every form: with trials known at once or later, comparators, contests.
var divided = map[string]string{
	"grid":   "model: {kernel: se, likelihood: probit, inference: [laplace, ep]}\ntune: {method: grid, grid: {length_scale: {log: [0, 1], points: 9}, amplitude: {log: [0, 1], points: 3}}}\nevaluate: {kfold: {k: 3}}\n",
	"bayes":  "model: {kernel: se, likelihood: probit, inference: [laplace, least_squares]}\ntune: {method: bayes, initial: 4, trials: 8}\nevaluate: {hold_out: {}}\n",
	"nested": "model: {kernel: [se, linear, matern32], likelihood: probit, inference: laplace}\ntune: {method: bfgs, restarts: 3}\nevaluate: {nested: {outer: {kfold: {k: 3}}, inner: {kfold: {k: 2}}}}\n",
	"shared": "model: {kernel: se, likelihood: probit, inference: [laplace, ep]}\ntune: {method: bfgs, restarts: 7, inference: laplace}\nevaluate: {kfold: {k: 2}, training: {}}\n",
	"race":   "model: {kernel: {se: {length_scale: [{fixed: 0.1}, {fixed: 1}, {fixed: 20}]}}, likelihood: probit, inference: laplace}\ntune: {method: bfgs, restarts: 4}\nevaluate: {kfold: {k: 5}}\nrace: paired_t\n",
}

const crabs30 = "data: {dataset: crabs, preprocess: standardize, subsample: 30}\n"

// Every part of a run belongs to one block, parts that wait for others are in a later wave, and in
// each wave no block has more than the mean plus one part.
func TestBlocksAreBalancedParts(t *testing.T) {
	for name, text := range divided {
		p := plantest.Planned(t, crabs30+text)
		estimates, measured := estimate(p, nil)
		if measured {
			t.Errorf("%s: measured without rates", name)
		}
		for _, m := range []int{1, 2, 7, 50} {
			d := divide(p, estimates, m)
			all := 0.0
			for _, e := range estimates {
				all += e.Trials + e.Later
			}
			sum := 0.0
			var loads, longest, wave []float64
			for k, u := range d.units {
				for len(loads) < (u.wave+1)*m {
					loads = append(loads, 0)
				}
				for len(wave) <= u.wave {
					wave, longest = append(wave, 0), append(longest, 0)
				}
				loads[u.wave*m+d.block[k]] += u.seconds
				wave[u.wave] += u.seconds
				longest[u.wave] = max(longest[u.wave], u.seconds)
				sum += u.seconds
				owners := 0
				for b := range m {
					if d.own(Block{b, m}, u.study, u.trial) {
						owners++
					}
				}
				if owners != 1 || !(u.seconds > 0) && p.Studies[u.study].First > 0 {
					t.Fatalf("%s, %d blocks: %d owners of %+v", name, m, owners, u)
				}
			}
			if math.Abs(sum-all) > 1e-12*all {
				t.Errorf("%s, %d blocks: the parts take %g, the whole %g", name, m, sum, all)
			}
			for i, l := range loads {
				if w := i / m; l > wave[w]/float64(m)+longest[w]+1e-12*all {
					t.Errorf("%s: block %d of %d has %g in wave %d, the mean is %g and the longest part %g", name, i%m, m, l, w, wave[w]/float64(m), longest[w])
				}
			}
			for i, s := range p.Studies {
				for _, k := range d.first[i] {
					if d.units[k].wave >= d.units[d.later[i]].wave {
						t.Errorf("%s: the end of study %d is not after its trials", name, i)
					}
				}
				if s.Stage == nil {
					continue
				}
				first := d.later[i]
				if d.first[i] != nil {
					first = d.first[i][0]
				}
				for _, before := range s.Stage.After {
					if d.units[d.later[before]].wave >= d.units[first].wave {
						t.Errorf("%s: study %d is not after %d, for which it waits", name, i, before)
					}
				}
			}
		}
	}
}

// Blocks are balanced by time: a long study counts for more than short ones.
func TestBlocksAreBalancedByTimeNotByCount(t *testing.T) {
	p := plantest.Planned(t, crabs30+divided["bayes"]) // a plan whose studies are not divided
	estimates := slices.Repeat([]Estimate{{Trials: 1, Later: 1}}, len(p.Studies))
	estimates[1] = Estimate{Trials: 100, Later: 1}
	d := divide(p, estimates, 2)
	for i := range p.Studies {
		if alone := d.block[d.later[i]] == d.block[d.later[1]]; alone != (i == 1) {
			t.Errorf("study %d is in block %d, the long one in %d", i, d.block[d.later[i]], d.block[d.later[1]])
		}
	}
}

// quiet returns options for tests, in which a warning is an error.
func quiet(t *testing.T) Options {
	return Options{Warn: func(format string, args ...any) { t.Errorf(format, args...) }, Options: schedule.Options{Workers: 2}}
}

// Running the blocks in any order, wave after wave, and then the rest gives the bytes of an
// undivided run and no job twice. The blocks of a wave do exactly the jobs that were missing before
// it.
func TestBlocksDoTheRun(t *testing.T) {
	for name, text := range divided {
		t.Run(name, func(t *testing.T) {
			text, dir := crabs30+text, t.TempDir()
			whole := filepath.Join(dir, "whole")
			_, summary, err := Run(t.Context(), plantest.Planned(t, text), whole, quiet(t))
			if err != nil {
				t.Fatal(err)
			}
			parts := filepath.Join(dir, "parts")
			if _, err := LayOut(plantest.Planned(t, text), parts, LayOutOptions{Blocks: 3, DryRun: true}); err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat(parts); err == nil {
				t.Error("a dry run made the folder")
			}
			if _, err := LayOut(plantest.Planned(t, text), parts, LayOutOptions{Blocks: 3}); err != nil {
				t.Fatal(err)
			}
			done := 0
			for waves := 0; ; waves++ {
				l, err := OpenLaidOut(t.Context(), parts)
				if err != nil {
					t.Fatal(err)
				}
				w, err := l.Missing()
				if err != nil {
					t.Fatal(err)
				}
				if len(w.Waves) == 0 {
					if waves == 0 || w.Memory != 0 {
						t.Errorf("after %d waves nothing is missing, of %d bytes", waves, w.Memory)
					}
					break
				}
				slices.Reverse(w.Waves[0].Blocks)
				for _, b := range w.Waves[0].Blocks {
					l, err := OpenLaidOut(t.Context(), parts)
					if err != nil {
						t.Fatal(err)
					}
					s, _, err := l.Work(t.Context(), Block{b, l.Blocks}, quiet(t))
					if err != nil {
						t.Fatal(err)
					}
					if s.Done == 0 && name != "race" && name != "nested" { // where later studies may not be needed
						t.Errorf("wave %d: block %d had nothing to do", waves, b)
					}
					done += s.Done
				}
				if waves > 20 {
					t.Fatalf("%+v is left", w)
				}
			}
			l, err := OpenLaidOut(t.Context(), parts)
			if err != nil {
				t.Fatal(err)
			}
			o := quiet(t)
			o.Resume = true
			_, rest, err := Run(t.Context(), l.Plan, parts, o)
			if err != nil {
				t.Fatal(err)
			}
			if done+rest.Done != summary.Done || rest.Done > 2 {
				t.Errorf("%d jobs in blocks and %d of the rest, %d undivided", done, rest.Done, summary.Done)
			}
			golden.Equal(t, "results.json differs from that of one process", plantest.ReadAll(t, parts, "results.json"), plantest.ReadAll(t, whole, "results.json"))
		})
	}
}

// A worker finds the data from any directory, and refuses data, a program or a plan other than
// those laid out.
func TestWorkersVerifyWhatTheyHave(t *testing.T) {
	t.Setenv("XDG_CONFIG_HOME", t.TempDir()) // no rates
	dir := t.TempDir()
	t.Chdir(dir)
	rows := func(last string) string { return "a,b,class\n1,2,x\n2,1,y\n3,4,x\n4,3,y\n0,1,x\n" + last }
	const file = "data: {train: here.csv, label: class}\nmodel: {kernel: se, likelihood: probit, inference: [laplace, ep]}\ntune: {method: bfgs, restarts: 2}\n"
	if err := errors.Join(os.WriteFile("here.csv", []byte(rows("1,0,y\n")), 0o666), os.WriteFile("file.yaml", []byte(file), 0o666)); err != nil {
		t.Fatal(err)
	}
	layOut := func(settings ...string) *LaidOut {
		t.Helper()
		spec, err := spec.Load("file.yaml", settings)
		if err != nil {
			t.Fatal(err)
		}
		p, err := plan.New(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		l, err := LayOut(p, "run", LayOutOptions{Extend: true})
		if err != nil {
			t.Fatal(err)
		}
		return l
	}
	first := layOut()
	if first.Blocks != 4 { // no more than the number of restarts
		t.Errorf("%d blocks", first.Blocks)
	}
	if err := os.Remove("file.yaml"); err != nil {
		t.Fatal(err)
	}
	t.Chdir(t.TempDir())
	folder := filepath.Join(dir, "run")
	again := func(want string) {
		t.Helper()
		l, err := OpenLaidOut(t.Context(), folder)
		switch {
		case want == "" && (err != nil || l.ID != first.ID || l.Plan.Manifest.Key != first.Key):
			t.Errorf("%v: %+v", err, l)
		case want != "" && (!(errors.Is(err, spec.ErrInvalid) || errors.Is(err, ErrFolder) || errors.As(err, new(spec.Problems))) || !strings.Contains(err.Error(), want)):
			t.Errorf("the error is %v, want %q", err, want)
		}
	}
	again("")
	data, laid := filepath.Join(dir, "here.csv"), filepath.Join(folder, "plan.json")
	change := func(name, from, to, want string) {
		t.Helper()
		was := plantest.ReadAll(t, name)
		if !strings.Contains(was, from) {
			t.Fatalf("%s has no %s", name, from)
		}
		changed := []byte(strings.Replace(was, from, to, 1))
		if name == laid {
			changed = resealed(changed)
		}
		if err := os.WriteFile(name, changed, 0o666); err != nil {
			t.Fatal(err)
		}
		again(want)
		if err := os.WriteFile(name, []byte(was), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	change(data, "3,4,x", "3,5,x", "here: the data in "+dir+" have changed since the run was submitted")
	change(data, "x", "", "here.csv")
	change(laid, build.This().Go, "go1.0", "the run was prepared by the build")
	change(laid, `restarts: 2`, `restarts: 3`, "does not give the plan of its manifest")
	change(laid, `[laplace, ep]`, `[laplace, ep, pl]`, "does not give the plan of its manifest")
	change(laid, `"blocks":4`, `"blocks":0`, "0 blocks")
	change(laid, `"blocks"`, `"block"`, "not one of this version")
	if err := os.Rename(data, data+"x"); err != nil {
		t.Fatal(err)
	}
	again("here.csv")
	if err := os.Rename(data+"x", data); err != nil {
		t.Fatal(err)
	}
	again("")

	// Extended by gpc-tune run, the folder has another plan; laid out again, it has the blocks of
	// that plan.
	t.Chdir(dir)
	if err := os.WriteFile("file.yaml", []byte(file), 0o666); err != nil {
		t.Fatal(err)
	}
	spec, err := spec.Load("file.yaml", []string{"tune.restarts=3"})
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.New(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	o := quiet(t)
	o.Extend = true
	if _, _, err := Run(t.Context(), p, "run", o); err != nil {
		t.Fatal(err)
	}
	again("the plan in the folder has changed since the run was submitted")
	first = layOut("tune.restarts=3")
	again("")
	if w, err := first.Missing(); err != nil || len(w.Waves) > 0 {
		t.Errorf("%+v, %v are missing of a finished run", w, err)
	}
}

// resealed returns a text with its correct checksum.
func resealed(text []byte) []byte {
	before, _, _ := bytes.Cut(text, []byte(`,"sum":`))
	return journal.Seal(append(before, '}'))
}

// Laying out a run again keeps its blocks and their shares, so that running and new workers divide
// it alike.
func TestLayingOutAgainKeepsTheBlocks(t *testing.T) {
	dir := t.TempDir()
	p := plantest.Planned(t, crabs30+divided["grid"])
	l, err := LayOut(p, dir, LayOutOptions{Blocks: 5, Engine: "one"})
	if err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(dir, "plan.json")
	changed := strings.Replace(plantest.ReadAll(t, name), `"trials":`, `"trials":1`, 1)
	if err := os.WriteFile(name, resealed([]byte(changed)), 0o666); err != nil {
		t.Fatal(err)
	}
	before, err := ReadLayout(dir)
	if err != nil {
		t.Fatal(err)
	}
	text := plantest.ReadAll(t, name)
	again, err := LayOut(p, dir, LayOutOptions{Engine: "one"})
	if err != nil || !reflect.DeepEqual(again.Layout, before) || slices.Equal(before.Estimates, l.Estimates) {
		t.Errorf("%v: %+v", err, again.Layout)
	}
	golden.Equal(t, "plan.json, laid out again", plantest.ReadAll(t, name), text)
	if again, err = LayOut(p, dir, LayOutOptions{Blocks: 6}); err != nil || again.Blocks != 6 || again.ID != l.ID {
		t.Errorf("%v: %+v", err, again.Layout)
	}
	if err := os.WriteFile(name, []byte(strings.Replace(plantest.ReadAll(t, name), `"blocks":6`, `"blocks":7`, 1)), 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := OpenLaidOut(t.Context(), dir); err == nil || !strings.Contains(err.Error(), "plan.json: damaged: its checksum is not that of its bytes; lay the run out again with gpc-tune submit") {
		t.Errorf("a damaged plan.json: %v", err)
	}
	told := ""
	if _, err := LayOut(p, dir, LayOutOptions{Blocks: 5, Engine: "one", Warn: func(format string, args ...any) { told = fmt.Sprintf(format, args...) }}); err != nil || !strings.HasSuffix(told, "; it is written again") {
		t.Errorf("laid out again: %v, told %q", err, told)
	}
	if l, err := OpenLaidOut(t.Context(), dir); err != nil || l.Blocks != 5 {
		t.Errorf("laid out again: %v", err)
	}
}

// A worker may use the memory of the plan's largest job, even if that job is done and only smaller
// ones are missing.
func TestWhatIsMissingAsksForTheMemoryOfThePlan(t *testing.T) {
	dir := t.TempDir()
	p := plantest.Planned(t, crabs30+"model: {kernel: se, likelihood: logit, inference: [laplace, base_rate]}\ntune: none\nevaluate: {kfold: {k: 3}}\n")
	l, err := LayOut(p, dir, LayOutOptions{Blocks: 4})
	if err != nil {
		t.Fatal(err)
	}
	all, err := l.Missing()
	if err != nil || all.Memory == 0 {
		t.Fatalf("%v: %+v", err, all)
	}
	for block := range l.Blocks {
		before, err := l.Missing()
		if err != nil || before.Memory != all.Memory {
			t.Errorf("%v: %d bytes for the blocks from %d on, want %d", err, before.Memory, block, all.Memory)
		}
		o := Options{Options: schedule.Options{MemoryLimit: before.Memory}, Warn: func(string, ...any) {}}
		if _, _, err := l.Work(t.Context(), Block{block, l.Blocks}, o); err != nil {
			t.Error(err)
		}
	}
}

// A worker does the jobs of its block, and returns the number of its studies that wait for other
// blocks. A worker that is stopped returns the reason.
func TestWorkersSayWhatWaits(t *testing.T) {
	p := plantest.Planned(t, crabs30+"model: {kernel: se, likelihood: probit, inference: laplace}\n"+
		"tune: {restarts: 4}\n")
	l, err := LayOut(p, t.TempDir(), LayOutOptions{Blocks: 2})
	if err != nil {
		t.Fatal(err)
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if s, _, err := l.Work(stopped, Block{0, 2}, quiet(t)); !errors.Is(err, schedule.ErrStopped) || s.Done > 0 {
		t.Errorf("stopped: %+v, error %v", s, err)
	}
	// Each block has two of the four trials, and the first has the fit after them.
	for k, c := range []struct{ block, done, waits int }{{0, 2, 1}, {1, 2, 0}, {0, 1, 0}} {
		s, waits, err := l.Work(t.Context(), Block{c.block, 2}, quiet(t))
		if err != nil || s.Done != c.done || waits != c.waits {
			t.Errorf("%d: block %d has done %d and %d wait, error %v; want %+v", k, c.block, s.Done, waits, err, c)
		}
	}
}

// Blocks take an hour if times are known; otherwise there are 16.
func TestSuggestedBlocks(t *testing.T) {
	l := LaidOut{Plan: plantest.Planned(t, crabs30+divided["grid"])}
	l.Estimates = make([]Estimate, len(l.Plan.Studies))
	l.Estimates[0] = Estimate{Trials: 7200, Later: 1800}
	for _, c := range []struct {
		measured   bool
		jobs, want int
	}{{true, 1, 3}, {true, 2, 2}, {true, 4, 1}, {false, 1, 16}, {false, 4, 16}} {
		l.Measured = c.measured
		if got := l.suggested(c.jobs); got != c.want {
			t.Errorf("%+v: %d blocks", c, got)
		}
	}
}

func TestParseBlock(t *testing.T) {
	for _, s := range []string{"", "1", "1/", "/2", "2/2", "-1/2", "0/0", "1/2/3", "a/b"} {
		if b, err := ParseBlock(s); err == nil {
			t.Errorf("%q is %v", s, b)
		}
	}
	for s, want := range map[string]Block{"1/2": {1, 2}, "0/2": {0, 2}, "0/1": {0, 1}, "7/8": {7, 8}} {
		if b, err := ParseBlock(s); err != nil || b != want || b.String() != s {
			t.Error(s, b, err)
		}
	}
}

// The size of a journal, from which workers derive the memory they request, is predicted: at most a
// tenth too small or 2.5 times too large.
func TestJournalIsAsLargeAsExpected(t *testing.T) {
	for name, text := range map[string]string{
		"grid":        crabs30 + divided["grid"],
		"ten classes": "data: {dataset: digits, subsample: 40}\nmodel: {kernel: se, likelihood: softmax, inference: [laplace, base_rate]}\ntune: none\nevaluate: {kfold: {k: 2}}\n",
		"chains":      crabs30 + "model: {kernel: {se: {amplitude: {fixed: 1}, length_scale: {prior: {log_normal: {mean: 0, sd: 2}}}}}, likelihood: logit, inference: laplace}\ntune: {method: mcmc, objective: log_posterior, restarts: 2, samples: 20, burn: 5}\n",
		"paths":       crabs30 + "model: {kernel: {se: {ard: true}}, likelihood: logit, inference: laplace}\ntune: {restarts: 4}\n",
		"numbers":     "data: {dataset: housing, subsample: 40}\nmodel: {kernel: se, likelihood: gaussian, inference: exact}\ntune: {restarts: 2}\nevaluate: {kfold: {k: 2}}\n",
	} {
		p, dir := plantest.Planned(t, text), t.TempDir()
		if _, _, err := Run(t.Context(), p, dir, Options{Warn: t.Logf}); err != nil {
			t.Fatal(err)
		}
		segments, err := filepath.Glob(filepath.Join(dir, "journal", "*.jsonl"))
		if err != nil || len(segments) != 1 {
			t.Fatal(segments, err)
		}
		info, err := os.Stat(segments[0])
		if err != nil {
			t.Fatal(err)
		}
		if ratio := float64(p.Journal()) / float64(info.Size()); !(ratio > 0.9 && ratio < 2.5) {
			t.Errorf("%s: %d bytes are expected, %d written: %.2f times as many", name, p.Journal(), info.Size(), ratio)
		}
	}
}
