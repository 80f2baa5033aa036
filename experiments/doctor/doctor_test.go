//go:build unix

package doctor

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/internal/machine"
)

func TestDoctor(t *testing.T) {
	dir, memory := t.TempDir(), "unknown on this system"
	if _, known := machine.Available(); known {
		memory = "iB available"
	}
	t.Chdir(dir)
	found := map[string]string{}
	if err := Doctor(t.Context(), func(what, text string) { found[what] = text }); err != nil {
		t.Fatal(err)
	}
	for what, want := range map[string]string{
		"gpc-tune": "go1.", "memory": memory, "processor": fmt.Sprintf(", %d cores", runtime.GOMAXPROCS(0)),
		"log evidence of crabs, laplace with logit": "yes",
		"log evidence of crabs, ep with probit":     "yes", "vector instructions give correct results": "yes",
		"run folders can be created here": "yes", "generic: products, Cholesky (n = 512)": "GFLOP/s on one core",
	} {
		if !strings.Contains(found[what], want) {
			t.Errorf("%s: %q", what, found[what])
		}
	}
	// Any machine of today has between 0.05 and 5 000 GFLOP/s on a core.
	for what, text := range found {
		var product, cholesky float64
		if !strings.Contains(what, ": products") {
			continue
		}
		if n, err := fmt.Sscanf(text, "%g, %g GFLOP/s", &product, &cholesky); n != 2 || err != nil ||
			!(min(product, cholesky) > 0.05 && max(product, cholesky) < 5000) {
			t.Errorf("%s: %s", what, text)
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, ".*")); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
}

// A check that fails is named, and the others are made.
func TestDoctorFindsFaults(t *testing.T) {
	if err := evidence(t.Context(), "probit", "ep", -59.5615446); err == nil ||
		!strings.Contains(err.Error(), "and should be -59.5615446") {
		t.Error(err)
	}
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	told := 0
	err := Doctor(t.Context(), func(what, text string) {
		if told++; strings.HasPrefix(text, "NO: ") != (what == "run folders can be created here") {
			t.Errorf("%s: %s", what, text)
		}
	})
	if err == nil || !strings.Contains(err.Error(), "run folders can be created here: ") || told < 8 {
		t.Errorf("%d findings, and %v", told, err)
	}
}

// The inverse equals the inverse of gonum, and a difference in any entry is found.
func TestInstructionSetsAgree(t *testing.T) {
	const n = 20
	a := mat.NewDense(n, n, nil)
	a.Apply(func(i, j int, _ float64) float64 { return math.Sin(float64(i*n + j)) }, a)
	var b, want mat.Dense
	b.Mul(a, a.T())
	for i := range n {
		b.Set(i, i, b.At(i, i)+n)
	}
	if err := want.Inverse(&b); err != nil {
		t.Fatal(err)
	}
	for _, path := range linalg.Paths() {
		for i := range n {
			for j := i; j < n; j++ {
				if got := inverse(path, n).Data[i*n+j]; math.Abs(got-want.At(i, j)) > 1e-14 {
					t.Fatalf("%s: %d, %d: %v, want %v", path, i, j, got, want.At(i, j))
				}
			}
		}
	}
	multiply, factorise := operations(n) // what is timed
	var product, square mat.Dense
	product.Mul(a, a)
	u := mat.NewTriDense(n, mat.Upper, nil)
	of := factorise()
	for range 2 { // the same again
		got := multiply()
		of = factorise()
		for i := range n {
			for j := range n {
				if math.Abs(got.Data[i*n+j]-product.At(i, j)) > 1e-12 {
					t.Fatalf("product %d, %d: %v, want %v", i, j, got.Data[i*n+j], product.At(i, j))
				}
			}
		}
	}
	for i := range n {
		for j := i; j < n; j++ {
			u.SetTri(i, j, of.Data[i*of.Stride+j])
		}
	}
	if square.Mul(u.T(), u); !mat.EqualApprox(&square, &b, 1e-12) {
		t.Error("the factor is another")
	}
	one := func() blas64.Symmetric { return inverse("generic", 3) }
	for i := range 3 {
		for j := i; j < 3; j++ {
			for _, off := range []float64{-1e-11, 1e-11, math.NaN()} {
				changed := one()
				changed.Data[3*i+j] += off
				if err := differ([]string{"one", "two", "three"}, []blas64.Symmetric{one(), one(), changed}); err == nil ||
					!strings.Contains(err.Error(), "by one and one by three differ by ") {
					t.Errorf("%d, %d, %v: %v", i, j, off, err)
				}
			}
		}
	}
	zero, least := linalg.NewSym(1), linalg.NewSym(1)
	if least.Data[0] = 1e-12; differ([]string{"one", "two"}, []blas64.Symmetric{zero, least}) == nil {
		t.Error("1e-12 is not told")
	}
	if err := differ([]string{"one", "two"}, []blas64.Symmetric{one(), one()}); err != nil {
		t.Error(err)
	}
}
