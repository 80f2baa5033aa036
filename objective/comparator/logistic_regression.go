package comparator

import (
	"context"
	"errors"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/interrupt"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/objective/param"
)

// LogisticRegression is logistic regression, and multiple logistic regression for more than two
// classes, in weight space: f_c = w_cᵀx̃ with x̃ the inputs and, with the bias, a 1, and all
// weights independently N(0, σ²). Laplace's method approximates the posterior of the weights, P in
// number, GPML 3.4 and 3.5 with X̃ in place of K: with Ψ = log p(y|w) - |w|²/2σ² at its maximum and
// H = -∇∇ log p(y|w), the log evidence is, in nats,
//
//	L = Ψ - ½ log|B|,  B = I + σ²H
//
// which σ maximises, if it is free. Predictions are averages over that Gaussian. It is the same
// classifier as Laplace's method with the kernel σ²(1 + x·x'), at a cost of nP² + P³ instead of
// Cn³.
type LogisticRegression struct {
	kernelFree
	Amplitude param.Setting `yaml:"amplitude"` // σ; free from 1
	Bias      *bool         `yaml:"bias"`      // nil: true
}

// Check looks at the amplitude.
func (l LogisticRegression) Check() error {
	if l.Amplitude.Prior != nil {
		return errors.New("logistic_regression: amplitude takes no prior: it maximises the evidence")
	}
	return l.Amplitude.Check("amplitude", param.Log)
}

// With is the same: its kernel is its own.
func (l LogisticRegression) With(kernel.Kernel) Comparator { return l }

// Params lists the amplitude.
func (l LogisticRegression) Params(int, []string) []param.Spec {
	return []param.Spec{l.Amplitude.Spec("amplitude", param.Log, 1)}
}

func (l LogisticRegression) columns(dim int) int {
	if l.Bias == nil || *l.Bias {
		return dim + 1
	}
	return dim
}

// Memory is B at two amplitudes, each in place of which its factor and inverse stand, the inputs
// twice, and what is kept of every case and class.
func (l LogisticRegression) Memory(s approx.Size, dim int) int64 {
	n, columns, processes := int64(s.Cases), int64(l.columns(dim)), int64(machines(s.Classes))
	p := columns * processes
	return 8 * (2*p*p + 3*n*columns + columns*columns + (4+processes)*n*processes + columns*int64(s.New))
}

// Fit finds the amplitude and the weights.
func (l LogisticRegression) Fit(ctx context.Context, d objective.Data, _ uint64) (objective.Fitted, error) {
	return interrupt.Do(ctx, func() (objective.Fitted, error) {
		t, err := l.on(ctx, d)
		if err != nil {
			return nil, err
		}
		fit, err := t.tune(ctx, l.Params(d.X.Dim(), nil)[0])
		if err != nil {
			return nil, fmt.Errorf("logistic_regression: %w", err)
		}
		fit.invert() // for predictions
		return fit, nil
	})
}

// Restore takes the amplitude and the weights from the state.
func (l LogisticRegression) Restore(d objective.Data, s approx.State) (Fitted, error) {
	t, err := l.on(context.Background(), d)
	if err != nil {
		return nil, err
	}
	parts, err := cut(s, 1, t.x.Cols*t.processes)
	if err != nil {
		return nil, err
	}
	f := t.at(parts[0][0], parts[1])
	if !(f.sigma > 0) {
		return nil, fmt.Errorf("amplitude = %v must be greater than 0", f.sigma)
	}
	f.psi = f.evaluate(f.w)
	if err := f.curvature(); err != nil {
		return nil, err
	}
	f.value = f.psi - linalg.LogDet(f.factor)
	f.invert()
	return f, nil
}

// on is the data as the regression has them.
func (l LogisticRegression) on(ctx context.Context, d objective.Data) (*regression, error) {
	index, _, err := counted(d)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	t := &regression{classes: d.Y.Classes, processes: machines(d.Y.Classes), bias: l.Bias == nil || *l.Bias, index: index}
	t.x = t.rows(d.X)
	t.y = against(index, d.Y.Classes, 0) // of two classes
	return t, nil
}

// regression is the data of a logistic regression.
type regression struct {
	classes, processes int // C, and 1 for C = 2 or C
	bias               bool
	x                  blas64.General // X̃, n×D
	index              []int
	y                  []float64 // ±1, for two classes
}

