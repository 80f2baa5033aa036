package classifier_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/experiments/classifier"
	_ "github.com/gpc-tune/gpc-tune/internal/testing/garbage"
	"github.com/gpc-tune/gpc-tune/internal/testing/needs"
	"github.com/gpc-tune/gpc-tune/objective"
)

// many are two overlapping classes of n cases.
func many(n int) (x [][]float64, labels []bool) {
	r := rand.New(rand.NewPCG(1, 2))
	for i := range n {
		shift := float64(i % 2)
		x, labels = append(x, []float64{r.NormFloat64() + shift, r.NormFloat64()}), append(labels, i%2 == 0)
	}
	return x, labels
}

// A training set of n cases needs some matrices of n² numbers. Without memory for these, training
// fails before it begins. The message names a remedy, and the remedy works.
func TestTrainAsksForMemory(t *testing.T) {
	x, labels := many(1_000_000) // a matrix has 8 TB
	_, err := classifier.Train(t.Context(), x, labels)
	if !errors.Is(err, classifier.ErrMemory) {
		t.Fatal(err)
	}
	for _, want := range []string{"not enough memory", "TiB", "are free", "1000000 cases", "a part of them", "Structure: objective.Inducing{Points: 500}"} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nlacks %q", err, want)
		}
	}
	x, labels = many(1500)
	const limit = 40 << 20 // two matrices
	quick := classifier.Settings(objective.Settings{Evaluations: 2})
	if _, err := classifier.Train(t.Context(), x, labels, classifier.Memory(limit), quick); !errors.Is(err, classifier.ErrMemory) ||
		!strings.Contains(err.Error(), "the limit is 40 MiB") {
		t.Error(err)
	}
	if _, err := classifier.Train(t.Context(), x[:400], labels[:400], classifier.Memory(limit), quick); err != nil {
		t.Errorf("a part of the cases: %v", err)
	}
	few := classifier.Inference(approx.Laplace{Structure: objective.Inducing{Points: 50}})
	if _, err := classifier.Train(t.Context(), x, labels, classifier.Memory(limit), quick, few); err != nil {
		t.Errorf("inducing inputs: %v", err)
	}
}

// Where the memory is too small for all restarts at once, fewer of them run at a time, and the result is the same.
func TestRestartsShareTheMemory(t *testing.T) {
	x, labels := many(300)
	var files []string
	for _, o := range []classifier.Option{classifier.Memory(1 << 40), classifier.Memory(17 << 20)} {
		c, err := classifier.Train(t.Context(), x, labels, classifier.Restarts(4), o)
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := c.Save(&file); err != nil {
			t.Fatal(err)
		}
		files = append(files, file.String())
	}
	if files[0] != files[1] {
		t.Error("the results differ")
	}
}

// A model file of many cases is no reason to die.
func TestLoadAsksForMemory(t *testing.T) {
	x, labels := many(20)
	c, err := classifier.Train(t.Context(), x, labels, classifier.Restarts(1))
	if err != nil {
		t.Fatal(err)
	}
	var text bytes.Buffer
	if err := c.Save(&text); err != nil {
		t.Fatal(err)
	}
	var file map[string]any
	if err := json.Unmarshal(text.Bytes(), &file); err != nil {
		t.Fatal(err)
	}
	for _, part := range []string{"inputs", "labels"} {
		file[part] = slices.Repeat(file[part].([]any), 25_000)
	}
	long, err := json.Marshal(file)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := classifier.Load(bytes.NewReader(long)); !errors.Is(err, classifier.ErrMemory) || !strings.Contains(err.Error(), "500000 cases") {
		t.Error(err)
	}
}

// In a process with a memory limit, a training set that does not fit is an error, and one that fits
// is trained.
func TestLimitOfTheProcess(t *testing.T) {
	if os.Getenv("LIMITED") == "" {
		shell := needs.Program(t, "bash", "bash")
		_, err := os.Stat("/proc/self/limits")
		needs.That(t, err == nil, "the memory limits of Linux: run it there")
		c := exec.Command(shell, "-c", `ulimit -v 2400000 && exec "$0" -test.run=TestLimitOfTheProcess`, os.Args[0])
		c.Env = append(os.Environ(), "LIMITED=1")
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	quick := classifier.Settings(objective.Settings{Evaluations: 2})
	for range 3 { // what a training leaves behind does not count
		x, labels := many(1000)
		if _, err := classifier.Train(t.Context(), x, labels, quick); err != nil {
			t.Error(err)
		}
	}
	x, labels := many(5000) // a matrix has 191 MiB
	if _, err := classifier.Train(t.Context(), x, labels, quick); !errors.Is(err, classifier.ErrMemory) {
		t.Error(err)
	}
}
