package comparator

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// LogisticRegression is logistic regression, and multiple logistic regression for more than two
// classes, in weight space: f_c = w_cᵀx̃ with x̃ the inputs and, with the bias, a 1, and all
// weights independently N(0, σ²). Laplace's method approximates the posterior of the P weights, as
// in GPML 3.4 and 3.5. With Ψ the maximum of log p(y|w) - |w|²/2σ² and H = -∇∇ log p(y|w) there,
// the log evidence is, in nats,
//
//	L = Ψ - ½ log|B|,  B = I + σ²H
//
// A free σ maximises L. Predictions are averages over that Gaussian, or probabilities at its mode
// (see Averaging). It is the same classifier as Laplace's method with the kernel σ²(1 + x·x'), at a
// cost of nP² + P³ instead of Cn³. With more than 2n inputs the weights are computed in the span of
// the inputs, which has n dimensions.
//
// With class weights ω the likelihood is Π_i p(y_i|w)^ω_i. The function that σ maximises is then no
// log evidence of the labels, and none is reported. Weights of cases multiply ω: a weight w is
// equivalent to w equal cases.
type LogisticRegression struct {
	Amplitude   param.Setting `yaml:"amplitude"`    // σ; free from 1
	Bias        *bool         `yaml:"bias"`         // nil: true
	ClassWeight ClassWeight   `yaml:"class_weight"` // default: uniform
	Average     Averaging     `yaml:"average"`      // default: chosen
}

// Check checks the amplitude.
func (l LogisticRegression) Check() error {
	if l.Amplitude.Prior != nil {
		return errors.New("logistic_regression: amplitude takes no prior: it maximises the evidence")
	}
	return l.Amplitude.Check("amplitude", param.Log)
}

// Params lists the amplitude and the Averaging.
func (l LogisticRegression) Params(int, []string) []param.Spec {
	average := param.Among("average", Averaged.Names()[Averaged:]...)
	if average.Fixed = l.Average != Chosen; average.Fixed {
		average.Init = float64(l.Average - Averaged)
	}
	return []param.Spec{l.Amplitude.Spec("amplitude", param.Log, 1), average}
}

// columns is the number of columns of X̃.
func (l LogisticRegression) columns(dim int) int {
	if l.Bias == nil || *l.Bias {
		return dim + 1
	}
	return dim
}

// Seconds implements Comparator.
func (LogisticRegression) Seconds(s approx.Size, dim int) float64 {
	n, k := float64(s.Cases), models(s.Classes)
	p := min(float64(dim+1), n)
	return k * (2.5e-9*(k+1)*n*p*p + 2e-5*n)
}

// Memory is B at two amplitudes, each replaced by its factor and then its inverse, the inputs
// twice, and the numbers for every case and class.
func (l LogisticRegression) Memory(s approx.Size, dim int) int64 {
	n, columns, processes := int64(s.Cases), int64(l.columns(dim)), int64(machines(s.Classes))
	wide := int64(0)
	if few(s.Cases, int(columns)) {
		wide = 2*n*columns + 4*n*n + columns*int64(s.New)
		columns = n
	}
	p := columns * processes
	return 8 * (wide + 2*p*p + 3*n*columns + columns*columns + (4+processes)*n*processes + columns*int64(s.New))
}

// Fit finds the amplitude and the weights, and chooses the Averaging.
func (l LogisticRegression) Fit(ctx context.Context, d objective.Data, seed uint64) (objective.Fitted, error) {
	return learn(ctx, "logistic_regression", d, func(index []int, counts []float64) (Fitted, error) {
		f, err := l.on(d, index, counts).tune(ctx, l.Params(d.X.Dim(), nil)[0])
		if err != nil {
			return nil, err
		}
		f.averaging, err = l.choose(ctx, f, d, counts, seed)
		return f, err
	})
}

// choosingPoints is the number of points of an average in folds. It is small, because two ways
// whose difference is less than the error of these points are equally good.
const choosingPoints = 256

