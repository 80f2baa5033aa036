package experiments

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"slices"
	"strings"
	"sync"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/internal/journal"
	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/comparator"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/picture"
	"github.com/gpc-tune/gpc-tune/search"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"
)

// trainingSet is one training set of a data set with the cases held out from it. Configurations share it.
type trainingSet struct {
	evaluation   string // "train", "training", "test" or a splitter's name
	repeat, fold int
	seed         uint64
	source       *data.Data
	how, missing string       // preprocessing
	train, test  []int        // rows of source; for "test" the held-out cases are all of source.Test
	outer        *trainingSet // that this one is a part of, in nested cross-validation

	mu       sync.Mutex
	prepared *prepared // nil: not yet, or no longer
	studies  int       // that have not been assessed yet; the last lets go of what is prepared
	users    int       // jobs that run; the last lets go of what their covariances share
}

// prepared is a training set ready for fits: preprocessing is fitted on the training part only.
type prepared struct {
	data         objective.Data
	preprocessor *data.Preprocessor
	held         *kernel.Inputs // nil: nothing is held out
	rows         []int          // of the held-out cases, in their file
	labels       []int          // their classes
	counts       []int          // training cases per class
	targets      []float64      // of the held-out cases, where they are numbers
	moments      record.Moments // of the training cases' numbers
	warnings     []string
}

// prepare preprocesses the training set, or returns what the first call made.
func (t *trainingSet) prepare() (*prepared, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.prepared == nil {
		p := &prepared{}
		if err := t.fill(p); err != nil {
			return nil, err
		}
		t.prepared = p
	}
	return t.prepared, nil
}

// use says that a job starts, and done that it has ended. Distances are n² numbers, which only a running job has in its Memory.
func (t *trainingSet) use() (done func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.users++
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.users--; t.users > 0 || t.prepared == nil {
			return
		}
		p := *t.prepared
		p.data.X = p.data.X.Fresh()
		if p.held != nil {
			p.held = p.held.Fresh()
		}
		t.prepared = &p
	}
}

// release says that one study is done with the training set.
func (t *trainingSet) release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.studies--; t.studies <= 0 {
		t.prepared = nil
	}
}

func (t *trainingSet) fill(p *prepared) error {
	x := pick(t.source.X, t.train)
	pre, warnings, err := data.Fit(x, t.how, t.missing)
	if err != nil {
		return err
	}
	p.warnings, p.preprocessor = warnings, pre
	p.data = objective.Data{X: &kernel.Inputs{X: pre.Apply(x)}, Y: t.targets(), Classes: t.source.Classes, Groups: subset(t.source.Groups, t.train), Scaled: t.how != "none"}
	p.counts = make([]int, len(t.source.Classes))
	if t.source.Targets != nil {
		mean, variance := stat.PopMeanVariance(p.data.Y.Value, nil)
		p.moments = record.Moments{Mean: record.Number(mean), Variance: record.Number(variance)}
	} else {
		for _, row := range t.train {
			p.counts[t.source.Labels[row]]++
		}
	}
	from, rows := t.source, t.test
	if t.evaluation == "test" {
		from = t.source.Test
		rows = make([]int, len(from.Rows))
		for i := range rows {
			rows[i] = i
		}
	}
	if len(rows) == 0 {
		return nil
	}
	p.held = &kernel.Inputs{X: pre.Apply(pick(from.X, rows))}
	for _, row := range rows {
		p.rows = append(p.rows, from.Rows[row])
		if from.Targets != nil {
			p.targets = append(p.targets, from.Targets[row])
		} else {
			p.labels = append(p.labels, from.Labels[row])
		}
	}
	return nil
}

// pick copies rows of a matrix.
func pick(x *mat.Dense, rows []int) *mat.Dense {
	_, d := x.Dims()
	out := mat.NewDense(len(rows), d, nil)
	for i, row := range rows {
		out.SetRow(i, x.RawRowView(row))
	}
	return out
}

// targets codes the training labels the way approximations read them.
func (t *trainingSet) targets() approx.Targets {
	y := approx.Targets{Classes: len(t.source.Classes)}
	for _, row := range t.train {
		switch {
		case y.Classes == 0:
			y.Value = append(y.Value, t.source.Targets[row])
		case y.Classes == 2:
			y.Value = append(y.Value, float64(2*t.source.Labels[row]-1))
		default:
			y.Index = append(y.Index, t.source.Labels[row])
		}
	}
	return y
}

