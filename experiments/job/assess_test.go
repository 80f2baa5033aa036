package job

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/cv/split"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/random"
	_ "github.com/gpc-tune/gpc-tune/internal/testing/garbage"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/comparator"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/objective/preprocess"
	"github.com/gpc-tune/gpc-tune/record"
)

// column is one of a recorded matrix.
func column(m record.Matrix, j int) (v []float64) {
	for _, row := range m {
		v = append(v, float64(row[j]))
	}
	return v
}

func allNear(a, b []float64, within float64) bool {
	return slices.EqualFunc(a, b, func(a, b float64) bool { return near(a, b, within) })
}

// An assessment has the fit to the training cases and its predictions for the held-out ones. If it
// uses all training data, it also has the data of figures. The assessment of a twin is kept for the
// twin.
func TestAssessment(t *testing.T) {
	best := []float64{0.3, 0.5}
	for _, c := range []struct {
		free           []float64
		whole, plugged bool
	}{{best, false, false}, {best, true, false}, {nil, true, false}, {best, false, true}} {
		j, twin := crowd(approx.EP{}, approx.EP{}, 14, 15, 16), crowd(approx.EP{}, approx.EP{}, 17, 18)
		j.Whole, j.SameTraining = c.whole, twin
		if c.plugged {
			j.Average, twin.Average = objective.MAP{}, objective.MAP{}
		}
		j.Set.Source.Truth = func(x []float64) []float64 { return []float64{1 - x[0]/4, x[0] / 4} }
		got, err := j.Assess(t.Context(), 3, c.free, nil)
		if err != nil {
			t.Fatal(err)
		}
		model := twin.Model
		if twin.Model.Inference = nil; c.free != nil {
			twin.Model.Kernels = nil // it can fit nothing
		}
		kept, err := twin.Assess(t.Context(), 3, c.free, nil)
		if twin.Model = model; err != nil {
			t.Fatal(err)
		}
		for _, part := range []struct {
			*Job
			record.Fit
		}{{j, got}, {twin, kept}} {
			free := c.free
			if free == nil {
				_, o := fitOf(t, part.Job, part.Job.Model, []float64{0, 0})
				free = o.Layout.Pick(o.Layout.Start())
			}
			fit, o := fitOf(t, part.Job, part.Job.Model, free)
			rows := part.Set.Test
			if p := probabilities(part.Job, fit, rows); !allNear(column(part.Proba, 1), p, 1e-9) || !allNear(column(part.Proba, 0), []float64{1 - p[0], 1 - p[1], 1 - p[len(p)-1]}[:len(p)], 1e-9) {
				t.Errorf("%+v: %v, want %v", c, part.Proba, p)
			}
			means, variances := fit.Latents(&kernel.Inputs{X: data.PickRows(part.Set.Source.X, rows)})
			if !allNear(record.Floats(part.LatentMean[0]), means[0], 1e-9) || !allNear(record.Floats(part.LatentVariance[0]), variances[0], 1e-9) || len(part.LatentMean) != 1 {
				t.Errorf("%+v: %v, %v, want %v, %v", c, part.LatentMean, part.LatentVariance, means, variances)
			}
			if (part.MAP == nil) != c.plugged || !c.plugged && !near(float64(part.MAP[1]), 0.5*math.Erfc(-means[0][1]/math.Sqrt2), 1e-9) {
				t.Errorf("%+v: %v at %v", c, part.MAP, means)
			}
			if !slices.Equal(part.Rows, data.Pick(part.Set.Source.Rows, rows)) || !slices.Equal(part.Labels, data.Pick(part.Set.Source.Labels, rows)) ||
				part.Chosen != 3 || !slices.Equal(part.TrainCounts, countsOf(part.Job)) || part.TrainWeights != nil || part.Weights != nil {
				t.Errorf("%+v: %+v", c, part.Fit)
			}
			if !near(float64(part.Fit.LogEvidence), fit.Value(), 1e-9) || !part.Converged || part.Iterations < 2 || !slices.Equal(record.Floats(part.Natural), o.Layout.Natural(o.Layout.Fill(free))) {
				t.Errorf("%+v: %+v, want the log evidence %v", c, part.Fit, fit.Value())
			}
			whole := part.Whole && c.whole
			if loo, err := fit.LeaveOneOut(); (part.LeaveOneOut != nil) != whole || err != nil || whole && !near(float64(*part.LeaveOneOut), loo, 1e-9) {
				t.Errorf("%+v: leave one out %v, want %v, %v", c, part.LeaveOneOut, loo, err)
			}
			if (part.Surface != nil) != whole || (part.TrainLatentMean != nil) != whole || (part.TrainLabels != nil) != whole || part.Failure.String() != "" || len(part.Warnings) > 0 {
				t.Errorf("%+v: %+v", c, part.Fit)
			}
			if !whole {
				continue
			}
			means, _ = fit.Latents(&kernel.Inputs{X: data.PickRows(part.Set.Source.X, part.Set.Train)})
			if !allNear(record.Floats(part.TrainLatentMean[0]), means[0], 1e-9) || !slices.Equal(part.TrainLabels, part.Set.Source.Labels[:14]) {
				t.Errorf("%v of %v", part.TrainLatentMean, part.TrainLabels)
			}
			s := part.Surface
			at := mat.NewDense(1, 1, []float64{float64(s.Axes[0][50])})
			p := mat.NewDense(1, 2, nil)
			fit.PredictProba(p, &kernel.Inputs{X: at}, part.Average)
			means, variances = fit.Latents(&kernel.Inputs{X: at})
			if len(s.Axes) != 1 || len(s.Proba) != 1 || !near(float64(s.Proba[0][50]), p.At(0, 1), 1e-9) || !near(float64(s.LatentMean[0][50]), means[0][0], 1e-9) ||
				!near(float64(s.LatentVariance[0][50]), variances[0][0], 1e-9) || !near(float64(s.Truth[0][50]), at.At(0, 0)/4, 1e-12) || !slices.Equal(s.Names, []string{"u"}) ||
				!slices.Equal(record.Floats(s.Inputs[0]), mat.Col(nil, 0, part.Set.Source.X)[:14]) || len(s.Targets) != 0 || len(s.Mean) != 0 {
				t.Errorf("%+v", s)
			}
		}
	}
}

