package plan

import (
	"context"
	"slices"
	"strconv"

	"github.com/gpc-tune/gpc-tune/experiments/declared"
	"github.com/gpc-tune/gpc-tune/experiments/illustrate"
	"github.com/gpc-tune/gpc-tune/internal/random"
	"github.com/gpc-tune/gpc-tune/record"
)

// illustrate computes every illustration of every model; equal ones once.
func (p *planner) illustrate(ctx context.Context) error {
	for entry, i := range p.Spec.Illustrations {
		var all []record.Illustration
		var models [][]declared.Model
		for _, m := range p.Spec.Models {
			of := illustrate.Of(i.Illustration, m.Model)
			at := slices.IndexFunc(all, func(o record.Illustration) bool {
				return o.Kernel.Text == of.Kernel.Text && o.Mean.Text == of.Mean.Text &&
					o.Likelihood.Text == of.Likelihood.Text
			})
			if at < 0 {
				at, all, models = len(all), append(all, of), append(models, nil)
			}
			if len(p.Manifest.Illustrations)+len(all) > illustrate.MaxIllustrations {
				p.AtPlace(i.Place, "more than %d illustrations; split the experiment", illustrate.MaxIllustrations)
				return nil
			}
			models[at] = append(models[at], m.Model)
		}
		seed := random.Derive(p.Spec.Seed, "illustrate", strconv.Itoa(entry))
		for k, of := range all {
			of.Kind, of.Entry = i.Kind, entry
			if err := i.Fill(ctx, &of, models[k], seed); err != nil {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				p.AtPlace(i.Place, "%v", err)
				continue
			}
			of.Key = illustrationKey(of, i.Text, seed, models[k])
			p.Manifest.Illustrations = append(p.Manifest.Illustrations, of)
		}
	}
	return nil
}
