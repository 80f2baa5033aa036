package illustrate

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/experiments/declared"
	"github.com/gpc-tune/gpc-tune/record"
)

// cavityIllustration shows how the posterior of EP, and a cavity, depend on the site of one case:
// the precision of the first site varies, and all other site parameters are as at the fixed point.
// The columns are precision, mean and variance of the first marginal, and cavity_mean and
// cavity_variance by GPML (3.56), which removes the first site from the first marginal.
type cavityIllustration struct {
	Covariance [][]float64 `yaml:"covariance"` // prior covariance; the prior means are 0
	Labels     []float64   `yaml:"labels"`     // labels -1 or +1
	Precision  places      `yaml:"precision"`  // precisions of the first site
}

func (cavityIllustration) Needs() []string { return []string{"likelihood", "inference"} }

func (c cavityIllustration) Check(m declared.Model, put func(at string, err error)) {
	if at, err := c.Precision.on(maxPlaces); err != nil {
		put("precision", err)
	} else if at[0] < 0 {
		put("precision", fmt.Errorf("from %v; a precision is not negative", at[0]))
	}
	posteriorIllustration{Covariance: c.Covariance, Labels: c.Labels}.Check(m, put)
	if _, is := m.Inference.(approx.EP); !is {
		put("inference", fmt.Errorf("%s has no cavities; use ep", m.Written.Inference))
	}
}

func (c cavityIllustration) Fill(ctx context.Context, i *record.Illustration, models []declared.Model, _ uint64) error {
	precisions, err := c.Precision.on(maxPlaces)
	if err != nil {
		return err
	}
	m, lik, n := models[0], bound(models[0], i), len(c.Labels)
	k := mat.NewSymDense(n, nil)
	for a, row := range (posteriorIllustration{Covariance: c.Covariance, Labels: c.Labels}).filled().Covariance {
		for b, v := range row {
			k.SetSym(a, b, v)
		}
	}
	cov, y := []approx.Cov{{K: k}}, targetsOf(m, c.Labels)
	fit, err := m.Inference.Fit(ctx, cov, y, lik, nil)
	if err != nil {
		return err
	}
	i.Labels = record.Numbers(c.Labels)
	i.Columns = []record.Column{recorded("precision", precisions), {Name: "mean"}, {Name: "variance"},
		{Name: "cavity_mean"}, {Name: "cavity_variance"}}
	cross := mat.NewDense(n, 1, nil)
	for a := range n {
		cross.Set(a, 0, k.At(a, 0))
	}
	for _, precision := range precisions {
		state := append(approx.State{}, fit.State()...) // τ and then ν
		state[0] = precision
		post, err := m.Inference.Restore(cov, y, lik, state)
		if err != nil {
			return err
		}
		var mean, variance [1]float64
		post.Latent(mean[:], variance[:], cross, []float64{k.At(0, 0)}, 0)
		cavity := 1 / (1/variance[0] - precision)
		for column, v := range []float64{mean[0], variance[0], cavity * (mean[0]/variance[0] - state[n]), cavity} {
			i.Columns[column+1].Values = append(i.Columns[column+1].Values, record.Number(v))
		}
	}
	return nil
}
