package predict

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"text/tabwriter"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/job"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// Predicted is a table of predictions with a row per case. Columns: case, its row in the file from
// 0; the id columns; p[CLASS] for every class; confidence, for a comparator that rejects by its own
// measure; latent_mean and latent_variance of the latent process (positive values favour the second
// of two classes), or latent_mean[CLASS] and latent_variance[CLASS]; decision; expected_loss if
// there are costs; and set and set_size, the conformal set, if the model file has any. For numeric
// labels there are mean and variance, noise included, before the latent ones, and no decision. An
// id with the name of another column gets an underscore appended. explainer.explain appends the
// columns of explanations.
type Predicted struct {
	Schema  string   `json:"schema"`
	Columns []string `json:"columns"`
	Rows    [][]any  `json:"rows"` // string, int or record.Number
	// Labelled is the number of cases with a known label, and Scores has their scores; mean_loss is
	// the mean cost of the decisions on them, if there are costs.
	Labelled int              `json:"labelled"`
	Scores   map[string]Score `json:"scores,omitempty"`
	Warnings []string         `json:"warnings"`
}

// Score is the estimate of a score with its 95 % interval, if it has one.
type Score struct {
	Value record.Number     `json:"value"`
	CI95  *[2]record.Number `json:"ci95,omitempty"`
}

// About is the name of a score with the class that it is about, such as "f1 of ill", if it is about
// one of two classes.
func (t *Predicted) About(score string) string {
	var classes []string
	for _, c := range t.Columns {
		if class, is := strings.CutPrefix(c, "p["); is {
			classes = append(classes, strings.TrimSuffix(class, "]"))
		}
	}
	if of, err := cv.ScoreNamed(score); err == nil && of.OfSecond && len(classes) == 2 {
		return score + " of " + classes[1]
	}
	return score
}

// Deciding returns the classifier with the user's threshold, costs and coverage in place of the
// ones of the model file, if the user gives any. If the user gives only a cost of rejecting, the
// loss of the model file is kept.
func (c *Classifier) Deciding(o spec.Deciding) (*Classifier, error) {
	other, classes := *c, c.file.Columns.Classes
	other.strict = c.strict || o.Strict
	if (o.Why || o.WhyOf != "") && c.why == nil {
		other.why = newExplainer(c.file, c.fitted, c.work(), c.outcome)
	}
	var err error
	if o.WhyOf != "" {
		if other.why, err = other.why.of(o.WhyOf); err != nil {
			return nil, err
		}
	}
	if other.sets, err = c.covering(o.Coverage); err != nil {
		return nil, err
	}
	threshold, err := spec.ReadThreshold(o, classes)
	if err != nil {
		return nil, err
	}
	costs, err := spec.ReadCosts(o, classes)
	if err != nil {
		return nil, err
	}
	switch {
	case threshold != nil:
		other.threshold, other.among, other.costs = threshold, nil, nil
	case costs != nil:
		if o.Loss == "" && c.costs != nil {
			costs.Loss = c.costs.Loss
		}
		other.costs, other.threshold, other.among = costs, nil, nil
	}
	return &other, nil
}

// Watching returns the classifier with the comparison of all cases that it then predicts with the
// training cases. The comparison is nil for a model file without training cases.
func (c *Classifier) Watching() (*Classifier, *Drift) {
	other := *c
	other.drift = newDrift(c.file)
	return &other, other.drift
}

// Predict reads cases from a file or a bundled data set, and predicts them.
func (c *Classifier) Predict(name string, o spec.Deciding) (*Predicted, error) {
	c, err := c.Deciding(o)
	if err != nil {
		return nil, err
	}
	ds, err := c.file.Columns.Read(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", spec.ErrInvalid, err)
	}
	linalg.SetThreads(runtime.GOMAXPROCS(0)) // there is only one job
	defer linalg.SetThreads(1)
	s := stream{Classifier: c, name: name}
	t, err := s.predict(ds)
	if err != nil {
		return nil, err
	}
	return s.end(t)
}

// Numbers of cases in memory at a time. An explanation of a case takes up to seconds.
const (
	streamed  = 4096
	explained = 16
)

// Stream predicts the cases of a file like Predict, and writes the predictions as CSV in parts. If
// name is -, it reads the cases from in. The result has no rows.
func (c *Classifier) Stream(ctx context.Context, name string, in io.Reader, o spec.Deciding, w io.Writer) (*Predicted,
	error) {
	begun := false
	return c.Each(ctx, name, in, o, func(t *Predicted) (err error) {
		if !begun {
			begun, err = true, writeCells(w, [][]any{texts(t.Columns)})
		}
		return errors.Join(err, writeCells(w, t.Rows))
	})
}

