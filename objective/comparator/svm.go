package comparator

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/interrupt"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/objective/param"
)

// SVM is the support vector machine with soft margin, GPML 6.4: f minimises ½|f|² + C Σ_i max(0, 1
// - y_i f_i) over the kernel's functions and a constant. Cost C and length scale are those, of a
// grid, under which stratified cross-validation within the training set, of groups as a whole where
// there are any, makes the fewest errors; of equals, those that give the held-out labels the larger
// probability, then the smaller ones. The probabilities are Φ(αf + β), fitted to the outputs of
// those held-out cases.
//
// The grid moves the kernel's free length scales, all together; whatever else the kernel has is
// held where it starts. So an amplitude σ makes the cost Cσ². More than two classes share cost and
// length scale.
type SVM struct {
	Costs        []float64 `yaml:"costs" within:"(0,inf)"`         // the C to try; empty: 0.1, 1, 10, 100
	LengthScales []float64 `yaml:"length_scales" within:"(0,inf)"` // to try; empty: where the kernel starts, times ⅛, ¼, ½, 1, 2, 4
	Folds        int       `yaml:"folds" within:"[2,1000]"`        // of the cross-validation; 0 is 5
	Tolerance    float64   `yaml:"tolerance" within:"(0,1)"`       // of the optimality conditions, see smo; 0 is 1e-3

	kernel kernel.Kernel
}

// Check looks at the grid, and at what the kernel has for it.
func (s SVM) Check() error {
	var errs []error
	for _, list := range []struct {
		name string
		v    []float64
	}{{"costs", s.Costs}, {"length_scales", s.LengthScales}, {"tolerance", []float64{s.Tolerance}}} {
		for _, v := range list.v {
			if !(v > 0) && (v != 0 || list.name != "tolerance") || math.IsInf(v, 0) {
				errs = append(errs, fmt.Errorf("svm: %s: %v must be greater than 0", list.name, v))
			}
		}
	}
	if s.Folds < 0 || s.Folds == 1 {
		errs = append(errs, fmt.Errorf("svm: folds: %d; it takes 2 or more", s.Folds))
	}
	if s.kernel != nil && len(s.LengthScales) > 0 && len(lengthScales(s.kernel.Params(1))) == 0 {
		errs = append(errs, errors.New("svm: the kernel has no free length_scale that length_scales could set; leave it out"))
	}
	return errors.Join(errs...)
}

// UsesKernel is true.
func (SVM) UsesKernel() bool { return true }

// With sets the kernel.
func (s SVM) With(k kernel.Kernel) Comparator { s.kernel = k; return s }

// Params lists the kernel's hyperparameters and the cost.
func (s SVM) Params(dim int, _ []string) []param.Spec {
	specs := s.kernel.Params(dim)
	grid := lengthScales(specs)
	for i := range specs {
		specs[i].Fixed = true
	}
	for _, i := range grid {
		specs[i].Fixed = len(s.LengthScales) == 1
	}
	return append(specs, param.Spec{Name: "cost", Map: param.Log, Lo: param.DefaultLo, Hi: param.DefaultHi, Fixed: len(s.Costs) == 1})
}

// Memory is the covariance, what the kernel keeps, the outputs of every cost, and a block of new
// cases.
func (s SVM) Memory(size approx.Size, dim int) int64 {
	n, held := int64(size.Cases), min(size.New, block)
	return 8*(n*n+n*int64(held)+n*int64(len(s.costs())*machines(size.Classes))) + s.kernel.Memory(size.Cases, held, dim)
}

func (s SVM) costs() []float64 {
	if len(s.Costs) == 0 {
		return []float64{0.1, 1, 10, 100}
	}
	return s.Costs
}

// lengthScales are the positions of the free length scales.
func lengthScales(specs []param.Spec) (at []int) {
	for i, s := range specs {
		if name := s.Name[strings.LastIndexByte(s.Name, '.')+1:]; !s.Fixed && strings.HasPrefix(name, "length_scale") {
			at = append(at, i)
		}
	}
	return at
}

// grid is the kernel's theta for every length scale to try.
func (s SVM) grid(d objective.Data) (grid [][]float64) {
	layout := objective.Model{Kernels: []kernel.Kernel{s.kernel}, Likelihood: likelihood.Gaussian{}}.LayoutOn(d)
	specs := layout.Specs[:len(s.kernel.Params(d.X.Dim()))]
	at := lengthScales(specs)
	values, factors := s.LengthScales, []float64{0.125, 0.25, 0.5, 1, 2, 4}
	rows := len(values)
	switch {
	case len(at) == 0:
		rows = 1
	case rows == 0:
		rows = len(factors)
	}
	for r := range rows {
		theta := layout.Start()[:len(specs)]
		for _, i := range at {
			length := specs[i].Init * factors[min(r, len(factors)-1)]
			if len(values) > 0 {
				length = values[r]
			}
			theta[i] = param.Log.Theta(length)
		}
		grid = append(grid, theta)
	}
	return grid
}

