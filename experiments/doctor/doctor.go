// Package doctor checks that the program works on this machine, and measures its arithmetic.
package doctor

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"

	"github.com/dustin/go-humanize"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"

	"github.com/gpc-tune/gpc-tune/experiments/query"
	"github.com/gpc-tune/gpc-tune/internal/build"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/internal/machine"
)

// Doctor describes the machine and measures the arithmetic of one core. It checks that models give
// known values, that the instruction sets agree, and that run folders can be created. tell gets
// each finding as soon as there is one. The error joins the errors of the failed checks.
func Doctor(ctx context.Context, tell func(what, found string)) error {
	this := build.This()
	tell("gpc-tune", this.Version+" "+this.Go+" "+this.Arch)
	tell("processor", fmt.Sprintf("%s, %d cores", cmp.Or(machine.CPU(), "unknown"), runtime.GOMAXPROCS(0)))
	memory := "unknown on this system: only --memory limits runs"
	if free, ok := machine.Available(); ok {
		memory = humanize.IBytes(uint64(free)) + " available"
	}
	tell("memory", memory)
	var failed error
	check := func(what string, err error) {
		found := "yes"
		if err != nil {
			found, failed = "NO: "+err.Error(), errors.Join(failed, fmt.Errorf("%s: %w", what, err))
		}
		tell(what, found)
	}
	for _, known := range []struct {
		likelihood, inference string
		value                 float64 // log evidence, from an independent dense computation
	}{{"logit", "laplace", -69.97728636}, {"probit", "ep", -59.5615426}} {
		check(fmt.Sprintf("log evidence of crabs, %s with %s", known.inference, known.likelihood),
			evidence(ctx, known.likelihood, known.inference, known.value))
	}
	check("vector instructions give correct results", agreement())
	dir, err := os.MkdirTemp(".", ".gpc-tune-*")
	check("run folders can be created here", errors.Join(err, os.RemoveAll(dir)))
	for _, path := range linalg.Paths() {
		linalg.With(path, func() {
			product, cholesky := speed()
			tell(fmt.Sprintf("%s: products, Cholesky (n = %d)", path, size),
				fmt.Sprintf("%.3g, %.3g GFLOP/s on one core", product, cholesky))
		})
	}
	return cmp.Or(failed, ctx.Err())
}

// evidence compares the log evidence of a model of the crabs with a known value.
func evidence(ctx context.Context, likelihood, inference string, value float64) error {
	answer, err := query.Query{
		Data: "crabs", Preprocess: "standardize", Kernel: "se", Mean: "zero", Likelihood: likelihood,
		Inference: inference, Theta: map[string]string{"log_amplitude": "1.1513", "log_length_scale": "0"},
	}.Evaluate(ctx)
	if err == nil && !(math.Abs(float64(answer.LogEvidence)-value) < 1e-6) {
		err = fmt.Errorf("it is %.9g, and should be %.9g", answer.LogEvidence, value)
	}
	return err
}

// size is the number of rows of the matrices whose operations are timed.
const size = 512

// speed measures products and factorisations, in GFLOP/s.
func speed() (product, cholesky float64) {
	multiply, factorise := operations(size)
	const cube = 1e-9 * size * size * size
	return 2 * cube / machine.Seconds(func() { multiply() }), cube / 3 / machine.Seconds(func() { factorise() })
}

// operations returns functions that compute a product of two n×n matrices, and the factorisation of
// A Aᵀ + n I for the first of them, A.
func operations(n int) (multiply func() blas64.General, factorise func() blas64.Triangular) {
	a, b, c := waves(n), waves(n), linalg.NewGeneral(n, n)
	s, u := positive(a), linalg.NewSym(n)
	multiply = func() blas64.General {
		linalg.Gemm(blas.NoTrans, blas.NoTrans, 1, a, b, 0, c)
		return c
	}
	factorise = func() blas64.Triangular {
		copy(u.Data, s.Data)
		return must(linalg.Cholesky(u))
	}
	return multiply, factorise
}

// waves returns an n×n matrix.
func waves(n int) blas64.General {
	a := linalg.NewGeneral(n, n)
	for i := range a.Data {
		a.Data[i] = math.Sin(float64(i))
	}
	return a
}

// positive returns A Aᵀ + n I for an n×n matrix A.
func positive(a blas64.General) blas64.Symmetric {
	s := linalg.NewSym(a.Rows)
	linalg.Syrk(blas.NoTrans, 1, a, 0, s)
	for i := range a.Rows {
		s.Data[i*s.Stride+i] += float64(a.Rows)
	}
	return s
}

// agreement compares the instruction sets on a product and a factorisation.
func agreement() error {
	var inverses []blas64.Symmetric
	for _, path := range linalg.Paths() {
		inverses = append(inverses, inverse(path, 150))
	}
	return differ(linalg.Paths(), inverses)
}

// inverse computes (A Aᵀ + n I)⁻¹ for an n×n matrix A, with the instruction set path.
func inverse(path string, n int) (s blas64.Symmetric) {
	linalg.With(path, func() {
		s = positive(waves(n))
		linalg.InverseCholesky(must(linalg.Cholesky(s)))
	})
	return s
}

// differ returns an error if matrices differ from the first by more than rounding.
func differ(paths []string, of []blas64.Symmetric) error {
	for k, s := range of {
		for i := range s.N {
			for j := i; j < s.N; j++ {
				if d := s.Data[i*s.Stride+j] - of[0].Data[i*s.Stride+j]; !(math.Abs(d) < 1e-12) {
					return fmt.Errorf("an inverse by %s and one by %s differ by %.2g", paths[0], paths[k], d)
				}
			}
		}
	}
	return nil
}

func must(u blas64.Triangular, ok bool) blas64.Triangular {
	if !ok {
		panic("doctor: a matrix with eigenvalues of at least n is not positive definite")
	}
	return u
}
