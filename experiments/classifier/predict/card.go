package predict

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/experiments/classifier/explain"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/page"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// This file writes model cards (Mitchell et al. 2019, Model Cards for Model Reporting).

// Numbers of permutations and of listed levels of a card.
const (
	cardRepeats = 5
	mostListed  = 8
)

// Card describes the model of a file: data, model, what drives it, limits, and how to repeat it. A
// model file has no held-out cases, so the importance of an input is the information that its own
// probabilities lose, over the training cases.
func (c *Classifier) Card(ctx context.Context) (page.Article, error) {
	importance, err := c.expectedImportance(ctx)
	if err != nil {
		return page.Article{}, err
	}
	about := "The loss of information, in bits per case, if the values of an input come from other training " +
		"cases and the labels follow the model's own probabilities. It says what the model uses, not whether that " +
		"is right: gpc-tune effects MODEL.json DATA measures that on cases with labels."
	if importance == nil {
		about = "The file has no cases on which to measure it: gpc-tune effects MODEL.json DATA measures it on other " +
			"cases."
	}
	limits := append(c.limits(), "A model file has no held-out predictions. gpc-tune card RUN, with the folder of "+
		"the run, adds the verdict, the corrected score, the calibration, and groups with worse scores.")
	return page.Article{Title: "Model card: " + c.file.Experiment, Facts: c.Facts(), Parts: []page.Part{
		c.dataPart(c.file.Raw()), c.modelPart(), driving(importance, about), paragraphs("Limits", limits...),
		paragraphs("How to repeat", c.origin()...)}}, nil
}

// expectedImportance is the importance of the inputs where labels are drawn from the predictions
// p(y|x): the mean of Σ_y p(y|x) log₂ (p(y|x)/p(y|x')), x' with other values of the input. nil: the
// file has no inputs of cases.
func (c *Classifier) expectedImportance(ctx context.Context) ([]explain.Importance, error) {
	raw := c.file.Raw()
	if raw == nil || raw.RawMatrix().Rows < 3 {
		return nil, nil
	}
	cases := make([]int, raw.RawMatrix().Rows)
	for i := range cases {
		cases[i] = i
	}
	x := data.PickRows(raw, drawn(cases, max(c.affordable(cardRepeats, permitted), leastScored), c.file.Seed))
	own, err := c.predicted(x)
	if err != nil {
		return nil, err
	}
	return explain.Importances(x, nil, c.inputs(), func(x *mat.Dense) ([]float64, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		held, err := c.predicted(x)
		if err != nil {
			return nil, err
		}
		out := make([]float64, x.RawMatrix().Rows)
		for i := range out {
			if held.Proba == nil {
				m := own.Mean[i] - held.Mean[i]
				out[i] = -(math.Log(2*math.Pi*held.Variance[i]) + (own.Variance[i]+m*m)/held.Variance[i]) / 2
			} else {
				for k, p := range own.Proba.RawRowView(i) {
					out[i] += p * math.Log(max(held.Proba.At(i, k), smallest))
				}
			}
			out[i] /= math.Ln2
		}
		return out, nil
	}, cardRepeats, c.file.Seed)
}

// dataPart describes the training cases, whose raw inputs are x; nil: they are not known.
func (c *Classifier) dataPart(x *mat.Dense) page.Part {
	of := c.fitted.Training
	p := page.Part{Heading: "Data", Texts: []string{fmt.Sprintf("%s, %s.", c.file.Dataset,
		table.Counted(of.Cases, "training case", "training cases"))}}
	label := c.file.Columns.Label.Name
	if of.Moments != nil {
		p.Texts = append(p.Texts, fmt.Sprintf("The label %s is a number, with the mean %s and the standard deviation "+
			"%s.", label, reports.Readable(float64(of.Moments.Mean)),
			reports.Readable(math.Sqrt(float64(of.Moments.Variance)))))
	} else {
		t := table.Table{Title: "classes of " + cmp.Or(label, "the label"),
			Columns: table.Columns("class", "cases", "%")}
		weights := of.Weights
		if weights != nil { // each is the number of trials of a case with counts
			t.Columns = table.Columns("class", "rows", "sum of weights", "%")
		}
		for k, class := range c.file.Columns.Classes {
			percent := 100 * float64(of.Counts[k]) / float64(of.Cases)
			cells := []any{class, of.Counts[k]}
			if weights != nil {
				percent = 100 * weights[k] / floats.Sum(weights)
				cells = append(cells, reports.Number(weights[k]))
			}
			t.Add(append(cells, table.Cell{Value: reports.Number(percent), Text: fmt.Sprintf("%.1f", percent)})...)
		}
		p.Tables = append(p.Tables, t)
	}
	t := table.Table{Title: "inputs", Columns: table.Columns("input", "kind", "values")}
	columns, names := c.inputs(), c.file.Columns.ColumnNames()
	for _, of := range c.file.Columns.Inputs {
		kind, values := "number", ""
		switch {
		case of.Levels != nil:
			kind, values = "category", listed(of.Levels)
		case of.Order != nil:
			kind, values = "ordered", listed(of.Order)
		case of.Date != nil:
			kind = "date"
			k := slices.IndexFunc(columns, func(i explain.Input) bool { return i.Name == of.Name })
			for _, j := range columns[k].Columns {
				values = strings.TrimPrefix(values+", "+names[j], ", ")
			}
		case x != nil:
			column := slices.DeleteFunc(mat.Col(nil, slices.Index(names, of.Name), x), math.IsNaN)
			if len(column) == 0 {
				break
			}
			values = strings.TrimSpace(reports.Readable(slices.Min(column)) + " to " +
				reports.Readable(slices.Max(column)) + " " + of.Unit)
		}
		t.Add(of.Name, kind, values)
	}
	p.Tables = append(p.Tables, t)
	return p
}

