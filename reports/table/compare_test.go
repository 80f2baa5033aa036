package table

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// undecided adds a copy of configuration 1 to the hand-made run, in which every case has
// probabilities ½ : ½ and the log evidence is -6.5.
func undecided(t *testing.T) (m record.Manifest, lines []record.Line) {
	m, lines = reporttest.Run(t)
	_, again := reporttest.Run(t) // shares no memory
	copied := m.Configurations[1]
	m.Configurations = append(m.Configurations, copied)
	for _, line := range again {
		if line.Trial != nil && line.Trial.Configuration != 1 || line.Fit != nil && line.Fit.Configuration != 1 {
			continue
		}
		line.Key += " again"
		if line.Trial != nil {
			line.Trial.Configuration = 4
		} else {
			line.Fit.Configuration = 4
			for i := range line.Fit.Proba {
				line.Fit.Proba[i] = []record.Number{0.5, 0.5}
			}
			line.Fit.LogEvidence = -6.5
		}
		lines = append(lines, line)
	}
	return m, lines
}

// The log losses in the two folds are ½ ln(4/3) + ½ ln 2 | ½ ln 2 against ln 2 | ln 2. Two
// differences with n_test/n_train = ½ give t = mean/s; with one degree of freedom Student's t is
// Cauchy's distribution. Of four cases only configuration 1 decides the case of class M with p = 1
// rightly; the other decides all cases for F.
func TestCompare(t *testing.T) {
	m, lines := undecided(t)
	r := reporttest.Build(t, m, lines)
	c, err := reports.Compare(r)
	if err != nil {
		t.Fatal(err)
	}
	var pair *reports.Pair
	var pairs []string
	for i, p := range c.Pairs {
		pairs = append(pairs, fmt.Sprint(p.First.Configuration, p.Second.Configuration))
		if p.First.Configuration == 1 && p.Second.Configuration == 4 {
			pair = &c.Pairs[i]
		}
	}
	if pair == nil {
		t.Fatalf("pairs %v", pairs)
	}
	check := func(what string, got reports.Number, want float64) {
		t.Helper()
		if math.Abs(float64(got)-want) > 1e-12*max(1, math.Abs(want)) {
			t.Errorf("%s = %v, want %v", what, got, want)
		}
	}
	check("nats", pair.LogEvidence.Nats, 2.5)
	check("log10", pair.LogEvidence.Log10, 2.5/math.Ln10)
	e := pair.Evaluations[0]
	var loss *reports.PairedScore
	for i, s := range e.Scores {
		switch s.Name {
		case "log_loss":
			loss = &e.Scores[i]
		case "errors":
			t.Error("a count is compared")
		}
	}
	a, b := math.Log(2./3)/2, -math.Ln2/2
	mean, s := (a+b)/2, math.Abs(a-b)/math.Sqrt2
	check("mean", loss.Difference, mean)
	check("t", loss.T, mean/s)
	check("p", loss.P, 1-2/math.Pi*math.Atan(math.Abs(mean)/s))
	check("lo", loss.CI95[0], mean-math.Tan(0.475*math.Pi)*s)
	check("hi", loss.CI95[1], mean+math.Tan(0.475*math.Pi)*s)
	if mc := e.McNemar; mc.Cases != 4 || mc.OnlyFirst != 1 || mc.OnlySecond != 0 || mc.P != 1 || mc.Difference != -0.25 {
		t.Errorf("%+v", mc)
	}

	// Configuration 2 lacks a fold and is compared on the other.
	var text bytes.Buffer
	if err := ComparisonForms[0].Render(&text, c); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"#1 − #2         kfold       log_loss           0 (1 of 2 folds)                                no t-test, folds 1 of 2\n", "#1 − #4         all         log evidence       2.5 ", "Bayes factor 12.18\n",
		"McNemar, of 4 cases only #1 is right on 1, only #4 on 0\n"} {
		if squeeze := func(s string) string { return strings.Join(strings.Fields(s), " ") }; !strings.Contains(squeeze(text.String()), squeeze(want)) {
			t.Errorf("no %q in\n%s", want, text.String())
		}
	}
	if strings.Contains(text.String(), "NaN") {
		t.Errorf("%s", text.String())
	}
}

func TestCompareOnlyWhatIsTheSame(t *testing.T) {
	m, lines := undecided(t)
	for _, test := range []struct {
		what string
		do   func(m *record.Manifest, lines []record.Line)
		want string // part of a note; "" for ErrNothingInCommon
	}{
		{"other cases", func(_ *record.Manifest, lines []record.Line) {
			for _, l := range lines {
				if l.Fit != nil && l.Fit.Configuration == 4 && l.Fit.Study == 1 {
					l.Fit.Rows[0] = 77
				}
			}
		}, "kfold: the folds hold out other cases"},
		{"one against the rest", func(m *record.Manifest, _ []record.Line) {
			m.Configurations[4].Inference = reporttest.Declared("{one_vs_rest: laplace}")
		}, "log evidence: that of one_vs_rest"},
		{"another evaluation", func(m *record.Manifest, _ []record.Line) {
			m.Configurations[4].Studies = []record.Study{m.Configurations[4].Studies[0], {Key: "c", Evaluation: "cv", Train: 4, Test: 2}, {Key: "d", Evaluation: "cv", Fold: 1, Train: 4, Test: 2}}
		}, "kfold: the second has no such evaluation"},
		{"no log evidence", func(_ *record.Manifest, lines []record.Line) {
			for _, l := range lines {
				if l.Fit != nil && l.Fit.Configuration == 4 && l.Fit.Study == 0 {
					l.Fit.LogEvidence = record.Number(math.NaN())
				}
			}
		}, "log evidence: not both have one"},
		{"other data", func(m *record.Manifest, _ []record.Line) {
			for i := range m.Configurations {
				m.Configurations[i].DataHash = fmt.Sprint(i)
			}
		}, ""},
	} {
		m2, lines2 := undecided(t)
		test.do(&m2, lines2)
		c, err := reports.Compare(reporttest.Build(t, m2, lines2))
		if test.want == "" {
			if !errors.Is(err, reports.ErrNothingInCommon) {
				t.Errorf("%s: %+v, %v", test.what, c, err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		noted := false
		for _, p := range c.Pairs {
			if p.First.Configuration == 1 && p.Second.Configuration == 4 {
				noted = strings.Contains(strings.Join(p.Notes, "\n"), test.want)
			}
		}
		if !noted {
			t.Errorf("%s: no note %q", test.what, test.want)
		}
	}
	// Comparing a run with itself pairs every configuration with itself, without differences.
	r := reporttest.Build(t, m, lines)
	c, err := reports.Compare(r, r)
	if err != nil {
		t.Fatal(err)
	}
	same := 0
	for _, p := range c.Pairs {
		if p.First.Configuration != p.Second.Configuration {
			continue
		}
		same++
		if p.LogEvidence != nil && p.LogEvidence.Nats != 0 {
			t.Errorf("%+v", p.LogEvidence)
		}
		for _, e := range p.Evaluations {
			for _, s := range e.Scores {
				if s.Difference != 0 || s.CI95 != nil {
					t.Errorf("%s: %+v", e.Name, s)
				}
			}
		}
	}
	if same != len(m.Configurations) {
		t.Errorf("%d of %d configurations beside themselves", same, len(m.Configurations))
	}
}
