//go:build linux

package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// tuningThreads is the number of threads of each contender.
const tuningThreads = 2

// patience is the expected time, in seconds, above which a fit is left out.
const patience = 240

// sameEvidence is the largest relative difference of a peer's log evidence from gpc-tune's at the
// same hyperparameters. sameMaximum is the largest relative difference between the maxima: GPBoost
// ends where a step gains less than 1e-6 of the value, and the steps that it leaves out may come to
// a few times that.
const sameEvidence, sameMaximum = 1e-6, 1e-5

// tune compares tuned fits of one model: the program as a user starts it, and the peers' fits.
func (b *bench) tune() {
	b.say("tune", tuningThreads)
	if b.noGPBoost != "" {
		b.say("tune, no GPBoost", b.noGPBoost)
	}
	f := tunedFits{bench: b, program: b.build(), ratios: map[string][]float64{}, last: map[string]float64{}}
	lost, started := stolen(), time.Now()
	f.add(newSet("breast_cancer_complete", standardized(data.Spec{Dataset: "breast_cancer_complete"}), [2]float64{}))
	if s, ok := b.digits(); ok {
		f.add(s)
	}
	if spam, ok := b.spam(); ok {
		f.add(newSet("spam_2000", every(spam, 2000), [2]float64{}))
		f.add(newSet("spam_4601", spam, [2]float64{}))
	}
	b.table("| | | wall, least | wall, median | CPU, least | ratio of wall | log evidence | ln σ | ln l |",
		"|---|---|---:|---:|---:|---:|---:|---:|---:|", f.rows...)
	b.say("tune, how they agree", f.same, sameEvidence, f.short, sameMaximum,
		stolen()-lost, time.Since(started).Seconds())
	var peers []string
	for _, name := range []string{"GPBoost", "scikit-learn"} {
		if r := f.ratios[name]; r != nil {
			peers = append(peers, fmt.Sprintf("%s's fit alone takes %s times as long", name, span(r)))
		}
	}
	b.conclude("tune", strings.Join(peers, ", "))
}

// build makes the program and returns its path.
func (b *bench) build() string {
	program := filepath.Join(b.dir, "gpc-tune")
	build := exec.Command("go", "build", "-o", program, "./cmd/gpc-tune")
	build.Dir, build.Stderr, build.Env = filepath.Dir(scripts()), os.Stderr, append(os.Environ(), "CGO_ENABLED=0")
	must(build.Run())
	return program
}

// tunedFits holds the results of the fits so far.
type tunedFits struct {
	*bench
	program     string
	rows        []string
	ratios      map[string][]float64 // wall-clock time over gpc-tune's, by contender
	last        map[string]float64   // seconds by contender, on the previous set
	lastN       int
	same, short float64 // largest differences from gpc-tune at one point, and between maxima
}

