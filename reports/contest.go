package reports

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/record"
)

// Nested is what came of nested cross-validation: in every outer training set the configurations competed, and the winner
// was scored on what the outer fold holds out. The scores of the Evaluation are those of choosing that way, of no one
// configuration.
type Nested struct {
	Dataset        string `json:"dataset"`        // its name, or the file
	Configurations []int  `json:"configurations"` // indices of those that competed
	Outer          string `json:"outer"`          // how the outer folds were made
	Score          string `json:"score"`          // by which the winners were chosen: of the predictions of all inner folds, or log_evidence
	Race           string `json:"race,omitempty"` // the rule that cut configurations within the inner folds
	Evaluation
	Fits       int                  `json:"fits"`        // inner training sets of all configurations
	FitsSaved  int                  `json:"fits_saved"`  // inner training sets that the race made needless
	OuterFolds []OuterFold          `json:"outer_folds"` // the competition of each
	studies    []study              // of the winners, on the outer folds
	record     record.Configuration // the first that competed
}

// OuterFold is one competition of Nested. Hyperparameters, LogEvidence and Scores are of the winner, on the outer fold.
type OuterFold struct {
	Repeat          int        `json:"repeat"`          // its repeat, from 0
	Fold            int        `json:"fold"`            // its number, from 0
	Train           int        `json:"train"`           // training cases
	Test            int        `json:"test"`            // held-out cases
	Status          Status     `json:"status"`          // done, failed or missing
	Winner          *int       `json:"winner"`          // index of its configuration; null: not known yet, or all have failed
	Hyperparameters Values     `json:"hyperparameters"` // of the winner, natural units, tuned on all of the training cases
	LogEvidence     Number     `json:"log_evidence"`    // of the winner, nats; null where there is none
	Scores          Scores     `json:"scores"`          // of the winner, of the held-out cases
	Inner           []Standing `json:"inner"`           // where the configurations stood
	Cuts            []CutOff   `json:"cuts"`            // who was cut by the race, and why
}

// Standing is the score of a configuration in a competition, over the folds until it left.
type Standing struct {
	Configuration int        `json:"configuration"`     // its index
	Folds         int        `json:"folds"`             // that the configuration was scored on
	Value         Number     `json:"value"`             // of the score that decides, of the predictions of these folds together
	CI95          *[2]Number `json:"ci95"`              // 95 % interval of value; null where there is none
	Partial       *Partial   `json:"partial,omitempty"` // value is over some of the folds of the competition; absent: over all
	planned       int        // folds of the competition
}

// CutOff says when and why a configuration left a competition.
type CutOff struct {
	Configuration int    `json:"configuration"` // index of the one that left
	Folds         int    `json:"folds"`         // that were done then
	Better        *int   `json:"better"`        // index of the best configuration then; null: this one failed
	P             Number `json:"p"`             // p value, where the rule is a test; else null
	Reason        string `json:"reason"`        // why, in words
}

// Race is a race of the configurations over the folds of an evaluation. Those that are left have gone on to all else that
// the experiment asks for.
type Race struct {
	Dataset    string          `json:"dataset"`    // its name, or the file
	Evaluation string          `json:"evaluation"` // the way of holding out over whose folds it goes
	Score      string          `json:"score"`      // by which configurations are compared
	Rule       string          `json:"rule"`       // by which they are cut
	Options    json.RawMessage `json:"options"`    // of the rule
	Folds      int             `json:"folds"`      // as planned
	Done       int             `json:"done"`       // folds that are, at the end of a round
	Status     Status          `json:"status"`     // done, failed or missing
	Winner     *int            `json:"winner"`     // index of the best of those that are left; null: not known yet, or all have failed
	Fits       int             `json:"fits"`       // training sets of all configurations, without the race
	FitsSaved  int             `json:"fits_saved"` // training sets that the race made needless
	JobsSaved  int             `json:"jobs_saved"` // jobs that the race made needless, of those known beforehand
	Standings  []Standing      `json:"standings"`  // where the configurations stood
	Cuts       []CutOff        `json:"cuts"`       // who was cut, and why
}

