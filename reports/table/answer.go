package table

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/terminal"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
)

// MostAnswered is the maximum number of lines of an answer in a text.
const MostAnswered = 6

// Answered is the answer in words: the conclusion, reasons to doubt it, and the command that keeps
// the best. Then follow the best configuration, its score, the margin over the next, the set of
// configurations that may be the best, and the comparison with the base rate. With several data
// sets each of at most most has one fact.
func Answered(r *reports.Report, most int) (out []Fact) {
	all := r.Decided()
	switch {
	case len(r.Illustrations) > 0:
		return illustrated(r)
	case len(r.Configurations) == 0:
		return nil
	case r.Configurations[0].Program != nil:
		return searched(r)
	case len(all)+len(r.SoFar) == 0 && r.Missing > 0:
		return []Fact{{Name: "no answer yet", Text: fmt.Sprintf("at least %s missing; no configuration is scored on "+
			"all folds", Counted(r.Missing, "job is", "jobs are"))}}
	case len(all)+len(r.SoFar) == 0:
		return []Fact{{"no answer", "no configuration could be scored on all folds; the failures say why", Doubtful}}
	case len(all) == 1 && len(r.SoFar) == 0:
		return AnsweredFor(r, all[0])
	}
	for i, a := range all {
		if len(out) == most-1 && len(all) > most {
			return append(out, Fact{Name: "and", Text: fmt.Sprintf("%d more data sets, in the table", len(all)-i)})
		}
		name := fmt.Sprintf("%s, %s", modelName(r, a.Configuration), scoreText(a, ""))
		if a.Next != nil {
			name += fmt.Sprintf("; %s better than #%d (%s)", difference(a, float64(a.Margin)), *a.Next,
				verdict(a.Rivals[0].InSet))
		}
		kind := Plain
		if doubt := doubtedSkill(a); doubt != "" {
			name, kind = doubt+": "+name, Doubtful
		} else if a.Skill != nil {
			name += "; " + skillDifference(a) + " better than the base rate"
		}
		out = append(out, Fact{"best on " + a.Dataset, name, kind})
	}
	for i, s := range r.SoFar {
		if i > 0 && len(out)+2 > most {
			return append(out, Fact{Name: "and", Text: fmt.Sprintf("%d more data sets, unfinished", len(r.SoFar)-i)})
		}
		out = append(out, soFar(r, s)...)
	}
	return out
}

// soFar describes the results so far of an unfinished run for a data set.
func soFar(r *reports.Report, s reports.SoFar) []Fact {
	of := reports.Answer{By: s.By, Evaluation: s.Evaluation, Score: s.Score, Low: reports.Number(math.NaN())}
	best := modelName(r, s.Configuration) + "; " + scoreText(of, "")
	if s.Planned > 1 {
		best += fmt.Sprintf(" on %d of %d folds", s.Folds, s.Planned)
	}
	var others []string
	const most = 6
	for i, b := range s.Rivals {
		if i == most {
			others = append(others, fmt.Sprintf("%d more", len(s.Rivals)-most))
			break
		}
		text := fmt.Sprintf("#%d %s", b.Configuration, reports.Readable(unitOf(s.By).factor*float64(b.Difference)))
		if s.Planned > 1 {
			text += fmt.Sprintf(" (%s)", Counted(b.Folds, "fold", "folds"))
		}
		others = append(others, text)
	}
	text := "no verdict, because the run is unfinished"
	if len(others) > 0 {
		on := map[bool]string{true: ", on the folds that both have"}[s.Planned > 1]
		text += fmt.Sprintf("; %s from #%d%s: %s", unitOf(s.By).unit, s.Configuration, on, strings.Join(others, ", "))
	}
	if n := len(s.NotYet); n > 0 {
		text += fmt.Sprintf("; %s of %d not yet", Counted(n, "configuration", "configurations"), n+len(s.Rivals)+1)
	}
	return []Fact{{Name: "best so far on " + s.Dataset, Text: best}, {Name: "others", Text: text}}
}

