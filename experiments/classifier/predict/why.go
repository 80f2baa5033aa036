package predict

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/experiments/classifier/explain"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/job"
	"github.com/gpc-tune/gpc-tune/internal/random"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
)

// This file explains the predictions of single cases.

// Limits of the explanation of a case.
const (
	mostBackground  = 50  // training cases with whose inputs the inputs of the case are mixed
	leastBackground = 10  // of them, even if that takes long
	permittedWhy    = 5e9 // multiplications for a case
	mostNearest     = 3   // training cases named
)

// explainer explains predictions of a classifier.
type explainer struct {
	*Classifier
	inputs     []explain.Input
	seen       *mat.Dense // training cases, or inducing inputs, before preprocessing
	background *mat.Dense // some of them
}

// newExplainer chooses the background: cases drawn from the training cases, or from the inducing
// inputs; of a comparator without either, the medians of the inputs.
func (c *Classifier) newExplainer() *explainer {
	e := &explainer{Classifier: c, inputs: explain.Inputs(c.file.Columns.From())}
	e.seen = c.file.Raw()
	if e.seen == nil {
		e.seen = mat.NewDense(1, len(c.substitutes), slices.Clone(c.substitutes))
	}
	predictions := math.Pow(2, float64(len(e.inputs)))
	if len(e.inputs) > explain.MostExact {
		predictions = explain.Walks * float64(len(e.inputs)+1)
	}
	n, _ := e.seen.Dims()
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	room := int(min(permittedWhy/c.work()/predictions, mostBackground))
	e.background = data.PickRows(e.seen, drawn(all, max(room, leastBackground), c.file.Seed))
	return e
}

// explain adds columns to the predictions of some cases. why_of is the most probable class; base is
// its mean probability over the background, or the mean number; why[INPUT] are Shapley values,
// whose sum is the difference between the prediction and base; why_error is the largest standard
// error of these, if they are sampled. nearest has the training cases of the largest prior
// correlation, by their place among the training cases of the model, each with its label and the
// correlation. outside names inputs beyond the range of the training cases.
func (e *explainer) explain(t *Predicted, ds *data.Data, held job.Outcome) error {
	classes := e.file.Columns.Classes
	first := len(t.Columns)
	if classes != nil {
		t.Columns = append(t.Columns, "why_of")
	}
	t.Columns = append(t.Columns, "base")
	for _, of := range e.inputs {
		t.Columns = append(t.Columns, "why["+of.Name+"]")
	}
	sampled := len(e.inputs) > explain.MostExact
	if sampled {
		t.Columns = append(t.Columns, "why_error")
	}
	if e.fitted.Compared == nil && e.file.Inputs != nil {
		t.Columns = append(t.Columns, "nearest")
	}
	t.Columns = append(t.Columns, "outside")
	for j, name := range t.Columns[first:] {
		for slices.Contains(t.Columns[:first+j], name) { // an id column has this name
			name += "_"
		}
		t.Columns[first+j] = name
	}
	for i := range t.Rows {
		class := 0
		if classes != nil {
			class = floats.MaxIdx(held.Proba.RawRowView(i))
			t.Rows[i] = append(t.Rows[i], classes[class])
		}
		row := ds.X.RawRowView(i)
		seed := random.Derive(e.file.Seed, "why", fmt.Sprint(random.Content(row)))
		a, err := explain.Shapley(row, e.background, e.inputs, e.predictions(class), seed)
		if err != nil {
			return err
		}
		t.Rows[i] = append(t.Rows[i], record.Number(a.Base))
		for _, v := range a.Shapley {
			t.Rows[i] = append(t.Rows[i], record.Number(v))
		}
		if sampled {
			t.Rows[i] = append(t.Rows[i], record.Number(slices.Max(a.Error)))
		}
		if slices.Contains(t.Columns[first:], "nearest") {
			t.Rows[i] = append(t.Rows[i], e.nearest(row))
		}
		t.Rows[i] = append(t.Rows[i], e.outside(row))
	}
	return nil
}

// predictions returns the probabilities of a class, or the means of numbers, of rows of inputs.
func (e *explainer) predictions(class int) func(x *mat.Dense) ([]float64, error) {
	return func(x *mat.Dense) ([]float64, error) {
		held, _, err := e.outcome(&kernel.Inputs{X: e.file.Preprocess.Apply(x)})
		switch {
		case err != nil:
			return nil, err
		case held.Proba == nil:
			return held.Mean, nil
		}
		return mat.Col(nil, class, held.Proba), nil
	}
}

// nearest describes the training cases nearest to a case by the kernel.
func (e *explainer) nearest(row []float64) string {
	z := &kernel.Inputs{X: e.file.Preprocess.Apply(mat.NewDense(1, len(row), slices.Clone(row)))}
	var similar []float64
	for point, err := range e.fitted.Posteriors() {
		if err != nil {
			return ""
		}
		similar = mat.Col(nil, 0, point.Similarities(z))
		break
	}
	order := make([]int, len(similar))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(similar[b], similar[a]) })
	var texts []string
	for _, i := range order[:min(mostNearest, len(order))] {
		label := ""
		if e.file.Labels != nil {
			label = e.file.Columns.Classes[e.file.Labels[i]]
		} else {
			label = reports.Readable(e.file.Targets[i])
		}
		texts = append(texts, fmt.Sprintf("%d (%s, %.2f)", i, label, similar[i]))
	}
	return strings.Join(texts, "; ")
}

// outside lists the inputs of a case that are below the smallest or above the largest value of the
// training cases, with that value.
func (e *explainer) outside(row []float64) string {
	var texts []string
	if n, _ := e.seen.Dims(); n == 1 {
		return ""
	}
	names := e.file.Columns.ColumnNames()
	for j, v := range row {
		column := mat.Col(nil, j, e.seen)
		least, most := slices.Min(column), slices.Max(column)
		slack := 1e-9 * max(most-least, math.Abs(most), math.Abs(least)) // of the way back from preprocessing
		switch {
		case v < least-slack:
			texts = append(texts, fmt.Sprintf("%s %s below %s", names[j], reports.Readable(v), reports.Readable(least)))
		case v > most+slack:
			texts = append(texts, fmt.Sprintf("%s %s above %s", names[j], reports.Readable(v), reports.Readable(most)))
		}
	}
	return strings.Join(texts, "; ")
}
