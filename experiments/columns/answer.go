package columns

import (
	"maps"
	"slices"
	"strings"
)

// answers are pairs of words, in lower case.
var answers = [][]string{{"no", "yes"}, {"false", "true"}, {"n", "y"}, {"f", "t"}, {"nein", "ja"}, {"off", "on"},
	{"non", "oui"}, {"no", "si"}, {"no", "sí"}, {"nee", "ja"}, {"absent", "present"}, {"negative", "positive"}}

// answer is yes or no.
var answer = Kind{Name: "yes or no", Use: Input, is: func(p *profile) (string, bool) {
	return p.some(), len(p.levels) == 2 && answered(slices.Collect(maps.Keys(p.levels)))
}}

// answered says whether the texts are a pair of answers, whatever their case.
func answered(words []string) bool {
	var lower []string
	for _, w := range words {
		lower = append(lower, strings.ToLower(w))
	}
	slices.Sort(lower)
	return slices.ContainsFunc(answers, func(a []string) bool { return slices.Equal(a, lower) })
}
