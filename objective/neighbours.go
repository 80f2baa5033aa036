package objective

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/internal/random"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// Neighbours selects a prior in which each case depends, of the cases before it in an order, on the
// Count cases of the largest correlation only, as an option of a method (Vecchia 1988). K̂⁻¹ is
// then sparse. It suits rough processes of one to three inputs, for which inducing inputs are too
// few. With one input the order is the order of the inputs, else it is random. With as many
// neighbours as other cases the method uses K itself. A new input depends on the 2 Count cases of
// the largest correlation with it.
type Neighbours struct {
	Count int `yaml:"count" within:"[1,1000]"`
}

// Reads lists the texts that UnmarshalText reads, besides numbers.
func (Neighbours) Reads() (texts []string, numbers bool) { return nil, true }

// UnmarshalText reads the number of neighbours.
func (b *Neighbours) UnmarshalText(text []byte) error {
	count, err := strconv.Atoi(string(text))
	if err != nil || count < 1 || count > 1000 {
		return fmt.Errorf("neighbours: %q is no number from 1 to 1000; write how many neighbours a case has, as in 20",
			text)
	}
	b.Count = count
	return nil
}

// PowerOr implements Structure: no variance is missing.
func (Neighbours) PowerOr(float64) float64 { return 1 }

// Check implements Structure.
func (b Neighbours) Check([]kernel.Kernel, int, int) error {
	if b.Count < 1 {
		return errors.New("neighbours: count is missing, or below 1; write how many neighbours a case has, as in " +
			"{neighbours: 20}")
	}
	return nil
}

// Rank implements Structure: with all other cases as neighbours the covariance is K.
func (b Neighbours) Rank(n int) int { return min(n, b.Count+1) }

// Width implements Structure. It depends on the places of the cases. For 500 to 6000 cases with 1
// to 10 normal inputs and 5 to 40 neighbours the estimate is right within a factor of 2.
func (b Neighbours) Width(n, dim int) int {
	k, d, cases := float64(b.Count), float64(dim), float64(n)
	if dim == 1 {
		return b.Count + 16
	}
	return int(math.Ceil(min(1.05*k/(k+20)*cases, 0.6*k/d*math.Pow(cases, 1-1/d))))
}

func (b Neighbours) of(x *kernel.Inputs, _ []kernel.Kernel) structure {
	return &nearby{count: b.Count, x: x}
}

// nearby has the neighbours of the cases of a training set, chosen when they are first needed.
type nearby struct {
	byKernel
	count int
	x     *kernel.Inputs

	alone map[int]bool // cases that have no neighbours, and are nobody's

	mu     sync.Mutex
	chosen *approx.Neighbours
	kept   []*pairs // the pairs of every part, unless they are too many to be kept
}

// prepare implements structure: it chooses the neighbours by the correlations at theta.
func (s *nearby) prepare(ctx context.Context, k kernel.Kernel, theta []float64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.chosen != nil {
		return nil
	}
	if err := s.choose(ctx, k, theta); err != nil {
		return err
	}
	usual := s.room()
	s.prior(usual, k, theta)
	s.chosen.Settle(usual.Blocks)
	return nil
}

// choose sets chosen.
func (s *nearby) choose(ctx context.Context, k kernel.Kernel, theta []float64) error {
	n := s.x.N()
	b := &approx.Neighbours{Order: s.order(), Of: make([][]int, n)}
	sorted := mat.NewDense(n, s.x.Dim(), nil)
	for t, i := range b.Order {
		sorted.SetRow(t, s.x.X.RawRowView(i))
	}
	linalg.Parallel(s.parts(), func(part int) {
		from, to := part*casesAtOnce, min(n, (part+1)*casesAtOnce)
		if ctx.Err() != nil {
			return
		}
		rows := func(i, j int) *kernel.Inputs {
			return &kernel.Inputs{X: sorted.Slice(i, j, 0, s.x.Dim()).(*mat.Dense)}
		}
		closest := correlations(k, theta, rows(from, to), rows(0, to))
		for t := from; t < to; t++ {
			if !s.related(b.Order[t]) {
				continue
			}
			related := func(before int) bool { return s.related(b.Order[before]) }
			for _, before := range largest(closest.RawRowView(t - from)[:t], s.count, related) {
				b.Of[b.Order[t]] = append(b.Of[b.Order[t]], b.Order[before])
			}
		}
	})
	if ctx.Err() != nil {
		return ctx.Err()
	}
	s.chosen = b
	if n*blockSize(s.count)*2*s.x.Dim() <= mostKept {
		kept := make([]*pairs, s.parts())
		s.each(func(part, _, _ int, p *pairs) { kept[part] = p })
		s.kept = kept
	}
	return nil
}

// related reports whether a case may have neighbours, and be one.
func (s *nearby) related(i int) bool { return !s.alone[i] }

