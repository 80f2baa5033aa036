package comparator

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/cv/split"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// covariance returns the whole matrix of a squared exponential kernel.
func covariance(x *kernel.Inputs, amplitude, length float64) blas64.General {
	k := mat.NewSymDense(x.N(), nil)
	kernel.Gram(kernel.SE{}, k, []float64{math.Log(amplitude), math.Log(length)}, x)
	full := mat.DenseCopyOf(k)
	return full.RawMatrix()
}

// exactSeparator solves the dual by trying every partition of the cases into those at their lower bound, at their
// upper bound and in between. The ones in between and the bias follow from linear equations. K is positive definite,
// so only one partition satisfies all conditions.
func exactSeparator(k blas64.General, y []float64, cost float64) (beta []float64, bias float64, found bool) {
	n := len(y)
	state := make([]int, n) // 0: α = 0, 1: α = cost, 2: in between
	for {
		free := []int{}
		beta := make([]float64, n)
		for i, s := range state {
			switch s {
			case 1:
				beta[i] = y[i] * cost
			case 2:
				free = append(free, i)
			}
		}
		if m := len(free); m > 0 {
			a, b, solution := mat.NewDense(m+1, m+1, nil), mat.NewVecDense(m+1, nil), mat.NewVecDense(m+1, nil)
			sum := 0.0
			for _, v := range beta {
				sum += v
			}
			b.SetVec(m, -sum)
			for r, i := range free {
				rhs := y[i]
				for j := range n {
					rhs -= k.Data[i*k.Stride+j] * beta[j]
				}
				b.SetVec(r, rhs)
				for c, j := range free {
					a.Set(r, c, k.Data[i*k.Stride+j])
				}
				a.Set(r, m, 1)
				a.Set(m, r, 1)
			}
			if solution.SolveVec(a, b) == nil {
				for r, i := range free {
					beta[i] = solution.AtVec(r)
				}
				bias = solution.AtVec(m)
				good := true
				for i, s := range state {
					f := bias
					for j := range n {
						f += k.Data[i*k.Stride+j] * beta[j]
					}
					alpha := y[i] * beta[i]
					switch s {
					case 0:
						good = good && y[i]*f >= 1
					case 1:
						good = good && y[i]*f <= 1
					case 2:
						good = good && alpha > 1e-9*cost && alpha < (1-1e-9)*cost
					}
				}
				if good {
					return beta, bias, true
				}
			}
		}
		i := 0
		for ; i < n && state[i] == 2; i++ {
			state[i] = 0
		}
		if i == n {
			return nil, 0, false
		}
		state[i]++
	}
}

func TestSMOSolvesTheDual(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	solved := 0
	for problem := range 40 {
		const n = 7
		x, y, upper := mat.NewDense(n, 2, nil), make([]float64, n), make([]float64, n)
		cost := math.Exp(4 * (rng.Float64() - 0.5))
		for i := range n {
			y[i], upper[i] = float64(2*(i%2)-1), cost
			x.SetRow(i, []float64{rng.NormFloat64() + y[i]/2, rng.NormFloat64()})
		}
		k := covariance(&kernel.Inputs{X: x}, 1, 1)
		beta, bias, found := exactSeparator(k, y, cost)
		if !found {
			continue // no case strictly between its bounds: the bias is not unique
		}
		solved++
		s, err := smo(context.Background(), k, y, upper, 1e-12, 1e6)
		if err != nil {
			t.Fatal(err)
		}
		for i := range beta {
			if math.Abs(s.beta[i]-beta[i]) > 1e-9*max(1, cost) {
				t.Errorf("problem %d: β = %v, want %v", problem, s.beta, beta)
				break
			}
		}
		if math.Abs(s.bias-bias) > 1e-9 {
			t.Errorf("problem %d: bias %v, want %v", problem, s.bias, bias)
		}
	}
	if solved < 30 {
		t.Errorf("only %d problems had a unique solution", solved)
	}
}

