package kernel

import (
	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// Stationary is a kernel of the scaled squared distance s between two cases. P is the function κ of
// s, with κ(0) = 1:
//
//	k(x, x') = σ² κ(s),    s = |x - x'|²/l²,
//	or, with ARD,        s = Σ_k (x_k - x'_k)²/l_k²  [GPML 5.1]
//
// theta is ln σ, ln l (one, or one for every column), then the hyperparameter of κ if it has one.
// Without ARD a new theta costs one pass over the distances that Inputs keeps, with ARD one matrix
// product.
//
// P has the methods of Profile, and may have the methods of Weigher and Shaped.
type Stationary[P Profile] struct {
	ARD         bool          `yaml:"ard"`
	Amplitude   param.Setting `yaml:"amplitude"`
	LengthScale param.Setting `yaml:"length_scale"`
	Shape       P             `yaml:",inline"`
}

// Profile is the function κ of a stationary kernel.
type Profile interface {
	// Kappa sets k[j] to κ(c·s[j]); k and s may be the same slice. shape is the natural value of
	// κ's own hyperparameter.
	Kappa(k, s []float64, c, shape float64)
}

// Weigher is a Profile whose ratio of slope to value, κ'/κ, differs from the squared exponential's
// -1/2.
type Weigher interface {
	// Weigh multiplies m[j] by -2κ'/κ at c·s[j] (1 for the squared exponential), or by any finite
	// number where that is infinite, at c·s[j] = 0.
	Weigh(m, s []float64, c, shape float64)
}

// Shaped is a Profile with a hyperparameter of its own.
type Shaped interface {
	// Setting declares the hyperparameter.
	Setting() Setting
	// PullShape returns Σ_j m_j ∂ln κ/∂ln shape at c·s[j].
	PullShape(m, s []float64, c, shape float64) float64
}

func (k Stationary[P]) Settings() []Setting {
	all := []Setting{amplitude(k.Amplitude), lengthScale(k.LengthScale, k.ARD)}
	if p, ok := any(k.Shape).(Shaped); ok {
		all = append(all, p.Setting())
	}
	return all
}

func (k Stationary[P]) Params(dim int) []param.Spec { return specs(dim, k.Settings()...) }

// lengths is the part of theta or grad for the length scales, between the amplitude and the shape.
func (k Stationary[P]) lengths(v []float64) []float64 {
	if _, ok := any(k.Shape).(Shaped); ok {
		return v[1 : len(v)-1]
	}
	return v[1:]
}

// unscaled returns the squared distances of the pairs of a block and, if all columns have one
// length scale, the factor c with s = c·d2.
func unscaled(of Block, length []float64) (d2 Block, c float64) {
	l := natural(length[0])
	return distances(of), 1 / (l * l)
}

func (k Stationary[P]) Fill(dst Block, theta []float64) {
	length := k.lengths(theta)
	d2, c := dst, 1.0
	if k.ARD {
		newPairs(dst, inverses(length, dst.X.Dim())).squared(dst)
	} else {
		d2, c = unscaled(dst, length)
	}
	v, shape := variance(theta[0]), natural(theta[len(theta)-1]) // used by a Shaped κ only
	dst.each(func(i int, row []float64) {
		k.Shape.Kappa(row, d2.Row(i), c, shape)
		floats.Scale(v, row)
	})
}

// Pull implements Kernel. With M = G∘K and w = -2κ'/κ,
//
//	∂/∂ln σ: 2 Σ M      ∂/∂ln l: Σ M w s      ∂/∂ln l_k: Σ M w (x_k - x'_k)²/l_k²
//
// With K given, no exponential has to be computed.
func (k Stationary[P]) Pull(grad, theta []float64, own, g Block) {
	length, gradLength := k.lengths(theta), k.lengths(grad)
	last := len(theta) - 1
	shape := natural(theta[last])
	w, weighted := any(k.Shape).(Weigher)
	own = given(k, theta, own, g)

	var d2, m Block
	var p *pairs
	c := 1.0
	if k.ARD {
		m = g.like()
		p = newPairs(g, inverses(length, g.X.Dim()))
		if weighted {
			d2 = g.like()
			p.squared(d2)
		}
	} else {
		d2, c = unscaled(g, length)
	}
	linalg.SumRows(g.Rows(), grad, func(grad []float64, i0, i1 int) {
		one := []float64(nil) // without ARD, one row of m at a time
		if !k.ARD {
			one = make([]float64, len(g.Row(i0)))
		}
		for i := i0; i < i1; i++ {
			gRow := g.Row(i)
			row := one
			if k.ARD {
				row = m.Row(i)
			}
			row = row[:len(gRow)]
			floats.MulTo(row, gRow, own.Row(i))
			total := g.Weight(1) * floats.Sum(row)
			if g.shape == upper {
				total -= row[0]
			}
			grad[0] += 2 * total
			if weighted {
				if s, ok := w.(Shaped); ok {
					grad[last] += g.Weight(1) * s.PullShape(row, d2.Row(i), c, shape)
				}
				w.Weigh(row, d2.Row(i), c, shape)
			}
			switch {
			case !k.ARD:
				k.lengths(grad)[0] += g.Weight(1) * c * floats.Dot(row, d2.Row(i))
			case weighted:
				p.takeClose(k.lengths(grad), m, d2.Row(i), i)
			}
		}
	})
	if k.ARD {
		for _, s := range p.differences(m) {
			addColumns(gradLength, 1, s.rows, s.differences)
		}
	}
}

// Memory implements Kernel: the distances or, with ARD, G∘K, and the distances too if the slope
// depends on them.
func (k Stationary[P]) Memory(n, m, dim int) int64 {
	if !k.ARD {
		return words(n*n + n*m + 2*(n+m)*dim)
	}
	passing := n*n + (5*n+m)*dim
	if _, ok := any(k.Shape).(Weigher); ok {
		passing += n * n
	}
	return words(passing)
}
