package prior

// New is K of n cases as it is given: a matrix, or inducing inputs with a correction of this power.
// merge lets cases share their latent value if their rows of K and their prior means are equal, as
// for equal inputs and a kernel without noise. Sweeps then visit the cases of a value one after the
// other.
func New(work *Work, cov Cov, n int, power float64, merge bool) (Prior, error) {
	if cov.Cross != nil {
		k, err := newInducing(work, cov, n, power)
		if err != nil {
			return nil, err
		}
		return k.newSites(), nil
	}
	d, err := NewDense(work, cov, n)
	if err != nil {
		return nil, err
	}
	if merge {
		if t := d.tie(cov.Mean); t != nil {
			return t, nil
		}
	}
	return d, nil
}

// NewClasses are the priors of n cases as they are given, one shared or one per class.
func NewClasses(work *Work, cov []Cov, n, classes int, power float64) (Classes, error) {
	if cov[0].Cross == nil {
		return newDenseClasses(work, cov, n, classes)
	}
	var priors []*inducing
	for j := range cov {
		p, err := newInducing(work, cov[j], n, power)
		if err != nil {
			return nil, ofClass(err, j, cov)
		}
		priors = append(priors, p)
	}
	return newInducingClasses(priors, classes), nil
}