// conditions returns the largest violation of the Karush-Kuhn-Tucker conditions, computed from β and the bias.
func conditions(k blas64.General, s separator, y, upper []float64) (worst float64) {
	sum := 0.0
	for i := range y {
		f := s.bias
		for j, b := range s.beta {
			f += k.Data[i*k.Stride+j] * b
		}
		worst = max(worst, math.Abs(f-s.output[i]))
		alpha, margin := y[i]*s.beta[i], y[i]*f
		sum += s.beta[i]
		worst = max(worst, -alpha, alpha-upper[i])
		if alpha < upper[i] {
			worst = max(worst, 1-margin)
		}
		if alpha > 0 {
			worst = max(worst, margin-1)
		}
	}
	return max(worst, math.Abs(sum))
}

func TestSMOAtOrdinaryAndExtremeCosts(t *testing.T) {
	d := blobs(150, 2, 5)
	y := d.Y.Value
	for _, length := range []float64{0.01, 0.5, 3, 100} {
		k := covariance(d.X, 1, length)
		for _, cost := range []float64{1e-6, 0.1, 10, 1e3} {
			upper := make([]float64, len(y))
			for i := range upper {
				upper[i] = cost
			}
			s, err := smo(context.Background(), k, y, upper, 1e-6, 1e7)
			if err != nil {
				t.Fatal(err)
			}
			// Each iteration updates n residuals; a residual has n terms.
			rounding := 1e-16 * cost * float64(len(y)) * float64(1+s.iterations)
			if s.gap > 1e-6 || conditions(k, s, y, upper) > 1e-6+rounding {
				t.Errorf("length %v, cost %v: gap %v, conditions violated by %v after %d iterations", length, cost, s.gap, conditions(k, s, y, upper), s.iterations)
			}
		}
	}
}

// TestSMOLeavesOut: a cost of 0 removes a case from the training set, so its output is a prediction.
func TestSMOLeavesOut(t *testing.T) {
	d := blobs(60, 2, 6)
	const kept = 45
	y, upper := d.Y.Value, make([]float64, 60)
	for i := range kept {
		upper[i] = 2
	}
	k := covariance(d.X, 1, 1)
	all, err := smo(context.Background(), k, y, upper, 1e-10, 1e6)
	if err != nil {
		t.Fatal(err)
	}
	part := blas64.General{Rows: kept, Cols: kept, Stride: k.Stride, Data: k.Data}
	own, err := smo(context.Background(), part, y[:kept], upper[:kept], 1e-10, 1e6)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 60 {
		want := own.bias
		for j, b := range own.beta {
			want += k.Data[i*k.Stride+j] * b
		}
		if math.Abs(all.output[i]-want) > 1e-7 {
			t.Errorf("case %d: output %v, trained apart %v", i, all.output[i], want)
		}
	}
}

// TestSMOAgainstLIBSVM: scikit-learn 1.2.1, SVC(C, gamma=1/(2 l²), tol=1e-10), on the threes and fives. It stores K
// in single precision, so its outputs have errors of up to 2⁻²⁴ Σα.
func TestSMOAgainstLIBSVM(t *testing.T) {
	d := digits(t, "train")
	for _, c := range []struct{ cost, length, dual, bias float64 }{
		{1, 10, 165.639955096, 1.111536723},
		{1, 5, 134.075674399, 0.520817984},
		{100, 20, 4227.392001634, 10.012374989},
	} {
		k := covariance(d.X, 1, c.length)
		upper := make([]float64, d.X.N())
		for i := range upper {
			upper[i] = c.cost
		}
		s, err := smo(context.Background(), k, d.Y.Value, upper, 1e-8, 1e7)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for i, b := range s.beta {
			sum += d.Y.Value[i] * b
		}
		single := math.Ldexp(c.dual, -24)
		if math.Abs(sum-c.dual) > single*c.cost || math.Abs(s.bias-c.bias) > single {
			t.Errorf("C = %v, l = %v: Σα = %.8f, bias %.8f; want %.8f and %.8f", c.cost, c.length, sum, s.bias, c.dual, c.bias)
		}
	}
}