// illustrated describes the results of a run without data.
func illustrated(r *reports.Report) []Fact {
	var kinds []string
	for _, i := range r.Illustrations {
		if !slices.Contains(kinds, i.Kind) {
			kinds = append(kinds, i.Kind)
		}
	}
	return []Fact{{Name: "no data", Text: fmt.Sprintf("nothing is tuned or compared; %s (%s), drawn in the figures",
		Counted(len(r.Illustrations), "illustration", "illustrations"), strings.Join(kinds, ", "))}}
}

// AnsweredFor is the answer for one data set: first the conclusion, the reasons to doubt it and the
// command to give, then the numbers.
func AnsweredFor(r *reports.Report, a reports.Answer) []Fact {
	var out []Fact
	hash := r.Configurations[a.Configuration].Record.DataHash
	for _, d := range r.Manifest.Data {
		if d.DataHash == hash && d.About != "" {
			out = append(out, Fact{Name: "predicts", Text: d.About})
		}
	}
	text, kind := conclusion(r, a)
	out = append(out, Fact{"conclusion", text, kind}, Fact{Name: "trust", Text: trustText(r, a)})
	if doubt := doubtedSkill(a); doubt != noSkill && doubt != notShown {
		out = append(out, Fact{"keep it", a.Keep, Command})
	}
	out = append(out, Fact{Name: "best", Text: modelName(r, a.Configuration) + "; " + field(a)},
		Fact{Name: "score", Text: longScore(r, a)})
	if a.Next != nil {
		out = append(out, Fact{Name: "margin", Text: marginText(a)}, Fact{Name: "set", Text: setText(a)})
	}
	if skill := skillText(r, a); skill != "" {
		out = append(out, Fact{Name: "skill", Text: skill})
	}
	if d := a.Drivers; d != nil && len(d.Inputs) > 0 {
		out = append(out, Fact{Name: "drivers", Text: Driven(a)})
	}
	return out
}

// conclusion is one sentence about what to do with the best.
func conclusion(r *reports.Report, a reports.Answer) (text string, kind FactKind) {
	base, what := baseline(r, a)
	best := fmt.Sprintf("#%d", a.Configuration)
	if doubt := doubtedSkill(a); doubt != "" {
		if a.Competed > 1 {
			best += fmt.Sprintf(", the best of %d,", a.Competed)
		}
		const next = ". More cases or other inputs may help"
		return doubt + ": " + map[string]string{
			noSkill: nothingBetter(r, a, best, base) + next,
			notShown: fmt.Sprintf("do not rely on %s yet: it scores %s better than %s, but chance alone may do that%s",
				best, skillDifference(a), base, next),
			uncertain: best + " tells something about the " + what + ", but its probabilities score no better than " +
				base,
		}[doubt], Doubtful
	}
	if a.Leak() {
		return "perhaps a leak: see the reasons to doubt it before you use " + best, Doubtful
	}
	text, kind = fmt.Sprintf("use %s, %s", best, briefName(r, a.Configuration)), Conclusion
	if gain := gainText(a); gain != "" {
		text += ": " + gain
	}
	for _, sentence := range []string{choiceText(a), simplerText(r, a)} {
		if sentence != "" {
			text += ". " + sentence
		}
	}
	if n := len(a.Trust); n > 0 {
		text += fmt.Sprintf(". But trust names %s to doubt it", Counted(n, "reason", "reasons"))
		kind = Hedged
	}
	return text, kind
}

// gainText is the score of the best, corrected for the choice, and the lower bound of its advantage
// over guessing.
func gainText(a reports.Answer) string {
	score := ""
	if a.Cases > 0 {
		s := unitOf(a.By)
		score = quantity(s.rounded(expected(a), (a.High-a.Low)/2), s.unit)
		if of, err := cv.ScoreNamed(a.By); err == nil && !of.Greater {
			score += " (lower is better)"
		}
	}
	s := a.Skill
	switch {
	case s == nil || s.By == "log_evidence":
		return score
	case !(s.AtLeast > 0):
		return score + "; its predictions are better than chance, but guessing may score as well"
	case s.By == a.By:
		return fmt.Sprintf("%s, at least %s better than guessing", score, unitOf(s.By).least(s.AtLeast))
	}
	return fmt.Sprintf("%s, and at least %s better than guessing", score, quantity(unitOf(s.By).least(s.AtLeast),
		unitOf(s.By).unit))
}

