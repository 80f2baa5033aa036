package plan

import (
	"math"
	"slices"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// ladders sets the order in which the configurations of a data set run: they are ranked by their
// recorded values of the score that decides the answer.
func (p *Plan) ladders() {
	base, groups := p.groupByData()
	for _, group := range groups {
		if len(group) == 1 {
			continue
		}
		first := p.Manifest.Configurations[group[0]]
		rungs, by := p.deciding(group[0], p.Studies[base[group[0]]:][:len(first.Studies)])
		var tuned []string
		for _, k := range group {
			tuned = append(tuned, p.Manifest.Configurations[k].Objective)
		}
		of := func(f *record.Fit) float64 { return float64(f.LogEvidence) }
		if by != spec.LogEvidence {
			of = scored(cv.Deciding(by, tuned, len(first.Classes)), len(first.Classes))
		}
		ladder := &schedule.Ladder{Rungs: len(rungs), Rank: ranking(of)}
		for _, k := range group {
			for i := range p.Manifest.Configurations[k].Studies {
				s := &p.Studies[base[k]+i]
				rung, decides := rungs[i]
				if !decides {
					rung = len(rungs) + i
				}
				times, _ := s.Times(Nominal)
				s.Turn = schedule.Turn{Ladder: ladder, Rung: rung, Cost: times.All}
			}
		}
	}
}

// deciding returns the studies of a configuration whose fits decide the answer, each with its rung.
// by is the score of a contest or log_evidence; it is empty if the score depends on the
// configurations.
func (p *Plan) deciding(configuration int, studies []Study) (rungs map[int]int, by string) {
	var in []int
	nested := slices.ContainsFunc(p.Manifest.Contests, func(c record.Contest) bool {
		return c.WinnerOnly && slices.Contains(c.Configurations, configuration)
	})
	for _, c := range p.Manifest.Contests {
		if c.WinnerOnly == nested && slices.Contains(c.Configurations, configuration) {
			in, by = append(in, c.Folds...), c.Score
		}
	}
	for i, s := range studies {
		of := s.Job.Set.Evaluation
		if by == "" && s.Job.Set.Held() > 0 && (len(in) == 0 || studies[in[0]].Job.Set.Evaluation == of) {
			in = append(in, i)
		}
	}
	if len(in) == 0 {
		in, by = []int{0}, spec.LogEvidence
	}
	rungs = map[int]int{}
	for _, i := range in {
		rungs[i] = len(rungs)
	}
	return rungs, by
}

// ranking compares configurations by the mean of a value over the rungs that they have in common. A
// failed fit is the worst value.
func ranking(value func(*record.Fit) float64) func(fits [][]*record.Fit) []int {
	known := map[*record.Fit]float64{}
	return func(fits [][]*record.Fit) []int {
		done := make([][]bool, len(fits))
		for k, row := range fits {
			for _, f := range row {
				if _, met := known[f]; f != nil && !met {
					known[f] = math.NaN()
					if f.Failure.IsZero() {
						known[f] = value(f)
					}
				}
				done[k] = append(done[k], f != nil)
			}
		}
		return cv.Ahead(done, func(k int, rungs []int) (mean float64) {
			for _, r := range rungs {
				mean += known[fits[k][r]] / float64(len(rungs))
			}
			return mean
		})
	}
}

// scored returns the score of the predictions of a fit, with the sign for which greater is better.
// It is NaN for a fit without the score.
func scored(of cv.Score, classes int) func(*record.Fit) float64 {
	return func(f *record.Fit) float64 {
		p, err := f.Predictions(classes)
		if err != nil {
			return math.NaN()
		}
		switch e, ok, err := of.Of(p); {
		case err != nil || !ok:
			return math.NaN()
		case of.Greater:
			return e.Value
		default:
			return -e.Value
		}
	}
}