// TestSVMChoosesByHeldOutCases repeats the grid search point by point, each with a machine that has only that point.
func TestSVMChoosesByHeldOutCases(t *testing.T) {
	d := blobs(80, 3, 8)
	grid := SVM{Costs: []float64{0.1, 10}, LengthScales: []float64{0.3, 3}, kernel: kernel.SE{}}
	chosen := fitted(t, grid, d)
	natural := chosen.Summary().Natural
	z := blobs(30, 3, 9)
	for _, cost := range grid.Costs {
		for _, length := range grid.LengthScales {
			one := SVM{Costs: []float64{cost}, LengthScales: []float64{length}, kernel: kernel.SE{}}
			same := mat.Equal(predicted(chosen, z.X, 3), predicted(fitted(t, one, d), z.X, 3))
			if want := math.Abs(natural[1]-length) < 1e-12 && natural[2] == cost; same != want {
				t.Errorf("C = %v, l = %v predicts as the chosen %v does: %v", cost, length, natural, same)
			}
		}
	}
	if all := strings.Join(cause.Texts(fitted(t, SVM{Costs: []float64{1e-4, 1e-3, 10}, LengthScales: []float64{1}, kernel: kernel.SE{}}, d).Summary().Warnings), "\n"); !strings.Contains(all, "cost stands at an end") {
		t.Errorf("warnings: %q", all)
	}
}

// TestSVMKeepsGroupsTogether: every fold has whole groups, and the classes in about the proportions
// of the training set.
func TestSVMKeepsGroupsTogether(t *testing.T) {
	const n = 90
	index, groups := make([]int, n), make([]string, n)
	for i := range n {
		index[i], groups[i] = i/3%3, string(rune('A'+i/3))
	}
	for seed := range uint64(5) {
		parts, err := SVM{}.parts(index, groups, seed)
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range parts {
			counts := make([]int, 3)
			for _, i := range part.Test {
				counts[index[i]]++
				for _, j := range part.Train {
					if groups[i] == groups[j] {
						t.Fatalf("seed %d: group %s is in both parts", seed, groups[i])
					}
				}
			}
			if !slices.Equal(counts, []int{6, 6, 6}) {
				t.Errorf("seed %d: a fold of %v cases", seed, counts)
			}
		}
		other, err := SVM{}.parts(index, groups, seed+1)
		if err != nil {
			t.Fatal(err)
		}
		if slices.EqualFunc(parts, other, func(a, b split.Fold) bool { return slices.Equal(a.Test, b.Test) }) {
			t.Errorf("seeds %d and %d have the same folds", seed, seed+1)
		}
	}
}

func TestSVMMovesFreeLengthScalesOnly(t *testing.T) {
	value := 2.0
	held := kernel.SE{}
	held.LengthScale.Fixed = &value
	d := blobs(40, 2, 8)
	if got := len(SVM{kernel: held}.grid(d)); got != 1 {
		t.Errorf("a fixed length scale has %d points", got)
	}
	if err := (SVM{LengthScales: []float64{1}, kernel: held}).Check(); err == nil {
		t.Error("length_scales for a fixed length scale: no error")
	}
	ard := SVM{LengthScales: []float64{3}, kernel: kernel.SE{ARD: true}}.grid(d)
	if want := []float64{0, math.Log(3), math.Log(3)}; !slices.Equal(ard[0], want) {
		t.Errorf("theta %v, want %v", ard[0], want)
	}
	for _, bad := range []SVM{{Costs: []float64{-1}}, {LengthScales: []float64{0}}, {Folds: 1}, {Tolerance: math.Inf(1)}} {
		if bad.Check() == nil {
			t.Errorf("%+v: no error", bad)
		}
	}
	lost := objective.Data{X: d.X, Y: d.Y}
	lost.Y.Value = slices.Repeat([]float64{-1}, 40)
	lost.Y.Value[3] = 1
	if _, err := (SVM{kernel: kernel.SE{}}).Fit(context.Background(), lost, 1); err == nil || !strings.Contains(err.Error(), "fold") {
		t.Errorf("a class of one case: %v", err)
	}
}

