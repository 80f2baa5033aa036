package table

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/reports"
)

// MostAnswered is the maximum number of lines of an answer in a text.
const MostAnswered = 6

// Answered is the answer in words, with at most this many facts: the best configuration, its score,
// the margin over the next, the comparison with the base rate, reasons to doubt it, and the command
// that keeps it. If the best is not better than the base rate, this comes first. With several data
// sets, each has one fact.
func Answered(r *reports.Report, most int) (out []Fact) {
	all := r.Decided()
	switch {
	case len(r.Illustrations) > 0:
		return illustrated(r)
	case len(r.Configurations) == 0:
		return nil
	case len(all) == 0 && r.Missing > 0:
		return []Fact{{"no answer yet", fmt.Sprintf("at least %s missing; no configuration is scored on all folds",
			Counted(r.Missing, "job is", "jobs are"))}}
	case len(all) == 0:
		return []Fact{{"no answer", "no configuration could be scored on all folds; the failures say why"}}
	case len(all) == 1:
		return answered(r, all[0])
	}
	for i, a := range all {
		if len(out) == most-1 && len(all) > most {
			return append(out, Fact{"and", fmt.Sprintf("%d more data sets, in the table", len(all)-i)})
		}
		name := fmt.Sprintf("%s, %s", modelName(r, a.Configuration), scoreText(a, ""))
		if a.Next != nil {
			name += fmt.Sprintf("; %s better than #%d (%s)", difference(a, float64(a.Margin)), *a.Next, tested(a.P))
		}
		if doubt := doubtedSkill(a); doubt != "" {
			name = doubt + ": " + name
		} else if a.Skill != nil {
			name += "; better than the base rate (" + skillText(a) + ")"
		}
		out = append(out, Fact{"best on " + a.Dataset, name})
	}
	return out
}

// illustrated describes the results of a run without data.
func illustrated(r *reports.Report) []Fact {
	var kinds []string
	for _, i := range r.Illustrations {
		if !slices.Contains(kinds, i.Kind) {
			kinds = append(kinds, i.Kind)
		}
	}
	return []Fact{{"no data", fmt.Sprintf("nothing is tuned or compared; %s (%s), drawn in the figures",
		Counted(len(r.Illustrations), "illustration", "illustrations"), strings.Join(kinds, ", "))}}
}

// answered is the answer for one data set.
func answered(r *reports.Report, a reports.Answer) (out []Fact) {
	base := "predicting the class frequencies"
	if len(r.Configurations[a.Configuration].Classes) == 0 {
		base = "predicting the mean and variance of the targets"
	}
	switch doubt := doubtedSkill(a); doubt {
	case "":
	case untested:
		out = append(out, Fact{doubt, fmt.Sprintf("%s better than %s, but too few data for a test", skillText(a),
			base)})
	case noSkill:
		out = append(out, Fact{doubt, fmt.Sprintf("the best is not better than %s (%s)", base, skillDifference(a))})
	default:
		out = append(out, Fact{doubt, fmt.Sprintf("the best is not significantly better than %s (%s)", base,
			skillText(a))})
	}
	out = append(out, Fact{"best", modelName(r, a.Configuration) + "; " + field(a)}, Fact{"score", longScore(a)})
	if margin := marginText(a); margin != "" {
		out = append(out, Fact{"margin", margin})
	}
	switch {
	case a.Skill == nil || !a.Skill.Better:
	case a.Skill.P.None():
		out = append(out, Fact{"skill", fmt.Sprintf("%s better than %s", skillText(a), base)})
	default:
		out = append(out, Fact{"skill", fmt.Sprintf("significantly better than %s (%s)", base, skillText(a))})
	}
	return append(out, Fact{"trust", trustText(r, a)}, Fact{"keep it", a.Keep})
}

// field describes how many configurations there are, and why some did not compete.
func field(a reports.Answer) string {
	all := a.Competed
	var others []string
	for _, of := range []struct {
		status    reports.Status
		one, many string
	}{
		{reports.Cut, "was cut by the race", "were cut by the race"},
		{reports.Failed, "failed", "failed"},
		{reports.Missing, "is incomplete", "are incomplete"},
		{reports.Done, "cannot be compared", "cannot be compared"},
	} {
		if n := a.Absent[of.status]; n > 0 {
			all += n
			others = append(others, Counted(n, of.one, of.many))
		}
	}
	if all == 1 {
		return "the only configuration"
	}
	text := fmt.Sprintf("the best of %d configurations", all)
	if len(others) > 0 {
		text += " (" + series(others) + ")"
	}
	return text
}

