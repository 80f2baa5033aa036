package reports_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// contestants is a run of configurations over two folds of two cases, one of each class, with the
// given probabilities of the true classes. The base line has probability ½.
func contestants(t *testing.T, truths ...[2][2]float64) (record.Manifest, []record.Line) {
	t.Helper()
	m, _ := reporttest.Stopped()
	first := m.Configurations[0]
	first.Studies, first.Costs = first.Studies[:3], nil
	m.Configurations = nil
	var lines []record.Line
	for c, truth := range truths {
		m.Configurations = append(m.Configurations, first)
		for study := range 3 {
			f := &record.Fit{Configuration: c, Study: study, Chosen: -1, Natural: []record.Number{2}, LogEvidence: -4,
				Converged: true, TrainCounts: []int{4, 4}}
			if study > 0 {
				a, b := record.Number(truth[study-1][0]), record.Number(truth[study-1][1])
				f.Rows, f.Labels = []int{2 * study, 2*study + 1}, []int{0, 1}
				f.Proba = [][]record.Number{{a, 1 - a}, {1 - b, b}}
			}
			lines = append(lines, record.Line{Key: string(rune('a'+c)) + string(rune('a'+study)), Fit: f})
		}
	}
	return m, lines
}

// The interval of the score, the skill and the set count a group of cases once: with a copy of every
// case in its group the standard error is over the means of pairs.
func TestIntervalsCountGroups(t *testing.T) {
	const cases = 120
	bits := func(i int) float64 { return 0.2 + 0.1*float64(i/4%7) } // equal within a group
	m, lines := reporttest.Held(cases, bits, func(i int) float64 { return bits(i) - 0.1*float64(i/4%3) })
	of, sum, squares := make([]int, cases), 0.0, 0.0
	for i := range cases {
		of[i] = i / 2
		sum, squares = sum+bits(i), squares+bits(i)*bits(i)
	}
	mean, pairs := sum/cases, float64(cases/2)
	half := 1.959963984540054 * math.Sqrt((squares/cases-mean*mean)*cases/2/(pairs-1)/pairs)
	m.Groups = []record.Groups{{DataHash: m.Configurations[0].DataHash, Of: of}}
	a := reporttest.Build(t, m, lines).Answer
	if a.Units != cases/2 || !a.Grouped || math.Abs(float64(a.High-a.Score)-half) > 1e-9 ||
		math.Abs(float64(a.Score-a.Low)-half) > 1e-9 {
		t.Errorf("score %v from %v to %v over %d units, want ± %v over %d", a.Score, a.Low, a.High, a.Units, half, cases/2)
	}
	alone, _ := reporttest.Held(cases, bits, bits)
	if got := reporttest.Build(t, alone, lines).Answer; got.Grouped || !(got.High-got.Low < a.High-a.Low) {
		t.Errorf("without groups from %v to %v over %d units", got.Low, got.High, got.Units)
	}
}

