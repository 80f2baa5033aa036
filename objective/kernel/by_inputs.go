package kernel

import (
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// inputPuller kernels have derivatives by the inputs. All kernels of Table have them, and all
// combinations of such kernels.
type inputPuller interface {
	// pullInputs adds Σ_j G_ij ∂k(x_i, z_j)/∂x_i to row i of dst, n×d, for a whole matrix g of X
	// against Z. Cases of X and Z are different cases, also where their inputs are equal.
	pullInputs(dst *mat.Dense, theta []float64, g Block)
}

// PullbackInputs adds Σ_j G_ij ∂k(x_i, z_j)/∂x_i to row i of dst, n×d, for g, n×m, as K(X, Z). This
// is the derivative by X of a scalar whose adjoint is G, where Z does not depend on X. Where a
// kernel has a kink, as matern12 between cases with equal inputs, it is the mean of the one-sided
// derivatives. It is an error if k has no derivative by inputs.
func PullbackInputs(k Kernel, dst *mat.Dense, theta []float64, x, z *Inputs, g *mat.Dense) error {
	checkLen("theta", len(theta), count(k, x.Dim()))
	if n, d := dst.Dims(); n != x.N() || d != x.Dim() {
		panic(fmt.Sprintf("kernel: derivative by inputs of %d×%d, want %d×%d", n, d, x.N(), x.Dim()))
	}
	for _, leaf := range Leaves(k, x.Dim()) {
		if _, ok := leaf.Kernel.(inputPuller); !ok {
			return fmt.Errorf("kernel %T has no derivative by its inputs", leaf.Kernel)
		}
	}
	pullInputs(k, dst, theta, wholeOf(g, x, z))
	return nil
}

func pullInputs(k Kernel, dst *mat.Dense, theta []float64, g Block) {
	k.(inputPuller).pullInputs(dst, theta, g)
}

// pullInputs implements inputPuller: with w = -2κ'/κ, -Σ_j (G∘K)_ij w_ij (x_ik - z_jk)/l_k², in
// differences of the inputs without scaling or centring.
func (k Stationary[P]) pullInputs(dst *mat.Dense, theta []float64, g Block) {
	length, shape := k.lengths(theta), natural(theta[len(theta)-1])
	w, weighted := any(k.Shape).(Weigher)
	m := given(k, theta, Block{}, g)
	inv := inverses(length, g.X.Dim())
	var d2 Block
	c := 1.0
	switch {
	case weighted && k.ARD:
		d2 = g.like()
		newPairs(g, inv).squared(d2)
	case weighted:
		d2, c = unscaled(g, length)
	}
	g.each(func(i int, gRow []float64) {
		row := m.Row(i)
		floats.Mul(row, gRow)
		if weighted {
			w.Weigh(row, d2.Row(i), c, shape)
		}
		x, to := g.X.X.RawRowView(i), dst.RawRowView(i)
		for j, v := range row {
			for c, z := range g.Z.X.RawRowView(j) {
				to[c] -= v * (x[c] - z) * inv[c] * inv[c]
			}
		}
	})
}

// addProduct adds Σ_j G_ij z_jk scale_k to dst_ik.
func (b Block) addProduct(dst *mat.Dense, scale []float64) {
	product := b.times(blas.NoTrans, b.Z.X.RawMatrix())
	for i := range product.Rows {
		row := generalRow(product, i)
		floats.Mul(row, scale)
		floats.Add(dst.RawRowView(i), row)
	}
}

// pullInputs implements inputPuller: σ² Σ_j G_ij z_jk/l_k².
func (k Linear) pullInputs(dst *mat.Dense, theta []float64, g Block) {
	scale := make([]float64, g.X.Dim())
	floats.AddConst(variance(theta[0]), scale)
	if k.ARD {
		inv := inverses(theta[1:], len(scale))
		floats.Mul(scale, inv)
		floats.Mul(scale, inv)
	}
	g.addProduct(dst, scale)
}

// pullInputs implements inputPuller: σ² p/d Σ_j G_ij (1 + x_i·z_j/d)^(p-1) z_jk.
func (k Polynomial) pullInputs(dst *mat.Dense, theta []float64, g Block) {
	v, dim, degree := variance(theta[0]), g.X.Dim(), k.Degree
	if degree == 0 {
		degree = 2
	}
	m := g.like()
	products(m)
	m.zip(g, func(row, g []float64) {
		for j, p := range row {
			if row[j] = v * g[j]; degree > 1 {
				row[j] = g[j] * Polynomial{Degree: degree - 1}.at(v, p, dim)
			}
		}
	})
	scale := make([]float64, dim)
	floats.AddConst(float64(degree)/float64(dim), scale)
	m.addProduct(dst, scale)
}

func (Constant) pullInputs(*mat.Dense, []float64, Block) {}
func (Noise) pullInputs(*mat.Dense, []float64, Block)    {}

// pullInputs implements inputPuller: 0, because a small change of the codes does not change which
// categories differ.
func (Hamming) pullInputs(*mat.Dense, []float64, Block) {}

func (t Tied) pullInputs(dst *mat.Dense, theta []float64, g Block) {
	pullInputs(t.Kernel, dst, t.untied(theta, g.X.Dim()), g)
}

func (a Additive) pullInputs(dst *mat.Dense, theta []float64, g Block) {
	pullInputs(a.sum(g.X.Dim()), dst, theta, g)
}

// pullInputs implements inputPuller: with M = G∘K and u = 2πx/p, v = 2πz/p,
// -(2π/p) Σ_j M_ij sin(u_ik - v_jk)/l_k².
func (k Periodic) pullInputs(dst *mat.Dense, theta []float64, g Block) {
	last, d := len(theta)-1, g.X.Dim()
	inv, period, shift := inverses(theta[1:last], d), natural(theta[last]), g.X.means()
	_, x := wind(g.X, shift, period)
	_, z := wind(g.Z, shift, period)
	m := given(k, theta, Block{}, g)
	g.each(func(i int, gRow []float64) {
		row, to, a := m.Row(i), dst.RawRowView(i), x.X.RawRowView(i)
		for j, v := range row {
			b := z.X.RawRowView(j)
			for c := range to {
				sin := a[d+c]*b[c] - a[c]*b[d+c]
				to[c] -= v * gRow[j] * 2 * math.Pi / period * sin * inv[c] * inv[c]
			}
		}
	})
}

// pullInputs implements inputPuller. With C and E as Pull has them, 2/l_k (Σ_j C_ij b_jk - a_ik Σ_j
// E_ij/H_i).
func (k NeuralNetwork) pullInputs(dst *mat.Dense, theta []float64, g Block) {
	e, c := g.like(), g.like() // inner products and distances first
	a, b := k.forms(e, c, theta)
	factor := variance(theta[0]) * (2 / math.Pi)
	g.each(func(i int, gRow []float64) {
		eRow, cRow := e.Row(i), c.Row(i)
		for j, p := range eRow {
			n, r := angle(a, b, i, j, p, cRow[j])
			cRow[j] = factor * gRow[j] / r
			eRow[j] = cRow[j] * n
		}
	})
	product := c.times(blas.NoTrans, b.rows)
	inv := inverses(theta[1:len(theta)-1], g.X.Dim())
	for i := range product.Rows {
		share := floats.Sum(e.Row(i)) / (1 + 2*(a.bias+a.norms[i]))
		to, rows := dst.RawRowView(i), generalRow(a.rows, i)
		for col, v := range generalRow(product, i) {
			to[col] += 2 * inv[col] * (v - rows[col]*share)
		}
	}
}

// pullInputs implements inputPuller: every term gets G itself.
func (s Sum) pullInputs(dst *mat.Dense, theta []float64, g Block) {
	for i, t := range split(s, theta, g.X.Dim()) {
		pullInputs(s[i].Kernel, dst, t, g)
	}
}

// pullInputs implements inputPuller: every factor gets G∘(the other factors).
func (p Product) pullInputs(dst *mat.Dense, theta []float64, g Block) {
	p.each(theta, g, func(i int, t []float64, _, others Block) { pullInputs(p[i].Kernel, dst, t, others) })
}

func (c Choice) pullInputs(dst *mat.Dense, theta []float64, g Block) {
	k, own, _ := c.chosen(theta, g.X.Dim())
	pullInputs(k, dst, own, g)
}

// pullInputs implements inputPuller: the other columns have no derivative.
func (a Active) pullInputs(dst *mat.Dense, theta []float64, g Block) {
	seen := a.seen(g)
	own := mat.NewDense(g.Rows(), len(a.Dims), nil)
	pullInputs(a.Kernel, own, theta, seen)
	for i := range g.Rows() {
		to := dst.RawRowView(i)
		for k, v := range own.RawRowView(i) {
			to[a.Dims[k]-1] += v
		}
	}
}