// Sums of weights replace counts where cases have weights.
func TestAssessmentOfWeightedCases(t *testing.T) {
	for _, compared := range []bool{false, true} {
		j := crowd(approx.EP{}, approx.EP{}, 14, 15, 16)
		if compared {
			j.Comparator = comparator.Table.Default("logistic_regression")
		}
		sums := make([]record.Number, 2)
		for i := range 20 {
			j.Set.Source.Weights = append(j.Set.Source.Weights, float64(i+1))
			if i < 14 {
				sums[j.Set.Source.Labels[i]] += record.Number(i + 1)
			}
		}
		got, err := j.Assess(t.Context(), -1, nil, nil)
		if err != nil || !slices.Equal(got.TrainWeights, sums) || !slices.Equal(got.Weights, record.Vector{15, 16, 17}) || !slices.Equal(got.TrainCounts, countsOf(j)) {
			t.Errorf("%+v, %v, want %v", got, err, sums)
		}
	}
}

// For numeric targets an assessment has the predicted moments, and the moments of the training
// cases as a baseline.
func TestAssessmentOfNumbers(t *testing.T) {
	j := crowd(approx.Exact{}, approx.Exact{}, 14, 15, 16)
	d := j.Set.Source
	d.Labels, d.Classes, j.Whole = nil, nil, true
	for i := range 20 {
		d.Targets = append(d.Targets, 3+math.Sin(d.X.At(i, 0))+0.1*math.Cos(float64(5*i)))
	}
	j.Model.Likelihood = likelihood.Gaussian{}
	j.Tuned = j.Model
	got, err := j.Assess(t.Context(), 0, []float64{0.3, 0.5}, nil)
	if err != nil || !got.Failure.IsZero() {
		t.Fatal(err, got.Failure)
	}
	fit, _ := fitOf(t, j, j.Model, []float64{0.3, 0.5})
	mean, variance := make([]float64, 3), make([]float64, 3)
	fit.PredictMoments(mean, variance, &kernel.Inputs{X: data.PickRows(d.X, j.Set.Test)})
	m, v := stat.PopMeanVariance(d.Targets[:14], nil)
	if !allNear(record.Floats(got.Mean), mean, 1e-9) || !allNear(record.Floats(got.Variance), variance, 1e-9) || !slices.Equal(record.Floats(got.Targets), d.Targets[14:17]) ||
		!near(float64(got.TrainMoments.Mean), m, 1e-12) || !near(float64(got.TrainMoments.Variance), v, 1e-12) || got.Proba != nil || got.TrainLabels != nil || got.MAP != nil {
		t.Errorf("%+v, want %v, %v, and the moments %v, %v", got, mean, variance, m, v)
	}
	if s := got.Surface; len(s.Mean) != 201 || len(s.Variance) != 201 || s.Proba != nil || !slices.Equal(record.Floats(s.Targets), d.Targets[:14]) {
		t.Errorf("%+v", s)
	}
}

