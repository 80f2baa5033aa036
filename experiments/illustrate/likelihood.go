package illustrate

import (
	"context"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/experiments/declared"
	"github.com/gpc-tune/gpc-tune/record"
)

// likelihoodIllustration shows log p(y|f) over f at the initial parameters of the likelihood, and
// its first three derivatives if they exist, as in GPML Figure 3.3: columns f, log_likelihood,
// first_derivative, ….
type likelihoodIllustration struct {
	Latent places  `yaml:"latent"` // f
	Label  float64 `yaml:"label"`  // y; -1 or +1 for two classes
}

func (likelihoodIllustration) Needs() []string { return []string{"likelihood"} }

func (l likelihoodIllustration) Check(m declared.Model, put func(at string, err error)) {
	if _, err := l.Latent.on(maxPlaces); err != nil {
		put("latent", err)
	}
	checkLabels(m, []float64{l.Label}, func(err error) { put("label", err) }, put)
}

func (l likelihoodIllustration) Fill(
	_ context.Context, i *record.Illustration, models []declared.Model, _ uint64,
) error {
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
	switch lik := bound(models[0], i).(type) {
	case likelihood.Differentiable:
		i.Columns = append(i.Columns, record.Column{Name: "first_derivative"}, record.Column{Name: "second_derivative"},
			record.Column{Name: "third_derivative"})
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
