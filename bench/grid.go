//go:build linux

package main

import (
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/journal"
	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/objective/param"
	"github.com/gpc-tune/gpc-tune/search"
)

// axis is the logarithms from lo on, a quarter apart, or every stride-th of them.
func axis(lo float64, points, stride int) (v []float64) {
	for i := 0; i < points; i += stride {
		v = append(v, lo+float64(i)/4)
	}
	return v
}

// scored is what a contender says of a point of the grid.
type scored struct{ evidence, bits, errors float64 }

// runPlan runs an experiment in a folder of its own and returns its journal.
func (b *bench) runPlan(text string, workers int) ([]record.Line, error) {
	spec, err := spec.Parse("bench.yaml", []byte(text), nil)
	if err != nil {
		return nil, err
	}
	plan, err := plan.New(context.Background(), spec)
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp(b.dir, "run")
	if err != nil {
		return nil, err
	}
	o := run.Options{Warn: func(string, ...any) {}, Options: search.Options{Workers: workers}}
	if _, _, err := run.Run(context.Background(), plan, filepath.Join(dir, "run"), o); err != nil {
		return nil, err
	}
	journal, err := journal.Open(filepath.Join(dir, "run"), journal.Options{Plan: plan.Manifest.Key})
	if err != nil {
		return nil, err
	}
	return journal.Lines(), nil
}

func naturals(theta []float64) string {
	words := make([]string, len(theta))
	for i, t := range theta {
		words[i] = fmt.Sprintf("%.17g", math.Exp(t))
	}
	return strings.Join(words, ", ")
}