// The predictions of chains are the averages over their samples; a sample at which no fit is
// possible is left out, with a warning.
func TestAssessmentOfChains(t *testing.T) {
	samples := [][]float64{{0.3, 0.5}, {-0.2, 1}, {0.8, 0}}
	trial := record.Trial{}
	for _, s := range append([][]float64{{math.NaN(), 0}}, samples...) {
		trial.Points = append(trial.Points, record.Point{Theta: record.Numbers(s)})
	}
	j, twin := crowd(approx.EP{}, approx.EP{}, 14, 15, 16), crowd(approx.EP{}, approx.EP{}, 17, 18)
	j.Chain, twin.Chain, j.SameTraining = &objective.Chain{}, &objective.Chain{}, twin
	got, err := j.Assess(t.Context(), 0, samples[1], []record.Trial{trial})
	if err != nil || !got.Failure.IsZero() {
		t.Fatal(err, got.Failure)
	}
	kept, err := twin.Assess(t.Context(), 0, samples[1], []record.Trial{trial})
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []struct {
		*Job
		record.Fit
	}{{j, got}, {twin, kept}} {
		want := make([]float64, len(part.Set.Test))
		for _, s := range samples {
			fit, _ := fitOf(t, part.Job, part.Job.Model, s)
			for i, p := range probabilities(part.Job, fit, part.Set.Test) {
				want[i] += p / 3
			}
		}
		if !allNear(column(part.Proba, 1), want, 1e-7) {
			t.Errorf("%v, want %v", part.Proba, want)
		}
		text := ""
		for _, w := range part.Warnings {
			text += w.String()
		}
		if strings.Count(text, "1 of 4 samples are left out") != 1 || strings.Contains(text, "gave warnings") {
			t.Error(text)
		}
	}
	if len(got.Posterior) != 2 {
		t.Errorf("%+v", got.Posterior)
	}
	// Of cases with two different inputs only two are inducing inputs, and every fit says so.
	few := crowd(approx.EP{}, approx.EP{}, 14)
	for i := range 14 {
		few.Set.Source.X.Set(i, 0, float64(i%2))
	}
	few.Model.Inference = approx.EP{Structure: objective.Inducing{Points: 5}}
	o, _, err := few.Objective(t.Context(), few.Model, nil)
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= 2; n++ {
		var f record.Fit
		first := ""
		err := few.EverySample(objective.NewRun(t.Context(), o), [][][]float64{samples[:n]}, &f,
			func(fit *objective.Point) error {
				if w := fit.Diagnostics().Warnings; first == "" && len(w) > 0 {
					first = w[0].String()
				}
				return nil
			})
		want := fmt.Sprintf("%d of %d fits at samples gave warnings, the first: %s", n, n, first)
		if texts := cause.Texts(f.Warnings); err != nil || first == "" || !slices.Equal(texts, []string{want}) {
			t.Errorf("%q, %v, want %q", texts, err, want)
		}
	}
	trial.Points = slices.Repeat(trial.Points[:1], 4)
	if got, err := j.Assess(t.Context(), 0, samples[1], []record.Trial{trial}); err != nil || !strings.Contains(got.Failure.String(), "no sample could be fitted") {
		t.Errorf("%v, %v", got.Failure, err)
	}
}