// casesAtOnce is the number of cases whose covariances with all others are in memory at a time.
const casesAtOnce = 64

// order is the order of the cases: by the one input, or by the hash of all inputs, so that it does
// not depend on the order in which the cases are given.
func (s *nearby) order() []int {
	order, hash := make([]int, s.x.N()), make([]uint64, s.x.N())
	for i := range order {
		order[i], hash[i] = i, random.Content(s.x.X.RawRowView(i))
	}
	slices.SortStableFunc(order, func(i, j int) int {
		a, b := s.x.X.RawRowView(i), s.x.X.RawRowView(j)
		if len(a) == 1 {
			return cmp.Compare(a[0], b[0])
		}
		return cmp.Or(cmp.Compare(hash[i], hash[j]), slices.Compare(a, b))
	})
	return order
}

// correlations are the prior correlations of x with z, without noise: k(x_i, z_j)/√(k(x_i, x_i)
// k(z_j, z_j)), and 0 for a value of variance 0, which a linear kernel has at 0.
func correlations(k kernel.Kernel, theta []float64, x, z *kernel.Inputs) *mat.Dense {
	dst, rows, columns := mat.NewDense(x.N(), z.N(), nil), make([]float64, x.N()), make([]float64, z.N())
	kernel.Cross(k, dst, theta, x, z)
	kernel.SmoothDiag(k, rows, theta, x)
	kernel.SmoothDiag(k, columns, theta, z)
	for i, v := range rows {
		row := dst.RawRowView(i)
		for j, w := range columns {
			if scale := math.Sqrt(v * w); scale > 0 {
				row[j] /= scale
			} else {
				row[j] = 0
			}
		}
	}
	return dst
}

// largest are the places of the count largest of the numbers that are kept, the largest first and
// of equals the last.
func largest(x []float64, count int, kept func(i int) bool) (places []int) {
	for i, v := range slices.Backward(x) {
		if !kept(i) || len(places) == count && !(v > x[places[count-1]]) {
			continue
		}
		at := len(places)
		for at > 0 && v > x[places[at-1]] {
			at--
		}
		if places = slices.Insert(places, at, i); len(places) > count {
			places = places[:count]
		}
	}
	return places
}

// blockSize is the number of covariances among m neighbours and a case.
func blockSize(m int) int { return (m + 1) * (m + 2) / 2 }

// Memory implements Structure. It counts the blocks and their adjoint, the pairs that are kept, and
// the factor with what a gradient takes of it, see Width. With C classes that are fitted together
// the factor has C² times the numbers.
func (b Neighbours) Memory(m approx.Approximation, s approx.Size, dim int) int64 {
	n, k, d, joined := float64(s.Cases), float64(b.Count), float64(dim), 1.0
	if _, each := m.(approx.OneVsRest); !each && s.Classes > 2 {
		joined = float64(s.Classes * s.Classes)
	}
	block := float64(blockSize(b.Count))
	numbers := (1+float64(s.Kernels))*n*block + 6*joined*n*float64(b.Width(s.Cases, dim))
	if kept := 2 * n * block * d; kept <= mostKept {
		numbers += kept + n*block
	}
	near := min(n, 2*k)
	return 8 * int64(numbers+float64(s.New)*(near*(near+5)/2)+20*n+n*d)
}

func (s *nearby) room() approx.Cov { return s.adjoint(nil) }

// adjoint implements structure.
func (s *nearby) adjoint(*approx.Work) approx.Cov {
	return approx.Cov{K: new(mat.SymDense), Neighbours: s.chosen, Blocks: s.chosen.NewBlocks(),
		Noise: make([]float64, s.x.N())}
}

// each runs work for parts of the cases, in parallel, with the pairs of the blocks of a part.
func (s *nearby) each(work func(part, from, to int, p *pairs)) {
	linalg.Parallel(s.parts(), func(part int) {
		from, to := part*casesAtOnce, min(s.x.N(), (part+1)*casesAtOnce)
		if s.kept != nil {
			work(part, from, to, s.kept[part])
		} else {
			work(part, from, to, s.pairs(from, to))
		}
	})
}

func (s *nearby) parts() int { return (s.x.N() + casesAtOnce - 1) / casesAtOnce }

// pairs are the pairs of the blocks of some cases, one block after the other.
func (s *nearby) pairs(from, to int) *pairs {
	size := 0
	for _, of := range s.chosen.Of[from:to] {
		size += blockSize(len(of))
	}
	p := newPairs(size, s.x.Dim())
	for i := from; i < to; i++ {
		members := append(slices.Clip(s.chosen.Of[i]), i)
		for a, j := range members {
			for _, l := range members[a:] {
				p.add(s.x.X.RawRowView(j), s.x.X.RawRowView(l))
			}
		}
	}
	return p
}