// modelName describes a configuration in words: its number, the parts of its model, and what else
// distinguishes it from the others of the run.
func modelName(r *reports.Report, i int) string {
	c, short := r.Configurations[i], r.ShortNames()
	words := []string{fmt.Sprintf("#%d", i)}
	add := func(name, text string, always bool, of func(reports.Configuration) string) {
		differs := slices.ContainsFunc(r.Configurations, func(d reports.Configuration) bool { return of(d) != of(c) })
		if text != "" && (always || differs) {
			words = append(words, name+" "+text)
		}
	}
	add("kernel", c.Part(short[c.Kernel.Text]), true, func(d reports.Configuration) string { return d.Kernel.Text })
	add("mean", c.Part(c.Mean.Text), false, func(d reports.Configuration) string { return d.Mean.Text })
	add("likelihood", c.Part(short[c.Likelihood.Text]), true,
		func(d reports.Configuration) string { return d.Likelihood.Text })
	add("inference", short[c.Inference.Text], true, func(d reports.Configuration) string { return d.Inference.Text })
	add("tuned with", short[c.TuneInference.Text], false, func(d reports.Configuration) string {
		if d.Hybrid() {
			return d.TuneInference.Text
		}
		return ""
	})
	add("preprocess", c.Preprocess, false, func(d reports.Configuration) string { return d.Preprocess })
	add("tune", c.Part(c.Tune), false, func(d reports.Configuration) string { return d.Tune })
	return strings.Join(words, ", ")
}

// scoreText is the score of an answer with its unit and name, followed by a remark.
func scoreText(a reports.Answer, beside string) string {
	s, of := shown(a.By), a.Evaluation
	if a.Nested != nil {
		of = strings.TrimSpace("nested " + of)
	}
	number := reports.Readable(s.factor * float64(a.Score))
	if !a.Low.None() && beside != "" {
		number = reports.Decimals(s.factor*float64(a.Score), commonDigits(s.factor, a.Low, a.High))
	}
	text := fmt.Sprintf("%s (%s%s)", quantity(number, s.unit), strings.TrimSpace(of+" "+a.By), beside)
	if !a.Low.None() && beside != "" {
		text += ", 95 % interval " + Interval{s.scaled(a.Low), s.scaled(a.High)}.String()
	}
	return text
}

// longScore is the score of an answer with its interval and its evaluation.
func longScore(a reports.Answer) string {
	beside := " of the training data"
	if a.Cases > 0 {
		beside = ", " + Counted(a.Cases, "held-out case", "held-out cases")
	}
	text := scoreText(a, beside)
	if s, err := cv.ScoreNamed(a.By); err == nil {
		of := map[bool]string{true: "higher", false: "lower"}[s.Greater] + " is better"
		if s.Base {
			of = "the base rate scores 0, " + of
		}
		text += "; " + of
	}
	if n := a.Nested; n != nil {
		text += fmt.Sprintf("; #%d was chosen in %d of %d outer folds", a.Configuration, n.Wins, n.Folds)
	}
	return text
}

// marginText is the margin of the best over the next, and those that are not significantly worse.
func marginText(a reports.Answer) string {
	if a.Next == nil {
		return ""
	}
	of := a
	if n := a.Nested; n != nil {
		of.By = n.By
	}
	text := fmt.Sprintf("%s better than #%d, the next best", difference(of, float64(a.Margin)), *a.Next)
	if a.Nested != nil && a.Nested.By != "log_evidence" {
		text += " on the inner folds"
	}
	if !a.P.None() {
		corrected := ""
		if len(a.Rivals) > 1 {
			corrected = "corrected "
		}
		text += " (" + corrected + tested(a.P) + ")"
	}
	const most = 4
	var numbers []string
	for _, k := range a.Indistinguishable {
		numbers = append(numbers, fmt.Sprintf("#%d", k))
	}
	n := len(numbers)
	if n > most {
		numbers = append(numbers[:most-1], fmt.Sprintf("%d more", n-most+1))
	}
	switch {
	case len(a.Rivals) == 1:
		found := verdict(of.By, n == 0)
		if a.Rivals[0].Unskilled {
			found += ", but below the base rate"
		}
		return fmt.Sprintf("%s: it is %s", text, found)
	case n == 0:
		return fmt.Sprintf("%s; all others are %s", text, verdict(of.By, true))
	case n == len(a.Rivals):
		finished := ""
		if len(a.Absent) > 0 {
			finished = " that finished"
		}
		return fmt.Sprintf("%s; none of the other %d%s is %s", text, n, finished, verdict(of.By, true))
	}
	return fmt.Sprintf("%s; %s %s %s", text, series(numbers), map[bool]string{true: "is", false: "are"}[n == 1],
		verdict(of.By, false))
}

