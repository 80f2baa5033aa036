package sets

import "math/rand/v2"

var sinusoid = Set{
	Name: "sinusoid",
	Doc: "drawn: sin 2πx plus noise of deviation 0.1 at 20 even places in [0, 0.7]; numeric; the test set is 101 " +
		"places",
	Citation: sinusoidCitation, Licence: drawn, Features: 1,
	Rows: 20, TestRows: 101,
	toy: &toy{[]string{"true_mean"}, sine, func(r *rand.Rand) (train, test []toyExample) {
		for i := range 20 {
			train = append(train, noisy(r, 0.7*float64(i)/19))
		}
		for i := range 101 {
			test = append(test, noisy(r, float64(i)/100))
		}
		return train, test
	}},
}