// Each predicts like Stream, and passes the parts on in their order.
func (c *Classifier) Each(ctx context.Context, name string, in io.Reader, o spec.Deciding,
	each func(*Predicted) error) (*Predicted, error) {
	c, err := c.Deciding(o)
	if err != nil {
		return nil, err
	}
	linalg.SetThreads(runtime.GOMAXPROCS(0)) // there is only one job
	defer linalg.SetThreads(1)
	s := stream{Classifier: c, name: name}
	all, atOnce := &Predicted{Warnings: []string{}}, streamed
	if c.why != nil {
		atOnce = explained
	}
	err = c.file.Columns.Stream(name, in, atOnce, func(ds *data.Data) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		t, err := s.predict(ds)
		if err != nil {
			return err
		}
		if all.Columns == nil {
			all.Columns = t.Columns
		} else if !slices.Equal(all.Columns, t.Columns) {
			panic("predict: parts of one file with other columns")
		}
		all.Labelled += t.Labelled
		return each(t)
	})
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil && !errors.Is(err, spec.ErrInvalid):
		return nil, fmt.Errorf("%w: %w", spec.ErrInvalid, err)
	case err != nil:
		return nil, err
	}
	return s.end(all)
}

// stream predicts parts of a file, and keeps the predictions that the scores of all cases need.
type stream struct {
	*Classifier
	name     string
	begun    bool // the first part is predicted
	unread   []data.Unread
	scored   []cv.Predictions
	cost     []float64
	warnings []cause.Notice
	far      farCases
}

// predict predicts some cases.
func (s *stream) predict(ds *data.Data) (*Predicted, error) {
	if s.strict && len(ds.Unread) > 0 {
		return nil, fmt.Errorf("%w: %s: %s; correct them, or predict them without --strict", spec.ErrInvalid, s.name,
			ds.Unread[0].Notice())
	}
	if !s.begun {
		if err := s.file.Columns.CheckNumbers(ds); err != nil {
			return nil, fmt.Errorf("%w: %s: %w", spec.ErrInvalid, s.name, err)
		}
	}
	s.begun = true
	s.unread = data.Merge(s.unread, ds.Unread)
	s.drift.add(ds)
	missing := s.substitute(ds)
	z := &kernel.Inputs{X: s.file.Preprocess.Apply(ds.X)}
	for i, row := range ds.Rows {
		for j, v := range z.X.RawRowView(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return nil, s.tooFar(row, v, ds.ColumnNames[j]+", preprocessed")
			}
		}
	}
	s.far.add(z.X, s.spans, s.columnsOfInputs())
	held, extrapolated, err := s.outcome(z)
	if err != nil {
		return nil, err
	}
	all, scored, err := s.labelled(ds, held)
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", spec.ErrInvalid, s.name, err)
	}
	t := &Predicted{Schema: "gpc-tune/predictions/1", Rows: make([][]any, len(ds.Rows)), Labelled: len(all),
		Warnings: []string{}}
	s.cost = append(s.cost, t.fill(ds, held, s.file.Columns.Classes, s.costs, s.threshold)...)
	if s.sets != nil {
		t.addSets(s.sets.Sets(cv.Predictions{Cases: ds.Rows, Proba: held.Proba}), s.file.Columns.Classes)
	}
	if s.why != nil {
		columns, cells, err := s.why.explain(ds, missing, held)
		if err != nil {
			return nil, err
		}
		for j, name := range columns {
			t.Columns = append(t.Columns, table.BesideIDs(t.Columns, name))
			for i := range t.Rows {
				t.Rows[i] = append(t.Rows[i], cells[i][j])
			}
		}
	}
	if err := s.finite(ds, t); err != nil {
		return nil, err
	}
	if len(all) > 0 {
		s.scored = append(s.scored, scored)
	}
	for _, w := range slices.Concat(ds.Warnings, job.AverageWarnings(held.AverageError), extrapolated) {
		s.warn(w)
	}
	return t, nil
}

