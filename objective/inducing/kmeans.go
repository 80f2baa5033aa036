package inducing

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"sync/atomic"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// KMeans takes the centres of m clusters: seeds by k-means++ (D. Arthur and S. Vassilvitskii,
// k-means++: the advantages of careful seeding, SODA 2007), then steps of S. P. Lloyd (Least
// squares quantization in PCM, IEEE Transactions on Information Theory 28, 1982) until no case
// changes its cluster, 100 at most. Distances are between inputs where each column is
// divided by the smallest length scale that the kernel has for it, if any. O(n m d) time a step.
type KMeans struct{}

// steps is the largest number of Lloyd's steps.
const steps = 100

// Select implements Method.
func (KMeans) Select(ctx context.Context, k kernel.Kernel, theta []float64, x *kernel.Inputs, m int,
	seed uint64) (Choice, error) {
	c := newClusters(x, scales(k, theta, x.Dim()))
	c.seed(m, rand.New(param.Source(seed, 0)))
	for range steps {
		if err := ctx.Err(); err != nil {
			return Choice{}, err
		}
		if !c.assign() {
			break
		}
		c.move()
	}
	centres := mat.NewDense(c.centres.Rows, x.Dim(), nil)
	for i := range c.centres.Rows {
		for j, v := range row(c.centres, i) {
			centres.Set(i, j, c.mean[j]+v*c.scale[j])
		}
	}
	return Choice{Z: centres}.of(m, "the cases have no more different inputs"), ctx.Err()
}

// scales are the smallest length scales of the columns; 1 where the kernel has none.
func scales(k kernel.Kernel, theta []float64, dim int) []float64 {
	scale := make([]float64, dim)
	for j := range scale {
		scale[j] = math.Inf(1)
	}
	specs := k.Params(dim)
	matters := param.InForce(specs, theta)
	for i, h := range specs {
		if !matters[i] || !strings.HasPrefix(h.Component(), "length_scale") {
			continue
		}
		for j := range scale {
			if h.Column == 0 || h.Column == j+1 {
				scale[j] = min(scale[j], h.Map.Natural(theta[i]))
			}
		}
	}
	for j, v := range scale {
		if math.IsInf(v, 0) {
			scale[j] = 1
		}
	}
	return scale
}

// clusters has the cases, with their mean subtracted, in units of length scales.
type clusters struct {
	mean, scale []float64
	x, centres  blas64.General
	of          []int // the cluster of each case; -1: none yet
}

func newClusters(x *kernel.Inputs, scale []float64) *clusters {
	n, d := x.X.Dims()
	c := &clusters{mean: make([]float64, d), scale: scale, x: linalg.NewGeneral(n, d), of: make([]int, n)}
	for i := range n {
		floats.Add(c.mean, x.X.RawRowView(i))
	}
	floats.Scale(1/float64(n), c.mean)
	for i := range n {
		c.of[i] = -1
		for j, v := range x.X.RawRowView(i) {
			row(c.x, i)[j] = (v - c.mean[j]) / scale[j]
		}
	}
	return c
}

func row(a blas64.General, i int) []float64 { return a.Data[i*a.Stride : i*a.Stride+a.Cols] }

// seed draws up to m cases as centres: the first uniformly, each later one with a probability in
// proportion to its squared distance to the nearest earlier centre.
func (c *clusters) seed(m int, r *rand.Rand) {
	n := c.x.Rows
	nearest := make([]float64, n)
	floats.AddConst(math.Inf(1), nearest)
	for i := r.IntN(n); i >= 0 && c.centres.Rows < m; i = drawn(nearest, r) {
		centre := row(c.x, i)
		c.centres.Data = append(c.centres.Data, centre...)
		c.centres.Rows++
		inParts(n, partSize, func(_, i0, i1 int) {
			for i := i0; i < i1; i++ {
				squared := 0.0
				for j, v := range row(c.x, i) {
					squared += (v - centre[j]) * (v - centre[j])
				}
				nearest[i] = min(nearest[i], squared)
			}
		})
	}
	c.centres.Cols, c.centres.Stride = c.x.Cols, c.x.Cols
}

// drawn draws an index with a probability in proportion to its weight; -1 if all weights are 0.
func drawn(weights []float64, r *rand.Rand) int {
	u, last := r.Float64()*floats.Sum(weights), -1
	for i, w := range weights {
		if w > 0 {
			last = i
			if u -= w; u < 0 {
				break
			}
		}
	}
	return last
}

// assign gives every case the nearest centre, the first among equals, and reports whether any case
// changed.
func (c *clusters) assign() bool {
	m := c.centres.Rows
	half := make([]float64, m) // |z|²/2
	for k := range half {
		half[k] = floats.Dot(row(c.centres, k), row(c.centres, k)) / 2
	}
	var changes atomic.Int64
	inParts(c.x.Rows, partSize, func(_, i0, i1 int) {
		const few = 128 // cases whose products stay in the cache
		products := linalg.NewGeneral(few, m)
		for ; i0 < i1; i0 += products.Rows {
			products.Rows = min(few, i1-i0)
			part := c.x
			part.Rows, part.Data = products.Rows, part.Data[i0*part.Stride:]
			linalg.Gemm(blas.NoTrans, blas.Trans, 1, part, c.centres, 0, products)
			for i := range products.Rows {
				if nearest := least(half, row(products, i)); c.of[i0+i] != nearest {
					c.of[i0+i] = nearest
					changes.Add(1)
				}
			}
		}
	})
	return changes.Load() > 0
}

// least is the index of the least element of a - b, the first among equals. For a = |z|²/2 and b =
// x·z it is the index of the z nearest to x.
func least(a, b []float64) (at int) {
	smallest := math.Inf(1)
	for k, v := range b {
		if v = a[k] - v; v < smallest {
			at, smallest = k, v
		}
	}
	return at
}

// move takes every centre to the mean of its cases; one without cases stays.
func (c *clusters) move() {
	width := c.x.Cols + 1 // the sums of the inputs, and the number of cases
	sums := linalg.NewGeneral(parts(c.x.Rows, partSize), c.centres.Rows*width)
	inParts(c.x.Rows, partSize, func(part, i0, i1 int) {
		sum := row(sums, part)
		for i := i0; i < i1; i++ {
			of := sum[c.of[i]*width:][:width]
			floats.Add(of[:c.x.Cols], row(c.x, i))
			of[c.x.Cols]++
		}
	})
	all := row(sums, 0)
	for part := 1; part < sums.Rows; part++ {
		floats.Add(all, row(sums, part))
	}
	for k := range c.centres.Rows {
		if of := all[k*width:][:width]; of[c.x.Cols] > 0 {
			floats.ScaleTo(row(c.centres, k), 1/of[c.x.Cols], of[:c.x.Cols])
		}
	}
}
