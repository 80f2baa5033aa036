package reports

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/cause"
)

const (
	calibrated = 0.01 // level of the test of calibration, one of several checks of a result
	// smallest difference between the mean probability of the decided class and the fraction of
	// right decisions that is a reason to doubt
	leastOff = 0.01
)

// doubts are reasons to doubt an answer.
type doubts struct {
	at      cause.Setting // setting of the best configuration
	reasons []Trust
}

// add appends a reason with the remedy of its kind, unless it never occurred.
func (d *doubts) add(kind cause.Kind, count int, text string, args ...any) {
	d.remedied(kind, count, cause.Remedy(kind, d.at), text, args...)
}

// remedied is add with another remedy.
func (d *doubts) remedied(kind cause.Kind, count int, remedy, text string, args ...any) {
	if count > 0 {
		what, _, _ := kind.Explanation()
		d.reasons = append(d.reasons, Trust{kind, what, count, remedy, fmt.Sprintf(text, args...)})
	}
}

// trust lists reasons to doubt an answer.
func (r *Report) trust(of contested, a Answer, folds []*Study) []Trust {
	out, c := doubts{r.setting(a.Configuration), []Trust{}}, r.Configurations[a.Configuration]
	missing := 0
	for _, of := range r.Configurations {
		if sameData(c, of) {
			missing += of.Missing
		}
	}
	out.add(cause.Incomplete, missing, "the run is not complete; missing jobs: at least %d", missing)
	out.remedied(cause.NotCompeting, a.Absent[Failed], r.remedies(func(i int, f Failure) bool {
		return sameData(c, r.Configurations[i]) && r.Configurations[i].worst() == Failed
	}), "configurations that failed and did not compete: %d", a.Absent[Failed])
	failed := 0
	for _, f := range c.Failures {
		if f.doubtful() {
			failed++
		}
	}
	out.remedied(cause.FailedParts, failed, r.remedies(func(i int, f Failure) bool {
		return i == a.Configuration && f.doubtful()
	}), "failures while it was tuned or scored: %d", failed)
	for _, kind := range []cause.Kind{cause.Leak, cause.Rare} {
		for _, w := range r.Manifest.Warnings {
			if w.Kind == kind && w.At == c.Dataset {
				out.add(w.Kind, 1, "%s", w.Text)
			}
		}
	}
	for _, of := range r.causes(c.ended(a.Configuration)) {
		kind, text := of.Notices[0].Kind, fmt.Sprintf("%s: %d", of.Cause, of.Count)
		if kind == cause.BelowClimb { // there is one search
			text = of.Notices[0].Text
		}
		if !of.Note {
			out.remedied(kind, of.Count, of.Remedy, "%s", text)
		}
	}
	out.restarts(c)
	out.noise(c)
	out.averages(folds)
	out.calibration(c, a.Recalibrated, folds)
	out.unequalNoise(folds)
	if n := a.Nested; n != nil && 2*n.Wins < n.Folds {
		out.add(cause.UnstableChoice, n.Folds-n.Wins,
			"the choice is unstable: other configurations were chosen in %d of %d outer folds", n.Folds-n.Wins, n.Folds)
	}
	if cut := a.Absent[Cut]; of.nested == nil {
		out.add(cause.RacedScore, cut,
			"the score is optimistic: a race on the same held-out cases cut %d others, which no correction counts", cut)
	}
	return out.reasons
}

// The dependence of the size of errors on a variable is a reason to doubt at the level unequal. One
// test is for the predicted mean, and one for all inputs. A weaker rank correlation than leastRho
// changes intervals little.
const unequal, leastRho = calibrated / 2, 0.1

// ShowsUnequal reports whether the size of errors depends on one of some variables.
func ShowsUnequal(u cv.Unequal, variables int) bool {
	return u.P*float64(variables) <= unequal && math.Abs(u.Rho) >= leastRho
}

// unequalNoise adds the doubt that errors of numbers are larger for some predicted means.
func (d *doubts) unequalNoise(folds []*Study) {
	var parts []cv.Predictions
	for _, s := range folds {
		if s.Predictions != nil && s.Predictions.Numeric() {
			parts = append(parts, *s.Predictions)
		}
	}
	if parts == nil {
		return
	}
	all := cv.Pool(parts...)
	if u := all.Unequal(all.Mean); ShowsUnequal(u, 1) {
		d.add(cause.UnequalNoise, len(all.Cases), "%s", unequalText("the predicted value", u.Low, u.High))
	}
}

// unequalText describes the dependence of intervals on a variable.
func unequalText(variable string, low, high float64) string {
	return fmt.Sprintf("the size of errors depends on %s: predicted intervals of 95 %% hold %.3g %% of the targets "+
		"where it is lowest (a third of the cases), and %.3g %% where it is highest", variable, 100*low, 100*high)
}

