package experiments

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/experiments/doctor"
	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/experiments/rates"
	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/internal/testing/golden"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/search"
)

func TestFitRate(t *testing.T) {
	var terms [][3]float64
	for _, n := range []int{50, 100, 300, 800} {
		terms = append(terms, rates.MethodTerms(n))
	}
	for _, want := range []rates.Rate{{1e-10, 2e-9, 3e-7}, {1e-10, 0, 3e-7}, {0, 2e-9, 0}, {0, 0, 1e-6}} {
		var times []float64
		for _, row := range terms {
			times = append(times, want.Of(row))
		}
		got := rates.FitRate(terms, times)
		for i := range want {
			if math.Abs(got[i]-want[i]) > 1e-9*want[i]+1e-20 {
				t.Errorf("%v, want %v", got, want)
			}
		}
	}
	// Times that fall as n grows are no sum of growing terms; the nearest fit has no negative
	// coefficient.
	for i, c := range rates.FitRate(terms, []float64{4e-3, 3e-3, 2e-3, 1e-3}) {
		if !(c >= 0) {
			t.Errorf("rate %d is %v", i, c)
		}
	}
}

// told records the calls of a checkup in order.
type told []string

func (t *told) Machine(c *doctor.Checkup) {
	*t = append(*t, fmt.Sprintf("machine%s", strings.Repeat(", but not first", len(c.Checks)+len(c.Speeds))))
}
func (t *told) Check(doctor.Check)          { *t = append(*t, "check") }
func (t *told) Speed(doctor.Speed)          { *t = append(*t, "speed") }
func (t *told) Kernel(doctor.ComponentTime) { *t = append(*t, "kernel") }
func (t *told) Method(doctor.ComponentTime) { *t = append(*t, "method") }

