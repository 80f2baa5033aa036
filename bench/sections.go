//go:build linux

package main

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"

	"golang.org/x/sys/unix"
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/objective/param"
)

// level3 compares the operations that nearly all time goes to.
func (b *bench) level3() error {
	b.printf("## Matrix operations\n\nGFLOP/s on one core, in the median and in the fastest turn by processor time. The core's speed changes from moment to moment with what shares it and its caches, so its peak is " +
		"measured in every turn, just before and just after four runs of the operation; in brackets are the median over the turns of the operation's share of it, and the share in the fastest turn. Ratios too are of times in one turn, and their median. Counted as usual: 2n³ for gemm, " +
		"n³ for syrk (one triangle) and for trsm (n right-hand sides), n³/3 for potrf, 2n³/3 for potri (the inverse from the factor). Traces and norms agree to 1e-9.\n\n")
	var rows []string
	for _, n := range []int{767, 2000} {
		all, err := b.matrices(n)
		if err != nil {
			return err
		}
		rows = append(rows, all...)
	}
	b.table(fmt.Sprintf("| | n | gpc-tune | OpenBLAS %s | OpenBLAS %s | gpc-tune / %[2]s |", b.ways[0].name, b.ways[1].name), "|---|---:|---:|---:|---:|---:|", rows...)
	return nil
}

func (b *bench) matrices(n int) ([]string, error) {
	rng := rand.New(rand.NewPCG(1, uint64(n)))
	general := func() blas64.General {
		g := linalg.NewGeneral(n, n)
		for i := range g.Data {
			g.Data[i] = rng.NormFloat64()
		}
		return g
	}
	a, x, c := general(), general(), linalg.NewGeneral(n, n)
	definite := linalg.NewSym(n)
	linalg.Syrk(blas.NoTrans, 1, a, 0, definite)
	for i := range n {
		definite.Data[i*n+i] += float64(n)
		for j := range i {
			definite.Data[i*n+j] = definite.Data[j*n+i]
		}
	}
	path, err := b.write("matrices", a.Data, x.Data, definite.Data)
	if err != nil {
		return nil, err
	}
	for _, p := range b.ways {
		if _, err := p.do("matrices path=%s n=%d", path, n); err != nil {
			return nil, err
		}
	}
	symmetric := blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: n, Data: c.Data}
	factor := linalg.NewGeneral(n, n)
	copy(factor.Data, definite.Data)
	u, ok := linalg.Cholesky(blas64.Symmetric{Uplo: blas.Upper, N: n, Stride: n, Data: factor.Data})
	if !ok {
		return nil, fmt.Errorf("a matrix that is positive definite did not factorise")
	}
	inverse := u
	inverse.Data = c.Data
	N := float64(n)
	const times = 4 // in a turn, so that what the turn of another left in the caches shows less
	rounds := 3 * b.rounds
	var rows []string
	for _, op := range []struct {
		name     string
		work     float64
		triangle bool
		prepare  []float64
		do       func()
	}{
		{"gemm", 2 * N * N * N, false, nil, func() { linalg.Gemm(blas.NoTrans, blas.NoTrans, 1, a, x, 0, c) }},
		{"syrk", N * N * N, true, nil, func() { linalg.Syrk(blas.NoTrans, 1, a, 0, symmetric) }},
		{"potrf", N * N * N / 3, true, definite.Data, func() { linalg.Cholesky(symmetric) }},
		{"potri", 2 * N * N * N / 3, true, factor.Data, func() { linalg.InverseCholesky(inverse) }},
		{"trsm", N * N * N, false, a.Data, func() { linalg.SolveTri(blas.Trans, u, c) }},
	} {
		own := contender{"gpc-tune", func() (answer, error) {
			a, err := besidePeak(func() (answer, error) {
				spent := 0.0
				for range times {
					copy(c.Data, op.prepare)
					cpu := clock(unix.CLOCK_PROCESS_CPUTIME_ID)
					op.do()
					spent += clock(unix.CLOCK_PROCESS_CPUTIME_ID) - cpu
				}
				return answer{CPU: spent / float64(times), Out: []float64{0, 0}}, nil
			})
			for i := range n {
				a.Out[0] += c.Data[i*n+i]
				from := 0
				if op.triangle {
					from = i
				}
				for _, v := range c.Data[i*n+from : (i+1)*n] {
					a.Out[1] += v * v
				}
			}
			a.Out[1] = math.Sqrt(a.Out[1])
			return a, err
		}}
		peer := func(p *peer) contender {
			return contender{p.name, func() (answer, error) {
				return besidePeak(func() (answer, error) { return p.do("level3 op=%s times=%d", op.name, times) })
			}}
		}
		slow, err := race(2, peer(b.ways[0])) // of a speed that leaves no doubt
		if err != nil {
			return nil, err
		}
		all, err := race(rounds, own, peer(b.ways[1]))
		if err != nil {
			return nil, err
		}
		row := fmt.Sprintf("| %s | %d |", op.name, n)
		for _, t := range []timing{all[0], slow[0], all[1]} {
			if _, err := agree(op.name, t.first().Out, all[0].first().Out, 1e-9); err != nil {
				return nil, err
			}
			row += fmt.Sprintf(" %.1f, %.1f", op.work/t.median(cpuOf)/1e9, op.work/t.least(cpuOf)/1e9)
			if b.peak > 0 {
				share := func(a answer) float64 { return 100 * op.work / a.CPU / a.Peak }
				fastest := slices.MinFunc(t.turns, func(a, b answer) int { return cmp.Compare(a.CPU, b.CPU) })
				row += fmt.Sprintf(" (%.0f, %.0f %%)", t.median(share), share(fastest))
			}
			row += " |"
		}
		rows = append(rows, fmt.Sprintf("%s %.2f |", row, all[0].ratio(all[1])))
	}
	return rows, nil
}