// TestSigmoidIsTheMaximum evaluates the likelihood of the smoothed targets: it is lower at all points nearby and far
// away.
func TestSigmoidIsTheMaximum(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	const n = 50
	y, m, v := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		y[i] = float64(2*(i%2) - 1)
		m[i], v[i] = 30*(y[i]+2*rng.NormFloat64()+1), 900*rng.Float64()
	}
	for name, c := range map[string]struct{ y, m, v []float64 }{
		"certain":   {y, m, nil},
		"uncertain": {y, m, v},
		"separated": {y, y, nil},
		"reversed":  {y, []float64(negative(m)), v},
	} {
		likelihood := func(s sigmoid) (sum float64) {
			for i := range n {
				w := 0.0
				if c.v != nil {
					w = c.v[i]
				}
				t := 1.0 / 27
				if c.y[i] > 0 {
					t = 26.0 / 27
				}
				sum += t*s.logProb(1, c.m[i], w) + (1-t)*s.logProb(-1, c.m[i], w)
			}
			return sum
		}
		s := platt(c.y, c.m, c.v, nil)
		best := likelihood(s)
		if name == "reversed" { // the likelihood rises with a falling slope, which is held at 0
			const h = 1e-4
			if rises := likelihood(sigmoid{-h, s.beta}) > best && best > likelihood(sigmoid{h, s.beta}); s.alpha != 0 || !rises {
				t.Errorf("%s: slope %v", name, s.alpha)
			}
			if likelihood(sigmoid{0, s.beta - h}) > best || likelihood(sigmoid{0, s.beta + h}) > best {
				t.Errorf("%s: %+v is not the best", name, s)
			}
			continue
		}
		for _, h := range []float64{1e-4, 1e-2, 0.3} {
			for _, other := range []sigmoid{{s.alpha * (1 + h), s.beta}, {s.alpha * (1 - h), s.beta}, {s.alpha, s.beta + h}, {s.alpha, s.beta - h}} {
				if l := likelihood(other); !(l < best) {
					t.Errorf("%s: %+v has %.12f, the fitted %+v %.12f", name, other, l, s, best)
				}
			}
		}
		const h = 1e-5
		da := (likelihood(sigmoid{s.alpha * (1 + h), s.beta}) - likelihood(sigmoid{s.alpha * (1 - h), s.beta})) / (2 * h)
		db := (likelihood(sigmoid{s.alpha, s.beta + h}) - likelihood(sigmoid{s.alpha, s.beta - h})) / (2 * h)
		if math.Abs(da) > 1e-6 || math.Abs(db) > 1e-6 {
			t.Errorf("%s: gradient %v, %v at the fitted %+v", name, da, db, s)
		}
	}
	if s := platt(y, make([]float64, n), nil, nil); s.alpha-s.alpha != 0 || math.Abs(math.Exp(linalg.LogNormCDF(s.beta))-0.5) > 1e-9 {
		t.Errorf("outputs that say nothing: %+v", s)
	}
}

// TestSigmoidInExtendedPrecision compares α and β with the point where mpmath, in 40 digits, finds the gradient of
// the likelihood to be 0.
func TestSigmoidInExtendedPrecision(t *testing.T) {
	const n = 40
	y, m, v := make([]float64, n), make([]float64, n), make([]float64, n)
	for i := range n {
		y[i] = -1
		if i%3 == 0 {
			y[i] = 1
		}
		m[i], v[i] = 3*math.Sin(1.7*float64(i))+y[i], 1.25+math.Cos(float64(i))
	}
	for _, c := range []struct {
		v           []float64
		alpha, beta float64
	}{
		{nil, 0.17408246692255572, -0.36544805076561127},
		{v, 0.1768293714723461, -0.37233399293501839},
	} {
		// The last step increases the log likelihood by less than 1e-20 n, and its second derivatives are about n/10,
		// so α and β are right to 1e-9.
		if s := platt(y, m, c.v, nil); math.Abs(s.alpha-c.alpha) > 1e-9 || math.Abs(s.beta-c.beta) > 1e-9 {
			t.Errorf("%+v, want %v and %v", s, c.alpha, c.beta)
		}
	}
}