// rows is X̃.
func (t *regression) rows(x *kernel.Inputs) blas64.General {
	n, d := x.N(), x.Dim()
	columns := d
	if t.bias {
		columns++
	}
	a := linalg.NewGeneral(n, columns)
	for i := range n {
		row := a.Data[i*a.Stride : i*a.Stride+columns]
		row[columns-1] = 1
		copy(row, x.X.RawRowView(i))
	}
	return a
}

// weights is a regression at the mode of one σ.
type weights struct {
	*regression
	sigma      float64
	w          []float64      // P = D·processes, a process after the other
	pi, g      blas64.General // n×processes: π, or for two classes W, and ∇ log p
	d3         []float64      // of two classes: the third derivative of log p
	psi        float64
	factor     blas64.Triangular // of B; once inverted is set, that holds B⁻¹ instead
	inverse    blas64.Symmetric
	inverted   bool
	value      float64 // L
	gradient   float64 // dL/d log σ
	step       float64 // length of the last Newton step, in units of the posterior
	iterations int
	evaluated  int // values of σ
	warnings   []string
	deviation  approx.AverageDeviation
}

// evaluate sets f = X̃w and what follows from it, and returns Ψ.
func (f *weights) evaluate(w []float64) float64 {
	n, columns := f.x.Rows, f.x.Cols
	latent := linalg.NewGeneral(n, f.processes)
	linalg.Gemm(blas.NoTrans, blas.Trans, 1, f.x, blas64.General{Rows: f.processes, Cols: columns, Stride: columns, Data: w}, 0, latent)
	psi := -floats.Dot(w, w) / (2 * f.sigma * f.sigma)
	for i := range n {
		row := func(a blas64.General) []float64 { return a.Data[i*a.Stride : i*a.Stride+f.processes] }
		if f.classes > 2 {
			psi += likelihood.Softmax{}.Probabilities(row(f.pi), row(f.g), row(latent), f.index[i])
			continue
		}
		logp, d1, d2, d3 := likelihood.Logit{}.Derivs(f.y[i], latent.Data[i])
		f.pi.Data[i], f.g.Data[i], f.d3[i] = -d2, d1, d3
		psi += logp
	}
	return psi
}

