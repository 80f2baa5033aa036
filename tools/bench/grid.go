//go:build linux

package main

import (
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"strings"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/cv"
)

// axis has logarithms from lo on in steps of a quarter, or every stride-th of them.
func axis(lo float64, points, stride int) (v []float64) {
	for i := 0; i < points; i += stride {
		v = append(v, lo+float64(i)/4)
	}
	return v
}

// scored holds the scores of a contender at one point of the grid.
type scored struct{ evidence, bits, errors float64 }

func naturals(logs []float64) string {
	v := make([]float64, len(logs))
	for i, l := range logs {
		v[i] = math.Exp(l)
	}
	return list(v)
}

// comparison is a method on the grid, the peer's operation, and the largest differences allowed
// between them.
type comparison struct {
	title, likelihood, inference, op string
	tolerance                        scored
}

var comparisons = []comparison{
	{"Laplace, logistic likelihood, against scikit-learn's fit and predict_proba", "logit", "laplace", "laplace",
		scored{evidence: 1e-6, bits: 2e-3}},
	{"EP, probit likelihood, against parallel EP in numpy to the same tolerance", "probit", "ep", "ep_parallel",
		scored{evidence: 1e-7, bits: 1e-6}},
}

// grid runs gallery:usps_3v5_grid, with every b.stride-th point of each axis.
func (b *bench) grid() {
	b.say("grid")
	s, ok := b.digits()
	if !ok {
		return
	}
	lengths, amplitudes := axis(1.6, 17, b.stride), axis(0.1, 23, b.stride)
	var points [][]float64 // amplitude, length scale
	for _, l := range lengths {
		for _, a := range amplitudes {
			points = append(points, []float64{a, l})
		}
	}
	b.say("grid, its points", len(lengths), len(amplitudes))
	second := start(b.ways[1].name, []string{"OPENBLAS_CORETYPE=" + b.ways[1].name}, b.ways[1].process.Args...)
	defer second.stop()
	b.hand(second, s)
	var ratios []float64
	for _, c := range comparisons {
		text := fmt.Sprintf(`
version: 1
name: grid
seed: 1
data: {train: %q, test: %q}
model: {kernel: se, likelihood: %s, inference: %s}
tune: {method: grid, grid: {length_scale: {values: [%s]}, amplitude: {values: [%s]}}}
evaluate: test
`, got(filepath.Abs(b.train)), got(filepath.Abs(b.test)), c.likelihood, c.inference,
			naturals(lengths), naturals(amplitudes))
		ratios = append(ratios, b.onGrid(c, s, text, second, points))
	}
	b.conclude("grid", span(ratios))
}

// onGrid compares one method and returns the ratio of wall-clock times. A few points decide which
// way of running the peer is the fastest. Only that way runs all points.
func (b *bench) onGrid(c comparison, s set, text string, second *peer, points [][]float64) (ratio float64) {
	ways := []struct {
		name    string
		peers   []*peer
		threads int
	}{
		{b.ways[1].name + ", 2 processes of 1 thread", []*peer{b.ways[1], second}, 1},
		{b.ways[1].name + ", 1 process of 2 threads", b.ways[1:], 2},
		{b.ways[0].name + ", 1 process of 2 threads", b.ways[:1], 2},
	}
	request := c.op + " set=" + s.name
	if c.op == "ep_parallel" {
		request += fmt.Sprintf(" tolerance=%g", tolerance)
		ways = ways[:2] // the third takes minutes
	}
	var ours, theirs []scored
	share := func(points [][]float64) (all []contender) {
		for _, way := range ways {
			all = append(all, contender{way.name, func() (a answer) {
				theirs, a = s.share(points, way.peers, fmt.Sprintf("%s threads=%d", request, way.threads))
				return a
			}})
		}
		return all
	}
	var few [][]float64
	for i := range 6 {
		few = append(few, points[(2*i+1)*len(points)/12])
	}
	trial := race(1, share(few)...)
	best, tried := 0, make([]string, len(trial))
	for i, t := range trial {
		tried[i] = fmt.Sprintf("%s, %s", t.name, seconds(t.least(wallOf)/float64(len(few))))
		if t.least(wallOf) < trial[best].least(wallOf) {
			best = i
		}
	}
	all := race(1, contender{"gpc-tune, 2 workers", here(func() answer {
		ours = b.scoresOf(text)
		return answer{}
	})}, share(points)[best])
	var worst scored
	for i, p := range theirs {
		worst.evidence = max(worst.evidence, math.Abs(p.evidence-ours[i].evidence)/max(1, math.Abs(ours[i].evidence)))
		worst.bits = max(worst.bits, math.Abs(p.bits-ours[i].bits))
		worst.errors = max(worst.errors, math.Abs(p.errors-ours[i].errors))
	}
	b.say("grid, one method", c.title, worst.evidence, c.tolerance.evidence, worst.bits, c.tolerance.bits, worst.errors,
		len(few), strings.Join(tried, "; "))
	if !(worst.evidence <= c.tolerance.evidence && worst.bits <= c.tolerance.bits) {
		must(fmt.Errorf("%s: results differ: %+v", c.title, worst))
	}
	b.times(all, column{"ratio of wall", func(t timing) string {
		return fmt.Sprintf("%.3g", t.least(wallOf)/all[0].least(wallOf))
	}})
	return all[1].least(wallOf) / all[0].least(wallOf)
}

// scoresOf runs the plan and returns what it says of its points.
func (b *bench) scoresOf(text string) (ours []scored) {
	for _, l := range b.runPlan(text, 2) {
		if l.Trial == nil {
			continue
		}
		for _, p := range l.Trial.Points {
			if !p.Failure.IsZero() {
				must(p.Failure)
			}
			bits, errors := float64(p.Scores["information_bits"]), float64(p.Scores["errors"])
			ours = append(ours, scored{float64(p.Value), bits, errors})
		}
	}
	return ours
}

// share divides the points of the grid among peers. The answer has the sum of the peers' processor
// times, and the wall-clock time from the first request to the last answer.
func (s set) share(points [][]float64, peers []*peer, request string) ([]scored, answer) {
	answers, errs, started := make([]answer, len(points)), make([]error, len(peers)), time.Now()
	done := make(chan struct{})
	for k, p := range peers {
		go func() {
			for i := k; i < len(points) && errs[k] == nil; i += len(peers) {
				errs[k] = p.ask(&answers[i], "%s theta=%s", request, sklearnTheta(points[i]))
			}
			done <- struct{}{}
		}()
	}
	for range peers {
		<-done
	}
	total := answer{Wall: time.Since(started).Seconds()}
	must(errors.Join(errs...))
	scores := make([]scored, len(points))
	for i, a := range answers {
		if a.Error != "" {
			must(errors.New(a.Error))
		}
		total.CPU += a.CPU
		scores[i] = s.score(a)
	}
	return scores, total
}

// score takes the scores of a peer's probabilities as gpc-tune does.
func (s set) score(a answer) scored {
	proba := mat.NewDense(len(a.Out), 2, nil)
	cases, counts := make([]int, len(a.Out)), make([]int, 2)
	for i, p := range a.Out {
		cases[i] = i
		proba.SetRow(i, []float64{1 - p, p})
	}
	for _, y := range s.y.Value {
		counts[int(y+1)/2]++
	}
	point := scored{evidence: a.Value}
	results, _, _ := cv.Evaluate(got(cv.NewPredictions(cases, s.labels, proba, counts)))
	for _, r := range results {
		switch r.Name {
		case "information_bits":
			point.bits = r.Value
		case "errors":
			point.errors = r.Value
		}
	}
	return point
}