// job makes the trials and the assessment of one study.
type job struct {
	declared  Model           // in the file
	model     objective.Model // what predicts
	tuned     objective.Model // the same with another inference method, if hybrid
	hybrid    bool
	criterion objective.Criterion // of tuned
	curvature bool                // standard errors are asked for
	whole     bool                // the training set is all of the training data
	optimizer string              // the local optimiser, "" for plain points
	gradients objective.Gradients // of the local optimiser
	chain     *objective.Chain    // what starts at a point instead; nil: none
	average   objective.Average
	keeps     bool              // whoever runs the job wants the comparator
	kept      comparator.Fitted // which it was
	set       *trainingSet
	cross     *crossValidation // what is tuned, if not the criterion
	folds     []*trainingSet   // of cross
}

// where names a fit in failures.
func (j *job) where() string {
	if slices.Contains([]string{"train", "training", "test"}, j.set.evaluation) {
		return "all training data"
	}
	return fmt.Sprintf("%s repeat %d fold %d", j.set.evaluation, j.set.repeat, j.set.fold)
}

func (j *job) objective(m objective.Model, c objective.Criterion) (*objective.Objective, *prepared, error) {
	p, err := j.set.prepare()
	if err != nil {
		return nil, nil, err
	}
	o, err := objective.New(m, c, p.data)
	return o, p, err
}

// trial evaluates one proposal: a local optimisation, a Markov chain, or the points of a row, each warm-started by the one
// before.
func (j *job) trial(ctx context.Context, index int, proposal search.Proposal) (record.Trial, error) {
	defer j.set.use()()
	o, p, err := j.objective(j.tuned, j.criterion)
	if err != nil {
		return record.Trial{Failure: fmt.Sprintf("%s: %v", j.where(), err)}, nil
	}
	switch {
	case j.optimizer != "":
		return j.climb(ctx, o, proposal.Points[0])
	case j.chain != nil:
		return j.sample(ctx, o, index, proposal.Points[0])
	}
	t := record.Trial{Status: "evaluated"}
	run := objective.NewRun(ctx, o)
	predicts := run
	if j.hybrid && p.held != nil {
		o, _, err := j.objective(j.model, nil)
		if err != nil {
			return record.Trial{Failure: fmt.Sprintf("%s: %v", j.where(), err)}, nil
		}
		predicts = objective.NewRun(ctx, o)
	}
	var values []float64
	var failures []error
	if j.cross != nil {
		if values, failures, t.Evaluations, err = j.crossValidate(ctx, proposal.Points); err != nil {
			return t, err
		}
	}
	for i, free := range proposal.Points {
		if err := ctx.Err(); err != nil {
			return t, err
		}
		point := record.Point{Theta: record.Numbers(free), Natural: record.Numbers(o.Layout.Natural(o.Layout.Fill(free))), Gradient: nan}
		var err error
		if j.cross != nil {
			point.Value, err = record.Number(values[i]), failures[i]
		}
		if err == nil {
			err = j.evaluate(run, predicts, free, p, &point)
		}
		if err != nil {
			if ctx.Err() != nil {
				return t, ctx.Err()
			}
			point.Value, point.Failure = nan, fmt.Sprintf("%s: %v", j.where(), err)
		}
		t.Points = append(t.Points, point)
	}
	t.Evaluations += run.Evaluations
	return t, nil
}

// evaluate fills a point with its value and, where cases are held out, their scores under the model that predicts.
func (j *job) evaluate(run, predicts *objective.Run, free []float64, p *prepared, point *record.Point) error {
	if j.cross == nil {
		fit, err := run.Converged(free)
		if err != nil {
			return err
		}
		point.Value, point.StandardError = record.Number(fit.Value()), record.Number(fit.Diagnostics().StandardError)
	}
	if p.held == nil {
		return nil
	}
	fit, err := predicts.Converged(free) // the same fit again, if the same model predicts
	if err != nil {
		return err
	}
	predictions, err := p.predict(fit, j.average)
	if err != nil {
		return err
	}
	point.Scores = map[string]record.Number{}
	results, _ := cv.Evaluate(predictions)
	for _, r := range results {
		point.Scores[r.Name] = record.Number(r.Value)
	}
	return nil
}

