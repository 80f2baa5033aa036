package kernel_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// Within a sum, the choice stands first, each kernel's hyperparameters are conditional on it, and a choice inside is too.
func TestNamesOfAChoice(t *testing.T) {
	k := kernel.Sum{noise, named("choice", kernel.Choice{named("se", kernel.SE{ARD: true}),
		named("choice", kernel.Choice{constant, named("product", kernel.Product{dot, se})})})}
	var got []string
	for _, p := range k.Params(2) {
		text := p.ThetaName()
		if p.Choices != nil {
			text += " of " + strings.Join(p.Choices, " ")
		}
		if p.When != nil {
			text += fmt.Sprintf(" when %s is %v", p.When.Name, p.When.Values)
		}
		got = append(got, text)
	}
	want := []string{
		"1.noise.log_amplitude",
		"2.choice of 1.se 2.choice",
		"2.1.se.log_amplitude when 2.choice is [0]",
		"2.1.se.log_length_scale[1] when 2.choice is [0]",
		"2.1.se.log_length_scale[2] when 2.choice is [0]",
		"2.2.choice of 1.constant 2.product when 2.choice is [1]",
		"2.2.1.constant.log_amplitude when 2.2.choice is [0]",
		"2.2.2.1.linear.log_amplitude when 2.2.choice is [1]",
		"2.2.2.2.se.log_amplitude when 2.2.choice is [1]",
		"2.2.2.2.se.log_length_scale when 2.2.choice is [1]",
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// A choice is, to the last bit, the chosen kernel alone with its part of theta; no other part has a gradient.
func TestChoiceIsTheChosenKernel(t *testing.T) {
	of := kernel.Choice{named("matern32", kernel.Matern32{ARD: true}), se, named("sum", kernel.Sum{dot, noise})}
	x, g := normals(7, 3, 21), gram(kernel.SE{}, []float64{0, 1}, normals(7, 3, 22))
	theta := make([]float64, len(of.Params(3)))
	for i := range theta {
		theta[i] = 0.1 * float64(i)
	}
	for i, from := range []int{1, 5, 7} {
		theta[0] = float64(i)
		alone := of[i].Kernel
		to := from + len(alone.Params(3))
		if got, want := gram(of, theta, x), gram(alone, theta[from:to], x); !mat.Equal(got, want) {
			t.Errorf("choice %d: %v, want %v", i, mat.Formatted(got), mat.Formatted(want))
		}
		got, want := make([]float64, len(theta)), make([]float64, len(theta))
		kernel.Pullback(of, got, theta, x, nil, g)
		kernel.Pullback(alone, want[from:to], theta[from:to], x, nil, g)
		if !slices.Equal(got, want) {
			t.Errorf("choice %d: gradient %v, want %v", i, got, want)
		}
	}
}

// A choice of one kernel, and one that cannot be used on the inputs, are refused.
func TestChoiceRefuses(t *testing.T) {
	if err := kernel.Check(kernel.Choice{se}); err == nil || !strings.Contains(err.Error(), "2 to 1000 kernels") {
		t.Error(err)
	}
	err := kernel.CheckDim(kernel.Choice{se, {Kernel: kernel.Active{Dims: []int{4}, Named: se}}}, 3)
	if err == nil || !strings.Contains(err.Error(), "choice, kernel 2: active: column 4") {
		t.Error(err)
	}
}

// What is expected to take time is the mean over the kernels of a choice.
func TestSharesOfAChoice(t *testing.T) {
	k := kernel.Sum{se, {Kernel: kernel.Choice{dot, {Kernel: kernel.Sum{se, noise}}, {Kernel: kernel.Choice{se, dot}}}}}
	var got []string
	for _, l := range kernel.Leaves(k, 2) {
		got = append(got, fmt.Sprintf("%s %.4f", kernel.Table.NameOf(l.Kernel), l.Share))
	}
	want := []string{"se 1.0000", "linear 0.3333", "se 0.3333", "noise 0.3333", "se 0.1667", "linear 0.1667"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
