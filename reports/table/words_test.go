package table

import (
	"bytes"
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

var none = reports.Number(math.NaN())

// A number has its noun in the right form, and a quantity its unit; words are joined as in a sentence.
func TestNumbersInWords(t *testing.T) {
	for got, want := range map[string]string{
		Counted(0, "case", "cases"): "0 cases", Counted(1, "case", "cases"): "1 case", Counted(2, "case", "cases"): "2 cases",
		quantity("1", "bits per case"): "1 bit per case", quantity("2", "bits per case"): "2 bits per case",
		quantity("1", "nats"): "1 nat", quantity("3", ""): "3", quantity("1", ""): "1",
		series(nil): "", series([]string{"a"}): "a", series([]string{"a", "b"}): "a and b",
		series([]string{"a", "b", "c"}): "a, b and c",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The number of configurations includes the ones that did not compete, and each reason is counted.
func TestFieldOfConfigurations(t *testing.T) {
	for _, c := range []struct {
		absent map[reports.Status]int
		n      int
		want   string
	}{
		{nil, 1, "the only configuration"}, {nil, 2, "the best of 2 configurations"},
		{map[reports.Status]int{reports.Failed: 1}, 1, "the best of 2 configurations (1 failed)"},
		{map[reports.Status]int{reports.Cut: 2, reports.Missing: 1}, 3,
			"the best of 6 configurations (2 were cut by the race and 1 is incomplete)"},
		{map[reports.Status]int{reports.Cut: 1, reports.Dropped: 2, reports.Done: 3}, 1,
			"the best of 7 configurations (1 was cut by the race, 2 were dropped and 3 cannot be compared)"},
	} {
		if got := field(reports.Answer{Competed: c.n, Absent: c.absent}); got != c.want {
			t.Errorf("%v of %d: %q, want %q", c.absent, c.n, got, c.want)
		}
	}
}

// The conclusion names other configurations that may be the best, and reasons to doubt the best.
// Kinds decide whether it is hedged or a doubt, whatever the words of the reasons are.
func TestConclusions(t *testing.T) {
	words, _, _ := cause.Leak.Explanation()
	r := &reports.Report{Configurations: make([]reports.Configuration, 9)}
	for i := range r.Configurations {
		r.Configurations[i] = reporttest.Scored("d", "probit", "laplace", 0.25, "kfold")
		r.Configurations[i].Classes = []string{"a", "b"}
		r.Configurations[i].Hyperparameters = make(reports.Values, 3)
	}
	for i, name := range map[int]string{5: "logistic_regression", 7: "base_rate"} {
		r.Configurations[i].Kernel, r.Configurations[i].Inference = record.Plain("none"), record.Plain(name)
		r.Configurations[i].Likelihood, r.Configurations[i].Hyperparameters = record.Plain("none"), nil
	}
	const use = "use #3, the se kernel with laplace: "
	skill := &reports.Skill{By: "information_bits", AtLeast: 0.1234, Known: true, Better: true}
	unsure := &reports.Skill{By: "information_bits", AtLeast: -0.1, Known: true, Better: true}
	for _, c := range []struct {
		set      []int
		competed int
		by       string
		skill    *reports.Skill
		trust    []reports.Trust
		want     string
		kind     FactKind
	}{
		{[]int{3}, 1, "information_bits", nil, nil, use + "0.224 bits per case", Conclusion},
		{[]int{3}, 1, "information_bits", skill, nil, use + "0.224 bits per case, at least 0.12 better than guessing", Conclusion},
		{[]int{3}, 1, "error_rate", skill, nil, use + "22.4 % (lower is better), and at least 0.12 bits per case better than guessing", Conclusion},
		{[]int{3}, 1, "information_bits", unsure, nil, use + "0.224 bits per case; its predictions are better than chance, " +
			"but guessing may score as well", Conclusion},
		{[]int{3}, 2, "information_bits", nil, nil, use + "0.224 bits per case. It is the best of the 2", Conclusion},
		{[]int{3, 6}, 2, "information_bits", nil, nil, use + "0.224 bits per case. Any of the 2 may be the best; #3 is " +
			"at most 0.022 bits per case worse than any of them. No other of them is simpler", Conclusion},
		{[]int{3, 7, 5, 6, 8}, 8, "information_bits", skill, nil, use + "0.224 bits per case, at least 0.12 better than " +
			"guessing. 5 of the 8 may be the best; #3 is at most 0.022 bits per case worse than any of them. #5, " +
			"logistic regression, is the simplest of them, and at most 0.042 bits per case worse than #3: take it if you want " +
			"coefficients", Conclusion},
		{[]int{3, 7, 6}, 8, "information_bits", nil, nil, use + "0.224 bits per case. 3 of the 8 may be the best; #3 is at most " +
			"0.022 bits per case worse than any of them. No other of them is simpler", Conclusion},
		{[]int{3, 6}, 3, "log_evidence", nil, nil, use + "0.224 nats. 1 other is within 1 nat of it. No other of them is simpler", Conclusion},
		{[]int{3}, 3, "log_evidence", nil, nil, use + "0.224 nats. It is the best of the 3", Conclusion},
		{[]int{3}, 1, "information_bits", nil, []reports.Trust{{Cause: words}}, use + "0.224 bits per case. But trust names 1 " +
			"reason to doubt it", Hedged},
		{[]int{3}, 1, "information_bits", nil, []reports.Trust{{Cause: "x"}, {Cause: "y"}}, use + "0.224 bits per case. But " +
			"trust names 2 reasons to doubt it", Hedged},
		{[]int{3}, 1, "information_bits", nil, []reports.Trust{{Kind: cause.Leak, Cause: "in other words"}},
			"perhaps a leak: see the reasons to doubt it before you use #3", Doubtful},
	} {
		a := reports.Answer{Configuration: 3, Set: c.set, Alternatives: c.set[1:], Competed: c.competed, Trust: c.trust, By: c.by,
			Rivals: []reports.Rival{{Configuration: 5, Low: -0.0413}, {Configuration: 6, Low: none}},
			Skill:  c.skill, Score: 0.22436, Corrected: 0.3, Low: 0.2193, High: 0.2293, Cases: 9, AtMost: 0.0213}
		if c.by == "error_rate" {
			a.Corrected = 0.1
		}
		if got, kind := conclusion(r, a); got != c.want || kind != c.kind {
			t.Errorf("%q of kind %d, want %q of kind %d", got, kind, c.want, c.kind)
		}
	}
}

// Kernels of the same name are distinguished by their short texts.
func TestBriefNames(t *testing.T) {
	r := &reports.Report{}
	for _, kernel := range []string{"se", "linear", "{se: {ard: true}}", "none"} {
		of := reporttest.Scored("d", "probit", "ep", 0.25, "kfold")
		of.Kernel = reporttest.Declared(kernel)
		r.Configurations = append(r.Configurations, of)
	}
	r.Configurations[3].Likelihood, r.Configurations[3].Inference = record.Plain("none"), record.Plain("k_nearest_neighbours")
	for i, want := range []string{"the kernel se with ep", "the linear kernel with ep", "the kernel se(ard: true) with ep",
		"k nearest neighbours"} {
		if got := briefName(r, i); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// A number has the digits that its error allows, a bound two, rounded away from what it bounds.
func TestDigitsOfErrors(t *testing.T) {
	bits, percent := unitOf("information_bits"), unitOf("error_rate")
	for got, want := range map[string]string{
		bits.rounded(0.22436, 0.105): "0.22", bits.rounded(0.22436, 0.005): "0.224", bits.rounded(0.22436, none): "0.2244",
		bits.rounded(0.00135, 0.08): "0.001", bits.rounded(-0.08224, 0.08): "-0.08", bits.rounded(0, 0.08): "0",
		bits.rounded(12.3, 40): "12", percent.rounded(0.22436, 0.05): "22", percent.rounded(0.22436, 0.005): "22.4",
		bits.most(0.0213): "0.022", bits.least(0.0213): "0.021", bits.most(1.26): "1.3", bits.least(1.26): "1.2", bits.most(123.4): "124",
		percent.most(0.0123): "1.3", bits.least(-0.0123): "-0.013", bits.most(0.31): "0.31", bits.least(0.07): "0.070",
		bits.atMost(3.6e-7): "less than 0.001 bits per case", bits.atMost(0.001): "at most 0.0010 bits per case", bits.atMost(0): "at most 0 bits per case",
		percent.atMost(0.00002): "at most 0.0020 %",
		bits.most(0):            "0", bits.asExact(-1e-7, 0.02): "0.000", bits.asExact(-0.0225, 0.02): "-0.022", bits.asExact(0.5, none): "0.5",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// The set names up to six configurations, and the most that using the best can cost.
func TestSetInWords(t *testing.T) {
	upTo := func(n int) (all []int) {
		for i := range n {
			all = append(all, i)
		}
		return all
	}
	for _, c := range []struct {
		a    reports.Answer
		want string
	}{
		{reports.Answer{Set: []int{4}, Competed: 3, AtMost: none}, "#4 alone; no other of 3 is in the set that may be the best, at 95 %"},
		{reports.Answer{Set: []int{4}, Competed: 3, By: "log_evidence", AtMost: none}, "#4 alone; no other of 3 is within 1 nat of the best"},
		{reports.Answer{Set: []int{4, 2}, Competed: 3, By: "log_evidence", AtMost: none}, "2 of 3 within 1 nat of the best: #4 and #2"},
		{reports.Answer{Set: upTo(6), Competed: 9, AtMost: none}, "6 of 9 may be the best, at 95 %: #0, #1, #2, #3, #4 and #5"},
		{reports.Answer{Set: upTo(7), Competed: 9, AtMost: none}, "7 of 9 may be the best, at 95 %: #0, #1, #2, #3, #4 and 2 more"},
		{reports.Answer{Set: upTo(2), Competed: 2, By: "error_rate", AtMost: 0.0123}, "2 of 2 may be the best, at 95 %: " +
			"#0 and #1; #0 is at most 1.3 % worse than the best of them"},
	} {
		if got := setText(c.a); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// The text of the margin tells whether the next may be as good, and whether the margin counts at
// all.
func TestMarginInWords(t *testing.T) {
	next := 2
	for _, c := range []struct {
		margin reports.Number
		rival  reports.Rival
		want   string
	}{
		{0.25, reports.Rival{Low: none}, "25 % better than #2, the next best"},
		{0.25, reports.Rival{Low: none, InSet: true}, "25 % better than #2, the next best, which may be as good"},
		{0.25, reports.Rival{Low: -0.5, High: 0.125, InSet: true},
			"25 % better than #2, the next best, which may be as good (95 % bounds -12 to 50)"},
		{0.25, reports.Rival{Low: none, InSet: true, None: true},
			"25 % better than #2, the next best, which may be as good: two cases make the difference"},
		{0, reports.Rival{Low: none, InSet: true, None: true}, "none: #2, the next best, scores the same"},
	} {
		a := reports.Answer{By: "error_rate", Next: &next, Margin: c.margin, Rivals: []reports.Rival{c.rival}}
		if got := marginText(a); got != c.want {
			t.Errorf("%+v: %q, want %q", c.rival, got, c.want)
		}
	}
	tiny := reports.Answer{By: "log_loss", Next: &next, Margin: 1e-7, Rivals: []reports.Rival{{Low: -0.25, High: 1e-7, InSet: true}}}
	if got, want := marginText(tiny), "less than 0.001 nats per case better than #2, the next best, which may be as good (95 % bounds "+
		"0.00 – 0.25)"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	a := reports.Answer{By: "error_rate", Next: &next, Margin: 0.25, Rivals: []reports.Rival{{Low: none}}}
	for by, want := range map[string]string{"log_loss": "0.25 nats per case better than #2, the next best on the inner folds",
		"log_evidence": "0.25 nats better than #2, the next best"} {
		a.Nested = &reports.Choice{By: by}
		if got := marginText(a); got != want {
			t.Errorf("chosen by %s: %q, want %q", by, got, want)
		}
	}
}

// The score has its cases, its interval, and its correction for the choice, which may come out on the wrong side.
func TestScoreInWords(t *testing.T) {
	r := &reports.Report{Configurations: []reports.Configuration{reporttest.Scored("d", "probit", "ep", 0.25, "kfold"),
		reporttest.Scored("d", "probit", "base_rate", 0.5, "kfold"), reporttest.Scored("other", "probit", "base_rate", 0.75, "kfold")}}
	for _, c := range []struct {
		a    reports.Answer
		want string
	}{
		{reports.Answer{By: "error_rate", Evaluation: "kfold", Score: 0.25, Low: none, Corrected: none, Cases: 1, Different: 1},
			"25 % (kfold error_rate, 1 held-out case); lower is better"},
		{reports.Answer{By: "error_rate", Evaluation: "kfold", Score: 0.25, Low: 0.125, High: 0.5, Corrected: 0.375, Cases: 8,
			Different: 4, Competed: 3}, "25.0 % (kfold error_rate, 8 predictions of 4 held-out cases), 95 % interval " +
			"12.5 – 50.0; lower is better; corrected for the choice of 3: 38 %"},
		{reports.Answer{By: "error_rate", Evaluation: "kfold", Score: 0.25, Low: none, Corrected: 0.125, Cases: 4, Different: 4,
			Competed: 3}, "25 % (kfold error_rate, 4 held-out cases); lower is better; the choice of 3 needs no correction"},
		{reports.Answer{By: "information_bits", Evaluation: "kfold", Score: 0.25, Low: none, Corrected: 0.125, Cases: 4,
			Different: 4, Competed: 2}, "0.25 bits per case (kfold information_bits, 4 held-out cases); the base rate scores 0, " +
			"higher is better; corrected for the choice of 2: 0.125 bits per case; 25.0 % errors (base rate: 50.0 %)"},
		{reports.Answer{By: "information_bits", Configuration: 1, Evaluation: "kfold", Score: 0, Low: 0, High: 0, Corrected: -0.1,
			Cases: 4, Different: 4, Competed: 2}, "0.000 bits per case (kfold information_bits, 4 held-out cases), 95 % interval " +
			"0.000 – 0.000; the base rate scores 0, higher is better; 50.0 % errors (base rate: 50.0 %)"},
		{reports.Answer{By: "information_bits", Evaluation: "kfold", Score: 0.25, Low: none, Corrected: 0.5, Cases: 4,
			Different: 4, Competed: 2}, "0.25 bits per case (kfold information_bits, 4 held-out cases); the base rate scores 0, " +
			"higher is better; the choice of 2 needs no correction; 25.0 % errors (base rate: 50.0 %)"},
		{reports.Answer{By: "log_evidence", Score: -4, Low: none, Corrected: none}, "-4 nats (log_evidence of the training data)"},
		{reports.Answer{By: "error_rate", Configuration: 1, Evaluation: "kfold", Score: 0.25, Low: none, Corrected: 0.375, Cases: 4,
			Different: 4, Nested: &reports.Choice{By: "log_loss", Score: 0.5, Wins: 2, Folds: 3}},
			"25 % (nested kfold error_rate, 4 held-out cases); lower is better; corrected for the choice of #1 on the inner " +
				"folds: 0.375 nats per case (log_loss) instead of 0.5 nats per case; #1 was chosen in 2 of 3 outer folds"},
	} {
		if got := longScore(r, c.a); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// Several data sets have a line each. Data sets beyond the maximum are counted.
func TestAnswersOfSeveralDataSets(t *testing.T) {
	next := 1
	r := &reports.Report{Configurations: []reports.Configuration{reporttest.Scored("d", "probit", "ep", 0.25, "test"),
		reporttest.Scored("d", "probit", "laplace", 0.5, "test")}}
	a := reports.Answer{By: "error_rate", Evaluation: "test", Score: 0.25, Low: none, Competed: 2, Next: &next, Margin: 0.125,
		Rivals: []reports.Rival{{Configuration: 1, InSet: true}}}
	of := func(name string, skill *reports.Skill) {
		a.Dataset, a.Skill = name, skill
		r.Answers = append(r.Answers, a)
	}
	const best = "#0, kernel se, likelihood probit, inference ep, 25 % (test error_rate); 12.5 % better than #1 (in the set)"
	of("a", nil)
	of("b", &reports.Skill{By: "information_bits", Difference: 0.5, AtLeast: none, Better: true})
	of("c", &reports.Skill{By: "information_bits", Difference: -0.5, AtLeast: none})
	want := []Fact{{Name: "best on a", Text: best}, {Name: "best on b", Text: best + "; 0.5 bits per case better than the base rate"},
		{"best on c", "no skill: " + best, Doubtful}}
	if got := Answered(r, 3); !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := Answered(r, 2); !slices.Equal(got, []Fact{want[0], {Name: "and", Text: "2 more data sets, in the table"}}) {
		t.Errorf("of at most two: %+v", got)
	}
	r.Answers = nil
	for _, name := range []string{"a", "b", "c"} {
		r.SoFar = append(r.SoFar, reports.SoFar{Dataset: name, By: "error_rate"})
	}
	names := func(all []Fact) string {
		var names []string
		for _, f := range all {
			names = append(names, f.Name)
		}
		return strings.Join(names, ", ")
	}
	for most, want := range map[int]string{6: "best so far on a, others, best so far on b, others, best so far on c, others",
		5: "best so far on a, others, best so far on b, others, and", 4: "best so far on a, others, best so far on b, others, and",
		3: "best so far on a, others, and", 1: "best so far on a, others, and"} {
		if got := names(Answered(r, most)); got != want {
			t.Errorf("at most %d: %s, want %s", most, got, want)
		}
	}
	if last := Answered(r, 4)[4].Text; last != "1 more data sets, unfinished" {
		t.Error(last)
	}
}

// Only the data set of the best has a text about the predicted quantity.
func TestAnswerSaysWhatIsPredicted(t *testing.T) {
	m, lines := reporttest.Rivals()
	r := reporttest.Build(t, m, lines)
	hash := r.Configurations[r.Answer.Configuration].Record.DataHash
	for _, c := range []struct {
		data []record.Described
		want string
	}{
		{nil, ""}, {[]record.Described{{DataHash: hash}, {DataHash: hash + "x", About: "no"}}, ""},
		{[]record.Described{{DataHash: hash + "x", About: "no"}, {DataHash: hash, About: "the label"}}, "the label"},
	} {
		if r.Manifest.Data = c.data; fact(r, "predicts") != c.want {
			t.Errorf("%+v: %q, want %q", c.data, fact(r, "predicts"), c.want)
		}
	}
}

// searchOf is a search of a program that has each of these values at one point.
func searchOf(minimize bool, values ...reports.Number) (c reports.Configuration) {
	c = reports.Configuration{Program: &record.Program{Minimize: minimize}, Objective: "value", Tune: "random", Status: reports.Done}
	var trials []*record.Trial
	for i, v := range values {
		if c.Grid = append(c.Grid, reports.GridPoint{Point: reports.Values{{Name: "x", Value: reports.Number(i)}}}); v.None() {
			c.Failures = append(c.Failures, reports.Failure{})
		} else if len(c.Best) == 0 || minimize && v < c.Best[0].Value || !minimize && v > c.Best[0].Value {
			c.Best = []reports.Best{{Value: v, Point: i}}
		}
		trials = append(trials, &record.Trial{Index: i, Points: make([]record.Point, 1)})
	}
	c.Studies = []reports.Study{{Trials: trials}}
	return c
}

// The search of a program with the best value wins; of equal ones, the first. Less is better if the
// program minimises.
func TestBestSearch(t *testing.T) {
	for _, c := range []struct {
		minimize bool
		values   []reports.Number // values of each search
		want     int
	}{
		{false, []reports.Number{1, 3, 2}, 1}, {true, []reports.Number{2, 3, 1}, 2}, {true, []reports.Number{1, 3, 2}, 0},
		{false, []reports.Number{3, 3, 1}, 0}, {true, []reports.Number{5, 3, 3}, 1}, {false, []reports.Number{none, 2, none}, 1},
		{false, []reports.Number{none}, -1},
	} {
		r := &reports.Report{}
		for _, v := range c.values {
			r.Configurations = append(r.Configurations, searchOf(c.minimize, v))
		}
		if got := bestSearch(r); got != c.want {
			t.Errorf("%+v: %d", c, got)
		}
	}
}

// The searches of a program have a row each, and an answer: the best value, and the number of
// evaluations.
func TestSearchesOfAProgram(t *testing.T) {
	r := &reports.Report{Missing: 1, Configurations: []reports.Configuration{searchOf(true, 5, none, 2), searchOf(true, 3), searchOf(true, none)}}
	r.Configurations[2].Status = reports.Failed
	want := []string{"#|status|tune|best value|evaluated|failed|hyperparameters", "0|best|random|2|3|1|x=2", "1||random|3|1|0|x=0",
		"2|failed|random||1|1|"}
	if got := lines(Summary(r))[1:]; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	facts := []Fact{{Name: "best", Text: "value 2 at x=2; #0, random"}, {Name: "trials", Text: "5 evaluated, 2 failed; the search is not finished"}}
	if got := Answered(r, MostAnswered); !slices.Equal(got, facts) {
		t.Errorf("%+v, want %+v", got, facts)
	}
	r.Missing = 0
	r.Configurations = r.Configurations[2:]
	if got := Answered(r, MostAnswered); !slices.Equal(got, []Fact{{"no answer", "none of 1 trial has a value; the failures say why", Doubtful}}) {
		t.Errorf("%+v", got)
	}
}

// A summary has the number of inducing inputs, and the percentage of the variance that they leave
// unexplained.
func TestSummaryOfInducingInputs(t *testing.T) {
	c := reports.Configuration{Inducing: &record.Inducing{Points: 20, Unexplained: 0.0125}}
	if got := Texts(inducingCells(c)); !slices.Equal(got, []string{"20", "1.2 %"}) {
		t.Errorf("%q", got)
	}
	if got := Texts(inducingCells(reports.Configuration{})); !slices.Equal(got, []string{"", ""}) {
		t.Errorf("without any: %q", got)
	}
}

// A cause names up to four configurations. Of more it names three and counts the others.
func TestCausesNameTheirConfigurations(t *testing.T) {
	for n, want := range map[int]string{0: "oh (7 times)", 1: "oh (7 times) in #0", 4: "oh (7 times) in #0, #1, #2 and #3",
		5: "oh (7 times) in #0, #1, #2 and 2 more", 9: "oh (7 times) in #0, #1, #2 and 6 more"} {
		c := reports.Cause{Cause: "oh", Count: 7, Notices: []reports.Notice{{Configuration: -1}}}
		for i := range n {
			c.Notices = append(c.Notices, reports.Notice{Configuration: i}, reports.Notice{Configuration: i})
		}
		if got := CauseText(c); got != want {
			t.Errorf("%d configurations: %q, want %q", n, got, want)
		}
	}
}

// A failed outer fold names the reason why each of its configurations was eliminated; eliminations
// in other folds are in the table.
func TestFailedOuterFolds(t *testing.T) {
	cuts := []reports.CutOff{{Configuration: 0, Folds: 1, Reason: "failed"}, {Configuration: 1, Folds: 2, Reason: "failed too"}}
	zero := 0
	n := reports.Nested{Score: "error_rate", Configurations: []int{0, 1}, OuterFolds: []reports.OuterFold{
		{Fold: 0, Status: reports.Failed, Cuts: cuts}, {Fold: 1, Repeat: 1, Status: reports.Done, Winner: &zero, Cuts: cuts[1:],
			Inner: []reports.Standing{{Configuration: 0, Value: 0.25}, {Configuration: 1, Value: 0.125}}}}}
	want := []string{"chosen: #0 in 1 of 2 outer folds, no winner, or none yet, in 1 of 2 outer folds",
		"FAILED repeat 0 fold 0: #0 cut after fold 1: failed", "FAILED repeat 0 fold 0: #1 cut after fold 2: failed too"}
	all := nestedContest(n)
	if !slices.Equal(all[0].Notes, want) {
		t.Errorf("%q, want %q", all[0].Notes, want)
	}
	var ends []string
	for _, row := range all[2].Rows {
		ends = append(ends, strings.Join(slices.DeleteFunc(Texts(row), func(s string) bool { return s == "" }), " "))
	}
	if want := []string{"1 1 #0 0.25 0 winner", "1 1 #1 0.125 0 cut after fold 2: failed too"}; !slices.Equal(ends, want) {
		t.Errorf("%q, want %q", ends, want)
	}
	rows := nestedRows(&reports.Report{Nested: []reports.Nested{n}})
	won := slices.IndexFunc(rows.Columns, func(c Column) bool { return c.Name == "won" })
	if len(rows.Rows) != 2 || rows.Rows[0][won].Value != true || rows.Rows[1][won].Value != false {
		t.Errorf("%+v", rows.Rows)
	}
}

// The warnings and the failure of a trial come after its points. A run without configurations has
// no table.
func TestEndsOfTexts(t *testing.T) {
	var b bytes.Buffer
	writeTrial(reports.Trial{Warnings: []string{"slow", "odd"}, Failure: "oh"}, &b, reports.Configuration{Objective: "log_evidence"})
	if !strings.HasSuffix(b.String(), "\nwarning: slow\nwarning: odd\nFAILED oh\n") {
		t.Error(b.String())
	}
	b.Reset()
	if err := progressText(&b, &reports.Progress{Experiment: "x", Next: "gpc-tune run"}); err != nil || strings.Contains(b.String(), "dataset") {
		t.Errorf("%v\n%s", err, &b)
	}
}

// The kind of a fact decides how pages show it. Neither its name nor its text does.
func TestFactsHaveKinds(t *testing.T) {
	for _, f := range []Fact{{Name: "no answer", Text: "x"}, {Name: "conclusion", Text: "no skill: x; but see y"},
		{Name: "keep it", Text: "x"}} {
		if f.Doubts() || f.Hedged() || f.Concludes() || f.Command() {
			t.Errorf("%+v is set apart by its words", f)
		}
	}
	for kind, want := range map[FactKind][4]bool{Conclusion: {true, false, false, false}, Hedged: {true, true, false, false},
		Doubtful: {false, false, true, false}, Command: {false, false, false, true}} {
		if f := (Fact{Kind: kind}); [4]bool{f.Concludes(), f.Hedged(), f.Doubts(), f.Command()} != want {
			t.Errorf("kind %d: %v, want %v", kind, f, want)
		}
	}
}

// Failures count failed jobs of all jobs on record, and failed points separately. For a program
// they count trials.
func TestFailuresInWords(t *testing.T) {
	for _, of := range []struct {
		program      *record.Program
		jobs, points int
		want         string
	}{
		{nil, 0, 0, ""},
		{nil, 0, 1, "1 point that could not be evaluated, which the searches went past"},
		{nil, 2, 0, "2 of 6 jobs; gpc-tune run with --retry-failed runs failed jobs again"},
		{nil, 1, 3, "1 of 6 jobs, and 3 points that could not be evaluated, which the searches went past; gpc-tune run with " +
			"--retry-failed runs failed jobs again"},
		{&record.Program{}, 2, 0, "2 of 5 trials; gpc-tune search with --retry-failed runs failed trials again"},
	} {
		m := record.Manifest{Configurations: []record.Configuration{{Program: of.program, Studies: []record.Study{{Evaluation: "train"}}}}}
		lines := []record.Line{{Key: "fit", Fit: &record.Fit{Chosen: -1}}}
		for i := range 5 {
			trial := record.Trial{Index: i, Status: "evaluated", Points: []record.Point{{}}}
			switch {
			case i < of.jobs:
				trial.Points, trial.Failure = nil, cause.Failure.New("no")
			case i == of.jobs:
				for range of.points {
					trial.Points = append(trial.Points, record.Point{Failure: cause.NotFinite.New("no")})
				}
			}
			lines = append(lines, record.Line{Key: fmt.Sprint(i), Trial: &trial})
		}
		if got := Failures(reporttest.Build(t, m, lines)); got != of.want {
			t.Errorf("%d jobs and %d points: %q, want %q", of.jobs, of.points, got, of.want)
		}
	}
}

// The restarts explain another log evidence of the final fit: the inducing inputs were selected
// again, or there was some other reason.
func TestRestartsNameTheDifference(t *testing.T) {
	before := reports.Number(-97.655)
	for _, of := range []struct {
		final    reports.Number
		inducing *record.Inducing
		want     string
	}{
		{-97.6551, nil, "1 restart (0 failed), ended at log_evidence -97.655"},
		{-97.634, &record.Inducing{Before: &before}, "1 restart (0 failed), ended at log_evidence -97.655; the log evidence " +
			"-97.634 is that of the final fit, whose inducing inputs were selected again there"},
		{-97.634, nil, "1 restart (0 failed), ended at log_evidence -97.655; the log evidence -97.634 is that of the final fit"},
	} {
		c := reports.Configuration{Objective: "log_evidence", LogEvidence: of.final, Inducing: of.inducing, Status: reports.Done,
			Restarts: []reports.Restart{{Value: -97.655}}}
		if got := Restarts(c); got != of.want {
			t.Errorf("%q, want %q", got, of.want)
		}
	}
	c := reports.Configuration{Objective: "cv_log_loss", LogEvidence: -1, Restarts: []reports.Restart{{Value: -0.5}}}
	if got, want := Restarts(c), "1 restart (0 failed), ended at negative cv_log_loss -0.500"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// What drives the predictions names the inputs that are not above noise, up to four of them.
func TestDriversInWords(t *testing.T) {
	of := func(above, noise int, by string) string {
		d := &record.Drivers{}
		for i := range above + noise {
			v := record.Importance{Input: string(rune('a' + i)), Bits: record.Number(1 - float64(i)/8), Noise: 0.01}
			v.Lo, v.Hi = v.Bits-0.25, v.Bits+0.25
			if i >= above {
				v.Noise = 2
			}
			d.Inputs = append(d.Inputs, v)
		}
		return Driven(reports.Answer{By: by, Drivers: d})
	}
	for got, want := range map[string]string{
		of(1, 0, "information_bits"): "a drives it most: shuffling it costs 1.00 bits per case (0.75 to 1.25)",
		of(2, 1, "information_bits"): "a drives it most: shuffling it costs 1.00 bits per case (0.75 to 1.25); then b (0.88); not above noise: c",
		of(1, 4, "standardized_log_loss"): "a drives it most: shuffling it costs 0.69 nats per case (0.52 to 0.87); not above noise: b, c, " +
			"d and e",
		of(5, 5, "information_bits"): "a drives it most: shuffling it costs 1.00 bits per case (0.75 to 1.25); then b (0.88), c (0.75) and " +
			"d (0.62); 5 of 10 inputs are not above noise",
		of(0, 2, "information_bits"): "no input is shown to matter: the importance of each may be 0, or noise",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// With costs the score has the cost of the decisions, the least cost of the same decision for all
// cases, and the errors are of the most probable class. Here 8 cases are of class a and 2 of b:
// always a costs 2·5/10, always b 8/10, and rejecting all 0.75.
func TestCostsInWords(t *testing.T) {
	c := reporttest.Scored("d", "probit", "ep", 0.25, "kfold")
	c.Record.Costs = &record.Costs{Loss: [][]record.Number{{0, 1}, {5, 0}}}
	c.Evaluations[0].Decisions = &reports.Decisions{Loss: 0.5, Table: [][]int{{6, 2, 0}, {0, 1, 1}}}
	r := &reports.Report{Configurations: []reports.Configuration{c}}
	a := reports.Answer{By: "information_bits", Evaluation: "kfold"}
	for reject, always := range map[record.Number]string{0: "b: 0.8", 0.75: "reject: 0.75", 0.9: "b: 0.8"} {
		if reject > 0 {
			c.Record.Costs.Reject = &reject
		}
		want := "; the decisions cost 0.5 per case (always " + always + "); 25.0 % errors of the most probable class"
		if got := plainScores(r, a); got != want {
			t.Errorf("%q, want %q", got, want)
		}
		c.Record.Costs.Reject = nil
	}
	c.Evaluations[0].Scores.Weight += 7 // the numbers of decisions have no weights
	if got, want := plainScores(r, a), "; the decisions cost 0.5 per case; 25.0 % errors of the most probable class"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

// The answer has the range of the thresholds that the folds chose.
func TestThresholdsInWords(t *testing.T) {
	for _, c := range []struct {
		first, last record.Number
		want        string
	}{{0.25, 0.5, "; it decides for M from a probability of 0.25 – 0.50, by fold, on"}, {0.5, 0.5, "; it decides for M from a probability of 0.50 on"}} {
		m, lines := reporttest.Held(12, func(int) float64 { return 0.5 })
		for i := range lines {
			lines[i].Fit.Threshold = &c.first
		}
		lines[len(lines)-1].Fit.Threshold = &c.last
		r := reporttest.Build(t, m, lines)
		if got := thresholds(r.Configurations[0], *r.Answer); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
	}
}

// What is missing is completed by a resumed run or, if the program asks for its trials, by asking.
func TestMissingSaysHowToGoOn(t *testing.T) {
	r := &reports.Report{Missing: 2, Configurations: []reports.Configuration{{}}}
	r.Configurations[0].Program = &record.Program{Command: []string{"train"}}
	run := Missing(r)
	r.Configurations[0].Program = &record.Program{}
	if asked := Missing(r); !strings.HasSuffix(run, "; resume the run to complete it") ||
		!strings.HasSuffix(asked, "; gpc-tune ask goes on with it") {
		t.Errorf("%q, %q", run, asked)
	}
}
