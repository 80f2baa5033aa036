//go:build linux

package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// bbob are the 24 noiseless functions of the Black-Box Optimization Benchmark (Hansen, Finck, Ros
// and Auger 2009, INRIA RR-6829) in d dimensions, with the least value 0. An instance draws the
// place of the least value and the rotations.
func bbob(d, instance int) (all []searched) {
	for k, definition := range bbobFunctions {
		rng := rand.New(rand.NewPCG(uint64(instance), uint64(k+1)))
		b := &bbobInstance{Rand: rng, d: d, best: make([]float64, d), q: rotation(rng, d), r: rotation(rng, d)}
		for i := range b.best {
			b.best[i] = -4 + 8*rng.Float64()
		}
		all = append(all, searched{
			name:  fmt.Sprintf("f%d %s, %d-D", k+1, definition.name, d),
			space: box(d, -5, 5), value: definition.of(b),
		})
	}
	return all
}

// bbobInstance holds the random numbers that make one instance of a function.
type bbobInstance struct {
	*rand.Rand
	d    int
	best []float64  // point of the least value
	q, r *mat.Dense // rotations
}

// rotation is a random orthogonal matrix.
func rotation(rng *rand.Rand, d int) *mat.Dense {
	a := mat.NewDense(d, d, nil)
	for i := range d {
		for j := range d {
			a.Set(i, j, rng.NormFloat64())
		}
	}
	var qr mat.QR
	qr.Factorize(a)
	var q mat.Dense
	qr.QTo(&q)
	return &q
}

// along is i/(d-1), the position of axis i from 0 (first axis) to 1 (last).
func (b *bbobInstance) along(i int) float64 { return float64(i) / float64(max(1, b.d-1)) }

// from is x minus the best point, rotated by r.
func (b *bbobInstance) from(x []float64) []float64 { return turned(b.r, b.shifted(x)) }

func (b *bbobInstance) shifted(x []float64) []float64 {
	return floats.SubTo(make([]float64, len(x)), x, b.best)
}

func turned(by *mat.Dense, x []float64) []float64 {
	out := mat.NewVecDense(len(x), nil)
	out.MulVec(by, mat.NewVecDense(len(x), x))
	return out.RawVector().Data
}

// stretched multiplies axis i by alpha^(i/(2(d-1))).
func (b *bbobInstance) stretched(alpha float64, z []float64) []float64 {
	for i := range z {
		z[i] *= math.Pow(alpha, b.along(i)/2)
	}
	return z
}

// oscillating is the transformation T_osz.
func oscillating(x float64) float64 {
	if x == 0 {
		return 0
	}
	at, c1, c2 := math.Log(math.Abs(x)), 5.5, 3.1
	if x > 0 {
		c1, c2 = 10, 7.9
	}
	return math.Copysign(math.Exp(at+0.049*(math.Sin(c1*at)+math.Sin(c2*at))), x)
}

func allOscillating(z []float64) []float64 {
	for i, v := range z {
		z[i] = oscillating(v)
	}
	return z
}

// asymmetric is the transformation T_asy.
func (b *bbobInstance) asymmetric(beta float64, z []float64) []float64 {
	for i, v := range z {
		if v > 0 {
			z[i] = math.Pow(v, 1+beta*b.along(i)*math.Sqrt(v))
		}
	}
	return z
}

func square(v float64) float64 { return v * v }

// weighted is Σ 10^(power i/(d-1)) z_i².
func (b *bbobInstance) weighted(power float64, z []float64) (total float64) {
	for i, v := range z {
		total += math.Pow(10, power*b.along(i)) * v * v
	}
	return total
}

func rastrigin(z []float64) float64 {
	return sum(z, func(v float64) float64 { return 10*(1-math.Cos(2*math.Pi*v)) + v*v })
}