// Calibration and threshold are learnt on folds of the training cases, and correct the predictions.
func TestAssessmentIsAdjusted(t *testing.T) {
	platt, err := cv.CalibrationNamed("platt")
	if err != nil {
		t.Fatal(err)
	}
	free := []float64{0.3, 0.5}
	points := []record.Point{{Theta: record.Numbers(free)}, {Theta: record.Numbers([]float64{-0.2, 1})}}
	chain := []record.Trial{{Points: slices.Repeat(points, 2)}}
	for _, c := range []struct {
		how    Adjust
		trials []record.Trial
	}{{Adjust{Calibration: &platt, Seed: 4}, nil}, {Adjust{Threshold: "f1", Seed: 4}, nil}, {Adjust{Calibration: &platt, Threshold: "f1", Seed: 4}, nil}, {Adjust{Calibration: &platt, Threshold: "f1", Seed: 4}, chain}} {
		plain, j := crowd(approx.EP{}, approx.EP{}, 14, 15, 16), crowd(approx.EP{}, approx.EP{}, 14, 15, 16)
		if j.Adjust = &c.how; c.trials != nil {
			plain.Chain, j.Chain = &objective.Chain{}, &objective.Chain{}
		}
		before, err := plain.Assess(t.Context(), 0, free, c.trials)
		if err != nil {
			t.Fatal(err)
		}
		got, err := j.Assess(t.Context(), 0, free, c.trials)
		if err != nil || !got.Failure.IsZero() {
			t.Fatal(got.Failure, err)
		}
		if (got.Threshold != nil) != (c.how.Threshold != "") || (got.Calibration != nil) != (c.how.Calibration != nil) {
			t.Fatalf("%+v", got)
		}
		// the folds of the adjustment, each assessed as a job of its own
		inner, err := j.Set.Split(split.KFold{K: 5}, random.Derive(4, "predict"), "predict")
		if err != nil {
			t.Fatal(err)
		}
		var held []cv.Predictions
		for _, fold := range inner {
			part := crowd(approx.EP{}, approx.EP{}, fold.Test...)
			part.Set.Train, part.Chain = fold.Train, j.Chain
			f, err := part.Assess(t.Context(), 0, free, c.trials)
			if err != nil {
				t.Fatal(err)
			}
			p, err := cv.NewPredictions(f.Rows, f.Labels, asRows(column(f.Proba, 1)), countsOf(part))
			if err != nil {
				t.Fatal(err)
			}
			held = append(held, p)
		}
		all := cv.Pool(held...)
		want := before.Proba
		if c.how.Calibration != nil {
			parameters, err := platt.Calibrate(all)
			if err != nil || !allNear(record.Floats(got.Calibration[0]), parameters[0], 1e-5) {
				t.Errorf("%v, want %v, %v", got.Calibration, parameters, err)
			}
			for i := range want {
				row := record.Floats(want[i])
				platt.Adjust(parameters, row)
				want[i] = record.Numbers(row)
			}
			for i := range all.Labels {
				platt.Adjust(parameters, all.Proba.RawRowView(i))
			}
		}
		if !allNear(column(got.Proba, 1), column(want, 1), 1e-5) {
			t.Errorf("%+v: %v, want %v", c.how, got.Proba, want)
		}
		if c.how.Threshold != "" {
			if at, err := cv.BestThreshold(all, "f1", nil); err != nil || !near(float64(*got.Threshold), at, 1e-5) {
				t.Errorf("%+v: the threshold is %v, want %v, %v", c.how, *got.Threshold, at, err)
			}
		}
	}
}

// Standard errors are computed from the tuned objective, at the chosen point.
func TestAssessmentHasStandardErrors(t *testing.T) {
	j := crowd(approx.EP{}, approx.Laplace{})
	_, o := fitOf(t, j, j.Tuned, []float64{0, 0})
	top, err := objective.Optimize(t.Context(), o, []float64{0.3, 0.5}, objective.Settings{})
	if err != nil {
		t.Fatal(err)
	}
	want, err := o.Curvature(t.Context(), top.Theta)
	if err != nil {
		t.Fatal(err)
	}
	for _, asked := range []bool{true, false} {
		j.Curvature = asked
		got, err := j.Assess(t.Context(), 0, top.Theta, nil)
		if err != nil || (got.Curvature != nil) != asked {
			t.Fatal(err, got.Curvature, want)
		}
		if c := got.Curvature; c != nil && (!allNear(record.Floats(c.StandardErrors), want.StandardErrors, 1e-6) || len(c.Names) != len(want.Inside) || !allNear(record.Floats(c.Correlations[0]), mat.Row(nil, 0, want.Correlations), 1e-6)) {
			t.Errorf("%+v, want %+v", c, want)
		}
	}
}

