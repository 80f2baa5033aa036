package reports

import (
	"fmt"
	"io"

	"github.com/gpc-tune/gpc-tune/record"
)

// Timings are the wall times of the jobs of a run, in seconds. A job that several workers ran
// counts every time. They are not part of the Report, because equal runs take different times.
type Timings struct {
	Schema         string                 `json:"schema"` // "gpc-tune/timings/1"
	Experiment     string                 `json:"experiment"`
	Build          record.Build           `json:"build"`
	Jobs           int                    `json:"jobs"`
	Seconds        float64                `json:"seconds"` // sum over all jobs
	Configurations []ConfigurationTimings `json:"configurations"`
}

// ConfigurationTimings are the times of one configuration.
type ConfigurationTimings struct {
	Dataset    string           `json:"dataset"`
	Kernel     record.Component `json:"kernel"`
	Likelihood record.Component `json:"likelihood"`
	Inference  record.Component `json:"inference"`
	Seconds    float64          `json:"seconds"`
	Studies    []StudyTimings   `json:"studies"`
}

// StudyTimings are the times of one study: the trials, in their order, and the final fits.
type StudyTimings struct {
	Evaluation string    `json:"evaluation"`
	Repeat     int       `json:"repeat"`
	Fold       int       `json:"fold"`
	Trials     []float64 `json:"trials"`
	Fits       []float64 `json:"fits"`
}

// BuildTimings collects the times of a run from its manifest and the lines of its journal.
func BuildTimings(m record.Manifest, lines []record.Line) (*Timings, error) {
	if _, _, err := arrange(m, lines); err != nil {
		return nil, err
	}
	lines, err := ordered(lines)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	t := &Timings{Schema: "gpc-tune/timings/1", Experiment: m.Experiment, Build: m.Build, Jobs: len(lines),
		Configurations: []ConfigurationTimings{}}
	for _, c := range m.Configurations {
		ct := ConfigurationTimings{Dataset: c.Dataset, Kernel: c.Kernel, Likelihood: c.Likelihood,
			Inference: c.Inference}
		for _, s := range c.Studies {
			ct.Studies = append(ct.Studies, StudyTimings{s.Evaluation, s.Repeat, s.Fold, []float64{}, []float64{}})
		}
		t.Configurations = append(t.Configurations, ct)
	}
	for _, line := range lines {
		at := placeOf(line)
		c := &t.Configurations[at.configuration]
		s := &c.Studies[at.study]
		if line.Trial != nil {
			s.Trials = append(s.Trials, line.Seconds)
		} else {
			s.Fits = append(s.Fits, line.Seconds)
		}
		c.Seconds += line.Seconds
		t.Seconds += line.Seconds
	}
	return t, nil
}

// WriteJSON writes timings.json.
func (t *Timings) WriteJSON(w io.Writer) error { return WriteJSON(w, t) }
