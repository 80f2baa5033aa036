//go:build linux

package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/search"
)

// searched is a problem for strategies: the least value of a function on a space, in natural units.
// If it is not known, it is the least that any of them has found.
type searched struct {
	name  string
	space search.Space
	value func(x []float64) float64
	least float64
	// climb follows the gradient as auto does, for about the given number of evaluations. The first
	// climb begins at start. At the end of each climb it calls tell with the number of evaluations
	// so far and the value reached. climb is nil without a gradient
	climb func(start []float64, evaluations int, seed uint64, tell func(evaluations int, value float64))
}

// box is a space of d numbers between lo and hi.
func box(d int, lo, hi float64) (space search.Space) {
	for i := range d {
		space = append(space, param.Between(fmt.Sprintf("x%d", i+1), param.Identity, lo, hi))
	}
	return space
}

// sum adds f at every number.
func sum(x []float64, f func(v float64) float64) (total float64) {
	for _, v := range x {
		total += f(v)
	}
	return total
}

func rosenbrock(x []float64) (total float64) {
	for i := range len(x) - 1 {
		total += 100*math.Pow(x[i+1]-x[i]*x[i], 2) + math.Pow(1-x[i], 2)
	}
	return total
}

func branin(x []float64) float64 {
	valley := x[1] - 5.1/(4*math.Pi*math.Pi)*x[0]*x[0] + 5/math.Pi*x[0] - 6
	return valley*valley + 10*(1-1/(8*math.Pi))*math.Cos(x[0]) + 10
}

func levy(x []float64) float64 {
	w := func(v float64) float64 { return 1 + (v-1)/4 }
	first, last := w(x[0]), w(x[len(x)-1])
	total := math.Pow(math.Sin(math.Pi*first), 2) + math.Pow(last-1, 2)*(1+math.Pow(math.Sin(2*math.Pi*last), 2))
	return total + sum(x[:len(x)-1], func(v float64) float64 {
		return math.Pow(w(v)-1, 2) * (1 + 10*math.Pow(math.Sin(math.Pi*w(v)+1), 2))
	})
}

func ackley(x []float64) float64 {
	n := float64(len(x))
	squares := sum(x, func(v float64) float64 { return v * v })
	waves := sum(x, func(v float64) float64 { return math.Cos(2 * math.Pi * v) })
	return 20 + math.E - 20*math.Exp(-0.2*math.Sqrt(squares/n)) - math.Exp(waves/n)
}

// hartmann is the function of three or six numbers with these exponents and centres.
func hartmann(a, p [4][]float64) func([]float64) float64 {
	return func(x []float64) (total float64) {
		for i, weight := range []float64{1, 1.2, 3, 3.2} {
			exponent := 0.0
			for j := range x {
				exponent += a[i][j] * math.Pow(x[j]-p[i][j], 2)
			}
			total -= weight * math.Exp(-exponent)
		}
		return total
	}
}