// Fit searches the grid and trains on all cases.
func (s SVM) Fit(ctx context.Context, d objective.Data, seed uint64) (objective.Fitted, error) {
	return interrupt.Do(ctx, func() (objective.Fitted, error) {
		index, _, err := counted(d)
		if err == nil {
			err = ctx.Err()
		}
		if err == nil {
			err = kernel.CheckDim(s.kernel, d.X.Dim())
		}
		if err != nil {
			return nil, err
		}
		parts, err := s.parts(index, d.Groups, seed)
		if err != nil {
			return nil, fmt.Errorf("svm, cross-validation: %w", err)
		}
		t := &training{SVM: s, x: d.X, classes: d.Y.Classes, index: index, parts: parts, k: mat.NewSymDense(d.X.N(), nil)}
		for m := range machines(t.classes) {
			t.y = append(t.y, against(index, t.classes, m))
		}
		grid := s.grid(d)
		var best candidate
		at := -1 // of the grid
		for r, theta := range grid {
			row, err := t.row(ctx, theta)
			if err != nil {
				return nil, err
			}
			if at < 0 || row.better(best) {
				best, at = row, r
			}
		}
		v := &vectors{kernel: s.kernel, x: d.X, classes: t.classes, theta: grid[at], cost: s.costs()[best.cost], sigmoids: best.sigmoids}
		k, all := t.gram(v.theta), make([]float64, d.X.N())
		for i := range all {
			all[i] = v.cost
		}
		for _, y := range t.y {
			machine, err := t.solve(ctx, k, y, all)
			if err != nil {
				return nil, err
			}
			v.iterations += machine.iterations
			v.beta, v.bias = append(v.beta, machine.beta), append(v.bias, machine.bias)
		}
		edge := func(name string, i, of int) {
			if of > 2 && (i == 0 || i == of-1) {
				v.warnings = append(v.warnings, fmt.Sprintf("svm: the chosen %s stands at an end of its grid; a wider grid may hold a better one", name))
			}
		}
		edge("cost", best.cost, len(s.costs()))
		edge("length scale", at, len(grid))
		if v.converged = t.failed == 0; !v.converged {
			v.warnings = append(v.warnings, fmt.Sprintf("svm: %d machines stopped short of tolerance %v", t.failed, s.tolerance()))
		}
		return v, nil
	})
}

// parts divides the training set.
func (s SVM) parts(index []int, groups []string, seed uint64) ([]cv.Fold, error) {
	folds := s.Folds
	if folds == 0 {
		folds = 5
	}
	if groups != nil {
		return cv.GroupKFold{K: folds, Stratified: true}.Split(len(index), index, groups, seed)
	}
	return cv.KFold{K: folds}.Split(len(index), index, nil, seed)
}

// Restore takes the machines from the state.
func (s SVM) Restore(d objective.Data, state approx.State) (Fitted, error) {
	if _, _, err := counted(d); err != nil {
		return nil, err
	}
	if err := kernel.CheckDim(s.kernel, d.X.Dim()); err != nil {
		return nil, err
	}
	lengths := []int{len(s.kernel.Params(d.X.Dim())), 1}
	for range machines(d.Y.Classes) {
		lengths = append(lengths, 3, d.X.N())
	}
	parts, err := cut(state, lengths...)
	if err != nil {
		return nil, err
	}
	v := &vectors{kernel: s.kernel, x: d.X, classes: d.Y.Classes, theta: parts[0], cost: parts[1][0]}
	for parts = parts[2:]; len(parts) > 0; parts = parts[2:] {
		v.bias, v.sigmoids, v.beta = append(v.bias, parts[0][0]), append(v.sigmoids, sigmoid{parts[0][1], parts[0][2]}), append(v.beta, parts[1])
	}
	return v, nil
}

func (s SVM) tolerance() float64 {
	if s.Tolerance == 0 {
		return 1e-3
	}
	return s.Tolerance
}

// training is what the points of one grid share.
type training struct {
	SVM
	x       *kernel.Inputs
	classes int
	index   []int
	y       [][]float64 // of every machine
	parts   []cv.Fold
	k       *mat.SymDense
	failed  int // machines that did not converge
}