// verdict compares a configuration with the best in words: by a test of a score, or by the size of
// a difference of log evidences.
func verdict(by string, told bool) string {
	switch tested := by != "log_evidence"; {
	case tested && told:
		return "significantly worse"
	case tested:
		return "not significantly worse"
	case told:
		return "more than 1 nat worse"
	}
	return "within 1 nat of the best"
}

// Reasons to doubt that the best is better than the base rate, as titles of a fact.
const (
	untested = "skill untested"
	noSkill  = "no skill"
	notShown = "skill not shown"
)

// doubtedSkill is the reason to doubt that the best is better than the base rate, empty if there is
// none.
func doubtedSkill(a reports.Answer) string {
	switch s := a.Skill; {
	case s == nil || s.Better:
		return ""
	case !(s.Difference > 0):
		return noSkill
	case s.P.None() && s.By != "log_evidence":
		return untested
	}
	return notShown
}

// skillDifference is the difference of an answer from the base rate, with its unit.
func skillDifference(a reports.Answer) string {
	a.By = a.Skill.By
	return difference(a, float64(a.Skill.Difference))
}

// skillText is the comparison of an answer with the base rate: the p value or, without a test, the
// difference.
func skillText(a reports.Answer) string {
	switch {
	case a.Skill.P.None():
		return skillDifference(a)
	case a.Skill.By != a.By:
		return tested(a.Skill.P) + " by " + a.Skill.By
	}
	return tested(a.Skill.P)
}

// trustText lists the reasons to doubt an answer. If there are none it says what was checked.
func trustText(r *reports.Report, a reports.Answer) string {
	if len(a.Trust) == 0 {
		checked, unchecked := []string{"failures", "bounds", "convergence"}, []string{}
		switch restarts := r.Configurations[a.Configuration].Optima().Restarts; {
		case restarts > 1:
			checked = append(checked, "restarts")
		case restarts == 1:
			unchecked = append(unchecked, "restarts (only one)")
		}
		if a.Cases > 0 {
			checked = append(checked, "calibration")
		} else {
			unchecked = append(unchecked, "calibration (no held-out cases)")
		}
		text := "no problem found with " + series(checked)
		if len(unchecked) > 0 {
			text += "; not checked: " + series(unchecked)
		}
		return text
	}
	var texts []string
	for _, t := range a.Trust {
		text := t.Text
		if t.Remedy != "" {
			text += " (remedy: " + t.Remedy + ")"
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, "; ")
}

// scored is the format of a score.
type scored struct {
	factor float64
	unit   string
}

// scaled is a number in the unit.
func (s scored) scaled(x reports.Number) reports.Number { return reports.Number(s.factor) * x }

// shown is the format of a score or of the log evidence.
func shown(by string) scored {
	s, err := cv.ScoreNamed(by)
	switch {
	case err != nil:
		return scored{1, "nats"}
	case s.Column.Percent:
		return scored{100, "%"}
	}
	return scored{1, s.Unit}
}

// difference is a score or a difference of scores with its unit.
func difference(a reports.Answer, v float64) string {
	s := shown(a.By)
	return quantity(reports.Readable(s.factor*v), s.unit)
}

// quantity is a number with its unit.
func quantity(number, unit string) string {
	if number == "1" {
		first, rest, _ := strings.Cut(unit, " ")
		unit = strings.TrimSuffix(first, "s") + " " + rest // 1 bit per case
	}
	return strings.TrimSpace(number + " " + unit)
}

// tested is a p value in words.
func tested(p reports.Number) string {
	text := reports.P(p)
	switch {
	case text == "":
		return "no test"
	case text[0] == '<' || text[0] == '>':
		return "p " + text
	}
	return "p = " + text
}

// series joins words: "a, b and c".
func series(words []string) string {
	if len(words) < 2 {
		return strings.Join(words, "")
	}
	last := len(words) - 1
	return strings.Join(words[:last], ", ") + " and " + words[last]
}

// Counted is a number with its noun: "1 case", "2 cases".
func Counted(n int, one, many string) string {
	return fmt.Sprintf("%d %s", n, cmp.Or(map[bool]string{true: one}[n == 1], many))
}
