// Package illustration draws the illustrations of an experiment file: priors, likelihoods,
// posteriors and class probabilities. Each function is a kind of pictures.
package illustration

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
)

// illustrated draws the illustrations of a kind, in one figure for every entry of the file.
func illustrated(r shown.Report, kind string, draw func([]record.Illustration) figure.Figure) (out []figure.Figure) {
	entries := map[int][]record.Illustration{}
	last := 0
	for _, i := range r.Illustrations {
		if i.Kind == kind {
			entries[i.Entry] = append(entries[i.Entry], i)
			last = i.Entry
		}
	}
	for entry := range last + 1 {
		if all := entries[entry]; all != nil {
			f := draw(all)
			f.Name = fmt.Sprintf("%s-%d", kind, entry)
			if len(entries) > 1 {
				f.Title = fmt.Sprintf("%s, %d of %d", f.Title, len(out)+1, len(entries))
			}
			out = append(out, f)
		}
	}
	return out
}

// distinguished names the components and hyperparameters that the illustrations have in common, and
// for each illustration those in which it differs.
func distinguished(all []record.Illustration) (common []string, differs []string) {
	words := make([][]string, len(all))
	for k, i := range all {
		for _, part := range []struct {
			name string
			of   record.Component
		}{{"kernel ", i.Kernel}, {"mean ", i.Mean}, {"likelihood ", i.Likelihood}} {
			word := ""
			if !part.of.IsZero() {
				word = part.name + reports.ShortName(part.of)
			}
			words[k] = append(words[k], word)
		}
		for _, h := range i.Hyperparameters {
			words[k] = append(words[k], fmt.Sprintf("%s = %.4g", h.Name, float64(h.Value)))
		}
	}
	everywhere := func(word string) bool {
		return !slices.ContainsFunc(words, func(w []string) bool { return !slices.Contains(w, word) })
	}
	shared := slices.DeleteFunc(slices.Clone(words[0]),
		func(word string) bool { return word == "" || !everywhere(word) })
	if len(shared) > 0 {
		common = []string{strings.Join(shared, ", ")}
	}
	for _, w := range words {
		own := slices.DeleteFunc(w, func(word string) bool { return word == "" || slices.Contains(shared, word) })
		differs = append(differs, strings.Join(own, ", "))
	}
	return common, differs
}
