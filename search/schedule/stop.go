package schedule

import (
	"errors"
	"fmt"
	"math"
	"time"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
)

// Stop declares when a search ends although its strategy would propose more. The first criterion
// that holds ends it; the zero value has no criterion. Criteria are checked before every batch of
// trials; a strategy that proposes all of its trials at once then runs them one after another. They
// depend on the trials on record alone, so a search that is resumed ends where it did.
type Stop struct {
	// Improvement is the least improvement worth a trial, in units of the objective: a search
	// ends when its strategy, a Forecaster, expects less of every proposal.
	Improvement float64 `yaml:"improvement" within:"[0,inf)"`
	// Regret is the distance of the best value below the maximum that is acceptable, in units of
	// the objective. A search ends when a bound of this distance by the regression of Bayes was
	// smaller before each of the last 2 (d + 1) batches, with d the number of hyperparameters. The
	// bound is the largest prediction plus four standard deviations, less the best value (as in
	// Makarova et al. 2022, AutoML).
	Regret float64 `yaml:"regret" within:"[0,inf)"`
	// Patience is the number of trials in a row that may pass without improving the best value by
	// more than 1e-6.
	Patience int `yaml:"patience" within:"[1,1000000]"`
	// Target is a value of the objective: a search ends when it has one at least as good.
	Target *float64 `yaml:"target"`
	// Time bounds the sum of the computing times of the trials.
	Time Span `yaml:"time"`
}

// Forecaster is a Strategy whose proposals have a Gain, except the first ones, before it has a
// model of the objective.
type Forecaster interface {
	search.Strategy
	Forecasts()
}

// Span is a length of time, such as 90s, 10m or 1h30m; "": none is given.
type Span string

// UnmarshalText implements encoding.TextUnmarshaler.
func (s *Span) UnmarshalText(text []byte) error {
	if d, err := time.ParseDuration(string(text)); err != nil || d <= 0 {
		return fmt.Errorf("%q is not a length of time; write 90s, 10m or 1h30m", text)
	}
	*s = Span(text)
	return nil
}

func (s Span) seconds() float64 {
	d, err := time.ParseDuration(string(s))
	if err != nil {
		return math.Inf(1)
	}
	return d.Seconds()
}

// Check returns an error if the criteria do not apply to the strategy, or if the time or the target
// is not valid.
func (s Stop) Check(strategy search.Strategy) error {
	if s == (Stop{}) {
		return nil
	}
	if s.Time != "" {
		if err := s.Time.UnmarshalText([]byte(s.Time)); err != nil {
			return fmt.Errorf("stop: time: %w", err)
		}
	}
	if s.Target != nil && math.IsNaN(*s.Target) {
		return errors.New("stop: target = NaN must be a number")
	}
	if _, samples := strategy.(search.Sampler); samples {
		return errors.New("stop: Markov chains do not search for a maximum; bound them with samples")
	}
	if _, is := strategy.(search.Partial); is && s.Patience > 0 {
		return errors.New("stop: patience does not go with a budget, of which most trials have a part; " +
			"use target or time")
	}
	if _, forecasts := strategy.(Forecaster); !forecasts && (s.Improvement > 0 || s.Regret > 0) {
		key := map[bool]string{true: "improvement", false: "regret"}[s.Improvement > 0]
		return fmt.Errorf("stop: %s needs method: bayes, which predicts the objective; use patience or target with "+
			"other methods", key)
	}
	return nil
}

// reached returns a text about the criterion that holds after these trials, whose computing times
// are seconds; "": none holds.
func (s Stop) reached(trials []record.Trial, seconds []float64) string {
	best, since, spent := math.Inf(-1), 0, 0.0
	for i, t := range trials {
		since++
		if _, p, err := search.Winner([]record.Trial{t}); err == nil {
			if float64(p.Value) > best+search.LeastImprovement {
				since = 0
			}
			best = max(best, float64(p.Value))
		}
		spent += seconds[i]
	}
	switch {
	case s.Target != nil && best >= *s.Target:
		return "target: it was reached"
	case s.Patience > 0 && since >= s.Patience:
		return fmt.Sprintf("patience: none of the last %d improved the best value", s.Patience)
	case spent >= s.Time.seconds():
		return fmt.Sprintf("time: they took %s", s.Time)
	}
	return ""
}

// worthless returns a text about the criterion Improvement if it holds for the next proposals, else
// "".
func (s Stop) worthless(next []search.Proposal) string {
	for _, p := range next {
		if p.Gain == nil || *p.Gain >= s.Improvement {
			return ""
		}
	}
	return fmt.Sprintf("improvement: the next was expected to gain %.2g, less than %g", *next[0].Gain, s.Improvement)
}

// bounded counts in batches before how many batches in a row Short was less than Regret. It returns
// the reason to stop, or "" if they are too few.
func (s Stop) bounded(next []search.Proposal, batches *int, space search.Space) string {
	if next[0].Short == nil || !(*next[0].Short < s.Regret) {
		*batches = 0
		return ""
	}
	if *batches++; *batches < 2*(len(space)+1) {
		return ""
	}
	return fmt.Sprintf("regret: the maximum is at most %.2g above the best value, less than %g", *next[0].Short,
		s.Regret)
}
