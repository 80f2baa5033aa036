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
	// a mean probability of the decided class that is nearer to the share of right decisions is no
	// reason to doubt
	leastOff = 0.01
	// so many held-out cases without any wrong decision are a reason to look for a leak
	suspicious = 20
)

// doubts are reasons to doubt an answer.
type doubts []Trust

// add appends a reason, unless it never occurred.
func (d *doubts) add(count int, remedy, cause, text string, args ...any) {
	if count > 0 {
		*d = append(*d, Trust{cause, count, remedy, fmt.Sprintf(text, args...)})
	}
}

// trust lists reasons to doubt an answer.
func (r *Report) trust(of contested, a Answer, folds []*Study) []Trust {
	out := doubts{}
	c := r.Configurations[a.Configuration]
	out.add(r.Missing, "resume the run", "the run is not complete: jobs are missing",
		"the run is not complete; missing jobs: at least %d", r.Missing)
	out.add(a.Absent[Failed], "see the failures", "configurations failed and did not compete",
		"configurations that failed and did not compete: %d", a.Absent[Failed])
	out.add(len(c.Failures), "see the failures", "failures while it was tuned or scored",
		"failures while it was tuned or scored: %d", len(c.Failures))
	out.leaks(r, c, folds)
	for _, of := range causes(c.ended()) {
		text := fmt.Sprintf("%s: %d", of.Cause, of.Count)
		if of.Notices[0].Kind == cause.BelowClimb { // there is one search
			text = of.Notices[0].Text
		}
		if !of.Note {
			out.add(of.Count, of.Remedy, of.Cause, "%s", text)
		}
	}
	out.restarts(c)
	out.noise(c)
	out.calibration(c, a.Recalibrated, folds)
	if n := a.Nested; n != nil && 2*n.Wins < n.Folds {
		out.add(n.Folds-n.Wins, "judge by the score, which is that of choosing",
			"the choice is unstable: other configurations were chosen in most outer folds",
			"the choice is unstable: other configurations were chosen in %d of %d outer folds", n.Folds-n.Wins, n.Folds)
	}
	if cut := a.Absent[Cut]; of.nested == nil {
		out.add(cut, "nested cross-validation, evaluate: nested, in another folder",
			"the score is optimistic: a race on the same held-out cases cut others, which no correction counts",
			"the score is optimistic: a race on the same held-out cases cut %d others, which no correction counts", cut)
	}
	return out
}

// Leak says that an input may give the label away: it alone predicts the class.
func (a Answer) Leak() bool {
	what, _, _, _ := cause.Leak.Explanation()
	return slices.ContainsFunc(a.Trust, func(t Trust) bool { return t.Cause == what })
}

// leaks are inputs that give the label away, and scores that are too good to be true.
func (d *doubts) leaks(r *Report, c Configuration, folds []*Study) {
	for _, w := range r.Manifest.Warnings {
		if w.Kind == cause.Leak && w.At == c.Dataset {
			what, _, remedy, _ := w.Kind.Explanation()
			d.add(1, remedy, what, "%s", w.Text)
		}
	}
	wrong, cases := 0, 0
	for _, s := range folds {
		if s.Predictions == nil || s.Predictions.Numeric() {
			continue
		}
		for i, label := range s.Predictions.Labels {
			cases++
			if s.Predictions.Decision(i) != label {
				wrong++
			}
		}
	}
	if wrong == 0 && cases >= suspicious {
		d.add(cases, "check that each input was known before the outcome",
			"not one decision is wrong: an input may give the label away",
			"not one of %d decisions is wrong: an input may give the label away", cases)
	}
}

// restarts is the doubt that better optima exist. Others that are as good as the best do not
// matter.
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
	d.add(o.Restarts-1, "raise restarts", "restarts ended elsewhere: one alone found the best optimum",
		"only 1 of %d restarts found the best optimum%s: there may be better ones", o.Restarts, apart)
}

// noise is the doubt about numbers whose noise was not tuned.
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
	d.add(1, "likelihood: {gaussian: {noise: {init: 1}}} tunes it", "the noise was held, not tuned: all predicted "+
		"variances rest on it", "the noise was held at %.4g, not tuned: all predicted variances rest on it", value)
}

// calibration is the doubt about probabilities. A remedy is named if it helped when it was tried.
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
	test := cv.CaseT(surplus, all.Cases, all.Weight)
	off := test.P <= calibrated && !(len(c.Classes) > 0 && math.Abs(test.Value) < leastOff)
	if !off && !helps {
		return
	}
	cause, remedy := "its probabilities can be improved", "see the calibration curve"
	if off {
		cause = miscalibration(c, test.Value)
	}
	text := cause
	switch {
	case helps:
		remedy = "predict: {calibrate: platt}"
		text += fmt.Sprintf("; Platt's calibration, tried on the held-out predictions, gains %s bits per case",
			Readable(float64(tried.Gain)))
	case tried != nil:
		text += "; Platt's calibration was tried on the held-out predictions and does not help"
	case in:
		text += ", although they are calibrated already"
	}
	d.add(len(surplus), remedy, cause, "%s", text)
}

// recalibrated tries Platt's calibration on the predictions of folds, which are of classes and not
// calibrated. nil: it was not tried.
func (r *Report) recalibrated(folds []*Study) *Recalibrated {
	done := slices.DeleteFunc(slices.Clone(folds), func(s *Study) bool { return s.Predictions == nil })
	if len(done) == 0 || slices.ContainsFunc(done, func(s *Study) bool { return len(s.Fit.Calibration) > 0 }) {
		return nil
	}
	platt, err := cv.CalibrationNamed("platt")
	if err != nil {
		panic(err)
	}
	gain, helps := r.contenders([]competitor{{index: done[0].Fit.Configuration, folds: done}}).Recalibrated(0, platt)
	if Number(gain.Value).None() {
		return nil
	}
	return &Recalibrated{platt.Name, Number(gain.Value), Number(gain.Lo), Number(gain.Hi), helps}
}

// miscalibration describes how the predictions are miscalibrated.
func miscalibration(c Configuration, surplus float64) string {
	switch {
	case len(c.Classes) == 0 && surplus > 0:
		return "predicted variances are too small"
	case len(c.Classes) == 0:
		return "predicted variances are too large"
	case surplus > 0:
		return fmt.Sprintf("its probabilities are overconfident, by %.2g on average", surplus)
	}
	return fmt.Sprintf("its probabilities are underconfident, by %.2g on average", -surplus)
}

// ended returns the warnings of the fits that matter: of the chosen trials, and of the final fits.
func (c Configuration) ended() (out []Notice) {
	for i := range c.Studies {
		s := &c.Studies[i]
		if s.Fit == nil {
			continue
		}
		for _, t := range s.Trials {
			if t.Index == s.Fit.Chosen {
				out = append(out, noticed(t.Warnings...)...)
			}
		}
		out = append(out, noticed(s.Fit.Warnings...)...)
		if s.Fit.Failure.IsZero() && !s.Fit.Converged && s.Fit.LogEvidence.Finite() {
			out = append(out, noticed(cause.Unconverged.New("not converged"))...)
		}
	}
	return out
}

func noticed(warnings ...cause.Notice) (out []Notice) {
	for _, w := range warnings {
		out = append(out, Notice{Kind: w.Kind, Text: w.String(), Count: 1})
	}
	return out
}
