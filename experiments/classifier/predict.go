package classifier

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"runtime"
	"strconv"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/job"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// Predicted is a table of predictions, a row a case: case, its 0-based row in the file; the id
// columns; p[CLASS] for every class; confidence, by which a comparator that has one rejects;
// latent_mean and latent_variance, of the process whose positive values speak for the second of two
// classes, or latent_mean[CLASS] and latent_variance[CLASS]; decision; and expected_loss where
// costs were given. Numbers have mean and variance, noise included, before the latent ones, and no
// decision. A column other than an id that would have the name of one has an underscore behind it.
type Predicted struct {
	Schema  string   `json:"schema"`
	Columns []string `json:"columns"`
	Rows    [][]any  `json:"rows"` // string, int or record.Number
	// Labelled counts the cases whose label is known, and Scores has their scores; mean_loss is
	// what the decisions on them cost, where costs were given.
	Labelled int              `json:"labelled"`
	Scores   map[string]Score `json:"scores,omitempty"`
	Warnings []string         `json:"warnings"`
}

// Score is the estimate of a score with its 95 % interval, where it has one.
type Score struct {
	Value record.Number     `json:"value"`
	CI95  *[2]record.Number `json:"ci95,omitempty"`
}

// Predict reads cases from a file, or from a bundled data set, and predicts them.
func (c *Classifier) Predict(name string, o spec.Deciding) (*Predicted, error) {
	costs, err := spec.ReadCosts(o, c.file.Columns.Classes)
	if err != nil {
		return nil, err
	}
	ds, err := c.file.Columns.Read(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", spec.ErrInvalid, err)
	}
	linalg.SetThreads(runtime.GOMAXPROCS(0)) // the one job there is
	defer linalg.SetThreads(1)
	held, err := c.outcome(&kernel.Inputs{X: c.file.Preprocess.Apply(ds.X)})
	if err != nil {
		return nil, err
	}
	all, scored, err := c.labelled(ds, held)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", spec.ErrInvalid, name, err)
	}
	warnings := append(append([]string{}, ds.Warnings...), job.AverageWarnings(held.AverageError)...)
	t := &Predicted{
		Schema: "gpc-tune/predictions/1", Rows: make([][]any, len(ds.Rows)), Labelled: len(all), Warnings: warnings,
	}
	cost := t.fill(ds, held, c.file.Columns.Classes, costs)
	for i, row := range t.Rows {
		for j, v := range row {
			if v, is := v.(record.Number); is && (math.IsNaN(float64(v)) || math.IsInf(float64(v), 0)) {
				return nil, fmt.Errorf("%w: %s: case %d has %v as %s; its inputs are too far from those of the "+
					"training cases", spec.ErrInvalid, name, ds.Rows[i], v, t.Columns[j])
			}
		}
	}
	if len(all) > 0 {
		t.score(scored, cost)
	}
	return t, nil
}

// labelled lists the cases whose label is known, with their predictions.
func (c *Classifier) labelled(ds *data.Data, held job.Outcome) (all []int, p cv.Predictions, err error) {
	for i := range ds.Rows {
		if ds.Targets != nil && !math.IsNaN(ds.Targets[i]) || ds.Labels != nil && ds.Labels[i] >= 0 {
			all = append(all, i)
		}
	}
	rows := data.Pick(ds.Rows, all)
	switch {
	case len(all) == 0:
	case c.y.Classes == 0:
		base := c.training.Moments
		p, err = cv.NewRegression(rows, data.Pick(ds.Targets, all), data.Pick(held.Mean, all),
			data.Pick(held.Variance, all), float64(base.Mean), float64(base.Variance))
	default:
		p, err = cv.NewPredictions(rows, data.Pick(ds.Labels, all), data.PickRows(held.Proba, all), c.training.Counts)
	}
	return all, p, err
}