// The configurations have (1, ½), (0, ¼) and (0, 0) bits in the two folds of two cases. So few
// cases distinguish nothing: all may be the best. Each fold has two orders of its labels, so that
// no predictor can have skill.
func TestAnswer(t *testing.T) {
	half, quarter := math.Sqrt2/2, math.Pow(2, 0.25)/2 // probabilities with ½ and ¼ bit more than ½
	r := built(t)(contestants(t, [2][2]float64{{0.5, 0.5}, {0.5, 0.5}}, [2][2]float64{{1, 1}, {half, half}},
		[2][2]float64{{0.5, 0.5}, {quarter, quarter}}))
	a := r.Answer
	near := func(what string, got reports.Number, want float64) {
		t.Helper()
		if !(math.Abs(float64(got)-want) < 1e-12) {
			t.Errorf("%s is %v, want %v", what, got, want)
		}
	}
	if a.Configuration != 1 || *a.Next != 2 || a.By != "information_bits" || a.Evaluation != "kfold" || a.Cases != 4 ||
		a.Competed != 3 || !slices.Equal(a.Set, []int{1, 2, 0}) {
		t.Errorf("%+v", a)
	}
	if a.Place(1) != 0 || a.Place(2) != 1 || a.Place(0) != 2 || a.Place(3) <= 2 {
		t.Errorf("places %d, %d, %d, %d", a.Place(0), a.Place(1), a.Place(2), a.Place(3))
	}
	near("the score", a.Score, 0.75)
	near("the margin", a.Margin, 0.625)
	near("the difference", a.Rivals[0].Difference, -0.625)
	if n := a.Rivals[0]; !(n.Low < n.Difference && n.Difference < n.High && n.High > 0) || !(a.AtMost > 0) ||
		!slices.Equal(a.Alternatives, []int{2, 0}) {
		t.Errorf("at most %v, alternatives %v, the next %+v", a.AtMost, a.Alternatives, n)
	}
	near("p of the next", a.P, float64(a.Rivals[0].P))
	near("the skill", a.Skill.Difference, 0.75)
	if a.Corrected.None() || !(a.Skill.AtLeast < 0) {
		t.Errorf("corrected %v, skill from %v", a.Corrected, a.Skill.AtLeast)
	}
	if a.Skill.Known || a.Skill.Better || a.Keep != "gpc-tune fit FILE.yaml --configuration 1 -m model.json" {
		t.Errorf("%+v, %s", a.Skill, a.Keep)
	}
}

// wave is the noise of case i for configuration k.
func wave(i, k int) float64 { return math.Sin(float64(7*i + 3*k*i + k)) }

// A configuration that is better by far is alone in the set and has skill; one that is a little
// better is in the set. A configuration whose probabilities are too sure is better than chance, but
// scores no better than the base rate.
func TestAnswerTells(t *testing.T) {
	of := func(mean, noise float64, k int) func(int) float64 {
		return func(i int) float64 { return mean + noise*wave(i, k) }
	}
	a := built(t)(reporttest.Held(60, of(0, 0.1, 1), of(0.7, 0.2, 2), of(0.1, 0.1, 3))).Answer
	if !slices.Equal(a.Set, []int{1}) || a.Rivals[0].InSet || !(a.P < 0.01) || !a.Skill.Known || !a.Skill.Better ||
		!(a.Skill.AtLeast > 0) || a.AtMost != 0 || len(a.Alternatives) > 0 {
		t.Errorf("%+v %+v", a, a.Skill)
	}
	a = built(t)(reporttest.Held(60, of(0.69, 0.2, 1), of(0.7, 0.2, 2), of(-0.7, 0.5, 3), of(-0.7, 0.5, 4))).Answer
	if !slices.Equal(a.Set, []int{1, 0}) || !a.Rivals[0].InSet || a.Rivals[1].InSet || !(a.AtMost > 0 && a.AtMost < 0.2) || !(a.P > 0.05) ||
		!slices.Equal(a.Of(0), []string{reports.InSet}) || !slices.Equal(a.Of(2), []string{reports.BelowBase}) {
		t.Errorf("%+v %+v", a, a.Skill)
	}
	sure := func(i int) float64 {
		if i%10 == 0 {
			return -6
		}
		return 0.5 + 0.4*wave(i, 1)
	}
	if s := built(t)(reporttest.Held(60, sure)).Answer.Skill; !s.Known || s.Better || !(s.Difference < 0) {
		t.Errorf("%+v", s)
	}
	if a := built(t)(reporttest.Held(60, of(0.5, 0.1, 1))).Answer; !a.Corrected.None() || !slices.Equal(a.Set, []int{0}) {
		t.Errorf("nothing was selected: %+v", a)
	}
}

