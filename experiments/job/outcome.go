package job

import (
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/comparator"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/record"
)

// predictions computes predictions for cases without labels. Numeric targets have no classes.
func predictions(fit *objective.Point, classes int, z *kernel.Inputs, average objective.Average) (p cv.Predictions) {
	if classes > 0 {
		p.Proba = mat.NewDense(z.N(), classes, nil)
		fit.PredictProba(p.Proba, z, average)
		return p
	}
	p.Mean, p.Variance = make([]float64, z.N()), make([]float64, z.N())
	fit.PredictMoments(p.Mean, p.Variance, z)
	return p
}

// Outcome has every prediction of some cases.
type Outcome struct {
	cv.Predictions
	Means, Variances [][]float64 // moments of the latent processes from objective.Point.Latents
	plugged          []float64   // p(y = second class|E[f]), if requested
	AverageError     float64     // estimated error of a probability, see approx.Averager
}

// OutcomeOn computes the Outcome for cases without labels.
func OutcomeOn(fit *objective.Point, classes int, z *kernel.Inputs, average objective.Average) (o Outcome) {
	o.Predictions = predictions(fit, classes, z, average)
	o.Means, o.Variances = fit.Latents(z)
	o.AverageError = averageError(fit.Posterior)
	return o
}

// Average updates o, the average of n - 1 outcomes, with a further outcome q.
func (o *Outcome) Average(q Outcome, n int) {
	if n == 1 {
		*o = q
		return
	}
	o.AverageError = max(o.AverageError, q.AverageError)
	w := 1 / float64(n)
	o.Mix(q.Predictions, w)
	for c := range o.Means {
		cv.MixMoments(o.Means[c], o.Variances[c], q.Means[c], q.Variances[c], w)
	}
	for i, p := range q.plugged {
		o.plugged[i] += w * (p - o.plugged[i])
	}
}

// Predict returns the class probabilities of the held-out cases, or the moments of their numbers.
func (p *Prepared) Predict(fit *objective.Point, average objective.Average) (cv.Predictions, error) {
	q := predictions(fit, len(p.counts), p.Held, average)
	if p.targets != nil {
		q, err := cv.NewRegression(p.Rows, p.targets, q.Mean, q.Variance, float64(p.moments.Mean),
			float64(p.moments.Variance))
		q.Weight = p.weights
		return q, err
	}
	return p.score(q.Proba)
}

// score are the predictions of class probabilities of the held-out cases.
func (p *Prepared) score(proba *mat.Dense) (cv.Predictions, error) {
	var q cv.Predictions
	var err error
	if p.sums != nil {
		q, err = cv.NewPredictions(p.Rows, p.labels, proba, p.sums)
	} else {
		q, err = cv.NewPredictions(p.Rows, p.labels, proba, p.counts)
	}
	q.Ordered, q.Weight = p.ordered, p.weights
	return q, err
}

// outcome is the Outcome for the held-out cases.
func (p *Prepared) outcome(fit *objective.Point, average objective.Average) (o Outcome, err error) {
	o.Predictions, err = p.Predict(fit, average)
	o.Means, o.Variances = fit.Latents(p.Held)
	o.AverageError = averageError(fit.Posterior)
	if _, plugs := average.(objective.MAP); len(p.counts) == 2 && !plugs {
		o.plugged = mat.Col(nil, 1, predictions(fit, 2, p.Held, objective.MAP{}).Proba)
	}
	return o, err
}

// otherAverage compares averaged predictions of the held-out cases with predictions at the mode of
// the latent values.
func (p *Prepared) otherAverage(fit *objective.Point, average objective.Average, q cv.Predictions) (
	*record.OtherAverage, error) {
	var other objective.Average = objective.MAP{}
	if average == other {
		other = objective.Averaged{}
	}
	by, err := p.Predict(fit, other)
	if err != nil {
		return nil, err
	}
	o := &record.OtherAverage{Average: objective.Averages.NameOf(other)}
	for i := range q.Labels {
		if cv.Decide(by.Proba.RawRowView(i)) != cv.Decide(q.Proba.RawRowView(i)) {
			o.Decided++
		}
	}
	loss, err := cv.ScoreNamed("log_loss")
	if err != nil {
		panic(err)
	}
	others, _ := loss.Func(by)
	own, _ := loss.Func(q)
	o.LogLoss = record.Number(others.Value - own.Value)
	return o, nil
}

// averageError is the estimated error of averages over latent values, 0 for a posterior without
// them.
func averageError(posterior any) float64 {
	if a, ok := posterior.(approx.Averager); ok {
		return a.AverageError()
	}
	return 0
}

// AverageWarnings returns a warning if averages over latent values are less accurate than the
// digits that reports show, and a note if they are less accurate than intended.
func AverageWarnings(deviation float64) []cause.Notice {
	kind := cause.Averages
	switch {
	case !(deviation > 1e-5):
		return nil
	case deviation < 1e-4:
		kind = cause.AveragesNoted
	}
	return []cause.Notice{kind.New("averaged softmax probabilities are uncertain by up to %.1g; with "+
		"laplace, more points reduce this", deviation)}
}

// Compared is the Outcome of a comparator for cases.
func Compared(learnt comparator.Fitted, z *kernel.Inputs, classes int) (o Outcome) {
	o.Proba = mat.NewDense(z.N(), classes, nil)
	learnt.PredictProba(o.Proba, z)
	o.AverageError = averageError(learnt)
	if c, ok := learnt.(comparator.Confident); ok {
		o.Confidence = make([]float64, z.N())
		c.Confidence(o.Confidence, z)
	}
	return o
}

// lists converts numbers to the recorded form.
func lists(v [][]float64) (out [][]record.Number) {
	for _, part := range v {
		out = append(out, record.Numbers(part))
	}
	return out
}

// numbersOf is record.Numbers; nil for nil.
func numbersOf(v []float64) record.Vector {
	if v == nil {
		return nil
	}
	return record.Numbers(v)
}