// choose returns Averaged or AtMode, by up to five stratified folds that keep groups together. Each
// is fitted at the amplitude of f. For a single group or case it returns Averaged.
func (l LogisticRegression) choose(
	ctx context.Context, f *weights, d objective.Data, counts []float64, seed uint64,
) (Averaging, error) {
	if l.Average != Chosen {
		return l.Average, nil
	}
	folds, err := innerFolds(f.index, d.Groups, seed)
	if err != nil || folds == nil {
		return Averaged, err
	}
	gain := 0.0 // Σ ω_i (log p_i at the mode - log p_i averaged)
	for _, fold := range folds {
		part, err := l.on(some(d, fold.Train), pick(f.index, fold.Train), counts).mode(ctx, f.sigma, nil)
		if err != nil {
			return Averaged, fmt.Errorf("cross-validation: %w", err)
		}
		part.invert()
		z := some(d, fold.Test).X
		averaged, plugged := mat.NewDense(z.N(), f.classes, nil), mat.NewDense(z.N(), f.classes, nil)
		part.average(averaged, z, choosingPoints)
		part.plugIn(plugged, z)
		for k, i := range fold.Test {
			c := f.index[i]
			gain += f.weight[i] * (logOf(plugged.At(k, c)) - logOf(averaged.At(k, c)))
		}
	}
	if gain > 0 {
		return AtMode, nil
	}
	return Averaged, nil
}

// logOf is log p, and for p = 0 the log of the smallest positive number.
func logOf(p float64) float64 { return math.Log(max(p, math.SmallestNonzeroFloat64)) }

// Restore takes the amplitude and the weights from the state.
func (l LogisticRegression) Restore(d objective.Data, s approx.State) (Fitted, error) {
	index, counts, err := counted(d)
	if err != nil {
		return nil, err
	}
	r := l.on(d, index, counts)
	if r.narrow != nil {
		if len(s) == 0 || s[0] != -float64(r.x.Cols) {
			return nil, fmt.Errorf("the first number of the state must be -%d", r.x.Cols)
		}
		s = s[1:]
	}
	s, averaging := averagingOf(s, 1+r.x.Cols*r.processes)
	parts, err := cut(s, 1, r.x.Cols*r.processes)
	if err != nil {
		return nil, err
	}
	f, err := r.restored(parts[0][0], parts[1], averaging)
	if err != nil {
		return nil, err
	}
	f.psi = f.evaluate(f.w)
	if err := f.curvature(); err != nil {
		return nil, err
	}
	f.value = f.psi - linalg.LogDet(f.factor)
	f.invert()
	return f, nil
}

// Condense is the state and, row by row, the upper triangle of B⁻¹. For narrow inputs Q is between
// them.
func (f *weights) Condense() approx.State {
	s := f.numbers()
	if f.narrow != nil {
		s = append(s, f.narrow.q.Data...)
	}
	for i := range f.b.N {
		s = append(s, row(blas64.General{Cols: f.b.N, Stride: f.b.Stride, Data: f.b.Data}, i)[i:]...)
	}
	return f.averaging.marked(s)
}

// Expand takes the amplitude, the weights and B⁻¹ from the state.
func (l LogisticRegression) Expand(dim, classes int, s approx.State) (Fitted, error) {
	columns, processes := l.columns(dim), machines(classes)
	short := columns
	var within *narrow
	if len(s) > 0 && s[0] < 0 {
		if short = int(min(-s[0], float64(columns))); float64(short) != -s[0] {
			return nil, fmt.Errorf("the first number of the state is %v, and there are %d weights", s[0], columns)
		}
		s, within = s[1:], &narrow{}
	}
	p, q := short*processes, 0
	if within != nil {
		q = short * columns
	}
	s, averaging := averagingOf(s, 1+p+q+p*(p+1)/2)
	parts, err := cut(s, 1, p, q, p*(p+1)/2)
	if err != nil {
		return nil, err
	}
	r := &regression{
		dim: dim, classes: classes, processes: processes, columns: columns, narrow: within,
		x: blas64.General{Cols: short, Stride: short}, weighted: l.ClassWeight != Uniform,
	}
	if within != nil {
		within.q = blas64.General{Rows: short, Cols: columns, Stride: columns, Data: parts[2]}
	}
	f, err := r.restored(parts[0][0], parts[1], averaging)
	if err != nil {
		return nil, err
	}
	f.value = math.NaN() // the training set is needed for the evidence
	check := linalg.NewSym(p)
	for i := range p {
		own := parts[3][:p-i]
		copy(f.b.Data[i*f.b.Stride+i:], own)
		copy(check.Data[i*check.Stride+i:], own)
		parts[3] = parts[3][p-i:]
	}
	if _, ok := linalg.Cholesky(check); !ok {
		return nil, fmt.Errorf("%w: (I + σ²H)⁻¹", approx.ErrNotPositiveDefinite)
	}
	return f, nil
}

