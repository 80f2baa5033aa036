package experiments

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/experiments/job"
	"github.com/gpc-tune/gpc-tune/experiments/journal"
	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/experiments/query"
	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/record"
)

// sampled runs a configuration tuned by MCMC and returns the samples of all chains and the final
// fit.
func sampled(t *testing.T, text string) (samples []record.Point, fit record.Fit) {
	t.Helper()
	dir := t.TempDir()
	p := plantest.Planned(t, text)
	if _, summary, err := run.Run(t.Context(), p, dir, run.Options{Warn: t.Logf}); err != nil || summary.Failed > 0 {
		t.Fatal(summary, err)
	}
	journal, err := journal.Open(dir, journal.Options{Plan: p.Manifest.Key})
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range journal.Lines() {
		if line.Fit != nil {
			fit = *line.Fit
		} else {
			samples = append(samples, line.Trial.Points...)
		}
	}
	return samples, fit
}

// Regression in which only a constant mean c with prior N(0, 1) is free: c is normal a posteriori,
// and a prediction given c has mean a + b c and variance v. The mixture over the samples has
// exactly their mean; it agrees with the integral over c within the Monte Carlo error.
func TestPredictionsAveragedOverAConstantMean(t *testing.T) {
	const n, m, noise = 8, 3, 0.5
	dir := t.TempDir()
	x, y := make([]float64, n+m), make([]float64, n+m)
	var train, test strings.Builder
	train.WriteString("x,y\n")
	test.WriteString("x,y\n")
	for i := range x {
		x[i], y[i] = 1.3*float64(i)-0.1*float64(i*i), 2+math.Sin(float64(i))
		to := &train
		if i >= n {
			x[i] -= 9
			to = &test
		}
		fmt.Fprintf(to, "%v,%v\n", x[i], y[i])
	}
	for name, text := range map[string]string{"train.csv": train.String(), "test.csv": test.String()} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	samples, fit := sampled(t, "data: {train: "+dir+"/train.csv, test: "+dir+"/test.csv}\n"+
		"model: {kernel: {se: {amplitude: {fixed: 1}, length_scale: {fixed: 1}}}, mean: {constant: {prior: {normal: {sd: 1}}}}, likelihood: {gaussian: {noise: 0.5}}, inference: exact}\n"+
		"tune: {method: mcmc, objective: log_posterior, restarts: 3, samples: 200}\n")
	if len(samples) != 600 {
		t.Fatalf("%d samples", len(samples))
	}

	k := func(a, b int) float64 { return math.Exp(-(x[a] - x[b]) * (x[a] - x[b]) / 2) }
	c, target, ones := mat.NewSymDense(n, nil), mat.NewVecDense(n, y[:n]), mat.NewVecDense(n, nil)
	for i := range n {
		ones.SetVec(i, 1)
		for j := range i + 1 {
			c.SetSym(i, j, k(i, j))
		}
		c.SetSym(i, i, 1+noise*noise)
	}
	var chol mat.Cholesky
	var solvedOnes, solvedTarget, solved mat.VecDense
	if !chol.Factorize(c) || chol.SolveVecTo(&solvedOnes, ones) != nil || chol.SolveVecTo(&solvedTarget, target) != nil {
		t.Fatal("singular")
	}
	precision := 1 + mat.Dot(ones, &solvedOnes)
	posterior := mat.Dot(ones, &solvedTarget) / precision
	mean, variance, best := 0.0, 0.0, math.Inf(-1)
	for _, s := range samples {
		mean += float64(s.Theta[0]) / float64(len(samples))
		best = max(best, float64(s.Value))
	}
	for _, s := range samples {
		variance += (float64(s.Theta[0]) - mean) * (float64(s.Theta[0]) - mean) / float64(len(samples))
	}
	for j := range m {
		cross := mat.NewVecDense(n, nil)
		for i := range n {
			cross.SetVec(i, k(i, n+j))
		}
		if chol.SolveVecTo(&solved, cross) != nil {
			t.Fatal("singular")
		}
		a, b := mat.Dot(cross, &solvedTarget), 1-mat.Dot(cross, &solvedOnes)
		v := 1 + noise*noise - mat.Dot(cross, &solved)
		if got, want := float64(fit.Mean[j]), a+b*mean; math.Abs(got-want) > 1e-10 {
			t.Errorf("case %d: mean %.14g, want %.14g", j, got, want)
		}
		if got, want := float64(fit.Variance[j]), v+b*b*variance; math.Abs(got-want) > 1e-10 {
			t.Errorf("case %d: variance %.14g, want %.14g", j, got, want)
		}
		if got, want := float64(fit.LatentVariance[0][j]), v-noise*noise+b*b*variance; math.Abs(got-want) > 1e-10 || fit.LatentMean[0][j] != fit.Mean[j] {
			t.Errorf("case %d: latent mean %v and variance %.14g, want %v and %.14g", j, fit.LatentMean[0][j], got, fit.Mean[j], want)
		}
		e := math.Abs(b) / math.Sqrt(precision*float64(fit.Posterior[0].ESS)) // standard error of the mean
		if got, want := float64(fit.Mean[j]), a+b*posterior; math.Abs(got-want) > 5*e {
			t.Errorf("case %d: mean %.6g ± %.2g, integrated over c %.6g", j, got, e, want)
		}
	}
	p := fit.Posterior[0]
	sd := math.Sqrt(variance * 600 / 599)
	if p.Name != "mean.constant" || math.Abs(float64(p.Mean)-mean) > 1e-12 || math.Abs(float64(p.SD)-sd) > 1e-12 || !(p.RHat < 1.05) || !(p.ESS > 150) {
		t.Errorf("posterior %+v, want mean %v and sd %v", p, mean, sd)
	}
	// The best sample is recorded with its log evidence, the log posterior minus the log prior.
	at := float64(fit.Natural[2])
	if want := best + at*at/2 + math.Log(2*math.Pi)/2; math.Abs(float64(fit.LogEvidence)-want) > 1e-10 {
		t.Errorf("log evidence %v, want %v", fit.LogEvidence, want)
	}
}

