package param

import (
	"math"
	"strconv"
)

// OneOf returns the hyperparameters of a choice among parts of these kinds. The first is "choice",
// whose values are the positions and kinds of the parts ("2.matern32"). The hyperparameters of the
// parts follow, each with the condition that its part is chosen. own returns the hyperparameters of
// part i with their full names, given the value of choice for this part.
func OneOf(kinds []string, own func(i int, value string) []Spec) []Spec {
	var values []string
	var all []Spec
	for i, kind := range kinds {
		value := strconv.Itoa(i + 1)
		if kind != "" {
			value += "." + kind
		}
		values = append(values, value)
		for _, s := range own(i, value) {
			if s.When == nil {
				s.When = &Condition{Name: "choice", Values: []float64{float64(i)}}
			}
			all = append(all, s)
		}
	}
	return append([]Spec{Among("choice", values...)}, all...)
}

// Chosen returns the part of OneOf that theta chooses, and the index in theta of its first
// hyperparameter. count returns the number of hyperparameters of part i.
func Chosen(theta []float64, parts int, count func(i int) int) (chosen, from int) {
	chosen = int(min(max(math.Round(theta[0]), 0), float64(parts-1)))
	from = 1
	for i := range chosen {
		from += count(i)
	}
	return chosen, from
}
