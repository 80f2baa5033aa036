package catalogue

import (
	"slices"

	"github.com/gpc-tune/gpc-tune/experiments/spec"
)

// All lists everything that a configuration file can name, and what goes together.
func All() []spec.Kind {
	all := spec.Kinds()
	after := 1 + slices.IndexFunc(all, func(k spec.Kind) bool { return k.Name == "inference" })
	return slices.Insert(all, after, spec.Kind{Name: "pairs", Note: Pairs()})
}