// predict gives the class probabilities of the held-out cases, or the moments of their numbers.
func (p *prepared) predict(fit *objective.Point, average objective.Average) (cv.Predictions, error) {
	q := predictions(fit, len(p.counts), p.held, average)
	if p.targets != nil {
		return cv.NewRegression(p.rows, p.targets, q.Mean, q.Variance, float64(p.moments.Mean), float64(p.moments.Variance))
	}
	return cv.NewPredictions(p.rows, p.labels, q.Proba, p.counts)
}

// predictions are the same of any cases, whose labels nobody knows. There are no classes where the targets are numbers.
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

// outcome is all that is said of cases.
type outcome struct {
	cv.Predictions
	means, variances [][]float64 // of the latent processes, as objective.Point.Latents gives them
	plugged          []float64   // p(y = second class|E[f]), where it is wanted
	averageError     float64     // estimated, of a probability, see approx.Averager
}

// outcomeOn is that of cases whose labels nobody knows.
func outcomeOn(fit *objective.Point, classes int, z *kernel.Inputs, average objective.Average) (o outcome) {
	o.Predictions = predictions(fit, classes, z, average)
	o.means, o.variances = fit.Latents(z)
	o.averageError = averageError(fit.Posterior)
	return o
}

// average makes o, the average of n - 1 parts, that of n with q.
func (o *outcome) average(q outcome, n int) {
	if n == 1 {
		*o = q
		return
	}
	o.averageError = max(o.averageError, q.averageError)
	w := 1 / float64(n)
	o.Mix(q.Predictions, w)
	for c := range o.means {
		cv.MixMoments(o.means[c], o.variances[c], q.means[c], q.variances[c], w)
	}
	for i, p := range q.plugged {
		o.plugged[i] += w * (p - o.plugged[i])
	}
}

// outcome is that of the held-out cases.
func (p *prepared) outcome(fit *objective.Point, average objective.Average) (o outcome, err error) {
	o.Predictions, err = p.predict(fit, average)
	o.means, o.variances = fit.Latents(p.held)
	o.averageError = averageError(fit.Posterior)
	if _, plugs := average.(objective.MAP); len(p.counts) == 2 && !plugs {
		o.plugged = mat.Col(nil, 1, predictions(fit, 2, p.held, objective.MAP{}).Proba)
	}
	return o, err
}

// climb runs the local optimiser from one start.
func (j *job) climb(ctx context.Context, o *objective.Objective, start []float64) (record.Trial, error) {
	t := record.Trial{Start: record.Numbers(o.Layout.Natural(o.Layout.Fill(start)))}
	best, err := objective.Optimize(ctx, o, start, objective.Settings{Method: j.optimizer, Gradients: j.gradients})
	if ctx.Err() != nil {
		return t, ctx.Err()
	}
	t.Evaluations, t.Status, t.Warnings = best.Evaluations, string(best.Status), best.Warnings
	if err != nil {
		t.Failure = fmt.Sprintf("%s: restart from %v: %v", j.where(), start, err)
		return t, nil
	}
	t.Points = []record.Point{{
		Theta: record.Numbers(best.Theta), Natural: record.Numbers(o.Layout.Natural(o.Layout.Fill(best.Theta))),
		Value: record.Number(best.Value), Gradient: record.Number(floats.Norm(best.Gradient, math.Inf(1))),
	}}
	if j.whole { // folds are many
		for _, s := range best.Path {
			t.Path = append(t.Path, record.Step{Theta: record.Numbers(s.Theta), Value: record.Number(s.Value)})
		}
	}
	return t, nil
}

// sample runs a Markov chain from one start.
func (j *job) sample(ctx context.Context, o *objective.Objective, index int, start []float64) (record.Trial, error) {
	t := record.Trial{Start: record.Numbers(o.Layout.Natural(o.Layout.Fill(start)))}
	c := *j.chain
	c.Seed = derive(j.set.seed, "chain", fmt.Sprint(index))
	samples, err := o.Sample(ctx, start, c)
	if ctx.Err() != nil {
		return t, ctx.Err()
	}
	if err != nil {
		t.Failure = fmt.Sprintf("%s: chain from %v: %v", j.where(), start, err)
		return t, nil
	}
	t.Status, t.Evaluations, t.Warnings = "sampled", samples.Evaluations, samples.Warnings
	for s, theta := range samples.Theta {
		t.Points = append(t.Points, record.Point{
			Theta: record.Numbers(theta), Natural: record.Numbers(o.Layout.Natural(o.Layout.Fill(theta))), Value: record.Number(samples.Values[s]), Gradient: nan,
		})
	}
	return t, nil
}

