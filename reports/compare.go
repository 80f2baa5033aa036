package reports

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/record"
)

// Comparison compares configurations in pairs. Every difference is the first minus the second.
type Comparison struct {
	Schema string  `json:"schema"` // "gpc-tune/compare/1"
	Pairs  []Pair  `json:"pairs"`
	Run    *Report `json:"-"` // the run, for texts that show comparisons with the best only; nil: all pairs
}

// Pair compares two configurations on the same data.
type Pair struct {
	First       Side               `json:"first"`
	Second      Side               `json:"second"`
	LogEvidence *EvidenceRatio     `json:"log_evidence"` // null unless both have one for the same targets
	Evaluations []PairedEvaluation `json:"evaluations"`
	Notes       []string           `json:"notes"` // comparisons that were not possible, and why
	Sampled     bool               `json:"-"`     // a log evidence is that of the best sample of Markov chains
}

// Side is a configuration of a run.
type Side struct {
	Run           int    `json:"run"` // 0 or 1
	Experiment    string `json:"experiment"`
	Configuration int    `json:"configuration"` // -1: the winners of nested cross-validation
	Dataset       string `json:"dataset"`
	record.Label
	Tune string `json:"tune"`
	Name string `json:"-"`
}

// EvidenceRatio is the difference of two log evidences at their tuned hyperparameters, or at the
// best sample of Markov chains: the logarithm of the Bayes factor for the first. If both use
// one_vs_rest, it refers to the binary labellings of all classes together. Nothing is subtracted
// for the number of tuned hyperparameters.
type EvidenceRatio struct {
	Nats  Number `json:"nats"`
	Log10 Number `json:"log10"`
}

// PairedEvaluation compares predictions of the same held-out cases.
type PairedEvaluation struct {
	Name    string        `json:"name"`
	Folds   int           `json:"folds"`             // folds for which both have predictions; all below is over these
	Partial *Partial      `json:"partial,omitempty"` // not all planned folds
	Scores  []PairedScore `json:"scores"`
	// over the first repeat, so that each case counts once; null for numeric targets
	McNemar *McNemar `json:"mcnemar"`
}

// PairedScore is the mean over folds of the difference of a score, with the corrected resampled
// t-test. There is no test for a single fold or if all differences are equal.
type PairedScore struct {
	Name       string     `json:"name"`
	Difference Number     `json:"difference"`
	CI95       *[2]Number `json:"ci95"`
	T          Number     `json:"t"`
	DF         int        `json:"degrees_of_freedom"`
	P          Number     `json:"p"`
}

// McNemar is McNemar's exact test of the decisions, over cases or over their groups.
type McNemar struct {
	Cases      int       `json:"cases"`             // number of cases, or of groups
	Grouped    bool      `json:"grouped,omitempty"` // groups count, by the decisions on most of their cases
	OnlyFirst  int       `json:"only_first"`        // cases that only the first decides correctly
	OnlySecond int       `json:"only_second"`       // cases that only the second decides correctly
	Difference Number    `json:"difference"`        // of the error rates, first minus second
	CI95       [2]Number `json:"ci95"`
	P          Number    `json:"p"`
}

// ErrNothingInCommon is the error if no pair can be compared.
var ErrNothingInCommon = errors.New("no two configurations have the same data: the same set, labels and cases")

// Compare compares every two configurations of one run, or every configuration of the first run
// with every one of the second, that have the same data. Nested cross-validation counts as a
// configuration evaluated on its outer folds, and is compared with configurations evaluated on the
// same folds.
func Compare(runs ...*Report) (*Comparison, error) {
	out := &Comparison{Schema: "gpc-tune/compare/1", Pairs: []Pair{}}
	first, second := runs[0], runs[len(runs)-1]
	all, others := first.compared(), second.compared()
	for i, a := range all {
		for j, b := range others {
			if len(runs) == 1 && j <= i || !sameData(a, b) || (a.nested || b.nested) && !a.evaluatedLike(b) {
				continue
			}
			p := Pair{First: side(runs, 0, i, a), Second: side(runs, len(runs)-1, j, b), Notes: []string{},
				Evaluations: []PairedEvaluation{}}
			if !a.nested && !b.nested {
				p.evidence(a, b)
			}
			p.evaluations(a, b)
			out.Pairs = append(out.Pairs, p)
		}
	}
	if len(out.Pairs) == 0 {
		return nil, ErrNothingInCommon
	}
	return out, nil
}

// compared lists the configurations, and nested cross-validations in the form of configurations.
func (r *Report) compared() []Configuration {
	all := slices.Clone(r.Configurations)
	for _, n := range r.Nested {
		c := Configuration{nested: true, Dataset: n.Dataset, Cases: n.record.Cases, Classes: n.record.Classes,
			Record: n.record, Evaluations: []Evaluation{{Name: n.Outer}}}
		for _, s := range n.studies {
			s.Evaluation, s.Nested = n.Outer, false
			c.Studies = append(c.Studies, s)
		}
		all = append(all, c)
	}
	return all
}

// evaluatedLike reports whether both have an evaluation with the same name.
func (c Configuration) evaluatedLike(d Configuration) bool {
	return slices.ContainsFunc(c.Evaluations, func(e Evaluation) bool {
		return slices.ContainsFunc(d.Evaluations, func(f Evaluation) bool { return f.Name == e.Name })
	})
}

func side(runs []*Report, run, number int, c Configuration) Side {
	r := runs[run]
	if c.nested {
		s := Side{Run: run, Experiment: r.Experiment, Configuration: -1, Dataset: c.Dataset, Name: "nested"}
		if len(runs) > 1 {
			s.Name = string(rune('A'+run)) + " nested"
		}
		return s
	}
	s := Side{run, r.Experiment, number, c.Dataset, c.Label, c.Tune, fmt.Sprintf("#%d", number)}
	if len(runs) > 1 {
		s.Name = string(rune('A'+run)) + s.Name
	}
	return s
}