// Cases of a group count as one: with all cases of a fold in one group, and three groups, nothing
// is better than chance.
func TestAnswerOfGroups(t *testing.T) {
	m, lines := reporttest.Held(60, func(i int) float64 { return 0.5 + 0.1*wave(i, 1) })
	if a := built(t)(m, lines).Answer; !a.Skill.Known {
		t.Errorf("%+v", a.Skill)
	}
	g := record.Groups{DataHash: m.Configurations[0].DataHash}
	for i := range 60 {
		g.Of = append(g.Of, i/20)
	}
	m.Groups = []record.Groups{g}
	if a := built(t)(m, lines).Answer; a.Skill.Known {
		t.Errorf("%+v", a.Skill)
	}
	m.Groups[0].Of = g.Of[:59]
	if _, err := reports.Build(m, lines); err == nil || !strings.Contains(err.Error(), "case 59") {
		t.Errorf("a case without a group: %v", err)
	}
}

// If the base rate is one of the configurations, its difference is minus the skill of the best.
func TestBaseRateCompetes(t *testing.T) {
	half := math.Sqrt2 / 2
	m, lines := contestants(t, [2][2]float64{{1, 1}, {half, half}}, [2][2]float64{{0.5, 0.5}, {0.5, 0.5}})
	m.Configurations[1].Inference = record.Plain("base_rate")
	a := built(t)(m, lines).Answer
	if rival := a.Rivals[0]; a.Configuration != 0 || rival.Difference != -0.75 || a.Skill.Difference != 0.75 {
		t.Errorf("%+v %+v", rival, a.Skill)
	}
}

// A configuration that failed in one fold counts as failed, whatever its other fits are.
func TestAbsent(t *testing.T) {
	m, lines := contestants(t, [2][2]float64{{1, 1}, {1, 1}}, [2][2]float64{{1, 1}, {1, 1}}, [2][2]float64{{1, 1}, {1, 1}})
	*lines[5].Fit = record.Fit{Configuration: 1, Study: 2, Chosen: -1, Failure: cause.Failure.New("no fixed point")}
	a := built(t)(m, lines).Answer
	if a.Competed != 2 || a.Absent[reports.Failed] != 1 || len(a.Absent) != 1 {
		t.Errorf("%+v", a)
	}
	if i := slices.IndexFunc(a.Trust, func(t reports.Trust) bool { return t.Kind == cause.NotCompeting }); a.Trust[i].Count != 1 {
		t.Errorf("%+v", a.Trust)
	}
}

// There is no answer before all configurations are scored on all folds. Until then they are
// compared on the folds that both have: #1 has the first two. There the true classes have the
// probabilities 3/4 and 7/8 by #1, and 1/2 by #0. #2 has failed.
func TestSoFar(t *testing.T) {
	m, lines := reporttest.Stopped()
	r := reporttest.Build(t, m, lines)
	bits := 2 + (math.Log2(0.75)+math.Log2(0.875))/2 - 1
	if r.Answer != nil || len(r.SoFar) != 1 {
		t.Fatalf("%+v %+v", r.Answer, r.SoFar)
	}
	s := r.SoFar[0]
	if s.Configuration != 1 || s.Folds != 2 || s.Planned != 5 || math.Abs(float64(s.Score)-bits) > 1e-12 || len(s.Rivals) != 1 || len(s.NotYet) != 0 {
		t.Fatalf("%+v", s)
	}
	if b := s.Rivals[0]; b.Configuration != 0 || b.Folds != 2 || b.Score != 0 || math.Abs(float64(b.Difference)+bits) > 1e-12 {
		t.Errorf("%+v", b)
	}
	lines = slices.DeleteFunc(lines, func(l record.Line) bool { return l.Fit.Configuration == 1 && l.Fit.Study > 0 })
	if s := reporttest.Build(t, m, lines).SoFar[0]; s.Configuration != 0 || s.Folds != 5 || len(s.Rivals) != 0 || !slices.Equal(s.NotYet, []int{1}) {
		t.Errorf("%+v", s)
	}
	lines = slices.DeleteFunc(lines, func(l record.Line) bool { return l.Fit.Configuration == 0 && l.Fit.Study > 0 })
	if r := reporttest.Build(t, m, lines); r.Answer != nil || len(r.SoFar) > 0 {
		t.Errorf("%+v %+v", r.Answer, r.SoFar)
	}
}

