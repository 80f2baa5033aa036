package objective

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// FullScale selects inducing inputs together with neighbours: a prior Q of lower rank, and for the
// residual K - Q, with the noise, a prior in which each case depends on its neighbours (Gyger,
// Furrer & Sigrist 2024). It suits processes that are rough and have a trend over long distances.
// With as many inducing inputs as cases, or as many neighbours as other cases, the method uses K
// itself.
type FullScale struct {
	Inducing   Inducing
	Neighbours Neighbours
}

// Join implements the joiner of package registry.
func (i Inducing) Join(other any) any {
	if b, is := other.(Neighbours); is {
		return FullScale{i, b}
	}
	return nil
}

// Join implements the joiner of package registry.
func (b Neighbours) Join(other any) any {
	if i, is := other.(Inducing); is {
		return FullScale{i, b}
	}
	return nil
}

// Parts implements the joined of package registry.
func (f FullScale) Parts() []any { return []any{f.Inducing, f.Neighbours} }

// PowerOr implements Structure: no variance is missing.
func (FullScale) PowerOr(float64) float64 { return 1 }

// Check implements Structure.
func (f FullScale) Check(kernels []kernel.Kernel, together, dim int) error {
	if i := f.Inducing; i != (Inducing{Points: i.Points, Select: i.Select}) {
		return errors.New("inducing: together with neighbours it takes points and select only, as in " +
			"{inducing: 200, neighbours: 20}; leave the other options out")
	}
	if together > 1 {
		return fmt.Errorf("inducing inputs together with neighbours are for one latent process, and this model has %d "+
			"that are fitted together; leave one of them out, or use classes: one_vs_rest", together)
	}
	if err := f.Inducing.Check(kernels, together, dim); err != nil {
		return err
	}
	return f.Neighbours.Check(kernels, together, dim)
}

// Rank implements Structure.
func (f FullScale) Rank(n int) int { return max(f.Inducing.Rank(n), f.Neighbours.Rank(n)) }

// Width implements Structure: a factor of the residual is solved for every inducing input.
func (f FullScale) Width(n, dim int) int {
	return f.Inducing.Width(n, dim) + f.Neighbours.Width(n, dim)
}

// Memory implements Structure. In addition to what both need, it counts nine matrices of the size
// of V, for P, X and the derivatives.
func (f FullScale) Memory(m approx.Approximation, s approx.Size, dim int) int64 {
	return f.Inducing.Memory(m, s, dim) + f.Neighbours.Memory(m, s, dim) + 9*8*int64(s.Cases*f.Inducing.Points)
}

func (f FullScale) of(x *kernel.Inputs, kernels []kernel.Kernel) structure {
	return &fullScale{low: &induction{option: f.Inducing, x: x}, near: &nearby{count: f.Neighbours.Count, x: x}}
}

// fullScale has the inducing inputs and the neighbours of the cases of a training set.
type fullScale struct {
	byKernel
	low  *induction
	near *nearby

	mu sync.Mutex
}

// prepare implements structure: it chooses the inducing inputs, and then the neighbours. A case
// that is an inducing input has no residual, and so no neighbours.
func (s *fullScale) prepare(ctx context.Context, k kernel.Kernel, theta []float64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.near.chosen != nil {
		return nil
	}
	if err := s.low.prepare(ctx, k, theta); err != nil {
		return err
	}
	s.near.alone = map[int]bool{}
	for _, i := range s.low.choice.Cases {
		s.near.alone[i] = true
	}
	if err := s.near.choose(ctx, k, theta); err != nil {
		return err
	}
	usual := s.room()
	s.prior(usual, k, theta)
	return s.near.chosen.SettleResidual(usual)
}

func (s *fullScale) room() approx.Cov { return s.with(s.low.room()) }

func (s *fullScale) adjoint(w *approx.Work) approx.Cov { return s.with(s.low.adjoint(w)) }

// with adds the blocks to the covariances of the inducing inputs.
func (s *fullScale) with(cov approx.Cov) approx.Cov {
	cov.Neighbours, cov.Blocks = s.near.chosen, s.near.chosen.NewBlocks()
	return cov
}

func (s *fullScale) prior(cov approx.Cov, k kernel.Kernel, theta []float64) {
	s.low.prior(cov, k, theta)
	s.near.prior(cov, k, theta)
}

func (s *fullScale) pullback(
	grad []float64, k kernel.Kernel, theta []float64, own approx.Cov, adjoint *approx.Cov,
	fill func(*approx.Cov) error,
) error {
	if err := s.low.pullback(grad, k, theta, own, adjoint, fill); err != nil {
		return err
	}
	s.near.pullBlocks(grad, k, theta, own, adjoint)
	return nil
}

func (s *fullScale) rows() int { return s.low.rows() + s.near.rows() }

// cross implements structure: the covariances with the inducing inputs, and below them what
// neighbours need.
func (s *fullScale) cross(dst *mat.Dense, k kernel.Kernel, theta []float64, z *kernel.Inputs) {
	m, n := s.low.rows(), z.N()
	s.low.cross(dst.Slice(0, m, 0, n).(*mat.Dense), k, theta, z)
	s.near.cross(dst.Slice(m, s.rows(), 0, n).(*mat.Dense), k, theta, z)
}
