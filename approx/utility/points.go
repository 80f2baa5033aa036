package utility

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// Nested rules with 1, 3, 9 and 19 nodes for the standard normal distribution, exact up to degrees
// 1, 5, 15 and 29 (Genz & Keister 1996): the nodes that each rule adds to the previous one.
var nestedNodes = [...][]float64{
	{0},
	{-1.7320508075688773, 1.7320508075688773},
	{-4.184956017672732, -2.861279576057058, -0.741095349994541, 0.741095349994541, 2.861279576057058,
		4.184956017672732},
	{-6.36339449433637, -5.187016039913656, -3.2053337944991945, -2.596083115049202, -1.230423634027306,
		1.230423634027306, 2.596083115049202, 3.2053337944991945, 5.187016039913656, 6.36339449433637},
}

// levels is the number of nested rules.
const levels = len(nestedNodes)

// nestedGain[k][l] are differences of weights, rule k minus rule k-1, at the nodes that rule l
// adds.
var nestedGain = func() (gain [levels][levels][]float64) {
	var x []float64
	for k, added := range nestedNodes {
		x = append(x, added...)
		// The weights satisfy that normalised Hermite polynomials of degrees 0 … n-1 average to 1,
		// 0, 0, …
		n := len(x)
		a, one := mat.NewDense(n, n, nil), mat.NewVecDense(n, nil)
		one.SetVec(0, 1)
		for i, v := range x {
			h, last := 1.0, 0.0
			for p := range n {
				a.Set(p, i, h)
				h, last = (v*h-math.Sqrt(float64(p))*last)/math.Sqrt(float64(p+1)), h
			}
		}
		var w mat.VecDense
		if err := w.SolveVec(a, one); err != nil {
			panic(err) // cannot fail: constants
		}
		i := 0
		for l, nodes := range nestedNodes[:k+1] {
			for range nodes {
				gain[k][l] = append(gain[k][l], w.AtVec(i))
				i++
			}
			for q := l; q < k; q++ {
				floats.Sub(gain[k][l], gain[q][l])
			}
		}
	}
	return gain
}()

// gridSafety was determined by measurements: with it the estimate exceeds the largest error of a
// probability in more than 95 of 100 cases.
const gridSafety = 4

// gridCell is a product of differences of nested rules, one per column of A.
type gridCell struct {
	values  []float64 // values of p, C for each point of the cell that no cell below has
	surplus []float64 // its contribution to the average
	size    float64   // the largest absolute entry of surplus
	refined bool
}

// line averages over u = A z with a single z by the trapezoidal rule, and halves its step until the
// average changes by at most target, or 8192 integrals have been computed. It returns the last
// change, which for a smooth integrand is much larger than the error.
func (g *maximum) line(pi []float64, a blas64.General, target float64) (deviation float64) {
	const end = 7 // beyond, a standard normal has probability 3e-12
	sum, u, old := make([]float64, len(pi)), make([]float64, len(pi)), make([]float64, len(pi))
	part, weights := make([]float64, len(pi)), 0.0
	add := func(z float64) {
		for c := range u {
			u[c] = a.Data[c*a.Stride] * z
		}
		clear(part)
		g.add(part, u)
		w := math.Exp(-z * z / 2)
		floats.AddScaled(sum, w, part)
		weights += w
	}
	for z := -float64(end); z <= end; z++ {
		add(z)
	}
	for step := 1.0; ; step /= 2 {
		floats.ScaleTo(pi, 1/weights, sum)
		deviation = floats.Distance(pi, old, math.Inf(1))
		if step <= 0.25 && deviation <= target || step < 2*end/8192. {
			return deviation
		}
		copy(old, pi)
		for z := -end + step/2; z < end; z += step {
			add(z)
		}
	}
}

// sparseGrid sets pi to the average of p over u = A z, z standard normal. The average is a sum of
// products of differences of nested rules (Gerstner & Griebel 2003, Computing 71:65). It begins
// with the rule of one node for all z. Each step refines the product that changed a p_c the most:
// it adds the next products, as far as all products below them have been refined. The error
// estimate is gridSafety times the root of the sum of the squared changes by products that were not
// refined. It ends when the estimate is at most target, when another product would exceed
// gridPoints, or when the finest rule does not suffice.
func (g *maximum) sparseGrid(pi []float64, a blas64.General, target float64) (deviation float64) {
	const gridPoints = 8192
	s := grid{g: g, a: a, points: gridPoints, cells: map[string]*gridCell{}, u: make([]float64, len(pi))}
	var open []string // not refined yet
	stuck := 0.0      // Σ size² of cells with the finest rule
	clear(pi)
	add := func(key string) bool {
		cell := s.cell(key)
		if cell == nil {
			return false
		}
		floats.Add(pi, cell.surplus)
		open = append(open, key)
		return true
	}
	for more := add(string(make([]byte, a.Cols))); more; {
		best, squares := 0, stuck
		for i, key := range open {
			size := s.cells[key].size
			squares += size * size
			if size > s.cells[open[best]].size {
				best = i
			}
		}
		deviation = gridSafety * math.Sqrt(squares)
		if len(open) == 0 || len(s.cells) > 1 && deviation <= target || gridSafety*math.Sqrt(stuck) > target {
			break
		}
		cell := s.cells[open[best]]
		next := []byte(open[best])
		cell.refined = true
		open = append(open[:best], open[best+1:]...)
		if slices.Max(next) == byte(levels-1) {
			stuck += cell.size * cell.size
		}
		for j := range next {
			next[j]++
			if int(next[j]) < levels && ready(s.cells, next) {
				more = add(string(next)) && more
			}
			next[j]--
		}
	}
	return deviation
}