// contest is a contest of the manifest and where it is.
type contest struct {
	record.Contest
	now cv.Standing
}

// scored is the number of folds behind the score of a contestant.
func (c contest) scored(k int) int {
	for _, cut := range c.now.Cuts {
		if cut.Contestant == k {
			return cut.Folds
		}
	}
	return c.now.Folds
}

// judge says where the contests are, and marks the studies that they keep from running.
func judge(m record.Manifest, studies [][]study) ([]contest, error) {
	var out []contest
	for i, r := range m.Contests {
		if err := checkContest(r, m, studies); err != nil {
			return nil, fmt.Errorf("contest %d: %w", i, err)
		}
		c := contest{Contest: r}
		if len(r.Folds) == 0 {
			c.now = byEvidence(r, studies)
		} else {
			rule, err := cv.NewContest(r)
			if err == nil && rule.Score.Numeric != (len(m.Configurations[r.Configurations[0]].Classes) == 0) {
				err = fmt.Errorf("the predictions have no %s", r.Score)
			}
			if err != nil {
				return nil, fmt.Errorf("contest %d: %w", i, err)
			}
			c.now = rule.Judge(attempts(r, studies))
		}
		for k, configuration := range r.Configurations {
			in := slices.Contains(c.now.In, k)
			for f, index := range r.Folds {
				s := &studies[configuration][index]
				s.nested = r.WinnerOnly
				s.cut = !in && f >= c.scored(k)
				s.waiting = in && f >= c.now.Next
			}
			for _, index := range r.Next {
				s := &studies[configuration][index]
				s.nested = r.WinnerOnly
				if len(r.Folds) > 0 {
					s.waiting = in && !c.now.Ended
					s.cut = !in || r.WinnerOnly && c.now.Ended && k != c.now.Winner
				}
			}
		}
		out = append(out, c)
	}
	return out, nil
}

// checkContest says what of a contest the studies do not have.
func checkContest(r record.Contest, m record.Manifest, studies [][]study) error {
	if len(r.Configurations) == 0 || r.WinnerOnly && len(r.Next) != 1 || len(r.Folds) == 0 && (r.Score != "log_evidence" || !r.WinnerOnly) {
		return fmt.Errorf("nobody or nothing to compete for")
	}
	for _, c := range r.Configurations {
		for _, s := range slices.Concat([]int{0}, r.Folds, r.Next) {
			if c < 0 || c >= len(studies) || s < 0 || s >= len(studies[c]) {
				return fmt.Errorf("no study %d of configuration %d", s, c)
			}
			if first := r.Configurations[0]; studies[c][s].Test != studies[first][s].Test || len(m.Configurations[c].Classes) != len(m.Configurations[first].Classes) {
				return fmt.Errorf("study %d of configurations %d and %d: other cases or classes", s, first, c)
			}
		}
	}
	return nil
}

// attempts are what came of the folds, by contestant.
func attempts(r record.Contest, studies [][]study) [][]cv.Attempt {
	out := make([][]cv.Attempt, len(r.Configurations))
	for k, configuration := range r.Configurations {
		for _, f := range r.Folds {
			s := studies[configuration][f]
			a := cv.Attempt{Predictions: s.predictions}
			if s.fit != nil {
				a.Failure = s.fit.Failure
			}
			out[k] = append(out[k], a)
		}
	}
	return out
}

// byEvidence ranks the configurations by their log evidence on the outer training set.
func byEvidence(r record.Contest, studies [][]study) cv.Standing {
	nan := math.NaN()
	s := cv.Standing{Ended: true, Winner: -1, Scores: make([]cv.Estimate, len(r.Configurations))}
	for k, configuration := range r.Configurations {
		s.Scores[k] = cv.Estimate{Value: nan, Lo: nan, Hi: nan}
		fit := studies[configuration][r.Next[0]].fit
		switch {
		case fit == nil:
			s.Ended = false
		case fit.Failure != "":
			s.Cuts = append(s.Cuts, cv.Cut{Contestant: k, Reason: "failed: " + fit.Failure, Better: -1, P: nan})
		default:
			s.Scores[k].Value = float64(fit.LogEvidence)
			if math.IsNaN(s.Scores[k].Value) {
				s.Cuts = append(s.Cuts, cv.Cut{Contestant: k, Reason: "it has no log evidence", Better: -1, P: nan})
			} else if s.Winner < 0 || s.Scores[k].Value > s.Scores[s.Winner].Value {
				s.Winner = k
			}
		}
	}
	if !s.Ended {
		s.Winner = -1
	}
	return s
}