// valley is Rosenbrock's function of z + 1.
func valley(z []float64) float64 {
	z = append([]float64(nil), z...)
	floats.AddConst(1, z)
	return rosenbrock(z)
}

// signs replaces every coordinate of the best point by ±value, with its sign.
func (b *bbobInstance) signs(value float64) {
	for i, v := range b.best {
		b.best[i] = math.Copysign(value, v)
	}
}

// wide is the scale of the inputs of Rosenbrock's functions, max(1, √d/8).
func (b *bbobInstance) wide() float64 { return max(1, math.Sqrt(float64(b.d))/8) }

// beyond is the penalty outside of the box.
func beyond(z []float64) float64 {
	return sum(z, func(v float64) float64 { return square(max(0, math.Abs(v)-5)) })
}

// schaffer is f17 or f18, which differ in their condition number.
func (b *bbobInstance) schaffer(condition float64) func([]float64) float64 {
	return func(x []float64) float64 {
		z := b.stretched(condition, turned(b.q, b.asymmetric(0.5, b.from(x))))
		total := 0.0
		for i := range len(z) - 1 {
			s := math.Hypot(z[i], z[i+1])
			total += math.Sqrt(s) * (1 + square(math.Sin(50*math.Pow(s, 0.2))))
		}
		return square(total / float64(len(z)-1))
	}
}

// gallagher is f21 and f22: the upper envelope of Gaussian peaks.
func (b *bbobInstance) gallagher(peaks int, near, far, condition float64) func([]float64) float64 {
	at, curve, height := make([][]float64, peaks), make([][]float64, peaks), make([]float64, peaks)
	order := b.Perm(peaks - 1)
	for k := range peaks {
		alpha, reach := condition, near
		height[k] = 10
		if k > 0 {
			alpha, reach = math.Pow(1000, 2*float64(order[k-1])/float64(peaks-2)), far
			height[k] = 1.1 + 8*float64(k-1)/float64(peaks-2)
		}
		axes := b.Perm(b.d)
		for i := range b.d {
			at[k] = append(at[k], reach*(2*b.Float64()-1))
			curve[k] = append(curve[k], math.Pow(alpha, b.along(axes[i])/2-0.25))
		}
	}
	return func(x []float64) float64 {
		most := 0.0
		for k := range peaks {
			z := turned(b.r, floats.SubTo(make([]float64, b.d), x, at[k]))
			far := 0.0
			for i, v := range z {
				far += curve[k][i] * v * v
			}
			most = max(most, height[k]*math.Exp(-far/(2*float64(b.d))))
		}
		return square(oscillating(10 - most))
	}
}

// lunacek is f24.
func (b *bbobInstance) lunacek() func([]float64) float64 {
	const first, depth = 2.5, 1.0
	n := float64(b.d)
	s := 1 - 1/(2*math.Sqrt(n+20)-8.2)
	second := -math.Sqrt((first*first - depth) / s)
	b.signs(first / 2)
	return func(x []float64) float64 {
		near, far := 0.0, depth*n
		z := make([]float64, len(x))
		for i, v := range x {
			v = 2 * math.Copysign(1, b.best[i]) * v
			near += square(v - first)
			far += s * square(v-second)
			z[i] = v - first
		}
		z = turned(b.q, b.stretched(100, turned(b.r, z)))
		waves := sum(z, func(v float64) float64 { return 10 * (1 - math.Cos(2*math.Pi*v)) })
		return min(near, far) + waves + 1e4*beyond(x)
	}
}

// weierstrass is f16.
func (b *bbobInstance) weierstrass() func([]float64) float64 {
	term := func(v float64) (total float64) {
		for k := range 12 {
			total += math.Pow(0.5, float64(k)) * math.Cos(2*math.Pi*math.Pow(3, float64(k))*v)
		}
		return total
	}
	least := term(0.5)
	return func(x []float64) float64 {
		z := turned(b.r, b.stretched(0.01, turned(b.q, allOscillating(b.from(x)))))
		mean := sum(z, func(v float64) float64 { return term(v + 0.5) }) / float64(b.d)
		return 10 * math.Pow(mean-least, 3)
	}
}