// regression is the data of a logistic regression.
type regression struct {
	dim                int            // number of inputs
	classes, processes int            // C, and 1 for C = 2 or C
	columns            int            // D, of X̃
	x                  blas64.General // X̃, n×D; or A
	narrow             *narrow        // nil: x is X̃
	index              []int
	y                  []float64 // ±1, for two classes
	weight             []float64 // ω
	weighted           bool      // classes have weights
}

func (l LogisticRegression) on(d objective.Data, index []int, counts []float64) *regression {
	classes, weight := len(counts), perCase(l.ClassWeight.of(counts), index)
	for i := range weight {
		weight[i] *= weightOf(d, i)
	}
	columns := l.columns(d.X.Dim())
	r := &regression{
		dim: d.X.Dim(), classes: classes, processes: machines(classes), columns: columns, x: extended(d.X, columns),
		index: index, y: against(index, classes, 0), weight: weight,
		weighted: l.ClassWeight != Uniform,
	}
	if few(d.X.N(), columns) {
		r.x, r.narrow = narrowed(r.x)
	}
	return r
}

// extended is X̃: the inputs and, if columns is one more, a column of 1.
func extended(x *kernel.Inputs, columns int) blas64.General {
	a := linalg.NewGeneral(x.N(), columns)
	for i := range x.N() {
		row := row(a, i)
		row[columns-1] = 1
		copy(row, x.X.RawRowView(i))
	}
	return a
}

// byProcess views a vector of P numbers as a matrix with a row for each process.
func (r *regression) byProcess(v []float64) blas64.General {
	return blas64.General{Rows: r.processes, Cols: r.x.Cols, Stride: r.x.Cols, Data: v}
}

// latent is c Z̃v for weights v, with a row for each row of z.
func (r *regression) latent(c float64, z blas64.General, v []float64) blas64.General {
	f := linalg.NewGeneral(z.Rows, r.processes)
	linalg.Gemm(blas.NoTrans, blas.Trans, c, z, r.byProcess(v), 0, f)
	return f
}

// weights is a regression at the mode of one σ.
type weights struct {
	*regression
	sigma      float64
	averaging  Averaging      // Averaged or AtMode
	w          []float64      // P = D·processes numbers, one process after the other
	pi, g      blas64.General // n×processes: π, or for two classes W, and ω ∇ log p
	d3         []float64      // ω times the third derivative of log p, for two classes
	psi        float64
	b          blas64.Symmetric  // B, then its factor, then B⁻¹
	factor     blas64.Triangular // Cholesky factor of B
	value      float64           // L
	gradient   float64           // dL/d log σ
	iterations int               // iterations of Newton's method at this σ
	evaluated  int               // number of values of σ so far
	warnings   []approx.Warning
	deviation  approx.AverageDeviation
}

// at makes the weights w, or 0 if w is nil. Nothing is computed from them yet.
func (r *regression) at(sigma float64, w []float64) *weights {
	n, p := r.x.Rows, r.x.Cols*r.processes
	f := &weights{
		regression: r, sigma: sigma, w: make([]float64, p), b: linalg.NewSym(p),
		pi: linalg.NewGeneral(n, r.processes), g: linalg.NewGeneral(n, r.processes),
	}
	if r.classes == 2 {
		f.d3 = make([]float64, n)
	}
	copy(f.w, w)
	return f
}

