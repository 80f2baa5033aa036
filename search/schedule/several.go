package schedule

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/record"
)

// augmentation is the weight of the sum in the augmented Tchebycheff function.
const augmentation = 0.05

// outsideStatus is the status of a trial with a value outside the required bounds.
const outsideStatus = "outside the bounds"

// Require is a value of a trial that must stay within bounds.
type Require struct {
	Name            string
	AtMost, AtLeast *float64 // nil: no bound
}

// violation is the distance of a value from the bounds, 0 within them; +Inf: there is no value.
func (r Require) violation(values map[string]record.Number) float64 {
	number, found := values[r.Name]
	v, beyond := float64(number), 0.0
	switch {
	case !found || math.IsNaN(v):
		return math.Inf(1)
	case r.AtMost != nil:
		beyond = max(beyond, v-*r.AtMost)
	}
	if r.AtLeast != nil {
		beyond = max(beyond, *r.AtLeast-v)
	}
	return beyond
}

// told is the history with which the strategy is asked. Trials outside the required bounds are
// below all others, in the order of how far they are outside. Several objectives, which are
// minimised, become one by the augmented Tchebycheff function max_k w_k z_k + 0.05 Σ w_k z_k
// (Knowles 2006, IEEE TEVC 10(1), equation 2). z_k is objective k, scaled to [0, 1] over the trials
// so far. The weights w are drawn anew for every proposal.
func told(done []record.Trial, objectives []string, require []Require, seed uint64) []record.Trial {
	if len(objectives) < 2 && len(require) == 0 {
		return done
	}
	out := slices.Clone(done)
	values := scalars(out, objectives, rand.New(param.Source(seed, uint64(len(done)))))
	outside := distances(out, require)
	worst, best := math.Inf(1), math.Inf(-1)
	for i, t := range out {
		if math.IsInf(t.Value(), -1) {
			continue
		}
		if outside[i] == 0 {
			worst, best = min(worst, values[i]), max(best, values[i])
		}
	}
	span := best - worst
	if !(span > 0) {
		span = 1
	}
	if math.IsInf(worst, 1) { // no trial is within the bounds
		worst = 0
	}
	for i, t := range out {
		if math.IsInf(t.Value(), -1) {
			continue
		}
		v := values[i]
		if outside[i] > 0 {
			v = worst - span*outside[i]
		}
		out[i].Points = slices.Clone(t.Points)
		out[i].Points[0].Value = record.Number(v)
	}
	return out
}

// distances returns the distance of each trial from the required bounds, 0 within them. A bound
// adds its violation as a fraction of the largest one of all trials, or 2 without a value.
func distances(trials []record.Trial, require []Require) []float64 {
	out := make([]float64, len(trials))
	for _, r := range require {
		farthest := math.SmallestNonzeroFloat64
		for _, t := range trials {
			if v := r.violation(valuesOf(t)); !math.IsInf(v, 1) {
				farthest = max(farthest, v)
			}
		}
		for i, t := range trials {
			out[i] += min(r.violation(valuesOf(t))/farthest, 2)
		}
	}
	return out
}

// noneWithin is the error that all trials with values are outside the required bounds. It names the
// nearest one. It is nil if no trial has a value.
func noneWithin(trials []record.Trial, require []Require) error {
	nearest, all := -1, distances(trials, require)
	for i, t := range trials {
		if t.Outside && (nearest < 0 || all[i] < all[nearest]) {
			nearest = i
		}
	}
	if nearest < 0 {
		return nil
	}
	var bounds, values []string
	for _, r := range require {
		if r.AtLeast != nil {
			bounds = append(bounds, fmt.Sprintf("%s ≥ %.4g", r.Name, *r.AtLeast))
		}
		if r.AtMost != nil {
			bounds = append(bounds, fmt.Sprintf("%s ≤ %.4g", r.Name, *r.AtMost))
		}
		values = append(values, fmt.Sprintf("%s = %.4g", r.Name, float64(valuesOf(trials[nearest])[r.Name])))
	}
	return cause.OutsideBounds.New("none of %d trials is within %s; the nearest is trial %d, with %s", len(trials),
		strings.Join(bounds, " and "), trials[nearest].Index, strings.Join(values, " and "))
}

// scalars is a value for each trial that is maximised: its own, or one for several objectives.
func scalars(trials []record.Trial, objectives []string, rng *rand.Rand) []float64 {
	out := make([]float64, len(trials))
	for i, t := range trials {
		out[i] = t.Value()
	}
	n := len(objectives)
	if n < 2 {
		return out
	}
	weights, sum := make([]float64, n), 0.0
	for k := range weights { // uniform on the simplex
		weights[k] = rng.ExpFloat64()
		sum += weights[k]
	}
	lo, hi := make([]float64, n), make([]float64, n)
	for k, name := range objectives {
		lo[k], hi[k] = math.Inf(1), math.Inf(-1)
		for _, t := range trials {
			if !math.IsInf(t.Value(), -1) {
				v := float64(valuesOf(t)[name])
				lo[k], hi[k] = min(lo[k], v), max(hi[k], v)
			}
		}
	}
	for i, t := range trials {
		if math.IsInf(t.Value(), -1) {
			continue
		}
		largest, all := 0.0, 0.0
		for k, name := range objectives {
			z := 0.0
			if hi[k] > lo[k] {
				z = (float64(valuesOf(t)[name]) - lo[k]) / (hi[k] - lo[k])
			}
			z *= weights[k] / sum
			largest, all = max(largest, z), all+z
		}
		out[i] = -(largest + augmentation*all)
	}
	return out
}

// valuesOf are the named values of a trial; nil: it has none.
func valuesOf(t record.Trial) map[string]record.Number {
	if len(t.Points) == 0 {
		return nil
	}
	return t.Points[0].Values
}

// within reports whether a trial's values are within all required bounds.
func within(require []Require, values map[string]record.Number) bool {
	return !slices.ContainsFunc(require, func(r Require) bool { return r.violation(values) > 0 })
}
