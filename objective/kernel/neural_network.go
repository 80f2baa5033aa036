package kernel

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/approx/param"
)

// NeuralNetwork is the kernel of a network with infinitely many error-function units [GPML 4.29],
//
//	k(x, x') = σ² (2/π) asin( 2 x̃ᵀΣx̃' / √((1 + 2 x̃ᵀΣx̃)(1 + 2 x̃'ᵀΣx̃')) ),
//	x̃ = (1, x),    Σ = diag(σ₀², l⁻², …, l⁻²)
//
// or, with ARD, Σ = diag(σ₀², l₁⁻², …, l_d⁻²): σ₀ (bias_amplitude) is the standard deviation of the
// units' biases, and 1/l the standard deviation of their input weights. GPML's kernel has σ = 1.
// theta is ln σ, ln l (one, or one for every column), ln σ₀; σ₀ starts at 1.
type NeuralNetwork struct {
	ARD           bool          `yaml:"ard"`
	Amplitude     param.Setting `yaml:"amplitude"`
	LengthScale   param.Setting `yaml:"length_scale"`
	BiasAmplitude param.Setting `yaml:"bias_amplitude"`
}

func (k NeuralNetwork) Settings() []Setting {
	return []Setting{
		amplitude(k.Amplitude),
		lengthScale(k.LengthScale, k.ARD),
		{Name: "bias_amplitude", Default: 1, Setting: k.BiasAmplitude},
	}
}

func (k NeuralNetwork) Params(dim int) []param.Spec { return specs(dim, k.Settings()...) }

// units has the inputs on the scale of the units' weights.
type units struct {
	rows  blas64.General
	norms []float64 // |a_i|²
	bias  float64   // σ₀²
}

func (k NeuralNetwork) units(theta []float64, x *Inputs) units {
	last := len(theta) - 1
	rows := x.scaled(nil, inverses(theta[1:last], x.Dim()))
	return units{rows: rows, norms: squaredNorms(rows), bias: variance(theta[last])}
}

// angle returns N = 2 x̃ᵀΣx̃' and R = √(HH' - N²) with H = 1 + 2 x̃ᵀΣx̃, so that asin(N/√(HH')) =
// atan2(N, R). Its arguments are row i of a, row j of b, their inner product p and their squared
// distance d2.
//
// Where the weights are large, 1 - N²/(HH') is too small to be computed by subtraction. With x̃ᵀΣx̃
// = σ₀² + |a|² and so on,
//
//	HH' - N² = 1 + 2(2σ₀² + |a|² + |b|²) + 4σ₀² d2 + gap,
//	gap = 4(|a|²|b|² - p²) = d2 (2(|a|² + |b|²) - d2) - (|a|² - |b|²)²
//
// All terms of this sum are positive. The last form of the gap has a rounding error of a few u·d2
// (|a|² + |b|²). If the rows are nearly parallel, this can exceed about 1e-13 of the sum. Then the
// gap is computed as 4|a|²|b - (p/|a|²)a|², with a the longer row.
func angle(a, b units, i, j int, p, d2 float64) (n, r float64) {
	na, nb := a.norms[i], b.norms[j]
	rest := 1 + 2*(2*a.bias+na+nb) + 4*a.bias*d2
	gap := math.Max(0, d2*(2*(na+nb)-d2)-(na-nb)*(na-nb))
	if d2*(na+nb) > 512*(rest+gap) {
		long, short := generalRow(a.rows, i), generalRow(b.rows, j)
		if na < nb {
			long, short, na = short, long, nb
		}
		gap = 0
		for k, v := range short {
			left := v - p/na*long[k]
			gap += 4 * na * left * left
		}
	}
	return 2 * (a.bias + p), math.Sqrt(rest + gap)
}

// forms returns the units of a block's X and Z. It sets p to the inner products of their rows and
// d2 to the squared distances.
func (k NeuralNetwork) forms(p, d2 Block, theta []float64) (a, b units) {
	if a = k.units(theta, p.X); p.Z == p.X {
		b = a
	} else {
		b = k.units(theta, p.Z)
	}
	p.inner(a.rows, b.rows)
	newPairs(p, inverses(theta[1:len(theta)-1], p.X.Dim())).squared(d2)
	return a, b
}

// Memory implements Kernel: the distances, and for a gradient also the inner products.
func (k NeuralNetwork) Memory(n, m, dim int) int64 { return words(3*n*n + n*m + (7*n+2*m)*dim) }

func (k NeuralNetwork) Fill(dst Block, theta []float64) {
	d2 := dst.like()
	a, b := k.forms(dst, d2, theta)
	v := variance(theta[0])
	dst.each(func(i int, row []float64) {
		dRow, first := d2.Row(i), dst.First(i)
		for j, p := range row {
			row[j] = v * (2 / math.Pi) * math.Atan2(angle(a, b, i, first+j, p, dRow[j]))
		}
	})
}

// Pull implements Kernel. With C = G σ² (2/π)/R, E = C∘N and the row sums e_i, f_j of E both ways,
//
//	d(k) = σ² (2/π) (dN - ½ N (dH/H + dH'/H'))/R
//	∂/∂ln l_k: -4 Σ_ij C_ij a_ik b_jk + 2 Σ_i e_i a_ik²/H_i + 2 Σ_j f_j b_jk²/H'_j
//	∂/∂ln σ₀:  2σ₀² (2 Σ_ij C_ij - Σ_i e_i/H_i - Σ_j f_j/H'_j).
func (k NeuralNetwork) Pull(grad, theta []float64, own, g Block) {
	grad[0] += 2 * g.total(given(k, theta, own, g))

	e, c := g.like(), g.like() // inner products and distances first
	a, b := k.forms(e, c, theta)
	factor := variance(theta[0]) * (2 / math.Pi)
	g.each(func(i int, gRow []float64) {
		eRow, cRow, first := e.Row(i), c.Row(i), g.First(i)
		for j, p := range eRow {
			n, r := angle(a, b, i, first+j, p, cRow[j])
			cRow[j] = factor * gRow[j] / r
			eRow[j] = cRow[j] * n
		}
	})
	perColumn := make([]float64, g.X.Dim())
	addColumns(perColumn, -4, a.rows, c.times(blas.NoTrans, b.rows))
	sums, _ := c.sums()
	bias := 2 * floats.Sum(sums)
	left, right := e.sums()
	for _, side := range []struct {
		units
		sums []float64
	}{{a, left}, {b, right}} {
		for i, s := range side.sums {
			w := s / (1 + 2*(side.bias+side.norms[i]))
			bias -= w
			for c, v := range generalRow(side.rows, i) {
				perColumn[c] += 2 * w * v * v
			}
		}
	}
	last := len(grad) - 1
	fold(grad[1:last], perColumn)
	grad[last] += 2 * a.bias * bias
}
