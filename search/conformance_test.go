package search_test

import (
	"fmt"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	"github.com/gpc-tune/gpc-tune/search"
	"github.com/gpc-tune/gpc-tune/search/searchtest"
)

// decoders set options of strategies: of all whose zero value proposes nothing, and other values
// for some more.
var decoders = map[string][]registry.Decode{
	"grid": {
		func(v any) error {
			v.(*search.Grid).Axes = map[string]search.Axis{"length_scale": {Values: []float64{0.9, 0.3, 1}}}
			return nil
		},
		func(v any) error {
			*v.(*search.Grid) = search.Grid{Axes: map[string]search.Axis{"length_scale": {Values: []float64{0.9, 0.3, 1}}}, Apart: true}
			return nil
		},
	},
	"nelder_mead": {
		func(v any) error {
			*v.(*search.NelderMead) = search.NelderMead{Restarts: 3, Trials: 75}
			return nil
		},
	},
	"cmaes": {
		func(v any) error { v.(*search.CMAES).Trials = 40; return nil },
		func(v any) error {
			*v.(*search.CMAES) = search.CMAES{Trials: 40, Overlap: search.Overlap{Asynchronous: 5}}
			return nil
		},
	},
	"bayes": {
		func(v any) error { v.(*search.Bayes).Trials = 9; return nil },
		func(v any) error { *v.(*search.Bayes) = search.Bayes{Trials: 12, Initial: 4, Batch: 4}; return nil },
		func(v any) error {
			*v.(*search.Bayes) = search.Bayes{Trials: 12, Initial: 4, Overlap: search.Overlap{Asynchronous: 3}}
			return nil
		},
	},
	"auto": {
		func(v any) error { v.(*search.Auto).Trials = exhaustive.Of(24, 53); return nil },
	},
	"hyperband": {
		func(v any) error { v.(*search.Hyperband).Of = "length_scale"; return nil },
		func(v any) error {
			*v.(*search.Hyperband) = search.Hyperband{Fidelity: search.Fidelity{Of: "length_scale", Eta: 2},
				Brackets: 3}
			return nil
		},
	},
	"multi_fidelity": {
		func(v any) error {
			*v.(*search.MultiFidelity) = search.MultiFidelity{Fidelity: search.Fidelity{Of: "length_scale"},
				Trials: exhaustive.Of(12, 40)}
			return nil
		},
		func(v any) error {
			*v.(*search.MultiFidelity) = search.MultiFidelity{Fidelity: search.Fidelity{Of: "length_scale", Eta: 2},
				Trials: 12, Levels: 2}
			return nil
		},
	},
	"mcmc": {
		nil,
		func(v any) error { v.(*search.MCMC).Restarts = 1; return nil },
	},
	"bfgs": {
		nil,
		func(v any) error { v.(*search.BFGS).Restarts = 40; return nil },
	},
}

// TestStrategies checks the properties that every strategy in the table must have.
func TestStrategies(t *testing.T) {
	for _, e := range search.Table {
		options := decoders[e.Name]
		if options == nil {
			options = []registry.Decode{nil}
		}
		for i, decode := range options {
			strategy, err := e.New(decode)
			if err != nil {
				t.Fatal(err)
			}
			t.Run(fmt.Sprintf("%s/%d", e.Name, i), func(t *testing.T) { searchtest.Check(t, strategy) })
		}
	}
}