// restored makes the fit with the amplitude and the weights of a state.
func (r *regression) restored(sigma float64, w []float64, a Averaging) (*weights, error) {
	if !(sigma > 0) {
		return nil, fmt.Errorf("amplitude = %v must be greater than 0", sigma)
	}
	f := r.at(sigma, w)
	f.averaging = a
	return f, nil
}

// evaluate sets π, W or the derivatives of log p at f = X̃w, and returns Ψ.
func (f *weights) evaluate(w []float64) float64 {
	latent := f.latent(1, f.x, w)
	psi := -floats.Dot(w, w) / (2 * f.sigma * f.sigma)
	for i := range f.x.Rows {
		if f.classes > 2 {
			psi += f.weight[i] *
				likelihood.Softmax{}.Probabilities(row(f.pi, i), row(f.g, i), row(latent, i), f.index[i])
			floats.Scale(f.weight[i], row(f.g, i))
			continue
		}
		logp, d1, d2, d3 := likelihood.Logit{}.Derivs(f.y[i], latent.Data[i])
		f.pi.Data[i], f.g.Data[i], f.d3[i] = -f.weight[i]*d2, f.weight[i]*d1, f.weight[i]*d3
		psi += f.weight[i] * logp
	}
	return psi
}

// curvature factorises B = I + σ²H. The block of H for the processes c and d is X̃ᵀ diag(W_cd) X̃.
func (f *weights) curvature() error {
	columns, p, w := f.x.Cols, len(f.w), make([]float64, f.x.Rows)
	for c := range f.processes {
		for d := c; d < f.processes; d++ {
			same := 0.0
			if c == d {
				same = 1
			}
			for i := range w {
				pi := row(f.pi, i)
				if w[i] = pi[c]; f.classes > 2 {
					w[i] *= f.weight[i] * (same - pi[d])
				}
			}
			block := blas64.Symmetric{Uplo: blas.Upper, N: columns, Stride: p, Data: f.b.Data[c*columns*p+d*columns:]}
			linalg.SyrkDiag(blas.Trans, f.sigma*f.sigma, f.x, w, 0, block)
			for i := range columns {
				if c == d {
					block.Data[i*p+i]++
					continue
				}
				for j := range i {
					block.Data[i*p+j] = block.Data[j*p+i]
				}
			}
		}
	}
	var ok bool
	if f.factor, ok = linalg.Cholesky(f.b); !ok {
		return fmt.Errorf("%w: I + σ²H at amplitude %.6g; give amplitude lower bounds, or standardise the inputs",
			approx.ErrNotPositiveDefinite, f.sigma)
	}
	return nil
}

// invert computes B⁻¹ from the factor of B, in the same memory.
func (f *weights) invert() { f.b = linalg.InverseCholesky(f.factor) }

// solve sets v ← B⁻¹v by the factor.
func (f *weights) solve(v []float64) {
	linalg.SolveTriVec(blas.Trans, f.factor, v)
	linalg.SolveTriVec(blas.NoTrans, f.factor, v)
}

// newton returns Newton's step B⁻¹(σ²X̃ᵀg - w) and its length under the posterior's precision B/σ².
func (f *weights) newton() (step []float64, length float64) {
	step = make([]float64, len(f.w))
	linalg.Gemm(blas.Trans, blas.NoTrans, f.sigma*f.sigma, f.g, f.x, 0, f.byProcess(step))
	floats.Sub(step, f.w)
	rhs := slices.Clone(step)
	f.solve(step)
	return step, math.Sqrt(max(floats.Dot(rhs, step)/(f.sigma*f.sigma), 0))
}

