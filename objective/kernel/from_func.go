package kernel

import (
	"fmt"
	"math"
	"reflect"
	"regexp"
	"slices"

	"github.com/gpc-tune/gpc-tune/approx/param"
)

// FromFunc makes a kernel from the covariance of one pair of cases. k returns the covariance of
// cases with inputs x and z, and dk sets grad[p] to its derivative by h[p]. h has the
// hyperparameters in natural units, all greater than 0, in the order of settings. If dk is nil, the
// derivatives are central differences in ln h, with an error of about 1e-9 of k.
//
// k must be symmetric in x and z, positive definite for every h, and finite. kerneltest.Check tests
// that. Several goroutines call k at once, n²/2 times for n cases, and dk as often for a gradient.
// A kernel with matrix operations takes a fraction of this time. For noise use a Sum of this kernel
// and Noise.
//
// Register gives the returned kernel a name for files, in which the settings are options. The
// kernel of another call is a different kernel, even with the same functions. A file can change a
// setting that is Fixed or has bounds.
func FromFunc(
	k func(x, z, h []float64) float64, dk func(grad, x, z, h []float64), settings ...Setting,
) Kernel {
	if k == nil {
		panic("kernel: FromFunc needs a function")
	}
	return pairwise{&functions{k, dk}, settings}
}

type functions struct {
	k  func(x, z, h []float64) float64
	dk func(grad, x, z, h []float64)
}

type pairwise struct {
	*functions
	settings []Setting
}

// Origin implements registry.Made.
func (p pairwise) Origin() any { return p.functions }

// Options implements registry.Made: a struct with a field for every setting. It panics at names
// that no file can have.
func (p pairwise) Options() any {
	var fields []reflect.StructField
	for i, s := range p.settings {
		same := func(o Setting) bool { return o.Name == s.Name }
		if !settingName.MatchString(s.Name) || slices.ContainsFunc(p.settings[:i], same) {
			panic(fmt.Sprintf("kernel: the name %q of a hyperparameter is taken, or not written in lower-case "+
				"letters, digits and underscores", s.Name))
		}
		fields = append(fields, reflect.StructField{Name: fmt.Sprint("Setting", i),
			Type: reflect.TypeFor[param.Setting](), Tag: reflect.StructTag(`yaml:"` + s.Name + `"`)})
	}
	options := reflect.New(reflect.StructOf(fields)).Elem()
	for i, s := range p.settings {
		options.Field(i).Set(reflect.ValueOf(s.Setting))
	}
	return options.Interface()
}

var settingName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// With implements registry.Made.
func (p pairwise) With(options any) Kernel {
	p.settings = slices.Clone(p.settings)
	for i := range p.settings {
		p.settings[i].Setting = reflect.ValueOf(options).Field(i).Interface().(param.Setting)
	}
	return p
}

// Settings implements Configurable.
func (p pairwise) Settings() []Setting { return p.settings }

// Params implements Kernel.
func (p pairwise) Params(dim int) []param.Spec { return specs(dim, p.settings...) }

// Memory implements Kernel: none.
func (p pairwise) Memory(_, _, _ int) int64 { return 0 }

func (p pairwise) natural(theta []float64) []float64 {
	h := make([]float64, len(theta))
	for i, u := range theta {
		h[i] = natural(u)
	}
	return h
}

// Fill implements Kernel.
func (p pairwise) Fill(dst Block, theta []float64) {
	h := p.natural(theta)
	dst.each(func(i int, row []float64) {
		x, first := dst.X.X.RawRowView(i), dst.First(i)
		for j := range row {
			row[j] = p.k(x, dst.Z.X.RawRowView(first+j), h)
		}
	})
}

// Pull implements Kernel: with h = exp θ, ∂k/∂θ = h ∂k/∂h.
func (p pairwise) Pull(grad, theta []float64, _, g Block) {
	h, own := p.natural(theta), make([]float64, len(theta))
	for i := range g.Rows() {
		x, first := g.X.X.RawRowView(i), g.First(i)
		for j, v := range g.Row(i) {
			z := g.Z.X.RawRowView(first + j)
			if p.dk != nil {
				p.dk(own, x, z, h)
			} else {
				p.differences(own, x, z, h)
			}
			for q, d := range own {
				grad[q] += g.Weight(j) * v * h[q] * d
			}
		}
	}
}

// differences sets grad to ∂k/∂h by central differences in ln h.
func (p pairwise) differences(grad, x, z, h []float64) {
	const step = 1e-5
	for q, at := range h {
		h[q] = at * math.Exp(step)
		up := p.k(x, z, h)
		h[q] = at * math.Exp(-step)
		grad[q] = (up - p.k(x, z, h)) / (2 * step * at)
		h[q] = at
	}
}