// grid runs gallery:usps_3v5_grid, or every so many points of each axis. A few points tell which way of running the peer is the
// fastest, and only that runs all of them.
func (b *bench) grid() error {
	b.printf("## A grid with test scores, two cores\n\n")
	s, ok := b.digits()
	if !ok {
		return nil
	}
	lengths, amplitudes := axis(1.6, 17, b.stride), axis(0.1, 23, b.stride)
	var points [][]float64 // amplitude, length scale
	for _, l := range lengths {
		for _, a := range amplitudes {
			points = append(points, []float64{a, l})
		}
	}
	b.printf("usps_3v5: %d × %d points of the 17 × 23 of `gallery:usps_3v5_grid`; log evidence, and the probabilities of 773 test cases with all scores. gpc-tune runs the plan with its journal on disk.\n\n",
		len(lengths), len(amplitudes))
	for _, c := range []struct {
		title, likelihood, inference, op string
		evidence, bits                   float64 // tolerances
	}{
		{"Laplace, logistic likelihood, against scikit-learn's fit and predict_proba", "logit", "laplace", "laplace", 1e-6, 2e-3},
		{"EP, probit likelihood, against parallel EP in numpy to the same tolerance", "probit", "ep", "ep_parallel", 1e-7, 1e-6},
	} {
		text := fmt.Sprintf(`
version: 1
name: grid
seed: 1
data: {train: %q, test: %q}
model: {kernel: se, likelihood: %s, inference: %s}
tune: {method: grid, grid: {length_scale: {values: [%s]}, amplitude: {values: [%s]}}}
evaluate: test
`, absolute(b.train), absolute(b.test), c.likelihood, c.inference, naturals(lengths), naturals(amplitudes))
		var ours []scored
		contenders := []contender{{"gpc-tune, 2 workers", here(func() (answer, error) {
			lines, err := b.runPlan(text, 2)
			ours = ours[:0]
			for _, l := range lines {
				if l.Trial == nil {
					continue
				}
				for _, p := range l.Trial.Points {
					if p.Failure != "" {
						return answer{}, fmt.Errorf("%s", p.Failure)
					}
					ours = append(ours, scored{float64(p.Value), float64(p.Scores["information_bits"]), float64(p.Scores["errors"])})
				}
			}
			return answer{}, err
		})}}
		second, err := start(b.ways[1].name, []string{"OPENBLAS_CORETYPE=" + b.ways[1].name}, b.ways[1].process.Args...)
		if err != nil {
			return err
		}
		defer second.stop()
		if err := b.hand(second, s); err != nil {
			return err
		}
		ways := []struct {
			name    string
			peers   []*peer
			threads int
		}{
			{b.ways[1].name + ", 2 processes of 1 thread", []*peer{b.ways[1], second}, 1},
			{b.ways[1].name + ", 1 process of 2 threads", b.ways[1:], 2},
			{b.ways[0].name + ", 1 process of 2 threads", b.ways[:1], 2},
		}
		if c.op == "ep_parallel" {
			ways = ways[:2] // the other takes minutes
		}
		var theirs []scored
		share := func(points [][]float64) (all []contender) {
			for _, way := range ways {
				all = append(all, contender{way.name, func() (a answer, err error) {
					theirs, a, err = b.points(s, c.op, way.peers, way.threads, points)
					return a, err
				}})
			}
			return all
		}
		var few [][]float64
		for i := range 6 {
			few = append(few, points[(2*i+1)*len(points)/12])
		}
		trial, err := race(1, share(few)...)
		if err != nil {
			return err
		}
		best := 0
		tried := make([]string, len(trial))
		for i, t := range trial {
			tried[i] = fmt.Sprintf("%s, %s", t.name, seconds(t.least(wallOf)/float64(len(few))))
			if t.least(wallOf) < trial[best].least(wallOf) {
				best = i
			}
		}
		all, err := race(1, append(contenders, share(points)[best])...)
		if err != nil {
			return err
		}
		var worst scored
		for i, p := range theirs {
			worst.evidence = max(worst.evidence, math.Abs(p.evidence-ours[i].evidence)/max(1, math.Abs(ours[i].evidence)))
			worst.bits = max(worst.bits, math.Abs(p.bits-ours[i].bits))
			worst.errors = max(worst.errors, math.Abs(p.errors-ours[i].errors))
		}
		b.printf("%s. Differences at most: log evidence %.1e, relative (allowed: %.0e), test information %.1e bits (allowed: %.0e), errors %g. The peer ran in the way that was the fastest on %d of the points (wall-clock time of one: %s).\n\n", c.title, worst.evidence, c.evidence, worst.bits, c.bits, worst.errors, len(few), strings.Join(tried, "; "))
		if !(worst.evidence <= c.evidence && worst.bits <= c.bits) {
			return fmt.Errorf("%s: results differ: %+v", c.title, worst)
		}
		b.times(all, func(t timing) string { return fmt.Sprintf(" %.3g |", t.least(wallOf)/all[0].least(wallOf)) }, " ratio of wall |")
	}
	return nil
}

func absolute(path string) string {
	if full, err := filepath.Abs(path); err == nil {
		return full
	}
	return path
}

// points has peers share the points of the grid. Processor time is the sum of theirs, wall-clock time that of all of it.
func (b *bench) points(s set, op string, peers []*peer, threads int, points [][]float64) ([]scored, answer, error) {
	n := len(points)
	scores, errs, cpu := make([]scored, n), make([]error, len(peers)), make([]float64, len(peers))
	started := time.Now()
	done := make(chan int)
	for k, p := range peers {
		go func() {
			for i := k; i < n && errs[k] == nil; i += len(peers) {
				var a answer
				if a, errs[k] = p.do("%s set=%s theta=%s threads=%d%s", op, s.name, sklearnTheta(points[i]), threads, map[bool]string{true: fmt.Sprintf(" tolerance=%g", tolerance)}[op == "ep_parallel"]); errs[k] == nil {
					cpu[k] += a.CPU
					scores[i], errs[k] = s.score(a)
				}
			}
			done <- k
		}()
	}
	for range peers {
		<-done
	}
	a := answer{Wall: time.Since(started).Seconds()}
	for k := range peers {
		a.CPU += cpu[k]
		if errs[k] != nil {
			return nil, a, errs[k]
		}
	}
	return scores, a, nil
}

