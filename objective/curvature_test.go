package objective

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/param"
)

func curvature(t *testing.T, o *Objective, free []float64) *Curvature {
	t.Helper()
	c, err := o.Curvature(context.Background(), free)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// matches compares standard errors and correlations with the given covariance.
func (c *Curvature) matches(t *testing.T, covariance mat.Symmetric, tolerance float64) {
	t.Helper()
	for a, s := range c.StandardErrors {
		if want := math.Sqrt(covariance.At(a, a)); !(math.Abs(s-want) <= tolerance*want) {
			t.Errorf("standard error %d is %v, want %v", a, s, want)
		}
		for b, r := range c.StandardErrors {
			if want := covariance.At(a, b) / math.Sqrt(covariance.At(a, a)*covariance.At(b, b)); !(math.Abs(c.Correlations.At(a, b)-want) <= tolerance) {
				t.Errorf("correlation %d, %d is %v, want %v (standard error %v)", a, b, c.Correlations.At(a, b), want, r)
			}
		}
	}
}

func TestCurvatureOfAQuadratic(t *testing.T) {
	h := mat.NewSymDense(3, []float64{3, 1, 0, 1, 2, -0.9, 0, -0.9, 0.5})
	c := []float64{1, -2, 6}
	f, df := quadratic(h, c)
	got := curvature(t, functionOf(t, wide(3), f, df, entry{}), c)
	var chol mat.Cholesky
	var covariance mat.SymDense
	if !chol.Factorize(h) || chol.InverseTo(&covariance) != nil {
		t.Fatal("not positive definite")
	}
	if len(got.StandardErrors) != 3 || len(got.Warnings) > 0 {
		t.Fatalf("%+v", got)
	}
	got.matches(t, &covariance, 1e-9)

	// At one standard error from the maximum there is a warning that says so.
	away := []float64{c[0] + math.Sqrt(covariance.At(0, 0)), c[1] + covariance.At(0, 1)/math.Sqrt(covariance.At(0, 0)), c[2] + covariance.At(0, 2)/math.Sqrt(covariance.At(0, 0))}
	if w := curvature(t, functionOf(t, wide(3), f, df, entry{}), away).Warnings; len(w) != 1 || !strings.Contains(w[0].Text, "distance from a maximum is about 1 of them") {
		t.Errorf("warnings %q", w)
	}

	// With the second hyperparameter at a bound, the covariance of the others is the inverse of a submatrix of H.
	bounds := wide(3)
	bounds[1] = [2]float64{-2, 5}
	got = curvature(t, functionOf(t, bounds, f, df, entry{}), c)
	if len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0].Text, "at a bound: b") || len(got.Inside) != 2 {
		t.Fatalf("%+v", got)
	}
	got.matches(t, mat.NewSymDense(2, []float64{1. / 3, 0, 0, 2}), 1e-9)
}

func TestCurvatureWithoutAMaximum(t *testing.T) {
	for name, c := range map[string]struct {
		h    []float64
		says string
		left int // number of hyperparameters inside their bounds
	}{
		"saddle": {[]float64{3, 0, 0, -1}, "not a maximum of the objective: the second derivative is 1 in a direction that is mostly b", 2},
		"flat":   {[]float64{3, 0, 0, 1e-9}, "where the objective is flat: b", 1},
		"ridge":  {[]float64{1, 1, 1, 1}, "not a maximum of the objective", 2},
	} {
		f, df := quadratic(mat.NewSymDense(2, c.h), []float64{1, 1})
		got := curvature(t, functionOf(t, wide(2), f, df, entry{}), []float64{1, 1})
		if len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0].Text, c.says) || len(got.Inside) != c.left || (got.StandardErrors == nil) != (name != "flat") {
			t.Errorf("%s: %+v", name, got)
		}
	}
	// H = -I + 2vvᵀ has the second derivative 1 along v, whose largest component may be negative.
	for k := range 6 {
		sin, cos := math.Sincos(math.Pi * (2*float64(k) + 0.5) / 6)
		v, largest := []float64{cos, sin}, "b"
		if math.Abs(cos) > math.Abs(sin) {
			largest = "a"
		}
		f, df := quadratic(mat.NewSymDense(2, []float64{1 - 2*v[0]*v[0], -2 * v[0] * v[1], -2 * v[0] * v[1], 1 - 2*v[1]*v[1]}), []float64{1, 1})
		got := curvature(t, functionOf(t, wide(2), f, df, entry{}), []float64{1, 1})
		if len(got.Warnings) != 1 || !strings.HasSuffix(got.Warnings[0].Text, "mostly "+largest) {
			t.Errorf("along %v: %v", v, got.Warnings)
		}
	}
	none := functionOf(t, [][2]float64{{0, 1}}, func([]float64) float64 { return 1 }, func([]float64, []float64) {}, entry{})
	if got := curvature(t, none, []float64{0}); len(got.Inside) != 0 || got.StandardErrors != nil || len(got.Warnings) != 1 {
		t.Errorf("everything at a bound: %+v", got)
	}
	if _, err := functionOf(t, wide(2), rosenbrock, rosenbrockGradient, entry{noGradient: true}).Curvature(context.Background(), []float64{1, 1}); !errors.Is(err, approx.ErrNoGradient) {
		t.Errorf("error %v", err)
	}
}

// Second differences on a grid around the optimum give the same curvature.
func TestCurvatureAgainstAGrid(t *testing.T) {
	const h = 0.005
	for _, a := range []approx.Approximation{approx.Laplace{}, approx.EP{}} {
		for _, criterion := range []Criterion{LogEvidence{}, LogPosterior{}} {
			o := withPriors(t, a, criterion, param.HalfNormal{Scale: 2}, nil, nil)
			best := climbFrom(t, o, []float64{1, 0, 0}, Settings{})
			n := len(best.Theta)
			value := func(i, j int, si, sj float64) float64 {
				u := append([]float64{}, best.Theta...)
				u[i] += si * h
				u[j] += sj * h
				p, err := o.At(context.Background(), u)
				if err != nil {
					t.Fatal(err)
				}
				return p.Value()
			}
			minus := mat.NewSymDense(n, nil)
			for i := range n {
				for j := range n {
					minus.SetSym(i, j, -(value(i, j, 1, 1)-value(i, j, 1, -1)-value(i, j, -1, 1)+value(i, j, -1, -1))/(4*h*h))
				}
			}
			var chol mat.Cholesky
			var covariance mat.SymDense
			if !chol.Factorize(minus) || chol.InverseTo(&covariance) != nil {
				t.Fatal("not positive definite")
			}
			got := curvature(t, o, best.Theta)
			if len(got.StandardErrors) != n || len(got.Warnings) > 0 {
				t.Fatalf("%T: %+v", a, got)
			}
			got.matches(t, &covariance, 1e-3)
		}
	}
}