// grid is the state of sparseGrid.
type grid struct {
	g      *maximum
	a      blas64.General
	points int                  // remaining number of integrals
	cells  map[string]*gridCell // key: one byte per column
	u      []float64
}

// cell computes the cell of a key; nil if that takes too many integrals.
func (s *grid) cell(key string) *gridCell {
	var axes []int // columns with more than the node 0
	count, classes := 1, len(s.u)
	for j := range s.a.Cols {
		if key[j] > 0 {
			axes = append(axes, j)
			count *= len(nestedNodes[key[j]])
		}
	}
	if s.points -= count; s.points < 0 {
		return nil
	}
	cell := &gridCell{values: make([]float64, count*classes), surplus: make([]float64, classes)}
	for i := range count {
		clear(s.u)
		rest := i
		for _, j := range axes {
			nodes := nestedNodes[key[j]]
			for c := range s.u {
				s.u[c] += nodes[rest%len(nodes)] * s.a.Data[c*s.a.Stride+j]
			}
			rest /= len(nodes)
		}
		s.g.add(cell.values[i*classes:(i+1)*classes], s.u)
	}
	s.cells[key] = cell
	for below := []byte(key); below != nil; below = before(below, key, axes) {
		values := s.cells[string(below)].values
		for i := 0; i*classes < len(values); i++ {
			weight, rest := 1.0, i
			for _, j := range axes {
				gain := nestedGain[key[j]][below[j]]
				weight *= gain[rest%len(gain)]
				rest /= len(gain)
			}
			floats.AddScaled(cell.surplus, weight, values[i*classes:(i+1)*classes])
		}
	}
	cell.size = floats.Norm(cell.surplus, math.Inf(1))
	return cell
}

// before steps backwards through all indices that are at most key in every entry. It changes index
// to the previous one and returns it, or nil if index is 0.
func before(index []byte, key string, axes []int) []byte {
	for _, j := range axes {
		if index[j] > 0 {
			index[j]--
			return index
		}
		index[j] = key[j]
	}
	return nil
}

// ready reports whether all neighbours below have been refined.
func ready(cells map[string]*gridCell, index []byte) bool {
	for j, l := range index {
		if l == 0 {
			continue
		}
		index[j]--
		cell := cells[string(index)]
		index[j]++
		if cell == nil || !cell.refined {
			return false
		}
	}
	return true
}

// shifts is the number of lattices, each with a different shift, and firstPoints the initial number
// of points of each.
const shifts, firstPoints = 8, 512

// latticeGenerator generates rank-1 lattices of 2^k points, k ≤ 17, whose first coordinates have
// the best quality. It was constructed component by component, each the best of 300 random odd
// numbers. The criterion is the logarithm of the squared worst-case error, summed over k = 7 … 17.
// The space is the Korobov space of smoothness 1 with product weights j^-1.5 (see Dick, Kuo &
// Sloan 2013, Acta Numerica 22:133).
var latticeGenerator = [...]uint32{
	1, 105647, 22239, 72613, 117897, 32925, 37255, 83339, 92915, 9763, 111841, 5019, 48449, 100759, 97697, 107739,
	8719, 71557, 14001, 117413, 110699, 18207, 56909, 8673, 71335, 44779, 69941, 109399, 12343, 69771, 747, 72231,
}

// shiftQuantile is the 95 % quantile of |x̄|/s, for x̄ the mean of 8 normal variates with mean 0
// and s its standard error: Student's t with 7 degrees of freedom. For several classes the largest
// estimate must exceed the largest error, which requires no larger factor.
const shiftQuantile = 2.3646

// latticeNormals[coordinate, level] are coordinates of all lattices as standard normal values:
// level 0 has the first firstPoints, every other level as many more as all before. All cases share
// them.
var latticeNormals = struct {
	sync.Mutex
	of map[[2]int]*[shifts][]float64
}{of: map[[2]int]*[shifts][]float64{}}