// score takes the scores of a peer's probabilities as gpc-tune does.
func (s set) score(a answer) (scored, error) {
	proba := mat.NewDense(len(a.Out), 2, nil)
	cases, counts := make([]int, len(a.Out)), make([]int, 2)
	for i, p := range a.Out {
		cases[i] = i
		proba.SetRow(i, []float64{1 - p, p})
	}
	for _, y := range s.y.Value {
		counts[int(y+1)/2]++
	}
	predictions, err := cv.NewPredictions(cases, s.labels, proba, counts)
	if err != nil {
		return scored{}, err
	}
	point := scored{evidence: a.Value}
	results, _ := cv.Evaluate(predictions)
	for _, r := range results {
		switch r.Name {
		case "information_bits":
			point.bits = r.Value
		case "errors":
			point.errors = r.Value
		}
	}
	return point, nil
}

// schedule measures what the scheduler adds to its jobs, and how much two workers help.
func (b *bench) schedule() error {
	const jobs = 2000
	study := search.Study{
		Key: "trivial", Space: search.Space{{Name: "amplitude", Map: param.Identity, Lo: 0, Hi: jobs}, {Name: "x", Map: param.Identity, Lo: 0, Hi: jobs, Init: 1}},
		Strategy: search.Grid{Axes: map[string]search.Axis{"x": {Linear: &[2]float64{1, jobs}, Points: jobs}, "amplitude": {Values: []float64{1}}}},
		Trial: func(_ context.Context, _ int, p search.Proposal) (record.Trial, error) {
			return record.Trial{Status: "evaluated", Points: []record.Point{{Theta: record.Numbers(p.Points[0]), Natural: record.Numbers(p.Points[0]), Value: 1}}}, nil
		},
		Assess: func(context.Context, int, []float64, []record.Trial) (record.Fit, error) { return record.Fit{}, nil },
	}
	var contenders []contender
	for _, dir := range []string{"", filepath.Join(b.dir, "journal")} {
		name := "journal in memory"
		if dir != "" {
			name = "journal on disk"
		}
		contenders = append(contenders, contender{name, here(func() (answer, error) {
			if dir != "" {
				if err := os.MkdirAll(dir, 0o777); err != nil {
					return answer{}, err
				}
				defer os.RemoveAll(dir)
			}
			journal, err := journal.Open(dir, journal.Options{})
			if err != nil {
				return answer{}, err
			}
			defer journal.Close()
			summary, err := search.Run(context.Background(), []search.Study{study}, journal, search.Options{Workers: 2})
			return answer{Evaluations: summary.Done}, err
		})})
	}
	trivial, err := race(3, contenders...)
	if err != nil {
		return err
	}
	b.printf("## Scheduling\n\n%d jobs that do nothing, two workers; for each job:\n\n", jobs)
	for i, t := range trivial {
		for j := range t.turns {
			trivial[i].turns[j].CPU /= jobs
			trivial[i].turns[j].Wall /= jobs
		}
	}
	b.times(trivial, none, "")

	const text = `
version: 1
name: workers
seed: 1
data: {dataset: ionosphere, preprocess: standardize}
model: {kernel: se, likelihood: logit, inference: laplace}
tune: {method: grid, grid: {length_scale: {log: [0, 4], points: 24}, amplitude: {log: [0, 1.5], points: 16}}}
`
	sweep := func(workers int) func() (answer, error) {
		return here(func() (answer, error) {
			defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(workers)) // one core is one for the garbage collector too
			lines, err := b.runPlan(text, workers)
			return answer{Evaluations: len(lines)}, err
		})
	}
	all, err := race(3, contender{"1 core", sweep(1)}, contender{"2 cores", sweep(2)})
	if err != nil {
		return err
	}
	b.printf("A sweep of %d jobs, Laplace on the ionosphere data: two workers on two cores are %.2f times as fast as one worker on one (GOMAXPROCS=1, so that its garbage collector has no other core) by wall-clock time, which needs an otherwise idle machine, and take %.3f times its processor time.\n\n",
		all[0].first().Evaluations, all[0].least(wallOf)/all[1].least(wallOf), all[1].least(cpuOf)/all[0].least(cpuOf))
	b.times(all, none, "")
	return nil
}
