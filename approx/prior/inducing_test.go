package prior

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// TestBadPriors: invalid numbers in a covariance give an error, whatever their place.
func TestBadPriors(t *testing.T) {
	for name, spoil := range map[string]func(c *Cov){
		"K_zz":     func(c *Cov) { c.K.SetSym(0, 1, math.NaN()) },
		"K_zx":     func(c *Cov) { c.Cross.Set(1, 2, math.Inf(1)) },
		"variance": func(c *Cov) { c.Diag[1] = -1 },
		"noise":    func(c *Cov) { c.Noise[0] = math.NaN() },
		"negative": func(c *Cov) { c.K.SetSym(0, 0, -1) },
	} {
		c := Cov{K: mat.NewSymDense(2, []float64{1, 0, 0, 1}), Cross: mat.NewDense(2, 3, nil),
			Diag: []float64{1, 1, 1}, Noise: []float64{0, 0, 0}}
		spoil(&c)
		if _, err := New(nil, c, 3, 1, false, nil); !errors.Is(err, ErrNotPositiveDefinite) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// TestBadCross: the error for a number in K_zx that is not finite names its place, with a copy and with the
// covariance's own memory as scratch.
func TestBadCross(t *testing.T) {
	const m, n, point, at = 30, 700, 17, 641
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for _, scratch := range []bool{false, true} {
			c := Cov{K: mat.NewSymDense(m, nil), Cross: mat.NewDense(m, n, nil), Diag: make([]float64, n), Scratch: scratch}
			for k := range m {
				c.K.SetSym(k, k, 2)
				for l := range k {
					c.K.SetSym(l, k, 0.5)
				}
				for i := range n {
					c.Cross.Set(k, i, math.Sin(float64(k+i)))
				}
			}
			c.Cross.Set(point, at, bad)
			c.Cross.Set(point+5, at-1, bad)
			_, err := New(nil, c, n, 1, false, nil)
			if want := fmt.Sprintf("inducing input %d and case %d is %v;", point, at, bad); err == nil ||
				!strings.Contains(err.Error(), want) {
				t.Errorf("%v, want %q", err, want)
			}
		}
	}
}

// TestPartsOfAnAdjoint: an adjoint passed column block by column block equals the whole one bit for bit, also if the
// memory of the covariance is used as scratch.
func TestPartsOfAnAdjoint(t *testing.T) {
	const n = 2*PartSize + 5
	rng := rand.New(rand.NewPCG(9, 9))
	cov := Cov{K: mat.NewSymDense(2, []float64{1, 0.3, 0.3, 1}), Cross: mat.NewDense(2, n, nil), Diag: make([]float64, n)}
	tau, b := make([]float64, n), make([]float64, n)
	for i := range n {
		cov.Cross.Set(0, i, 0.5*rng.Float64())
		cov.Cross.Set(1, i, 0.5*rng.Float64())
		cov.Diag[i], tau[i], b[i] = 1, rng.Float64(), rng.NormFloat64()
	}
	adjoint := func(cov Cov, dst *Cov) {
		s, err := New(nil, cov, n, 0.5, false, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Factorise(tau); err != nil {
			t.Fatal(err)
		}
		dst.K, dst.Diag, dst.Noise = mat.NewSymDense(2, nil), make([]float64, n), make([]float64, n)
		s.Pull(dst, func([]float64) Adjoint { return Adjoint{P: [][]float64{b}, Q: [][]float64{b}, C: 1} })
	}
	whole, got := Cov{Cross: mat.NewDense(2, n, nil)}, mat.NewDense(2, n, nil)
	adjoint(cov, &whole)
	cov.Scratch = true
	parts := Cov{Part: func(part *mat.Dense, from int) {
		_, columns := part.Dims()
		got.Slice(0, 2, from, from+columns).(*mat.Dense).Copy(part)
	}}
	linalg.SetThreads(3)
	defer linalg.SetThreads(1)
	adjoint(cov, &parts)
	if !mat.Equal(got, whole.Cross) || !mat.Equal(parts.K, whole.K) {
		t.Error("an adjoint by parts differs from the whole")
	}
}
