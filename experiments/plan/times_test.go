package plan_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

const crabs = "data: {dataset: crabs}\nmodel: {kernel: se, likelihood: probit, inference: laplace}\n"

// Every method with a likelihood that it accepts, and every likelihood with a method, has measured times that grow with the
// number of cases; exact ones at last eight times for twice the cases.
func TestMeasuredTimesOverTheTables(t *testing.T) {
	type part struct {
		name    string
		classes int
	}
	timed := map[part]bool{}
	for _, m := range approx.Table {
		for _, l := range likelihood.Table {
			model := objective.Model{Kernels: []kernel.Kernel{kernel.SE{}}, Likelihood: likelihood.Table.Default(l.Name), Inference: approx.Table.Default(m.Name)}
			for _, classes := range []int{0, 2, 3} {
				parts := []part{{m.Name, classes}, {l.Name, classes}}
				if _, err := model.Check(classes); err != nil || timed[parts[0]] && timed[parts[1]] {
					continue
				}
				timed[parts[0]], timed[parts[1]] = true, true
				rates := plan.Measured(t.Context())
				times := func(n int) (seconds float64) {
					found, ok := rates.Times(model, approx.Size{Cases: n, Distinct: n, New: 10, Classes: classes, Kernels: 1}, 2)
					if !ok && l.Name != "step" && l.Name != "noisy_threshold" { // these may fail to converge
						t.Errorf("%s with %s: not measured", m.Name, l.Name)
					}
					if !(found.Evaluation() > 0) == ok || math.IsInf(found.Evaluation(), 0) {
						t.Errorf("%s with %s, n = %d: %+v, %v", m.Name, l.Name, n, found, ok)
					}
					return found.Evaluation()
				}
				if growth := times(2000) / times(1000); growth < 1.9 || growth > 8.1 {
					t.Errorf("%s with %s takes %v times as long for twice the cases", m.Name, l.Name, growth)
				}
			}
		}
	}
}

func TestCostsOfStudies(t *testing.T) {
	kernels := "data: {dataset: crabs}\nmodel: {kernel: [se, {sum: [{product: [linear, se]}, {active: {dims: [1, 2], kernel: {matern32: {ard: true}}}}, noise]}], " +
		"likelihood: probit, inference: laplace}\n"
	measured := plan.Measured(t.Context())
	for _, setting := range []string{"tune={method: bfgs, restarts: 3}", "tune=none", "tune={method: bfgs, inference: ep, standard_errors: true}", "tune={method: bfgs, objective: loo_log_probability}", "tune={method: cmaes}"} {
		for _, row := range plantest.Planned(t, kernels, setting).Overview(measured) {
			if !(row.Evaluation > 0 && row.Longest >= row.Evaluation/2 && row.Path >= row.Longest && row.All >= row.Path) || math.IsInf(row.All, 0) {
				t.Errorf("%s, %v: %+v", setting, row, row.Times)
			}
		}
	}
	// A gradient by central differences over two hyperparameters takes five fits.
	var fits []float64
	for _, gradient := range []string{"exact", "differences"} {
		fits = append(fits, plantest.Planned(t, crabs, "tune={method: bfgs, gradient: "+gradient+"}").Overview(plan.Nominal)[0].Evaluations)
	}
	if fits[1] != 5*fits[0] {
		t.Errorf("%v evaluations with exact gradients and by differences", fits)
	}
	// Under bayes all points after the first six, and the fit, wait for one another: 1 + 34 + 1 of
	// 41 jobs. Under random none does.
	paths := map[string]float64{}
	for _, method := range []string{"bayes", "random"} {
		paths[method] = plantest.Planned(t, crabs, fmt.Sprintf("tune={method: %s, trials: 40}", method)).Overview(plan.Nominal)[0].Path
	}
	if more := (paths["bayes"] - paths["random"]) / 34; !(more > 0 && more < paths["random"]) {
		t.Errorf("the longest paths are %v", paths)
	}
}