// assess fits the model at the chosen hyperparameters, cold, and predicts the held-out cases, with that fit or, where the
// trials are chains, with one at every sample of theirs.
func (j *job) assess(ctx context.Context, chosen int, free []float64, trials []record.Trial) (record.Fit, error) {
	defer j.set.release()
	defer j.set.use()()
	f := record.Fit{Chosen: chosen, LogEvidence: nan}
	var err error
	if j.declared.Comparator != nil {
		err = j.learn(ctx, &f)
	} else {
		err = j.predict(ctx, free, trials, &f)
	}
	if ctx.Err() != nil {
		return f, ctx.Err()
	}
	if err != nil {
		f.Failure = fmt.Sprintf("%s: %v", j.where(), err)
	}
	return f, nil
}

func (j *job) predict(ctx context.Context, free []float64, trials []record.Trial, f *record.Fit) error {
	o, p, err := j.objective(j.model, nil)
	if err != nil {
		return err
	}
	theta := o.Layout.Start()
	if free != nil {
		theta = o.Layout.Fill(free)
	}
	f.Natural, f.TrainCounts, f.Warnings = record.Numbers(o.Layout.Natural(theta)), p.counts, slices.Clip(p.warnings)
	fit, err := o.Fit(ctx, theta, nil)
	if err != nil {
		return err
	}
	d := fit.Diagnostics()
	if err := fit.Converged(); err != nil {
		f.Iterations = d.Iterations
		return err
	}
	f.LogEvidence, f.Converged, f.Iterations = record.Number(fit.Posterior.Evidence().Value()), d.Converged, d.Iterations
	f.Warnings = append(f.Warnings, d.Warnings...)
	if j.whole {
		loo, err := fit.LeaveOneOut()
		switch {
		case err != nil:
			f.Warnings = append(f.Warnings, fmt.Sprintf("no leave-one-out log probability: %v", err))
		case !math.IsNaN(loo):
			value := record.Number(loo)
			f.LeaveOneOut = &value
		}
	}
	if free != nil && j.optimizer == "" && j.chain == nil { // local optimisers say so themselves
		f.Warnings = append(f.Warnings, search.Space(o.Layout.FreeSpecs()).Edges(free)...)
	}
	if j.curvature {
		if err := j.standardErrors(ctx, free, f); err != nil {
			return err
		}
	}
	chains := j.posterior(trials, o.Layout, f)
	if j.whole {
		if f.TrainLabels = j.set.labels(); f.TrainLabels != nil {
			f.TrainLatentMean = lists(fit.LatentMeans(p.data.X.Fresh()))
		}
		f.Surface = j.set.surface(p.preprocessor, func(z *kernel.Inputs) outcome { return outcomeOn(fit, len(p.counts), z, j.average) })
	}
	if p.held == nil {
		return nil
	}
	var held outcome
	if j.chain == nil {
		held, err = p.outcome(fit, j.average)
	} else {
		held, err = j.mixture(objective.NewRun(ctx, o), chains, p, f)
	}
	if err != nil {
		return err
	}
	f.Warnings = append(f.Warnings, averageWarnings(held.averageError)...)
	f.Rows, f.Labels = p.rows, p.labels
	if held.Numeric() {
		f.TrainMoments, f.Targets = &p.moments, record.Numbers(p.targets)
		f.Mean, f.Variance = record.Numbers(held.Mean), record.Numbers(held.Variance)
	}
	for i := range p.labels {
		f.Proba = append(f.Proba, record.Numbers(held.Proba.RawRowView(i)))
	}
	f.LatentMean, f.LatentVariance = lists(held.means), lists(held.variances)
	if held.plugged != nil {
		f.MAP = record.Numbers(held.plugged)
	}
	return nil
}

// Chains that have mixed have an R̂ of at most maxRHat (Vehtari et al. 2021 ask for 1.01, which few samples cannot show), and
// means that minESS effective samples give to a tenth of a standard deviation.
const (
	maxRHat = 1.05
	minESS  = 100
)

