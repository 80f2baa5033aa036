package predict

import (
	"cmp"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/experiments/classifier/explain"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/job"
	"github.com/gpc-tune/gpc-tune/experiments/modelfile"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/random"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
)

// This file explains the predictions of single cases.

// Limits of the explanation of a case.
const (
	mostBackground  = 50  // training cases with whose inputs the inputs of the case are mixed
	leastBackground = 10  // background cases, even if they take long
	permittedWhy    = 5e9 // multiplications for a case
	mostNearest     = 3   // training cases named
)

// explainer explains predictions of a model file.
type explainer struct {
	file    *modelfile.File
	fitted  *modelfile.Fitted
	outcome func(*kernel.Inputs) (job.Outcome, []cause.Notice, error)
	inputs  []explain.Input
	seen    *mat.Dense // training cases, or inducing inputs, before preprocessing
	// least and most are the ends of the range of every input of the training cases, before
	// preprocessing; nil: not known
	least, most []float64
	background  *mat.Dense // some rows of seen
	class       *int       // class whose probability is explained; nil: the most probable one of each case
}

// newExplainer chooses the background: cases drawn from the training cases, or from the inducing
// inputs; of a comparator without either, the medians of the inputs. cost is the number of
// multiplications of a prediction.
func newExplainer(file *modelfile.File, fitted *modelfile.Fitted, cost float64,
	outcome func(*kernel.Inputs) (job.Outcome, []cause.Notice, error)) *explainer {
	e := &explainer{file: file, fitted: fitted, outcome: outcome, inputs: explain.Inputs(file.Columns.From())}
	if e.seen = file.Raw(); e.seen == nil {
		medians := file.Substitutes()
		e.seen = mat.NewDense(1, len(medians), medians)
	}
	e.least, e.most = file.RawRanges()
	predictions := math.Pow(2, float64(len(e.inputs)))
	if len(e.inputs) > explain.MostExact {
		predictions = explain.Walks * float64(len(e.inputs)+1)
	}
	n, _ := e.seen.Dims()
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	room := int(min(permittedWhy/cost/predictions, mostBackground))
	e.background = data.PickRows(e.seen, drawn(all, max(room, leastBackground), file.Seed))
	return e
}

// of returns an explainer of the probability of one class.
func (e *explainer) of(name string) (*explainer, error) {
	classes := e.file.Columns.Classes
	k := slices.Index(classes, name)
	switch {
	case classes == nil:
		return nil, fmt.Errorf("%w: the model predicts numbers, and %q is a class to explain; leave it out",
			spec.ErrInvalid, name)
	case k < 0:
		return nil, fmt.Errorf("%w: the model has no class %q to explain, but %s", spec.ErrInvalid, name,
			strings.Join(classes, ", "))
	}
	other := *e
	other.class = &k
	return &other, nil
}

// explain returns further columns of a table of predictions with a row of cells for each case.
// why_of is the class whose probability is explained; base is its mean probability over the
// background, or the mean number; why[INPUT] are Shapley values, whose sum is the difference
// between the prediction and base; why_error is the largest standard error of these, if they are
// sampled. nearest has the training cases of the largest prior correlation, by their place among
// the training cases of the model, each with its label and the correlation. outside names inputs
// beyond the range of the training cases, new categories, and the missing inputs of each case.
func (e *explainer) explain(ds *data.Data, missing [][]string, held job.Outcome) (columns []string, rows [][]any,
	err error) {
	classes, compares := e.file.Columns.Classes, e.fitted.Compared == nil && e.file.Inputs != nil
	sampled := len(e.inputs) > explain.MostExact
	if classes != nil {
		columns = append(columns, "why_of")
	}
	columns = append(columns, "base")
	for _, of := range e.inputs {
		columns = append(columns, "why["+of.Name+"]")
	}
	if sampled {
		columns = append(columns, "why_error")
	}
	if compares {
		columns = append(columns, "nearest")
	}
	columns = append(columns, "outside")
	for i := range ds.Rows {
		var cells []any
		class := 0
		if classes != nil {
			if class = floats.MaxIdx(held.Proba.RawRowView(i)); e.class != nil {
				class = *e.class
			}
			cells = append(cells, classes[class])
		}
		row := ds.X.RawRowView(i)
		seed := random.Derive(e.file.Seed, "why", fmt.Sprint(random.Content(row)))
		a, err := explain.Shapley(row, e.background, e.inputs, e.predictions(class), seed)
		if err != nil {
			return nil, nil, err
		}
		cells = append(cells, record.Number(a.Base))
		for _, v := range a.Shapley {
			cells = append(cells, record.Number(v))
		}
		if sampled {
			cells = append(cells, record.Number(slices.Max(a.Error)))
		}
		if compares {
			cells = append(cells, e.nearest(row))
		}
		rows = append(rows, append(cells, strings.Join(append(e.outside(row), missing[i]...), "; ")))
	}
	return columns, rows, nil
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
func (e *explainer) outside(row []float64) (texts []string) {
	if e.least == nil {
		return nil
	}
	names := e.file.Columns.ColumnNames()
	for j, v := range row {
		least, most := e.least[j], e.most[j]
		coded := func(c data.Column) bool { return c.Coded && c.Name == names[j] }
		if slices.ContainsFunc(e.file.Columns.Inputs, coded) {
			continue // codes of categories have no range
		}
		slack := 1e-9 * max(most-least, math.Abs(most), math.Abs(least)) // preprocessing rounds
		switch {
		case v < least-slack:
			texts = append(texts, fmt.Sprintf("%s %s below %s", names[j], reports.Readable(v), reports.Readable(least)))
		case v > most+slack:
			texts = append(texts, fmt.Sprintf("%s %s above %s", names[j], reports.Readable(v), reports.Readable(most)))
		}
	}
	return texts
}

// drawn returns at most this many of the cases, in their order, drawn without replacement.
func drawn(cases []int, most int, seed uint64) []int {
	if len(cases) <= most {
		return cases
	}
	rng := rand.New(rand.NewPCG(random.Derive(seed, "cases"), 0))
	var out []int
	for _, k := range rng.Perm(len(cases))[:most] {
		out = append(out, cases[k])
	}
	slices.Sort(out)
	return out
}
