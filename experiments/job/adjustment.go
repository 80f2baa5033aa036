package job

import (
	"slices"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/record"
)

// Adjust configures the calibration of probabilities and the threshold for the second of two
// classes. Both are learnt after the model is fitted, from predictions on folds of the training
// set, at the hyperparameters tuned on all of it. The held-out cases, on which they are scored, are
// not used.
type Adjust struct {
	Calibration *cv.Calibration // nil: none
	Threshold   string          // the score it maximises, of cv.Thresholds; "": the threshold is ½
	Costs       *cv.Costs       // for utility
	Seed        uint64          // seed of the folds, the same for equal training sets
}

// Corrected returns the adjustments of a recorded fit, for a model file.
func (a *Adjust) Corrected(f *record.Fit) (name string, parameters [][]float64, threshold, among []float64) {
	if a == nil {
		return "", nil, nil, nil
	}
	if a.Calibration != nil {
		name = a.Calibration.Name
		for _, row := range f.Calibration {
			parameters = append(parameters, slices.Clone(record.Floats(row)))
		}
	}
	if f.Threshold != nil {
		threshold, among = []float64{float64(*f.Threshold)}, slices.Clone(record.Floats(f.ThresholdRange))
	}
	return name, parameters, threshold, among
}

// Extrapolations counts cases whose probabilities lie far outside the range of the held-out ones: a
// calibration or a threshold is extrapolated to them.
type Extrapolations struct{ calibrated, decided int }

// Calibrate corrects the probabilities of a case in place.
func (e *Extrapolations) Calibrate(c *cv.Calibration, parameters [][]float64, proba []float64) {
	if c.Extrapolates(parameters, proba) {
		e.calibrated++
	}
	c.Adjust(parameters, proba)
}

// Decide looks at the probabilities of a case that a threshold decides, chosen among probabilities
// in this range. Without a range there is nothing to tell.
func (e *Extrapolations) Decide(among, proba []float64) {
	if len(among) == 2 && (cv.Span{Lo: among[0], Hi: among[1]}).Lacks(proba[1]) {
		e.decided++
	}
}

// Warnings tell of the cases.
func (e *Extrapolations) Warnings() (warnings []cause.Notice) {
	const far = "%s from held-out cases, and is extrapolated to others: their log odds lie outside the range of " +
		"those, by more than half its width"
	if e.calibrated > 0 {
		warnings = append(warnings, cause.Extrapolated.Of(e.calibrated, far, "the calibration was learnt"))
	}
	if e.decided > 0 {
		warnings = append(warnings, cause.Extrapolated.Of(e.decided, far, "the threshold was chosen"))
	}
	return warnings
}
