package kernel

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// Inputs is a set of cases: the n×d matrix X. Results that do not depend on theta are computed at
// most once and kept: squared distances, inner products, and the columns of an Active kernel. These
// are up to 2n² numbers for the set itself, and n·m for the squared distances to the last set of m
// cases given to Cross. Concurrent use is safe. X must not change after first use, and Inputs must
// not be copied.
type Inputs struct {
	X *mat.Dense

	mean     lazy[[]float64]
	squared  lazy[[]float64] // |x_i - x_j|², the upper triangle of n×n
	products lazy[[]float64] // x_i·x_j, the upper triangle of n×n

	mu      sync.Mutex
	median  median
	latest  crossSquared
	columns map[string]*Inputs
}

// crossSquared is |x_i - z_j|² for one set z.
type crossSquared struct {
	z       *Inputs
	squared []float64
}

// median is the median distance of cases with these weights.
type median struct {
	weight   []float64
	distance float64
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

// NewInputs copies cases from their rows. It is an error if there is no row, a row is empty, rows
// differ in length, or an input is not finite. The error names the place.
func NewInputs(rows [][]float64) (*Inputs, error) {
	if len(rows) == 0 || len(rows[0]) == 0 {
		return nil, errors.New("there are no inputs; want at least one row, of at least one number")
	}
	dim := len(rows[0])
	x := &Inputs{X: mat.NewDense(len(rows), dim, nil)}
	for i, row := range rows {
		if len(row) != dim {
			return nil, fmt.Errorf("row %d (counted from 1) has %d inputs and row 1 has %d; want as many in every row",
				i+1, len(row), dim)
		}
		x.X.SetRow(i, row)
	}
	return x, x.Check(dim)
}

// N is the number of cases.
func (x *Inputs) N() int { n, _ := x.X.Dims(); return n }

// Dim is the number of input columns.
func (x *Inputs) Dim() int { _, d := x.X.Dims(); return d }

// Check returns an error if the inputs have another number of columns than dim, or if a number is
// not finite, with its row and column.
func (x *Inputs) Check(dim int) error {
	if d := x.Dim(); d != dim {
		return fmt.Errorf("the inputs have %d columns, want %d", d, dim)
	}
	for i := range x.N() {
		for j, v := range x.X.RawRowView(i) {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("input %v in row %d, column %d (counted from 1); every input must be a finite number",
					v, i+1, j+1)
			}
		}
	}
	return nil
}

// Fresh returns the same cases without kept distances.
func (x *Inputs) Fresh() *Inputs {
	x.mu.Lock()
	defer x.mu.Unlock()
	return &Inputs{X: x.X, median: x.median}
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

// only returns the inputs with the given columns, counted from 1.
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

// scaled is (X - shift)∘scale, row by row; a nil shift is zero.
func (x *Inputs) scaled(shift, scale []float64) blas64.General {
	a := linalg.NewGeneral(x.N(), x.Dim())
	for i := range a.Rows {
		to := generalRow(a, i)
		copy(to, x.X.RawRowView(i))
		if shift != nil {
			floats.Sub(to, shift)
		}
		floats.Mul(to, scale)
	}
	return a
}

func generalRow(a blas64.General, i int) []float64 {
	return a.Data[i*a.Stride : i*a.Stride+a.Cols]
}
