package experiments

import (
	"context"
	"fmt"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/record"
)

// likelihoodIllustration shows log p(y|f) over f where the likelihood's parameters start, and its first three derivatives if it
// has them, as in GPML Figure 3.3: columns f, log_likelihood, first_derivative, ….
type likelihoodIllustration struct {
	Latent places  `yaml:"latent"` // f
	Label  float64 `yaml:"label"`  // y; of two classes -1 or +1
}

func (likelihoodIllustration) needs() []string { return []string{"likelihood"} }

func (l likelihoodIllustration) check(m Model, put func(at string, err error)) {
	if _, err := l.Latent.on(maxPlaces); err != nil {
		put("latent", err)
	}
	m.checkLabels([]float64{l.Label}, func(err error) { put("label", err) }, put)
}

// checkLabels says what is wrong with labels of single latent values.
func (m Model) checkLabels(labels []float64, wrong func(error), put func(at string, err error)) {
	switch m.Likelihood.Domain() {
	case likelihood.Categorical:
		put("likelihood", fmt.Errorf("%s is of a latent value for each class, and one is shown; use probit or logit", m.Label.Likelihood))
	case likelihood.Binary:
		for _, y := range labels {
			if y != 1 && y != -1 {
				wrong(fmt.Errorf("label %v; of two classes one is -1, the other +1", y))
			}
		}
	}
}

func (l likelihoodIllustration) of(m Model) record.Illustration {
	return record.Illustration{Likelihood: m.Label.Likelihood}
}

// bound is the likelihood where its parameters start, which are noted.
func (m Model) bound(i *record.Illustration) likelihood.Bound {
	var theta []float64
	for _, s := range m.Likelihood.Params() {
		theta = append(theta, s.Map.Theta(s.Init))
		i.Hyperparameters = append(i.Hyperparameters, record.Named{Name: "likelihood." + s.Name, Value: record.Number(s.Init)})
	}
	return m.Likelihood.At(theta)
}

func (l likelihoodIllustration) fill(_ context.Context, i *record.Illustration, models []Model, _ uint64) error {
	f, err := l.Latent.on(maxPlaces)
	if err != nil {
		return err
	}
	y := l.Label
	i.Labels = record.Numbers([]float64{y})
	i.Columns = []record.Column{recorded("f", f), {Name: "log_likelihood"}}
	add := func(column int, v float64) {
		i.Columns[column].Values = append(i.Columns[column].Values, record.Number(v))
	}
	switch lik := models[0].bound(i).(type) {
	case likelihood.Differentiable:
		i.Columns = append(i.Columns, record.Column{Name: "first_derivative"}, record.Column{Name: "second_derivative"}, record.Column{Name: "third_derivative"})
		for _, f := range f {
			logp, d1, d2, d3 := lik.Derivs(y, f)
			for k, v := range []float64{logp, d1, d2, d3} {
				add(k+1, v)
			}
		}
	case likelihood.MomentMatcher:
		for _, f := range f {
			logp, _ := lik.Moments(y, f, 0)
			add(1, logp)
		}
	}
	return nil
}