// candidate is the best cost of a length scale.
type candidate struct {
	cost     int // index
	errors   int
	logp     float64 // of the held-out labels
	sigmoids []sigmoid
}

func (c candidate) better(than candidate) bool {
	return c.errors < than.errors || c.errors == than.errors && c.logp > than.logp
}

// gram is the whole of K, in the memory of the last.
func (t *training) gram(theta []float64) blas64.General {
	kernel.Gram(t.kernel, t.k, theta, t.x)
	n, raw := t.x.N(), t.k.RawSymmetric()
	for i := range n {
		for j := range i {
			raw.Data[i*raw.Stride+j] = raw.Data[j*raw.Stride+i]
		}
	}
	return blas64.General{Rows: n, Cols: n, Stride: raw.Stride, Data: raw.Data}
}

// solve trains one machine. One that does not converge is counted.
func (t *training) solve(ctx context.Context, k blas64.General, y, upper []float64) (separator, error) {
	s, err := smo(ctx, k, y, upper, t.tolerance(), max(100_000_000/len(y), 100*len(y))) // n operations each
	if err == nil && !(s.gap <= t.tolerance()) {
		t.failed++
	}
	return s, err
}

// row cross-validates all costs at one theta of the kernel.
func (t *training) row(ctx context.Context, theta []float64) (best candidate, err error) {
	k, n := t.gram(theta), t.x.N()
	proba := mat.NewDense(n, t.classes, nil)
	for c, cost := range t.costs() {
		held := make([][]float64, len(t.y)) // the outputs of held-out cases
		for m, y := range t.y {
			held[m] = make([]float64, n)
			for _, part := range t.parts {
				upper := make([]float64, n)
				for _, i := range part.Train {
					upper[i] = cost
				}
				machine, err := t.solve(ctx, k, y, upper)
				if err != nil {
					return best, err
				}
				for _, i := range part.Test {
					held[m][i] = machine.output[i]
				}
			}
		}
		next := candidate{cost: c}
		for m, y := range t.y {
			next.sigmoids = append(next.sigmoids, platt(y, held[m], nil))
		}
		probabilities(proba, func(m, i int, y float64) float64 { return next.sigmoids[m].logProb(y, held[m][i], 0) })
		for i, class := range t.index {
			p := proba.RawRowView(i)
			next.logp += math.Log(max(p[class], math.SmallestNonzeroFloat64))
			if cv.Decide(p) != class {
				next.errors++
			}
		}
		if c == 0 || next.better(best) {
			best = next
		}
	}
	return best, nil
}

// vectors is a fitted SVM.
type vectors struct {
	kernel     kernel.Kernel
	x          *kernel.Inputs
	classes    int
	theta      []float64 // of the kernel
	cost       float64
	beta       [][]float64 // of every machine
	bias       []float64
	sigmoids   []sigmoid
	iterations int
	converged  bool
	warnings   []string
}

// block is how many new cases are predicted at once.
const block = 2048

// PredictProba is Φ(αf + β) of every machine, divided by their sum.
func (v *vectors) PredictProba(dst *mat.Dense, z *kernel.Inputs) {
	checkShape(dst, z, v.classes)
	checkNew(z, v.x.Dim())
	for from := 0; from < z.N(); from += block {
		part := &kernel.Inputs{X: z.X.Slice(from, min(from+block, z.N()), 0, z.Dim()).(*mat.Dense)}
		f := v.outputs(part)
		probabilities(dst.Slice(from, from+part.N(), 0, v.classes).(*mat.Dense), func(m, i int, y float64) float64 { return v.sigmoids[m].logProb(y, f[m][i], 0) })
	}
}

// outputs is f of every machine.
func (v *vectors) outputs(z *kernel.Inputs) (f [][]float64) {
	cross := mat.NewDense(v.x.N(), z.N(), nil)
	kernel.Cross(v.kernel, cross, v.theta, v.x, z)
	for m, beta := range v.beta {
		f = append(f, make([]float64, z.N()))
		for i := range f[m] {
			f[m][i] = v.bias[m]
		}
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
func (v *vectors) Summary() Summary {
	s := Summary{LogEvidence: math.NaN(), Iterations: v.iterations, Converged: v.converged, Warnings: v.warnings}
	for _, u := range v.theta {
		s.Natural = append(s.Natural, param.Log.Natural(u))
	}
	s.Natural = append(s.Natural, v.cost)
	return s
}