// compete adds what came of the contests.
func (r *Report) compete(m record.Manifest, contests []contest, b builder) {
	for _, c := range contests {
		first := &r.Configurations[c.Configurations[0]]
		if !c.WinnerOnly {
			r.Races = append(r.Races, c.race(r.Configurations))
			continue
		}
		i := slices.IndexFunc(r.Nested, func(n Nested) bool { return slices.Equal(n.Configurations, c.Configurations) })
		if i < 0 {
			i = len(r.Nested)
			r.Nested = append(r.Nested, Nested{Dataset: first.Dataset, Configurations: c.Configurations, Outer: c.Evaluation, Score: c.Score, Race: c.Race, record: first.record})
		}
		n := &r.Nested[i]
		fold, scored := c.outerFold(r.Configurations, b)
		n.OuterFolds, n.studies = append(n.OuterFolds, fold), append(n.studies, scored)
		for _, k := range c.Configurations {
			for _, f := range c.Folds {
				n.Fits++
				if r.Configurations[k].studies[f].cut {
					n.FitsSaved++
				}
			}
		}
	}
	for i := range r.Nested {
		n := &r.Nested[i]
		var parts []*study
		for k := range n.studies {
			parts = append(parts, &n.studies[k])
		}
		n.Evaluation = b.pool("nested", parts)
	}
	r.Warnings = append(r.Warnings, b.warnings.list()...)
}

// configuration is the number of a contestant, nil if there is none.
func (c contest) configuration(k int) *int {
	if k < 0 {
		return nil
	}
	return &c.Configurations[k]
}

func (c contest) standings() []Standing {
	out := []Standing{}
	for k, e := range c.now.Scores {
		s := Standing{Configuration: c.Configurations[k], Folds: c.scored(k), Value: Number(e.Value), planned: len(c.Folds)}
		if !math.IsNaN(e.Lo) {
			s.CI95 = &[2]Number{Number(e.Lo), Number(e.Hi)}
		}
		if !math.IsNaN(e.Value) {
			s.Partial = partial(s.Folds, 0, len(c.Folds))
		}
		out = append(out, s)
	}
	return out
}

func (c contest) cuts() []CutOff {
	out := []CutOff{}
	for _, cut := range c.now.Cuts {
		out = append(out, CutOff{c.Configurations[cut.Contestant], cut.Folds, c.configuration(cut.Better), Number(cut.P), cut.Reason})
	}
	return out
}

// outerFold is the contest of an outer training set, with the study of its winner on the outer fold.
func (c contest) outerFold(all []Configuration, b builder) (OuterFold, study) {
	scored := all[c.Configurations[0]].studies[c.Next[0]]
	if winner := c.configuration(c.now.Winner); winner != nil {
		scored = all[*winner].studies[c.Next[0]]
		b.record = all[*winner].record
	} else if c.now.Ended {
		scored = study{Study: scored.Study, fit: &record.Fit{Failure: "all configurations failed"}}
	} else {
		scored = study{Study: scored.Study} // of no configuration yet
	}
	f := b.fold(&scored)
	return OuterFold{f.Repeat, f.Fold, f.Train, f.Test, f.Status, c.configuration(c.now.Winner), f.Hyperparameters, f.LogEvidence, f.Scores, c.standings(), c.cuts()}, scored
}