var bbobFunctions = []struct {
	name string
	of   func(b *bbobInstance) func(x []float64) float64
}{
	{"sphere", func(b *bbobInstance) func([]float64) float64 {
		return func(x []float64) float64 { return b.weighted(0, b.shifted(x)) }
	}},
	{"ellipsoid, by axis", func(b *bbobInstance) func([]float64) float64 {
		return func(x []float64) float64 { return b.weighted(6, allOscillating(b.shifted(x))) }
	}},
	{"Rastrigin, by axis", func(b *bbobInstance) func([]float64) float64 {
		return func(x []float64) float64 {
			return rastrigin(b.stretched(10, b.asymmetric(0.2, allOscillating(b.shifted(x)))))
		}
	}},
	{"Büche-Rastrigin", func(b *bbobInstance) func([]float64) float64 {
		for i := range b.best {
			if i%2 == 0 {
				b.best[i] = math.Abs(b.best[i])
			}
		}
		return func(x []float64) float64 {
			z := b.stretched(10, allOscillating(b.shifted(x)))
			for i := range z {
				if i%2 == 0 && z[i] > 0 {
					z[i] *= 10
				}
			}
			return rastrigin(z) + 100*beyond(x)
		}
	}},
	{"slope", func(b *bbobInstance) func([]float64) float64 {
		b.signs(5)
		return func(x []float64) (total float64) {
			for i, v := range x {
				slope := math.Copysign(math.Pow(10, b.along(i)), b.best[i])
				if v*b.best[i] >= 25 {
					v = b.best[i]
				}
				total += 5*math.Abs(slope) - slope*v
			}
			return total
		}
	}},
	{"attractive sector", func(b *bbobInstance) func([]float64) float64 {
		return func(x []float64) float64 {
			z := turned(b.q, b.stretched(10, b.from(x)))
			for i := range z {
				if z[i]*b.best[i] > 0 {
					z[i] *= 100
				}
			}
			return math.Pow(oscillating(b.weighted(0, z)), 0.9)
		}
	}},
	{"steps", func(b *bbobInstance) func([]float64) float64 {
		return func(x []float64) float64 {
			z := b.stretched(10, b.from(x))
			first := math.Abs(z[0])
			for i, v := range z {
				if z[i] = math.Floor(0.5 + v); math.Abs(v) <= 0.5 {
					z[i] = math.Floor(0.5+10*v) / 10
				}
			}
			return 0.1*max(first/1e4, b.weighted(2, turned(b.q, z))) + beyond(x)
		}
	}},
	{"Rosenbrock", func(b *bbobInstance) func([]float64) float64 {
		floats.Scale(0.75, b.best)
		return func(x []float64) float64 {
			z := b.shifted(x)
			floats.Scale(b.wide(), z)
			return valley(z)
		}
	}},
	{"Rosenbrock, rotated", func(b *bbobInstance) func([]float64) float64 {
		return func(x []float64) float64 {
			z := turned(b.r, x)
			floats.Scale(b.wide(), z)
			floats.AddConst(-0.5, z)
			return valley(z)
		}
	}},
	{"ellipsoid", func(b *bbobInstance) func([]float64) float64 {
		return func(x []float64) float64 { return b.weighted(6, allOscillating(b.from(x))) }
	}},
	{"discus", func(b *bbobInstance) func([]float64) float64 {
		return func(x []float64) float64 {
			z := allOscillating(b.from(x))
			return b.weighted(0, z) + (1e6-1)*square(z[0])
		}
	}},
	{"bent cigar", func(b *bbobInstance) func([]float64) float64 {
		return func(x []float64) float64 {
			z := turned(b.r, b.asymmetric(0.5, b.from(x)))
			return 1e6*b.weighted(0, z) - (1e6-1)*square(z[0])
		}
	}},
	{"sharp ridge", func(b *bbobInstance) func([]float64) float64 {
		return func(x []float64) float64 {
			z := turned(b.q, b.stretched(10, b.from(x)))
			return square(z[0]) + 100*floats.Norm(z[1:], 2)
		}
	}},
	{"different powers", func(b *bbobInstance) func([]float64) float64 {
		return func(x []float64) float64 {
			total := 0.0
			for i, v := range b.from(x) {
				total += math.Pow(math.Abs(v), 2+4*b.along(i))
			}
			return math.Sqrt(total)
		}
	}},
	{"Rastrigin", func(b *bbobInstance) func([]float64) float64 {
		return func(x []float64) float64 {
			z := turned(b.q, b.asymmetric(0.2, allOscillating(b.from(x))))
			return rastrigin(turned(b.r, b.stretched(10, z)))
		}
	}},
	{"Weierstrass", (*bbobInstance).weierstrass},
	{"Schaffer, condition 10", func(b *bbobInstance) func([]float64) float64 { return b.schaffer(10) }},
	{"Schaffer, condition 1000", func(b *bbobInstance) func([]float64) float64 { return b.schaffer(1000) }},
	{"Griewank-Rosenbrock", func(b *bbobInstance) func([]float64) float64 {
		return func(x []float64) float64 {
			z := turned(b.r, x)
			floats.Scale(b.wide(), z)
			floats.AddConst(0.5, z)
			total := 0.0
			for i := range len(z) - 1 {
				s := 100*square(z[i]*z[i]-z[i+1]) + square(z[i]-1)
				total += s/4000 - math.Cos(s)
			}
			return 10 * (total/float64(len(z)-1) + 1)
		}
	}},
	{"Schwefel", func(b *bbobInstance) func([]float64) float64 {
		const least = 4.2096874633 // twice the distance of the best point from 0, along every axis
		b.signs(least / 2)
		return func(x []float64) float64 {
			z := make([]float64, len(x))
			for i, v := range x {
				z[i] = 2 * math.Copysign(v, v*b.best[i])
			}
			turn := append([]float64(nil), z...)
			for i := 1; i < len(z); i++ {
				z[i] += 0.25 * (turn[i-1] - least)
			}
			floats.AddConst(-least, z)
			b.stretched(10, z)
			floats.AddConst(least, z)
			floats.Scale(100, z)
			waves := sum(z, func(v float64) float64 { return v * math.Sin(math.Sqrt(math.Abs(v))) })
			outside := sum(z, func(v float64) float64 { return square(max(0, math.Abs(v/100)-5)) })
			return 4.189828872724339 - waves/(100*float64(len(x))) + 100*outside
		}
	}},
	{"Gallagher, 101 peaks", func(b *bbobInstance) func([]float64) float64 { return b.gallagher(101, 4, 5, 1000) }},
	{"Gallagher, 21 peaks", func(b *bbobInstance) func([]float64) float64 { return b.gallagher(21, 3.92, 4.9, 1e6) }},
	{"Katsuura", func(b *bbobInstance) func([]float64) float64 {
		return func(x []float64) float64 {
			z := turned(b.q, b.stretched(100, b.from(x)))
			n, product := float64(len(z)), 1.0
			for i, v := range z {
				total := 0.0
				for j := 1; j <= 32; j++ {
					p := math.Pow(2, float64(j))
					total += math.Abs(p*v-math.Round(p*v)) / p
				}
				product *= math.Pow(1+float64(i+1)*total, 10/math.Pow(n, 1.2))
			}
			return 10 / (n * n) * (product - 1)
		}
	}},
	{"Lunacek", (*bbobInstance).lunacek},
}

