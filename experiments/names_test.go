package experiments

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/experiments/query"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// compositions are kernels of the table, as a file writes them, alone and inside one another; with
// hamming first, on categories.
func compositions(t *testing.T) (all []string) {
	var simple []string
	for _, e := range kernel.Table {
		k, err := e.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		if c, is := k.(kernel.Configurable); is {
			simple = append(simple, e.Name)
			for _, s := range c.Settings() {
				if s.Name == "length_scale" {
					simple = append(simple, fmt.Sprintf("{%s: {ard: true}}", e.Name))
				}
			}
		}
	}
	around := []string{"{active: {dims: [2, 3, 4], kernel: %s}}", "{additive: {kernel: %s}}", "{sum: [linear, %s]}",
		"{product: [%s, constant]}", "{choice: [%s, linear]}", "{sum: [{active: {dims: [1, 2, 3], kernel: %s}}, noise]}"}
	all = slices.Clone(simple)
	once := []string{}
	for _, form := range around {
		for _, k := range simple {
			once = append(once, fmt.Sprintf(form, k))
		}
	}
	for _, form := range around {
		for i, k := range once {
			if i%5 == 0 || strings.Contains(k, "se: {ard") {
				all = append(all, fmt.Sprintf(form, k))
			}
		}
	}
	for _, k := range simple {
		all = append(all, fmt.Sprintf("{sum: [hamming, {active: {dims: [3], kernel: %s}}, {product: [%s, {additive: {kernel: %s}}]}]}", k, k, k))
	}
	return append(all, once...)
}

// Every hyperparameter has a name of its own with no part left out, whatever its kernel is made of;
// --theta and a grid take the name, also where columns of one category share a length scale.
func TestNamesAreCompleteAndAccepted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "d.csv")
	text := "a,b,c,y\n"
	for i := range 24 {
		text += fmt.Sprintf("%d,%s,%d,%s\n", i*7%11, []string{"red", "green", "blue"}[i%3], i*5%7, []string{"n", "o", "p"}[i%5%3])
	}
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	component := regexp.MustCompile(`^(\d+|[a-z][a-z0-9_]*(\[\d+\])?|class\[[nop]\])$`)
	form := "data: {train: %s, label: y, categorical: %s}\nmodel: {kernel: %s, likelihood: softmax, inference: laplace}\n" +
		"tune: %s\nevaluate: {training: {}}\n"
	accepted := 0
	for i, k := range compositions(t) {
		if !exhaustive.Tries(3, i) {
			continue
		}
		categories := "one_hot"
		if strings.Contains(k, "[hamming") {
			categories = "kernel"
		}
		for _, k := range []string{k, "{per_class: " + k + "}"} {
			s, err := spec.Parse("t.yaml", fmt.Appendf(nil, form, file, categories, k, "none"), nil)
			if err != nil {
				t.Fatal(err)
			}
			p, err := plan.New(t.Context(), s)
			if err != nil { // columns that an inner kernel does not have
				continue
			}
			accepted++
			fitted, err := p.Studies[0].Job.Set.Prepare()
			if err != nil {
				t.Fatal(err)
			}
			l := p.Studies[0].Job.Model.LayoutOn(fitted.Data)
			met := map[string]bool{}
			for _, s := range l.Specs {
				for _, part := range strings.Split(s.Name, ".") {
					if !component.MatchString(part) || met[s.Name] {
						t.Fatalf("%s: a name %q of %d", k, s.Name, len(l.Specs))
					}
				}
				met[s.Name] = true
				found := strictyaml.NewFindings("")
				query.Points(found, []objective.Layout{l}, map[string]string{s.ThetaName(): "0"})
				if err := found.Err(); err != nil {
					t.Fatalf("%s: %v", k, err)
				}
			}
			if free := l.FreeSpecs(); !strings.Contains(k, "choice") {
				var grid []string
				for _, s := range free {
					grid = append(grid, fmt.Sprintf("%q: {log: [0.5, 0.5], points: 1}", s.Name))
				}
				plantest.Planned(t, fmt.Sprintf(form, file, categories, k, "{method: grid, grid: {"+strings.Join(grid, ", ")+"}}"))
			}
		}
	}
	if accepted < exhaustive.Of(100, 300) {
		t.Errorf("only %d kernels were accepted", accepted)
	}
}
