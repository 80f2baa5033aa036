package classifier

import (
	"fmt"
	"math"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/internal/model"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// The indicators of a category share a length scale, except in older files, where each has its own.
func TestOlderFilesHaveALengthScaleForEachIndicator(t *testing.T) {
	m := model.Model{Model: objective.Model{Kernels: []kernel.Kernel{kernel.SE{ARD: true}},
		Likelihood: likelihood.Probit{}, Inference: approx.Laplace{}}}
	f := &ModelFile{}
	f.Columns = &data.Schema{Classes: []string{"a", "b"},
		Inputs: []data.Column{{Name: "x"}, {Name: "c", Levels: []string{"p", "q", "r"}}}}
	for named, want := range map[int]int{3: 3, 5: 5} { // an amplitude and the length scales
		f.Theta = map[string]float64{}
		for i := range named {
			f.Theta[fmt.Sprint(i)] = 0
		}
		on, err := onColumns(f, m)
		if err != nil {
			t.Fatal(err)
		}
		if got := len(on.On(2).Layout(4, nil, math.NaN()).Specs); got != want {
			t.Errorf("%d hyperparameters in the file, %d in the model", named, got)
		}
	}
}