// fill fills the table. It returns the costs of the decisions on cases whose label is known, where
// costs were given.
func (t *Predicted) fill(ds *data.Data, held job.Outcome, classes []string, costs *cv.Costs) (cost []float64) {
	var ids []string
	for _, id := range ds.IDs {
		ids = append(ids, id.Name)
	}
	add := func(name string, of func(i int) any) {
		t.Columns = append(t.Columns, table.BesideIDs(ids, name))
		for i := range t.Rows {
			t.Rows[i] = append(t.Rows[i], of(i))
		}
	}
	numbers := func(name string, v []float64) { add(name, func(i int) any { return record.Number(v[i]) }) }
	add("case", func(i int) any { return ds.Rows[i] })
	t.Columns = append(t.Columns, ids...)
	for i := range t.Rows {
		for _, id := range ds.IDs {
			t.Rows[i] = append(t.Rows[i], id.Values[i])
		}
	}
	if classes == nil {
		numbers("mean", held.Mean)
		numbers("variance", held.Variance)
	}
	for k, class := range classes {
		numbers("p["+class+"]", mat.Col(nil, k, held.Proba))
	}
	if held.Confidence != nil {
		numbers("confidence", held.Confidence)
	}
	for k := range held.Means {
		of := ""
		if len(held.Means) > 1 {
			of = "[" + classes[k] + "]"
		}
		numbers("latent_mean"+of, held.Means[k])
		numbers("latent_variance"+of, held.Variances[k])
	}
	if classes == nil {
		return nil
	}
	return t.decide(add, classes, held.Proba, ds.Labels, costs)
}

// score adds the scores of the cases whose label is known, and what the decisions on them cost on
// average.
func (t *Predicted) score(p cv.Predictions, cost []float64) {
	t.Scores = map[string]Score{}
	results, floored := cv.Evaluate(p)
	t.Warnings = append(t.Warnings, floored...)
	for _, r := range results {
		s := Score{Value: record.Number(r.Value)}
		if !math.IsNaN(r.Lo) {
			s.CI95 = &[2]record.Number{record.Number(r.Lo), record.Number(r.Hi)}
		}
		t.Scores[r.Name] = s
	}
	if cost != nil {
		t.Scores["mean_loss"] = Score{Value: record.Number(stat.Mean(cost, nil))}
	}
}

// decide adds the decisions and, where costs were given, what each is expected to cost. It returns
// the costs of those on cases whose label is known.
func (t *Predicted) decide(add func(string, func(int) any), classes []string, proba *mat.Dense, labels []int,
	costs *cv.Costs) (cost []float64) {
	decisions, expected := make([]string, len(t.Rows)), make([]record.Number, len(t.Rows))
	for i := range t.Rows {
		row := proba.RawRowView(i)
		if costs == nil {
			decisions[i] = classes[cv.Decide(row)]
			continue
		}
		k, risk := costs.Decide(row)
		decisions[i], expected[i] = spec.Rejected, record.Number(risk)
		if k != cv.Rejected {
			decisions[i] = classes[k]
		}
		if labels != nil && labels[i] >= 0 {
			cost = append(cost, costs.Of(labels[i], k))
		}
	}
	add("decision", func(i int) any { return decisions[i] })
	if costs != nil {
		add("expected_loss", func(i int) any { return expected[i] })
	}
	return cost
}

// PredictedFormats are the ways to write a Predicted; the first is the default.
var PredictedFormats = table.Forms[*Predicted]{
	{Name: "csv", Render: func(w io.Writer, t *Predicted) error {
		out := csv.NewWriter(w)
		out.Write(t.Columns) // errors surface in out.Error
		for _, row := range t.Rows {
			cells := make([]string, len(row))
			for j, v := range row {
				if number, is := v.(record.Number); is {
					v = strconv.FormatFloat(float64(number), 'g', -1, 64)
				}
				cells[j] = fmt.Sprint(v)
			}
			out.Write(cells)
		}
		out.Flush()
		return out.Error()
	}},
	{Name: "json", Render: func(w io.Writer, t *Predicted) error { return json.NewEncoder(w).Encode(t) }},
}
