package job

import (
	"slices"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/record"
)

// Adjust is what is learnt of predictions beside the model: how its probabilities are corrected,
// and from which on the second of two classes is decided for. Both are learnt from folds of the
// training set, at the hyperparameters that were tuned on all of it; the cases that are held out
// from it, on which they are scored, take no part.
type Adjust struct {
	Calibration *cv.Calibration // nil: none
	Threshold   string          // what it maximises, of cv.Thresholds; "": it is ½
	Costs       *cv.Costs       // of utility
	Seed        uint64          // of the folds, the same for equal training sets
}

// Corrected are the adjustments of a fit on record, for a model file.
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
