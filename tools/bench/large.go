//go:build linux

package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/prior"
	"github.com/gpc-tune/gpc-tune/experiments/data"
)

// sameLoss is the largest difference allowed between the log losses of two tuned fits, relative to
// max(1, log loss). They differ because the programs select other inducing inputs.
const sameLoss = 5e-4

// large compares tuned fits with inducing inputs, and measures the speed of the products of V.
func (b *bench) large() {
	b.say("large", tuningThreads)
	if b.noGPBoost != "" {
		b.say("tune, no GPBoost", b.noGPBoost)
	}
	program := b.build()
	var rows []string
	var cpu, wall []float64
	lost := stolen()
	for _, size := range []struct{ cases, points int }{{20000, 100}, {50000, 200}} {
		all := race(min(2, b.rounds), b.inducing(program, size.cases, size.points)...)
		for i, t := range all {
			label, a := "", t.first()
			if i == 0 {
				label = fmt.Sprintf("n = %d, m = %d", size.cases, size.points)
			} else {
				agree(t.name+", log loss", a.Out[:1], all[0].first().Out[:1], sameLoss)
				cpu = append(cpu, t.least(cpuOf)/all[0].least(cpuOf))
				wall = append(wall, t.least(wallOf)/all[0].least(wallOf))
			}
			rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s | %s | %.3g | %.0f MiB | %.2f | %.5f | %.4f | %.4f |",
				label, t.name, seconds(t.least(cpuOf)), seconds(t.least(wallOf)), seconds(t.median(wallOf)),
				t.least(cpuOf)/all[0].least(cpuOf), t.sorted(func(a answer) float64 { return a.Bytes })[0]/(1<<20),
				-a.Value, a.Out[0], a.Out[1], a.Out[2]))
		}
	}
	b.table("| | | CPU, least | wall, least | wall, median | ratio of CPU | memory | negative log evidence "+
		"| log loss | ln σ | ln l |", "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|", rows...)
	if b.noGPBoost == "" {
		b.say("large, how they agree", sameLoss, stolen()-lost)
		b.conclude("large", span(cpu), span(wall))
	}
	b.products(50000, 200)
}

// inducing are the contenders on one set of waves.
func (b *bench) inducing(program string, cases, points int) []contender {
	files := got(data.Waves(cases, 2))
	var paths []string
	for _, f := range files {
		paths = append(paths, filepath.Join(b.dir, f.Name))
		must(os.WriteFile(paths[len(paths)-1], f.Text, 0o600))
	}
	train, test := paths[0], paths[1]
	plan := filepath.Join(b.dir, fmt.Sprintf("waves_%d.yaml", cases))
	must(os.WriteFile(plan, fmt.Appendf(nil, `
version: 1
name: fit
seed: 1
data: {train: %q}
model:
  kernel: {se: {amplitude: {init: 1}, length_scale: {init: 1}}}
  likelihood: logit
  inference: {laplace: {inducing: %d}}
tune: {method: bfgs, restarts: 1}
`, train, points), 0o600))
	contenders := []contender{{"`gpc-tune fit`", func() answer {
		a := b.process(program, plan)
		a.Out = append([]float64{b.loss(program, test)}, a.Out...)
		return a
	}}}
	if b.noGPBoost == "" {
		s := newSet(fmt.Sprintf("waves_%d", cases), got(data.Load(data.Spec{Train: train, Test: test}, ".", 1)),
			[2]float64{})
		python := b.ways[1]
		b.hand(python, s)
		labels := make([]float64, len(s.labels))
		for i, l := range s.labels {
			labels[i] = float64(l)
		}
		answers := b.write(s.name+"_answers", labels)
		contenders = append(contenders, contender{"GPBoost", func() answer {
			return python.do("fitc_gpboost set=%s points=%d answers=%s workers=%d threads=%[4]d", s.name, points,
				answers, tuningThreads)
		}})
	}
	return contenders
}

// loss is the log loss of the model file on test cases, nats a case.
func (b *bench) loss(program, test string) float64 {
	said, err := exec.Command(program, "predict", filepath.Join(b.dir, "model.json"), test, "-o",
		filepath.Join(b.dir, "predictions.csv")).CombinedOutput()
	for line := range strings.Lines(string(said)) {
		if words := strings.Fields(line); err == nil && len(words) > 1 && words[0] == "log_loss" {
			return got(strconv.ParseFloat(words[1], 64))
		}
	}
	must(fmt.Errorf("no log_loss of gpc-tune predict: %w: %s", err, said))
	return 0
}

// products measures what takes O(n m²) of one evaluation, on one thread.
func (b *bench) products(n, m int) {
	rng := rand.New(rand.NewPCG(1, 1))
	cov := prior.Cov{K: mat.NewSymDense(m, nil), Cross: mat.NewDense(m, n, nil), Diag: make([]float64, n)}
	for k := range m {
		cov.K.SetSym(k, k, 1)
	}
	raw, tau, gamma := cov.Cross.RawMatrix().Data, make([]float64, n), make([]float64, n)
	for i := range raw {
		raw[i] = rng.NormFloat64() / math.Sqrt(float64(2*m))
	}
	for i := range tau {
		cov.Diag[i], tau[i], gamma[i] = 2, rng.Float64(), rng.NormFloat64()
	}
	cov.Scratch = true // V is K_zx again, as U = I
	form := func() prior.Prior { return got(prior.New(nil, cov, n, 1, false, nil)) }
	sites := form()
	fixed, other := prior.Adjoint{C: 1}, prior.Adjoint{C: 1, Gamma: gamma}
	adjoint := prior.Cov{K: mat.NewSymDense(m, nil), Diag: make([]float64, n),
		Noise: make([]float64, n), Part: func(*mat.Dense, int) {}}
	var rows []string
	for _, o := range []struct {
		name  string
		times float64 // n m² operations
		do    func()
	}{
		{"V = U⁻ᵀ K_zx", 1, func() { form() }},
		{"M = I + V E Vᵀ", 1, func() { must(sites.Factorise(tau)) }},
		{"Σ_ii of all cases", 1, func() { must(sites.Factorise(tau)); sites.Variances() }},
		{"the adjoint at a fixed point", 5, func() { sites.Pull(&adjoint, fixed.Constant) }},
		{"the adjoint of other scalars", 10, func() { sites.Pull(&adjoint, other.Constant) }},
	} {
		work := o.times * float64(n) * float64(m) * float64(m)
		t := race(b.rounds, contender{o.name, func() answer {
			return besidePeak(func() answer { return clocked(func() answer { o.do(); return answer{} }) })
		}})[0]
		share := t.sorted(func(a answer) float64 { return 100 * work / a.CPU / a.Peak })
		rows = append(rows, fmt.Sprintf("| %s | %.0f n m² | %s | %.1f | %.0f %%, %.0f %% |", o.name, o.times,
			seconds(t.least(cpuOf)), work/t.least(cpuOf)/1e9, middle(share), share[len(share)-1]))
	}
	b.say("large, products", n, m)
	b.table("| | operations | CPU, least | GFLOP/s, most | share of the peak: median, most |",
		"|---|---:|---:|---:|---:|", rows...)
}