// choiceText is the number of configurations that may be the best, and the most that using the best
// can cost.
func choiceText(a reports.Answer) string {
	by, n := withSelectionScore(a).By, len(a.Set)
	switch {
	case a.Competed < 2:
		return ""
	case by == "log_evidence" && n > 1:
		return Counted(n-1, "other is", "others are") + " within 1 nat of it"
	case n == 1:
		return fmt.Sprintf("It is the best of the %d", a.Competed)
	}
	text := fmt.Sprintf("%d of the %d may be the best", n, a.Competed)
	if n == a.Competed {
		text = fmt.Sprintf("Any of the %d may be the best", n)
	}
	if !a.AtMost.None() {
		s := unitOf(by)
		text += fmt.Sprintf("; #%d is %s worse than any of them", a.Configuration, s.atMost(a.AtMost))
	}
	return text
}

// simplerText names the simplest configuration in the set, if it is simpler than the best. It skips
// the base rate, which the skill is about.
func simplerText(r *reports.Report, a reports.Answer) string {
	for _, k := range a.Alternatives {
		of := r.Configurations[k]
		switch {
		case of.Inference.Name() == "base_rate":
			continue
		case len(of.Hyperparameters) >= len(r.Configurations[a.Configuration].Hyperparameters):
			return "No other of them is simpler"
		}
		reason, cost := "fewer hyperparameters", ""
		if of.Inference.Name() == "logistic_regression" {
			reason = "coefficients"
		}
		s := unitOf(withSelectionScore(a).By)
		for _, rival := range a.Rivals {
			if rival.Configuration == k && !rival.Low.None() {
				cost = fmt.Sprintf(", and %s worse than #%d", s.atMost(-rival.Low), a.Configuration)
			}
		}
		return fmt.Sprintf("#%d, %s, is the simplest of them%s: take it if you want %s", k, briefName(r, k), cost,
			reason)
	}
	return ""
}

// briefName names a configuration by its kernel and its inference, or by the classifier that it is.
func briefName(r *reports.Report, i int) string {
	c := r.Configurations[i]
	inference := strings.ReplaceAll(c.Inference.Name(), "_", " ")
	if c.Part(c.Kernel.Text) == "" {
		return inference
	}
	kernel := "the " + c.Kernel.Name() + " kernel"
	if slices.ContainsFunc(r.Configurations, func(d reports.Configuration) bool {
		return d.Kernel.Text != c.Kernel.Text && d.Kernel.Name() == c.Kernel.Name()
	}) {
		kernel = "the kernel " + c.Part(r.ShortNames()[c.Kernel.Text])
	}
	return kernel + " with " + inference
}

// nothingBetter is the sentence that no configuration predicts better than the base rate. The best
// may be the base rate itself.
func nothingBetter(r *reports.Report, a reports.Answer, best, base string) string {
	if r.Configurations[a.Configuration].Inference.Name() == a.Skill.Against {
		return fmt.Sprintf("no configuration is shown to predict better than #%d, %s alone", a.Configuration, base)
	}
	return "even " + best + " predicts no better than " + base
}

// baseline names the baseline that predicts without inputs, and the predicted quantity.
func baseline(r *reports.Report, a reports.Answer) (base, what string) {
	if len(r.Configurations[a.Configuration].Classes) == 0 {
		return "the mean and variance of the targets", "targets"
	}
	return "the base rate", "labels"
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
		{reports.Dropped, "was dropped", "were dropped"},
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

// modelName describes a configuration in words: its number, the parts of its model, and everything
// else that distinguishes it from the other configurations of the run.
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
	tuner := func(d reports.Configuration) string {
		if d.Hybrid() {
			return d.TuneInference.Text
		}
		return ""
	}
	add("tuned with", short[tuner(c)], false, tuner)
	add("preprocess", c.Preprocess, false, func(d reports.Configuration) string { return d.Preprocess })
	add("tune", c.Part(c.Tune), false, func(d reports.Configuration) string { return d.Tune })
	return strings.Join(words, ", ")
}