// finite returns an error if a prediction is not finite.
func (s *stream) finite(ds *data.Data, t *Predicted) error {
	for i, row := range t.Rows {
		for j, v := range row {
			if v, is := v.(record.Number); is && (math.IsNaN(float64(v)) || math.IsInf(float64(v), 0)) {
				return s.tooFar(ds.Rows[i], float64(v), t.Columns[j])
			}
		}
	}
	return nil
}

// columnsOfInputs returns the column of the file that each preprocessed input is made from, or nil
// for whitened inputs, which mix columns.
func (s *stream) columnsOfInputs() []string {
	from := s.file.Columns.From()
	if len(from) != len(s.spans) || s.file.Preprocess.How == "whiten" {
		return nil
	}
	return from
}

// substitute replaces the missing values of ds, and counts them by input. It returns the missing
// inputs and the new categories of each case, as texts.
func (s *stream) substitute(ds *data.Data) [][]string {
	last, of := "", make([][]string, len(ds.Rows))
	for i := range of {
		for _, name := range s.file.Columns.NewCategories(ds.X.RawRowView(i)) {
			of[i] = append(of[i], name+" is a new category")
		}
	}
	for j, origin := range s.file.Columns.From() {
		missing, absent := 0, origin+" missing"
		for i := range ds.Rows {
			if row := ds.X.RawRowView(i); math.IsNaN(row[j]) {
				row[j] = s.substitutes[j]
				missing++
				if origin != last {
					of[i] = append(of[i], absent)
				}
			}
		}
		if missing == 0 || origin == last { // one warning for all inputs of a column
			continue
		}
		last = origin
		by := fmt.Sprintf("%.6g", s.substitutes[j])
		if ds.ColumnNames[j] != origin {
			by = "what is usual in the training cases"
		}
		s.warn(cause.Substituted.Of(missing, "values of %q are missing: %s stands in for each", origin, by))
	}
	return of
}

// tooFar is the error for a case with a number that is not finite.
func (s *stream) tooFar(row int, v float64, as string) error {
	return fmt.Errorf("%w: %s: case %d has %v as %s; its inputs are too far from those of the training cases",
		spec.ErrInvalid, s.name, row, v, as)
}

// warn adds a warning, or adds its cases to an equal one.
func (s *stream) warn(w cause.Notice) {
	for i, old := range s.warnings {
		if old.Cases = w.Cases; old == w {
			s.warnings[i].Cases += w.Cases
			return
		}
	}
	s.warnings = append(s.warnings, w)
}