// bbobOnly is the name of the section that bbobTable prints.
const bbobOnly = "bbob"

const bbobInstances = 3

// bbobColumns are the numbers of dimensions and of evaluations; two columns have one search.
var bbobColumns = []struct{ d, evaluations int }{{2, 50}, {2, 100}, {5, 120}, {5, 250}}

// measuredBBOB returns the best values, with the indices searcher, function, column and instance.
func measuredBBOB(ways []searcher) [][][][]float64 {
	found := make([][][][]float64, len(ways))
	free := make(chan bool, runtime.NumCPU())
	var wait sync.WaitGroup
	for w, s := range ways {
		found[w] = make([][][]float64, len(bbobFunctions))
		for k := range bbobFunctions {
			found[w][k] = make([][]float64, len(bbobColumns))
			for j := range bbobColumns {
				found[w][k][j] = make([]float64, bbobInstances)
			}
			for j := 0; j < len(bbobColumns); j += 2 {
				for i := range bbobInstances {
					free <- true
					wait.Go(func() {
						best := s.best(bbob(bbobColumns[j].d, i+1)[k], uint64(i+1),
							[]int{bbobColumns[j].evaluations, bbobColumns[j+1].evaluations})
						found[w][k][j][i], found[w][k][j+1][i] = best[0], best[1]
						<-free
					})
				}
			}
		}
	}
	wait.Wait()
	return found
}