// scoreText is the score of an answer with its unit and name, followed by a remark.
func scoreText(a reports.Answer, beside string) string {
	s, of := unitOf(a.By), a.Evaluation
	if a.Nested != nil {
		of = strings.TrimSpace("nested " + of)
	}
	number, interval := reports.Readable(s.factor*float64(a.Score)), ""
	if !a.Low.None() && beside != "" {
		digits := commonDigits(s.factor, a.Low, a.High)
		if of, err := cv.ScoreNamed(a.By); err == nil && of.Column.Heading != "" { // as in the table of results
			digits = of.Column.Digits
		}
		text := func(x reports.Number) string { return reports.Decimals(s.factor*float64(x), digits) }
		number, interval = text(a.Score), ", 95 % interval "+reports.Between(text(a.Low), text(a.High))
	}
	return fmt.Sprintf("%s (%s%s)%s", quantity(number, s.unit), strings.TrimSpace(of+" "+a.By), beside, interval)
}

// longScore is the score of an answer with its interval and its evaluation.
func longScore(r *reports.Report, a reports.Answer) string {
	beside := " of the training data"
	if a.Cases > 0 {
		beside = ", " + Counted(a.Different, "held-out case", "held-out cases")
		if a.Cases > a.Different {
			beside = fmt.Sprintf(", %d predictions of %s", a.Cases, beside[2:])
		}
		if a.Grouped {
			beside += fmt.Sprintf(" in %s", Counted(a.Units, "group", "groups"))
		}
	}
	text := scoreText(a, beside)
	if s, err := cv.ScoreNamed(a.By); err == nil {
		of := map[bool]string{true: "higher", false: "lower"}[s.Greater] + " is better"
		if s.Base {
			of = "the base rate scores 0, " + of
			if perfect := perfectBits(r, a); perfect != "" {
				of = "the base rate scores 0, perfect predictions " + perfect
			}
		}
		text += "; " + of
	}
	// a score with an empty interval does not depend on the cases
	if !a.Corrected.None() && (a.Nested != nil || a.Low != a.High) {
		text += "; " + correctedText(a)
	}
	text += plainScores(r, a)
	if n := a.Nested; n != nil {
		text += fmt.Sprintf("; #%d was chosen in %d of %d outer folds", a.Configuration, n.Wins, n.Folds)
	}
	return text
}

// correctedText is the score corrected for its selection. With nested cross-validation it is the
// score on the inner folds, before and after the correction. The bootstrap may come out a little
// above the score.
func correctedText(a reports.Answer) string {
	of := withSelectionScore(a)
	if n := a.Nested; n != nil {
		return fmt.Sprintf("corrected for the choice of #%d on the inner folds: %s (%s) instead of %s", a.Configuration,
			difference(of, float64(a.Corrected)), n.By, difference(of, float64(n.Score)))
	}
	if expected(a) == a.Score {
		return fmt.Sprintf("the choice of %d needs no correction", a.Competed)
	}
	s := unitOf(a.By)
	return fmt.Sprintf("corrected for the choice of %d: %s", a.Competed,
		quantity(s.rounded(a.Corrected, (a.High-a.Low)/2), s.unit))
}

// expected is the score to expect of the best on other cases: corrected for its selection, unless
// that is above the score.
func expected(a reports.Answer) reports.Number {
	s, err := cv.ScoreNamed(a.By)
	if a.Corrected.None() || a.Nested != nil || err != nil || (a.Corrected > a.Score) == s.Greater {
		return a.Score
	}
	return a.Corrected
}

// held is a score of a configuration on the evaluation of an answer; false if it has none.
func held(a reports.Answer, c reports.Configuration, name string) (v float64, ok bool) {
	for _, e := range c.Evaluations {
		if s, known := e.Scores.Value(name); known && e.Name == a.Evaluation {
			v, ok = s.Value, true
		}
	}
	return v, ok
}

// perfectBits is the information of probabilities of 1 for all labels: the log loss of the base
// rate; "" if the answer is not decided by information, or not on one evaluation.
func perfectBits(r *reports.Report, a reports.Answer) string {
	c := r.Configurations[a.Configuration]
	bits, ok := held(a, c, "information_bits")
	loss, known := held(a, c, "log_loss")
	if !ok || !known || a.By != "information_bits" || a.Nested != nil {
		return ""
	}
	return reports.Decimals(bits+loss/math.Ln2, 2)
}

