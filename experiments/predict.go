package experiments

import (
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/reports/table"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// Deciding says what decisions on classes cost.
type Deciding struct {
	// Loss is `truth,decision,cost …`, a YAML mapping {truth: {decision: cost, …}, …}, or a file that holds such a mapping or,
	// as CSV, the whole matrix: a header with the decisions and a row for every truth. What is not said costs 1 for an error
	// and 0 for none. Empty: nothing is said, and the class of largest probability is decided for.
	Loss   string
	Reject *float64 // cost of deciding for no class; nil: one is always decided for
}

// rejected is the decision for no class.
const rejected = "reject"

// Predicted is a table of predictions, a row a case: case, its 0-based row in the file; the id columns; p[CLASS] for every
// class; confidence, by which a comparator that has one rejects; latent_mean and latent_variance, of the process whose positive values speak for the second of two classes, or
// latent_mean[CLASS] and latent_variance[CLASS]; decision; and expected_loss where costs were given. Numbers have mean and
// variance, noise included, before the latent ones, and no decision. A column other than an id that would have the name of one
// has an underscore behind it.
type Predicted struct {
	Schema  string   `json:"schema"`
	Columns []string `json:"columns"`
	Rows    [][]any  `json:"rows"` // string, int or record.Number
	// Labelled counts the cases whose label is known, and Scores has their scores; mean_loss is what the decisions on them
	// cost, where costs were given.
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
func (c *Classifier) Predict(name string, o Deciding) (*Predicted, error) {
	costs, err := c.costs(o)
	if err != nil {
		return nil, err
	}
	ds, err := c.file.Columns.Read(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrInvalid, err)
	}
	linalg.SetThreads(runtime.GOMAXPROCS(0)) // the one job there is
	defer linalg.SetThreads(1)
	classes := c.data.Classes
	held, err := c.outcome(&kernel.Inputs{X: c.file.Preprocess.Apply(ds.X)})
	if err != nil {
		return nil, err
	}
	warnings := append(append([]string{}, ds.Warnings...), averageWarnings(held.averageError)...)
	t := &Predicted{Schema: "gpc-tune/predictions/1", Rows: make([][]any, len(ds.Rows)), Warnings: warnings}
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

	var scored cv.Predictions
	var all []int // cases whose label is known
	if classes == nil {
		numbers("mean", held.Mean)
		numbers("variance", held.Variance)
		for i, v := range ds.Targets {
			if !math.IsNaN(v) {
				all = append(all, i)
			}
		}
		base, spread := stat.PopMeanVariance(c.data.Y.Value, nil)
		if len(all) > 0 {
			scored, err = cv.NewRegression(subset(ds.Rows, all), subset(ds.Targets, all), subset(held.Mean, all), subset(held.Variance, all), base, spread)
		}
	} else {
		for k, class := range classes {
			numbers("p["+class+"]", mat.Col(nil, k, held.Proba))
		}
		if held.Confidence != nil {
			numbers("confidence", held.Confidence)
		}
		for i, label := range ds.Labels {
			if label >= 0 {
				all = append(all, i)
			}
		}
		if len(all) > 0 {
			scored, err = cv.NewPredictions(subset(ds.Rows, all), subset(ds.Labels, all), pick(held.Proba, all), c.counts)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %s: %w", ErrInvalid, name, err)
	}
	for k := range held.means {
		of := ""
		if len(held.means) > 1 {
			of = "[" + classes[k] + "]"
		}
		numbers("latent_mean"+of, held.means[k])
		numbers("latent_variance"+of, held.variances[k])
	}
	var cost []float64 // of the decisions on cases whose label is known
	if held.Proba != nil {
		cost = t.decide(add, classes, held.Proba, ds.Labels, costs)
	}
	for i, row := range t.Rows {
		for j, v := range row {
			if v, is := v.(record.Number); is && (math.IsNaN(float64(v)) || math.IsInf(float64(v), 0)) {
				return nil, fmt.Errorf("%w: %s: case %d has %v as %s; its inputs are too far from those of the training cases", ErrInvalid, name, ds.Rows[i], v, t.Columns[j])
			}
		}
	}

	if t.Labelled = len(all); t.Labelled == 0 {
		return t, nil
	}
	t.Scores = map[string]Score{}
	results, floored := cv.Evaluate(scored)
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
	return t, nil
}

// decide adds the decisions and, where costs were given, what each is expected to cost. It returns the costs of those on cases
// whose label is known.
func (t *Predicted) decide(add func(string, func(int) any), classes []string, proba *mat.Dense, labels []int, costs *cv.Costs) (cost []float64) {
	decisions, expected := make([]string, len(t.Rows)), make([]record.Number, len(t.Rows))
	for i := range t.Rows {
		row := proba.RawRowView(i)
		if costs == nil {
			decisions[i] = classes[cv.Decide(row)]
			continue
		}
		k, risk := costs.Decide(row)
		decisions[i], expected[i] = rejected, record.Number(risk)
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

// costs are those under which decisions are made; nil where nothing is said.
func (c *Classifier) costs(o Deciding) (*cv.Costs, error) {
	classes := c.data.Classes
	d := newDecoder("--loss")
	switch {
	case o.Loss == "" && o.Reject == nil:
		return nil, nil
	case classes == nil:
		d.at(nil, "the model predicts numbers, and costs are those of decisions on classes; leave out --loss and --reject")
		return nil, d.err()
	}
	d.as("--reject").rejection(nil, o.Reject, classes)
	loss, given := cv.ZeroOne(len(classes)), map[[2]int]bool{}
	set := d.entry(nil, loss, given, classes)
	text := strings.TrimSpace(o.Loss)
	switch file, err := os.ReadFile(text); {
	case text == "":
	case err == nil:
		if text = strings.TrimSpace(string(file)); !strings.HasPrefix(text, "{") {
			d.matrix(text, set)
			if d.err() == nil && len(given) != len(classes)*len(classes) {
				d.at(nil, "%s must be a header with the classes %s as decisions and a row for each as truth; %d of %d costs are there", o.Loss, strings.Join(classes, ", "), len(given), len(classes)*len(classes))
			}
			break
		}
		d.lossMapping(text, set)
	case strings.HasPrefix(text, "{"):
		d.lossMapping(text, set)
	default:
		for _, triple := range strings.Fields(text) {
			parts := strings.Split(triple, ",")
			var cost float64
			wrong := errors.New("no truth,decision,cost")
			if len(parts) == 3 {
				cost, wrong = strconv.ParseFloat(parts[2], 64)
			}
			if wrong != nil {
				d.at(nil, "%q must be truth,decision,cost, as in %s,%s,5, and there is no file %q; names with commas or blanks need {truth: {decision: cost}}", triple, classes[0], classes[1], text)
				continue
			}
			set(parts[0], parts[1], cost)
		}
	}
	return &cv.Costs{Loss: loss, Reject: o.Reject}, d.err()
}

// rejection checks the cost of deciding for no class, if there is one.
func (d *decoder) rejection(at *strictyaml.Node, reject *float64, classes []string) {
	if reject == nil {
		return
	}
	if math.IsNaN(*reject) || math.IsInf(*reject, 0) {
		d.at(at, "%v is no cost; write a finite number", *reject)
	}
	if slices.Contains(classes, rejected) {
		d.at(at, "a class has the name %q, and so would be mistaken for it", rejected)
	}
}

// entry returns what sets one cost of a loss, once.
func (d *decoder) entry(n *strictyaml.Node, loss cv.Loss, given map[[2]int]bool, classes []string) (set func(truth, decision string, cost float64)) {
	return func(truth, decision string, cost float64) {
		var at [2]int
		for k, name := range []string{truth, decision} {
			if at[k] = slices.Index(classes, strings.TrimSpace(name)); at[k] < 0 {
				d.at(n, "unknown class %q%s", name, registry.Suggest(name, classes))
				return
			}
		}
		switch {
		case given[at]:
			d.at(n, "the cost of deciding %q where %q is the truth is given twice; keep one", decision, truth)
		case math.IsNaN(cost) || math.IsInf(cost, 0):
			d.at(n, "%v is no cost; write a finite number", cost)
		default:
			given[at], loss[at[0]][at[1]] = true, cost
		}
	}
}

// costs are those that an experiment names, before the classes are known.
type costs struct {
	loss   *strictyaml.Node // {truth: {decision: cost, …}, …}; what is not said costs 1 for an error
	reject *float64
	node   *strictyaml.Node
}

// costsOf are the costs of decisions on the classes of a data set; nil where there are none.
func (d *decoder) costsOf(c *costs, ds *data.Data) *record.Costs {
	switch {
	case c == nil:
		return nil
	case ds.Classes == nil:
		d.at(c.node, "%s has numeric labels, and costs are those of decisions on classes; leave out loss and reject_cost", ds.Name)
		return nil
	}
	d.rejection(strictyaml.Find(c.node, "reject_cost"), c.reject, ds.Classes)
	loss := cv.ZeroOne(len(ds.Classes))
	if c.loss != nil {
		d.lossNode(c.loss, d.entry(c.loss, loss, map[[2]int]bool{}, ds.Classes))
	}
	out := &record.Costs{Reject: (*record.Number)(c.reject)}
	for _, row := range loss {
		out.Loss = append(out.Loss, record.Numbers(row))
	}
	return out
}

// lossMapping reads {truth: {decision: cost, …}, …}.
func (d *decoder) lossMapping(text string, set func(truth, decision string, cost float64)) {
	if n := d.parse([]byte(text)); n != nil {
		d.lossNode(n, set)
	}
}

func (d *decoder) lossNode(n *strictyaml.Node, set func(truth, decision string, cost float64)) {
	var m map[string]map[string]*float64 // nil: not said
	d.into(n, &m)
	for _, truth := range slices.Sorted(maps.Keys(m)) {
		for _, decision := range slices.Sorted(maps.Keys(m[truth])) {
			if cost := m[truth][decision]; cost != nil {
				set(truth, decision, *cost)
			}
		}
	}
}

// matrix reads a header with decisions, under a first cell of any text, and rows of a truth and its costs.
func (d *decoder) matrix(text string, set func(truth, decision string, cost float64)) {
	r := csv.NewReader(strings.NewReader(text))
	r.TrimLeadingSpace = true
	rows, err := r.ReadAll()
	if err == nil && len(rows) == 0 {
		err = errors.New("the file is empty")
	}
	if err != nil {
		d.at(nil, "%v", err)
		return
	}
	for i, row := range rows[1:] {
		for k, cell := range row[1:] {
			cost, err := strconv.ParseFloat(strings.TrimSpace(cell), 64)
			if err != nil {
				d.at(nil, "row %d: %q is no cost", i+2, cell)
				continue
			}
			set(row[0], rows[0][k+1], cost)
		}
	}
}

// PredictedFormats are the ways to write a Predicted; the first is the default.
var PredictedFormats = []struct {
	Name  string
	Write func(io.Writer, *Predicted) error
}{
	{"csv", func(w io.Writer, t *Predicted) error {
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
	{"json", func(w io.Writer, t *Predicted) error { return json.NewEncoder(w).Encode(t) }},
}