// TestSVMProbabilitiesAreOfHeldOutCases trains each fold separately, on the cases of its training part alone.
func TestSVMProbabilitiesAreOfHeldOutCases(t *testing.T) {
	d := blobs(60, 3, 8)
	machine := SVM{Costs: []float64{3}, LengthScales: []float64{0.8}, Tolerance: 1e-10, kernel: kernel.SE{}}
	f := fitted(t, machine, d).(*vectors)
	parts, err := machine.parts(d.Y.Index, nil, 7) // the seed that fitted uses
	if err != nil {
		t.Fatal(err)
	}
	for m := range 3 {
		y, held := against(d.Y.Index, 3, m), make([]float64, 60)
		for _, part := range parts {
			n := len(part.Train)
			x, own, upper := mat.NewDense(n, 2, nil), make([]float64, n), slices.Repeat([]float64{3}, n)
			for k, i := range part.Train {
				x.SetRow(k, d.X.X.RawRowView(i))
				own[k] = y[i]
			}
			s, err := smo(context.Background(), covariance(&kernel.Inputs{X: x}, 1, 0.8), own, upper, 1e-10, 1e6)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range part.Test {
				held[i] = s.bias
				for k, b := range s.beta {
					distance := floats.Distance(x.RawRowView(k), d.X.X.RawRowView(i), 2)
					held[i] += b * math.Exp(-distance*distance/(2*0.8*0.8))
				}
			}
		}
		want := platt(y, held, nil, nil)
		if got := f.sigmoids[m]; math.Abs(got.alpha-want.alpha) > 1e-6 || math.Abs(got.beta-want.beta) > 1e-6 {
			t.Errorf("class %d: %+v, of held-out cases %+v", m, got, want)
		}
	}
}

func negative(v []float64) []float64 {
	out := make([]float64, len(v))
	for i := range v {
		out[i] = -v[i]
	}
	return out
}

// TestSVMOnDigits: GPML 3.7.3's C = 1, l = 10.
func TestSVMOnDigits(t *testing.T) {
	train, test := digits(t, "train"), digits(t, "test")
	f := fitted(t, SVM{Costs: []float64{1}, LengthScales: []float64{10}, kernel: kernel.SE{}}, train)
	outputs := f.(*vectors).outputs(test.X)[0]
	wrong := 0
	for i, v := range outputs {
		if v*test.Y.Value[i] <= 0 {
			wrong++
		}
	}
	if wrong != 28 { // scikit-learn 1.2.1, SVC(C=1, gamma=1/200): 28
		t.Errorf("%d errors, want 28", wrong)
	}
}