func sameData(a, b Configuration) bool {
	return a.Record.DataHash == b.Record.DataHash && a.Cases == b.Cases && slices.Equal(a.Classes, b.Classes)
}

// evidence compares the log evidences. One binary model per class gives the sum of the evidences of
// several binary labellings, which is not an evidence of the labels.
func (p *Pair) evidence(a, b Configuration) {
	rest := func(c Configuration) bool { return c.Inference.Name() == "one_vs_rest" }
	difference := float64(a.LogEvidence - b.LogEvidence)
	switch {
	case rest(a) != rest(b):
		p.note("log evidence: that of one_vs_rest is of each class against the rest, the other of the labels")
	case math.IsNaN(difference) || math.IsInf(difference, 0):
		p.note("log evidence: not both have one")
	default:
		p.Sampled = len(a.Posterior)+len(b.Posterior) > 0
		p.LogEvidence = &EvidenceRatio{Number(difference), Number(difference / math.Ln10)}
	}
}

func (p *Pair) note(format string, args ...any) {
	p.Notes = append(p.Notes, fmt.Sprintf(format, args...))
}

// evaluations compares the predictions of every evaluation that both have, over their common folds.
// Configurations eliminated by a race are not compared: they were eliminated because of their
// differences so far, which are no random sample.
func (p *Pair) evaluations(a, b Configuration) {
	for _, e := range a.Evaluations {
		first, second := a.of(e.Name), b.of(e.Name)
		switch {
		case len(second) == 0 && (a.nested || b.nested):
		case len(second) == 0:
			p.note("%s: the second has no such evaluation", e.Name)
		case !slices.EqualFunc(first, second, sameFold):
			p.note("%s: the folds hold out other cases; compare runs with the same seed and splits", e.Name)
		case wasCut(first) || wasCut(second):
			p.note("%s: cut by a race, the first after %s, the second after %s", e.Name, done(first), done(second))
		default:
			var both [2][]Study
			failed := 0
			for i, a := range first {
				b := second[i]
				if a.Predictions != nil && b.Predictions != nil {
					both[0], both[1] = append(both[0], a), append(both[1], b)
				} else if a.status() == Failed || b.status() == Failed {
					failed++
				}
			}
			if len(both[0]) == 0 {
				p.note("%s: no fold is done by both: the first has %s, the second %s", e.Name, done(first),
					done(second))
				continue
			}
			of, lacking := compareFolds(e.Name, both[0], both[1])
			for _, name := range lacking {
				p.note("%s %s: it is not defined in every fold", e.Name, name)
			}
			of.Partial = partial(len(both[0]), failed, len(first))
			p.Evaluations = append(p.Evaluations, of)
		}
	}
}

func wasCut(folds []Study) bool {
	return slices.ContainsFunc(folds, func(s Study) bool { return s.status() == Cut })
}

// done describes how many folds have predictions.
func done(folds []Study) string {
	n := 0
	for _, s := range folds {
		if s.Predictions != nil {
			n++
		}
	}
	return fmt.Sprintf("%d of %d folds", n, len(folds))
}

// of lists the studies of an evaluation.
func (c Configuration) of(evaluation string) (out []Study) {
	for _, s := range c.Studies {
		if s.Evaluation == evaluation && !s.Nested {
			out = append(out, s)
		}
	}
	return out
}

// sameFold reports whether two folds hold out the same cases, as far as both have predicted them.
func sameFold(a, b Study) bool {
	if a.Repeat != b.Repeat || a.Fold != b.Fold || a.Train != b.Train || a.Test != b.Test {
		return false
	}
	return a.Predictions == nil || b.Predictions == nil ||
		slices.Equal(a.Fit.Rows, b.Fit.Rows) && slices.Equal(a.Fit.Labels, b.Fit.Labels) &&
			slices.Equal(a.Fit.Targets, b.Fit.Targets)
}

// compareFolds compares the predictions of folds that both have. lacking names scores that only
// some folds have.
func compareFolds(name string, first, second []Study) (out PairedEvaluation, lacking []string) {
	out = PairedEvaluation{Name: name, Folds: len(first), Scores: []PairedScore{}}
	var all, once [2][]cv.Predictions
	train, test := 0, 0
	for i, a := range first {
		b := second[i]
		train, test = train+a.Train, test+a.Test
		all[0], all[1] = append(all[0], *a.Predictions), append(all[1], *b.Predictions)
		if a.Repeat == first[0].Repeat {
			once[0], once[1] = append(once[0], *a.Predictions), append(once[1], *b.Predictions)
		}
	}
	for _, s := range cv.Scores {
		t, folds := s.OverFolds(all[0], all[1], float64(test)/float64(train))
		if s.Count || folds < len(first) {
			if !s.Count && folds > 0 {
				lacking = append(lacking, s.Name)
			}
			continue
		}
		out.Scores = append(out.Scores, PairedScore{s.Name, Number(t.Value), interval(t.Lo, t.Hi), Number(t.T), t.DF,
			Number(t.P)})
	}
	if a, b := cv.Pool(once[0]...), cv.Pool(once[1]...); !a.Numeric() {
		m := cv.CompareDecisions(a, b)
		d := m.Difference
		out.McNemar = &McNemar{m.Cases, a.Groups != nil, m.OnlyFirst, m.OnlySecond, Number(d.Value),
			[2]Number{Number(d.Lo), Number(d.Hi)}, Number(m.P)}
	}
	return out, lacking
}