// latticePart returns an entry of latticeNormals: points in the order of van der Corput's sequence,
// shifted by fixed random numbers, folded by the tent transform and mapped by the normal quantile
// function.
func latticePart(coordinate, level int) *[shifts][]float64 {
	latticeNormals.Lock()
	defer latticeNormals.Unlock()
	part := latticeNormals.of[[2]int{coordinate, level}]
	if part != nil {
		return part
	}
	part = new([shifts][]float64)
	rng := rand.New(rand.NewPCG(1, uint64(coordinate)))
	generator := rng.Uint32() | 1
	if coordinate < len(latticeGenerator) {
		generator = latticeGenerator[coordinate]
	}
	from, to := 0, firstPoints<<level
	if level > 0 {
		from = to / 2
	}
	for k := range part {
		move := rng.Float64()
		part[k] = make([]float64, to-from)
		for i := range part[k] {
			x := float64(bits.Reverse32(uint32(from+i))*generator)/(1<<32) + move
			x = 1 - math.Abs(2*(x-math.Floor(x))-1)
			part[k][i] = mathext.NormalQuantile(min(max(x, 0x1p-53), 1-0x1p-53))
		}
	}
	latticeNormals.of[[2]int{coordinate, level}] = part
	return part
}

// lattice sets pi to the average of p over u = A z, z standard normal, at lattice points in one
// more dimension than z: the first represents the largest f_c + g_c, see shares. The number of
// points is doubled until the error estimate is at most target or the maximum is reached.
func (g *maximum) lattice(pi []float64, a blas64.General, points int, target float64) (deviation float64) {
	var sums [shifts][]float64
	for k := range sums {
		sums[k] = make([]float64, len(pi))
	}
	z, parts := linalg.NewGeneral(a.Cols+1, block), make([]*[shifts][]float64, a.Cols+1)
	most := max(1, points/shifts)
	for level, used := 0, 0; ; level++ {
		for j := range parts {
			parts[j] = latticePart(j, level)
		}
		n := min(firstPoints<<level, most)
		for k, sum := range sums {
			for from := 0; from < n-used; from += block {
				z.Cols = min(block, n-used-from)
				for j, part := range parts {
					copy(z.Data[j*block:j*block+z.Cols], part[k][from:])
				}
				g.shares(sum, a, z)
			}
		}
		used = n
		clear(pi)
		for _, sum := range sums {
			floats.AddScaled(pi, 1/float64(shifts*n), sum)
		}
		deviation = 0
		for c, p := range pi {
			squares := 0.0
			for _, sum := range sums {
				e := sum[c]/float64(n) - p
				squares += e * e
			}
			deviation = max(deviation, shiftQuantile*math.Sqrt(squares/(shifts*(shifts-1))))
		}
		if deviation <= target || n == most {
			return deviation
		}
	}
}

// shares adds to sum the ratios h_c/Σ_k h_k at t_j, for every column z_j. z_0, the first element of
// z, determines the largest utility t of all f_c + g_c, and the other elements determine u = A z.
// Given u and t, this ratio is the probability that class c has the largest utility. t solves Π_k
// F_k(t) = Φ(z_0), by a bracketed Newton method on log(-log), which is linear if the f_c are
// certain.
func (g *maximum) shares(sum []float64, a, z blas64.General) {
	n, d := z.Cols, a.Cols
	u := g.means
	u.Cols = n
	for c, m := range g.mean {
		row := u.Data[c*block : c*block+n]
		for j := range row {
			row[j] = m
		}
	}
	linalg.Gemm(blas.NoTrans, blas.NoTrans, 1, a, blas64.General{Rows: d, Cols: n, Stride: block, Data: z.Data[block:]},
		1, u)
	for j, v := range z.Data[:n] {
		g.t[j], g.lo[j], g.hi[j], g.want[j] = math.Inf(-1), math.Inf(-1), math.Inf(1), linalg.LogNormCDF(v)
		for c, sd := range g.sd {
			g.t[j] = max(g.t[j], u.Data[c*block+j]+sd*v)
		}
	}
	which := g.all(n)
	for steps := 0; len(which) > 0 && steps < 100; steps++ {
		g.evaluate(which)
		left := which[:0]
		for _, j := range which {
			total := min(g.total[j], -0x1p-1000)
			miss := math.Log(total / g.want[j])
			if miss > 0 {
				g.lo[j] = g.t[j]
			} else {
				g.hi[j] = g.t[j]
			}
			g.t[j] -= total * miss / g.slope[j]
			if !(g.t[j] >= g.lo[j] && g.t[j] <= g.hi[j]) {
				g.t[j] = (g.lo[j] + g.hi[j]) / 2
			}
			if math.Abs(miss) > 1e-3 { // the step leaves about the square of that
				left = append(left, j)
			}
		}
		which = left
	}
	g.evaluate(g.all(n))
	for c := range sum {
		for j, h := range g.h.Data[c*block : c*block+n] {
			sum[c] += h / g.slope[j]
		}
	}
}
