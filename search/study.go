package search

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/gpc-tune/gpc-tune/internal/record"
)

// Study is the tuning of one configuration on one training set, ending in an assessment of its
// winner.
type Study struct {
	// Key is a content hash of all that determines the study's results; no two studies of a run
	// share one.
	Key           string
	Configuration int // index into Manifest.Configurations, stamped on the study's records
	Index         int // index into Configuration.Studies, likewise
	Space         Space
	Strategy      Strategy // nil: nothing to tune
	Seed          uint64
	Stage         *Stage // what it waits for; nil: it starts at once
	Shared               // what it has in common with other studies
	Memory        int64  // bytes that one of its jobs needs at most
	Less          string // what to write so that it needs fewer, and how many that is; "": nothing is known
	// Trial evaluates one proposal. What fails inside is recorded in the Trial; an error is
	// returned for cancellation, and any other is recorded as the Trial's Failure.
	Trial func(ctx context.Context, index int, p Proposal) (record.Trial, error)
	// Assess fits the classifier at the winner's theta (nil if nothing was tuned), or under a
	// Sampler at every point of the trials, and predicts the held-out cases. chosen is the winner's
	// index, or -1.
	Assess func(ctx context.Context, chosen int, theta []float64, trials []record.Trial) (record.Fit, error)
}

// Shared says what a study has in common with others of the run, so that nothing is computed twice:
// its jobs wait while another study's job is to run, or runs, of which they have the result.
type Shared struct {
	// Tuning is a content hash of all that determines a trial but its points: of the studies that
	// share it one does the trial at a point, and the others take it over, unless it has failed.
	Tuning string
	// Fitting is likewise that of the assessment.
	Fitting string
	// Twin is the Key of another study on the same cases, which asks for the same trials: Trial and
	// Assess of that one leave what those of this study come to, for them to return at once. It
	// stands for Tuning and Fitting where these are empty.
	Twin string
	// Paths says that the trials keep the paths of local optimisers. Others lose them when a trial
	// is taken over.
	Paths bool
}

// Stage is where studies wait for others. What becomes of them depends on finished results alone,
// never on when they finished, so that a run which is resumed goes the same way.
type Stage struct {
	After []int // the studies waited for, by their places in the list of studies; not empty
	// Open is called once, with the assessments of those studies, which are shared and nil where a
	// study was itself dropped. It returns the configurations that go on: the other studies that
	// wait here never run.
	Open func(fits []*record.Fit) (configurations []int)
}

// Winner finds the usable point of largest value among the trials: the index of its trial, and the
// point. Failed trials and points whose value is not finite are passed over; of equal values the
// first point of the lowest index wins. If nothing is usable the error says so, with the first
// cause.
func Winner(trials []record.Trial) (index int, best record.Point, err error) {
	index, best.Value = -1, record.Number(math.Inf(-1))
	cause := ""
	for _, t := range trials {
		if t.Failure != "" {
			cause = cmp.Or(cause, t.Failure)
			continue
		}
		for _, p := range t.Points {
			switch {
			case !usable(p):
				cause = cmp.Or(cause, p.Failure)
			case p.Value > best.Value || p.Value == best.Value && t.Index < index:
				index, best = t.Index, p
			}
		}
	}
	if index >= 0 {
		return index, best, nil
	}
	if cause != "" {
		cause = "; the first: " + cause
	}
	return -1, record.Point{}, fmt.Errorf("none of %d trials has a usable point%s", len(trials), cause)
}

// usable says whether a point has a value.
func usable(p record.Point) bool {
	return p.Failure == "" && !math.IsNaN(float64(p.Value)) && !math.IsInf(float64(p.Value), 0)
}

// value is what a trial of one point came to, -Inf if it failed.
func value(t record.Trial) float64 {
	if t.Failure != "" || len(t.Points) == 0 || !usable(t.Points[0]) {
		return math.Inf(-1)
	}
	return float64(t.Points[0].Value)
}
