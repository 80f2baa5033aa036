package prior

// table has the structures of a covariance, in the order in which they are tried. Both
// functions return nil for a Cov of another structure.
var table = []struct {
	// new is K of n cases for one latent process. power is that of a correction. merge lets cases
	// share their latent value if their rows of K and their prior means are equal, as for equal
	// inputs and a kernel without noise.
	new func(work *Work, cov Cov, n int, power float64, merge bool) (Prior, error)
	// classes are the priors of the latent processes of several classes, one shared or one per
	// class; nil: there are none.
	classes func(work *Work, cov []Cov, n, classes int, power float64) (Classes, error)
}{
	{withInducing, withInducingClasses},
	{new: withEqualCases},
	{withMatrix, newDenseClasses},
}

// New is K of n cases as it is given, with a correction of this power if it lacks variance. merge
// lets equal cases share their latent value. Sweeps then visit the cases of a value one after the
// other.
func New(work *Work, cov Cov, n int, power float64, merge bool) (k Prior, err error) {
	for _, s := range table {
		if k, err = s.new(work, cov, n, power, merge); k != nil || err != nil {
			break
		}
	}
	return k, err
}

// NewClasses are the priors of n cases as they are given, one shared or one per class.
func NewClasses(work *Work, cov []Cov, n, classes int, power float64) (k Classes, err error) {
	for _, s := range table {
		if s.classes == nil {
			continue
		}
		if k, err = s.classes(work, cov, n, classes, power); k != nil || err != nil {
			break
		}
	}
	return k, err
}