// plainScores are the scores of the best that need no explanation: the cost of its decisions, its
// error rate and the error rate of the base rate, or for numbers the root mean squared error.
func plainScores(r *reports.Report, a reports.Answer) (text string) {
	if a.Nested != nil {
		return "" // the score is of the procedure
	}
	value := func(c reports.Configuration, name string) (float64, bool) {
		if a.By == name {
			return 0, false
		}
		return held(a, c, name)
	}
	percent := unitOf("error_rate")
	best, likeliest := r.Configurations[a.Configuration], ""
	for _, e := range best.Evaluations {
		if e.Name == a.Evaluation && e.Decisions != nil && best.Record.Costs != nil {
			if thresholds(best, a) == "" {
				likeliest = " of the most probable class"
			}
			text += fmt.Sprintf("; the decisions cost %s per case", reports.Readable(float64(e.Decisions.Loss)))
			if float64(e.Scores.N) == e.Scores.Weight { // the table of decisions has no weights
				class, least := constant(best, e.Decisions.Table)
				text += fmt.Sprintf(" (always %s: %s)", terminal.OneLine(class), reports.Readable(least))
			}
		}
	}
	text += thresholds(best, a)
	if v, ok := value(best, "error_rate"); ok {
		text += fmt.Sprintf("; %s %% errors%s", reports.Decimals(percent.factor*v, 1), likeliest)
		for _, c := range r.Configurations {
			if of, ok := value(c, "error_rate"); ok && c.Dataset == best.Dataset && c.Inference.Name() == "base_rate" {
				return text + fmt.Sprintf(" (base rate: %s %%)", reports.Decimals(percent.factor*of, 1))
			}
		}
	}
	if v, ok := value(best, "rmse"); ok {
		text += "; its predicted means have a root mean squared error of " + reports.Readable(v)
	}
	return text
}

// thresholds are the probabilities from which on the folds decide for the second of two classes, if
// they chose thresholds.
func thresholds(c reports.Configuration, a reports.Answer) string {
	lo, hi := math.Inf(1), math.Inf(-1)
	for _, s := range a.Scored() {
		if s.Fit != nil && s.Fit.Threshold != nil {
			lo, hi = min(lo, float64(*s.Fit.Threshold)), max(hi, float64(*s.Fit.Threshold))
		}
	}
	if lo > hi {
		return ""
	}
	from := reports.Decimals(lo, 2)
	if lo < hi {
		from = reports.Between(from, reports.Decimals(hi, 2)) + ", by fold,"
	}
	return fmt.Sprintf("; it decides for %s from a probability of %s on", terminal.OneLine(c.Classes[1]), from)
}

// constant returns the decision that costs least if it is taken for every case, and its mean cost.
// decided are the numbers of cases by their class and their decision.
func constant(c reports.Configuration, decided [][]int) (decision string, least float64) {
	costs := c.Record.Costs
	cases, total := make([]float64, len(decided)), 0.0
	for class, row := range decided {
		for _, n := range row {
			cases[class] += float64(n)
		}
		total += cases[class]
	}
	least = math.Inf(1)
	if costs.Reject != nil {
		decision, least = record.Rejected, float64(*costs.Reject)
	}
	for d, name := range c.Classes {
		sum := 0.0
		for class, n := range cases {
			sum += n * float64(costs.Loss[class][d])
		}
		if sum /= total; sum < least {
			decision, least = name, sum
		}
	}
	return decision, least
}

// withSelectionScore is an answer with the score by which the best was selected.
func withSelectionScore(a reports.Answer) reports.Answer {
	if a.Nested != nil {
		a.By = a.Nested.By
	}
	return a
}

