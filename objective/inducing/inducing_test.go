package inducing

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// kernels, with theta, for which inputs are chosen.
var kernels = map[string]struct {
	k     kernel.Kernel
	theta []float64
}{
	"se":     {kernel.SE{}, []float64{0.3, 0.2}},
	"ard":    {kernel.Matern32{ARD: true}, []float64{-0.2, 0.4, -0.7, 1.1}},
	"linear": {kernel.Linear{}, []float64{0.5}},
	"sum": {kernel.Sum{{Kind: "se", Kernel: kernel.SE{}}, {Kind: "neural_network", Kernel: kernel.NeuralNetwork{}},
		{Kind: "noise", Kernel: kernel.Noise{}}}, []float64{0, 0, -0.5, 0.1, 0.2, 1.5}},
}

func cases(n, d int) *kernel.Inputs {
	r := rand.New(rand.NewPCG(3, uint64(n)))
	x := mat.NewDense(n, d, nil)
	for i := range n {
		for j := range d {
			x.Set(i, j, 2*r.NormFloat64())
		}
	}
	return &kernel.Inputs{X: x}
}

func choose(t *testing.T, m Method, k kernel.Kernel, theta []float64, x *kernel.Inputs, number int) Choice {
	t.Helper()
	c, err := m.Select(t.Context(), k, theta, x, number, 7)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// Each choice is the case of largest variance conditional on those chosen before, computed from dense matrices.
func TestGreedyTakesTheLargestConditionalVariance(t *testing.T) {
	x := cases(300, 3)
	for name, of := range kernels {
		c := choose(t, Greedy{}, of.k, of.theta, x, 25)
		got := c.Cases
		cross := mat.NewDense(300, 300, nil)
		kernel.Cross(of.k, cross, of.theta, x, &kernel.Inputs{X: mat.DenseCopyOf(x.X)})
		for step, pivot := range got {
			var left [300]float64
			z := mat.NewSymDense(max(step, 1), nil)
			for a := range step {
				for b := range a + 1 {
					z.SetSym(a, b, cross.At(got[a], got[b]))
				}
			}
			var factor mat.Cholesky
			if step > 0 && !factor.Factorize(z) {
				t.Fatalf("%s: the first %d are not independent", name, step)
			}
			for i := range left {
				left[i] = cross.At(i, i)
				if step == 0 {
					continue
				}
				row, solved := mat.NewVecDense(step, nil), mat.NewVecDense(step, nil)
				for a := range step {
					row.SetVec(a, cross.At(i, got[a]))
				}
				if err := factor.SolveVecTo(solved, row); err != nil {
					t.Fatal(err)
				}
				left[i] -= mat.Dot(row, solved)
			}
			if most := slices.Max(left[:]); !(left[pivot] >= most-1e-9*cross.At(pivot, pivot)) {
				t.Fatalf("%s, step %d: case %d has the variance %v, the largest is %v", name, step, pivot, left[pivot], most)
			}
		}
		want, fewer := 25, ""
		if name == "linear" { // the rank of K
			want, fewer = 4, "4 of 25 inducing inputs: they explain the prior variance of every case up to rounding"
		}
		if len(got) != want || c.Fewer.Text != fewer {
			t.Errorf("%s: %d are chosen, want %d; %q, want %q", name, len(got), want, c.Fewer.Text, fewer)
		}
	}
}

// Of cases with equal inputs only one is chosen, however ill-conditioned the covariance is; the selection ends when
// all distinct inputs are chosen.
func TestEqualInputsAreChosenOnce(t *testing.T) {
	const different = 60
	once := cases(different, 3).X
	twice := mat.NewDense(3*different, 3, nil)
	for i := range 3 * different {
		twice.SetRow(i, once.RawRowView(i%different))
	}
	x := &kernel.Inputs{X: twice}
	for _, scale := range []float64{-2, 0, 2, 4} {
		for _, e := range Table {
			m, _ := e.New(nil)
			c := choose(t, m, kernel.SE{}, []float64{1, scale}, x, 100)
			found, _ := c.Z.Dims()
			rows := map[string]bool{}
			for i := range found {
				rows[fmt.Sprint(c.Z.RawRowView(i))] = true
			}
			if len(rows) != found || found > different || !strings.HasPrefix(c.Fewer.Text, fmt.Sprintf("%d of 100", found)) {
				t.Errorf("%s, ln l = %v: %d of %d are different; %q", e.Name, scale, len(rows), found, c.Fewer)
			}
			if complete := scale < 0 || e.Name != "greedy"; complete && found != different {
				t.Errorf("%s, ln l = %v: %d are chosen, want %d", e.Name, scale, found, different)
			}
		}
	}
}

// Every case is in one part, and no part is empty.
func TestPartsOfCases(t *testing.T) {
	for _, n := range []int{1, 6, 7, 8, 14, 15} {
		const most = 7
		met := make([]int, n)
		ends := make([][2]int, parts(n, most))
		inParts(n, most, func(part, i0, i1 int) {
			ends[part] = [2]int{i0, i1}
			for i := i0; i < i1; i++ {
				met[i]++
			}
		})
		for part, e := range ends {
			if e[0] != part*most || e[1] <= e[0] || e[1]-e[0] > most {
				t.Errorf("%d cases: part %d is from %d to %d", n, part, e[0], e[1])
			}
		}
		if slices.Min(met) != 1 || slices.Max(met) != 1 {
			t.Errorf("%d cases: are met %v times", n, met)
		}
	}
	x := cases(37, 2)
	for i, v := range variances(kernel.Linear{}, []float64{0.5}, x) {
		a, b := x.X.At(i, 0), x.X.At(i, 1)
		if want := kernelAt(kernel.Linear{}, []float64{0.5}, a, b); math.Abs(v-want) > 1e-12*want {
			t.Errorf("case %d has the variance %v, want %v", i, v, want)
		}
	}
}

// kernelAt is the variance of one case.
func kernelAt(k kernel.Kernel, theta []float64, x ...float64) float64 {
	alone := &kernel.Inputs{X: mat.NewDense(1, len(x), x)}
	one := mat.NewDense(1, 1, nil)
	kernel.Cross(k, one, theta, alone, &kernel.Inputs{X: mat.DenseCopyOf(alone.X)})
	return one.At(0, 0)
}

// If more inputs are asked for than there are, all are chosen.
func TestManyAndOne(t *testing.T) {
	x := cases(40, 2)
	for _, e := range Table {
		m, _ := e.New(nil)
		all, one := choose(t, m, kernel.Matern12{}, []float64{0, 0}, x, 50), choose(t, m, kernel.Matern12{}, []float64{0, 0}, x, 1)
		if n, _ := all.Z.Dims(); n != 40 || all.Fewer.IsZero() {
			t.Errorf("%s: %d of 50 from 40; %q", e.Name, n, all.Fewer)
		}
		if n, _ := one.Z.Dims(); n != 1 || !one.Fewer.IsZero() {
			t.Errorf("%s: %d of 1; %q", e.Name, n, one.Fewer)
		}
		if why := "40 of 50 inducing inputs: there are 40 cases"; e.Name == "greedy" && all.Fewer.Text != why {
			t.Errorf("%q, want %q", all.Fewer.Text, why)
		}
		if all.Cases == nil {
			continue
		}
		for i, k := range all.Cases {
			if !slices.Equal(all.Z.RawRowView(i), x.X.RawRowView(k)) {
				t.Errorf("%s: input %d is not that of case %d", e.Name, i, k)
			}
		}
		if sorted := slices.Sorted(slices.Values(all.Cases)); sorted[0] != 0 || len(slices.Compact(sorted)) != 40 {
			t.Errorf("%s: the cases are %v", e.Name, sorted)
		}
	}
}

// The bits depend on the seed, and not on the number of threads.
func TestChoicesAreAlwaysTheSame(t *testing.T) {
	x, theta := cases(3*partSize+100, 3), kernels["ard"].theta
	for _, e := range Table {
		m, _ := e.New(nil)
		var choices [3]Choice
		for i, threads := range []int{1, 3, 8} {
			linalg.SetThreads(threads)
			choices[i] = choose(t, m, kernel.Matern32{ARD: true}, theta, x, 30)
		}
		linalg.SetThreads(1)
		if !reflect.DeepEqual(choices[0], choices[1]) || !reflect.DeepEqual(choices[0], choices[2]) {
			t.Errorf("%s: other threads, other choice", e.Name)
		}
		other, err := m.Select(t.Context(), kernel.Matern32{ARD: true}, theta, x, 30, 8)
		if same := reflect.DeepEqual(choices[0], other); err != nil || same != (e.Name == "greedy") {
			t.Errorf("%s: with another seed the same: %v, %v", e.Name, same, err)
		}
	}
}

// Lloyd's iterations end where every centre is the mean of the cases nearest to it, with distances in length scales.
func TestCentresAreMeansOfTheirCases(t *testing.T) {
	x, of := cases(3000, 3), kernels["ard"]
	z := choose(t, KMeans{}, of.k, of.theta, x, 6).Z
	scale := []float64{math.Exp(0.4), math.Exp(-0.7), math.Exp(1.1)}
	sums, counts := mat.NewDense(6, 3, nil), make([]float64, 6)
	for i := range 3000 {
		nearest, least := 0, math.Inf(1)
		for k := range 6 {
			squared := 0.0
			for j, s := range scale {
				squared += math.Pow((x.X.At(i, j)-z.At(k, j))/s, 2)
			}
			if squared < least {
				nearest, least = k, squared
			}
		}
		floats.Add(sums.RawRowView(nearest), x.X.RawRowView(i))
		counts[nearest]++
	}
	for k := range 6 {
		floats.Scale(1/counts[k], sums.RawRowView(k))
	}
	if !mat.EqualApprox(sums, z, 1e-12) {
		t.Errorf("centres\n%.6f\nmeans\n%.6f", mat.Formatted(z), mat.Formatted(sums))
	}
}

// Each column's length scale is found anywhere in the kernel that is chosen; a column without one has 1.
func TestScalesOfColumns(t *testing.T) {
	sum := kernel.Sum{{Kind: "se", Kernel: kernel.SE{ARD: true}}, {Kind: "linear", Kernel: kernel.Linear{}},
		{Kind: "active", Kernel: kernel.Active{Dims: []int{3}, Named: kernel.Named{Kind: "se", Kernel: kernel.SE{ARD: true}}}}}
	got := scales(sum, []float64{0, 1, 2, 3, 0, 5, -1}, 3)
	if want := []float64{math.Exp(1), math.Exp(2), math.Exp(-1)}; !floats.EqualApprox(got, want, 1e-15) {
		t.Errorf("%v, want %v", got, want)
	}
	choice := kernel.Choice{{Kind: "linear", Kernel: kernel.Linear{}}, {Kind: "sum", Kernel: sum}, {Kind: "se", Kernel: kernel.SE{ARD: true}}}
	if got := scales(choice, []float64{1, 0, 0, 1, 2, 3, 0, 5, -1, 0, -3, -3, -3}, 3); !floats.EqualApprox(got, []float64{math.Exp(1), math.Exp(2), math.Exp(-1)}, 1e-15) {
		t.Errorf("of a choice %v", got)
	}
	if got := scales(kernel.Linear{}, []float64{2}, 2); !slices.Equal(got, []float64{1, 1}) {
		t.Errorf("a linear kernel has the length scales %v", got)
	}
}

// The largest variance is 1. After a step, 44 units in its last place may be rounding, and more is
// not.
func TestVarianceBeyondRounding(t *testing.T) {
	no := false
	for units, want := range map[float64]int{43: 1, 46: 2} {
		x := &kernel.Inputs{X: mat.NewDense(2, 2, []float64{1, 0, 0, math.Sqrt(units * 0x1p-52)})}
		if got := choose(t, Greedy{}, kernel.Linear{Bias: &no}, []float64{0}, x, 2).Cases; len(got) != want {
			t.Errorf("%v units: the cases %v, want %d", units, got, want)
		}
	}
}

// As many cases as a part has are one part.
func TestOnePart(t *testing.T) {
	x := cases(partSize, 1)
	most := 0
	for i := range partSize {
		if math.Abs(x.X.At(i, 0)) > math.Abs(x.X.At(most, 0)) {
			most = i
		}
	}
	if got := choose(t, Greedy{}, kernel.Linear{}, []float64{0}, x, 1).Cases; !slices.Equal(got, []int{most}) {
		t.Errorf("%v, want %d", got, most)
	}
}

// A random choice is the beginning of the permutation of the cases by the first numbers of the
// seed.
func TestRandomIsByTheSeed(t *testing.T) {
	x := cases(40, 2)
	want := rand.New(param.Source(7, 0)).Perm(40)[:12]
	if got := choose(t, Random{}, kernel.SE{}, []float64{0, 0}, x, 12).Cases; !slices.Equal(got, want) {
		t.Errorf("%v, want %v", got, want)
	}
}

// Inputs without variance, or whose selection is cancelled, give an error.
func TestNoVariance(t *testing.T) {
	x := cases(20, 2)
	still := &kernel.Inputs{X: mat.NewDense(20, 2, nil)}
	no := false
	for name, f := range map[string]func() error{
		"no variance": func() error {
			_, err := Greedy{}.Select(t.Context(), kernel.Linear{Bias: &no}, []float64{0}, still, 3, 1)
			return err
		},
		"noise alone": func() error {
			_, err := Greedy{}.Select(t.Context(), kernel.Noise{}, []float64{0}, x, 3, 1)
			return err
		},
	} {
		if err := f(); err == nil || !strings.Contains(err.Error(), "variance") {
			t.Errorf("%s: %v", name, err)
		}
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for _, e := range Table {
		m, _ := e.New(nil)
		if _, err := m.Select(ended, kernel.SE{}, []float64{0, 0}, x, 3, 1); err != context.Canceled {
			t.Errorf("%s: %v", e.Name, err)
		}
	}
}

func BenchmarkSelect(b *testing.B) {
	x := cases(100000, 10)
	for _, e := range Table {
		m, _ := e.New(nil)
		b.Run(e.Name, func(b *testing.B) {
			for b.Loop() {
				if _, err := m.Select(b.Context(), kernel.SE{}, []float64{0, 1.1}, x, 200, 1); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
