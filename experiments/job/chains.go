package job

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/record"
)

// Chains are considered mixed if R̂ is at most maxRHat (Vehtari et al. 2021 recommend 1.01, which
// few samples cannot establish). Means are considered accurate with at least minESS effective
// samples, which determine them to a tenth of a standard deviation.
const (
	maxRHat = 1.05
	minESS  = 100
)

// Posterior summarises the chains of the trials that have not failed, and returns their samples.
func (j *Job) Posterior(trials []record.Trial, l objective.Layout, f *record.Fit) (chains [][][]float64) {
	if j.Chain == nil {
		return nil
	}
	chains = samples(trials)
	var apart, few []string
	specs := l.FreeSpecs()
	for i, m := range objective.Marginals(chains) {
		name := specs[i].ThetaName()
		f.Posterior = append(f.Posterior, record.Marginal{Name: name, Mean: record.Number(m.Mean),
			SD: record.Number(m.SD), RHat: record.Number(m.RHat), ESS: record.Number(m.ESS)})
		switch {
		case !(m.RHat <= maxRHat):
			apart = append(apart, fmt.Sprintf("%s (%.3g)", name, m.RHat))
		case !(m.ESS >= minESS):
			few = append(few, fmt.Sprintf("%s (%.3g)", name, m.ESS))
		}
	}
	if len(apart) > 0 {
		f.Warnings = append(f.Warnings, cause.ChainsApart.New("the chains do not agree, with an R-hat above %v, on "+
			"%s: raise burn and samples, and compare where the chains ended", maxRHat, strings.Join(apart, ", ")))
	}
	if len(few) > 0 {
		f.Warnings = append(f.Warnings, cause.FewSamples.New("fewer than %d effective samples of %s: raise samples or "+
			"thin", minESS, strings.Join(few, ", ")))
	}
	return chains
}

// samples are the points of the chains that have not failed.
func samples(trials []record.Trial) (chains [][][]float64) {
	for _, t := range trials {
		if !t.Failure.IsZero() {
			continue
		}
		var chain [][]float64
		for _, p := range t.Points {
			chain = append(chain, record.Floats(p.Theta))
		}
		chains = append(chains, chain)
	}
	return chains
}

// mixture averages the predictions over the samples of the chains.
func (j *Job) mixture(run *objective.Run, chains [][][]float64, parts []*part) error {
	used, own := 0, len(parts[0].fit.Warnings)
	err := j.EverySample(run, chains, &parts[0].fit, func(fit *objective.Point) error {
		used++
		for _, of := range parts {
			q, err := of.p.outcome(fit, j.Average)
			if err != nil {
				return err
			}
			of.held.Average(q, used)
		}
		return nil
	})
	for _, of := range parts[1:] {
		of.fit.Warnings = append(of.fit.Warnings, parts[0].fit.Warnings[own:]...)
	}
	return err
}

// EverySample fits the model that predicts at the samples of the chains, each with a warm start
// from the one before. Samples at which the fit fails are left out, and a warning counts them.
func (j *Job) EverySample(run *objective.Run, chains [][][]float64, f *record.Fit,
	use func(fit *objective.Point) error) error {
	used, warned := 0, 0
	var fails []error
	var note cause.Notice
	for _, free := range slices.Concat(chains...) {
		fit, err := run.Converged(free)
		if err != nil {
			fails = append(fails, err)
			continue
		}
		used++
		if err := use(fit); err != nil {
			return err
		}
		if w := fit.Diagnostics().Warnings; len(w) > 0 {
			if warned++; warned == 1 {
				note = w[0]
			}
		}
	}
	if used == 0 {
		return fmt.Errorf("no sample could be fitted; the first: %w", fails[0])
	}
	if n := len(fails); n > 0 {
		f.Warnings = append(f.Warnings, cause.Samples.New("%d of %d samples are left out of the predictions because "+
			"their fits failed, the first with: %v", n, n+used, fails[0]))
	}
	if warned > 0 {
		f.Warnings = append(f.Warnings, cause.Samples.New("%d of %d fits at samples gave warnings, the first: %s",
			warned, used, note))
	}
	return nil
}
