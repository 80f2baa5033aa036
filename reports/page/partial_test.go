package page

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

var (
	twoOfFive  = (math.Log(4./3) + math.Log(8./7)) / 2
	fourOfFive = (math.Ln2 + 3*math.Log(8./5)) / 4
)

// Wherever readers see the score of some folds only, the number of folds is in the same cell or
// line, and there is no interval.
func TestPartialScoresAreShownWithTheirCounts(t *testing.T) {
	m, lines := reporttest.Stopped()
	r := reporttest.Build(t, m, lines)
	texts := map[string]string{}
	for _, format := range []string{"text", "markdown", "html"} {
		texts[format] = string(Render(t, format, r))
	}
	var shown, compared, live bytes.Buffer
	for c := range 3 {
		s, err := r.Show(c, -1)
		if err != nil {
			t.Fatal(err)
		}
		if err := table.ShownForms[0].Render(&shown, s); err != nil {
			t.Fatal(err)
		}
	}
	c, err := reports.Compare(r)
	if err != nil {
		t.Fatal(err)
	}
	if err := table.ComparisonForms[0].Render(&compared, c); err != nil {
		t.Fatal(err)
	}
	p, err := reports.BuildProgress(m, lines)
	if err != nil {
		t.Fatal(err)
	}
	if err := NewLive("v", "d", p, "").WriteHTML(&live, r); err != nil {
		t.Fatal(err)
	}
	texts["show"], texts["compare"], texts["live"] = shown.String(), compared.String(), live.String()
	for _, of := range []struct {
		value float64
		count string
	}{{twoOfFive, "2 of 5 folds)"}, {fourOfFive, "4 of 5 folds, 1 failed)"}} {
		for name, text := range texts {
			count := 0
			for _, number := range []string{fmt.Sprintf("%.4f", of.value), reports.Readable(of.value), reports.Exact(of.value)[:12]} {
				for _, after := range strings.Split(text, number)[1:] {
					if len(number) == 12 {
						after = strings.TrimLeft(after, "0123456789") // to its last digit
					} else if after[0] >= '0' && after[0] <= '9' {
						continue // another number
					}
					// if the status of the row has the count, a star refers to it
					starred := regexp.MustCompile(`^(\*|\\\*|\{\*\})`).MatchString(after) &&
						strings.Contains(text, "over some folds alone, see status") &&
						strings.Contains(text, ": "+of.count[:1]+"/5 folds done")
					if !starred && !strings.HasPrefix(after, " ("+of.count) {
						t.Errorf("%s shows %s without the count: %.60q", name, number, after)
					}
					count++
				}
			}
			if count == 0 && name != "compare" {
				t.Errorf("%s does not show %v", name, of.value)
			}
		}
	}
	// The same holds for costs, headings and legends.
	for name, want := range map[string][]string{
		"text": {"    kfold (2 of 5 folds): decisions cost ", "1  missing: 2/5 folds done  ep ", "2  failed: 4/5 folds done   pl "},
		"html": {"<h3>decisions, kfold, 2 of 5 folds (rows: true classes)</h3>",
			"#1 ep (2 of 5 folds)</span>", "#2 pl (4 of 5 folds, 1 failed)", "#0 laplace: AUC 0.500 ("},
		"compare": {"corrected t-test, folds 2 of 5\n", "McNemar, of 4 cases only #0 is right on 0, only #1 on 2\n"},
	} {
		for _, w := range want {
			if !strings.Contains(texts[name], w) {
				t.Errorf("%s: no %q", name, w)
			}
		}
	}
	if intervals := strings.Count(texts["text"], "–"); intervals != 1 { // the error rate of the complete configuration
		t.Errorf("%d intervals in\n%s", intervals, texts["text"])
	}
}

