package plan

import (
	"slices"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
)

// publishedOf finds the figures for a configuration, and checks their names.
func publishedOf(d *strictyaml.Findings, c record.Configuration, all []*spec.Published) (found []record.Published) {
	have := []string{"log_evidence", "leave_one_out", "min_probability", "max_probability"}
	if c.Costs != nil {
		have = append(have, "mean_loss", "rejected")
	}
	for _, s := range cv.Scores {
		have = append(have, s.Name, "best_"+s.Name)
	}
	for _, h := range c.Hyperparameters {
		have = append(have, h.Name)
	}
	for _, p := range all {
		if !p.Matches(c) {
			continue
		}
		for _, name := range p.Names {
			if !slices.Contains(have, name.Name) {
				d.AtPlace(name.Place, "unknown figure %q%s", name.Name, registry.Suggest(name.Name, append(have, "evaluation", "note")))
			}
		}
		found = append(found, p.Published)
	}
	return found
}