// posterior sums up the chains among the trials that have not failed, and returns their samples.
func (j *job) posterior(trials []record.Trial, l objective.Layout, f *record.Fit) (chains [][][]float64) {
	if j.chain == nil {
		return nil
	}
	for _, t := range trials {
		if t.Failure != "" {
			continue
		}
		var chain [][]float64
		for _, p := range t.Points {
			chain = append(chain, record.Floats(p.Theta))
		}
		chains = append(chains, chain)
	}
	var apart, few []string
	specs := l.FreeSpecs()
	for i, m := range objective.Marginals(chains) {
		name := specs[i].ThetaName()
		f.Posterior = append(f.Posterior, record.Marginal{Name: name, Mean: record.Number(m.Mean), SD: record.Number(m.SD), RHat: record.Number(m.RHat), ESS: record.Number(m.ESS)})
		switch {
		case !(m.RHat <= maxRHat):
			apart = append(apart, fmt.Sprintf("%s (%.3g)", name, m.RHat))
		case !(m.ESS >= minESS):
			few = append(few, fmt.Sprintf("%s (%.3g)", name, m.ESS))
		}
	}
	if len(apart) > 0 {
		f.Warnings = append(f.Warnings, fmt.Sprintf("the chains do not agree, with an R-hat above %v, on %s: raise burn and samples, and look at where each chain ended", maxRHat, strings.Join(apart, ", ")))
	}
	if len(few) > 0 {
		f.Warnings = append(f.Warnings, fmt.Sprintf("fewer than %d effective samples of %s: raise samples or thin", minESS, strings.Join(few, ", ")))
	}
	return chains
}

// mixture averages the predictions over the samples of the chains.
func (j *job) mixture(run *objective.Run, chains [][][]float64, p *prepared, f *record.Fit) (mixture outcome, err error) {
	used := 0
	err = j.everySample(run, chains, f, func(fit *objective.Point) error {
		part, err := p.outcome(fit, j.average)
		if err != nil {
			return err
		}
		used++
		mixture.average(part, used)
		return nil
	})
	return mixture, err
}

// everySample fits the model that predicts at the samples of the chains, each warm-started by the one before. Samples at which
// it cannot be fitted are left out, and counted in the warnings.
func (j *job) everySample(run *objective.Run, chains [][][]float64, f *record.Fit, use func(fit *objective.Point) error) error {
	used, warned := 0, 0
	var fails []error
	note := ""
	for _, free := range slices.Concat(chains...) {
		fit, err := run.Converged(free)
		if err != nil {
			fails = append(fails, err)
			continue
		}
		used++
		if err := use(fit); err != nil {
			return err
		}
		if w := fit.Diagnostics().Warnings; len(w) > 0 {
			if warned++; warned == 1 {
				note = w[0]
			}
		}
	}
	if used == 0 {
		return fmt.Errorf("no sample could be fitted; the first: %w", fails[0])
	}
	if n := len(fails); n > 0 {
		f.Warnings = append(f.Warnings, fmt.Sprintf("%d of %d samples are left out of the predictions, as their fits failed, the first with: %v", n, n+used, fails[0]))
	}
	if warned > 0 {
		f.Warnings = append(f.Warnings, fmt.Sprintf("%d of %d fits at samples gave warnings, the first: %s", warned, used, note))
	}
	return nil
}

// averageError is the error estimate of what averages over latent values, 0 for what does not.
func averageError(posterior any) float64 {
	if a, ok := posterior.(approx.Averager); ok {
		return a.AverageError()
	}
	return 0
}

// averageWarnings says if averages over latent values are less accurate than they are meant to be.
func averageWarnings(deviation float64) []string {
	if !(deviation > 1e-5) {
		return nil
	}
	return []string{fmt.Sprintf("averages of softmax over latent values are uncertain by up to %.1g in a probability; with laplace, more points make that smaller", deviation)}
}

// standardErrors adds the curvature of the tuned objective. That there is none is a warning.
func (j *job) standardErrors(ctx context.Context, free []float64, f *record.Fit) error {
	o, _, err := j.objective(j.tuned, j.criterion)
	if err != nil {
		return err
	}
	c, err := o.Curvature(ctx, free)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		f.Warnings = append(f.Warnings, fmt.Sprintf("no standard errors: %v", err))
		return nil
	}
	f.Warnings = append(f.Warnings, c.Warnings...)
	if c.StandardErrors == nil {
		return nil
	}
	f.Curvature = &record.Curvature{StandardErrors: record.Numbers(c.StandardErrors)}
	specs := o.Layout.FreeSpecs()
	for a, i := range c.Inside {
		f.Curvature.Names = append(f.Curvature.Names, specs[i].ThetaName())
		f.Curvature.Correlations = append(f.Curvature.Correlations, record.Numbers(mat.Row(nil, a, c.Correlations)))
	}
	return nil
}