// end adds to t the scores of all parts and the warnings.
func (s *stream) end(t *Predicted) (*Predicted, error) {
	if s.sets != nil {
		t.Warnings = append(t.Warnings, cause.Texts(s.sets.Warnings(s.file.Columns.Classes))...)
	}
	for _, u := range s.unread {
		t.Warnings = append(t.Warnings, u.Notice().String())
	}
	t.Warnings = append(t.Warnings, cause.Texts(append(s.far.notices(s.columnsOfInputs()), s.warnings...))...)
	if len(s.scored) > 0 {
		if err := t.score(cv.Pool(s.scored...), s.cost); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// labelled lists the cases with a known label, and their predictions.
func (c *Classifier) labelled(ds *data.Data, held job.Outcome) (all []int, p cv.Predictions, err error) {
	if ds.Trials != nil {
		return c.counted(ds, held)
	}
	for i := range ds.Rows {
		if ds.Targets != nil && !math.IsNaN(ds.Targets[i]) || ds.Labels != nil && ds.Labels[i] >= 0 {
			all = append(all, i)
		}
	}
	rows := data.Pick(ds.Rows, all)
	switch {
	case len(all) == 0:
	case len(c.file.Columns.Classes) == 0:
		base := c.fitted.Training.Moments
		p, err = cv.NewRegression(rows, data.Pick(ds.Targets, all), data.Pick(held.Mean, all),
			data.Pick(held.Variance, all), float64(base.Mean), float64(base.Variance))
	default:
		p, err = c.withTrainingCounts(rows, data.Pick(ds.Labels, all), data.PickRows(held.Proba, all))
		p.Ordered = c.file.Columns.Ordered
		for _, t := range c.threshold {
			p.Threshold = slices.Repeat([]float64{t}, len(all))
		}
	}
	return all, p, err
}

// withTrainingCounts returns predictions of labels with the class frequencies of the training
// cases.
func (c *Classifier) withTrainingCounts(rows, labels []int, proba *mat.Dense) (cv.Predictions, error) {
	of := c.fitted.Training
	p, err := cv.NewPredictions(rows, labels, proba, of.Counts)
	if of.Weights != nil {
		p, err = cv.NewPredictions(rows, labels, proba, of.Weights)
	}
	if err == nil && c.sets != nil {
		p.Sets = c.sets.Sets(p)
	}
	return p, err
}

// counted lists the cases with known successes and failures, and their predictions. The prediction
// of a case is two rows, whose weights are the numbers of failures and of successes.
func (c *Classifier) counted(ds *data.Data, held job.Outcome) (all []int, p cv.Predictions, err error) {
	var cases, rows, labels []int
	var weights []float64
	for i, of := range ds.Trials {
		if math.IsNaN(of[0]) || of[0]+of[1] == 0 {
			continue
		}
		all = append(all, i)
		for k, n := range of {
			if n > 0 {
				cases, labels, weights = append(cases, i), append(labels, k), append(weights, n)
				rows = append(rows, 2*ds.Rows[i]+k)
			}
		}
	}
	if all == nil {
		return nil, p, nil
	}
	p, err = c.withTrainingCounts(rows, labels, data.PickRows(held.Proba, cases))
	p.Weight = weights
	for _, t := range c.threshold {
		p.Threshold = slices.Repeat([]float64{t}, len(rows))
	}
	return all, p, err
}

// fill fills the table. It returns the costs of the decisions on cases with a known label, if costs
// were given.
func (t *Predicted) fill(ds *data.Data, held job.Outcome, classes []string, costs *cv.Costs,
	threshold []float64) (cost []float64) {
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
	return t.decide(add, classes, held.Proba, ds.Labels, costs, threshold)
}

// addSets adds the conformal sets of all rows.
func (t *Predicted) addSets(sets [][]bool, classes []string) {
	t.Columns = append(t.Columns, table.BesideIDs(t.Columns, "set"))
	t.Columns = append(t.Columns, table.BesideIDs(t.Columns, "set_size"))
	for i, in := range sets {
		text, size := table.Set(classes, in)
		t.Rows[i] = append(t.Rows[i], text, size)
	}
}

// score adds the scores of the cases with a known label, and the mean cost of the decisions on
// them.
func (t *Predicted) score(p cv.Predictions, cost []float64) error {
	t.Scores = map[string]Score{}
	results, floored, err := cv.Evaluate(p)
	t.Warnings = append(t.Warnings, cause.Texts(floored)...)
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
	return err
}

// decide adds the decisions and, if costs were given, the expected costs. It returns the costs of
// the decisions on cases with a known label.
func (t *Predicted) decide(add func(string, func(int) any), classes []string, proba *mat.Dense, labels []int,
	costs *cv.Costs, threshold []float64) (cost []float64) {
	decisions, expected := make([]string, len(t.Rows)), make([]record.Number, len(t.Rows))
	for i := range t.Rows {
		row := proba.RawRowView(i)
		if costs == nil {
			decisions[i] = classes[cv.DecideAt(row, threshold...)]
			continue
		}
		k, risk := costs.Decide(row, threshold...)
		decisions[i], expected[i] = record.Rejected, record.Number(risk)
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

// PredictedFormats are the formats of a Predicted; the first is the default.
var PredictedFormats = table.Forms[*Predicted]{
	{Name: "csv", Render: func(w io.Writer, t *Predicted) error {
		return writeCells(w, append([][]any{texts(t.Columns)}, t.Rows...))
	}},
	{Name: "json", Render: func(w io.Writer, t *Predicted) error { return json.NewEncoder(w).Encode(t) }},
	{Name: "text", Render: func(out io.Writer, t *Predicted) error {
		w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
		for _, row := range t.Rows {
			for j, v := range row {
				if number, is := v.(record.Number); is {
					v = reports.Readable(float64(number))
				}
				fmt.Fprintf(w, "%s\t%v\n", t.Columns[j], v)
			}
			fmt.Fprintln(w)
		}
		return w.Flush()
	}},
}

// texts converts texts to cells.
func texts(names []string) (cells []any) {
	for _, name := range names {
		cells = append(cells, name)
	}
	return cells
}

// writeCells writes rows as CSV.
func writeCells(w io.Writer, rows [][]any) error {
	out := csv.NewWriter(w)
	for _, row := range rows {
		cells := make([]string, len(row))
		for j, v := range row {
			cells[j] = fmt.Sprint(v)
		}
		out.Write(cells) // errors surface in out.Error
	}
	out.Flush()
	return out.Error()
}
