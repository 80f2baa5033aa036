package kernel

import (
	"fmt"
	"math"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// Inputs is a set of cases: the n×d matrix X. What many theta share (squared distances, inner products, the columns an
// Active kernel sees) is computed at most once and kept, safely for concurrent use: up to 2n² numbers for the set
// itself, and n·m for the squared distances to the set of m cases that Cross met last. X must not change after first
// use, and Inputs must not be copied.
type Inputs struct {
	X *mat.Dense

	mean     lazy[[]float64]
	squared  lazy[block] // |x_i - x_j|², upper triangle
	products lazy[block] // x_i·x_j, upper triangle

	mu      sync.Mutex
	median  float64 // 0: not known yet
	latest  crossSquared
	columns map[string]*Inputs
}

// crossSquared is |x_i - z_j|² for one z.
type crossSquared struct {
	z       *Inputs
	squared block
}

// lazy is a value computed on first use.
type lazy[T any] struct {
	once  sync.Once
	value T
}

func (l *lazy[T]) get(compute func() T) T {
	l.once.Do(func() { l.value = compute() })
	return l.value
}

// N is the number of cases.
func (x *Inputs) N() int { n, _ := x.X.Dims(); return n }

// Dim is the number of input columns.
func (x *Inputs) Dim() int { _, d := x.X.Dims(); return d }

// Check says which row holds another number of columns than dim, if the inputs do, or a number that is not finite.
func (x *Inputs) Check(dim int) error {
	if d := x.Dim(); d != dim {
		return fmt.Errorf("the inputs have %d columns, want %d", d, dim)
	}
	for i := range x.N() {
		for j, v := range x.X.RawRowView(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("input %v in row %d, column %d (counted from 1); every input must be a finite number", v, i+1, j+1)
			}
		}
	}
	return nil
}

// medianRows bounds the work of MedianDistance: about half a million pairs.
const medianRows = 1000

// MedianDistance is the median Euclidean distance over all pairs of cases that do not coincide, a start for length
// scales on inputs of unknown scale. Of more than 1000 cases it takes every k-th, with the least k that leaves no more
// than 1000. It is 1 if all cases coincide, when no length scale is better than another.
func (x *Inputs) MedianDistance() float64 {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.median == 0 {
		x.median = x.medianDistance()
	}
	return x.median
}

// Fresh is the same cases, of which nothing large is kept yet.
func (x *Inputs) Fresh() *Inputs {
	x.mu.Lock()
	defer x.mu.Unlock()
	return &Inputs{X: x.X, median: x.median}
}

func (x *Inputs) medianDistance() float64 {
	n := x.N()
	sample, k := x, (n+medianRows-1)/medianRows
	if k > 1 {
		rows := mat.NewDense((n+k-1)/k, x.Dim(), nil)
		for i := range rows.RawMatrix().Rows {
			rows.SetRow(i, x.X.RawRowView(i*k))
		}
		sample = &Inputs{X: rows}
	}
	all := sample.distances(nil)
	var squared []float64
	for i := range all.rows {
		for _, v := range all.row(i) {
			if v > 0 {
				squared = append(squared, v)
			}
		}
	}
	if len(squared) == 0 {
		return 1
	}
	slices.Sort(squared)
	half := len(squared) / 2
	return (math.Sqrt(squared[half]) + math.Sqrt(squared[(len(squared)-1)/2])) / 2
}

// means is the column means of X.
func (x *Inputs) means() []float64 {
	return x.mean.get(func() []float64 {
		mean := make([]float64, x.Dim())
		for i := range x.N() {
			floats.Add(mean, x.X.RawRowView(i))
		}
		floats.Scale(1/float64(x.N()), mean)
		return mean
	})
}

// distances is the squared distances within X (z nil; upper triangle) or from X to z.
func (x *Inputs) distances(z *Inputs) block {
	compute := func() block {
		ones := make([]float64, x.Dim())
		floats.AddConst(1, ones)
		p := newPairs(x, z, ones)
		dst := newBlock(x, z)
		p.squared(dst)
		return dst
	}
	if z == nil {
		return x.squared.get(compute)
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.latest.z != z {
		x.latest = crossSquared{z: z, squared: compute()}
	}
	return x.latest.squared
}

// inner sets dst to the inner products within X (z nil) or of X with z.
func (x *Inputs) inner(dst block, z *Inputs) {
	if z != nil {
		dst.outer(1, x.X.RawMatrix(), z.X.RawMatrix())
		return
	}
	dst.set(x.products.get(func() block {
		b := newBlock(x, nil)
		innerProducts(b, x.X.RawMatrix(), x.X.RawMatrix())
		return b
	}))
}

// only is the inputs with the given columns, counted from 1.
func (x *Inputs) only(dims []int) *Inputs {
	x.mu.Lock()
	defer x.mu.Unlock()
	key := fmt.Sprint(dims)
	if part, ok := x.columns[key]; ok {
		return part
	}
	part := mat.NewDense(x.N(), len(dims), nil)
	for i := range x.N() {
		from, to := x.X.RawRowView(i), part.RawRowView(i)
		for k, c := range dims {
			to[k] = from[c-1]
		}
	}
	if x.columns == nil {
		x.columns = map[string]*Inputs{}
	}
	x.columns[key] = &Inputs{X: part}
	return x.columns[key]
}

// scaledRows is (X - shift)∘scale, row by row; a nil shift is zero.
func (x *Inputs) scaledRows(shift, scale []float64) blas64.General {
	a := linalg.NewGeneral(x.N(), x.Dim())
	for i := range a.Rows {
		from, to := x.X.RawRowView(i), generalRow(a, i)
		copy(to, from)
		if shift != nil {
			floats.Sub(to, shift)
		}
		floats.Mul(to, scale)
	}
	return a
}