// nan stands where there is no number.
var nan = record.Number(math.NaN())

// Errors that the command line tells apart.
var (
	// ErrInvalid: data that cannot be used.
	ErrInvalid = errors.New("invalid data")
	// ErrEnvironment: a variable of the environment that cannot be.
	ErrEnvironment = errors.New("environment")
	// ErrOtherConfiguration: the run folder holds another experiment.
	ErrOtherConfiguration = errors.New("the folder belongs to another configuration")
	// ErrUnfinished: the run folder holds a part of this run, and nobody said to go on with it.
	ErrUnfinished = errors.New("the folder holds an unfinished run of this configuration; add --resume to go on with it")
	// ErrUnreported: all jobs are on record, but the results could not be written.
	ErrUnreported = errors.New("every job is done and on record, but the results could not be written")
)

// Options of Plan.Run. A MemoryLimit of 0 is what is free, where the system tells. Threads is set by Run.
type Options struct {
	Resume bool                             // go on with an unfinished run
	Extend bool                             // go on with a run of which this plan is an extension
	Retry  bool                             // run the failed jobs on record again
	Warn   func(format string, args ...any) // hears what the user should know and results do not say
	search.Options
}

// Run does what is missing of the plan in the run folder dir, and writes the results there. A folder that holds this
// run, finished, is reported again; one that holds a part of it needs Resume; one that holds a plan that this one extends
// needs Extend, and its jobs are used again. The report covers what is done even where the run ended early with an error.
func (p *Plan) Run(ctx context.Context, dir string, o Options) (*reports.Report, search.Summary, error) {
	journal, err := p.begin(dir, p.studies, o)
	if err != nil {
		return nil, search.Summary{}, err
	}
	defer journal.Close()
	if lines := journal.Lines(); len(lines) > 0 && !o.Resume && !o.Extend {
		so, err := reports.Build(p.Manifest, lines)
		if err != nil {
			return nil, search.Summary{}, err
		}
		if so.Missing > 0 {
			return nil, search.Summary{}, fmt.Errorf("%s: %w", dir, ErrUnfinished)
		}
	}
	defer p.govern(&o.Options)()
	summary, ended := search.Run(ctx, p.studies, journal, o.Options)
	if err := journal.Close(); ended == nil {
		ended = err
	}
	m, lines := p.Manifest, journal.Lines()
	if ended == nil { // another process may have extended the run meanwhile: the results are to be its
		var begun record.Manifest
		if begun, ended = p.owned(dir); ended == nil {
			m.Source, m.Settings, m.Build, m.Illustrations = begun.Source, begun.Settings, begun.Build, begun.Illustrations // as in a report from the folder alone
		}
	}
	report, err := reports.Build(m, lines)
	if err != nil {
		return nil, summary, errors.Join(ended, err)
	}
	picture.Warn(report)
	if ended != nil {
		return report, summary, ended
	}
	if _, err = (&Folder{Dir: dir, Manifest: m, Lines: lines}).Write(report, p.Manifest.Formats); err != nil {
		err = fmt.Errorf("%w: %w", ErrUnreported, err)
	}
	return report, summary, err
}

// begin opens the journal of the run folder, or with dir "" one in memory, once it is known that the studies fit into the memory
// of the machine: what does not leaves no folder behind.
func (p *Plan) begin(dir string, studies []search.Study, o Options) (*journal.Journal, error) {
	if err := admit(studies, o.MemoryLimit); err != nil {
		return nil, err
	}
	if dir == "" {
		return journal.Open("", journal.Options{})
	}
	j, begun, err := p.open(dir, o)
	if err != nil {
		return nil, err
	}
	if begun.Build != p.Manifest.Build {
		o.Warn("%s was begun by another build (%v, this is %v); its results may differ from a run of one build in the last digits", dir, begun.Build, p.Manifest.Build)
	}
	for _, note := range notes(dir, begun, j) {
		o.Warn("%s", note)
	}
	if o.Retry {
		return j, retry(studies, j, o.Warn)
	}
	return j, nil
}

