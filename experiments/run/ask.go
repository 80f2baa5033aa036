package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/experiments/journal"
	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// Asked is the output of gpc-tune ask: a point for another program to evaluate.
type Asked struct {
	// identifies the point for gpc-tune tell; null: there is none
	ID *string `json:"id"`
	// values of the hyperparameters by name, with the types of the file; null: there is no point
	Point json.RawMessage `json:"point"`
	// names of hyperparameters that do not matter at the point, because their conditions do not
	// hold; the point has their initial values
	Inactive []string `json:"inactive,omitempty"`
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
	next, untold, err := schedule.Ask(p.Search(), j)
	switch {
	case err != nil:
		return a, err
	case next != nil:
		return asked(p, next), j.Close()
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

// asked is the output for a point.
func asked(p *plan.Plan, next *schedule.Asked) Asked {
	a := Asked{ID: &next.Key, Point: json.RawMessage(p.Spec.Program.JSON(next.X)), Trial: &next.Trial,
		Configuration: p.Studies[next.Study].Configuration}
	space := p.Spec.Program.Space
	theta := make([]float64, len(space))
	for i, s := range space {
		theta[i] = s.Map.Theta(next.X[i])
	}
	for i, matters := range param.InForce(space, theta) {
		if !matters {
			a.Inactive = append(a.Inactive, space[i].Name)
		}
	}
	return a
}

// Untold returns the points of Ask whose values were not told. A folder that is not there has none.
func Untold(p *plan.Plan, dir string, o Options) (points []Asked, err error) {
	if _, err := journal.StatManifest(dir); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	j, err := asking(p, dir, o)
	if err != nil {
		return nil, err
	}
	defer j.Close()
	untold, err := schedule.Untold(p.Search(), j)
	for _, one := range untold {
		points = append(points, asked(p, one))
	}
	return points, errors.Join(err, j.Close())
}

// Told has the results of a point for Tell, in the signs of the program. A single value has the
// name "". The steps of the values on the way must grow.
type Told struct {
	Values  map[string]float64
	Way     []record.Interim
	Early   bool // the trial was stopped early, and its value is the last one on the way
	Failure error
	Seconds float64 // wall time of the evaluation; 0: the time since Ask
}

// Tell records the values of a point of Ask, or the reason why it has none. A program with one
// value has it without a name, or by the name of the file.
func Tell(p *plan.Plan, dir, id string, told Told, o Options) (err error) {
	j, err := asking(p, dir, o)
	if err != nil {
		return err
	}
	defer j.Close()
	out := schedule.Told{Value: math.NaN(), Way: inSearch(p, told.Way), Early: told.Early, Failure: told.Failure,
		Seconds: told.Seconds}
	if told.Failure == nil && !told.Early {
		if out.Value, out.Values, err = p.Spec.Program.Told(told.Values); err != nil {
			return err
		}
	}
	if p.Spec.Program.Minimize {
		out.Value = -out.Value
	}
	if err := schedule.Tell(p.Search(), j, id, out); err != nil {
		return err
	}
	return j.Close()
}

// Behind reports whether the rule stop_early of the file stops a point of Ask, from its values on
// the way. Nothing is recorded.
func Behind(p *plan.Plan, dir, id string, way []record.Interim, o Options) (bool, error) {
	j, err := asking(p, dir, o)
	if err != nil {
		return false, err
	}
	defer j.Close()
	return schedule.Behind(p.Search(), j, id, inSearch(p, way))
}

// inSearch gives values on the way the sign of the maximised objective.
func inSearch(p *plan.Plan, way []record.Interim) []record.Interim {
	way = slices.Clone(way)
	for i := range way {
		if p.Spec.Program.Minimize {
			way[i].Value = -way[i].Value
		}
	}
	return way
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
