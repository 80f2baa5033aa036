package comparator

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/cv/split"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// SVM is the support vector machine with soft margin, GPML 6.4: f minimises ½|f|² + C Σ_i max(0, 1
// - y_i f_i) over the kernel's functions and a constant. Cost C and length scale are chosen from a
// grid, by stratified cross-validation within the training set, which keeps groups together. The
// pair with the fewest errors wins; among equals the pair with the larger probability of the
// held-out labels, then the smaller values. The probabilities are Φ(αf + β), with α and β fitted to
// the outputs of the held-out cases.
//
// The grid moves the kernel's free length scales, all together; its other hyperparameters are fixed
// at their starts. So with an amplitude σ the effective cost is Cσ². With more than two classes all
// machines have the same cost and length scale.
type SVM struct {
	// Costs are the C to try; empty: 0.1, 1, 10, 100.
	Costs []float64 `yaml:"costs" within:"(0,inf)"`
	// LengthScales are the length scales to try; empty: the kernel's start times ⅛, ¼, ½, 1, 2, 4.
	LengthScales []float64 `yaml:"length_scales" within:"(0,inf)"`
	Folds        int       `yaml:"folds" within:"[2,1000]"`  // of the cross-validation; 0 is 5, or the number of groups
	Tolerance    float64   `yaml:"tolerance" within:"(0,1)"` // of the optimality conditions, see smo; 0 is 1e-10
	// ClassWeight multiplies C for the cases of a class. It also weights them in the errors and in
	// the fit of α and β.
	ClassWeight ClassWeight `yaml:"class_weight"`

	kernel kernel.Kernel
}

func (s SVM) tolerance() float64 { return cmp.Or(s.Tolerance, 1e-10) }

func (s SVM) costs() []float64 {
	if len(s.Costs) == 0 {
		return []float64{0.1, 1, 10, 100}
	}
	return s.Costs
}

// Check checks the grid and that the kernel has length scales for it.
func (s SVM) Check() error {
	var errs []error
	for _, list := range []struct {
		name string
		v    []float64
	}{{"costs", s.Costs}, {"length_scales", s.LengthScales}, {"tolerance", []float64{s.tolerance()}}} {
		for _, v := range list.v {
			if !(v > 0) || math.IsInf(v, 0) {
				errs = append(errs, fmt.Errorf("svm: %s: %v must be greater than 0", list.name, v))
			}
		}
	}
	if s.Folds < 0 || s.Folds == 1 {
		errs = append(errs, fmt.Errorf("svm: folds: %d; it takes 2 or more", s.Folds))
	}
	if s.kernel != nil && len(s.LengthScales) > 0 && len(lengthScales(s.kernel.Params(1))) == 0 {
		errs = append(errs,
			errors.New("svm: the kernel has no free length_scale that length_scales could set; leave it out"))
	}
	return errors.Join(append(errs, oneKernel("svm", s.kernel))...)
}

// With sets the kernel.
func (s SVM) With(k kernel.Kernel) Comparator { s.kernel = k; return s }

// Params lists the kernel's hyperparameters and the cost.
func (s SVM) Params(dim int, _ []string) []param.Spec {
	specs := s.kernel.Params(dim)
	grid := lengthScales(specs)
	for i := range specs {
		specs[i].Fixed = !slices.Contains(grid, i) || len(s.LengthScales) == 1
	}
	cost := param.Spec{Name: "cost", Map: param.Log, Lo: param.DefaultLo, Hi: param.DefaultHi, Fixed: len(s.Costs) == 1}
	return append(specs, cost)
}

// Seconds implements Comparator.
func (SVM) Seconds(s approx.Size, _ int) float64 { return cubic(s, 5e-10) }

// Memory counts the covariance, the memory of the kernel, the outputs for every cost, and a block
// of new cases.
func (s SVM) Memory(size approx.Size, dim int) int64 {
	n, held := int64(size.Cases), min(size.New, block)
	numbers := n*n + n*int64(held) + n*int64(len(s.costs())*machines(size.Classes))
	return 8*numbers + s.kernel.Memory(size.Cases, held, dim)
}

// lengthScales are the positions of the free length scales.
func lengthScales(specs []param.Spec) (at []int) {
	for i, s := range specs {
		name := s.Name[strings.LastIndexByte(s.Name, '.')+1:]
		if !s.Fixed && strings.HasPrefix(name, "length_scale") {
			at = append(at, i)
		}
	}
	return at
}

// grid is the kernel's theta for every length scale to try.
func (s SVM) grid(d objective.Data) (grid [][]float64) {
	layout := objective.Model{Kernels: []kernel.Kernel{s.kernel}, Likelihood: likelihood.Gaussian{}}.LayoutOn(d)
	specs := layout.Specs[:len(s.kernel.Params(d.X.Dim()))]
	at, factors := lengthScales(specs), []float64{0.125, 0.25, 0.5, 1, 2, 4}
	rows := cmp.Or(len(s.LengthScales), len(factors))
	if len(at) == 0 {
		rows = 1
	}
	for r := range rows {
		theta := layout.Start()[:len(specs)]
		for _, i := range at {
			length := specs[i].Init * factors[min(r, len(factors)-1)]
			if len(s.LengthScales) > 0 {
				length = s.LengthScales[r]
			}
			theta[i] = param.Log.Theta(length)
		}
		grid = append(grid, theta)
	}
	return grid
}