// marginText is the margin of the best over the next.
func marginText(a reports.Answer) string {
	of, next := withSelectionScore(a), a.Rivals[0]
	inner := ""
	if a.Nested != nil && of.By != "log_evidence" {
		inner = " on the inner folds"
	}
	s := unitOf(of.By)
	margin := quantity(s.rounded(a.Margin, (next.High-next.Low)/2), s.unit)
	if least := negligible(of.By); float64(a.Margin) < least {
		margin = "less than " + quantity(reports.Readable(s.factor*least), s.unit)
	}
	text := fmt.Sprintf("%s better than #%d, the next best%s", margin, *a.Next, inner)
	switch {
	case next.InSet && !next.None:
		text += ", which may be as good"
	case next.None && a.Margin == 0:
		text = fmt.Sprintf("none: #%d, the next best, scores the same%s", *a.Next, inner)
	case next.None && float64(a.Margin) < negligible(of.By):
		text += ", which is negligible"
	case next.None:
		text += ", which may be as good: two cases make the difference"
	}
	if !next.Low.None() {
		err := (next.High - next.Low) / 2
		text += fmt.Sprintf(" (95 %% bounds %s)",
			reports.Between(s.asExact(-next.High, err), s.asExact(-next.Low, err)))
	}
	return text
}

// negligible is a difference of a score that decides nothing.
func negligible(by string) float64 {
	s, err := cv.ScoreNamed(by)
	if err != nil {
		return 0
	}
	return s.Negligible
}

// setText names the configurations that may be the best.
func setText(a reports.Answer) string {
	may := "may be the best, at 95 %"
	if withSelectionScore(a).By == "log_evidence" {
		may = "within 1 nat of the best"
	}
	const most = 6
	var numbers []string
	for _, k := range a.Set {
		numbers = append(numbers, fmt.Sprintf("#%d", k))
	}
	n := len(numbers)
	if n > most {
		numbers = append(numbers[:most-1], fmt.Sprintf("%d more", n-most+1))
	}
	text := fmt.Sprintf("%d of %d %s: %s", n, a.Competed, may, series(numbers))
	if n == 1 {
		text = fmt.Sprintf("#%d alone; no other of %d is %s", a.Set[0], a.Competed,
			strings.Replace(may, "may be the best", "in the set that may be the best", 1))
	}
	if n > 1 && !a.AtMost.None() {
		s := unitOf(withSelectionScore(a).By)
		text += fmt.Sprintf("; #%d is %s worse than the best of them", a.Configuration, s.atMost(a.AtMost))
	}
	return text
}

// verdict is the text on whether a configuration may be the best.
func verdict(in bool) string {
	if in {
		return reports.InSet
	}
	return "not in the set"
}

// Doubts about the skill of the best, as titles of a fact.
const (
	noSkill   = "no skill"
	notShown  = "skill not shown"
	uncertain = "scores no better"
)

// doubtedSkill is the reason to doubt that the best is better than the base rate, empty if there is
// none.
func doubtedSkill(a reports.Answer) string {
	switch s := a.Skill; {
	case s == nil || s.Better:
		return ""
	case s.Known:
		return uncertain
	case !(s.Difference > 0):
		return noSkill
	}
	return notShown
}

// skillText answers whether the best predicts better than chance, and whether it scores better than
// the base rate; "" if it is not known.
func skillText(r *reports.Report, a reports.Answer) string {
	s := a.Skill
	if s == nil {
		return ""
	}
	base, what := baseline(r, a)
	paid := ""
	if a.Competed > 1 && a.Nested == nil {
		paid = fmt.Sprintf(", the choice of %d paid for", a.Competed)
	}
	known := "better than chance"
	if !s.Known {
		known = "not shown to be better than chance"
	}
	known = fmt.Sprintf("its predictions of the %s are %s (permutation test at 5 %%%s)", what, known, paid)
	better := "better"
	if !(s.Difference > 0) {
		better = "worse"
	}
	score := fmt.Sprintf("it scores %s %s than %s", skillDifference(a), better, base)
	switch {
	case s.Difference == 0:
		score = "it scores as " + base
	case s.AtLeast > 0 && s.By != "log_evidence":
		corrected := ""
		if paid != "" {
			corrected = " and corrected for the choice"
		}
		return known + fmt.Sprintf("; its score is at least %s better than %s, at 95 %%%s", quantity(
			unitOf(s.By).least(s.AtLeast), unitOf(s.By).unit), base, corrected)
	}
	if s.By == "log_evidence" {
		return score
	}
	if !s.AtLeast.None() {
		score += fmt.Sprintf(" (lower 95 %% bound %s)", unitOf(s.By).least(s.AtLeast))
	}
	return known + "; " + score
}