// listed joins texts, at most mostListed of them.
func listed(texts []string) string {
	text := strings.Join(texts[:min(len(texts), mostListed)], ", ")
	if more := len(texts) - mostListed; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// modelPart describes the model in words, with its hyperparameters.
func (c *Classifier) modelPart() page.Part {
	f := c.file
	p := page.Part{Heading: "Model"}
	if f.Model.Kernel != "" && f.Model.Kernel != "none" {
		p.Texts = append(p.Texts, fmt.Sprintf("A Gaussian process with the kernel %s and the mean %s. Observations "+
			"follow the likelihood %s. The posterior is computed by %s.", f.Model.Kernel, f.Model.Mean,
			f.Model.Likelihood, f.Model.Inference))
	} else {
		p.Texts = append(p.Texts, fmt.Sprintf("The classifier %s, which is not a Gaussian process.", f.Model.Inference))
	}
	if f.Tuned.Method != "none" {
		p.Texts = append(p.Texts, fmt.Sprintf("The hyperparameters maximise %s, with the value %s (tune: %s).",
			f.Tuned.Objective, reports.Readable(float64(f.Tuned.Value)), f.Tuned.Method))
	}
	p.Texts = append(p.Texts, fmt.Sprintf("Preprocessing of the inputs: %s.", f.Preprocess.How))
	if values := c.fitted.Hyperparameters(); len(values) > 0 {
		t := table.Table{Title: "hyperparameters, in natural units", Columns: table.Columns("hyperparameter", "value")}
		for _, v := range values {
			t.Add(v.Name, v.Value)
		}
		p.Tables = append(p.Tables, t)
	}
	return p
}

// driving is the part on the importance of inputs.
func driving(importance []explain.Importance, about string) page.Part {
	e := explain.Effects{Importance: importance}
	e.Sort()
	if len(importance) == 0 {
		return paragraphs("What drives it", about)
	}
	return page.Part{Heading: "What drives it", Texts: []string{about},
		Tables: []table.Table{e.ImportanceTable()}, Figures: e.Figures()}
}

// limits are facts that users of the predictions have to know.
func (c *Classifier) limits() (out []string) {
	f := c.file
	if f.Inputs != nil || f.Inducing != nil {
		out = append(out, "Far from the training cases predictions return to the prior. predict --why names inputs "+
			"outside the range of the training cases.")
		out = append(out, "The file contains inputs of training cases. Give it only to people who may see them.")
	}
	if f.Calibrate != "" {
		out = append(out, fmt.Sprintf("Probabilities are calibrated by %s, learnt from held-out predictions.",
			f.Calibrate))
	}
	if f.Threshold != nil {
		out = append(out, fmt.Sprintf("The decision is %s if its probability is at least %s.", f.Columns.Classes[1],
			reports.Readable(f.Threshold[0])))
	}
	if f.Costs != nil {
		out = append(out, "Decisions minimise the expected cost, by the costs in the file.")
	}
	if f.Sets != nil {
		out = append(out, fmt.Sprintf("Sets of classes contain the true class in %s %% of cases, if new cases are "+
			"like the held-out ones.", reports.Readable(100*f.Sets.Coverage)))
	}
	return append(out, "A missing value is replaced by the usual value of the training cases, with a warning.")
}

// origin has the experiment, the build and the data of the model file.
func (c *Classifier) origin() []string {
	f := c.file
	return []string{fmt.Sprintf("Experiment %s with the seed %d, by gpc-tune %s (%s, %s).", f.Experiment, f.Seed,
		f.Build.Version, f.Build.Go, f.Build.Arch), fmt.Sprintf("Data: %s, hash %s.", f.Dataset, f.DataHash)}
}

// paragraphs is a part without tables.
func paragraphs(heading string, texts ...string) page.Part {
	return page.Part{Heading: heading, Texts: texts}
}