// A probability is the average over fits at the samples, with the inference used for prediction.
func TestProbabilitiesAreAveragedOverSamples(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{"train.csv": "x,label\n0,a\n1,b\n3,a\n7,b\n2,a\n9,b\n", "test.csv": "x,label\n5,b\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, tuned := range []string{"ep", "laplace"} {
		samples, fit := sampled(t, "data: {train: "+dir+"/train.csv, test: "+dir+"/test.csv}\n"+
			"model: {kernel: {se: {amplitude: {prior: {half_normal: {scale: 3}}}, length_scale: {prior: {log_normal: {mean: 1, sd: 1}}}}}, likelihood: probit, inference: ep}\n"+
			"tune: {method: mcmc, objective: log_posterior, restarts: 2, samples: 5, burn: 10, inference: "+tuned+"}\n")
		want := 0.0
		for _, s := range samples {
			q := query.Query{Data: dir + "/train.csv", Test: dir + "/test.csv", Preprocess: "none", Kernel: "se", Mean: "zero", Likelihood: "probit", Inference: "ep", Theta: map[string]string{}}
			for i, name := range []string{"log_amplitude", "log_length_scale"} {
				q.Theta[name] = strconv.FormatFloat(float64(s.Theta[i]), 'g', -1, 64)
			}
			a, err := q.Evaluate(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			want += math.Exp(-float64(*a.Test.LogLoss)) / float64(len(samples))
		}
		if got := float64(fit.Proba[0][1]); len(samples) != 10 || math.Abs(got-want) > 1e-8 {
			t.Errorf("tuned with %s: %d samples, probability %.12g, want %.12g", tuned, len(samples), got, want)
		}
		if w := strings.Join(cause.Texts(fit.Warnings), "\n"); !strings.Contains(w, "fewer than 100 effective samples of log_") && !strings.Contains(w, "the chains do not agree") {
			t.Errorf("ten samples pass for enough: %q", w)
		}
	}
}

// A failed chain does not enter the posterior; chains that disagree give a warning.
func TestChainsThatFailedOrDisagree(t *testing.T) {
	chain := func(centre float64) (trial record.Trial) {
		for s := range 40 {
			trial.Points = append(trial.Points, record.Point{Theta: []record.Number{record.Number(centre + math.Sin(float64(s*s)))}})
		}
		return trial
	}
	j := &job.Job{Chain: &objective.Chain{}}
	layout := objective.Layout{Specs: []param.Spec{{Name: "amplitude"}}, Free: []int{0}}
	for centre, warned := range map[float64]string{
		0:  "",
		30: "the chains do not agree, with an R-hat above 1.05, on log_amplitude (",
	} {
		f := record.Fit{}
		failed := chain(1e6)
		failed.Failure = cause.Failure.New("no")
		if chains := j.Posterior([]record.Trial{chain(0), failed, chain(centre)}, layout, &f); len(chains) != 2 || len(chains[0]) != 40 {
			t.Errorf("%d chains of %d samples", len(chains), len(chains[0]))
		}
		if m := f.Posterior[0]; math.Abs(float64(m.Mean)-centre/2) > 0.5 {
			t.Errorf("mean %v of chains around 0 and %v", m.Mean, centre)
		}
		if text := strings.Join(cause.Texts(f.Warnings), "\n"); !strings.HasPrefix(text, warned) || (warned == "") != (text == "") {
			t.Errorf("warnings %q, want %q", f.Warnings, warned)
		}
	}
}