// skillDifference is the size of the difference of an answer from the base rate, with its unit.
func skillDifference(a reports.Answer) string {
	s, d := unitOf(a.Skill.By), a.Skill.Difference
	err := d - a.Skill.AtLeast
	if a.By == a.Skill.By && !a.Low.None() {
		err = (a.High - a.Low) / 2 // the same digits as the score
	}
	return quantity(s.rounded(reports.Number(math.Abs(float64(d))), err), s.unit)
}

// trustText lists the reasons to doubt an answer. If there are none, the text names the checks.
func trustText(r *reports.Report, a reports.Answer) string {
	if len(a.Trust) == 0 {
		checked, unchecked := []string{"failures", "hyperparameters at bounds", "convergence"}, []string{}
		c := r.Configurations[a.Configuration]
		if fit := c.Studies[0].Fit; fit != nil && fit.Climbed > 0 {
			checked = append(checked, "the end of the search (with "+
				Counted(fit.Climbed, "evaluation", "evaluations")+" of bfgs)")
		}
		switch restarts := c.Optima().Restarts; {
		case restarts > 1:
			checked = append(checked, "restarts")
		case restarts == 1:
			unchecked = append(unchecked, "restarts (there was one start)")
		}
		if a.Cases > 0 {
			checked = append(checked, "calibration")
		} else {
			unchecked = append(unchecked, "calibration (no held-out cases)")
		}
		text := fmt.Sprintf("no problem found with the chosen fits of #%d; checked: %s", a.Configuration,
			series(checked))
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

// rounded is a number with the digits that its error allows. At least one digit is not 0.
func (s scored) rounded(value, err reports.Number) string {
	v, e := s.factor*float64(value), s.factor*float64(err)
	if !(e > 0) || math.IsInf(e, 0) || v == 0 {
		return reports.Readable(v)
	}
	first := -int(math.Floor(math.Log10(math.Abs(v))))
	return reports.Decimals(v, max(decimalsOf(e), first))
}

// asExact is a number with the digits that its error allows, which may all be 0.
func (s scored) asExact(value, err reports.Number) string {
	v, e := s.factor*float64(value), s.factor*float64(err)
	if !(e > 0) || math.IsInf(e, 0) {
		return reports.Readable(v)
	}
	digits := decimalsOf(e)
	if math.Abs(v) < 0.5*math.Pow10(-digits) {
		v = 0
	}
	return reports.Decimals(v, digits)
}

// decimalsOf is the number of decimals of a number with an error above 0: the last one is below a
// third of the error.
func decimalsOf(err float64) int {
	return max(0, min(int(math.Ceil(-math.Log10(err/3))), 6))
}

// least is a lower bound with two significant digits, rounded down.
func (s scored) least(value reports.Number) string { return s.bound(value, math.Floor) }

// most is an upper bound with two significant digits, rounded up.
func (s scored) most(value reports.Number) string { return s.bound(value, math.Ceil) }

// atMost is an upper bound in words, with its unit. A bound between 0 and 0.001 has no more digits.
func (s scored) atMost(value reports.Number) string {
	const least = 0.001
	if v := s.factor * float64(value); v > 0 && v < least {
		return "less than " + quantity(reports.Readable(least), s.unit)
	}
	return "at most " + quantity(s.most(value), s.unit)
}

func (s scored) bound(value reports.Number, round func(float64) float64) string {
	v := s.factor * float64(value)
	if v == 0 || math.IsInf(v, 0) || math.IsNaN(v) {
		return reports.Readable(v)
	}
	digits := max(0, 1-int(math.Floor(math.Log10(math.Abs(v)))))
	near := math.Round(v*math.Pow10(digits+3)) / 1e3 // a rounding error does not count
	return reports.Decimals(round(near)/math.Pow10(digits), digits)
}

// unitOf is the format of a score or of the log evidence.
func unitOf(by string) scored {
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
	s := unitOf(a.By)
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

// searched is the answer to the searches of a program: the best value, its point, and the number of
// evaluations.
func searched(r *reports.Report) (out []Fact) {
	trials, failed := 0, 0
	for _, c := range r.Configurations {
		trials += trialsOf(c)
		failed += failedOf(c)
	}
	i := bestSearch(r)
	one, many := evaluated(r)
	if i < 0 {
		return []Fact{{"no answer", noValue(r, Counted(trials, one, many)), Doubtful}}
	}
	c := r.Configurations[i]
	b := c.Best[0]
	which := fmt.Sprintf("#%d, %s", i, c.Tune)
	out = []Fact{{Name: "best", Text: fmt.Sprintf("%s %s; %s", c.Maximised(), bestAt(c, b,
		reports.Readable(float64(b.Value)), reports.Assignments(c.Grid[b.Point].Point, reports.Readable)), which)}}
	text := fmt.Sprintf("%d evaluated, %d failed", trials, failed)
	early, outside := 0, 0
	for _, c := range r.Configurations {
		for _, t := range c.Studies[0].Trials {
			if t.Early {
				early++
			} else if t.Outside {
				outside++
			}
		}
	}
	if early > 0 {
		text += fmt.Sprintf(", %d stopped early", early)
	}
	if outside > 0 {
		text += fmt.Sprintf(", %d outside the bounds", outside)
	}
	if r.Missing > 0 {
		text += "; the search is not finished"
	}
	out = append(out, Fact{Name: many, Text: text})
	var edges []string
	for _, w := range c.Warnings {
		text := w.String()
		if remedy := r.Remedy(i, w); remedy != "" {
			text += " (remedy: " + remedy + ")"
		}
		edges = append(edges, text)
	}
	if len(edges) > 0 {
		out = append(out, Fact{Name: "trust", Text: strings.Join(edges, "; ")})
	}
	return out
}

// noValue says why no search has a best value: all trials have failed, or none is within the
// required bounds.
func noValue(r *reports.Report, trials string) string {
	outside := ""
	for i, c := range r.Configurations {
		s := c.Studies[0]
		switch {
		case !slices.ContainsFunc(s.Trials, func(t *record.Trial) bool { return t.Outside }):
		case s.Fit != nil:
			outside += fmt.Sprintf("#%d: %s; ", i, s.Fit.Failure.Text)
		default:
			outside += fmt.Sprintf("#%d: no trial so far is within %s; ", i, c.Program.Require)
		}
	}
	if outside == "" {
		return "none of " + trials + " has a value; the failures say why"
	}
	return strings.TrimSuffix(outside, "; ")
}

// mostDrivers is the number of inputs that a sentence names.
const mostDrivers = 4

// Driven says in words which inputs drive the held-out predictions of an answer; "" if that was not
// measured.
func Driven(a reports.Answer) string {
	d := a.Drivers
	switch {
	case d == nil:
		return ""
	case len(d.Inputs) == 0:
		return d.Missing
	case !aboveNoise(d.Inputs[0]):
		return "no input is shown to matter: the importance of each may be 0, or noise"
	}
	unit, first := reports.UnitOfDrivers(a), d.Inputs[0]
	bits := scored{unit.PerBit, unit.Name}
	half := (first.Hi - first.Lo) / 2
	text := fmt.Sprintf("%s drives it most: shuffling it costs %s per case (%s to %s)", first.Input,
		quantity(bits.rounded(first.Bits, half), bits.unit), bits.rounded(first.Lo, half), bits.rounded(first.Hi, half))
	var others, noise []string
	for k, i := range d.Inputs {
		switch {
		case !aboveNoise(i):
			noise = append(noise, i.Input)
		case k > 0 && len(others) < mostDrivers-1:
			others = append(others, fmt.Sprintf("%s (%s)", i.Input, bits.asExact(i.Bits, half)))
		}
	}
	if others != nil {
		text += "; then " + series(others)
	}
	switch n := len(noise); {
	case n > mostDrivers:
		text += fmt.Sprintf("; %d of %d inputs are not above noise", n, len(d.Inputs))
	case n > 0:
		text += "; not above noise: " + series(noise)
	}
	return text
}

// aboveNoise reports whether an importance is above its level of noise, and its interval above 0.
func aboveNoise(i record.Importance) bool { return i.Bits > i.Noise && i.Lo > 0 }
