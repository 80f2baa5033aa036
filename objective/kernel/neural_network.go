package kernel

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/objective/param"
)

// NeuralNetwork is the kernel of a network with infinitely many error-function units [GPML 4.29],
//
//	k(x, x') = σ² (2/π) asin( 2 x̃ᵀΣx̃' / √((1 + 2 x̃ᵀΣx̃)(1 + 2 x̃'ᵀΣx̃')) ),    x̃ = (1, x),    Σ = diag(σ₀², l⁻², …, l⁻²)
//
// or, with ARD, Σ = diag(σ₀², l₁⁻², …, l_d⁻²): σ₀ (bias_amplitude) is the standard deviation of the units' biases and
// 1/l that of their input weights. GPML's kernel has σ = 1. theta is ln σ, ln l (one, or one for every column), ln σ₀;
// σ₀ starts at 1.
type NeuralNetwork struct {
	ARD           bool          `yaml:"ard"`
	Amplitude     param.Setting `yaml:"amplitude"`
	LengthScale   param.Setting `yaml:"length_scale"`
	BiasAmplitude param.Setting `yaml:"bias_amplitude"`
}

// Settings lists the hyperparameters.
func (k NeuralNetwork) Settings() []Setting {
	return []Setting{
		amplitude(k.Amplitude),
		lengthScale(k.LengthScale, k.ARD),
		{Name: "bias_amplitude", Default: 1, Setting: k.BiasAmplitude},
	}
}

// Params implements Kernel.
func (k NeuralNetwork) Params(dim int) []param.Spec { return specs(dim, k.Settings()...) }

// units is the inputs on the scale of the units' weights.
type units struct {
	rows  blas64.General
	norms []float64 // |a_i|²
	bias  float64   // σ₀²
}

func (k NeuralNetwork) units(theta []float64, x *Inputs) units {
	n := lengths(k.ARD, x.Dim())
	checkLen("theta", len(theta), n+2)
	rows := x.scaledRows(nil, inverses(theta[1:1+n], x.Dim()))
	return units{rows: rows, norms: squaredNorms(rows), bias: variance(theta[1+n])}
}

// angle returns N = 2 x̃ᵀΣx̃' and R = √(HH' - N²), H = 1 + 2 x̃ᵀΣx̃, with which asin(N/√(HH')) = atan2(N, R), for row i
// of a, row j of b, their inner product p and their squared distance d2.
//
// 1 - N²/(HH') is too small to be got by subtraction where the weights are large. With x̃ᵀΣx̃ = σ₀² + |a|² and so on,
//
//	HH' - N² = 1 + 2(2σ₀² + |a|² + |b|²) + 4σ₀² d2 + gap,    gap = 4(|a|²|b|² - p²) = d2 (2(|a|² + |b|²) - d2) - (|a|² - |b|²)²
//
// whose terms are all positive. The gap's last form rounds by a few u·d2 (|a|² + |b|²): where that is more than about
// 1e-13 of the whole, because the rows are nearly in line, it is four times the one squared norm times that of what
// the projection leaves of the other row.
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

// forms returns the units of x and z (x again for a nil z) and sets p to the inner products of their rows, d2 to the
// squared distances.
func (k NeuralNetwork) forms(p, d2 block, theta []float64, x, z *Inputs) (a, b units) {
	a = k.units(theta, x)
	if b = a; z != nil {
		b = k.units(theta, z)
	}
	innerProducts(p, a.rows, b.rows)
	n := lengths(k.ARD, x.Dim())
	newPairs(x, z, inverses(theta[1:1+n], x.Dim())).squared(d2)
	return a, b
}

func (k NeuralNetwork) fill(dst block, theta []float64, x, z *Inputs) {
	d2 := dst.like()
	a, b := k.forms(dst, d2, theta, x, z)
	v := variance(theta[0])
	for i := range dst.rows {
		row, dRow, first := dst.row(i), d2.row(i), dst.first(i)
		for j, p := range row {
			row[j] = v * (2 / math.Pi) * math.Atan2(angle(a, b, i, first+j, p, dRow[j]))
		}
	}
}