// DoubtDrivers adds the doubt that errors depend on an input, if the drivers of an answer show it.
// It takes the place of the same doubt about the predicted value.
func (r *Report) DoubtDrivers(a *Answer) {
	if a.Drivers == nil || a.Drivers.Unequal == nil {
		return
	}
	a.Trust = slices.DeleteFunc(a.Trust, func(t Trust) bool { return t.Kind == cause.UnequalNoise })
	u, d := a.Drivers.Unequal, doubts{at: r.setting(a.Configuration)}
	d.add(cause.UnequalNoise, a.Cases, "%s", unequalText(u.Input, float64(u.Low), float64(u.High)))
	a.Trust = append(a.Trust, d.reasons...)
}

// doubtful reports whether a failure is a reason to doubt the best: a whole job failed, and not for
// a reason that is due to its hyperparameters.
func (f Failure) doubtful() bool {
	return f.job && f.Kind != cause.NotPositiveDefinite && f.Kind != cause.NotFinite && f.Kind != cause.Imprecise
}

// remedies joins the remedies of some of the failures.
func (r *Report) remedies(of func(configuration int, f Failure) bool) string {
	var texts []string
	for i, c := range r.Configurations {
		for _, f := range c.Failures {
			if of(i, f) {
				texts = append(texts, cause.Remedy(f.Kind, r.setting(i)))
			}
		}
	}
	return joined(texts)
}

// Leak reports whether an input may give the label away, because it alone predicts the class.
func (a Answer) Leak() bool {
	return slices.ContainsFunc(a.Trust, func(t Trust) bool { return t.Kind == cause.Leak })
}

// restarts adds the doubt that better optima exist. There is none if several restarts reached the
// best.
func (d *doubts) restarts(c Configuration) {
	o := c.Optima()
	if len(c.Posterior) > 0 || o.AtBest != 1 || o.Restarts < 2 {
		return
	}
	apart := ""
	if o.Distinct > 1 {
		apart = ", " + Readable(o.Hi-o.Second) + " above the next"
		if c.Objective == logEvidence {
			if o.Hi-o.Second <= bareMention {
				return
			}
			apart = ", " + Readable(o.Hi-o.Second) + " nats above the next"
		}
	}
	d.add(cause.LoneOptimum, o.Restarts-1,
		"only 1 of %d restarts found the best optimum%s: there may be better ones", o.Restarts, apart)
}

// noise adds the doubt about numeric predictions whose noise was not tuned.
func (d *doubts) noise(c Configuration) {
	if len(c.Classes) > 0 {
		return
	}
	held := -1
	for i, h := range c.Record.Hyperparameters {
		switch {
		case h.Name == "likelihood.noise" && h.Fixed:
			held = i
		case strings.HasSuffix(h.Name, "noise.amplitude") && !h.Fixed:
			return // the kernel has noise that is tuned
		}
	}
	if held < 0 {
		return
	}
	value, _ := c.Hyperparameters.Get("likelihood.noise")
	d.add(cause.HeldNoise, 1, "the noise was held at %.4g, not tuned: all predicted variances rest on it", value)
}

// averages adds the doubt about probabilities of Laplace's method. Where another average changes
// them, the probabilities of EP differ from both.
func (d *doubts) averages(folds []*Study) {
	cases, decided, change, other := 0.0, 0, 0.0, ""
	for _, s := range folds {
		if s.Fit == nil || s.Predictions == nil || len(s.Fit.Calibration) > 0 {
			continue
		}
		if o := s.Fit.OtherAverage; o != nil {
			total := s.Predictions.Total()
			cases, decided, other = cases+total, decided+o.Decided, o.Average
			change += total * float64(o.LogLoss)
		}
	}
	if change /= cases; !(math.Abs(change) > leastOff || float64(decided) > leastOff*cases) {
		return
	}
	d.add(cause.LaplaceAverages, 1, "its probabilities by Laplace's method depend on how they are averaged: average: "+
		"%s changes the log loss by %+.2g per case and decides %d cases otherwise", other, change, decided)
}

