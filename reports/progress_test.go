package reports_test

import (
	"bytes"
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

func progress(t *testing.T, m record.Manifest, lines []record.Line) *reports.Progress {
	t.Helper()
	p, err := reports.BuildProgress(m, lines)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// Trials of configuration 2 take 2 s and its last fit 8 s; all other jobs take 1 s. Of its three
// studies the first two have their fit, the third only trial 1.
func TestProgress(t *testing.T) {
	m, lines := reporttest.Run(t)
	m.Configurations[2].Studies[2].Jobs = 4 // three trials and the fit: trial 1 is there
	var of2 []record.Line
	for i := range lines {
		lines[i].Seconds = 1
		trial, fit := lines[i].Trial, lines[i].Fit
		if trial != nil && trial.Configuration == 2 {
			lines[i].Seconds = 2
			of2 = append(of2, lines[i])
		} else if fit != nil && fit.Configuration == 2 {
			lines[i].Seconds = 8
			of2 = append(of2, lines[i])
		}
	}
	lines = append(lines, lines[0]) // a job done by two processes counts once
	lines[len(lines)-1].Seconds = 100
	p := progress(t, m, lines)
	c := p.Configurations[2]
	if c.Done != len(of2) || c.Known != len(of2)+3 || c.Failed != 0 || c.Left != 2*2+8 {
		t.Errorf("%+v; want %d done, 3 more known, 12 s left", c, len(of2))
	}
	if p.Finished || p.Known-p.Done != 3 || p.Left != 12 || p.Done != len(lines)-1 {
		t.Errorf("%+v", p)
	}
	if want := float64(p.Done) / p.Seconds; math.Abs(float64(p.Rate)-want) > 1e-15*want {
		t.Errorf("rate %v, want %v", p.Rate, want)
	}
	// A trial that panicked, a point of a row that failed, a fit that failed.
	for i, want := range []struct {
		failed, failures int
		first            string
	}{{1, 1, "test trial 2: panic: oh"}, {0, 1, "train trial 1 at log_length_scale=3: EP did not converge"}, {}, {1, 1, "test: covariance is not positive definite"}} {
		if c := p.Configurations[i]; c.Failed != want.failed || c.Failures != want.failures || c.FirstFailure != want.first {
			t.Errorf("configuration %d: %+v, want %+v", i, c, want)
		}
	}
	if m.Configurations[2].Studies[2].AtMost = true; p.AtMost || !progress(t, m, lines).AtMost {
		t.Error("an upper limit is not said to be one, or what is none is")
	}
	// The number of jobs planned for a finished study no longer counts.
	m.Configurations[2].Studies[2].AtMost = false
	m.Configurations[1].Studies[0].Jobs, m.Configurations[1].Studies[0].AtMost = 1000, true
	if again := progress(t, m, lines); again.Known != p.Known || again.AtMost {
		t.Errorf("%d known jobs, want %d", again.Known, p.Known)
	}
}

func TestProgressBeforeTheFirstJob(t *testing.T) {
	m, _ := reporttest.Run(t)
	p := progress(t, m, nil)
	var text bytes.Buffer
	for _, f := range table.ProgressForms {
		if err := f.Render(&text, p); err != nil {
			t.Fatal(err)
		}
	}
	if p.Done != 0 || p.Known != 8 || strings.Contains(text.String(), "NaN") || !strings.Contains(text.String(), `"left": null`) {
		t.Errorf("%s", text.String())
	}
	if _, err := json.Marshal(p); err != nil {
		t.Error(err)
	}
	if _, err := reports.BuildProgress(m, []record.Line{{Key: "x"}}); err == nil {
		t.Error("an empty line is no error")
	}
}