// curvature factorises B = I + σ²H. Of H the block of processes c and d is X̃ᵀ diag(W_cd) X̃.
func (f *weights) curvature() error {
	n, columns, p := f.x.Rows, f.x.Cols, len(f.w)
	b, w := f.inverse, make([]float64, n)
	square := f.sigma * f.sigma
	for c := range f.processes {
		for d := c; d < f.processes; d++ {
			for i := range w {
				w[i] = f.pi.Data[i*f.pi.Stride+c]
				if f.classes > 2 {
					w[i] *= delta(c, d) - f.pi.Data[i*f.pi.Stride+d]
				}
			}
			block := blas64.Symmetric{Uplo: blas.Upper, N: columns, Stride: p, Data: b.Data[c*columns*p+d*columns:]}
			linalg.SyrkDiag(blas.Trans, square, f.x, w, 0, block)
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
	if f.factor, ok = linalg.Cholesky(b); !ok {
		return fmt.Errorf("%w: I + σ²H at amplitude %.6g; give amplitude lower bounds, or standardise the inputs", approx.ErrNotPositiveDefinite, f.sigma)
	}
	f.inverted = false
	return nil
}

func delta(c, d int) float64 {
	if c == d {
		return 1
	}
	return 0
}

// newton returns Newton's step B⁻¹(σ²X̃ᵀg - w) and its squared length under the posterior's
// precision B/σ².
func (f *weights) newton() (step []float64, squared float64) {
	columns := f.x.Cols
	step = make([]float64, len(f.w))
	linalg.Gemm(blas.Trans, blas.NoTrans, f.sigma*f.sigma, f.g, f.x, 0, blas64.General{Rows: f.processes, Cols: columns, Stride: columns, Data: step})
	floats.Sub(step, f.w)
	rhs := append([]float64(nil), step...)
	linalg.SolveTriVec(blas.Trans, f.factor, step)
	linalg.SolveTriVec(blas.NoTrans, f.factor, step)
	return step, floats.Dot(rhs, step) / (f.sigma * f.sigma)
}

// at has the weights w, or 0 where they are nil, and nothing that follows from them.
func (t *regression) at(sigma float64, w []float64) *weights {
	n, p := t.x.Rows, t.x.Cols*t.processes
	f := &weights{regression: t, sigma: sigma, w: make([]float64, p), pi: linalg.NewGeneral(n, t.processes), g: linalg.NewGeneral(n, t.processes),
		inverse: linalg.NewSym(p)}
	if t.classes == 2 {
		f.d3 = make([]float64, n)
	}
	copy(f.w, w)
	return f
}

// mode fits at σ, from the weights of another σ or from 0: Newton's method, with halved steps where
// Ψ would fall. Its last factor is that of the mode.
func (t *regression) mode(ctx context.Context, sigma float64, start []float64) (*weights, error) {
	f, p := t.at(sigma, start), t.x.Cols*t.processes
	f.psi = f.evaluate(f.w)
	if zero := make([]float64, p); start != nil && !(f.psi >= f.evaluate(zero)) {
		copy(f.w, zero)
	}
	f.psi = f.evaluate(f.w)
	last := math.Inf(1)
	for ; ; f.iterations++ {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := f.curvature(); err != nil {
			return nil, err
		}
		step, squared := f.newton()
		f.step = math.Sqrt(max(squared, 0))
		// Near the mode the length is squared each time; where it is no longer so, it is rounding.
		if f.step <= 1e-11 || f.step <= 1e-6 && f.step > last/2 || f.iterations == 200 {
			break
		}
		last = f.step
		next, psi := make([]float64, p), math.Inf(-1)
		for range 60 {
			floats.AddTo(next, f.w, step)
			if psi = f.evaluate(next); psi >= f.psi || f.step < 1e-3 { // so near, Ψ tells nothing
				break
			}
			floats.Scale(0.5, step)
		}
		f.w, f.psi = next, psi
	}
	if !(f.step <= 1e-5) {
		return nil, fmt.Errorf("%w: the weights at amplitude %.6g, after %d steps of Newton's method", approx.ErrNotConverged, sigma, f.iterations)
	}
	f.value = f.psi - linalg.LogDet(f.factor)
	return f, nil
}

// invert makes B⁻¹ of its factor.
func (f *weights) invert() {
	if !f.inverted {
		f.inverse, f.inverted = linalg.InverseCholesky(f.factor), true
	}
}

// slope sets the gradient. With A = B/σ² the posterior's precision, and at the mode dŵ/d log σ =
// 2B⁻¹ŵ,
//
//	dL/d log σ = |ŵ|²/σ² - (P - tr B⁻¹) + Σ_ic s_ic [2X̃B⁻¹ŵ]_ic,   s_ic = -½ tr(Σ_i ∂W_i/∂f_ic)
//
// where Σ_i is the covariance of the latent values of case i.
func (f *weights) slope() {
	square := f.sigma * f.sigma
	direction := append([]float64(nil), f.w...)
	linalg.SolveTriVec(blas.Trans, f.factor, direction)
	linalg.SolveTriVec(blas.NoTrans, f.factor, direction)
	f.invert()
	n, columns, p := f.x.Rows, f.x.Cols, len(f.w)
	trace := 0.0
	for i := range p {
		trace += f.inverse.Data[i*f.inverse.Stride+i]
	}
	f.gradient = floats.Dot(f.w, f.w)/square - (float64(p) - trace)
	change := linalg.NewGeneral(n, f.processes) // df/d log σ
	linalg.Gemm(blas.NoTrans, blas.Trans, 2, f.x, blas64.General{Rows: f.processes, Cols: columns, Stride: columns, Data: direction}, 0, change)
	if f.classes == 2 {
		f.covariances(f.x, func(_, _ int, variance []float64) {
			for i, v := range variance {
				f.gradient += v * f.d3[i] / 2 * change.Data[i]
			}
		})
		return
	}
	// tr(Σ ∂W/∂f_c) = π_c (q_c - π·q) with q = diag Σ - 2Σπ
	q := linalg.NewGeneral(n, f.processes)
	f.covariances(f.x, func(c, d int, covariance []float64) {
		for i, v := range covariance {
			pi, q := f.pi.Data[i*f.pi.Stride:], q.Data[i*q.Stride:]
			q[c] -= 2 * v * pi[d]
			if c == d {
				q[c] += v
			} else {
				q[d] -= 2 * v * pi[c]
			}
		}
	})
	for i := range n {
		pi, q := f.pi.Data[i*f.pi.Stride:i*f.pi.Stride+f.processes], q.Data[i*q.Stride:i*q.Stride+f.processes]
		mean := floats.Dot(pi, q)
		for c, v := range pi {
			f.gradient -= v * (q[c] - mean) / 2 * change.Data[i*change.Stride+c]
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
			from := f.inverse.Data[c*columns*p+d*columns:]
			for i := range columns {
				copy(full.Data[i*columns:(i+1)*columns], from[i*p:i*p+columns])
				if c == d {
					for j := range i {
						full.Data[i*columns+j] = full.Data[j*columns+i]
					}
				}
			}
			linalg.Gemm(blas.NoTrans, blas.NoTrans, f.sigma*f.sigma, z, full, 0, product)
			for i := range sum {
				sum[i] = floats.Dot(product.Data[i*columns:(i+1)*columns], z.Data[i*z.Stride:i*z.Stride+columns])
			}
			visit(c, d, sum)
		}
	}
}

// tune follows dL/d log σ uphill from where the amplitude starts, in steps of a factor e, until it
// changes sign or meets a bound, and then closes in on its zero, by the secant through the ends of
// the bracket or its middle.
func (t *regression) tune(ctx context.Context, spec param.Spec) (*weights, error) {
	evaluated := 0
	var last []float64
	at := func(theta float64) (*weights, error) {
		f, err := t.mode(ctx, spec.Map.Natural(theta), last)
		if err != nil {
			return nil, err
		}
		evaluated++
		last = f.w
		f.evaluated = evaluated
		if !spec.Fixed {
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
			f.warnings = append(f.warnings, fmt.Sprintf("logistic_regression: amplitude ended at its bound %.6g", f.sigma))
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

// PredictProba averages over the latent Gaussian.
func (f *weights) PredictProba(dst *mat.Dense, z *kernel.Inputs) {
	checkShape(dst, z, f.classes)
	columns, dim := f.x.Cols, f.x.Cols
	if f.bias {
		dim--
	}
	checkNew(z, dim)
	for from := 0; from < z.N(); from += block {
		to := min(from+block, z.N())
		rows := f.rows(&kernel.Inputs{X: z.X.Slice(from, to, 0, z.Dim()).(*mat.Dense)})
		mean := mat.NewDense(to-from, f.processes, nil)
		linalg.Gemm(blas.NoTrans, blas.Trans, 1, rows, blas64.General{Rows: f.processes, Cols: columns, Stride: columns, Data: f.w}, 0, mean.RawMatrix())
		if f.classes == 2 {
			f.covariances(rows, func(_, _ int, variance []float64) {
				for i, v := range variance {
					row := dst.RawRowView(from + i)
					for c := range row {
						logp, _, _ := likelihood.Logit{}.LogZ(float64(2*c-1), mean.At(i, 0), v)
						row[c] = exp(logp)
					}
				}
			})
			continue
		}
		all := make([]*mat.SymDense, to-from)
		for i := range all {
			all[i] = mat.NewSymDense(f.classes, nil)
		}
		f.covariances(rows, func(c, d int, covariance []float64) {
			for i, v := range covariance {
				all[i].SetSym(c, d, v)
			}
		})
		for i, s := range all {
			f.deviation.Add(likelihood.Softmax{}.Average(dst.RawRowView(from+i), mean.RawRowView(i), s, 0))
		}
	}
}

// AverageError implements approx.Averager.
func (f *weights) AverageError() float64 { return f.deviation.AverageError() }

// State is the amplitude and the weights, a process after the other.
func (f *weights) State() approx.State { return append(approx.State{f.sigma}, f.w...) }

// Summary has the amplitude and the log evidence.
func (f *weights) Summary() Summary {
	return Summary{Natural: []float64{f.sigma}, LogEvidence: f.value, Iterations: f.evaluated, Converged: true, Warnings: f.warnings}
}