// mode fits at σ, from the weights of another σ or from 0: Newton's method, with halved steps where
// Ψ would fall. Its factor is the factor of B at the mode.
func (r *regression) mode(ctx context.Context, sigma float64, start []float64) (*weights, error) {
	f := r.at(sigma, start)
	zero := make([]float64, len(f.w))
	if !(f.evaluate(f.w) >= f.evaluate(zero)) {
		copy(f.w, zero)
	}
	f.psi = f.evaluate(f.w)
	for last := math.Inf(1); ; f.iterations++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := f.curvature(); err != nil {
			return nil, err
		}
		step, length := f.newton()
		// Near the mode each step squares the length. When it does not, the length is rounding
		// error.
		if length <= 1e-11 || length <= 1e-6 && length > last/2 || f.iterations == 200 {
			if !(length <= 1e-5) {
				return nil, fmt.Errorf("%w: the weights at amplitude %.6g, after %d steps of Newton's method",
					approx.ErrNotConverged, sigma, f.iterations)
			}
			f.value = f.psi - linalg.LogDet(f.factor)
			return f, nil
		}
		last = length
		next, psi := make([]float64, len(f.w)), math.Inf(-1)
		for range 60 {
			floats.AddTo(next, f.w, step)
			// This near to the mode, differences of Ψ are rounding error.
			if psi = f.evaluate(next); psi >= f.psi || length < 1e-3 {
				break
			}
			floats.Scale(0.5, step)
		}
		f.w, f.psi = next, psi
	}
}

// slope sets the gradient, and inverts B. With A = B/σ² the posterior's precision, and at the mode
// dŵ/d log σ = 2B⁻¹ŵ,
//
//	dL/d log σ = |ŵ|²/σ² - (P - tr B⁻¹) + Σ_ic s_ic [2X̃B⁻¹ŵ]_ic,   s_ic = -½ tr(Σ_i ∂W_i/∂f_ic)
//
// where Σ_i is the covariance of the latent values of case i.
func (f *weights) slope() {
	direction := slices.Clone(f.w)
	f.solve(direction)
	f.invert()
	trace := 0.0
	for i := range f.w {
		trace += f.b.Data[i*f.b.Stride+i]
	}
	f.gradient = floats.Dot(f.w, f.w)/(f.sigma*f.sigma) - (float64(len(f.w)) - trace)
	change := f.latent(2, f.x, direction) // df/d log σ
	if f.classes == 2 {
		f.covariances(f.x, func(_, _ int, variance []float64) {
			for i, v := range variance {
				f.gradient += v * f.d3[i] / 2 * change.Data[i]
			}
		})
		return
	}
	// tr(Σ ∂W/∂f_c) = π_c (q_c - π·q) with q = diag Σ - 2Σπ
	q := linalg.NewGeneral(f.x.Rows, f.processes)
	f.covariances(f.x, func(c, d int, covariance []float64) {
		for i, v := range covariance {
			pi, q := row(f.pi, i), row(q, i)
			q[c] -= 2 * v * pi[d]
			if c == d {
				q[c] += v
			} else {
				q[d] -= 2 * v * pi[c]
			}
		}
	})
	for i := range f.x.Rows {
		pi, q, change := row(f.pi, i), row(q, i), row(change, i)
		mean := floats.Dot(pi, q)
		for c, v := range pi {
			f.gradient -= f.weight[i] * v * (q[c] - mean) / 2 * change[c]
		}
	}
}

// covariances visits, for every pair of processes c ≤ d, the covariance of their latent values at
// every row of z: σ² z̃ᵀ(B⁻¹)_cd z̃.
func (f *weights) covariances(z blas64.General, visit func(c, d int, covariance []float64)) {
	columns, p := f.x.Cols, len(f.w)
	product, sum := linalg.NewGeneral(z.Rows, columns), make([]float64, z.Rows)
	full := linalg.NewGeneral(columns, columns)
	for c := range f.processes {
		for d := c; d < f.processes; d++ {
			from := f.b.Data[c*columns*p+d*columns:]
			for i := range columns {
				copy(row(full, i), from[i*p:i*p+columns])
			}
			if c == d {
				linalg.Reflect(blas.Lower, full, full)
			}
			linalg.Gemm(blas.NoTrans, blas.NoTrans, f.sigma*f.sigma, z, full, 0, product)
			for i := range sum {
				sum[i] = floats.Dot(row(product, i), row(z, i))
			}
			visit(c, d, sum)
		}
	}
}