func (c contest) race(all []Configuration) Race {
	first := all[c.Configurations[0]]
	r := Race{Dataset: first.Dataset, Evaluation: c.Evaluation, Score: c.Score, Rule: c.Race, Options: c.Options, Folds: len(c.Folds), Done: c.now.Folds, Status: Missing,
		Winner: c.configuration(c.now.Winner), Standings: c.standings(), Cuts: c.cuts()}
	if c.now.Ended {
		r.Status = Done
		if c.now.Winner < 0 {
			r.Status = Failed
		}
	}
	for _, k := range c.Configurations {
		for _, i := range slices.Concat(c.Folds, c.Next) {
			r.Fits++
			if s := all[k].studies[i]; s.cut {
				r.FitsSaved++
				r.JobsSaved += s.Jobs
			}
		}
	}
	return r
}

// contested is what came of a contest: a line, remarks on it, and tables.
type contested struct {
	title  string
	notes  []string
	tables []titled
}

// titled is a Table under a heading.
type titled struct {
	heading string
	Table
}

// contested has races and nested cross-validations, and with all also the scores of all who competed.
func (r *Report) contested(all bool) (out []contested) {
	for _, race := range r.Races {
		out = append(out, race.contested(all))
	}
	for _, n := range r.Nested {
		out = append(out, n.contested(all))
	}
	return out
}

// writeContests writes that as text.
func (r *Report) writeContests(w io.Writer, all bool) {
	for _, c := range r.contested(all) {
		fmt.Fprintf(w, "\n%s\n", c.title)
		list(w, "", c.notes)
		for _, t := range c.tables {
			t.section(w, t.heading)
		}
	}
}

// contested says what came of nested cross-validation: the scores, and who won in every outer fold; with all also the
// inner scores of every configuration and who was cut.
func (n Nested) contested(all bool) contested {
	out := contested{title: fmt.Sprintf("nested cross-validation of %s over %s, winners by %s%s", n.Dataset, n.Outer, n.Score, n.inner())}
	scores := Table{Columns: columns("score", "value", "95 % interval")}
	for _, s := range n.Scores.Results {
		interval, of := "", n.Scores.Partial
		if !math.IsNaN(s.Lo) {
			interval = of.whole(significant(s.Lo) + " … " + significant(s.Hi))
		}
		scores.Rows = append(scores.Rows, []string{s.Name, of.beside(significant(s.Value)), interval})
	}
	out.tables = append(out.tables, titled{fmt.Sprintf("outer scores, %d cases of %d of %d folds", n.Scores.N, n.Scored, n.Folds), scores})
	inner := "inner " + n.Score
	if n.Fits == 0 {
		inner = n.Score
	}
	t := Table{Columns: columns("repeat", "fold", "train", "test", "status", "winner", inner, "next", inner, "outer information_bits", "errors", "rmse", "log evidence", "hyperparameters")}
	repeats, greater := false, true
	if score, err := cv.ScoreNamed(n.Score); err == nil {
		greater = score.Greater
	}
	wins, undecided, ties := map[int]int{}, 0, 0
	for _, f := range n.OuterFolds {
		repeats = repeats || f.Repeat > 0
		status := string(f.Status)
		if f.Status == Done {
			status = ""
		}
		row := []string{strconv.Itoa(f.Repeat), strconv.Itoa(f.Fold), strconv.Itoa(f.Train), strconv.Itoa(f.Test), status}
		leaders := f.leaders(greater)
		if leaders[1].Configuration >= 0 && leaders[0].Value == leaders[1].Value {
			ties++
		}
		for _, s := range leaders {
			if s.Configuration < 0 {
				row = append(row, "", "")
			} else {
				row = append(row, fmt.Sprintf("#%d", s.Configuration), significant(float64(s.Value)))
			}
		}
		for _, name := range []string{"information_bits", "errors", "rmse"} {
			cell := ""
			if e, ok := f.Scores.Value(name); ok {
				cell = significant(e.Value)
			}
			row = append(row, cell)
		}
		evidence := ""
		if !math.IsNaN(float64(f.LogEvidence)) {
			evidence = significant(float64(f.LogEvidence))
		}
		t.Rows = append(t.Rows, append(row, evidence, assignments(f.Hyperparameters, significant)))
		if f.Winner != nil {
			wins[*f.Winner]++
		} else {
			undecided++
		}
	}
	if !repeats {
		t.drop(0)
	}
	out.tables = append(out.tables, titled{"outer folds", t})
	var won []string
	for _, c := range n.Configurations {
		if wins[c] > 0 {
			won = append(won, fmt.Sprintf("#%d %d times", c, wins[c]))
		}
	}
	if len(won) > 0 && undecided > 0 {
		won = append(won, fmt.Sprintf("nobody yet, or nobody at all, in %d of %d outer folds", undecided, len(n.OuterFolds)))
	}
	if len(won) > 0 {
		out.notes = append(out.notes, "won: "+strings.Join(won, ", "))
	}
	if ties > 0 {
		out.notes = append(out.notes, fmt.Sprintf("in %d of %d outer folds another configuration is equal to the winner, which is the first of them in the file", ties, len(n.OuterFolds)))
	}
	for _, f := range n.OuterFolds {
		if f.Status == Failed {
			for _, c := range f.Cuts {
				out.notes = append(out.notes, fmt.Sprintf("FAILED repeat %d fold %d: %v", f.Repeat, f.Fold, c))
			}
		}
	}
	if !all {
		return out
	}
	scored := Table{Columns: columns("repeat", "fold", "configuration", inner, "95 % interval", "inner folds", "")}
	for _, f := range n.OuterFolds {
		for _, s := range f.Inner {
			won := ""
			if f.Winner != nil && *f.Winner == s.Configuration {
				won = "winner"
			}
			for _, c := range f.Cuts {
				if c.Configuration == s.Configuration {
					won = c.why()
				}
			}
			scored.Rows = append(scored.Rows, append([]string{strconv.Itoa(f.Repeat), strconv.Itoa(f.Fold)}, append(s.row(), won)...))
		}
	}
	if !repeats {
		scored.drop(0)
	}
	out.tables = append(out.tables, titled{"scores in the competitions", scored})
	return out
}

