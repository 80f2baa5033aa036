package table

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/reports"
)

// MostAnswered is how many lines an answer has in a text.
const MostAnswered = 6

// Answered is the answer in words, of at most so many facts: the best configuration, its score, the
// margin over the next, what it is worth, what speaks against trusting it, and the command that
// keeps it. That the best is no better than the base rate comes first. Of several data sets each
// has one fact.
func Answered(r *reports.Report, most int) (out []Fact) {
	all := r.Decided()
	switch {
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
		name := fmt.Sprintf("%s, %s", modelName(r, a.Configuration), scoreText(a))
		if a.Next != nil {
			name += fmt.Sprintf("; %s better than #%d (%s)", difference(a, float64(a.Margin)), *a.Next, tested(a.P))
		}
		switch {
		case untested(a):
			name = "skill untested: " + name
		case a.Skill != nil && !a.Skill.Better:
			name = "no skill beyond the base rate: " + name
		case a.Skill != nil:
			name += "; better than the base rate (" + worth(a) + ")"
		}
		out = append(out, Fact{"best on " + a.Dataset, name})
	}
	return out
}

// answered is the answer of one data set.
func answered(r *reports.Report, a reports.Answer) (out []Fact) {
	if untested(a) {
		out = append(out, Fact{"skill untested", skillText(a) + " above the base rate, and too little for a test"})
	} else if a.Skill != nil && !a.Skill.Better {
		out = append(out, Fact{"no skill", fmt.Sprintf("the best is not better than the base rate by a test (%s)",
			skillText(a))})
	}
	best := modelName(r, a.Configuration)
	rest := -a.Competed
	for _, c := range r.Configurations {
		if c.Dataset == a.Dataset {
			rest++
		}
	}
	switch {
	case rest > 0:
		best += fmt.Sprintf(" (of %d; %d more were cut, failed or lack folds)", a.Competed, rest)
	case a.Competed > 1:
		best += fmt.Sprintf(" (of %d)", a.Competed)
	}
	out = append(out, Fact{"best", best}, Fact{"score", longScore(a)})
	if margin := marginText(a); margin != "" {
		out = append(out, Fact{"margin", margin})
	}
	if a.Skill != nil && a.Skill.Better {
		out = append(out, Fact{"worth", fmt.Sprintf("better than the base rate (%s)", worth(a))})
	}
	return append(out, Fact{"trust", trustText(a.Trust)}, Fact{"keep it", a.Keep})
}

// modelName is a configuration in words: its number, the parts of its model, and what else differs
// between those of the run.
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

// scoreText is the score of an answer with its name and unit.
func scoreText(a reports.Answer) string {
	return difference(a, float64(a.Score)) + " by " + strings.TrimSpace(a.Evaluation+" "+a.By)
}

// longScore is the score of an answer with its interval, and what it is of.
func longScore(a reports.Answer) string {
	text := scoreText(a)
	if !a.Low.None() {
		s := shown(a.By)
		text += fmt.Sprintf(", 95 %% interval %s – %s", reports.Readable(s.factor*float64(a.Low)),
			reports.Readable(s.factor*float64(a.High)))
	}
	if a.Cases > 0 {
		text += fmt.Sprintf(", %s", Counted(a.Cases, "held-out case", "held-out cases"))
	}
	if s, err := cv.ScoreNamed(a.By); err == nil && s.Base {
		text += "; the base rate has 0"
	}
	if n := a.Nested; n != nil {
		text = fmt.Sprintf("nested, %s; #%d was chosen in %d of %d outer folds", text, a.Configuration, n.Wins, n.Folds)
	}
	return text
}

// marginText is by how much the best is better than the next, and what cannot be told apart from
// it.
func marginText(a reports.Answer) string {
	if a.Next == nil {
		return ""
	}
	of := a
	if n := a.Nested; n != nil {
		of.By = n.By
	}
	text := fmt.Sprintf("%s over #%d", difference(of, float64(a.Margin)), *a.Next)
	if a.Nested != nil && a.Nested.By != "log_evidence" {
		text += " on the inner folds"
	}
	if !a.P.None() {
		text += " (" + tested(a.P) + ")"
	}
	const most = 4
	var numbers []string
	for _, k := range a.Indistinguishable {
		numbers = append(numbers, fmt.Sprintf("#%d", k))
	}
	switch n := len(numbers); {
	case n == 0:
		return text + "; every other one is told apart from it"
	case n == len(a.Rivals) && n > 1:
		return fmt.Sprintf("%s; none of the others can be told apart from it", text)
	case n > most:
		numbers = append(numbers[:most-1], fmt.Sprintf("%d more", n-most+1))
	}
	return fmt.Sprintf("%s; %s cannot be told apart from it", text, series(numbers))
}

// untested says that there is no test of the best against the base rate.
func untested(a reports.Answer) bool {
	return a.Skill != nil && !a.Skill.Better && a.Skill.P.None() && a.Skill.By != "log_evidence"
}

// skillText is how far an answer is from the base rate.
func skillText(a reports.Answer) string {
	of := a
	of.By = a.Skill.By
	if a.Skill.P.None() {
		return difference(of, float64(a.Skill.Difference))
	}
	return tested(a.Skill.P)
}

// worth is by how much an answer is better than the base rate.
func worth(a reports.Answer) string {
	text := skillText(a)
	if a.Skill.P.None() {
		return text + " above it"
	}
	return text
}

// trustText is what speaks against an answer, the first two of it.
func trustText(trust []reports.Trust) string {
	if len(trust) == 0 {
		return "nothing speaks against it: failures, bounds, convergence, restarts, calibration"
	}
	const most = 2
	var texts []string
	for _, t := range trust[:min(most, len(trust))] {
		text := fmt.Sprintf("%s (%d)", t.Cause, t.Count)
		if t.Remedy != "" {
			text += ", remedy: " + t.Remedy
		}
		texts = append(texts, text)
	}
	if n := len(trust) - most; n > 0 {
		texts = append(texts, Counted(n, "more cause", "more causes"))
	}
	return strings.Join(texts, "; ")
}

// scored is how a score is shown.
type scored struct {
	factor float64
	unit   string
}

// shown is how a score or the log evidence is shown.
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
	number, unit := reports.Readable(s.factor*v), s.unit
	if number == "1" {
		unit = strings.Replace(unit, "s per", " per", 1) // 1 bit per case
	}
	return number + " " + unit
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

// Counted is a number with its word: "1 case", "2 cases".
func Counted(n int, one, many string) string {
	return fmt.Sprintf("%d %s", n, cmp.Or(map[bool]string{true: one}[n == 1], many))
}
