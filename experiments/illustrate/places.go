package illustrate

import (
	"fmt"

	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/experiments/declared"
	"github.com/gpc-tune/gpc-tune/record"
)

// places are equally spaced points on a line.
type places struct {
	From   float64 `yaml:"from"`
	To     float64 `yaml:"to"`
	Points int     `yaml:"points"`
}

// maxPlaces limits the number of points: a covariance has the square of this size, and a manifest
// keeps every column.
const maxPlaces = 2000

// on returns the points, at most this many.
func (p places) on(most int) ([]float64, error) {
	if !(p.From < p.To && p.To-p.From <= 1e300 && p.Points >= 2 && p.Points <= most) {
		return nil, fmt.Errorf("from %v to %v, points: %d; from must be less than to, and points from 2 to %d", p.From,
			p.To, p.Points, most)
	}
	return floats.Span(make([]float64, p.Points), p.From, p.To), nil
}

// recorded returns a column of numbers.
func recorded(name string, values []float64) record.Column {
	return record.Column{Name: name, Values: record.Numbers(values)}
}

// checkLabels reports invalid labels of single latent values.
func checkLabels(m declared.Model, labels []float64, wrong func(error), put func(at string, err error)) {
	switch m.Likelihood.Domain() {
	case likelihood.Categorical:
		put("likelihood", fmt.Errorf("%s is of a latent value for each class, and one is shown; use probit or logit",
			m.Written.Likelihood))
	case likelihood.Ordered:
		put("likelihood", fmt.Errorf("%s is of several classes in order, and two are shown; use probit or logit",
			m.Written.Likelihood))
	case likelihood.Binary:
		for _, y := range labels {
			if y != 1 && y != -1 {
				wrong(fmt.Errorf("label %v; of two classes one is -1, the other +1", y))
			}
		}
	}
}

// bound returns the likelihood at its initial parameters, and records them.
func bound(m declared.Model, i *record.Illustration) likelihood.Bound {
	var theta []float64
	for _, s := range m.Likelihood.Params() {
		theta = append(theta, s.Map.Theta(s.Init))
		i.Hyperparameters = append(i.Hyperparameters,
			record.Named{Name: "likelihood." + s.Name, Value: record.Number(s.Init)})
	}
	return m.Likelihood.At(theta)
}

// targetsOf converts labels of single latent values.
func targetsOf(m declared.Model, labels []float64) approx.Targets {
	y := approx.Targets{Classes: 2, Value: labels}
	if m.Likelihood.Domain() == likelihood.Numeric {
		y.Classes = 0
	}
	return y
}
