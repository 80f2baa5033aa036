package sets

import "math/rand/v2"

var ardExample = Set{
	Name: "ard",
	Doc: "drawn: 100 cases of sin 2πx1 plus noise of deviation 0.1, beside x2 = x1 plus noise and an x3 that has " +
		"nothing to do with it; numeric; 100 more for tests",
	Citation: sinusoidCitation, Licence: drawn, Features: 3,
	Rows: 100, TestRows: 100,
	toy: &toy{[]string{"true_mean"}, sine, func(r *rand.Rand) (train, test []toyExample) {
		for i := range 200 {
			x1, x2, x3 := r.Float64(), 0.1*r.NormFloat64(), 0.5+0.3*r.NormFloat64()
			c := noisy(r, x1, x1+x2, x3)
			if i < 100 {
				train = append(train, c)
			} else {
				test = append(test, c)
			}
		}
		return train, test
	}},
}
