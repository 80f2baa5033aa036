package kernel

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
)

// closeness is the share of |a|² + |b|² below which |a - b|² is summed directly rather than expanded.
//
// The expansion |a|² + |b|² - 2a·b over d columns is off by at most (2d+7)u(|a|² + |b|²), u = 2⁻⁵³, and rounding in the
// centring and scaling of a and b by 4u√(2|a-b|²(|a|²+|b|²)). Where the expansion is kept, the relative error of
// |a - b|² is therefore at most
//
//	(2d+7)u/closeness + 6u/√closeness,
//
// 4e-12 at d = 256 and 2e-13 at d = 10 (the bound of the worst case; rounding errors mostly cancel). A pair summed
// directly has relative error (d+4)u, and a duplicate is at distance exactly 0.
const closeness = 1.0 / 64

// pairs is what the distances between the rows of X∘scale and Z∘scale need: the rows a_i and b_j, centred on X's
// column means, and their squared norms.
type pairs struct {
	x, z  *Inputs // z nil: the pairs within X
	scale []float64
	a, b  blas64.General
	na    []float64 // |a_i|²
	nb    []float64 // |b_j|²
}

// newPairs scales column k by scale[k]; z nil stands for X itself.
func newPairs(x, z *Inputs, scale []float64) *pairs {
	p := &pairs{x: x, z: z, scale: scale}
	p.a = x.scaledRows(x.means(), scale)
	p.na = squaredNorms(p.a)
	if z == nil {
		p.b, p.nb = p.a, p.na
	} else {
		p.b = z.scaledRows(x.means(), scale)
		p.nb = squaredNorms(p.b)
	}
	return p
}

// squared sets dst to |a_i - b_j|².
func (p *pairs) squared(dst block) {
	dst.outer(-2, p.a, p.b)
	for i := range dst.rows {
		row, first := dst.row(i), dst.first(i)
		na, nb := p.na[i], p.nb[first:]
		for j, v := range row {
			norms := na + nb[j]
			v += norms
			if !(v > closeness*norms) {
				v = p.direct(i, first+j)
			}
			row[j] = v
		}
	}
}

// direct is |a_i - b_j|² summed over the differences of the inputs as they came.
func (p *pairs) direct(i, j int) float64 {
	xi, zj := p.inputs(i, j)
	sum := 0.0
	for k, v := range xi {
		d := (v - zj[k]) * p.scale[k]
		sum += d * d
	}
	return sum
}

func (p *pairs) inputs(i, j int) (xi, zj []float64) {
	z := p.z
	if z == nil {
		z = p.x
	}
	return p.x.X.RawRowView(i), z.X.RawRowView(j)
}

// takeClose moves the close pairs of row i out of m: it adds what they contribute to Σ_ij m_ij (a_ik - b_jk)² to
// grad[k] and zeroes their m. s is the row of squared distances.
//
// Where m_ij grows as the distance shrinks (a Matérn kernel's slope does), the matrix product in differences would
// leave m_ij·u·|a|² of the cancelled terms.
func (p *pairs) takeClose(grad []float64, m block, s []float64, i int) {
	row, first := m.row(i), m.first(i)
	na, nb := p.na[i], p.nb[first:]
	for j, v := range s {
		if v > closeness*(na+nb[j]) {
			continue
		}
		if w := m.count() * row[j]; w != 0 && v > 0 {
			xi, zj := p.inputs(i, first+j)
			for k, f := range p.scale {
				d := (xi[k] - zj[k]) * f
				grad[k] += w * d * d
			}
		}
		row[j] = 0
	}
}

// side is one of the two sets of rows a pair is made of, and the sum of their weighted differences from the other set.
type side struct {
	rows, differences blas64.General
}

// differences returns, for the rows a_i, Σ_j m_ij (a_i - b_j) and, for the rows b_j, Σ_i m_ij (b_j - a_i), from which
// every derivative of the distances is a sum over rows:
//
//	Σ_ij m_ij (a_i - b_j)·(a'_i - b'_j) = Σ_i a'_i·Σ_j m_ij (a_i - b_j) + Σ_j b'_j·Σ_i m_ij (b_j - a_i).
//
// It costs one matrix product a side, of n×n by n×d, and never forms n×n×d numbers. A symmetric m gives one side that
// stands for both, its differences doubled. The diagonal of a symmetric m says nothing and is zeroed: it would leave
// rounding errors of its own size times |a_i|².
func (p *pairs) differences(m block) []side {
	if m.upper {
		for i := range m.rows {
			m.row(i)[0] = 0
		}
	}
	rows, cols := m.sums()
	sides := []side{subtractFrom(p.a, rows, m.times(blas.NoTrans, p.b), m.count())}
	if !m.upper {
		sides = append(sides, subtractFrom(p.b, cols, m.times(blas.Trans, p.a), 1))
	}
	return sides
}

// subtractFrom makes the side of a with differences factor·(sums_i a_i - product_i).
func subtractFrom(a blas64.General, sums []float64, product blas64.General, factor float64) side {
	for i, r := range sums {
		row := generalRow(product, i)
		for k, v := range generalRow(a, i) {
			row[k] = factor * (r*v - row[k])
		}
	}
	return side{rows: a, differences: product}
}

// addColumns adds factor·Σ_i a_ik b_ik to grad[k].
func addColumns(grad []float64, factor float64, a, b blas64.General) {
	for i := range a.Rows {
		bi := generalRow(b, i)
		for k, v := range generalRow(a, i) {
			grad[k] += factor * v * bi[k]
		}
	}
}

// squaredNorms is |a_i|² for every row.
func squaredNorms(a blas64.General) []float64 {
	norms := make([]float64, a.Rows)
	for i := range norms {
		norms[i] = squaredNorm(generalRow(a, i))
	}
	return norms
}

func squaredNorm(row []float64) float64 { return floats.Dot(row, row) }

// innerProducts sets dst to a_i·b_j. The diagonal of a symmetric dst is squaredNorm to the last bit, as in Diag.
func innerProducts(dst block, a, b blas64.General) {
	dst.outer(1, a, b)
	if dst.upper {
		for i := range dst.rows {
			dst.row(i)[0] = squaredNorm(generalRow(a, i))
		}
	}
}
