package job

import (
	"slices"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/experiments/record"
)

// Adjust configures what is learnt from predictions after the model is fitted: the calibration of
// probabilities, and the threshold for the second of two classes. Both are learnt on folds of the
// training set, at the hyperparameters tuned on all of it. The held-out cases, on which they are
// scored, are not used.
type Adjust struct {
	Calibration *cv.Calibration // nil: none
	Threshold   string          // the score it maximises, of cv.Thresholds; "": the threshold is ½
	Costs       *cv.Costs       // for utility
	Seed        uint64          // of the folds, the same for equal training sets
}

// Corrected returns the adjustments of a recorded fit, for a model file.
func (a *Adjust) Corrected(f *record.Fit) (name string, parameters [][]float64, threshold []float64) {
	if a == nil {
		return "", nil, nil
	}
	if a.Calibration != nil {
		name = a.Calibration.Name
		for _, row := range f.Calibration {
			parameters = append(parameters, slices.Clone(record.Floats(row)))
		}
	}
	if f.Threshold != nil {
		threshold = []float64{float64(*f.Threshold)}
	}
	return name, parameters, threshold
}
