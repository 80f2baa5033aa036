package reports

import (
	"fmt"

	"github.com/gpc-tune/gpc-tune/record"
)

// Shown is a complete part of a Report.
type Shown struct {
	Schema         string                `json:"schema"` // "gpc-tune/show/1"
	Experiment     string                `json:"experiment"`
	Configurations []ShownConfiguration  `json:"configurations"`
	Nested         []Nested              `json:"nested,omitempty"` // with all configurations
	Races          []Race                `json:"races,omitempty"`
	Illustrations  []record.Illustration `json:"illustrations,omitempty"`
	Run            *Report               `json:"-"` // if all of it is shown
}

// ShownConfiguration is a configuration, its index in the Report, and the requested trials.
type ShownConfiguration struct {
	Number int `json:"number"`
	Configuration
	Trials []Trial `json:"trials,omitempty"`
}

// Show selects a configuration by index, or all with -1. If trial is not -1, it selects the trial
// with this index of every study. It is an error if nothing is selected.
func (r *Report) Show(configuration, trial int) (*Shown, error) {
	if configuration < -1 || configuration >= len(r.Configurations) {
		return nil, fmt.Errorf("no configuration %d; the run has 0 to %d", configuration, len(r.Configurations)-1)
	}
	out := &Shown{Schema: "gpc-tune/show/1", Experiment: r.Experiment, Configurations: []ShownConfiguration{}}
	if configuration == -1 && trial == -1 {
		out.Nested, out.Races, out.Illustrations, out.Run = r.Nested, r.Races, r.Illustrations, r
	}
	last := -1
	for i, c := range r.Configurations {
		if configuration >= 0 && i != configuration {
			continue
		}
		s := ShownConfiguration{Number: i, Configuration: c}
		for _, study := range c.Studies {
			for _, t := range c.TrialsOf(study) {
				if last = max(last, t.Trial); t.Trial == trial {
					s.Trials = append(s.Trials, t)
				}
			}
		}
		if trial == -1 || s.Trials != nil {
			out.Configurations = append(out.Configurations, s)
		}
	}
	if trial != -1 && len(out.Configurations) == 0 {
		return nil, fmt.Errorf("no trial %d on record; there are %d", trial, last+1)
	}
	return out, nil
}