// retry has the failed jobs on record run again.
func retry(studies []search.Study, j *journal.Journal, warn func(format string, args ...any)) error {
	n, err := search.Retry(studies, j)
	if err == nil {
		warn("%d failed jobs are run again", n)
	}
	return err
}

// notes says what is wrong with what is on record in a run folder, and does not keep anybody from going on.
func notes(dir string, m record.Manifest, j *journal.Journal) (notes []string) {
	if damaged := j.Damaged(); len(damaged) > 0 {
		notes = append(notes, fmt.Sprintf("%d line(s) of the journal were cut off or garbled, the first at %s; what they had runs again with gpc-tune run and --resume", len(damaged), damaged[0]))
	}
	if n := j.Unsealed(); m.Unprotected || n > 0 {
		notes = append(notes, fmt.Sprintf("%s was begun by a version of gpc-tune without checksums: damage to its manifest, or to %d lines of its journal, may go unnoticed", dir, n))
	}
	return notes
}

// open opens the journal of the run folder, and makes the folder if it is new. begun is its manifest.
func (p *Plan) open(dir string, o Options) (j *journal.Journal, begun record.Manifest, err error) {
	begun, err = p.owned(dir)
	var extends *extension
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, journal.ErrDamaged) && (o.Resume || o.Extend):
		begun, err = p.mend(dir, err, o)
	case errors.As(err, &extends) && o.Extend:
		m, replaces := p.Manifest, begun.Key
		m.Build, m.Unprotected = begun.Build, begun.Unprotected
		begun, err = m, journal.WriteManifest(dir, m, replaces)
	}
	if errors.Is(err, fs.ErrExist) { // another process was first
		begun, err = p.owned(dir)
	}
	if err != nil {
		return nil, begun, err
	}
	j, err = journal.Open(dir, journalOptions(begun, p.Manifest))
	return j, begun, err
}

// journalOptions are those of the journal of a folder with the manifest begun, for the jobs of a plan.
func journalOptions(begun, plan record.Manifest) journal.Options {
	return journal.Options{Plan: plan.Key, Unprotected: begun.Unprotected, Begun: begun.Build.String(), Build: thisBuild().String(), Check: reports.Checker(plan)}
}

// mend writes the plan's manifest into a folder that has none, or one that is damaged. A journal that is there goes on, unless it is
// that of another plan.
func (p *Plan) mend(dir string, found error, o Options) (record.Manifest, error) {
	m, replaces := p.Manifest, ""
	sealed, err := journal.Sealed(dir)
	if err != nil {
		return m, err
	}
	m.Unprotected = !sealed
	if errors.Is(found, journal.ErrDamaged) {
		j, err := journal.Open(dir, journalOptions(m, m))
		if err != nil {
			return m, err
		}
		if len(j.Lines()) == 0 && j.Others() > 0 {
			return m, fmt.Errorf("%w; the journal is not that of this file, either: resume with the file, and the --set, that it was begun with", found)
		}
		o.Warn("%v; it is written again from the file, and the damaged one is kept as manifest-%s.json", found, journal.Unreadable)
		replaces = journal.Unreadable
	}
	return m, journal.WriteManifest(dir, m, replaces)
}

// owned reads the manifest of a run folder, which must be of this plan. A new folder is an fs.ErrNotExist.
func (p *Plan) owned(dir string) (record.Manifest, error) {
	found, err := journal.ReadManifest(dir)
	var unreadable *fs.PathError
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return found, err
	case errors.As(err, &unreadable):
		return found, fmt.Errorf("%w: %w; choose another folder with -o", ErrFolder, err)
	case errors.Is(err, journal.ErrDamaged):
		return found, fmt.Errorf("%w: %w; %s", ErrFolder, err, remedy)
	case err != nil:
		return found, fmt.Errorf("%w: %w; or choose another folder with -o", ErrOtherConfiguration, err)
	case found.Key == p.Manifest.Key:
		return found, nil
	case max(1, found.KeyForm) != keyForm:
		return found, fmt.Errorf("%s: %w: its keys are of form %d, and this version of gpc-tune makes form %d; go on with the version that began it (%v), or choose another folder with -o",
			dir, ErrOtherConfiguration, max(1, found.KeyForm), keyForm, found.Build)
	}
	if changed := p.changed(found); len(changed) > 0 {
		return found, fmt.Errorf("%s: %w (experiment %q): %s; choose another folder with -o", dir, ErrOtherConfiguration, found.Experiment, strings.Join(changed, "; "))
	}
	return found, &extension{dir}
}