// Files for programs have the count of folds with the values, and no count if all folds are done.
func TestPartialScoresForPrograms(t *testing.T) {
	m, lines := reporttest.Stopped()
	r := reporttest.Build(t, m, lines)
	type scores struct {
		LogLoss struct{ Value float64 } `json:"log_loss"`
		Partial *reports.Partial
	}
	var results struct {
		Configurations []struct {
			Scores      scores
			Evaluations []struct{ Scores scores }
			Folds       []struct{ Scores map[string]any }
		}
	}
	if err := json.Unmarshal(Render(t, "json", r), &results); err != nil {
		t.Fatal(err)
	}
	want := []*reports.Partial{nil, {Done: 2, Failed: 0, Planned: 5}, {Done: 4, Failed: 1, Planned: 5}}
	for i, c := range results.Configurations {
		for _, got := range []scores{c.Scores, c.Evaluations[0].Scores} {
			if fmt.Sprint(got.Partial) != fmt.Sprint(want[i]) {
				t.Errorf("#%d: %v, want %v", i, got.Partial, want[i])
			}
			if value := []float64{math.Ln2, twoOfFive, fourOfFive}[i]; math.Abs(got.LogLoss.Value-value) > 1e-15 {
				t.Errorf("#%d: %v, want %v", i, got.LogLoss.Value, value)
			}
		}
		for _, f := range c.Folds {
			if f.Scores["partial"] != nil {
				t.Errorf("#%d: a fold is %v", i, f.Scores["partial"])
			}
		}
	}
	rows, err := csv.NewReader(bytes.NewReader(Render(t, "csv", r))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var pooled []string
	for _, row := range rows[1:] {
		if fold := row[slices.Index(rows[0], "fold")]; strings.HasPrefix(fold, "pooled") {
			pooled = append(pooled, fold)
		}
	}
	if !slices.Equal(pooled, []string{"pooled", "pooled 2 of 5 folds", "pooled 4 of 5 folds, 1 failed"}) {
		t.Errorf("results.csv has %q", pooled)
	}
}

// Two configurations are compared on the folds that both have, and their number is shown;
// configurations cut from a race are not compared.
func TestComparePartial(t *testing.T) {
	m, lines := reporttest.Stopped()
	c, err := reports.Compare(reporttest.Build(t, m, lines))
	if err != nil {
		t.Fatal(err)
	}
	of := func(a, b int) reports.Pair {
		return c.Pairs[slices.IndexFunc(c.Pairs, func(p reports.Pair) bool { return p.First.Configuration == a && p.Second.Configuration == b })]
	}
	for _, test := range []struct {
		a, b   int
		want   reports.Partial
		losses []float64 // differences, by fold
	}{
		{0, 1, reports.Partial{Done: 2, Failed: 0, Planned: 5}, []float64{math.Log(1.5), math.Log(1.75)}},
		{0, 2, reports.Partial{Done: 4, Failed: 1, Planned: 5}, []float64{0, math.Log(1.25), math.Log(1.25), math.Log(1.25)}},
		{1, 2, reports.Partial{Done: 2, Failed: 1, Planned: 5}, []float64{-math.Log(1.5), -math.Log(1.4)}},
	} {
		e := of(test.a, test.b).Evaluations[0]
		if e.Folds != test.want.Done || e.Partial == nil || *e.Partial != test.want {
			t.Errorf("#%d − #%d: %d folds, %v", test.a, test.b, e.Folds, e.Partial)
		}
		mean := 0.0
		for _, d := range test.losses {
			mean += d / float64(len(test.losses))
		}
		if got := e.Scores[slices.IndexFunc(e.Scores, func(s reports.PairedScore) bool { return s.Name == "log_loss" })]; math.Abs(float64(got.Difference)-mean) > 1e-15 || got.DF != len(test.losses)-1 {
			t.Errorf("#%d − #%d: %+v, want %v", test.a, test.b, got, mean)
		}
	}
	// Compared with its own complete run, the two folds are compared as well; compared with a run
	// without folds, none is.
	whole := func(n int) *reports.Report {
		lines := slices.DeleteFunc(slices.Clone(lines), func(l record.Line) bool { return l.Fit.Configuration != 1 || l.Fit.Study > n })
		m := m
		return reporttest.Build(t, m, lines)
	}
	if c, err = reports.Compare(whole(5), whole(0)); err != nil {
		t.Fatal(err)
	}
	if p := of(1, 1); len(p.Evaluations) != 0 || !slices.Contains(p.Notes, "kfold: no fold is done by both: the first has 2 of 5 folds, the second 0 of 5 folds") {
		t.Errorf("%+v", p)
	}
}