// problems are functions whose least values are known, and minus the log evidence of two bundled
// sets. The best of ten climbs of bfgs gives the greatest log evidence.
func problems() []searched {
	number := func(name string, lo, hi float64) param.Spec { return param.Between(name, param.Identity, lo, hi) }
	return []searched{
		{"sphere, 5", box(5, -5, 5), func(x []float64) float64 {
			return sum(x, func(v float64) float64 { return (v - 1) * (v - 1) })
		}, 0, nil},
		{"Branin, 2", search.Space{number("x1", -5, 10), number("x2", 0, 15)}, branin, 0.39788735772973816, nil},
		{"six-hump camel, 2", search.Space{number("x1", -3, 3), number("x2", -2, 2)},
			func(x []float64) float64 {
				a, b := x[0]*x[0], x[1]*x[1]
				return (4-2.1*a+a*a/3)*a + x[0]*x[1] + (4*b-4)*b
			}, -1.031628453489877, nil},
		{"Rosenbrock, 2", box(2, -2, 2), rosenbrock, 0, nil},
		{"Rosenbrock, 5", box(5, -2, 2), rosenbrock, 0, nil},
		{"Levy, 8", box(8, -10, 10), levy, 0, nil},
		{"Ackley, 5", box(5, -10, 15), ackley, 0, nil},
		{"Rastrigin, 3", box(3, -4, 5), func(x []float64) float64 {
			return sum(x, func(v float64) float64 { return v*v + 10 - 10*math.Cos(2*math.Pi*v) })
		}, 0, nil},
		{"Hartmann, 3", box(3, 0, 1), hartmann(
			[4][]float64{{3, 10, 30}, {0.1, 10, 35}, {3, 10, 30}, {0.1, 10, 35}},
			[4][]float64{{0.3689, 0.1170, 0.2673}, {0.4699, 0.4387, 0.7470}, {0.1091, 0.8732, 0.5547},
				{0.03815, 0.5743, 0.8828}}), -3.8627797869493365, nil},
		{"Hartmann, 6", box(6, 0, 1), hartmann(
			[4][]float64{{10, 3, 17, 3.5, 1.7, 8}, {0.05, 10, 17, 0.1, 8, 14}, {3, 3.5, 1.7, 10, 17, 8},
				{17, 8, 0.05, 10, 0.1, 14}},
			[4][]float64{{0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886},
				{0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991}, {0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650},
				{0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381}}),
			-3.322368011391339, nil},
		{"mixed: Branin of 3 kinds with whole x2", search.Space{param.Among("kind", "a", "b", "c"),
			number("x1", -5, 10), param.Between("x2", param.Whole, 0, 15)},
			func(x []float64) float64 { return branin(x[1:]) + 5*x[0]*(2-x[0]) }, math.NaN(), nil},
		{"conditional: 2 numbers, one for each kind", conditional(), func(x []float64) float64 {
			if x[0] == 0 {
				return 1 + math.Pow(x[1]-2, 2)
			}
			return math.Pow(x[2]+1, 2) + math.Abs(math.Sin(3*(x[2]+1)))
		}, 0, nil},
		evidence("crabs", false),
		evidence("thyroid_binary", true),
		heldOutNumbers(),
		heldOutKinds(),
	}
}

// conditional is a choice, and a number that matters for each of its values.
func conditional() search.Space {
	space := search.Space{param.Among("kind", "a", "b")}
	for i := range 2 {
		h := param.Between(fmt.Sprintf("x%d", i+1), param.Identity, -5, 5)
		h.When = &param.Condition{Name: "kind", Values: []float64{float64(i)}}
		space = append(space, h)
	}
	return space
}

// evidence is minus the log evidence of a bundled set as a function of the hyperparameters.
func evidence(name string, ard bool) searched {
	set := newSet(name, standardized(data.Spec{Dataset: name}), [2]float64{})
	within := param.Setting{Bounds: &[2]float64{math.Exp(-3), math.Exp(6)}}
	m := objective.Model{Kernels: []kernel.Kernel{kernel.SE{ARD: ard, Amplitude: within, LengthScale: within}},
		Likelihood: likelihood.Probit{}, Inference: approx.Laplace{}}
	o := got(objective.New(m, objective.LogEvidence{}, objective.Data{X: &kernel.Inputs{X: set.x}, Y: set.y,
		Scaled: true}))
	specs := o.Layout.FreeSpecs()
	p := searched{name: fmt.Sprintf("log evidence of %s, %d", name, len(specs)), least: math.Inf(1)}
	for _, h := range specs {
		p.space = append(p.space, param.Between(h.Name, param.Log, h.Lo, h.Hi))
	}
	p.value = func(x []float64) float64 {
		fit, err := o.Fit(context.Background(), logs(x), nil)
		if err != nil {
			return math.NaN()
		}
		return -fit.Value()
	}
	p.climb = func(start []float64, evaluations int, seed uint64, tell func(evaluations int, value float64)) {
		n := 0
		for i, next := range (search.Auto{Trials: evaluations}).WithGradient(specs).Ask(specs, nil, seed) {
			if i > 0 {
				start = next.Points[0]
			}
			end, err := objective.Optimize(context.Background(), o, start, objective.Settings{})
			if n += end.Evaluations; err == nil {
				tell(n, -end.Value)
			}
		}
	}
	for i := range 10 {
		best, err := objective.Optimize(context.Background(), o, param.Start(specs, 1, i), objective.Settings{})
		if err == nil {
			p.least = min(p.least, -best.Value)
		}
	}
	return p
}

