package utility

import (
	"math"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/integrate/quad"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// maximum has the probabilities that f_c + g_c is the largest of independent ones, f_c ~
// N(mean_c + u_c, λ_c) and g_c the noise, for softmax standard Gumbel variates: with F_c the
// distribution function of f_c + g_c and h_c = F_c'/F_c,
//
//	p_c = ∫ h_c(t) Π_k F_k(t) dt
//
// If p_c is about 1e-15 or less, only its order of magnitude is correct.
type maximum struct {
	mean, sd []float64 // moments of f_c + g_c
	tables   []table
	between  logTable // memory of tabulate

	// The memory of evaluate, for up to block values t. means has the means of f_c + g_c, one row
	// per class.
	t, total, slope []float64
	means, h        blas64.General
	which           []int

	at, weight   []float64 // memory of add: the means, and the weights of a quadrature rule
	want, lo, hi []float64 // memory of shares: log Π F_k(t), and bounds of t
}

const block = 256

// pool has the memory of earlier averages.
var pool sync.Pool

// newMaximum makes one, reusing memory of the pool.
func newMaximum(noise Noise, mean, lambda []float64) *maximum {
	classes := len(mean)
	g, _ := pool.Get().(*maximum)
	if g == nil || len(g.tables) != classes {
		v := func(n int) []float64 { return make([]float64, n) }
		g = &maximum{
			mean: v(classes), sd: v(classes), tables: make([]table, classes), at: v(classes),
			t: v(block), total: v(block), slope: v(block), weight: v(block), want: v(block), lo: v(block), hi: v(block),
			means: linalg.NewGeneral(classes, block), h: linalg.NewGeneral(classes, block), which: make([]int, block),
		}
	}
	for c, v := range lambda {
		g.mean[c], g.sd[c] = mean[c]+noise.Mean, math.Sqrt(v+noise.Variance)
		noise.tabulate(&g.between, v)
		g.tables[c].interpolate(&g.between)
	}
	return g
}

// The Gauss-Legendre rule of 8 nodes on [0, 1].
var legendreNodes, legendreWeights = func() (x, w [8]float64) {
	quad.Legendre{}.FixedLocations(x[:], w[:], 0, 1)
	return x, w
}()

// all are the indices of the first n values.
func (g *maximum) all(n int) []int {
	for j := range n {
		g.which[j] = j
	}
	return g.which[:n]
}

// evaluate sets, at the values t with indices which, total to Σ_c log F_c, slope to Σ_c h_c, and h.
func (g *maximum) evaluate(which []int) {
	for _, j := range which {
		g.total[j], g.slope[j] = 0, 0
	}
	for c := range g.tables {
		row := c * block
		h, means := g.h.Data[row:row+block], g.means.Data[row:row+block]
		g.tables[c].evaluate(g.total, g.slope, h, g.t, means, g.sd[c], which)
	}
}

// add adds the p_c given u to p. The rule is applied to panels from the t where a factor of the
// product is e^-35 to the t where all are 1 - 1e-9. Each panel is at most as wide as twice a
// standard deviation near its mean, or as half the distance from there.
func (g *maximum) add(p, u []float64) {
	floats.AddTo(g.at, g.mean, u)
	floats.AddConst(-floats.Max(g.at), g.at)
	from, to := math.Inf(-1), math.Inf(-1)
	for c, m := range g.at {
		from = max(from, m+g.tables[c].from*g.sd[c])
		to = max(to, m+g.tables[c].to*g.sd[c])
	}
	for from < to {
		n := 0
		for ; n < block && from < to; n += len(legendreNodes) {
			width := to - from
			for c, m := range g.at {
				width = min(width, max(2*g.sd[c], (math.Abs(from-m)-6*g.sd[c])/2))
			}
			for k, x := range legendreNodes {
				g.t[n+k], g.weight[n+k] = from+width*x, width*legendreWeights[k]
			}
			if from+width == from {
				from = to
			}
			from += width
		}
		total := g.total[:n]
		clear(total)
		for c, m := range g.at {
			g.tables[c].along(total, g.h.Data[c*block:c*block+n], g.t, m, g.sd[c])
		}
		linalg.Exp(total, total)
		floats.Mul(total, g.weight[:n])
		for c := range p {
			p[c] += floats.Dot(g.h.Data[c*block:c*block+n], total)
		}
	}
}
