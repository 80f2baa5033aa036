package schedule

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gonum.org/v1/gonum/stat"
	"gonum.org/v1/gonum/stat/distuv"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/record"
)

// field is a made-up cross-validation: the scores of the folds of each configuration, and how long
// a fold takes.
type field struct {
	scores [][]float64
	takes  []time.Duration
}

// draw draws a field of n configurations over k folds. The skills of configurations have the
// standard deviation 1. The scores of a fold deviate from them by this noise, and by as much again
// in common.
func draw(rng *rand.Rand, n, k int, noise float64) (f field) {
	common := make([]float64, k)
	for i := range common {
		common[i] = noise * rng.NormFloat64()
	}
	for range n {
		skill := rng.NormFloat64()
		var scores []float64
		for i := range k {
			scores = append(scores, skill+common[i]+noise*rng.NormFloat64())
		}
		f.scores = append(f.scores, scores)
		f.takes = append(f.takes, time.Duration(1e9*math.Exp(rng.NormFloat64())))
	}
	return f
}

// mean is the score of a configuration on some folds.
func (f field) mean(k int, folds []int) (mean float64) {
	for _, i := range folds {
		mean += f.scores[k][i] / float64(len(folds))
	}
	return mean
}

// rank compares the configurations on the folds that they have.
func (f field) rank(fits [][]*record.Fit) []int {
	done := make([][]bool, len(fits))
	for k, row := range fits {
		for _, fit := range row {
			done[k] = append(done[k], fit != nil)
		}
	}
	return cv.Ahead(done, f.mean)
}

// studies makes the studies of the field. The first study of each configuration, on all data,
// decides nothing.
func (f field) studies(ordered bool) (all []Study) {
	folds := len(f.scores[0])
	ladder := &Ladder{Rungs: folds, Rank: f.rank}
	for k, takes := range f.takes {
		for i := range folds + 1 {
			s := Study{Key: fmt.Sprintf("study %d of %d", i, k), Configuration: k, Index: i}
			if ordered {
				s.Turn = Turn{ladder, (i + folds) % (folds + 1), takes.Seconds()}
			}
			s.Assess = func(ctx context.Context, _ int, _ []float64, _ []record.Trial) (record.Fit, error) {
				select {
				case <-time.After(takes):
				case <-ctx.Done():
				}
				return record.Fit{}, ctx.Err()
			}
			all = append(all, s)
		}
	}
	return all
}

// leader runs a field for a fraction of its time, and returns the configuration that is then ahead;
// -1: none.
func (f field) leader(t *testing.T, share float64, workers int, ordered bool) (best int) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		var all time.Duration
		for _, takes := range f.takes {
			all += time.Duration(len(f.scores[0])+1) * takes
		}
		j := mustOpen(t, "")
		_, err := Run(context.Background(), f.studies(ordered), j, Options{Workers: workers,
			Timeout: time.Duration(share * float64(all) / float64(workers))})
		if err != nil && !errors.Is(err, ErrStopped) {
			t.Fatal(err)
		}
		fits := make([][]*record.Fit, len(f.takes))
		for k := range fits {
			fits[k] = make([]*record.Fit, len(f.scores[0]))
		}
		best = -1
		for _, line := range j.Lines() {
			if line.Fit.Study > 0 {
				fits[line.Fit.Configuration][line.Fit.Study-1] = line.Fit
				best = 0
			}
		}
		if best == 0 {
			best = f.rank(fits)[0]
		}
	})
	return best
}

// equal reports whether a configuration of eight may be the best on all ten folds, by Student's t
// with simultaneous two-sided intervals of 95 % for the seven others.
func (f field) equal(k int) bool {
	quantile := distuv.StudentsT{Sigma: 1, Nu: 9}.Quantile(1 - 0.05/2/7)
	best := f.rank(finished(len(f.scores), len(f.scores[0])))[0]
	var differences []float64
	for i, score := range f.scores[best] {
		differences = append(differences, score-f.scores[k][i])
	}
	mean, sd := stat.MeanStdDev(differences, nil)
	return mean <= quantile*sd/math.Sqrt(float64(len(differences)))
}

// A run that is stopped after a tenth of its time has the best of eight configurations ahead, or
// one that is as good within noise, in nine of ten cross-validations. Studies that start in the
// order of the plan have the first one ahead. The noise is as large as in the bundled thyroid,
// ionosphere and crabs data, in standard deviations of the skills.
func TestATenthOfTheTime(t *testing.T) {
	const fields = 100
	for _, noise := range []float64{0.6, 2, 2.6} {
		for _, workers := range []int{1, 4} {
			found := map[bool]int{}
			for seed := range fields {
				f := draw(rand.New(rand.NewPCG(1, uint64(seed))), 8, 10, noise)
				for _, ordered := range []bool{false, true} {
					if k := f.leader(t, 0.1, workers, ordered); k >= 0 && f.equal(k) {
						found[ordered]++
					}
				}
			}
			t.Logf("noise %v, %d workers: %d of %d, and %d in the order of the plan", noise, workers, found[true], fields, found[false])
			if found[true] < fields*9/10 || found[false] >= found[true] {
				t.Error("the best is ahead too rarely, or as often in the order of the plan")
			}
		}
	}
}

// The longer a run goes on, the more often the best is ahead; at the end it always is.
func TestAheadInTheEnd(t *testing.T) {
	for seed := range 20 {
		f := draw(rand.New(rand.NewPCG(2, uint64(seed))), 6, 5, 1)
		if k := f.leader(t, 1.01, 1, true); k != f.rank(finished(6, 5))[0] {
			t.Errorf("field %d: #%d is ahead", seed, k)
		}
	}
}

// finished has a fit of each fold.
func finished(n, k int) [][]*record.Fit {
	fits := make([][]*record.Fit, n)
	for i := range fits {
		fits[i] = slices.Repeat([]*record.Fit{{}}, k)
	}
	return fits
}

// The cheapest first rung starts first. Then the best goes ahead, and the one of rank r has the
// r-th part of its rungs. Studies that do not decide come last.
func TestTurns(t *testing.T) {
	f := field{[][]float64{{1, 1, 1, 1}, {3, 3, 3, 3}, {2, 2, 2, 2}}, []time.Duration{3e9, 2e9, 1e9}}
	studies := f.studies(true)
	var got []string
	for i := range studies {
		s := &studies[i]
		assess := s.Assess
		s.Assess = func(ctx context.Context, k int, theta []float64, trials []record.Trial) (record.Fit, error) {
			got = append(got, fmt.Sprintf("%d%d", s.Configuration, s.Rung))
			return assess(ctx, k, theta, trials)
		}
	}
	synctest.Test(t, func(t *testing.T) { mustRun(t, studies, mustOpen(t, ""), Options{Workers: 1}) })
	// of configuration and rung
	if want := strings.Fields("20 10 00 11 21 12 13 01 22 14 23 02 24 03 04"); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
