package sets

import (
	"math"
	"math/rand/v2"
)

var gpmlFig313 = Set{
	Name: "gpml_fig313",
	Doc: "drawn: three classes with the probabilities softmax(0, z2, z3), whose decision regions are GPML Figure " +
		"3.13; 150 cases over the square, the test set is a lattice",
	Citation: gpmlCitation, Licence: drawn, Features: 2,
	Rows: 150, Classes: []Count{{"1", 47}, {"2", 46}, {"3", 57}},
	TestRows: 441, TestClasses: []Count{{"1", 114}, {"2", 159}, {"3", 168}},
	toy: &toy{[]string{"true_p[1]", "true_p[2]", "true_p[3]"}, threeClasses,
		func(r *rand.Rand) (train, test []toyExample) {
			at := func(z2, z3 float64) toyExample {
				p := threeClasses([]float64{z2, z3})
				c := toyExample{[]float64{z2, z3}, p, 3}
				switch u := r.Float64(); {
				case u < p[0]:
					c.label = 1
				case u < p[0]+p[1]:
					c.label = 2
				}
				return c
			}
			for range 150 {
				train = append(train, at(10*r.Float64()-5, 10*r.Float64()-5))
			}
			square(-5, 5, 21, func(z2, z3 float64) { test = append(test, at(z2, z3)) })
			return train, test
		}},
}

// threeClasses is softmax(0, z2, z3).
func threeClasses(z []float64) []float64 {
	p := []float64{1, math.Exp(z[0]), math.Exp(z[1])}
	sum := p[0] + p[1] + p[2]
	for c := range p {
		p[c] /= sum
	}
	return p
}
