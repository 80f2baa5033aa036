package stores

import (
	"fmt"
	"slices"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
)

// File is a file of a Store. Name is its path in the folder, with slashes.
type File struct {
	Name string
	Text []byte
}

// studyNames are the names of the configurations in other programs.
func studyNames(r *reports.Report) (names []string) {
	for i := range r.Configurations {
		name := r.Experiment
		if len(r.Configurations) > 1 {
			name = fmt.Sprintf("%s #%d", r.Experiment, i)
		}
		names = append(names, name)
	}
	return names
}

// tuned returns the hyperparameters of a configuration that are tuned and in force at a point, with
// their values.
func tuned(c reports.Configuration, at reports.Values) (all []record.Hyperparameter, values []float64) {
	for _, h := range c.Record.Hyperparameters {
		v, given := at.Get(h.Name)
		if h.Fixed || !given {
			continue
		}
		if !h.When.Holds(func(name string) (v float64, matters bool) {
			i := slices.IndexFunc(all, func(o record.Hyperparameter) bool { return o.Name == name })
			if i < 0 {
				return 0, false
			}
			return values[i], true
		}) {
			continue
		}
		all, values = append(all, h), append(values, v)
	}
	return all, values
}