// Fit searches the grid and trains on all cases.
func (s SVM) Fit(ctx context.Context, d objective.Data, seed uint64) (objective.Fitted, error) {
	d, err := repeated("svm", d)
	if err != nil {
		return nil, err
	}
	return learn(ctx, "svm", d, func(index []int, counts []float64) (Fitted, error) {
		if err := kernel.CheckDim(s.kernel, d.X.Dim()); err != nil {
			return nil, err
		}
		parts, err := s.parts(index, d.Groups, seed)
		if err != nil {
			return nil, fmt.Errorf("cross-validation: %w", err)
		}
		n := d.X.N()
		t := &gridSearch{SVM: s, x: d.X, classes: len(counts), index: index, parts: parts, k: mat.NewSymDense(n, nil),
			ofClass: s.ClassWeight.of(counts)}
		t.weight = perCase(t.ofClass, index)
		for m := range machines(t.classes) {
			t.y = append(t.y, against(index, t.classes, m))
		}
		grid := s.grid(d)
		var best candidate
		at := -1 // index into grid
		for r, theta := range grid {
			row, err := t.row(ctx, theta)
			if err != nil {
				return nil, err
			}
			if at < 0 || row.better(best) {
				best, at = row, r
			}
		}
		v := s.vectors(d, grid[at], s.costs()[best.cost])
		v.sigmoids = best.sigmoids
		v.summary.Warnings = t.warnings(best.cost, at, len(grid))
		k, all := t.gram(v.theta), slices.Clone(t.weight)
		floats.Scale(v.cost, all)
		for m, y := range t.y {
			machine, err := t.solve(ctx, k, y, all)
			if err != nil {
				return nil, err
			}
			v.summary.Warnings = append(v.summary.Warnings, extrapolated("svm", best.held[m], machine.output)...)
			v.summary.Iterations += machine.iterations
			v.beta, v.bias = append(v.beta, machine.beta), append(v.bias, machine.bias)
		}
		v.summary.Converged = t.failed == 0
		v.summary.Warnings = append(v.summary.Warnings, t.unconverged()...)
		return v, nil
	})
}

// warnings returns a warning if the chosen values are at an end of the grid.
func (t *gridSearch) warnings(cost, at, rows int) (warnings []approx.Warning) {
	edge := func(name string, i, of int) {
		if of > 2 && (i == 0 || i == of-1) {
			warnings = append(warnings, cause.GridEnd.New(
				"svm: the chosen %s stands at an end of its grid", name))
		}
	}
	edge("cost", cost, len(t.costs()))
	edge("length scale", at, rows)
	return warnings
}

// unconverged returns a warning about machines that did not converge.
func (t *gridSearch) unconverged() (warnings []approx.Warning) {
	if t.failed > 0 {
		warnings = append(warnings,
			cause.Unconverged.New("svm: machines that stopped short of tolerance %v: %d", t.tolerance(), t.failed))
	}
	return warnings
}

// parts makes the folds of the training set.
func (s SVM) parts(index []int, groups []string, seed uint64) ([]split.Fold, error) {
	k := s.Folds
	if k == usualFolds {
		k = 0
	}
	return split.Split(split.Inner(k, usualFolds, len(index), groups), len(index), index, groups, seed)
}

// Restore takes the machines from the state.
func (s SVM) Restore(d objective.Data, state approx.State) (Fitted, error) {
	d, err := repeated("svm", d)
	if err != nil {
		return nil, err
	}
	_, counts, err := counted(d)
	if err != nil {
		return nil, err
	}
	if err := kernel.CheckDim(s.kernel, d.X.Dim()); err != nil {
		return nil, err
	}
	lengths := []int{len(s.kernel.Params(d.X.Dim())), 1}
	for range machines(len(counts)) {
		lengths = append(lengths, 3, d.X.N())
	}
	parts, err := cut(state, lengths...)
	if err != nil {
		return nil, err
	}
	v := s.vectors(d, parts[0], parts[1][0])
	for parts = parts[2:]; len(parts) > 0; parts = parts[2:] {
		v.bias, v.sigmoids = append(v.bias, parts[0][0]), append(v.sigmoids, sigmoid{parts[0][1], parts[0][2]})
		v.beta = append(v.beta, parts[1])
	}
	return v, nil
}

// gridSearch has the data that the points of one grid share.
type gridSearch struct {
	SVM
	x       *kernel.Inputs
	classes int
	index   []int
	y       [][]float64 // labels ±1 for each machine
	parts   []split.Fold
	k       *mat.SymDense
	ofClass []float64 // weight of every class
	weight  []float64 // one for each case
	failed  int       // machines that did not converge
}

// candidate is the best cost of a length scale.
type candidate struct {
	cost     int         // index into SVM.costs
	errors   float64     // weighted
	logp     float64     // weighted log probability of the held-out labels
	held     [][]float64 // output of every machine at every case, from folds without it
	sigmoids []sigmoid
}