// A plan estimates its time once the machine has been measured; before, it says why it does not.
func TestDoctor(t *testing.T) {
	t.Chdir(t.TempDir())
	t.Setenv("XDG_CONFIG_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir()) // where other systems keep configurations
	if r, note := rates.LoadRates(); r != nil || !strings.Contains(note, "gpc-tune doctor") {
		t.Errorf("%v, %q before anything was measured", r, note)
	}
	found, err := doctor.Doctor(t.Context(), doctor.DoctorOptions{Cases: 32})
	if err != nil {
		t.Fatal(err)
	}
	if err := found.Err(); err != nil {
		t.Error(err)
	}
	// A quick checkup makes the same checks, reports each result at once, and stores nothing.
	config, err := os.UserConfigDir()
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(config, "gpc-tune", "rates.json")
	kept, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var told told
	quick, err := doctor.Doctor(t.Context(), doctor.DoctorOptions{Cases: 16, Quick: true, Tell: &told})
	if err != nil {
		t.Fatal(err)
	}
	again, err := os.ReadFile(file)
	if err != nil || quick.Kept != "" {
		t.Errorf("a quick checkup keeps rates: %v, %q", err, quick.Kept)
	}
	golden.Equal(t, "a quick checkup changes the rates", again, kept)
	if len(quick.Checks) != len(found.Checks)-1 { // a quick one does not check that the rates can be stored
		t.Errorf("%d checks, quickly %d", len(found.Checks), len(quick.Checks))
	}
	if parts := slices.Compact(slices.Clone(told)); !slices.Equal(parts, []string{"machine", "check", "speed", "kernel", "method"}) ||
		len(told) != 1+len(quick.Checks)+len(quick.Speeds)+len(quick.Rates.Kernels)+len(quick.Rates.Methods) || len(quick.Rates.Methods) < len(found.Rates.Methods) {
		t.Errorf("told %q", told)
	}
	if len(found.Speeds) != 3*len(linalg.Paths()) {
		t.Errorf("%d speeds of %d paths at three sizes", len(found.Speeds), len(linalg.Paths()))
	}
	if left, err := os.ReadDir("."); err != nil || len(left) > 0 {
		t.Errorf("left behind: %v, %v", left, err)
	}
	measured, note := rates.LoadRates()
	if measured == nil {
		t.Fatal(note)
	}
	for _, e := range kernel.Table {
		k, _ := e.New(nil)
		if r, ok := measured.Kernels[rates.KernelKey(k)]; !ok || !(slices.Max(r.Gram[:]) > 0) || !(slices.Min(r.Gram[:]) >= 0) {
			t.Errorf("%s: %+v, want rates of at least 0, one of them more", e.Name, r)
		}
	}
	for _, m := range approx.Table {
		for _, l := range likelihood.Table {
			method, _ := m.New(nil)
			lik, _ := l.New(nil)
			uses := slices.ContainsFunc([]int{0, 2, 3}, func(classes int) bool {
				_, err := method.Uses(lik, classes)
				return err == nil
			})
			r, ok := measured.Methods[m.Name+"/"+l.Name]
			if uses && (!ok || !(slices.Max(r.Fit[:]) > 0)) && l.Name != "step" && l.Name != "noisy_threshold" { // these may fail to converge
				t.Errorf("%s with %s: %+v, want rates", m.Name, l.Name, r)
			}
			if ok && !uses {
				t.Errorf("%s does not take %s, and was timed", m.Name, l.Name)
			}
		}
	}
	text := strings.Replace(valid, "kernel: se", "kernel: [se, {sum: [{product: [linear, se]}, {active: {dims: [1, 2], kernel: {matern32: {ard: true}}}}, noise]}]", 1)
	for _, setting := range []string{"tune={method: bfgs, restarts: 3}", "tune=none", "tune={method: bfgs, inference: ep, standard_errors: true}", "tune={method: bfgs, objective: loo_log_probability}", "tune={method: cmaes}"} {
		for _, row := range plantest.Planned(t, text, setting).Overview(measured) {
			if !(row.Evaluation > 0 && row.Longest >= row.Evaluation/2 && row.Path >= row.Longest && row.All >= row.Path) || math.IsInf(row.All, 0) {
				t.Errorf("%s, %v: %+v", setting, row, row.Costs)
			}
		}
	}
	// A gradient by central differences over two hyperparameters takes five fits.
	var fits []float64
	for _, gradient := range []string{"exact", "differences"} {
		fits = append(fits, plantest.Planned(t, "data: {dataset: crabs}\nmodel: {kernel: se, likelihood: probit, inference: laplace}\n", "tune={method: bfgs, gradient: "+gradient+"}").Overview(measured)[0].Evaluations)
	}
	if fits[1] != 5*fits[0] {
		t.Errorf("%v evaluations with exact gradients and by differences", fits)
	}
	// Under bayes all points after the first six, and the fit, wait for one another: 1 + 34 + 1 of
	// 41 jobs. Under random none does.
	paths := map[string]float64{}
	for _, method := range []string{"bayes", "random"} {
		row := plantest.Planned(t, "data: {dataset: crabs}\nmodel: {kernel: se, likelihood: probit, inference: laplace}\n", fmt.Sprintf("tune={method: %s, trials: 40}", method)).Overview(measured)[0]
		paths[method] = row.Path
	}
	if more := (paths["bayes"] - paths["random"]) / 34; !(more > 0 && more < paths["random"]) {
		t.Errorf("the longest paths are %v", paths)
	}
	// Rates of another machine, and files that contain no rates, are not used, and a note says so.
	for what, spoilt := range map[string][]byte{
		"another": bytes.Replace(kept, []byte(`"cpu": "`), []byte(`"cpu": "not `), 1),
		"doctor":  kept[:len(kept)/2],
	} {
		if err := os.WriteFile(file, spoilt, 0o666); err != nil {
			t.Fatal(err)
		}
		if r, note := rates.LoadRates(); r != nil || !strings.Contains(note, what) {
			t.Errorf("%v, %q, want none and a note of %q", r, note, what)
		}
	}
}

// One job on two cores uses two threads, and the results are identical to the bit.
func TestThreadsInsideJobs(t *testing.T) {
	var csv strings.Builder
	csv.WriteString("a,b,label\n")
	for i := range 1000 {
		a, b := math.Sin(float64(i)), math.Cos(1.7*float64(i))
		csv.WriteString(strings.Join([]string{strconv.FormatFloat(a, 'g', 6, 64), strconv.FormatFloat(b, 'g', 6, 64), map[bool]string{true: "x", false: "y"}[a+b*b+0.3*math.Sin(float64(i*i)) > 0.4]}, ",") + "\n")
	}
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "large.csv"), []byte(csv.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	text := "data: {train: " + filepath.Join(dir, "large.csv") + ", preprocess: standardize}\nmodel: {kernel: se, likelihood: logit, inference: laplace}\ntune: none\n"
	p := plantest.Planned(t, text)
	var results [][]byte
	for _, workers := range []int{1, 2} {
		folder := t.TempDir()
		if _, _, err := run.Run(t.Context(), p, folder, run.Options{Options: search.Options{Workers: workers}}); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(filepath.Join(folder, "results.json"))
		if err != nil {
			t.Fatal(err)
		}
		results = append(results, text)
	}
	golden.Equal(t, "one thread and two give different results", results[1], results[0])
}