// pull adds the gradient. With C = G σ² (2/π)/R, E = C∘N and the row sums e_i, f_j of E both ways,
//
//	d(k) = σ² (2/π) (dN - ½ N (dH/H + dH'/H'))/R
//	∂/∂ln l_k: -4 Σ_ij C_ij a_ik b_jk + 2 Σ_i e_i a_ik²/H_i + 2 Σ_j f_j b_jk²/H'_j
//	∂/∂ln σ₀:  2σ₀² (2 Σ_ij C_ij - Σ_i e_i/H_i - Σ_j f_j/H'_j).
func (k NeuralNetwork) pull(grad, theta []float64, x, z *Inputs, own, g block) {
	checkLen("grad", len(grad), len(theta))
	if own.data == nil {
		own = g.like()
		k.fill(own, theta, x, z)
	}
	grad[0] += 2 * g.total(own)

	e, c := g.like(), g.like() // inner products and distances first
	a, b := k.forms(e, c, theta, x, z)
	factor := variance(theta[0]) * (2 / math.Pi)
	for i := range g.rows {
		gRow, eRow, cRow, first := g.row(i), e.row(i), c.row(i), g.first(i)
		for j, p := range eRow {
			n, r := angle(a, b, i, first+j, p, cRow[j])
			cRow[j] = factor * gRow[j] / r
			eRow[j] = cRow[j] * n
		}
	}
	perColumn := make([]float64, x.Dim())
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

// Memory implements Kernel: distances, and in the gradient these with the inner products.
func (k NeuralNetwork) Memory(n, m, dim int) int64 { return words(3*n*n + n*m + (7*n+2*m)*dim) }

// Gram implements Kernel.
func (k NeuralNetwork) Gram(dst *mat.SymDense, theta []float64, x *Inputs) {
	k.fill(triangle(dst, x), theta, x, nil)
}

// Cross implements Kernel.
func (k NeuralNetwork) Cross(dst *mat.Dense, theta []float64, x, z *Inputs) {
	k.fill(full(dst, x, z), theta, x, z)
}

// Diag implements Kernel.
func (k NeuralNetwork) Diag(dst, theta []float64, z *Inputs) {
	u := k.units(theta, z)
	checkLen("dst", len(dst), z.N())
	v := variance(theta[0])
	for j, p := range u.norms {
		dst[j] = v * (2 / math.Pi) * math.Atan2(angle(u, u, j, j, p, 0))
	}
}

// Pullback implements Kernel.
func (k NeuralNetwork) Pullback(grad, theta []float64, x *Inputs, own, g *mat.SymDense) {
	k.pull(grad, theta, x, nil, triangle(own, x), triangle(g, x))
}

// PullbackCross implements Kernel.
func (k NeuralNetwork) PullbackCross(grad, theta []float64, x, z *Inputs, g *mat.Dense) {
	k.pull(grad, theta, x, z, block{}, full(g, x, z))
}

// PullbackDiag implements Kernel. On the diagonal N = H - 1 and R = √(2H - 1), so that dk = σ² (2/π) dH/(H R).
func (k NeuralNetwork) PullbackDiag(grad, theta []float64, z *Inputs, g []float64) {
	diag := make([]float64, z.N())
	k.Diag(diag, theta, z)
	checkLen("grad", len(grad), len(theta))
	checkLen("g", len(g), z.N())
	grad[0] += 2 * floats.Dot(g, diag)

	u, factor, last := k.units(theta, z), variance(theta[0])*(2/math.Pi), len(grad)-1
	perColumn := make([]float64, z.Dim())
	for j, w := range g {
		h := 1 + 2*(u.bias+u.norms[j])
		w *= 4 * factor / (h * math.Sqrt(2*h-1))
		grad[last] += w * u.bias
		for c, v := range generalRow(u.rows, j) {
			perColumn[c] -= w * v * v
		}
	}
	fold(grad[1:last], perColumn)
}
