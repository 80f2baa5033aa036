package plan_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
)

// The folds that decide are the rungs of a ladder, equal ones the same rung, and a configuration's
// fit to all of the training data follows.
func TestLadders(t *testing.T) {
	const two = "data: {dataset: crabs}\nmodel: {kernel: se, likelihood: probit, inference: [ep, laplace, base_rate]}\n"
	for _, c := range []struct{ text, want string }{
		{two + "evaluate: {kfold: {k: 2}}", "2: 2 0 1"},
		{two + "evaluate: {hold_out: {}, kfold: {k: 2}}", "1: 1 0 3 4"},
		{two + "evaluate: {hold_out: {}, training: {}}", "1: 1 0 3"},
		{two, "1: 0"},
		{two + "evaluate: {kfold: {k: 3}}\nrace: paired_t", "3: 3 0 1 2"},
		{two + "evaluate: {nested: {outer: {kfold: {k: 2}}, inner: {kfold: {k: 2}}}}", "4: 4 5 0 1 8 2 3"},
		{strings.Replace(two, "crabs", "pima", 1), "1: 0"},
		{strings.Replace(two, "[ep, laplace, base_rate]", "ep", 1) + "evaluate: {kfold: {k: 2}}", "none"},
	} {
		p := plantest.Planned(t, c.text)
		got := map[string]bool{}
		costs := map[int]float64{}
		for i := range p.Manifest.Configurations {
			text := "none"
			for _, s := range p.Studies {
				if s.Configuration != i || s.Ladder == nil {
					continue
				}
				if s.Index == 0 {
					text = fmt.Sprintf("%d:", s.Ladder.Rungs)
				}
				text += fmt.Sprint(" ", s.Rung)
				if s.Rung == 0 {
					costs[i] = s.Cost
				}
			}
			got[text] = true
		}
		if len(got) != 1 || !got[c.want] {
			t.Errorf("%s: got %v, want %s", c.text, got, c.want)
		}
		if c.want != "none" && !(costs[0] >= costs[1] && costs[1] > costs[2]) {
			t.Errorf("%s: the first rung of EP, Laplace and the base rate costs %v", c.text, costs)
		}
	}
}
