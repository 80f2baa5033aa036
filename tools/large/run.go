package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/gpc-tune/gpc-tune/experiments"
	"github.com/gpc-tune/gpc-tune/internal/machine"
	"github.com/gpc-tune/gpc-tune/reports"
)

// The limits for runs that find the number of inducing inputs: the tolerance of auto, and half its
// largest number, so that the page is made in minutes.
const (
	most      = 1000
	tolerance = 0.001
)

// row is the result of one method.
type row struct {
	name    string // correction; "": exact covariance
	points  int    // inducing inputs; 0: the number that meets the tolerance
	result  reports.Configuration
	seconds float64 // processor time
	memory  int64   // bytes of the largest job, as planned
}

// compare runs all methods.
func compare(ctx context.Context, file string, points []string, runs string) (rows []row, err error) {
	add := func(name, option string, points int) {
		if err != nil {
			return
		}
		inference := "laplace"
		if option != "" {
			inference = "{laplace: {inducing: " + option + "}}"
		}
		r := row{name: name, points: points}
		dir := filepath.Join(runs, cmp.Or(name, "exact")+strconv.Itoa(points))
		path, wrong := filepath.Abs(file)
		if err = wrong; err == nil {
			err = r.run(ctx, fmt.Sprintf("{train: %q, preprocess: standardize", path), "se", "logit", inference,
				"evaluate: {hold_out: {test_size: 0.2}}\n", dir)
		}
		if err != nil {
			err = fmt.Errorf("%s: %w", inference, err)
		}
		rows = append(rows, r)
		log.Printf("%s: log evidence %.2f, %.0f s", inference, float64(r.result.LogEvidence), r.seconds)
	}
	for _, correction := range []string{"fitc", "vfe"} {
		for _, text := range points {
			m, wrong := strconv.Atoi(text)
			if wrong != nil {
				return nil, fmt.Errorf("-points: %w", wrong)
			}
			add(correction, fmt.Sprintf("{points: %d, correction: %s}", m, correction), m)
		}
		add(correction, fmt.Sprintf("{points: %d, tolerance: %v, correction: %s}", most, tolerance, correction), 0)
	}
	add("", "", 0)
	return rows, err
}

// run tunes one model on all cases, and for the scores on the cases that are not held out. The
// file seconds in the folder of the run keeps its time.
func (r *row) run(ctx context.Context, data, kernel, likelihood, inference, evaluate, dir string) error {
	p, err := experiments.Parse(ctx, "large.yaml", fmt.Appendf(nil, `version: 1
name: large
seed: 1
data: %s}
model: {kernel: %s, likelihood: %s, inference: %s}
tune: {method: bfgs, restarts: 1}
%sreport: {formats: []}
`, data, kernel, likelihood, inference, evaluate))
	if err != nil {
		return err
	}
	r.memory = p.Memory()
	took := filepath.Join(dir, "seconds")
	begun := machine.ProcessTime()
	o := experiments.Options{Resume: true}
	o.Warn = log.Printf
	report, _, err := experiments.Run(ctx, p, dir, o)
	if err != nil {
		return err
	}
	r.result = report.Configurations[0]
	text, err := os.ReadFile(took)
	if errors.Is(err, fs.ErrNotExist) {
		text = fmt.Append(nil, (machine.ProcessTime() - begun).Seconds())
		err = os.WriteFile(took, text, 0o666)
	}
	if err == nil {
		r.seconds, err = strconv.ParseFloat(string(text), 64)
	}
	return err
}

// today is the day of the runs.
func today() string { return time.Now().UTC().Format(time.DateOnly) }
