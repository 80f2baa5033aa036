package illustrate

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/experiments/declared"
	"github.com/gpc-tune/gpc-tune/record"
)

// softmaxIllustration shows three functions of f1 for latent values f = (f1, 0, …, 0). Columns p1,
// … are the class probabilities π. Columns averaged1, … are averages of π over independent Gaussian
// latent values with means f. Columns eigenvalue1, … are the eigenvalues of W = diag π - ππᵀ [GPML
// (3.38)], ascending.
type softmaxIllustration struct {
	Latent     places    `yaml:"latent"`     // f1
	Deviations []float64 `yaml:"deviations"` // standard deviation of the latent value of each class
}

func (softmaxIllustration) Needs() []string { return []string{"likelihood"} }

func (s softmaxIllustration) Check(m declared.Model, put func(at string, err error)) {
	if _, err := s.Latent.on(maxPlaces); err != nil {
		put("latent", err)
	}
	if n := len(s.Deviations); n < 3 || n > 10 {
		put("deviations", fmt.Errorf("%d deviations; give one for each of 3 to 10 classes", n))
	}
	for _, v := range s.Deviations {
		if !(v >= 0 && v <= 1e3) {
			put("deviations", fmt.Errorf("deviation %v; it must be from 0 to 1000", v))
		}
	}
	switch _, multinomial := bound(m, new(record.Illustration)).(likelihood.Multinomial); {
	case m.Likelihood.Domain() != likelihood.Categorical:
		put("likelihood", fmt.Errorf("%s has one latent value, and one for each class is shown; use softmax",
			m.Written.Likelihood))
	case !multinomial:
		put("likelihood", fmt.Errorf("%s has another W than diag π - ππᵀ, whose eigenvalues are shown; use softmax",
			m.Written.Likelihood))
	}
}

func (s softmaxIllustration) Fill(
	ctx context.Context, i *record.Illustration, models []declared.Model, _ uint64,
) error {
	first, err := s.Latent.on(maxPlaces)
	if err != nil {
		return err
	}
	n := len(s.Deviations)
	lik := bound(models[0], i).(likelihood.Multinomial)
	i.Columns = append(i.Columns, recorded("f1", first))
	for _, name := range []string{"p", "averaged", "eigenvalue"} {
		for c := range n {
			i.Columns = append(i.Columns, record.Column{Name: fmt.Sprintf("%s%d", name, c+1)})
		}
	}
	covariance := mat.NewSymDense(n, nil)
	for c, v := range s.Deviations {
		i.Hyperparameters = append(i.Hyperparameters,
			record.Named{Name: fmt.Sprintf("deviation%d", c+1), Value: record.Number(v)})
		covariance.SetSym(c, c, v*v)
	}
	f, pi, g, averaged := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for _, f[0] = range first {
		if err := ctx.Err(); err != nil {
			return err
		}
		lik.Probabilities(pi, g, f, 0)
		lik.Average(averaged, f, covariance, 0)
		w := mat.NewSymDense(n, nil)
		for c := range n {
			w.SetSym(c, c, pi[c])
		}
		w.SymRankOne(w, -1, mat.NewVecDense(n, pi))
		var e mat.EigenSym
		if !e.Factorize(w, false) {
			return fmt.Errorf("the eigenvalues of W at f1 = %v do not converge", f[0])
		}
		for k, values := range [][]float64{pi, averaged, e.Values(nil)} {
			for c, v := range values {
				column := &i.Columns[1+k*n+c]
				column.Values = append(column.Values, record.Number(v))
			}
		}
	}
	return nil
}