func logs(x []float64) (theta []float64) {
	for _, v := range x {
		theta = append(theta, math.Log(v))
	}
	return theta
}

// heldOut returns the log loss of a bundled set by cross-validation with five folds, as a function
// of a model and its hyperparameters. It is in bits per case. The predictions are Laplace's.
func heldOut(name string) func(k kernel.Kernel, l likelihood.Likelihood, theta []float64) float64 {
	const folds = 5
	set := newSet(name, standardized(data.Spec{Dataset: name}), [2]float64{})
	order := rand.New(rand.NewPCG(1, 1)).Perm(len(set.labels))
	type fold struct {
		train   objective.Data
		test    *kernel.Inputs
		classes []int
	}
	parts := make([]fold, folds)
	for f := range parts {
		var in, out []int
		for i, c := range order {
			if i%folds == f {
				out = append(out, c)
			} else {
				in = append(in, c)
			}
		}
		parts[f] = fold{objective.Data{X: &kernel.Inputs{X: data.PickRows(set.x, in)},
			Y: approx.Targets{Classes: 2, Value: data.Pick(set.y.Value, in)}, Scaled: true},
			&kernel.Inputs{X: data.PickRows(set.x, out)}, data.Pick(set.labels, out)}
	}
	return func(k kernel.Kernel, l likelihood.Likelihood, theta []float64) (loss float64) {
		m := objective.Model{Kernels: []kernel.Kernel{k}, Likelihood: l, Inference: approx.Laplace{}}
		for _, f := range parts {
			o, err := objective.New(m, nil, f.train)
			if err != nil {
				return math.NaN()
			}
			fit, err := o.Fit(context.Background(), theta, nil)
			if err != nil {
				return math.NaN()
			}
			p := mat.NewDense(len(f.classes), 2, nil)
			fit.PredictProba(p, f.test, objective.Averaged{})
			for i, c := range f.classes {
				loss -= math.Log2(p.At(i, c)) / float64(len(set.labels))
			}
		}
		return loss
	}
}

// heldOutNumbers is the cross-validated log loss of crabs over an amplitude and a length scale.
func heldOutNumbers() searched {
	loss := heldOut("crabs")
	return searched{"log loss of crabs by cross-validation, 2",
		search.Space{param.Between("amplitude", param.Log, math.Exp(-3), math.Exp(6)),
			param.Between("length_scale", param.Log, math.Exp(-3), math.Exp(6))},
		func(x []float64) float64 { return loss(kernel.SE{}, likelihood.Probit{}, logs(x)) }, math.NaN(), nil}
}

// heldOutKinds is the cross-validated log loss of thyroid_binary over the kernel, the likelihood
// and their hyperparameters.
func heldOutKinds() searched {
	loss := heldOut("thyroid_binary")
	when := func(h param.Spec, kinds ...float64) param.Spec {
		h.When = &param.Condition{Name: "kernel", Values: kinds}
		return h
	}
	return searched{"mixed: log loss of thyroid_binary by cross-validation, 5",
		search.Space{param.Among("kernel", "se", "matern32", "polynomial"),
			param.Among("likelihood", "probit", "logit"),
			when(param.Between("degree", param.Whole, 1, 4), 2),
			param.Between("amplitude", param.Log, math.Exp(-3), math.Exp(6)),
			when(param.Between("length_scale", param.Log, math.Exp(-3), math.Exp(6)), 0, 1)},
		func(x []float64) float64 {
			k := []kernel.Kernel{kernel.SE{}, kernel.Matern32{}, kernel.Polynomial{Degree: uint(x[2])}}[int(x[0])]
			l := []likelihood.Likelihood{likelihood.Probit{}, likelihood.Logit{}}[int(x[1])]
			if x[0] == 2 {
				return loss(k, l, logs(x[3:4]))
			}
			return loss(k, l, logs(x[3:]))
		}, math.NaN(), nil}
}
