package comparator

import (
	"fmt"
	"math"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// TestCoefficientsOfTheShuttle: with a very wide prior, coefficients and standard errors equal the
// maximum likelihood ones in textbooks for the O-rings of the space shuttle. There are 23 flights
// with the temperature in degrees Fahrenheit and whether a ring was damaged (Dalal, Fowlkes and
// Hoadley 1989).
func TestCoefficientsOfTheShuttle(t *testing.T) {
	temperature := []float64{66, 70, 69, 68, 67, 72, 73, 70, 57, 63, 70, 78, 67, 53, 67, 75, 70, 81, 76, 79, 75, 76, 58}
	damaged := []float64{0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0, 1}
	d := objective.Data{X: &kernel.Inputs{X: mat.NewDense(23, 1, temperature)}, Y: approx.Targets{Classes: 2}}
	for _, v := range damaged {
		d.Y.Value = append(d.Y.Value, 2*v-1)
	}
	s := fitted(t, LogisticRegression{}.at(1e4), d).Summary()
	// A prior of standard deviation σ moves the maximum by about its covariance times w/σ², at most 54·15/1e8.
	for i, want := range []struct{ value, err float64 }{{-0.2322, 0.1082}, {15.0429, 7.3786}} {
		if got := s.Coefficients[0][i]; math.Abs(got-want.value) > 0.5e-4+54*15/1e8 {
			t.Errorf("coefficient %d: %.5f, published %.4f", i, got, want.value)
		}
		if got := s.StandardErrors[0][i]; math.Abs(got-want.err) > 0.5e-4+1e-5 {
			t.Errorf("standard error %d: %.5f, published %.4f", i, got, want.err)
		}
	}
}

// TestCoefficientsAreTheMaximum: the gradient of the penalised log likelihood is 0 at the
// coefficients. The standard errors are the roots of the diagonal of the inverse Hessian there.
// Both are computed here by sums over cases.
func TestCoefficientsAreTheMaximum(t *testing.T) {
	for _, classes := range []int{2, 3, 5} {
		for _, bias := range []bool{true, false} {
			t.Run(fmt.Sprintf("%d classes, bias %v", classes, bias), func(t *testing.T) {
				const sigma = 1.7
				d := blobs(50, classes, 21)
				f := fitted(t, LogisticRegression{Bias: &bias}.at(sigma), d)
				s := f.Summary()
				n, dim := d.X.X.Dims()
				columns := dim
				if bias {
					columns++
				}
				input := func(i, j int) float64 {
					if j == dim {
						return 1
					}
					return d.X.X.At(i, j)
				}
				processes := machines(classes)
				if len(s.Coefficients) != processes || len(s.Coefficients[0]) != columns || len(s.StandardErrors[0]) != columns {
					t.Fatalf("%d rows of %d coefficients", len(s.Coefficients), len(s.Coefficients[0]))
				}
				size := processes * columns
				gradient, hessian := make([]float64, size), mat.NewDense(size, size, nil)
				for c := range processes {
					for j := range columns {
						gradient[c*columns+j] = -s.Coefficients[c][j] / (sigma * sigma)
						hessian.Set(c*columns+j, c*columns+j, 1/(sigma*sigma))
					}
				}
				for i := range n {
					p, total := make([]float64, processes), 0.0
					for c := range p {
						latent := 0.0
						for j := range columns {
							latent += s.Coefficients[c][j] * input(i, j)
						}
						p[c] = math.Exp(latent)
						total += p[c]
					}
					if classes == 2 {
						total++ // the first class has the latent value 0
					}
					for c := range p {
						p[c] /= total
					}
					for c := range processes {
						is := 0.0
						if classes == 2 && d.Y.Value[i] > 0 || classes > 2 && d.Y.Index[i] == c {
							is = 1
						}
						for j := range columns {
							gradient[c*columns+j] += (is - p[c]) * input(i, j)
							for e := range processes {
								w := -p[c] * p[e]
								if e == c {
									w += p[c]
								}
								for k := range columns {
									at := hessian.At(c*columns+j, e*columns+k)
									hessian.Set(c*columns+j, e*columns+k, at+w*input(i, j)*input(i, k))
								}
							}
						}
					}
				}
				var inverse mat.Dense
				if err := inverse.Inverse(hessian); err != nil {
					t.Fatal(err)
				}
				for a, g := range gradient {
					if math.Abs(g) > 1e-7 {
						t.Errorf("gradient %d is %g", a, g)
					}
					want, got := math.Sqrt(inverse.At(a, a)), s.StandardErrors[a/columns][a%columns]
					if math.Abs(got-want) > 1e-8*want {
						t.Errorf("standard error %d: %v, want %v", a, got, want)
					}
				}
			})
		}
	}
}
