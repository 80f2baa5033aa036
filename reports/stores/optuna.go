package stores

import (
	"bytes"
	"encoding/json"
	"math"
	"strconv"
	"strings"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
)

// Operations, states and directions of a journal of Optuna.
const (
	optunaCreateStudy, optunaCreateTrial       = 0, 4
	optunaComplete, optunaPruned, optunaFailed = 1, 2, 3
	optunaMinimize, optunaMaximize             = 1, 2
	optunaWorker                               = "gpc-tune"
	optunaFloat, optunaWhole, optunaChoice     = "FloatDistribution", "IntDistribution", "CategoricalDistribution"
	earlyStatus                                = "stopped early"
)

// optunaJournal writes the journal that JournalFileBackend of Optuna reads: a line of JSON for each
// operation, which creates a study or a finished trial. The study of a configuration is its search
// on all of the training data, and a trial is one of the points. Parameters are in natural units,
// with the bounds of their search, and choices by their numbers. A trial that was stopped early is
// pruned. There are no times.
func optunaJournal(r *reports.Report) ([]File, error) {
	var out bytes.Buffer
	lines := json.NewEncoder(&out)
	for i, c := range r.Configurations {
		p := c.Record.Program
		directions := []int{optunaMaximize}
		if p != nil && p.Minimize {
			directions[0] = optunaMinimize
		}
		if p != nil && len(p.Objectives) > 0 {
			directions = nil
			for range p.Objectives {
				directions = append(directions, optunaMinimize)
			}
		}
		if err := lines.Encode(map[string]any{"op_code": optunaCreateStudy, "worker_id": optunaWorker,
			"study_name": studyNames(r)[i], "directions": directions}); err != nil {
			return nil, err
		}
		for k, t := range c.TrialsOf(c.Studies[0]) {
			for j, point := range t.Points {
				var recorded record.Point
				if all := c.Studies[0].Trials[k].Points; j < len(all) {
					recorded = all[j]
				}
				line := optunaTrial(c, t, point, recorded)
				line["study_id"] = i
				if err := lines.Encode(line); err != nil {
					return nil, err
				}
			}
		}
	}
	return []File{{Text: out.Bytes()}}, nil
}

// optunaTrial is the line of a point of a trial.
func optunaTrial(c reports.Configuration, t reports.Trial, at reports.TrialPoint, of record.Point) map[string]any {
	params, distributions := map[string]float64{}, map[string]string{}
	all, natural := tuned(c, at.Hyperparameters)
	for i, h := range all {
		params[h.Shown()], distributions[h.Shown()] = natural[i], optunaDistribution(h, natural[i])
	}
	way := map[string]reports.Number{}
	for _, step := range t.Interim {
		if v := float64(step.Step); v == math.Trunc(v) { // its steps are whole numbers
			way[strconv.FormatFloat(v, 'f', -1, 64)] = step.Value
		}
	}
	attributes := map[string]any{"status": t.Status, "trial": t.Trial}
	line := map[string]any{"op_code": optunaCreateTrial, "worker_id": optunaWorker, "datetime_start": nil,
		"state": optunaComplete, "value": at.Value, "values": nil, "params": params, "distributions": distributions,
		"user_attrs": attributes, "system_attrs": map[string]any{}, "intermediate_values": way}
	if p := c.Record.Program; p != nil && len(p.Objectives) > 0 {
		var values []record.Number
		for _, name := range p.Objectives {
			values = append(values, of.Values[name])
		}
		line["value"], line["values"] = nil, values
	}
	failure := at.Failure
	if failure == "" {
		failure = t.Failure
	}
	switch {
	case failure != "" || !record.Number(at.Value).Finite():
		attributes["failure"] = failure
		line["state"], line["value"], line["values"] = optunaFailed, nil, nil
	case t.Status == earlyStatus:
		line["state"] = optunaPruned
	}
	return line
}

// optunaDistribution is the range of a hyperparameter in JSON. It contains the value, also where a
// local optimiser has no bounds.
func optunaDistribution(h record.Hyperparameter, value float64) string {
	lo, hi := value, value
	if len(h.Bounds) == 2 {
		lo, hi = min(lo, float64(h.Bounds[0])), max(hi, float64(h.Bounds[1]))
	}
	log := strings.HasPrefix(h.Theta, "log_") && lo > 0
	of := map[string]any{"low": lo, "high": hi, "log": log, "step": nil}
	if h.Step != 0 {
		of["step"] = h.Step
	}
	name := optunaFloat
	switch {
	case h.Choices != nil:
		name, of = optunaChoice, map[string]any{}
		var choices []any
		for i := range h.Choices {
			choice := h.Literal(i)
			if choice.JSON != "" {
				choices = append(choices, json.RawMessage(choice.JSON))
			} else {
				choices = append(choices, choice.Text)
			}
		}
		of["choices"] = choices
	case h.Whole:
		step := max(1, int(h.Step))
		name = optunaWhole // which has a step or a logarithm
		of = map[string]any{"low": int(lo), "high": int(hi), "log": h.Log && step == 1, "step": step}
	}
	text, err := json.Marshal(map[string]any{"name": name, "attributes": of})
	if err != nil {
		panic(err) // plain numbers and texts
	}
	return string(text)
}
