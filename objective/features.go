package objective

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// Features selects a prior of lower rank, as an option of a method. It replaces K, without noise,
// by ΦᵀΦ for the Count features Φ, Count × n, of the cases (Rahimi & Recht 2007; see
// kernel.Features). The variances are unchanged. The features depend on the kernel alone, and not
// on the cases. With no more cases than features the method uses K itself.
type Features struct {
	Count int `yaml:"count" within:"[1,1000000]"`
}

// Reads lists the texts that UnmarshalText reads, besides numbers.
func (Features) Reads() (texts []string, numbers bool) { return nil, true }

// UnmarshalText reads the number of features.
func (f *Features) UnmarshalText(text []byte) error {
	count, err := strconv.Atoi(string(text))
	if err != nil || count < 1 || count > 1000000 {
		return fmt.Errorf("features: %q is no number from 1 to 1000000; write how many there are to be, as in 500",
			text)
	}
	f.Count = count
	return nil
}

// PowerOr implements Structure: no variance is missing.
func (Features) PowerOr(float64) float64 { return 1 }

// Check implements Structure.
func (f Features) Check(kernels []kernel.Kernel, _, dim int) error {
	if f.Count < 1 {
		return errors.New("features: count is missing, or below 1; write how many there are to be, as in " +
			"{features: 500}")
	}
	for _, k := range kernels {
		if err := kernel.CheckFeatures(k, f.Count, dim); err != nil {
			return err
		}
	}
	return nil
}

// Rank implements Structure.
func (f Features) Rank(n int) int { return min(n, f.Count) }

// Width implements Structure.
func (f Features) Width(n, _ int) int { return f.Rank(n) }

// Memory implements Structure.
func (f Features) Memory(m approx.Approximation, s approx.Size, dim int) int64 {
	return lowRankMemory(f.Count, m, s, dim)
}

func (f Features) of(x *kernel.Inputs, kernels []kernel.Kernel) structure {
	s := &featured{}
	for _, k := range kernels {
		of, err := kernel.NewFeatures(k, f.Count, x)
		if err != nil {
			panic(err) // Check returns it
		}
		s.kernels = append(s.kernels, k)
		s.all = append(s.all, of)
	}
	s.lowRank = newLowRank(s, x)
	return s
}

// featured is a training set together with the features of its kernels.
type featured struct {
	lowRank
	kernels []kernel.Kernel
	all     []*kernel.Features
}

// prepare implements structure: there is nothing to choose.
func (s *featured) prepare(context.Context, kernel.Kernel, []float64) error { return nil }

// features are the features of one of the kernels.
func (s *featured) features(k kernel.Kernel) *kernel.Features {
	return s.all[slices.IndexFunc(s.kernels, func(own kernel.Kernel) bool { return reflect.DeepEqual(own, k) })]
}

// rows is the largest number of features that a kernel has.
func (s *featured) rows() (most int) {
	for _, f := range s.all {
		most = max(most, f.Rows())
	}
	return most
}

// gram implements features: a priori they are independent, of variance 1.
func (s *featured) gram(dst *mat.SymDense, _ kernel.Kernel, _ []float64) {
	dst.Zero()
	for i := range s.rows() {
		dst.SetSym(i, i, 1)
	}
}

func (s *featured) pullGram([]float64, kernel.Kernel, []float64, *mat.SymDense) {}

// columns implements features. A kernel with fewer of them than another has zeros in place of the
// rest.
func (s *featured) columns(dst *mat.Dense, k kernel.Kernel, theta []float64, p part) {
	s.cross(dst, k, theta, p.x)
}

func (s *featured) pullColumns(grad []float64, k kernel.Kernel, theta []float64, p part, g *mat.Dense) {
	f := s.features(k)
	f.Pull(grad, theta, p.x, g.Slice(0, f.Rows(), 0, p.x.N()).(*mat.Dense))
}

func (s *featured) cross(dst *mat.Dense, k kernel.Kernel, theta []float64, z *kernel.Inputs) {
	f := s.features(k)
	for i := f.Rows(); i < s.rows(); i++ {
		clear(dst.RawRowView(i))
	}
	f.Fill(dst.Slice(0, f.Rows(), 0, z.N()).(*mat.Dense), theta, z)
}

// among implements structure: ΦᵀΦ, the prior covariances. The kernel itself has other covariances.
func (s *featured) among(dst *mat.Dense, k kernel.Kernel, theta []float64, z *kernel.Inputs) {
	phi := mat.NewDense(s.rows(), z.N(), nil)
	s.cross(phi, k, theta, z)
	linalg.Gemm(blas.Trans, blas.NoTrans, 1, phi.RawMatrix(), phi.RawMatrix(), 0, dst.RawMatrix())
}