// Of groups of cases that are nearly equal the outputs say nothing when a group is held out. The fit
// warns that probabilities are extrapolated, and no training case is decided for the other class.
// Clusters that overlap bring no warning.
func TestOutputsThatHeldOutCasesDoNotCover(t *testing.T) {
	const groups, each = 24, 4
	rng := rand.New(rand.NewPCG(4, 4))
	d := objective.Data{X: &kernel.Inputs{X: mat.NewDense(groups*each, 2, nil)}, Y: approx.Targets{Classes: 2}}
	for g := range groups {
		a, b := 5*rng.NormFloat64(), 5*rng.NormFloat64()
		for i := range each {
			d.X.X.SetRow(g*each+i, []float64{a + 1e-3*rng.NormFloat64(), b + 1e-3*rng.NormFloat64()})
			d.Y.Value, d.Groups = append(d.Y.Value, float64(g%2*2-1)), append(d.Groups, fmt.Sprint(g))
		}
	}
	short := 0.05
	k := kernel.SE{LengthScale: param.Setting{Fixed: &short}}
	for _, c := range []Comparator{SVM{kernel: k, Costs: []float64{10}}, LeastSquares{kernel: k}} {
		f := fitted(t, c, d)
		warned := slices.ContainsFunc(f.Summary().Warnings, func(w approx.Warning) bool { return w.Kind == cause.ExtrapolatedOutputs })
		p, wrong := predicted(f, d.X, 2), 0
		for i, y := range d.Y.Value {
			if own := p.At(i, int(y+1)/2); own < 0.5 && own < p.At(i, int(1-y)/2) && p.At(i, 1) != p.At(0, 1) {
				wrong++
			}
		}
		if !warned || wrong > 0 {
			t.Errorf("%T: %d wrong; warnings %v", c, wrong, f.Summary().Warnings)
		}
		usual := fitted(t, c.(KernelUser).With(kernel.SE{}), blobs(80, 2, 5))
		if slices.ContainsFunc(usual.Summary().Warnings, func(w approx.Warning) bool { return w.Kind == cause.ExtrapolatedOutputs }) {
			t.Errorf("%T: %v", c, usual.Summary().Warnings)
		}
	}
}

// permuted are the data with rows and columns in another order and, of two classes, the other class
// as the first.
func permuted(d objective.Data, rows, columns []int) objective.Data {
	x := mat.NewDense(len(rows), len(columns), nil)
	out := objective.Data{Y: approx.Targets{Classes: d.Y.Classes}}
	for to, from := range rows {
		for j, c := range columns {
			x.Set(to, j, d.X.X.At(from, c))
		}
		out.Y.Value = append(out.Y.Value, -d.Y.Value[from])
	}
	out.X = &kernel.Inputs{X: x}
	return out
}

// The machine does not depend on the order of the cases, of the columns or of the classes, up to
// ten times the tolerance of 1e-10. The costs range from all cases at their bounds to none. The
// probabilities do not depend on the order either, up to 1e-9, if the same cases are held out
// together.
func TestSVMKnowsNoOrder(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 9))
	for _, seed := range []uint64{1, 2, 3} {
		d := blobs(90, 2, seed)
		rows := rng.Perm(90)
		other := permuted(d, rows, []int{1, 0})
		for _, length := range []float64{0.1, 1, 10} {
			for _, cost := range []float64{1e-3, 0.1, 10, 1e3} {
				upper := slices.Repeat([]float64{cost}, 90)
				solve := func(d objective.Data) separator {
					s, err := smo(t.Context(), covariance(d.X, 1, length), d.Y.Value, upper, 1e-10, 10_000_000)
					if err != nil || !s.converged {
						t.Fatalf("length scale %v, cost %v: gap %v, %v", length, cost, s.gap, err)
					}
					return s
				}
				a, b := solve(d), solve(other)
				for to, from := range rows {
					if diff := math.Abs(a.output[from] + b.output[to]); diff > 1e-9*max(1, math.Abs(a.output[from])) {
						t.Fatalf("length scale %v, cost %v: outputs %v and %v", length, cost, a.output[from], -b.output[to])
					}
				}
			}
		}
	}
	d := blobs(60, 2, 8)
	whole := fitted(t, SVM{kernel: kernel.SE{}}, d)
	z := blobs(40, 2, 9).X
	turned := permuted(objective.Data{X: z, Y: approx.Targets{Classes: 2, Value: make([]float64, 40)}}, ints(40), []int{1, 0}).X
	same := fitted(t, SVM{kernel: kernel.SE{}}, permuted(d, ints(60), []int{1, 0}))
	p, q := predicted(whole, z, 2), predicted(same, turned, 2)
	for i := range 40 {
		if math.Abs(p.At(i, 0)-q.At(i, 1)) > 1e-9 {
			t.Errorf("case %d: %v and %v", i, p.At(i, 0), q.At(i, 1))
		}
	}
}

// ints are 0 … n-1.
func ints(n int) (all []int) {
	for i := range n {
		all = append(all, i)
	}
	return all
}