// Preprocessing is fitted on the training part, unless the file requests all cases, and applied to
// both parts.
func TestSetsArePreprocessed(t *testing.T) {
	all := preprocess.Cases(1)
	for _, how := range []preprocess.Choice{{How: "standardize"}, {Standardize: &all}} {
		j := crowd(approx.EP{}, approx.EP{}, 14, 15)
		j.Set.How = how
		p, err := j.Set.Prepare()
		if err != nil {
			t.Fatal(err)
		}
		raw := mat.Col(nil, 0, j.Set.Source.X)
		n := 14
		if how.All() {
			n = 20
		}
		mean, variance := stat.PopMeanVariance(raw[:n], nil)
		scale := func(v float64) float64 { return (v - mean) / math.Sqrt(variance) }
		if !near(p.Data.X.X.At(3, 0), scale(raw[3]), 1e-12) || !near(p.Held.X.At(1, 0), scale(raw[15]), 1e-12) || !p.Data.Scaled {
			t.Errorf("%v: %v, %v, want %v, %v", how, p.Data.X.X.At(3, 0), p.Held.X.At(1, 0), scale(raw[3]), scale(raw[15]))
		}
	}
}

// A search that ended at a bound has a warning. A climb has its own warnings instead.
func TestAssessmentAtABound(t *testing.T) {
	j := crowd(approx.EP{}, approx.EP{}, 14)
	_, o := fitOf(t, j, j.Tuned, []float64{0, 0})
	free := []float64{0.3, math.Log(o.Layout.FreeSpecs()[1].Hi)}
	for optimizer, want := range map[string]int{"": 1, "bfgs": 0} {
		j.Optimizer = optimizer
		got, err := j.Assess(t.Context(), 0, free, nil)
		if err != nil || len(got.Warnings) != want || want > 0 && !strings.Contains(got.Warnings[0].String(), "length_scale") {
			t.Errorf("%q: %v, %v", optimizer, got.Warnings, err)
		}
	}
}

// A fold that would leave a training part without a class is refused with the name of the class.
func TestFoldsThatLoseAClass(t *testing.T) {
	j := crowd(approx.EP{}, approx.EP{})
	for i := range j.Set.Source.Labels {
		j.Set.Source.Labels[i] = min(i, 1)
	}
	if _, err := j.Set.Split(split.KFold{K: 14}, 1, "kfold"); err == nil || !strings.Contains(err.Error(), `class "a"`) {
		t.Error(err)
	}
}

