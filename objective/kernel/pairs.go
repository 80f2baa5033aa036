package kernel

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/random"
)

// closeness is the fraction of |a|² + |b|² below which |a - b|² is summed directly, not expanded.
//
// The expansion |a|² + |b|² - 2a·b over d columns has an error of at most (2d+7)u(|a|² + |b|²), u =
// 2⁻⁵³. The centring and scaling of a and b add at most 4u√(2|a-b|²(|a|²+|b|²)). Where the
// expansion is used, the relative error of |a - b|² is therefore at most
//
//	(2d+7)u/closeness + 6u/√closeness,
//
// 4e-12 at d = 256 and 2e-13 at d = 10 (the bound of the worst case; rounding errors mostly
// cancel). A pair summed directly has relative error (d+4)u, and a duplicate is at distance exactly
// 0.
const closeness = 1.0 / 64

// pairs holds the rows a_i of X∘scale and b_j of Z∘scale for the X and Z of a block, centred on X's
// column means, with their squared norms. Distances between the rows are computed from them.
type pairs struct {
	x, z   *Inputs
	scale  []float64
	a, b   blas64.General
	na, nb []float64 // |a_i|², |b_j|²
}

// newPairs makes the pairs of a block, with column k scaled by scale[k].
func newPairs(of Block, scale []float64) *pairs {
	p := &pairs{x: of.X, z: of.Z, scale: scale}
	p.a, p.b = of.sides(func(x *Inputs) blas64.General { return x.scaled(of.X.means(), scale) })
	p.na = squaredNorms(p.a)
	if p.nb = p.na; p.z != p.x {
		p.nb = squaredNorms(p.b)
	}
	return p
}

// squared sets dst to |a_i - b_j|².
func (p *pairs) squared(dst Block) {
	dst.outer(-2, p.a, p.b)
	dst.each(func(i int, row []float64) {
		first := dst.First(i)
		na, nb := p.na[i], p.nb[first:]
		for j, v := range row {
			norms := na + nb[j]
			v += norms
			if !(v > closeness*norms) {
				v = p.direct(i, first+j)
			}
			row[j] = v
		}
	})
}

// direct is |a_i - b_j|², summed over the differences of the original inputs.
func (p *pairs) direct(i, j int) float64 {
	xi, zj := p.x.X.RawRowView(i), p.z.X.RawRowView(j)
	sum := 0.0
	for k, v := range xi {
		d := (v - zj[k]) * p.scale[k]
		sum += d * d
	}
	return sum
}

// takeClose removes the close pairs of row i from m. It adds their terms of Σ_ij m_ij (a_ik -
// b_jk)² to grad[k] and sets their m to 0. s is the row of squared distances.
//
// Where m_ij grows as the distance shrinks (a Matérn kernel's slope does), the matrix product in
// differences would have an error of m_ij·u·|a|² from cancellation.
func (p *pairs) takeClose(grad []float64, m Block, s []float64, i int) {
	row, first := m.Row(i), m.First(i)
	na, nb := p.na[i], p.nb[first:]
	for j, v := range s {
		if v > closeness*(na+nb[j]) {
			continue
		}
		if w := m.Weight(1) * row[j]; w != 0 && v > 0 {
			xi, zj := p.x.X.RawRowView(i), p.z.X.RawRowView(first+j)
			for k, f := range p.scale {
				d := (xi[k] - zj[k]) * f
				grad[k] += w * d * d
			}
		}
		row[j] = 0
	}
}

// side is one of the two sets of rows, with the sums of their weighted differences from the other
// set.
type side struct {
	inputs            *Inputs
	rows, differences blas64.General
}

// differences returns, for the rows a_i, Σ_j m_ij (a_i - b_j) and, for the rows b_j,
// Σ_i m_ij (b_j - a_i), from which every derivative of the distances is a sum over rows:
//
//	Σ_ij m_ij (a_i - b_j)·(a'_i - b'_j)
//	  = Σ_i a'_i·Σ_j m_ij (a_i - b_j) + Σ_j b'_j·Σ_i m_ij (b_j - a_i).
//
// It costs one matrix product for each side, of n×n by n×d, and never forms n×n×d numbers. For a
// symmetric m there is one side that stands for both, with doubled differences. The diagonal of m
// has no influence. It is set to 0, because it would add rounding errors of m_ii |a_i|².
func (p *pairs) differences(m Block) []side {
	one := m.shape != whole && m.Z == m.X
	if one {
		for i := range m.Rows() {
			m.Row(i)[0] = 0
		}
	}
	rows, cols := m.sums()
	sides := []side{{p.x, p.a, differencesOf(p.a, rows, m.times(blas.NoTrans, p.b), m.Weight(1))}}
	if !one {
		sides = append(sides, side{p.z, p.b, differencesOf(p.b, cols, m.times(blas.Trans, p.a), 1)})
	}
	return sides
}