// The answer of nested cross-validation is the score of the chosen configurations on the outer
// folds. If a race over the two inner folds cuts #1 after the first, one of four fits is saved.
func TestAnswerOfNested(t *testing.T) {
	m, lines := reporttest.Rivals()
	m.Contests[0].Race, m.Contests[0].Options = "successive_halving", []byte(`{"eta":2}`)
	if n := built(t)(m, lines).Nested[0]; n.Fits != 4 || n.FitsSaved != 1 {
		t.Errorf("%d of %d fits saved, want 1 of 4", n.FitsSaved, n.Fits)
	}
	a := built(t)(reporttest.Rivals()).Answer
	if a.Configuration != 0 || a.By != "log_loss" || a.Score != 0 || a.Nested.Wins != 1 || a.Nested.Folds != 1 ||
		math.Abs(float64(a.Margin)-math.Ln2/2) > 1e-12 {
		t.Errorf("%+v %+v", a, a.Nested)
	}
}

// Without held-out cases the log evidence decides, and differences below one nat do not distinguish
// configurations.
func TestAnswerByEvidence(t *testing.T) {
	m, lines := contestants(t, [2][2]float64{}, [2][2]float64{}, [2][2]float64{})
	for i := range m.Configurations {
		m.Configurations[i].Studies = m.Configurations[i].Studies[:1]
	}
	lines = slices.DeleteFunc(lines, func(l record.Line) bool { return l.Fit.Study > 0 })
	for i, value := range []record.Number{-5, -3, -3.5} {
		lines[i].Fit.LogEvidence = value
	}
	a := reporttest.Build(t, m, lines).Answer // 8 cases of two equal classes: -8 ln 2 = -5.545
	if a.Configuration != 1 || a.By != "log_evidence" || a.Margin != 0.5 || !slices.Equal(a.Set, []int{1, 2}) ||
		math.Abs(float64(a.Skill.Difference)-(8*math.Ln2-3)) > 1e-12 || !a.Skill.Better {
		t.Errorf("%+v %+v", a, a.Skill)
	}
}

