package columns

import (
	"slices"
	"strings"
)

// answers are pairs of words, in lower case.
var answers = [][]string{{"no", "yes"}, {"false", "true"}, {"n", "y"}, {"f", "t"}, {"nein", "ja"}, {"off", "on"},
	{"non", "oui"}, {"no", "si"}, {"no", "sí"}, {"nee", "ja"}, {"absent", "present"}, {"negative", "positive"}}

// answer is yes or no.
var answer = Kind{Name: "yes or no", Use: Input, is: func(p *profile) (string, bool) {
	if len(p.levels) != 2 {
		return "", false
	}
	var words []string
	for level := range p.levels {
		words = append(words, strings.ToLower(level))
	}
	slices.Sort(words)
	return p.some(), slices.ContainsFunc(answers, func(a []string) bool { return slices.Equal(a, words) })
}}