// bbobTable is the table of results on BBOB, with a row for every function and a column for every
// number of evaluations: the median over the instances of auto's best value, which is its distance
// from the least. Below are the shares of the targets 10², 10^1.8, … 10⁻⁸ that auto and the
// strongest of the other programs reach. The last rows count the functions on which the median of
// auto is at most half of another program's, and at least twice it.
func bbobTable(python string) string {
	processes := optimizers(python)
	defer processes.stop()
	ways, _ := searchers(processes)
	ways = slices.DeleteFunc(ways, func(s searcher) bool { return !s.strongest })
	found := measuredBBOB(ways)
	var b strings.Builder
	b.WriteString("| function |")
	for _, c := range bbobColumns {
		fmt.Fprintf(&b, " %d-D, %d |", c.d, c.evaluations)
	}
	b.WriteString("\n| --- |" + strings.Repeat(" --: |", len(bbobColumns)) + "\n")
	for k, f := range bbobFunctions {
		fmt.Fprintf(&b, "| f%d %s |", k+1, f.name)
		for _, values := range found[0][k] {
			fmt.Fprintf(&b, " %.2g |", median(values))
		}
		b.WriteString("\n")
	}
	for w, s := range ways {
		shares, better := "", ""
		for j := range bbobColumns {
			share, half, twice := 0.0, 0, 0
			for k := range bbobFunctions {
				share += reachedTargets(found[w][k][j]) / float64(len(bbobFunctions))
				auto, other := max(1e-8, median(found[0][k][j])), max(1e-8, median(found[w][k][j]))
				if 2*auto <= other {
					half++
				} else if auto >= 2*other {
					twice++
				}
			}
			shares += fmt.Sprintf(" %.1f |", 100*share)
			better += fmt.Sprintf(" %d, %d |", half, twice)
		}
		fmt.Fprintf(&b, "| share of the targets, %%: %s |%s\n", s.name, shares)
		if w > 0 {
			fmt.Fprintf(&b, "| functions on which auto is better, worse: %s |%s\n", s.name, better)
		}
	}
	return b.String()
}

// reachedTargets is the share of the targets 10², 10^1.8, … 10⁻⁸ that values reach, on average.
func reachedTargets(values []float64) (share float64) {
	for _, v := range values {
		for target := 2.0; target > -8.1; target -= 0.2 {
			if v <= math.Pow(10, target) {
				share += 1 / float64(51*len(values))
			}
		}
	}
	return share
}

// median is the median of values, which stay in their order.
func median(values []float64) float64 {
	values = slices.Clone(values)
	slices.Sort(values)
	return middle(values)
}
