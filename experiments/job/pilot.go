package job

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/random"
	"github.com/gpc-tune/gpc-tune/objective"
)

const (
	// pilotCases is the number of cases of a pilot. A third of them is held out.
	pilotCases = objective.MostDense
	// pilotEvaluations is the largest number of evaluations of the climb that tunes a candidate.
	pilotEvaluations = 20
	// mostJoined is the number of classes, fitted together, up to which a pilot tries neighbours.
	// Their factor takes up to the cube of that number of operations.
	mostJoined = 4
	// leastGain is the fall of the log loss, in bits per case, for which a pilot doubles the
	// operations.
	leastGain = 0.002
)

// candidate is a structure of the covariance that a pilot tries.
type candidate struct {
	objective.Structure
	text string // the option of a method in a file
	// passes is the number of operations of an evaluation, divided by n w² for n cases and the
	// Width w. Inducing inputs take 6, as in the nominal times. Neighbours take 24, by the seconds
	// of fits of 5000 and 20 000 cases with two inputs.
	passes float64
}

var candidates = []candidate{
	{objective.Inducing{Points: 200}, "inducing: 200", 6},
	{objective.Inducing{Points: 500}, "inducing: 500", 6},
	{objective.Neighbours{Count: 10}, "neighbours: 10", 24},
	{objective.FullScale{Inducing: objective.Inducing{Points: 200}, Neighbours: objective.Neighbours{Count: 10}},
		"inducing: 200, neighbours: 10", 24},
}

// thinned is the candidate for a fraction of the cases: m inducing inputs become m √fraction. Rough
// processes need more inducing inputs the more cases there are, and smooth ones hardly.
func (c candidate) thinned(fraction float64) objective.Structure {
	fewer := func(i objective.Inducing) objective.Inducing {
		i.Points = int(math.Round(math.Sqrt(fraction) * float64(i.Points)))
		return i
	}
	switch s := c.Structure.(type) {
	case objective.Inducing:
		return fewer(s)
	case objective.FullScale:
		s.Inducing = fewer(s.Inducing)
		return s
	}
	return c.Structure
}

// Settle chooses the structure of the covariance for which objective.Auto stands in a model m with
// the criterion c: nil, with the text "", is the matrix. text is the structure as an option of a
// method in a file, and why the reason, a sentence. For at most objective.MostDense training cases
// it is the matrix. For more cases a pilot compares candidates. It draws pilotCases training cases
// by their content, tunes each candidate on two thirds of them, and predicts the others. The chosen
// candidate has the smallest value of
//
//	log loss + leastGain log2(operations),
//
// the log loss of the held-out cases in bits per case, and the operations of an evaluation with all
// training cases. The choice depends on the training cases and the model alone. A candidate that
// the model cannot have, or that cannot be fitted, is left out; none left is an error.
func (t *Set) Settle(ctx context.Context, m objective.Model, c objective.Criterion) (
	s approx.Structure, text, why string, err error) {
	return t.settle(ctx, m, c, pilotCases)
}

// settle is Settle with a pilot of some cases. Up to this number of cases it takes the matrix.
func (t *Set) settle(ctx context.Context, m objective.Model, c objective.Criterion, some int) (
	s approx.Structure, text, why string, err error) {
	n := len(t.Train)
	if n <= some {
		return nil, "", fmt.Sprintf("structure: auto takes the matrix of the covariance, as for all data of up to %d "+
			"cases", some), nil
	}
	p, err := t.pilot(some).Prepare()
	if err != nil {
		return nil, "", "", err
	}
	_, dim := t.Source.X.Dims()
	joined := m.Together(len(t.Source.Classes))
	least, tried := math.Inf(1), []string{}
	for _, of := range candidates {
		if _, near := of.Structure.(objective.Neighbours); near && joined > mostJoined {
			continue
		}
		loss, failure := p.try(ctx, m, c, of.thinned(float64(some)/float64(n)))
		if ctx.Err() != nil {
			return nil, "", "", ctx.Err()
		}
		if failure != nil {
			err = cmp.Or(err, failure)
			continue
		}
		tried = append(tried, fmt.Sprintf("%.4f with %s", loss, of.text))
		operations := of.passes * float64(n) * math.Pow(float64(of.Width(n, dim)), 2)
		if value := loss + leastGain*math.Log2(operations); value < least {
			least, s, text = value, of.Structure, of.text
		}
	}
	if s == nil {
		return nil, "", "", fmt.Errorf("structure: auto could fit none of its candidates, the first one because: %w; "+
			"write inducing or neighbours", err)
	}
	return s, text, fmt.Sprintf("structure: auto takes %s for %d cases, by a pilot with %d of them: the log loss of "+
		"held-out cases, in bits a case, was %s; a doubling of the time must gain %v", text, n, some,
		strings.Join(tried, ", "), leastGain), nil
}

// pilot is a training set of some of the cases. It holds out a third of them. It is the same for
// any order of the cases. Cases of one group, and cases of equal inputs, are all held out or all
// trained on.
func (t *Set) pilot(some int) *Set {
	type drawn struct {
		row int
		key uint64
	}
	of := make([]drawn, len(t.Train))
	for i, row := range t.Train {
		of[i] = drawn{row, random.Content(t.Source.X.RawRowView(row))}
		if t.Source.Groups != nil {
			of[i].key = random.Derive(0, t.Source.Groups[row])
		}
	}
	slices.SortStableFunc(of, func(a, b drawn) int { return cmp.Compare(a.key, b.key) })
	held := some / 3
	for held < some-1 && of[held].key == of[held-1].key {
		held++
	}
	pilot := &Set{Evaluation: "pilot", Source: t.Source, How: t.How, missing: t.missing}
	for i, d := range of[:some] {
		if i < held {
			pilot.Test = append(pilot.Test, d.row)
		} else {
			pilot.Train = append(pilot.Train, d.row)
		}
	}
	return pilot
}

// try returns the log loss of the held-out cases in bits per case, for a model with a structure. A
// short climb tunes the model.
func (p *Prepared) try(ctx context.Context, m objective.Model, c objective.Criterion, s objective.Structure) (
	loss float64, err error) {
	m.Inference, _ = approx.With(m.Inference, s)
	o, err := objective.New(m, c, p.Data)
	if err != nil {
		return 0, err
	}
	free := o.Layout.Pick(o.Layout.Start())
	if o.HasGradient() {
		best, err := objective.Optimize(ctx, o, free, objective.Settings{Evaluations: pilotEvaluations})
		if err != nil {
			return 0, err
		}
		free = best.Theta
	}
	fit, err := o.At(ctx, free)
	if err == nil {
		err = fit.Converged()
	}
	if err != nil {
		return 0, err
	}
	predictions, err := p.Predict(fit, objective.Averaged{})
	if err != nil {
		return 0, err
	}
	name := "log_loss"
	if predictions.Numeric() {
		name = "standardized_log_loss"
	}
	score, err := cv.ScoreNamed(name)
	if err != nil {
		return 0, err
	}
	e, ok, err := score.Of(predictions)
	if err == nil && (!ok || !(e.Value < math.Inf(1))) {
		err = errors.New("its held-out cases have no log loss")
	}
	return e.Value / math.Ln2, err
}
