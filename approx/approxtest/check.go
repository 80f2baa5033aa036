package approxtest

import (
	"context"
	"math"
	"reflect"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
)

// check is a method with a likelihood that it accepts. Checks with a grid of hyperparameters try
// another part of it for each cell, the number of the likelihood and classes.
type check struct {
	cell    int
	method  approx.Approximation
	lik     likelihood.Bound
	classes int
	caps    approx.Caps
}

// one says whether there is one latent process.
func (c check) one() bool { return likelihood.Processes(c.lik.Likelihood(), c.classes) == 1 }

// cases draws n inputs in the plane and labels of two overlapping classes, or numbers.
func (c check) cases(n int, seed uint64) (x [][]float64, y []float64) {
	x, y = TwoClasses(n, seed)
	if c.classes != 2 && c.one() {
		for i, p := range x {
			y[i] += p[0]
		}
	}
	return x, y
}

func (c check) prior(k *mat.SymDense, mean []float64) []approx.Cov {
	return []approx.Cov{{K: Prior(c.lik, k), Mean: mean}}
}

// targets is y, or for more than two classes labels in rotation, or the parts between whole numbers
// where y lies if they have an order.
func (c check) targets(y []float64) approx.Targets {
	if c.classes <= 2 {
		return approx.Targets{Classes: c.classes, Value: y}
	}
	index := make([]int, len(y))
	for i := range index {
		index[i] = i % c.classes
		if c.one() {
			index[i] = min(max(int(math.Floor(y[i]))+c.classes/2, 0), c.classes-1)
		}
	}
	return approx.Targets{Classes: c.classes, Index: index}
}

// fit fits and requires convergence.
func (c check) fit(t testing.TB, k *mat.SymDense, mean, y []float64, start approx.State) approx.Posterior {
	t.Helper()
	post, err := c.method.Fit(context.Background(), c.prior(k, mean), c.targets(y), c.lik, start)
	if err != nil {
		t.Fatal(err)
	}
	if !post.Diagnostics().Converged {
		t.Fatalf("not converged: %+v", post.Diagnostics())
	}
	return post
}

func adjoint(t testing.TB, f approx.Functional, n int) approx.Cov {
	t.Helper()
	dst := approx.Cov{K: mat.NewSymDense(n, nil), Mean: make([]float64, n)}
	if err := f.Adjoint(&dst, 0); err != nil {
		t.Fatal(err)
	}
	return dst
}

// along returns tr(G E).
func along(g, e *mat.SymDense) float64 {
	sum := 0.0
	for i := range g.SymmetricDim() {
		for j := range g.SymmetricDim() {
			sum += g.At(i, j) * e.At(i, j)
		}
	}
	return sum
}

// near reports |got - want| ≤ tol max(1, |want|).
func near(got, want, tol float64) bool { return math.Abs(got-want) <= tol*max(1, math.Abs(want)) }

// predict returns, at the training inputs, the class probabilities, or for numbers the latent means
// and variances.
func (c check) predict(post approx.Posterior, k *mat.SymDense) *mat.Dense {
	return c.predictFrom(post, mat.DenseCopyOf(k), k)
}

// predictFrom is predict with a covariance with other training cases, of any number.
func (c check) predictFrom(post approx.Posterior, cross *mat.Dense, k *mat.SymDense) *mat.Dense {
	_, n := cross.Dims()
	diag := make([]float64, n)
	for i := range diag {
		diag[i] = k.At(i, i)
	}
	dst := mat.NewDense(n, max(2, c.classes), nil)
	if c.classes > 0 {
		post.PredictProba(dst, []*mat.Dense{cross}, [][]float64{diag}, nil)
		return dst
	}
	mean, variance := make([]float64, n), make([]float64, n)
	post.Latent(mean, variance, cross, diag, 0)
	dst.SetCol(0, mean)
	dst.SetCol(1, variance)
	return dst
}

// option returns the field of an option of a file.
func option(m reflect.Value, name string) (field reflect.Value) {
	if m.Kind() != reflect.Struct {
		return field
	}
	for i := range m.NumField() {
		tag, rest, _ := strings.Cut(m.Type().Field(i).Tag.Get("yaml"), ",")
		if tag == name {
			return m.Field(i)
		}
		if strings.Contains(rest, "inline") {
			if field = option(m.Field(i), name); field.IsValid() {
				return field
			}
		}
	}
	return field
}

func has(m approx.Approximation, name string) bool { return option(reflect.ValueOf(m), name).IsValid() }

// with returns m with an option of a file set to a value, or m itself if it has no such option.
func with(m approx.Approximation, name string, value any) approx.Approximation {
	if !has(m, name) {
		return m
	}
	changed := reflect.New(reflect.TypeOf(m)).Elem()
	changed.Set(reflect.ValueOf(m))
	option(changed, name).Set(reflect.ValueOf(value))
	return changed.Interface().(approx.Approximation)
}