// remedy is what to do about a manifest that is damaged.
const remedy = "gpc-tune run with the file and --resume writes it again, and goes on with the journal"

// extension is that this plan is not the folder's, but asks for all that it has.
type extension struct{ dir string }

func (e *extension) Error() string {
	return fmt.Sprintf("%s: %v, which this one extends: add --extend to go on with it and use again what is done", e.dir, ErrOtherConfiguration)
}

func (e *extension) Unwrap() error { return ErrOtherConfiguration }

// changed says what of another plan is not in this one: nothing if this one extends it, with more configurations, more
// training sets, or other trials of the same kind.
func (p *Plan) changed(old record.Manifest) (changed []string) {
	note := func(name, was, is string) bool {
		if was == is {
			return false
		}
		if text := fmt.Sprintf("%s: %s in the folder, %s here", name, cmp.Or(was, "none"), cmp.Or(is, "none")); !slices.Contains(changed, text) {
			changed = append(changed, text)
		}
		return true
	}
	if note("seed", fmt.Sprint(old.Seed), fmt.Sprint(p.Manifest.Seed)) {
		return changed
	}
	have := map[string]bool{}
	for _, s := range p.studies {
		have[s.Key] = true
	}
	for _, i := range p.Manifest.Illustrations {
		have[i.Key] = true
	}
	for _, was := range old.Illustrations {
		if !have[was.Key] {
			note("illustrate", strings.Join(slices.DeleteFunc([]string{was.Kind, was.Kernel.Text, was.Likelihood.Text}, func(s string) bool { return s == "" }), ", "), "others")
		}
	}
	for _, was := range old.Configurations {
		lost := slices.IndexFunc(was.Studies, func(s record.Study) bool { return !have[s.Key] })
		if lost < 0 {
			continue
		}
		// The configuration here that is most like it.
		var is record.Configuration
		alike := -1
		for _, c := range p.Manifest.Configurations {
			n := 0
			for k, part := range parts(c) {
				if part.text == parts(was)[k].text {
					n++
				}
			}
			if n > alike {
				is, alike = c, n
			}
		}
		told := false
		for k, part := range parts(was) {
			told = note(part.name, part.text, parts(is)[k].text) || told
		}
		told = note("predict.average", cmp.Or(old.Average.Text, "averaged"), cmp.Or(p.Manifest.Average.Text, "averaged")) || told
		s := was.Studies[lost]
		switch {
		case told:
		case old.Tune != p.Manifest.Tune: // its objective, or the like
			note("tune", old.Tune, p.Manifest.Tune)
		case slices.ContainsFunc(is.Studies, func(t record.Study) bool { return t.Evaluation == s.Evaluation }):
			note("evaluate."+s.Evaluation, fmt.Sprintf("%d cases held out in repeat %d fold %d", s.Test, s.Repeat, s.Fold), "other cases")
		case s.Evaluation == "train":
			note("evaluate", "without test", "with test")
		default:
			note("evaluate", s.Evaluation, "")
		}
	}
	return changed
}

// parts are what one configuration is told from another by, as the file has them.
func parts(c record.Configuration) []struct{ name, text string } {
	return []struct{ name, text string }{
		{"data", c.Dataset}, {"data: hash of cases, inputs and labels", fmt.Sprintf("%.12s", c.DataHash)}, {"data.preprocess", c.Preprocess}, {"data.missing", c.Missing},
		{"versions of the code of components", versionsText(c.Versions)},
		{"model.kernel", c.Kernel.Text}, {"model.mean", c.Mean.Text}, {"model.likelihood", c.Likelihood.Text},
		{"model.inference", c.Inference.Text}, {"tune.inference", c.TuneInference.Text}, {"tune.method", c.Tune}, {"tune.objective", c.Objective},
	}
}

// Done counts the jobs that the journal in dir has already, also where the plan extends the one that they are of.
func (p *Plan) Done(dir string) (n int, extends bool, err error) {
	var of *extension
	found, err := p.owned(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return 0, false, nil
	case errors.As(err, &of):
		extends = true
	case err != nil:
		return 0, false, err
	}
	j, err := journal.Open(dir, journalOptions(found, p.Manifest))
	if err != nil {
		return 0, extends, err
	}
	n, err = search.Recorded(p.studies, j)
	return n, extends, err
}