// Warnings of the same kind are grouped, whatever their words; an input without influence is no
// warning, and neither are points that were not kept a reason to doubt the fit.
func TestCauses(t *testing.T) {
	m, lines := contestants(t, [2][2]float64{{0.5, 0.5}, {0.5, 0.5}})
	of := func(k cause.Kind, texts ...string) (out []cause.Notice) {
		for _, text := range texts {
			out = append(out, k.New("%s", text))
		}
		return out
	}
	lines[0].Fit.Warnings = append(of(cause.NoInfluence, "length_scale[2]", "length_scale[3]"), of(cause.AtBound, "amplitude")...)
	lines[1].Fit.Warnings = append(of(cause.AtBound, "amplitude ended at its lower bound"), of("", "something new: 17 of it")...)
	lines[2].Fit.Warnings = of("", "something new: 18 of it")
	r := reporttest.Build(t, m, lines)
	var got []string
	for _, c := range r.WarningCauses() {
		got = append(got, strings.Repeat("note: ", map[bool]int{true: 1}[c.Note])+c.Cause+strings.Repeat("!", c.Count))
	}
	want := []string{"hyperparameters ended at a bound!!", "other warnings!!", "note: inputs have no influence!!"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if trust := r.Answer.Trust; len(trust) != 2 || trust[0].Cause != "hyperparameters ended at a bound" || trust[0].Count != 2 {
		t.Errorf("%+v", r.Answer.Trust)
	}

	for i := range lines {
		lines[i].Fit.Warnings = nil
	}
	lines[1].Fit.Warnings = of(cause.Unevaluated, "1 of 71 evaluations failed, the first with: not converged: laplace")
	if trust := reporttest.Build(t, m, lines).Answer.Trust; len(trust) != 1 ||
		trust[0].Cause != "the optimiser met points that could not be evaluated" { // the warning is about points that were not kept
		t.Errorf("%+v", trust)
	}

	lines[1].Fit = &record.Fit{Study: 1, Failure: cause.NotConverged.New("not converged: ep stopped").In("restart from [1 2]: at log_amplitude=1")}
	r = reporttest.Build(t, m, lines)
	if causes := r.FailureCauses(); len(causes) != 1 || causes[0].Notices[0].String() != "kfold fold 0: not converged: ep stopped" {
		t.Errorf("%+v", causes)
	}
	if f := r.Configurations[0].Failures[0]; f.Kind != cause.NotConverged || f.Message != "restart from [1 2]: at log_amplitude=1: not converged: ep stopped" {
		t.Errorf("%+v", f)
	}
}

// A best optimum that only one restart found is a reason to doubt it. There is no doubt if there
// was no other restart, if the next optimum is within 1 nat, or for Markov chains.
func TestTrustInRestarts(t *testing.T) {
	for _, test := range []struct {
		ends   []record.Number
		chains bool
		want   int // restarts that ended elsewhere
	}{
		{[]record.Number{-2.5, -1, -3}, false, 2}, {[]record.Number{-2, -1, -3}, false, 0},
		{[]record.Number{-1, -1, -3}, false, 0}, {[]record.Number{-1}, false, 0},
		{[]record.Number{-3, -1}, true, 0}, {nil, false, 0},
	} {
		m, lines := contestants(t, [2][2]float64{{1, 1}, {1, 1}})
		if test.chains {
			lines[0].Fit.Posterior = []record.Marginal{{Name: "log_amplitude", Mean: 1, SD: 1, RHat: 1, ESS: 100}}
		}
		for i, end := range test.ends {
			at := []record.Number{1}
			lines = append(lines, record.Line{Key: strings.Repeat("t", i+1), Trial: &record.Trial{Index: i, Start: at,
				Status: "converged", Points: []record.Point{{Theta: at, Natural: at, Value: end}}}})
		}
		r, got := reporttest.Build(t, m, lines), 0
		for _, doubt := range r.Answer.Trust {
			if doubt.Kind == cause.LoneOptimum {
				got = doubt.Count
			}
		}
		if o := r.Configurations[0].Optima(); o.Restarts != len(test.ends) || got != test.want {
			t.Errorf("%v: of %d restarts %d ended elsewhere, want %d", test.ends, o.Restarts, got, test.want)
		}
	}
}

// Nested cross-validation of two runs is compared, and so are the configurations of both runs. The
// log evidence of #0 belongs to the best sample of Markov chains.
func TestCompareNested(t *testing.T) {
	r := built(t)(reporttest.Rivals())
	c, err := reports.Compare(r, r)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range c.Pairs {
		got = append(got, fmt.Sprint(p.First.Name, " ", p.Second.Name, " ", p.Sampled))
	}
	want := []string{"A#0 B#0 true", "A#0 B#1 true", "A#1 B#0 true", "A#1 B#1 false", "A nested B nested false"}
	if !slices.Equal(got, want) {
		t.Fatalf("pairs %q, want %q", got, want)
	}
	if e := c.Pairs[4].Evaluations; len(e) != 1 || e[0].Name != "kfold" || e[0].McNemar.Cases != 2 {
		t.Errorf("%+v", e)
	}
}

// built returns a function that builds the report of a run.
func built(t *testing.T) func(record.Manifest, []record.Line) *reports.Report {
	return func(m record.Manifest, lines []record.Line) *reports.Report { return reporttest.Build(t, m, lines) }
}