// A case of weight two is one that is there twice.
func TestWeightsRepeatCases(t *testing.T) {
	weighted := crowd(approx.Laplace{}, approx.Laplace{}, 14, 15, 16)
	twice := crowd(approx.Laplace{}, approx.Laplace{}, 14, 15, 16)
	weighted.Set.Source.Weights = slices.Repeat([]float64{1}, 20)
	weighted.Set.Source.Weights[3] = 2
	twice.Set.Train = append(twice.Set.Train, 3)
	got, err := weighted.Assess(t.Context(), 0, []float64{0.3, 0.5}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want, err := twice.Assess(t.Context(), 0, []float64{0.3, 0.5}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if !near(float64(got.LogEvidence), float64(want.LogEvidence), 1e-9) ||
		!allNear(column(got.Proba, 1), column(want.Proba, 1), 1e-9) {
		t.Errorf("%v and %v, want %v and %v", got.LogEvidence, got.Proba, want.LogEvidence, want.Proba)
	}
}

// The confidence of a comparator that has its own is recorded: minus the distance to the nearest
// training case.
func TestAssessmentHasConfidences(t *testing.T) {
	j := crowd(approx.EP{}, approx.EP{}, 14, 15, 16)
	j.Comparator = comparator.Table.Default("p1nn")
	got, err := j.Assess(t.Context(), -1, nil, nil)
	if err != nil || !got.Failure.IsZero() || len(got.Confidence) != 3 {
		t.Fatalf("%+v, %v", got, err)
	}
	x := j.Set.Source.X
	for i, row := range j.Set.Test {
		nearest := math.Inf(1)
		for _, k := range j.Set.Train {
			nearest = min(nearest, math.Abs(x.At(row, 0)-x.At(k, 0)))
		}
		if !near(float64(got.Confidence[i]), -nearest, 1e-12) || nearest == 0 {
			t.Errorf("case %d: %v, want %v", row, got.Confidence[i], -nearest)
		}
	}
}

// If the number of inducing inputs is searched, the tried numbers are recorded.
func TestAssessmentWithInducingInputs(t *testing.T) {
	j := crowd(approx.Laplace{Structure: objective.Inducing{Points: 5, Tolerance: 0.1}}, approx.Laplace{}, 14)
	got, err := j.Assess(t.Context(), 0, []float64{0.3, 0.5}, nil)
	if i := got.Inducing; err != nil || i == nil || i.Points != 5 || len(i.Tried) != 1 || i.Tried[0].Points != 5 {
		t.Errorf("%+v, %v, %v", i, got.Failure, err)
	}
}

// Inducing inputs that are selected again give a warning if the log evidence changes by more than a
// thousandth of a nat per case.
func TestInducingInputsSelectedAgain(t *testing.T) {
	const before = -9
	for _, c := range []struct {
		moved float64 // a case
		told  bool
	}{{0, false}, {0.9e-3, false}, {-0.9e-3, false}, {1.1e-3, true}, {-1.1e-3, true}} {
		of := part{Job: crowd(approx.EP{}, approx.EP{}), fit: record.Fit{Inducing: &record.Inducing{}}}
		of.fit.LogEvidence = record.Number(before + 14*c.moved)
		of.rechosen(before)
		if w := of.fit.Warnings; (len(w) > 0) != c.told || *of.fit.Inducing.Before != before {
			t.Errorf("%+v: %v", c, w)
		}
	}
}

// The fit of an assessment is kept for a caller that uses it afterwards, and only then.
func TestFitsAreKept(t *testing.T) {
	for _, keeps := range []bool{true, false} {
		j := crowd(approx.EP{}, approx.EP{}, 14)
		j.Keeps = keeps
		free := []float64{0.3, 0.5}
		assessed, err := j.Assess(t.Context(), 0, free, nil)
		if err != nil {
			t.Fatal(err)
		}
		_, o := fitOf(t, j, j.Model, free)
		first, err := j.FitModel(t.Context(), o, o.Layout.Fill(free))
		if err != nil || first.LogEvidence != float64(assessed.LogEvidence) {
			t.Fatalf("%+v, %v, want %v", first, err, assessed.LogEvidence)
		}
		if again, err := j.FitModel(t.Context(), o, o.Layout.Fill(free)); err != nil || (again == first) != keeps {
			t.Errorf("keeps %v: the same is %v, error %v", keeps, again == first, err)
		}
	}
}

// Results of a twin are for one point and, with chains, for their samples. Other trials do not
// count.
func TestWhatAssessmentsDependOn(t *testing.T) {
	free, other := []float64{1, 2}, []float64{3, 4}
	trials := func(theta []float64) []record.Trial {
		return []record.Trial{{Points: []record.Point{{Theta: record.Numbers(theta)}}}}
	}
	for _, chain := range []*objective.Chain{nil, {}} {
		j := Job{Chain: chain}
		if asked := j.askedFor(free, trials(free)); asked != j.askedFor(free, trials(free)) ||
			asked == j.askedFor(other, trials(free)) ||
			(asked == j.askedFor(free, trials(other))) != (chain == nil) {
			t.Errorf("chains %v: %q", chain != nil, asked)
		}
	}
}

// A fit to a fold of the training cases that fails or does not converge is an error.
func TestFoldsOfAdjustmentsThatFail(t *testing.T) {
	for i, c := range []struct {
		of    approx.Approximation
		first float64
		fails bool
	}{
		{approx.Laplace{}, 0.3, false}, {approx.Laplace{}, math.NaN(), true},
		{approx.Laplace{MaxIterations: 1}, 0.3, true},
	} {
		j := crowd(c.of, c.of)
		j.Adjust = &Adjust{Seed: 4}
		inner, err := j.Set.Split(split.KFold{K: 5}, 1, "predict")
		if err != nil {
			t.Fatal(err)
		}
		if p, err := j.within(t.Context(), inner[0], []float64{c.first, 0.5}, nil); (err != nil) != c.fails ||
			err == nil && len(p.Labels) != len(inner[0].Test) {
			t.Errorf("%d: %+v, error %v", i, p, err)
		}
	}
}
