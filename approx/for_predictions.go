package approx

// predictionTolerance is the tolerance of EP where another method has tuned the hyperparameters.
// Nothing then follows the gradient of its log evidence, and probabilities do not show the
// difference: 1e-6 takes two thirds of the iterations of 1e-10 for classes that are far apart.
const predictionTolerance = 1e-6

// ForPredictions is m for fits that only predict: a tolerance of EP that no option gives is 1e-6.
func ForPredictions(m Approximation) Approximation {
	switch a := m.(type) {
	case EP:
		if a.Tolerance == 0 {
			a.Tolerance = predictionTolerance
		}
		return a
	case OneVsRest:
		return OneVsRest{Binary: ForPredictions(a.Binary)}
	}
	return m
}