// calibration adds the doubt about the calibration of probabilities. A remedy is named if it helped
// when it was tried.
func (d *doubts) calibration(c Configuration, tried *Recalibrated, folds []*Study) {
	surplus, parts, in := []float64{}, []cv.Predictions{}, false
	for _, s := range folds {
		if s.Predictions != nil {
			surplus, parts = append(surplus, s.Predictions.Surplus()...), append(parts, *s.Predictions)
			in = in || len(s.Fit.Calibration) > 0
		}
	}
	if len(surplus) == 0 {
		return
	}
	helps := tried != nil && tried.Helps
	all := cv.Pool(parts...)
	test := cv.CaseT(surplus, all.Units(), all.Weight)
	off := test.P <= calibrated && !(len(c.Classes) > 0 && math.Abs(test.Value) < leastOff)
	kind, text := cause.Recalibrable, "its probabilities can be improved"
	if off {
		text = miscalibration(c, test.Value)
	} else if far, narrow := outside(all); narrow {
		off, text = true, fmt.Sprintf("predicted intervals are too narrow: those of 95 %% hold %.3g %% of the targets",
			100*(1-far))
	}
	if !off && !helps {
		return
	}
	if off {
		if !helps {
			kind = cause.Miscalibrated
		}
	}
	switch {
	case helps:
		text += fmt.Sprintf("; calibrate: %s, tried on the held-out predictions, gains %s bits per case", tried.By,
			Readable(float64(tried.Gain)))
	case tried != nil:
		text += ", which calibrations, tried on the held-out predictions, do not mend"
	case in:
		text += ", although they are calibrated already"
	}
	remedy := cause.Remedy(kind, d.at)
	if helps {
		remedy = fmt.Sprintf("predict: {calibrate: %s}", tried.By)
	}
	d.remedied(kind, len(surplus), remedy, "%s", text)
}

// recalibrated tries Platt's calibration and a temperature on the predictions of folds, if they are
// of classes and not calibrated. It returns the one that helps or, if both or neither do, the one
// with the larger gain. nil: none was tried.
func (r *Report) recalibrated(folds []*Study) *Recalibrated {
	done := slices.DeleteFunc(slices.Clone(folds), func(s *Study) bool { return s.Predictions == nil })
	if len(done) == 0 || slices.ContainsFunc(done, func(s *Study) bool { return len(s.Fit.Calibration) > 0 }) {
		return nil
	}
	of := r.contenders([]competitor{{index: done[0].Fit.Configuration, folds: done}})
	var best *Recalibrated
	for _, name := range []string{"platt", "temperature"} {
		by, err := cv.CalibrationNamed(name)
		if err != nil {
			panic(err)
		}
		gain, helps := of.Recalibrated(0, by)
		tried := &Recalibrated{by.Name, Number(gain.Value), Number(gain.Lo), Number(gain.Hi), helps}
		better := best == nil || helps && !best.Helps || helps == best.Helps && tried.Gain > best.Gain
		if !tried.Gain.None() && better {
			best = tried
		}
	}
	return best
}

// outside is the fraction of targets outside of their predicted 95 % intervals, and whether it is
// shown to be too large. Predicted variances can be right on average while some intervals are too
// narrow. The t-test over cases or groups is at half of the level, because it is one-sided.
func outside(p cv.Predictions) (fraction float64, narrow bool) {
	if !p.Numeric() {
		return 0, false
	}
	const beyond = 0.05
	out := make([]float64, len(p.Cases))
	for i := range out {
		if math.Abs(p.Targets[i]-p.Mean[i]) > 1.959964*math.Sqrt(p.Variance[i]) {
			out[i] = 1
		}
		out[i] -= beyond
	}
	test := cv.CaseT(out, p.Units(), p.Weight)
	return test.Value + beyond, test.P <= calibrated && test.Value > 0
}

// miscalibration describes how the predictions are miscalibrated.
func miscalibration(c Configuration, surplus float64) string {
	switch {
	case len(c.Classes) == 0 && surplus > 0:
		return fmt.Sprintf("predicted variances are too small: squared errors are on average %.3g times as large",
			1+surplus)
	case len(c.Classes) == 0:
		return fmt.Sprintf("predicted variances are too large: squared errors are on average %.2g times as large",
			1+surplus)
	case surplus > 0:
		return fmt.Sprintf("it is overconfident: of 100 decisions %.2g fewer are right than its "+
			"probabilities say", 100*surplus)
	}
	return fmt.Sprintf("it is underconfident: of 100 decisions %.2g more are right than its "+
		"probabilities say", -100*surplus)
}

// ended returns the warnings of the fits that matter: of the chosen trials, and of the final fits.
// number is the index of the configuration.
func (c Configuration) ended(number int) (out []Notice) {
	for i := range c.Studies {
		s := &c.Studies[i]
		if s.Fit == nil {
			continue
		}
		for _, t := range s.Trials {
			if t.Index == s.Fit.Chosen {
				out = append(out, noticed(number, t.Warnings...)...)
			}
		}
		out = append(out, noticed(number, s.Fit.Warnings...)...)
		if s.Fit.Failure.IsZero() && !s.Fit.Converged && s.Fit.LogEvidence.Finite() {
			out = append(out, noticed(number, cause.Unconverged.New("not converged"))...)
		}
	}
	return out
}

func noticed(number int, warnings ...cause.Notice) (out []Notice) {
	for _, w := range warnings {
		out = append(out, Notice{Configuration: number, Kind: w.Kind, Text: w.String(), Count: 1})
	}
	return out
}
