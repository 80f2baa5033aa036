package catalogue

import (
	"fmt"
	"slices"

	"github.com/gpc-tune/gpc-tune/internal/pattern"
)

// wholeName matches whole numbers that float64 has exactly.
var wholeName = pattern.Of(`^-?(0|[1-9]\d{0,14})$`)

// unclearName matches names of classes that the program may take for missing values, for numbers
// with units, or for several classes.
var unclearName = pattern.Of(`(?i)^(=.*|.*;.*|[^\pL\p{Nl}\p{No}]*\p{Nd}[^\pL\p{Nl}\p{No}]*` +
	`|[-+]?[\d.]+e[-+]?\d+|[-+]?inf(inity)?)$`)

// ClassNames are names of the classes of a client in model files: their texts, or "class 0", ...
// for all if a text is unclear or not unique.
func ClassNames(texts []string) []string {
	names := slices.Clone(texts)
	slices.Sort(names)
	unclear := slices.ContainsFunc(texts, func(name string) bool {
		return unclearName().MatchString(name) && !wholeName().MatchString(name)
	})
	if !unclear && len(slices.Compact(names)) == len(texts) {
		return texts
	}
	for i := range names {
		names[i] = fmt.Sprintf("class %d", i)
	}
	return names
}