// besidePeak lets a contender have its turn between two measurements of the peak.
func besidePeak(turn func() (answer, error)) (answer, error) {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := peakNow()
	a, err := turn()
	a.Peak = (before + peakNow()) / 2
	return a, err
}

// logit is Laplace's method with the logistic likelihood, the model of scikit-learn's classifier.
func logit(ard bool) objective.Model {
	return objective.Model{Kernels: []kernel.Kernel{kernel.SE{ARD: ard}}, Likelihood: likelihood.Logit{}, Inference: approx.Laplace{}}
}

// sklearnTheta is ln σ², ln l … for ln σ, ln l …
func sklearnTheta(free []float64) string {
	theta := slices.Clone(free)
	theta[0] *= 2
	return list(theta)
}

// gradients makes contenders of one evaluation of the log evidence and its gradient, from a cold start.
func (b *bench) gradients(s set, ard bool, free []float64) ([]contender, error) {
	o, err := objective.New(logit(ard), objective.LogEvidence{}, s.data())
	if err != nil {
		return nil, err
	}
	run := objective.NewRun(context.Background(), o)
	evaluate := func(r *objective.Run) (answer, error) {
		a := answer{Out: make([]float64, len(free))}
		if err := r.Gradient(a.Out, free); err != nil {
			return a, err
		}
		p, err := r.At(free)
		if err == nil {
			a.Value = p.Value()
		}
		return a, err
	}
	contenders := []contender{
		{"gpc-tune", here(func() (answer, error) { run.Reset(); return evaluate(run) })},
		{"gpc-tune, first evaluation", func() (answer, error) {
			o, err := objective.New(logit(ard), objective.LogEvidence{}, s.data())
			if err != nil {
				return answer{}, err
			}
			return here(func() (answer, error) { return evaluate(objective.NewRun(context.Background(), o)) })()
		}},
	}
	for _, p := range b.ways {
		contenders = append(contenders, contender{"scikit-learn, " + p.name, func() (answer, error) {
			a, err := p.do("gradient set=%s theta=%s ard=%t", s.name, sklearnTheta(free), ard)
			if err == nil {
				a.Out[0] *= 2
			}
			return a, err
		}})
	}
	return contenders, nil
}

