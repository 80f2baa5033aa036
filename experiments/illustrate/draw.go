package illustrate

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/experiments/declared"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/record"
)

// Drawable calls put with each reason why a model cannot be drawn from at cases: the kernel or the
// classes, and the error. names are given names of classes, as in the example.
func Drawable(m declared.Model, cases objective.Data, names []string, example string, put func(at string, err error)) {
	perClass, what := m.Likelihood.Domain() == likelihood.Categorical,
		cmp.Or(m.Written.Likelihood.Text, "a model without likelihood")
	switch named := perClass || m.Ordered(); {
	case named && len(cases.Classes) < 2:
		put("classes", fmt.Errorf("%s is of two or more classes; name them, as in %s", what, example))
	case !named && len(names) > 0:
		put("classes", fmt.Errorf("names of classes are for softmax and ordinal; %s has none", what))
	case m.PerClass && !perClass:
		put("kernel", fmt.Errorf("%s has one latent function, so per_class kernels do not apply; use softmax, or "+
			"one kernel", what))
	}
	if err := kernel.CheckDim(m.Kernels[0], cases.X.Dim()); err != nil {
		put("kernel", err)
	}
}

// Draw draws from the prior of a model at theta, and fills an illustration: inputs by name, then
// f1, f2, … and, for a likelihood of classes, p1, p2, ….
func Draw(ctx context.Context, m declared.Model, i *record.Illustration, cases objective.Data, inputs []string,
	theta []float64, count int, seed uint64) error {
	model := m.On(len(cases.Classes))
	draws, jitter, err := model.Draw(ctx, theta, cases, count, seed)
	if err != nil {
		return err
	}
	layout := model.LayoutOn(cases)
	for j, v := range layout.Natural(theta) {
		if s := layout.Specs[j]; !i.Likelihood.IsZero() || !strings.HasPrefix(s.Name, "likelihood.") {
			of := record.Named{Name: s.Name, Value: record.Number(v)}
			if s.Choices != nil {
				of.Text, of.JSON = s.Text(v), s.JSON(v)
			}
			i.Hyperparameters = append(i.Hyperparameters, of)
		}
	}
	i.Jitter = record.Number(jitter)
	if m.Likelihood.Domain() == likelihood.Categorical || m.Ordered() {
		i.Classes = cases.Classes
	}
	for j, name := range inputs {
		i.Columns = append(i.Columns, recorded(name, mat.Col(nil, j, cases.X.X)))
	}
	add := func(letter string, draw int, parts [][]float64) {
		for c, part := range parts {
			name := fmt.Sprintf("%s%d", letter, draw+1)
			if len(parts) == len(i.Classes) {
				name += "[" + i.Classes[c] + "]"
			}
			i.Columns = append(i.Columns, recorded(name, part))
		}
	}
	for k, draw := range draws {
		add("f", k, draw.Latent)
	}
	for k, draw := range draws {
		add("p", k, draw.Proba)
	}
	return nil
}