// add lets the contenders tune on one more set. A fit is left out if its expected time exceeds
// patience: its time on the previous set, scaled by the cube of n.
func (f *tunedFits) add(s set) {
	n, d := s.x.Dims()
	begin := []float64{0, math.Log(float64(d)) / 2}
	var lo, hi []float64
	for _, p := range s.laplace(false).Layout.FreeSpecs() {
		l, h := p.ThetaBounds()
		lo, hi = append(lo, l), append(hi, h)
	}
	python, plan := f.ways[1], f.plan(s, begin)
	f.hand(python, s)
	contenders := []contender{{"`gpc-tune fit`", func() answer { return f.process(f.program, plan) }}}
	var absent []string
	theirs := func(name, op string) {
		expected := f.last[name] * math.Pow(float64(n)/float64(f.lastN), 3)
		if expected > patience {
			absent = append(absent, fmt.Sprintf("| | %s | left out: about %.0f s | | | | | | |", name, expected))
			return
		}
		contenders = append(contenders, contender{name, func() answer {
			a := python.do("%s set=%s theta=%s lo=%s hi=%s threads=%d", op, s.name,
				sklearnTheta(begin), sklearnTheta(lo), sklearnTheta(hi), tuningThreads)
			a.Out[0] /= 2
			return a
		}})
	}
	if f.noGPBoost == "" {
		theirs("GPBoost", "tune_gpboost")
	}
	theirs("scikit-learn", "tune")
	rounds := f.rounds
	switch {
	case n > 3000:
		rounds = 1
	case n > 1000:
		rounds = min(2, rounds)
	}
	all := race(rounds, contenders...)
	best := all[0].first()
	f.last, f.lastN = map[string]float64{}, n
	for i, t := range all {
		a, label := t.first(), ""
		if i == 0 {
			label = fmt.Sprintf("%s, n = %d, %d inputs", s.name, n, d)
		} else {
			there := s.evidenceAt(a.Out)
			close := func(what string, v, w, tolerance float64) float64 {
				return agree(s.name+", "+t.name+", "+what, []float64{v}, []float64{w}, tolerance)
			}
			f.same = max(f.same, close("where it ended", a.Value, there, sameEvidence))
			f.short = max(f.short, close("maxima", there, best.Value, sameMaximum))
			f.ratios[t.name] = append(f.ratios[t.name], t.least(wallOf)/all[0].least(wallOf))
		}
		f.last[t.name] = t.least(wallOf)
		f.rows = append(f.rows, fmt.Sprintf("| %s | %s | %s | %s | %s | %.3g | %.6f | %.4f | %.4f |", label, t.name,
			seconds(t.least(wallOf)), seconds(t.median(wallOf)), seconds(t.least(cpuOf)),
			t.least(wallOf)/all[0].least(wallOf), a.Value, a.Out[0], a.Out[1]))
	}
	f.rows = append(f.rows, absent...)
}

// evidenceAt is gpc-tune's log evidence, from a cold start.
func (s set) evidenceAt(free []float64) float64 {
	linalg.SetThreads(tuningThreads)
	defer linalg.SetThreads(1)
	return got(s.laplace(false).At(context.Background(), free)).Value()
}

// plan writes the set and an experiment that tunes on it from begin, and returns its path.
func (b *bench) plan(s set, begin []float64) string {
	rows := filepath.Join(b.dir, s.name+".csv")
	file := got(os.Create(rows))
	w := bufio.NewWriter(file)
	n, d := s.x.Dims()
	for j := range d {
		fmt.Fprintf(w, "x%d,", j)
	}
	fmt.Fprintln(w, "label")
	for i := range n {
		for _, v := range s.x.RawRowView(i) {
			w.WriteString(strconv.FormatFloat(v, 'g', -1, 64) + ",")
		}
		fmt.Fprintln(w, map[float64]string{-1: "minus", 1: "plus"}[s.y.Value[i]])
	}
	must(w.Flush())
	must(file.Close())
	path := filepath.Join(b.dir, s.name+".yaml")
	must(os.WriteFile(path, fmt.Appendf(nil, `
version: 1
name: fit
seed: 1
data: {train: %q}
model:
  kernel: {se: {amplitude: {init: %g}, length_scale: {init: %g}}}
  likelihood: logit
  inference: laplace
tune: {method: bfgs}
`, rows, math.Exp(begin[0]), math.Exp(begin[1])), 0o600))
	return path
}

// process runs the program until its model file, model.json, is there.
func (b *bench) process(program, plan string) answer {
	model := filepath.Join(b.dir, "model.json")
	fit := exec.Command(program, "fit", plan, "-m", model, "-j", strconv.Itoa(tuningThreads))
	started := time.Now()
	if said, err := fit.CombinedOutput(); err != nil {
		must(fmt.Errorf("%w: %s", err, said))
	}
	a := answer{Wall: time.Since(started).Seconds()}
	a.CPU = (fit.ProcessState.UserTime() + fit.ProcessState.SystemTime()).Seconds()
	a.Bytes = 1024 * float64(fit.ProcessState.SysUsage().(*syscall.Rusage).Maxrss) // peak of the whole process
	var found struct {
		Evidence float64 `json:"log_evidence"`
		Theta    struct {
			Amplitude   float64 `json:"log_amplitude"`
			LengthScale float64 `json:"log_length_scale"`
		}
	}
	must(json.Unmarshal(got(os.ReadFile(model)), &found))
	a.Value, a.Out = found.Evidence, []float64{found.Theta.Amplitude, found.Theta.LengthScale}
	return a
}
