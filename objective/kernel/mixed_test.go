package kernel_test

import (
	"math"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// mixed applies k to the numeric columns 1 and 3, and hamming to column 2.
func mixed(k kernel.Kernel) kernel.Kernel {
	k, err := kernel.Mixed(k, []bool{false, true, false})
	if err != nil {
		panic(err)
	}
	return k
}

// indicators returns columns of three and of two categories in both forms: codes for hamming, and for other kernels
// one column per value, with entries 1/√2.
func indicators(t *testing.T) (codes, columns *kernel.Inputs) {
	t.Helper()
	x := [][]float64{{0, 1}, {1, 1}, {2, 0}, {0, 0}, {2, 1}, {0, 1}}
	c, o := mat.NewDense(len(x), 2, nil), mat.NewDense(len(x), 5, nil)
	for i, row := range x {
		c.SetRow(i, row)
		o.Set(i, int(row[0]), math.Sqrt2/2)
		o.Set(i, 3+int(row[1]), math.Sqrt2/2)
	}
	return &kernel.Inputs{X: c}, &kernel.Inputs{X: o}
}

// Hamming equals the squared exponential of indicators with tied length scales, with the same gradient.
func TestHammingIsTheTiedKernelOfIndicators(t *testing.T) {
	codes, columns := indicators(t)
	theta := []float64{0.3, -0.4, 0.8}
	n := codes.N()
	tied := kernel.Tie(kernel.SE{ARD: true}, []int{7, 7, 7, 4, 4})
	a, b, g := mat.NewSymDense(n, nil), mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
	kernel.Gram(kernel.Hamming{ARD: true}, a, theta, codes)
	kernel.Gram(tied, b, theta, columns)
	if !mat.EqualApprox(a, b, 1e-14) {
		t.Errorf("%v\n%v", mat.Formatted(a), mat.Formatted(b))
	}
	for i := range n {
		for j := i; j < n; j++ {
			g.SetSym(i, j, math.Cos(float64(3*i+j)))
		}
	}
	ga, gb := make([]float64, 3), make([]float64, 3)
	kernel.Pullback(kernel.Hamming{ARD: true}, ga, theta, codes, nil, g)
	kernel.Pullback(tied, gb, theta, columns, nil, g)
	for p := range ga {
		if math.Abs(ga[p]-gb[p]) > 1e-13*math.Abs(gb[p])+1e-14 {
			t.Errorf("derivative %d: %v and %v", p, ga[p], gb[p])
		}
	}
}

// A group of tied columns has one length scale, named after the first column of the group.
func TestTiedNames(t *testing.T) {
	var names []string
	for _, s := range kernel.Tie(kernel.SE{ARD: true}, []int{0, 1, 1, 2}).Params(4) {
		names = append(names, s.Name)
	}
	if got := strings.Join(names, " "); got != "amplitude length_scale[1] length_scale[2] length_scale[4]" {
		t.Error(got)
	}
}

// Additive is a sum over columns, or over groups of tied ones, without columns of categories.
func TestAdditive(t *testing.T) {
	se := kernel.Named{Kind: "se", Kernel: kernel.SE{ARD: true}}
	on := func(dims ...int) kernel.Named { return kernel.Named{Kernel: kernel.Active{Dims: dims, Named: se}} }
	numbers, err := kernel.Mixed(kernel.Sum{{Kernel: kernel.Additive{Named: se}}, {Kind: "hamming", Kernel: kernel.Hamming{}}},
		[]bool{false, true, false, false})
	if err != nil {
		t.Fatal(err)
	}
	x := &kernel.Inputs{X: mat.NewDense(3, 4, []float64{0.1, 1, -0.7, 2, 1.4, 2, 0.3, 0.2, -0.5, 1, 0.9, -1})}
	for name, c := range map[string]struct{ got, want kernel.Kernel }{
		"columns": {kernel.Additive{Named: se}, kernel.Sum{on(1), on(2), on(3), on(4)}},
		"groups":  {kernel.Tie(kernel.Additive{Named: se}, []int{3, 8, 3, 5}), kernel.Tie(kernel.Sum{on(1, 3), on(2), on(4)}, []int{3, 8, 3, 5})},
		"numbers": {kernel.Tie(numbers, []int{0, 1, 2, 2}), kernel.Tie(kernel.Sum{on(1), on(3, 4),
			{Kernel: kernel.Active{Dims: []int{2}, Named: kernel.Named{Kind: "hamming", Kernel: kernel.Hamming{}}}}}, []int{0, 1, 2, 2})},
	} {
		theta := make([]float64, len(c.want.Params(4)))
		for i := range theta {
			theta[i] = 0.3 * float64(i)
		}
		got, want := mat.NewSymDense(3, nil), mat.NewSymDense(3, nil)
		kernel.Gram(c.want, want, theta, x)
		if kernel.Gram(c.got, got, theta, x); !mat.Equal(got, want) {
			t.Errorf("%s: %v, want %v", name, mat.Formatted(got), mat.Formatted(want))
		}
	}
}

// It is an error if no kernel uses a column of categories, or a kernel would take it for numbers.
func TestMixedRefuses(t *testing.T) {
	se := kernel.Named{Kind: "se", Kernel: kernel.SE{}}
	for name, of := range map[string]struct {
		k          kernel.Kernel
		categories []bool
		want       string
	}{
		"categories unseen": {kernel.SE{}, []bool{true, false}, "no kernel uses the categories"},
		"no numbers":        {kernel.Product{se, {Kind: "hamming", Kernel: kernel.Hamming{}}}, []bool{true, true}, "all inputs are categories"},
		"numbers of names":  {kernel.Active{Dims: []int{1}, Named: se}, []bool{true, false}, "dims name a column of categories"},
	} {
		if k, err := kernel.Mixed(of.k, of.categories); err == nil || !strings.Contains(err.Error(), of.want) {
			t.Errorf("%s: %v, %v", name, k, err)
		}
	}
}
