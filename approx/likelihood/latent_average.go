package likelihood

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"
	"gonum.org/v1/gonum/stat/distuv"
)

// The nested rules of 1, 3, 9 and 19 nodes for the standard normal distribution, exact to degrees 1, 5, 15 and 29 (Genz & Keister
// 1996): the nodes that each adds to the last.
var nestedNodes = [...][]float64{
	{0},
	{-1.7320508075688773, 1.7320508075688773},
	{-4.184956017672732, -2.861279576057058, -0.741095349994541, 0.741095349994541, 2.861279576057058, 4.184956017672732},
	{-6.36339449433637, -5.187016039913656, -3.2053337944991945, -2.596083115049202, -1.230423634027306, 1.230423634027306, 2.596083115049202, 3.2053337944991945, 5.187016039913656, 6.36339449433637},
}

// levels is the number of nested rules.
const levels = len(nestedNodes)

// nestedGain[k][l] are the weights that rule k gives to the nodes that rule l adds, less those that rule k-1 gives them.
var nestedGain = func() (gain [levels][levels][]float64) {
	var x []float64
	for k, added := range nestedNodes {
		x = append(x, added...)
		// The weights have the normalised Hermite polynomials of degrees 0 … n-1 average to 1, 0, 0, …
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
			panic(err) // of constants
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

// gridCell is a product of differences of nested rules, one for each column of A.
type gridCell struct {
	values  []float64 // of p at the points that it has and no cell below it, C for each
	surplus []float64 // what it adds to the average
	size    float64   // of the largest entry of that
	refined bool
}

// sparseGrid sets pi to the average of p over u = A z, z standard normal, by a sum of products of differences of nested
// rules, which begins with the rule of one node for all z and goes on above that which changed a p_c the most, as long as all
// below are there (Gerstner & Griebel 2003, Computing 71:65). It ends when twice the root of the sum of squares of the changes by those above
// which it did not go on, the error estimate, is at most target, when another one would take more points than it may use, or when the finest rule is not
// fine enough.
func (g *gumbelMaximum) sparseGrid(pi []float64, a blas64.General, points int, target float64) (deviation float64) {
	classes, d := len(pi), a.Cols
	cells := map[string]*gridCell{} // by a byte for each column
	var open []string               // not refined yet
	u := make([]float64, classes)
	stuck := 0.0 // Σ size² where the finest rule is used already
	clear(pi)
	add := func(key string) bool {
		var axes []int // with more than the node 0
		count := 1
		for j := range d {
			if key[j] > 0 {
				axes = append(axes, j)
				count *= len(nestedNodes[key[j]])
			}
		}
		if points -= count; points < 0 {
			return false
		}
		cell := &gridCell{values: make([]float64, count*classes), surplus: make([]float64, classes)}
		for i := range count {
			clear(u)
			rest := i
			for _, j := range axes {
				nodes := nestedNodes[key[j]]
				for c := range u {
					u[c] += nodes[rest%len(nodes)] * a.Data[c*a.Stride+j]
				}
				rest /= len(nodes)
			}
			g.add(cell.values[i*classes:(i+1)*classes], u)
		}
		cells[key] = cell
		for below := []byte(key); below != nil; below = before(below, key, axes) {
			values := cells[string(below)].values
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
		floats.Add(pi, cell.surplus)
		open = append(open, key)
		return true
	}
	for more := add(string(make([]byte, d))); more; {
		best, squares := 0, stuck
		for i, key := range open {
			size := cells[key].size
			squares += size * size
			if size > cells[open[best]].size {
				best = i
			}
		}
		deviation = 2 * math.Sqrt(squares)
		if len(open) == 0 || len(cells) > 1 && deviation <= target || 2*math.Sqrt(stuck) > target {
			break
		}
		cell := cells[open[best]]
		next := []byte(open[best])
		cell.refined = true
		open = append(open[:best], open[best+1:]...)
		if slices.Max(next) == byte(levels-1) {
			stuck += cell.size * cell.size
		}
		for j := range next {
			next[j]++
			if int(next[j]) < levels && ready(cells, next) {
				more = add(string(next)) && more
			}
			next[j]--
		}
	}
	return deviation
}

// before is the index before this one among those that are nowhere above key; nil after the last, 0.
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

// ready says whether all neighbours below have been refined.
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

// shifts is how many estimates lattice makes, and pairs how many points, each with its mirror image, the first of them have.
const shifts, pairs = 8, 4

// shiftQuantile is the 97.5 % quantile of Student's t for the mean of the estimates.
var shiftQuantile = distuv.StudentsT{Sigma: 1, Nu: shifts - 1}.Quantile(0.975)

// latticeGenerator generates rank-1 lattices of 2^k points, k ≤ 17, of which the first coordinates are the best. It was found component by
// component, among 300 odd numbers drawn at random each, as what has the least sum, over k = 7 … 17, of the logarithm of the squared
// worst-case error in the Korobov space of smoothness 1 with product weights j^-1.5 (see Dick, Kuo & Sloan 2013, Acta Numerica 22:133).
var latticeGenerator = [...]uint32{
	1, 105647, 22239, 72613, 117897, 32925, 37255, 83339, 92915, 9763, 111841, 5019, 48449, 100759, 97697, 107739,
	8719, 71557, 14001, 117413, 110699, 18207, 56909, 8673, 71335, 44779, 69941, 109399, 12343, 69771, 747, 72231,
}

// lattice sets pi to the average of p over u = A z, z standard normal, at the points of a lattice in the order of van der Corput's sequence,
// shifted at random, always by the same 8 shifts, folded by the tent transform and mapped by the normal quantile function, each with its
// mirror image. The points are doubled until the error estimate is at most target or as many are used as may be.
func (g *gumbelMaximum) lattice(pi []float64, a blas64.General, points int, target float64) (deviation float64) {
	classes, d := len(pi), a.Cols
	generator, move := make([]uint32, d), make([][]float64, shifts)
	rng := rand.New(rand.NewPCG(1, 0))
	for j := range generator {
		if generator[j] = rng.Uint32() | 1; j < len(latticeGenerator) {
			generator[j] = latticeGenerator[j]
		}
	}
	sums := make([][]float64, shifts)
	for k := range shifts {
		sums[k], move[k] = make([]float64, classes), make([]float64, d)
		for j := range move[k] {
			move[k][j] = rng.Float64()
		}
	}
	plus, minus := make([]float64, classes), make([]float64, classes)
	most := max(pairs, points/(2*shifts))
	for n, used := min(pairs, most), 0; ; n = min(2*n, most) {
		for i := used; i < n; i++ {
			order := bits.Reverse32(uint32(i))
			for k := range shifts {
				clear(plus)
				for j, by := range generator {
					x := float64(order*by)/(1<<32) + move[k][j]
					z := mathext.NormalQuantile(min(max(1-math.Abs(2*(x-math.Floor(x))-1), 0x1p-53), 1-0x1p-53))
					for c := range plus {
						plus[c] += z * a.Data[c*a.Stride+j]
					}
				}
				floats.ScaleTo(minus, -1, plus)
				g.add(sums[k], plus)
				g.add(sums[k], minus)
			}
		}
		used = n
		clear(pi)
		deviation = 0
		for _, sum := range sums {
			floats.AddScaled(pi, 1/float64(2*shifts*n), sum)
		}
		for c, p := range pi {
			squares := 0.0
			for _, sum := range sums {
				e := sum[c]/float64(2*n) - p
				squares += e * e
			}
			deviation = max(deviation, shiftQuantile*math.Sqrt(squares/(shifts*(shifts-1))))
		}
		if deviation <= target || n == most {
			return deviation
		}
	}
}