// compare checks values and vectors of a race against the first, and returns what to say of it.
func compare(all []timing, value, vector float64) (string, error) {
	first := all[0].first()
	var worstValue, worstVector float64
	for _, t := range all[1:] {
		a := t.first()
		d, err := agree(t.name+": log evidence", []float64{a.Value}, []float64{first.Value}, value)
		if err != nil {
			return "", err
		}
		worstValue = max(worstValue, d)
		if d, err = agree(t.name, a.Out, first.Out, vector); err != nil {
			return "", err
		}
		worstVector = max(worstVector, d)
	}
	return fmt.Sprintf("%.1e and %.1e (allowed: %.0e, %.0e)", worstValue, worstVector, value, vector), nil
}

func (b *bench) laplace() error {
	b.printf("## One evaluation: log evidence and gradient\n\nLaplace's method, logistic likelihood, squared exponential with one length scale, from a cold start. gpc-tune keeps the squared distances " +
		"between evaluations, as in tuning; “first evaluation” computes them too, as scikit-learn does each time.\n\n")
	for _, s := range b.sets {
		contenders, err := b.gradients(s, false, s.theta[:])
		if err != nil {
			return err
		}
		all, err := race(2*b.rounds, contenders...)
		if err != nil {
			return err
		}
		said, err := compare(all, 1e-8, 1e-4)
		if err != nil {
			return err
		}
		n, d := s.x.Dims()
		b.printf("%s, n = %d, %d inputs, ln σ = %.4g, ln l = %.4g; log evidence %.4f. Log evidence and gradient differ by at most %s, relative.\n\n", s.name, n, d, s.theta[0], s.theta[1], all[0].first().Value, said)
		b.times(all, none, "")
	}
	return nil
}

func (b *bench) ard() error {
	b.printf("## The same with a length scale for every input\n\n")
	s, ok := b.digits()
	if !ok {
		return nil
	}
	n, d := s.x.Dims()
	free := []float64{s.theta[0]}
	for k := range d {
		free = append(free, s.theta[1]+0.1*math.Sin(float64(k)))
	}
	contenders, err := b.gradients(s, true, free)
	if err != nil {
		return err
	}
	all, err := race(1, contenders...)
	if err != nil {
		return err
	}
	said, err := compare(all, 1e-8, 1e-4)
	if err != nil {
		return err
	}
	b.printf("%s, n = %d: %d derivatives. Memory is the growth of the resident set at its peak. Log evidence and gradient differ by at most %s, relative.\n\n", s.name, n, len(free), said)
	// memory counts from the first evaluation, which allocates it
	b.times(all, func(t timing) string {
		return fmt.Sprintf(" %.0f MiB |", slices.MaxFunc(t.turns, moreBytes).Bytes/(1<<20))
	}, " memory |")
	return nil
}

func moreBytes(a, b answer) int { return int(a.Bytes - b.Bytes) }

func (b *bench) tune() error {
	b.printf("## A whole tuned fit\n\nFrom ln σ = 0, ln l = ½ ln d to the maximum of the log evidence, within the same bounds. scikit-learn uses L-BFGS-B with scipy's tolerances, gpc-tune BFGS until the gradient is below 1e-6 of the value, or 3e-6 and what is left to gain 1e-9.\n\n")
	for _, s := range b.sets {
		o, err := objective.New(logit(false), objective.LogEvidence{}, s.data())
		if err != nil {
			return err
		}
		_, d := s.x.Dims()
		begin := []float64{0, math.Log(float64(d)) / 2}
		var lo, hi []float64
		for _, p := range o.Layout.FreeSpecs() {
			l, h := p.ThetaBounds()
			lo, hi = append(lo, l), append(hi, h)
		}
		contenders := []contender{{"gpc-tune", here(func() (answer, error) {
			o, err := objective.New(logit(false), objective.LogEvidence{}, s.data())
			if err != nil {
				return answer{}, err
			}
			best, err := objective.Optimize(context.Background(), o, begin, objective.Settings{})
			return answer{Value: best.Value, Out: best.Theta, Evaluations: best.Evaluations}, err
		})}}
		for _, p := range b.ways {
			contenders = append(contenders, contender{"scikit-learn, " + p.name, func() (answer, error) {
				a, err := p.do("tune set=%s theta=%s lo=%s hi=%s", s.name, sklearnTheta(begin), sklearnTheta(lo), sklearnTheta(hi))
				if err == nil {
					a.Out[0] /= 2
				}
				return a, err
			}})
		}
		all, err := race(max(1, b.rounds/2), contenders...)
		if err != nil {
			return err
		}
		said, err := compare(all, 1e-6, 1e-2)
		if err != nil {
			return err
		}
		b.printf("%s: log evidence %.6f at ln σ = %.4f, ln l = %.4f. Maxima and where they are differ by at most %s, relative.\n\n", s.name, all[0].first().Value, all[0].first().Out[0], all[0].first().Out[1], said)
		b.times(all, func(t timing) string { return fmt.Sprintf(" %d |", t.first().Evaluations) }, " evaluations |")
	}
	return nil
}

