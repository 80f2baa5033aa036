package ledger

import (
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
)

// Verdict is the outcome of the comparison of a row.
type Verdict string

// The verdicts.
const (
	Agrees        Verdict = "agrees"
	Differs       Verdict = "differs"
	NotApplicable Verdict = "not_applicable" // there is nothing to compare; the reason says why
)

// Entry is a row of the ledger with its value here and the verdict.
type Entry struct {
	Row
	Here        string
	Verdict     Verdict
	Cause       Cause    // cause of a difference
	Reason      string   // reason of Differs and NotApplicable
	Experiments []string // experiments of the gallery that the value is from
	Kept        string   // source of the value if not a run of this time
}

// The sources of values that are not from a run of this time.
const (
	keptRun     = "kept run"
	formerValue = "former value"
	NotRun      = "not run" // there is no value
)

// Judge finds an entry for every row from the runs. If an experiment is not among them, it uses the
// runs finished before, or else the former entry. A row with none of these is NotApplicable.
func Judge(rows []Row, claims Claims, runs, finished Runs, former []Entry) (entries []Entry, err error) {
	of, err := claims.match(rows)
	both := Runs{}
	maps.Copy(both, finished)
	maps.Copy(both, runs)
	for _, row := range rows {
		claim, ok := of[row.String()]
		if !ok {
			continue // match has reported it
		}
		entry, fault := claim.judge(row, both)
		if fault != nil {
			err = errors.Join(err, fmt.Errorf("%v: %w", row, fault))
		}
		i := slices.IndexFunc(former, func(e Entry) bool { return e.Row == row })
		switch has := func(name string) bool { return runs[name] != nil }; {
		case entry.Verdict == "" && i >= 0 && former[i].Verdict != NotApplicable && claim.None == "":
			entry.Here, entry.Verdict, entry.Cause = former[i].Here, former[i].Verdict, former[i].Cause
			entry.Reason, entry.Kept = former[i].Reason, formerValue
		case entry.Verdict == "" && fault == nil:
			entry.Verdict, entry.Kept = NotApplicable, NotRun
			entry.Reason = "gallery:" + strings.Join(entry.Experiments, ", gallery:") + " has not been run to its end"
		case entry.Verdict != "" && claim.None == "" && !slices.ContainsFunc(entry.Experiments, has):
			entry.Kept = keptRun
		}
		entries = append(entries, entry)
	}
	return entries, err
}

// judge compares one row.
func (c Claim) judge(row Row, runs Runs) (Entry, error) {
	e := Entry{Row: row, Experiments: c.experiments()}
	if c.None != "" {
		e.Verdict, e.Reason = NotApplicable, c.None
		return e, nil
	}
	found := Found{}
	its := Runs{}
	for _, name := range c.experiments() {
		run, ok := runs[name]
		if !ok {
			return e, nil // it has no verdict
		}
		its[name] = run
	}
	var err error
	if c.Check != nil {
		found, err = c.Check(its)
	} else {
		found, err = c.figure(row, its)
	}
	if err != nil {
		return e, err
	}
	e.Here = found.Here
	if found.Agrees {
		e.Verdict = Agrees
		return e, nil
	}
	e.Verdict, e.Cause, e.Reason = Differs, c.Cause, c.Why
	if found.Why != "" {
		e.Reason = found.Why
	}
	if found.Cause != "" {
		e.Cause = found.Cause
	}
	if e.Reason == "" || e.Cause == "" {
		return e, fmt.Errorf("it is %s here and %s there, and the claim does not say why", e.Here, row.Published)
	}
	return e, nil
}

// figure compares a number of a report with the printed number.
func (c Claim) figure(row Row, runs Runs) (f Found, err error) {
	published, uncertainty, err := row.Figure()
	if err != nil {
		return f, err
	}
	if c.Within > 0 {
		uncertainty = c.Within
	}
	configuration, err := runs.One(c.experiments()[0], c.Of)
	if err != nil {
		return f, err
	}
	number, partial := configuration.Figure(c.Of.Evaluation, c.Figure)
	here := float64(number)
	if partial != nil {
		return f, fmt.Errorf("%s is over %v", c.Figure, partial)
	}
	if c.As != nil {
		here = c.As(here)
	}
	if math.IsNaN(here) {
		return f, fmt.Errorf("there is no %s", c.Figure)
	}
	return Found{Here: shown(here, uncertainty), Agrees: within(here, published, uncertainty)}, nil
}

// within reports whether here differs from the published number by at most its uncertainty.
func within(here, published, uncertainty float64) bool {
	return math.Abs(here-published) <= uncertainty*(1+1e-9)
}

// shown is x with one digit more than the published number has. A whole number, such as a count,
// has no decimals.
func shown(x, uncertainty float64) string {
	digits := 6
	if uncertainty > 0 {
		digits = max(0, 1-int(math.Floor(math.Log10(2*uncertainty))))
	}
	if x == math.Trunc(x) {
		digits = 0
	}
	scale := math.Pow10(digits)
	return strconv.FormatFloat(math.Round(x*scale)/scale+0, 'f', digits, 64) // + 0: no negative zero
}
