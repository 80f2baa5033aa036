package experiments

import (
	"bytes"
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/experiments/check"
	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

const checkable = `name: t
data: {dataset: crabs, preprocess: standardize, subsample: 40}
model:
  kernel: [{se: {amplitude: 3, length_scale: 1}}, {sum: [se, {noise: {amplitude: {fixed: 0.3}}}]}]
  likelihood: probit
  inference: [laplace, {sampling: {temperatures: 60}}, ep, variational, {sampling: {temperatures: 60, seed: 1}}, online]
tune: none
`

func checkPlan(t *testing.T, p *plan.Plan, o check.CheckOptions) *reports.Check {
	t.Helper()
	c, err := check.Check(t.Context(), p, o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func has(x reports.Number) bool { return !math.IsNaN(float64(x)) }

func TestCheckComparesWithOneSampledEvidencePerModel(t *testing.T) {
	p := plantest.Planned(t, checkable)
	c := checkPlan(t, p, check.CheckOptions{Workers: 1})
	if !c.Passed || len(c.Rows) != 12 {
		t.Fatalf("passed %v, %d rows", c.Passed, len(c.Rows))
	}
	for i, r := range c.Rows {
		reference := c.Rows[i/6*6]
		sampled := strings.Contains(r.Inference.Text, "sampling")
		if r.Reference != (i%6 == 0) || has(r.StandardError) != sampled || has(r.GradientError) == sampled || has(r.Difference) == r.Reference {
			t.Errorf("row %d: %+v", i, r)
		}
		if has(r.GradientError) && r.GradientError > 1e-8 {
			t.Errorf("row %d, %s: gradient error %v", i, r.Inference, r.GradientError)
		}
		if r.LowerBound != (r.Inference.Text == "variational") {
			t.Errorf("row %d: %s is a lower bound: %v", i, r.Inference, r.LowerBound)
		}
		if r.Reference {
			if r.Inference.Text != "{sampling: {temperatures: 60}}" {
				t.Errorf("row %d: the reference is %s", i, r.Inference)
			}
			continue
		}
		standardError := float64(reference.StandardError)
		if sampled {
			standardError = math.Hypot(standardError, float64(r.StandardError))
			if z := math.Abs(float64(r.InStandardErrors)); z > 4 {
				t.Errorf("row %d: another seed is %v standard errors away", i, z)
			}
		}
		if r.Difference != r.LogEvidence-reference.LogEvidence || math.Abs(float64(r.InStandardErrors)*standardError-float64(r.Difference)) > 1e-12 {
			t.Errorf("row %d: %v above %v is %v, or %v standard errors", i, r.LogEvidence, reference.LogEvidence, r.Difference, r.InStandardErrors)
		}
	}
	again := checkPlan(t, p, check.CheckOptions{Workers: 3})
	for _, format := range table.CheckForms.Names() {
		render, err := table.CheckForms.Named(format)
		if err != nil {
			t.Fatal(err)
		}
		var one, three bytes.Buffer
		if err := render(&one, c); err != nil {
			t.Fatal(err)
		}
		if err := render(&three, again); err != nil {
			t.Fatal(err)
		}
		if one.String() != three.String() || strings.Contains(one.String(), "NaN") {
			t.Errorf("%s of 1 and of 3 workers:\n%s\n%s", format, one.String(), three.String())
		}
	}
	none := checkPlan(t, p, check.CheckOptions{NoSampling: true})
	if len(none.Rows) != 8 || slices.ContainsFunc(none.Rows, func(r reports.CheckRow) bool { return r.Reference || has(r.Difference) }) {
		t.Errorf("without sampling: %+v", none.Rows)
	}
}

func TestCheckSaysWhatItLeavesOut(t *testing.T) {
	for _, c := range []struct{ text, note string }{
		{"data: {dataset: iris, subsample: 20}\nmodel: {kernel: se, likelihood: softmax, inference: laplace}\ntune: none\n", "sampling is not checked: sampling has one latent process"},
		{"data: {dataset: housing, subsample: 20}\nmodel: {kernel: se, likelihood: gaussian, inference: [exact, ep]}\ntune: none\n", "sampling is not checked: sampling is for two classes"},
		// methods without a log evidence; the one that tunes them has one
		{"data: {dataset: crabs, subsample: 20}\nmodel: {kernel: se, likelihood: probit, inference: [{online: {sweeps: 2}}, {sampling: {temperatures: 20}}]}\ntune: {inference: ep}\n", "{online: {sweeps: 2}} is not checked: objective: this inference method has no log evidence"},
		{"data: {dataset: crabs, subsample: 20}\nmodel: {kernel: se, likelihood: probit, inference: [ep, logistic_regression]}\n", ": not checked: a comparator has no gradient with respect to hyperparameters of the file"},
	} {
		found := checkPlan(t, plantest.Planned(t, c.text), check.CheckOptions{})
		if !found.Passed || len(found.Notes) == 0 || !strings.Contains(found.Notes[0], c.note) {
			t.Errorf("%s: passed %v, notes %q, want %q", c.text, found.Passed, found.Notes, c.note)
		}
		for _, r := range found.Rows {
			if has(r.GradientError) == r.Reference || has(r.Difference) != strings.Contains(c.text, "crabs") && !r.Reference {
				t.Errorf("%s: %+v", c.text, r)
			}
		}
	}
	fixed := checkPlan(t, plantest.Planned(t, checkable, "model.kernel={se: {amplitude: {fixed: 2}, length_scale: {fixed: 1}}}"), check.CheckOptions{NoSampling: true})
	if r := fixed.Rows[0]; has(r.GradientError) || len(r.Notes) != 1 {
		t.Errorf("with no free hyperparameter: %+v", r)
	}
}

func TestCheckOneVsRest(t *testing.T) {
	c := checkPlan(t, plantest.Planned(t, "data: {dataset: iris, subsample: 21, preprocess: standardize}\nmodel: {kernel: {per_class: se}, likelihood: logit, inference: [{sampling: {temperatures: 50}}, variational], classes: one_vs_rest}\ntune: none\n"), check.CheckOptions{})
	if len(c.Rows) != 2 || !c.Passed || !c.Rows[1].LowerBound || !has(c.Rows[1].Difference) || len(c.Rows[1].Theta) != 6 {
		t.Errorf("%+v", c)
	}
}

// off is a method whose log evidence or gradient is wrong.
type off struct {
	approx.Laplace
	above, slope float64
}

func (o off) Uses(l likelihood.Likelihood, classes int) (approx.Caps, error) {
	caps, err := o.Laplace.Uses(l, classes)
	caps.LowerBound = true
	return caps, err
}

func (o off) Fit(ctx context.Context, cov []approx.Cov, y approx.Targets, l likelihood.Bound, s approx.State) (approx.Posterior, error) {
	p, err := o.Laplace.Fit(ctx, cov, y, l, s)
	return offPosterior{p, o}, err
}

type offPosterior struct {
	approx.Posterior
	off off
}

func (p offPosterior) Evidence() approx.Functional { return offEvidence{p.Posterior.Evidence(), p.off} }

type offEvidence struct {
	approx.Functional
	off off
}

func (e offEvidence) Value() float64 { return e.Functional.Value() + e.off.above }

func (e offEvidence) Adjoint(dst *approx.Cov, j int) error {
	err := e.Functional.Adjoint(dst, j)
	dst.K.ScaleSym(1+e.off.slope, dst.K)
	return err
}

func TestCheckFindsWhatIsOff(t *testing.T) {
	text := strings.Replace(checkable, "[laplace, {sampling: {temperatures: 60}}, ep, variational, {sampling: {temperatures: 60, seed: 1}}, online]", "[laplace, {sampling: {temperatures: 60}}]", 1)
	for _, c := range []struct {
		method approx.Approximation
		want   string
	}{
		{off{}, ""},
		{off{slope: 1e-4}, "the derivative with respect to log_length_scale is"},
		{off{slope: math.NaN()}, "not finite"},
		{off{above: 5}, "a lower bound, and"},
		{approx.Laplace{MaxIterations: 1}, "not converged: laplace stopped at iteration 1"},
	} {
		p := plantest.Planned(t, text, "model.kernel=se")
		p.Configured[0].Model.Inference = c.method
		found := checkPlan(t, p, check.CheckOptions{Theta: map[string]string{"log_amplitude": "1", "log_length_scale": "0"}})
		failures := strings.Join(found.Rows[1].Failures, "\n")
		if found.Passed != (c.want == "") || !strings.Contains(failures, c.want) || c.want == "" && failures != "" {
			t.Errorf("%+v: passed %v, %q, want %q", c.method, found.Passed, failures, c.want)
		}
		// The error is relative to the largest derivative, or to more.
		if e := float64(found.Rows[1].GradientError); c.method == (off{slope: 1e-4}) && !(e > 1e-6 && e <= 1.0001e-4) {
			t.Errorf("%+v: gradient error %v", c.method, e)
		}
	}
}

func TestCheckAtATheta(t *testing.T) {
	p := plantest.Planned(t, checkable)
	c := checkPlan(t, p, check.CheckOptions{NoSampling: true, Theta: map[string]string{"log_length_scale": "0.5", "2.noise.log_amplitude": "-1"}})
	for i, r := range c.Rows {
		want := []float64{math.Log(3), 0.5}
		if i >= len(c.Rows)/2 {
			want = []float64{0, math.Log(6) / 2, -1} // six inputs
		}
		for j, v := range r.Theta {
			if len(r.Theta) != len(want) || math.Abs(float64(v.Value)-want[j]) > 1e-12 {
				t.Errorf("row %d at %v, want %v", i, r.Theta, want)
			}
		}
	}
	for _, c := range []struct{ name, value, want string }{
		{"log_amplitud", "1", `unknown hyperparameter "log_amplitud"; did you mean "log_amplitude"? (have log_amplitude, log_length_scale, 1.se.log_amplitude`},
		{"1.se.log_amplitude", "1e999", "must be finite"},
		{"log_amplitude", "x", `"x" is not a number`},
	} {
		_, err := check.Check(t.Context(), p, check.CheckOptions{Theta: map[string]string{c.name: c.value}})
		if problems, ok := err.(spec.Problems); !ok || len(problems) != 1 || !strings.Contains(problems.Error(), c.want) {
			t.Errorf("%s=%s: %v, want %q", c.name, c.value, err, c.want)
		}
	}
}