func (c candidate) better(than candidate) bool {
	const rounding = 1e-9
	fewer, more := than.errors-c.errors, c.logp-than.logp
	tie := math.Abs(fewer) <= rounding*than.errors
	return fewer > 0 && !tie || tie && more > rounding*math.Abs(than.logp)
}

// gram computes the whole of K, in the same memory as before.
func (t *gridSearch) gram(theta []float64) blas64.General {
	kernel.Gram(t.kernel, t.k, theta, t.x)
	n, raw := t.x.N(), t.k.RawSymmetric()
	k := blas64.General{Rows: n, Cols: n, Stride: raw.Stride, Data: raw.Data}
	linalg.Reflect(blas.Lower, k, k)
	return k
}

// solve trains one machine, and counts it in failed if it does not converge.
func (t *gridSearch) solve(ctx context.Context, k blas64.General, y, upper []float64) (separator, error) {
	limit := max(100_000_000/len(y), 100*len(y)) // iterations of n operations
	s, err := smo(ctx, k, y, upper, t.tolerance(), limit)
	if err == nil && !s.converged {
		t.failed++
	}
	return s, err
}

// row cross-validates all costs at one theta of the kernel.
func (t *gridSearch) row(ctx context.Context, theta []float64) (best candidate, err error) {
	k := t.gram(theta)
	proba := mat.NewDense(t.x.N(), t.classes, nil)
	for c, cost := range t.costs() {
		next, wrong := candidate{cost: c, held: make([][]float64, len(t.y))}, make([]float64, t.classes)
		for m, y := range t.y {
			if next.held[m], err = t.holdOut(ctx, k, y, cost); err != nil {
				return best, err
			}
			next.sigmoids = append(next.sigmoids, platt(y, next.held[m], nil, t.weight))
		}
		probabilities(proba, next.sigmoids, next.held, nil)
		for i, class := range t.index {
			p := proba.RawRowView(i)
			next.logp += t.weight[i] * math.Log(max(p[class], math.SmallestNonzeroFloat64))
			if cv.Decide(p) != class {
				wrong[class]++
			}
		}
		next.errors = floats.Dot(wrong, t.ofClass)
		if c == 0 || next.better(best) {
			best = next
		}
	}
	return best, nil
}

// holdOut returns the output at every case of a machine that is trained on the other folds.
func (t *gridSearch) holdOut(ctx context.Context, k blas64.General, y []float64, cost float64) ([]float64, error) {
	held := make([]float64, len(y))
	for _, part := range t.parts {
		upper := make([]float64, len(y))
		for _, i := range part.Train {
			upper[i] = t.weight[i] * cost
		}
		machine, err := t.solve(ctx, k, y, upper)
		if err != nil {
			return nil, err
		}
		for _, i := range part.Test {
			held[i] = machine.output[i]
		}
	}
	return held, nil
}

// vectors is a fitted SVM.
type vectors struct {
	summary  Summary
	kernel   kernel.Kernel
	x        *kernel.Inputs
	classes  int
	theta    []float64 // the kernel's hyperparameters
	cost     float64
	beta     [][]float64 // a row for each machine
	bias     []float64
	sigmoids []sigmoid
}

// vectors makes a fit that has no machines yet.
func (s SVM) vectors(d objective.Data, theta []float64, cost float64) *vectors {
	v := &vectors{kernel: s.kernel, x: d.X, classes: d.Y.Classes, theta: theta, cost: cost}
	v.summary.LogEvidence = math.NaN()
	for _, u := range theta {
		v.summary.Natural = append(v.summary.Natural, param.Log.Natural(u))
	}
	v.summary.Natural = append(v.summary.Natural, cost)
	return v
}

// PredictProba is Φ(αf + β) of every machine, divided by their sum.
func (v *vectors) PredictProba(dst *mat.Dense, z *kernel.Inputs) {
	checkNew(dst, z, v.x.Dim(), v.classes)
	blocks(dst, z, func(dst *mat.Dense, z *kernel.Inputs) { probabilities(dst, v.sigmoids, v.outputs(z), nil) })
}

// outputs is f of every machine.
func (v *vectors) outputs(z *kernel.Inputs) (f [][]float64) {
	cross := mat.NewDense(v.x.N(), z.N(), nil)
	kernel.Cross(v.kernel, cross, v.theta, v.x, z)
	for m, beta := range v.beta {
		f = append(f, slices.Repeat([]float64{v.bias[m]}, z.N()))
		linalg.Gemv(blas.Trans, 1, cross.RawMatrix(), beta, 1, f[m])
	}
	return f
}

// State is the kernel's theta and the cost, and then, for every machine, its bias, the α and β of
// its probabilities, and the β_i.
func (v *vectors) State() approx.State {
	s := append(append(approx.State{}, v.theta...), v.cost)
	for m, beta := range v.beta {
		s = append(append(s, v.bias[m], v.sigmoids[m].alpha, v.sigmoids[m].beta), beta...)
	}
	return s
}

// Summary has the kernel's hyperparameters and the cost.
func (v *vectors) Summary() Summary { return v.summary }
