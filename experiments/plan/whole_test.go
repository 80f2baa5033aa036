package plan_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
)

// The plan of a program has its hyperparameters in words, with the values for which one matters, and
// counts its trials.
func TestPlansOfPrograms(t *testing.T) {
	p := plantest.Planned(t, `program:
  command: [sh, a.sh, '{x}', '{kind}', '{size}']
  hyperparameters:
    kind: {choice: {values: [red, green, blue]}}
    size: {whole: {from: 1, to: 4, init: 2}}
    x: {log: {from: 0.01, to: 1, init: 0.1, when: {kind: [red, blue]}}}
tune: {method: random, trials: 6}
`)
	texts := p.Manifest.Configurations[0].Program.Ranges
	want := []string{"kind one of red, green, blue, first red", "size whole from 1 to 4, first 2",
		"log_x from 0.01 to 1, first 0.1, when kind is red or blue"}
	if fmt.Sprint(texts) != fmt.Sprint(want) {
		t.Errorf("%q, want %q", texts, want)
	}
	if trials, _ := p.Jobs(); trials != 6 || len(p.Studies) != 1 || len(p.Manifest.Configurations) != 1 {
		t.Errorf("%d trials of %d studies", trials, len(p.Studies))
	}
}

// Gradients by differences, and a number of evaluations, are results of their own.
func TestKeysOfGradients(t *testing.T) {
	keys := map[string]string{}
	for _, tune := range []string{"bfgs", "{method: bfgs, gradient: differences}", "{method: bfgs, evaluations: 9}"} {
		p := plantest.Planned(t, "data: {dataset: crabs, subsample: 40}\n"+
			"model: {kernel: se, likelihood: probit, inference: laplace}\ntune: "+tune+"\n")
		key := p.Studies[0].Key
		if other, met := keys[key]; met {
			t.Errorf("%s has the results of %s", tune, other)
		}
		keys[key] = tune
	}
}

// A plan has each of its models, and each method that others are tuned with, on all training data;
// its data sets; and the inputs that give the class away.
func TestWhatAPlanHas(t *testing.T) {
	dir := t.TempDir()
	text := "x,late,y\n"
	for i := range 200 {
		text += fmt.Sprintf("%d,%d,%s\n", i*7%11, 5*(i%2), []string{"no", "yes"}[i%2])
	}
	if err := os.WriteFile(filepath.Join(dir, "t.csv"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	p := plantest.Planned(t, "data: {train: "+dir+"/t.csv, label: y}\n"+
		"model: {kernel: se, likelihood: probit, inference: [laplace, ep]}\ntune: {method: bfgs, inference: laplace}\n")
	var methods []string
	for _, c := range p.Configured {
		methods = append(methods, c.Model.Written.Inference.Text)
		if n := len(c.Set.Train); n != 200 {
			t.Errorf("%d training cases", n)
		}
	}
	if got := strings.Join(methods, " "); got != "laplace ep laplace" {
		t.Errorf("models of %s", got)
	}
	if len(p.Manifest.Data) != 1 || p.Manifest.Data[0].DataHash != p.Manifest.Configurations[0].DataHash {
		t.Errorf("%+v", p.Manifest.Data)
	}
	if w := fmt.Sprint(p.Manifest.Warnings); strings.Count(w, `input "late" alone predicts the class`) != 1 {
		t.Errorf("warnings %s", w)
	}
}