// inner says how the configurations competed.
func (n Nested) inner() string {
	switch {
	case n.Fits == 0:
		return " on the outer training set"
	case n.Race == "":
		return " over the inner folds"
	}
	return fmt.Sprintf(" over the inner folds, race %s: %d of %d inner fits saved", n.Race, n.FitsSaved, n.Fits)
}

// leaders are the winner and the best of the others; configuration -1 where there is none.
func (f OuterFold) leaders(greater bool) [2]Standing {
	out := [2]Standing{{Configuration: -1}, {Configuration: -1}}
	if f.Winner == nil {
		return out
	}
	for _, s := range f.Inner {
		if s.Configuration == *f.Winner {
			out[0] = s
		} else if !math.IsNaN(float64(s.Value)) && !slices.ContainsFunc(f.Cuts, func(c CutOff) bool { return c.Configuration == s.Configuration }) {
			if out[1].Configuration < 0 || s.Value != out[1].Value && s.Value > out[1].Value == greater {
				out[1] = s
			}
		}
	}
	return out
}

// drop takes a column out.
func (t *Table) drop(c int) {
	t.Columns = slices.Delete(t.Columns, c, c+1)
	for i := range t.Rows {
		t.Rows[i] = slices.Delete(t.Rows[i], c, c+1)
	}
}

func (s Standing) row() []string {
	value, interval := "", ""
	if !math.IsNaN(float64(s.Value)) {
		value = s.Partial.beside(significant(float64(s.Value)))
	}
	if s.CI95 != nil {
		interval = s.Partial.whole(significant(float64(s.CI95[0])) + " … " + significant(float64(s.CI95[1])))
	}
	return []string{fmt.Sprintf("#%d", s.Configuration), value, interval, strconv.Itoa(s.Folds)}
}

// why says when and why a configuration was cut.
func (c CutOff) why() string {
	best := ""
	if c.Better != nil {
		best = fmt.Sprintf(" (best #%d)", *c.Better)
	}
	return fmt.Sprintf("cut after fold %d: %s%s", c.Folds, c.Reason, best)
}

func (c CutOff) String() string { return fmt.Sprintf("#%d %s", c.Configuration, c.why()) }

