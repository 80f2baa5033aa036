package experiments

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	"github.com/gpc-tune/gpc-tune/record"
)

// noise writes n cases with two inputs that are independent of the class; a quarter of the cases is
// ill.
func noise(t *testing.T, name string, n int, r *rand.Rand, flipped bool) string {
	t.Helper()
	var text strings.Builder
	text.WriteString("a,b,state\n")
	for range n {
		state := "well"
		if (r.Float64() < 0.25) != flipped {
			state = "ill"
		}
		fmt.Fprintf(&text, "%.4f,%.4f,%s\n", r.NormFloat64(), r.NormFloat64(), state)
	}
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	return path
}

const adjusted = `
data: {train: %s, test: %s, positive: ill, preprocess: standardize}
model: {kernel: se, likelihood: probit, inference: [laplace, logistic_regression]}
tune: none
predict: {calibrate: %s, threshold: {maximise: f1}}
evaluate: %s
`

// Thresholds and calibration never use the cases that score them: changing the labels of held-out
// cases changes neither thresholds and calibration nor the predictions. Changing the labels of
// training cases does.
func TestAdjustmentsDoNotSeeWhatScoresThem(t *testing.T) {
	fits := func(train, test string) (out []*record.Fit) {
		_, lines := journalled(t, fmt.Sprintf(adjusted, train, test, "platt", "test"))
		for _, l := range lines {
			if l.Fit != nil {
				if !l.Fit.Failure.IsZero() || l.Fit.Threshold == nil || len(l.Fit.Calibration) != 1 {
					t.Fatalf("%+v", l.Fit)
				}
				out = append(out, l.Fit)
			}
		}
		return out
	}
	of := func(seed uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, 1)) }
	train := noise(t, "train.csv", 80, of(1), false)
	one := fits(train, noise(t, "test.csv", 40, of(2), false))
	other := fits(train, noise(t, "test.csv", 40, of(2), true))
	again := fits(noise(t, "train.csv", 80, of(1), true), noise(t, "test.csv", 40, of(2), false))
	for i := range one {
		if reflect.DeepEqual(one[i].Labels, other[i].Labels) {
			t.Fatal("the held-out labels are the same")
		}
		if *one[i].Threshold != *other[i].Threshold || !reflect.DeepEqual(one[i].Calibration, other[i].Calibration) ||
			!reflect.DeepEqual(one[i].Proba, other[i].Proba) {
			t.Errorf("labels of held-out cases change threshold %v to %v, calibration %v to %v", *one[i].Threshold, *other[i].Threshold,
				one[i].Calibration, other[i].Calibration)
		}
		if reflect.DeepEqual(one[i].Calibration, again[i].Calibration) {
			t.Error("labels of training cases do not change the calibration")
		}
	}
}

// Labels independent of the inputs show no skill, whatever is chosen: over draws of 150 cases
// the mean of Matthews's correlation, with standard deviation 1/√150 per draw, is within three
// standard errors of 0, and test information is not above 0 by more.
func TestNoiseShowsNoSkill(t *testing.T) {
	const n = 150
	draws := exhaustive.Of(2, 6)
	for _, calibration := range []string{"platt", "isotonic"} {
		sums := map[string][2]float64{} // by inference: correlation, bits
		for draw := range uint64(draws) {
			data := noise(t, "noise.csv", n, rand.New(rand.NewPCG(10+draw, 1)), false)
			text := strings.Replace(fmt.Sprintf(adjusted, data, data, calibration, "{kfold: {k: 3}}"), "test: "+data+", ", "", 1)
			r, _, err := run.Run(t.Context(), plantest.Planned(t, text), t.TempDir(), run.Options{})
			if err != nil {
				t.Fatal(err)
			}
			for _, c := range r.Configurations {
				for _, f := range c.Folds {
					if f.Threshold == nil || !(*f.Threshold > 0 && *f.Threshold < 1) {
						t.Fatalf("fold %d has the threshold %v", f.Fold, f.Threshold)
					}
				}
				correlation, ok := c.Scores.Value("matthews")
				bits, scored := c.Scores.Value("information_bits")
				if !ok || !scored {
					t.Fatalf("no scores: %v", c.Failures)
				}
				s := sums[c.Inference.Text]
				sums[c.Inference.Text] = [2]float64{s[0] + correlation.Value, s[1] + bits.Value}
			}
		}
		limit := 3 / math.Sqrt(float64(draws*n))
		for inference, s := range sums {
			t.Logf("%s, %s: mean correlation %.3f, bits %.3f", inference, calibration, s[0]/float64(draws), s[1]/float64(draws))
			if math.Abs(s[0]/float64(draws)) > limit || s[1]/float64(draws) > limit {
				t.Errorf("%s, %s: mean correlation %v, bits %v; skill on noise", inference, calibration, s[0]/float64(draws), s[1]/float64(draws))
			}
		}
	}
}

// Groups stay together in the folds of a training set that calibration is learnt from.
func TestCalibrationKeepsGroupsTogether(t *testing.T) {
	var text strings.Builder
	text.WriteString("x,y,patient,state\n")
	r := rand.New(rand.NewPCG(5, 6))
	for i := range 60 {
		fmt.Fprintf(&text, "%.4f,%.4f,p%d,%s\n", r.NormFloat64(), r.NormFloat64(), i/3, []string{"ill", "well"}[r.IntN(2)])
	}
	path := filepath.Join(t.TempDir(), "groups.csv")
	if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	_, lines := journalled(t, fmt.Sprintf("{data: {train: %s, group: patient, preprocess: standardize}, model: {kernel: se, likelihood: probit, inference: laplace}, "+
		"tune: none, predict: {calibrate: platt}, evaluate: {group_kfold: {k: 3}}}", path))
	fits := 0
	for _, l := range lines {
		if l.Fit != nil {
			if fits++; !l.Fit.Failure.IsZero() || len(l.Fit.Calibration) != 1 {
				t.Errorf("%+v", l.Fit)
			}
		}
	}
	if fits != 4 {
		t.Errorf("%d fits", fits)
	}
}