// pairs are pairs of cases: case i of x and case i of z.
type pairs struct {
	x, z *kernel.Inputs
	size int // number of pairs added
}

func newPairs(size, dim int) *pairs {
	inputs := func() *kernel.Inputs { return &kernel.Inputs{X: mat.NewDense(size, dim, linalg.Floats(size*dim))} }
	return &pairs{x: inputs(), z: inputs()}
}

func (p *pairs) add(x, z []float64) {
	copy(p.x.X.RawRowView(p.size), x)
	copy(p.z.X.RawRowView(p.size), z)
	p.size++
}

func (s *nearby) prior(cov approx.Cov, k kernel.Kernel, theta []float64) {
	s.each(func(_, from, to int, p *pairs) {
		numbers := make([]float64, p.size)
		kernel.Pairs(k, numbers, theta, p.x, p.z)
		for i := from; i < to; i++ {
			numbers = numbers[copy(cov.Blocks[i], numbers):]
		}
	})
	smooth := make([]float64, s.x.N())
	kernel.SmoothDiag(k, smooth, theta, s.x)
	kernel.Diag(k, cov.Noise, theta, s.x)
	for i, v := range smooth {
		cov.Noise[i] = max(cov.Noise[i]-v, 0) // below 0 only by rounding
	}
}

func (s *nearby) pullback(
	grad []float64, k kernel.Kernel, theta []float64, own approx.Cov, adjoint *approx.Cov,
	fill func(*approx.Cov) error,
) error {
	if err := fill(adjoint); err != nil {
		return err
	}
	s.pullBlocks(grad, k, theta, own, adjoint)
	less := floats.ScaleTo(make([]float64, s.x.N()), -1, adjoint.Noise)
	kernel.PullbackDiag(k, grad, theta, s.x, adjoint.Noise)
	kernel.PullbackSmoothDiag(k, grad, theta, s.x, less)
	return nil
}

// pullBlocks adds to grad the derivatives through the blocks.
func (s *nearby) pullBlocks(grad []float64, k kernel.Kernel, theta []float64, own approx.Cov, adjoint *approx.Cov) {
	grads := make([][]float64, s.parts())
	s.each(func(part, from, to int, p *pairs) {
		grads[part] = make([]float64, len(grad))
		kernel.PullbackPairs(k, grads[part], theta, p.x, p.z, slices.Concat(own.Blocks[from:to]...),
			slices.Concat(adjoint.Blocks[from:to]...))
	})
	for _, g := range grads {
		floats.Add(grad, g)
	}
}

// ofNew is the number of neighbours of a new input.
func (s *nearby) ofNew() int { return min(s.x.N()-len(s.alone), 2*s.count) }

func (s *nearby) rows() int { return s.chosen.CrossRows(s.ofNew()) }

// cross implements structure: a column has the neighbours of an input, and their covariances.
func (s *nearby) cross(dst *mat.Dense, k kernel.Kernel, theta []float64, z *kernel.Inputs) {
	m := z.N()
	linalg.Parallel((m+casesAtOnce-1)/casesAtOnce, func(part int) {
		from, to := part*casesAtOnce, min(m, (part+1)*casesAtOnce)
		inputs := &kernel.Inputs{X: z.X.Slice(from, to, 0, z.Dim()).(*mat.Dense)}
		closest := correlations(k, theta, inputs, s.x)
		numbers := make([]float64, s.rows()-s.ofNew())
		for j := from; j < to; j++ {
			p := newPairs(len(numbers), z.Dim())
			near := s.near(closest.RawRowView(j-from), z.X.RawRowView(j))
			for a, i := range near {
				dst.Set(a, j, float64(i))
				row := s.x.X.RawRowView(i)
				for _, l := range near[a:] {
					p.add(row, s.x.X.RawRowView(l))
				}
				p.add(row, z.X.RawRowView(j))
			}
			// The pairs of an input alone give it the same bits whatever the other inputs are.
			kernel.Pairs(k, numbers, theta, p.x, p.z)
			for a, v := range numbers {
				dst.Set(s.ofNew()+a, j, v)
			}
		}
	})
}

// near are the neighbours of a new input, given its correlations with all cases. With one input
// half of them are on either side, if there are as many.
func (s *nearby) near(correlations, input []float64) []int {
	most := s.ofNew()
	if len(input) > 1 {
		return largest(correlations, most, s.related)
	}
	before := func(i int) bool { return s.x.X.At(i, 0) <= input[0] }
	left := largest(correlations, most, func(i int) bool { return s.related(i) && before(i) })
	right := largest(correlations, most, func(i int) bool { return s.related(i) && !before(i) })
	fromLeft := min(len(left), max(most-most/2, most-len(right)))
	return append(left[:fromLeft], right[:most-fromLeft]...)
}