// differencesOf turns the product M·B into factor·(sums_i a_i - product_i).
func differencesOf(a blas64.General, sums []float64, product blas64.General, factor float64) blas64.General {
	for i, r := range sums {
		row := generalRow(product, i)
		for k, v := range generalRow(a, i) {
			row[k] = factor * (r*v - row[k])
		}
	}
	return product
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

// distances is the squared distances of the pairs of a block; Inputs keep them.
func distances(of Block) Block {
	compute := func() []float64 {
		ones := slices.Repeat([]float64{1}, of.X.Dim())
		dst := of.like()
		newPairs(of, ones).squared(dst)
		return dst.data
	}
	of.stride = of.Z.N()
	x := of.X
	switch {
	case of.shape == upper:
		of.data = x.squared.get(compute)
		return of
	case of.shape == diagonal && of.Z == x:
		return of.like()
	case of.shape == diagonal:
		of.stride = 1
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.latest.z != of.Z || len(x.latest.squared) != of.Rows()*of.stride {
		x.latest = crossSquared{z: of.Z, squared: compute()}
	}
	of.data = x.latest.squared
	return of
}

// products sets dst to the inner products of its pairs; Inputs keep those within one set.
func products(dst Block) {
	if dst.shape != upper {
		dst.outer(1, dst.X.X.RawMatrix(), dst.Z.X.RawMatrix())
		return
	}
	kept := dst
	kept.stride = dst.Rows()
	kept.data = dst.X.products.get(func() []float64 {
		b := dst.like()
		b.inner(dst.X.X.RawMatrix(), dst.X.X.RawMatrix())
		return b.data
	})
	dst.set(kept)
}

// medianRows bounds the work of MedianDistance: about half a million pairs.
const medianRows = 1000

// MedianDistance is the median Euclidean distance over all pairs of cases that do not coincide, a
// start for length scales on inputs of unknown scale. The weight of a pair is the product of the
// weights of its cases, as if a row of weight w stood there w times; nil: 1 each. If more than 1000
// rows differ, it uses the 1000 rows with the smallest hashes of their numbers, so that the order
// of the rows does not matter. It is 1 if all cases coincide, because then all length scales are
// equally good.
func (x *Inputs) MedianDistance(weight []float64) float64 {
	if weight != nil {
		checkLen("weight", len(weight), x.N())
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if m := &x.median; m.distance == 0 || !slices.Equal(m.weight, weight) {
		*m = median{weight, x.medianDistance(weight)}
	}
	return x.median.distance
}

func (x *Inputs) medianDistance(weight []float64) float64 {
	sample, weight := x.different(weight)
	n := sample.N()
	type pair struct{ squared, weight float64 }
	pairs := make([]pair, 0, n*(n-1)/2)
	all, total := distances(Block{X: sample, Z: sample, shape: upper}), 0.0
	for i := range n {
		for k, v := range all.Row(i) {
			if v > 0 {
				w := weight[i] * weight[i+k]
				pairs = append(pairs, pair{v, w})
				total += w
			}
		}
	}
	if len(pairs) == 0 {
		return 1
	}
	slices.SortFunc(pairs, func(a, b pair) int { return cmp.Compare(a.squared, b.squared) })
	below, lower := 0.0, math.NaN() // the median of an even number is between two pairs
	for _, p := range pairs {
		if below += p.weight; below >= total/2 && math.IsNaN(lower) {
			lower = p.squared
		}
		if below > total/2 {
			return (math.Sqrt(lower) + math.Sqrt(p.squared)) / 2
		}
	}
	return math.Sqrt(pairs[len(pairs)-1].squared) // total is rounded
}

// different returns the distinct rows, each with the total weight of its cases, in the order of the
// hash of their numbers: at most medianRows of them.
func (x *Inputs) different(weight []float64) (rows *Inputs, sums []float64) {
	order, hash := make([]int, x.N()), make([]uint64, x.N())
	for i := range order {
		order[i], hash[i] = i, random.Content(x.X.RawRowView(i))
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(hash[i], hash[j]), slices.Compare(x.X.RawRowView(i), x.X.RawRowView(j)))
	})
	var data []float64
	for k, i := range order {
		row, w := x.X.RawRowView(i), 1.0
		if weight != nil {
			w = weight[i]
		}
		switch {
		case k > 0 && slices.Equal(row, x.X.RawRowView(order[k-1])):
			sums[len(sums)-1] += w
			continue
		case len(sums) == medianRows:
			return &Inputs{X: mat.NewDense(len(sums), x.Dim(), data)}, sums
		}
		data, sums = append(data, row...), append(sums, w)
	}
	return &Inputs{X: mat.NewDense(len(sums), x.Dim(), data)}, sums
}
