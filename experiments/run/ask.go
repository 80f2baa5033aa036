package run

import (
	"context"
	"encoding/json"
	"fmt"
	"math"

	"github.com/gpc-tune/gpc-tune/experiments/journal"
	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/search"
)

// Asked is the output of gpc-tune ask: a point for another program to evaluate.
type Asked struct {
	// identifies the point for gpc-tune tell; null: there is none
	ID *string `json:"id"`
	// values of the hyperparameters by name, with the types of the file; null: there is no point
	Point json.RawMessage `json:"point"`
	// number of the trial in the table of trials; null: there is no point
	Trial *int `json:"trial"`
	// the configuration of the trial
	Configuration int `json:"configuration"`
	// the search is finished, and its results are written. Without a point and without this, ask
	// again after a value was told
	Done bool `json:"done"`
	// ids of the points that wait for their values, if there is no further point before
	Untold []string `json:"untold,omitempty"`
}

// Ask reserves the next point of the search of a program in the run folder dir, which is made if it
// is new. After the last value it writes the results.
func Ask(ctx context.Context, p *plan.Plan, dir string, o Options) (a Asked, err error) {
	j, err := asking(p, dir, o)
	if err != nil {
		return a, err
	}
	defer j.Close()
	next, untold, err := search.Ask(p.Search(), j)
	switch {
	case err != nil:
		return a, err
	case next != nil:
		point := p.Spec.Program.JSON(next.X)
		a.ID, a.Point, a.Trial = &next.Key, json.RawMessage(point), &next.Trial
		a.Configuration = p.Studies[next.Study].Configuration
		return a, j.Close()
	case len(untold) > 0:
		a.Untold = untold
		return a, j.Close()
	}
	if err := j.Close(); err != nil {
		return a, err
	}
	a.Done, o.Resume = true, true
	_, _, err = Run(ctx, p, dir, o)
	return a, err
}

// Tell records the values of a point of Ask, or the reason why it has none. A program with one
// value has it without a name, or by the name of the file.
func Tell(p *plan.Plan, dir, id string, values map[string]float64, failure error, o Options) error {
	j, err := asking(p, dir, o)
	if err != nil {
		return err
	}
	defer j.Close()
	value, of := math.NaN(), p.Spec.Program
	var kept map[string]float64
	if failure == nil {
		if value, kept, err = of.Told(values); err != nil {
			return err
		}
	}
	if of.Minimize {
		value = -value
	}
	if err := search.Tell(p.Search(), j, id, value, kept, failure); err != nil {
		return err
	}
	return j.Close()
}

// asking opens the journal for Ask and Tell.
func asking(p *plan.Plan, dir string, o Options) (*journal.Journal, error) {
	if p.Spec.Program == nil {
		return nil, fmt.Errorf("%w: the experiment has a model, which gpc-tune run evaluates; ask and tell are for a "+
			"file with a program", spec.ErrInvalid)
	}
	o.Resume = true
	return Begin(p, dir, p.Search(), o)
}