// tune finds the zero of dL/d log σ. From the start of the amplitude it goes uphill in steps of a
// factor e, until the derivative changes sign or a bound is met. Then it narrows the bracket by the
// secant through its ends, or by its middle.
func (r *regression) tune(ctx context.Context, spec param.Spec) (*weights, error) {
	evaluated := 0
	var last []float64
	at := func(theta float64) (*weights, error) {
		f, err := r.mode(ctx, spec.Map.Natural(theta), last)
		if err != nil {
			return nil, err
		}
		evaluated++
		last, f.evaluated = f.w, evaluated
		if spec.Fixed {
			f.invert() // for predictions
		} else {
			f.slope()
		}
		return f, nil
	}
	flat := func(f *weights) bool { return math.Abs(f.gradient) <= 1e-6*max(1, math.Abs(f.value)) }
	lo, hi := spec.ThetaBounds()
	a := spec.Map.Theta(spec.Init)
	f, err := at(a)
	if err != nil || spec.Fixed || flat(f) {
		return f, err
	}
	b, ga, gb := a, f.gradient, f.gradient
	for gb*ga > 0 {
		a, ga = b, gb
		if b = min(max(a+math.Copysign(1, ga), lo), hi); b == a {
			f.warnings = []approx.Warning{cause.AtBound.New("logistic_regression: amplitude ended at its bound %.6g",
				f.sigma)}
			return f, nil
		}
		if f, err = at(b); err != nil || flat(f) {
			return f, err
		}
		gb = f.gradient
	}
	for i := 0; ; i++ {
		middle := a - ga*(b-a)/(gb-ga)
		if i%3 == 2 || !(middle > min(a, b) && middle < max(a, b)) {
			middle = (a + b) / 2
		}
		m, err := at(middle)
		if err != nil || flat(m) || i == 60 {
			return m, err
		}
		if m.gradient*ga > 0 {
			a, ga = middle, m.gradient
		} else {
			b, gb = middle, m.gradient
		}
	}
}

// PredictProba implements objective.Fitted.
func (f *weights) PredictProba(dst *mat.Dense, z *kernel.Inputs) {
	if checkNew(dst, z, f.dim, f.classes); f.averaging == AtMode {
		f.plugIn(dst, z)
		return
	}
	f.average(dst, z, 0)
}

// plugIn predicts with the latent values of the mode.
func (f *weights) plugIn(dst *mat.Dense, z *kernel.Inputs) {
	g := make([]float64, f.classes)
	blocks(dst, z, func(dst *mat.Dense, z *kernel.Inputs) {
		rows := extended(z, f.columns)
		if f.narrow != nil {
			rows, _ = f.narrow.of(rows)
		}
		latent := f.latent(1, rows, f.w)
		for i := range z.N() {
			if f.classes > 2 {
				likelihood.Softmax{}.Probabilities(dst.RawRowView(i), g, row(latent, i), 0)
				continue
			}
			for c := range 2 {
				logp, _, _, _ := likelihood.Logit{}.Derivs(float64(2*c-1), latent.Data[i])
				dst.Set(i, c, math.Exp(logp))
			}
		}
	})
}