// tolerance is EP's default.
const tolerance = 1e-10

func (b *bench) sequentialEP() error {
	b.printf("## Sequential EP, one fit\n\nProbit likelihood, to a change of at most %.0e in every marginal, from a cold start, against GPML Algorithm 3.5 in numpy with BLAS: a symmetric rank-1 update of Σ and μ = Σν for every site, recomputed after every sweep.\n\n", tolerance)
	for _, s := range b.sets {
		o, err := objective.New(objective.Model{Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: likelihood.Probit{}, Inference: approx.EP{}}, objective.LogEvidence{}, s.data())
		if err != nil {
			return err
		}
		contenders := []contender{{"gpc-tune", here(func() (answer, error) {
			p, err := o.At(context.Background(), s.theta[:])
			if err != nil {
				return answer{}, err
			}
			return answer{Value: p.Value(), Evaluations: p.Diagnostics().Iterations}, nil
		})}}
		for _, p := range b.ways {
			contenders = append(contenders, contender{"numpy, " + p.name, func() (answer, error) {
				return p.do("ep_sequential set=%s theta=%s tolerance=%g", s.name, sklearnTheta(s.theta[:]), tolerance)
			}})
		}
		all, err := race(2, contenders...)
		if err != nil {
			return err
		}
		said, err := compare(all, 1e-8, 0)
		if err != nil {
			return err
		}
		b.printf("%s: log evidence %.6f, relative differences %s.\n\n", s.name, all[0].first().Value, strings.Split(said, " and")[0])
		b.times(all, func(t timing) string { return fmt.Sprintf(" %d |", t.first().Evaluations) }, " sweeps |")
	}
	return nil
}

func (b *bench) kernlab() error {
	const tolerance = 1e-8
	b.printf("## kernlab\n\n`gausspr` for classification finds the mode of Laplace's method with the logistic likelihood; it has no amplitude, no log evidence and no variances. So: a fit at amplitude 1 and p(y|E f) of the test cases, "+
		"both to a gradient norm of %.0e. gpc-tune's fit includes the log evidence.\n\n", tolerance)
	for _, s := range b.sets {
		o, err := objective.New(objective.Model{
			Kernels: []kernel.Kernel{kernel.SE{Amplitude: param.Setting{}}}, Likelihood: likelihood.Logit{}, Inference: approx.Laplace{},
		}, objective.LogEvidence{}, s.data())
		if err != nil {
			return err
		}
		m, _ := s.z.Dims()
		z := &kernel.Inputs{X: s.z}
		all, err := race(max(2, b.rounds/2),
			contender{"gpc-tune", here(func() (answer, error) {
				p, err := o.At(context.Background(), []float64{0, s.theta[1]})
				if err != nil {
					return answer{}, err
				}
				proba := mat.NewDense(m, 2, nil)
				p.PredictProba(proba, z, objective.MAP{})
				return answer{Out: mat.Col(nil, 1, proba)}, nil
			})},
			contender{"kernlab", func() (answer, error) {
				return b.r.do("gausspr set=%s sigma=%.17g tolerance=%g", s.name, math.Exp(-2*s.theta[1])/2, tolerance)
			}})
		if err != nil {
			return err
		}
		worst, err := agree("kernlab", all[1].first().Out, all[0].first().Out, 1e-5)
		if err != nil {
			return err
		}
		b.printf("%s, ln l = %.4g: probabilities differ by at most %.1e (allowed: 1e-5).\n\n", s.name, s.theta[1], worst)
		b.times(all, none, "")
	}
	return nil
}