// contested says what came of a race; with all also the scores of all.
func (r Race) contested(all bool) contested {
	options := ""
	var compact bytes.Buffer
	if json.Compact(&compact, r.Options) == nil && compact.String() != "{}" {
		options = " " + strings.NewReplacer(`"`, "", ":", ": ", ",", ", ").Replace(compact.String())
	}
	end := fmt.Sprintf("%d of %d folds done, %d of %d configurations left", r.Done, r.Folds, len(r.Standings)-len(r.Cuts), len(r.Standings))
	if r.Status != Missing {
		winner := "nobody"
		if r.Winner != nil {
			winner = fmt.Sprintf("#%d", *r.Winner)
		}
		end = fmt.Sprintf("%s won, %d of %d configurations cut, %d of %d fits saved (%d jobs)", winner, len(r.Cuts), len(r.Standings), r.FitsSaved, r.Fits, r.JobsSaved)
	}
	out := contested{title: fmt.Sprintf("race over %s of %s by %s, %s%s: %s", r.Evaluation, r.Dataset, r.Score, r.Rule, options, end)}
	for _, c := range r.Cuts {
		out.notes = append(out.notes, c.String())
	}
	if r.Winner != nil {
		best, ties := r.Standings[slices.IndexFunc(r.Standings, func(s Standing) bool { return s.Configuration == *r.Winner })], -1
		for _, s := range r.Standings {
			if s.Partial == nil && s.Value == best.Value {
				ties++
			}
		}
		if ties > 0 {
			out.notes = append(out.notes, fmt.Sprintf("%d more are equal to #%d, which is the first of them in the file", ties, *r.Winner))
		}
	}
	if !all {
		return out
	}
	t := Table{Columns: columns("configuration", r.Score, "95 % interval", "folds")}
	for _, s := range r.Standings {
		t.Rows = append(t.Rows, s.row())
	}
	out.tables = []titled{{"scores in the race", t}}
	return out
}

// nestedRows has a row for every configuration in every outer fold: its inner score, and if it has won the scores on the outer
// fold.
func nestedRows(r *Report) Rows {
	t := Rows{columns: []string{"dataset", "repeat", "fold", "train", "test", "configuration", "won", "score", "inner_folds", "inner_folds_planned", "inner", "inner_lo", "inner_hi", "cut", "status", "hyperparameters", "log_evidence", "n"}}
	t.columns = append(t.columns, scoreColumns()...)
	for _, n := range r.Nested {
		for _, f := range n.OuterFolds {
			for _, s := range f.Inner {
				cut := ""
				for _, c := range f.Cuts {
					if c.Configuration == s.Configuration {
						cut = c.why()
					}
				}
				won := f.Winner != nil && *f.Winner == s.Configuration
				lo, hi := s.interval()
				row := []any{n.Dataset, f.Repeat, f.Fold, f.Train, f.Test, s.Configuration, won, n.Score, s.Folds, s.planned, s.Value, lo, hi, cut}
				if won {
					row = append(row, string(f.Status), f.Hyperparameters, f.LogEvidence)
					row = append(row, scoreCells(f.Scores)...)
				}
				t.cells = append(t.cells, row)
			}
		}
	}
	return t
}

func (s Standing) interval() (lo, hi Number) {
	if s.CI95 == nil {
		return Number(math.NaN()), Number(math.NaN())
	}
	return s.CI95[0], s.CI95[1]
}

// raceRows has a row for every configuration in a race.
func raceRows(r *Report) Rows {
	t := Rows{columns: []string{"dataset", "evaluation", "rule", "score", "configuration", "won", "folds", "folds_planned", "value", "lo", "hi", "cut", "better", "p", "reason"}}
	for _, race := range r.Races {
		for _, s := range race.Standings {
			lo, hi := s.interval()
			row := []any{race.Dataset, race.Evaluation, race.Rule, race.Score, s.Configuration, race.Winner != nil && *race.Winner == s.Configuration, s.Folds, race.Folds, s.Value, lo, hi, false}
			for _, c := range race.Cuts {
				if c.Configuration == s.Configuration {
					var better any
					if c.Better != nil {
						better = *c.Better
					}
					row = append(row[:len(row)-1], true, better, c.P, c.Reason)
				}
			}
			t.cells = append(t.cells, row)
		}
	}
	return t
}