// average averages over the latent Gaussian. points is the number of quadrature points for several
// classes; 0: the error of the average decides.
func (f *weights) average(dst *mat.Dense, z *kernel.Inputs, points int) {
	blocks(dst, z, func(dst *mat.Dense, z *kernel.Inputs) {
		rows, rest := extended(z, f.columns), make([]float64, z.N())
		if f.narrow != nil {
			rows, rest = f.narrow.of(rows)
			floats.Scale(f.sigma*f.sigma, rest)
		}
		mean := f.latent(1, rows, f.w)
		if f.classes == 2 {
			f.covariances(rows, func(_, _ int, variance []float64) {
				for i, v := range variance {
					for c := range 2 {
						logp, _ := likelihood.Logit{}.Moments(float64(2*c-1), mean.Data[i], v+rest[i])
						dst.Set(i, c, math.Exp(logp))
					}
				}
			})
			return
		}
		all := make([]*mat.SymDense, z.N())
		for i := range all {
			all[i] = mat.NewSymDense(f.classes, nil)
		}
		f.covariances(rows, func(c, d int, covariance []float64) {
			for i, v := range covariance {
				if c == d {
					v += rest[i]
				}
				all[i].SetSym(c, d, v)
			}
		})
		for i, s := range all {
			f.deviation.Add(likelihood.Softmax{}.Average(dst.RawRowView(i), row(mean, i), s, points))
		}
	})
}

// AverageError implements approx.Averager.
func (f *weights) AverageError() float64 { return f.deviation.AverageError() }

// State is the amplitude and the weights, one process after the other, and -1 for AtMode. For
// narrow inputs -r comes first, and the weights are u.
func (f *weights) State() approx.State { return f.averaging.marked(f.numbers()) }

// numbers are the numbers of State without the last -1.
func (f *weights) numbers() approx.State {
	s := append(approx.State{f.sigma}, f.w...)
	if f.narrow != nil {
		s = append(approx.State{-float64(f.x.Cols)}, s...)
	}
	return s
}

// spread returns the weights of the columns of X̃, with a row for each process.
func (f *weights) spread() blas64.General {
	if f.narrow == nil {
		return f.byProcess(f.w)
	}
	w := linalg.NewGeneral(f.processes, f.columns)
	linalg.Gemm(blas.NoTrans, blas.NoTrans, 1, f.byProcess(f.w), f.narrow.q, 0, w)
	return w
}

// deviations are the posterior standard deviations of the weights of process c: roots of the
// diagonal of σ²B⁻¹, where B⁻¹ = I - Qᵀ(I - B_u⁻¹)Q.
func (f *weights) deviations(c int) []float64 {
	out, at := make([]float64, f.columns), c*f.x.Cols
	own := func(i, j int) float64 { return f.b.Data[(at+min(i, j))*f.b.Stride+at+max(i, j)] }
	if f.narrow == nil {
		for j := range out {
			out[j] = f.sigma * math.Sqrt(own(j, j))
		}
		return out
	}
	q, less := f.narrow.q, linalg.NewGeneral(f.x.Cols, f.x.Cols)
	for i := range f.x.Cols {
		for j := range f.x.Cols {
			less.Data[i*less.Stride+j] = -own(i, j)
		}
		less.Data[i*less.Stride+i]++
	}
	product := linalg.NewGeneral(q.Rows, q.Cols)
	linalg.Gemm(blas.NoTrans, blas.NoTrans, 1, less, q, 0, product)
	for j := range out {
		out[j] = 1
	}
	for i := range q.Rows {
		for j, v := range row(q, i) {
			out[j] -= v * product.Data[i*product.Stride+j]
		}
	}
	for j, v := range out {
		out[j] = f.sigma * math.Sqrt(max(v, 0))
	}
	return out
}

// Summary has the amplitude, without class weights the log evidence, and the weights with their
// posterior standard deviations: roots of the diagonal of σ²B⁻¹, the inverse of the Hessian of -Ψ,
// the penalised log likelihood.
func (f *weights) Summary() Summary {
	s := Summary{
		Natural:     []float64{f.sigma, float64(f.averaging - Averaged)},
		LogEvidence: f.value, Iterations: f.evaluated, Converged: true,
		Warnings: f.warnings,
	}
	if f.weighted {
		s.LogEvidence = math.NaN()
	}
	w := f.spread()
	for c := range f.processes {
		s.Coefficients = append(s.Coefficients, row(w, c))
		s.StandardErrors = append(s.StandardErrors, f.deviations(c))
	}
	return s
}
