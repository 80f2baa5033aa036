package experiments

import (
	"fmt"
	"math"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/check"
	"github.com/gpc-tune/gpc-tune/experiments/classifier/predict"
	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/experiments/query"
	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/internal/random"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports/picture"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// illustrated returns the illustrations of a file.
func illustrated(t *testing.T, text string) []record.Illustration {
	t.Helper()
	return plantest.Planned(t, text).Manifest.Illustrations
}

// The illustration prior shows the draws of gpc-tune sample with the same seed. Models that differ
// only in parts that are not shown have one illustration.
func TestPriorsAreDrawn(t *testing.T) {
	got := illustrated(t, "seed: 5\nillustrate: [prior, {prior: {inputs: {from: 0, to: 2, points: 11}, draws: 2}}]\n"+
		"model: {kernel: [{se: {amplitude: 2, length_scale: 0.5}}, matern12], likelihood: [probit, logit], inference: [ep, laplace]}\n")
	if len(got) != 8 {
		t.Fatalf("%d illustrations, want 2 of each of 2 kernels and 2 likelihoods", len(got))
	}
	i := got[4]
	if i.Entry != 1 || i.Likelihood.Text != "probit" || !strings.HasPrefix(i.Kernel.Text, "{se") {
		t.Fatalf("%d, %s, %s", i.Entry, i.Kernel, i.Likelihood)
	}
	want, err := query.Sampling{Query: query.Query{Kernel: "{se: {amplitude: 2, length_scale: 0.5}}", Mean: "zero", Likelihood: "probit"}, Grid: "0:2:11", Count: 2, Seed: random.Derive(5, "illustrate", "1")}.Draw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(i.Columns) != 5 {
		t.Fatalf("%d columns", len(i.Columns))
	}
	for c, column := range i.Columns {
		if column.Name != want.Columns[c] {
			t.Errorf("column %d is %s, want %s", c, column.Name, want.Columns[c])
		}
		for k, v := range column.Values {
			if v != want.Rows[k][c] {
				t.Errorf("%s in row %d: %v, want %v", column.Name, k, v, want.Rows[k][c])
			}
		}
	}
	if h := i.Hyperparameters; len(h) != 2 || math.Abs(float64(h[0].Value)-2) > 1e-15 || math.Abs(float64(h[1].Value)-0.5) > 1e-15 {
		t.Errorf("hyperparameters %+v", h)
	}

	bare := illustrated(t, "illustrate: prior\nmodel: {kernel: se}\n")[0]
	if len(bare.Columns) != 4 || bare.Column("p1") != nil || len(bare.Column("x")) != 201 {
		t.Errorf("without a likelihood: %d columns of %d numbers", len(bare.Columns), len(bare.Columns[0].Values))
	}
	classes := illustrated(t, "illustrate: {prior: {draws: 1, classes: [a, b, c]}}\nmodel: {kernel: {per_class: se}, likelihood: softmax}\n")[0]
	for k := range classes.Column("x") {
		if sum := classes.Column("p1[a]")[k] + classes.Column("p1[b]")[k] + classes.Column("p1[c]")[k]; math.Abs(sum-1) > 1e-15 {
			t.Fatalf("probabilities of sum %v", sum)
		}
	}
}

// A folder keeps its first illustrations, can be reported from its manifest alone, and is extended
// by later illustrations.
func TestRunsOfIllustrations(t *testing.T) {
	const text = "name: a\nillustrate: {prior: {inputs: {points: 5}}}\nmodel: {kernel: [se]}\n"
	dir := filepath.Join(t.TempDir(), "run")
	report, summary, err := run.Run(t.Context(), plantest.Planned(t, text), dir, run.Options{})
	if err != nil || summary.Total != 0 || len(report.Illustrations) != 1 || len(picture.All(report)) != 1 || len(table.Summary(report).Rows) != 1 {
		t.Fatalf("%+v, %v", summary, err)
	}
	folder, err := run.ReadFolder(dir)
	if err != nil {
		t.Fatal(err)
	}
	again, err := folder.Report()
	if err != nil || !reflect.DeepEqual(picture.All(again), picture.All(report)) {
		t.Errorf("from the folder: %v", err)
	}
	if progress, err := folder.Progress(); err != nil || !progress.Finished {
		t.Errorf("progress %+v, %v", progress, err)
	}
	for _, other := range []string{"seed=2", "illustrate.prior.inputs.points=6", "model.kernel=noise"} {
		if _, _, err := run.Run(t.Context(), plantest.Planned(t, text, other), dir, run.Options{Extend: true}); err == nil {
			t.Errorf("%s goes on in the folder", other)
		}
	}
	more := plantest.Planned(t, text, "model.kernel=[se, noise]")
	if _, _, err := run.Run(t.Context(), more, dir, run.Options{}); err == nil {
		t.Error("extended without being asked")
	}
	if report, _, err := run.Run(t.Context(), more, dir, run.Options{Extend: true}); err != nil || len(report.Illustrations) != 2 {
		t.Errorf("extended: %v", err)
	}
	if _, _, err := predict.Fit(t.Context(), plantest.Planned(t, text), filepath.Join(t.TempDir(), "m.json"), predict.FitOptions{}); err == nil || !strings.Contains(err.Error(), "there is nothing to fit") {
		t.Errorf("fit: %v", err)
	}
	if _, err := check.Check(t.Context(), plantest.Planned(t, text), check.CheckOptions{}); err == nil || !strings.Contains(err.Error(), "there is nothing to fit") {
		t.Errorf("check: %v", err)
	}
}

// The columns of likelihoods equal the closed forms of log p(y|f), and every derivative equals the
// slope of the column before it.
func TestLikelihoodsAreShown(t *testing.T) {
	const text = "illustrate: {likelihood: {latent: {from: -2, to: 2, points: 401}, label: %s}}\nmodel: {likelihood: [probit, logit, noisy_threshold, {gaussian: {noise: 0.5}}]}\n"
	for _, y := range []float64{1, -1} {
		closed := map[string]func(f float64) float64{
			"probit": func(f float64) float64 { return math.Log(math.Erfc(-y*f/math.Sqrt2) / 2) },
			"logit":  func(f float64) float64 { return -math.Log1p(math.Exp(-y * f)) },
			"noisy_threshold": func(f float64) float64 {
				if y*f > 0 {
					return math.Log(0.99)
				}
				return math.Log(0.01)
			},
			"{gaussian: {noise: 0.5}}": func(f float64) float64 { return -2*(y-f)*(y-f) - math.Log(2*math.Pi*0.25)/2 },
		}
		for _, i := range illustrated(t, strings.Replace(text, "%s", fmt.Sprint(y), 1)) {
			x, want := i.Column("f"), closed[i.Likelihood.Text]
			for k, v := range i.Column("log_likelihood") {
				if math.Abs(x[k]) > 1e-12 && !(math.Abs(v-want(x[k])) <= 1e-14*max(1, math.Abs(v))) {
					t.Errorf("%s at %v: %v, want %v", i.Likelihood, x[k], v, want(x[k]))
				}
			}
			if i.Likelihood.Text == "noisy_threshold" {
				if len(i.Columns) != 2 {
					t.Errorf("noisy_threshold has %d columns", len(i.Columns))
				}
				continue
			}
			for c := 1; c < 4; c++ { // the error of the slopes is h^4/30 times the fifth derivative, h = 0.01
				v, slope := record.Floats(i.Columns[c].Values), record.Floats(i.Columns[c+1].Values)
				for k := 2; k+2 < len(x); k++ {
					if d := (8*(v[k+1]-v[k-1]) - (v[k+2] - v[k-2])) / (12 * 0.01); math.Abs(d-slope[k]) > 1e-8 {
						t.Fatalf("%s: %s at %v is %v, its slope there should be %v", i.Likelihood, i.Columns[c+1].Name, x[k], slope[k], d)
					}
				}
			}
		}
	}
}

// posterior is the illustration of a posterior for a model of these parts.
func posterior(t *testing.T, options, likelihood, inference string) record.Illustration {
	t.Helper()
	all := illustrated(t, fmt.Sprintf("illustrate: {posterior: {%s}}\nmodel: {likelihood: %s, inference: %s}\n", options, likelihood, inference))
	if len(all) != 1 {
		t.Fatalf("%d illustrations", len(all))
	}
	return all[0]
}

// near checks that two Gaussians agree: log masses within a relative tolerance, means and
// covariances in units of standard deviations and variances.
func near(t *testing.T, what string, got, want *record.Gaussian, tolerance float64) {
	t.Helper()
	bad := math.Abs(float64(*got.LogEvidence-*want.LogEvidence)) > tolerance*max(1, math.Abs(float64(*want.LogEvidence)))
	for i, row := range want.Covariance {
		s := math.Sqrt(float64(row[i]))
		bad = bad || !(math.Abs(float64(got.Mean[i]-want.Mean[i])) <= tolerance*s)
		for j, v := range row {
			bad = bad || !(math.Abs(float64(got.Covariance[i][j]-v)) <= tolerance*s*math.Sqrt(float64(want.Covariance[j][j])))
		}
	}
	if bad {
		t.Errorf("%s: mean %v, covariance %v, log evidence %v\nwant %v, %v, %v", what, got.Mean, got.Covariance, *got.LogEvidence, want.Mean, want.Covariance, *want.LogEvidence)
	}
}

// gaussian returns a Gaussian as it is recorded.
func gaussian(logZ float64, mean []float64, covariance [][]float64) *record.Gaussian {
	evidence := record.Number(logZ)
	g := &record.Gaussian{Mean: record.Numbers(mean), LogEvidence: &evidence}
	for _, row := range covariance {
		g.Covariance = append(g.Covariance, record.Numbers(row))
	}
	return g
}

// One latent value: the exact posterior is GPML (3.58) and (3.59); EP gives its moments, and
// Laplace's method the mode and the curvature.
func TestPosteriorOfOneValue(t *testing.T) {
	density := func(z float64) float64 { return math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) }
	ratio := func(z float64) float64 { return density(z) / (math.Erfc(-z/math.Sqrt2) / 2) }
	for _, y := range []float64{1, -1} {
		i := posterior(t, fmt.Sprintf("mean: [1], covariance: [[9]], labels: [%v]", y), "probit", "[ep, laplace, {ep: {schedule: parallel}}]")
		z := y / math.Sqrt(10)
		r := ratio(z)
		exact := gaussian(math.Log(density(z)/r), []float64{1 + 9*y*r/math.Sqrt(10)}, [][]float64{{9 - 81*r/10*(z+r)}})
		near(t, "exact", i.Exact, exact, 1e-14)
		for _, k := range []int{0, 2} {
			near(t, i.Approximations[k].Inference.Text, i.Approximations[k].Gaussian, exact, 1e-10)
		}
		f := 0.0
		for range 100 {
			z := y * f
			f -= (y*ratio(z) - (f-1)/9) / (-ratio(z)*(z+ratio(z)) - 1.0/9)
		}
		w := ratio(y*f) * (y*f + ratio(y*f))
		near(t, "laplace", i.Approximations[1].Gaussian, gaussian(math.Log(density(y*f)/ratio(y*f))-(f-1)*(f-1)/18-math.Log1p(9*w)/2, []float64{f}, [][]float64{{1 / (1.0/9 + w)}}), 1e-10)

		sum, x := 0.0, i.Column("f")
		for k, v := range i.Column("exact") {
			sum += v * (x[1] - x[0])
			if want := i.Column("prior")[k] * i.Column("likelihood")[k] / math.Exp(float64(*exact.LogEvidence)); math.Abs(v-want) > 1e-14 {
				t.Fatalf("density %v at %v, want %v", v, x[k], want)
			}
		}
		if math.Abs(sum-1) > 1e-3 {
			t.Errorf("the density sums to %v", sum)
		}
	}
}

// Two latent values, compared with sums over a dense grid, closed forms for independent values, and
// the conjugate posterior.
func TestPosteriorOfTwoValues(t *testing.T) {
	for name, p := range map[string]func(f float64) float64{
		"probit":          func(f float64) float64 { return math.Erfc(-f/math.Sqrt2) / 2 },
		"logit":           func(f float64) float64 { return 1 / (1 + math.Exp(-f)) },
		"noisy_threshold": func(f float64) float64 { return map[bool]float64{true: 0.99, false: 0.01}[f > 0] },
	} {
		const r, side = 0.8, 800
		i := posterior(t, "mean: [-0.5, -3], covariance: [[1, 0.8], [0.8, 1]], labels: [1, -1]", name, "ep")
		// The integral uses midpoints of cells, and some cells end at 0. It is exact up to rounding
		// for smooth functions, otherwise up to the square of the cell size.
		h := 20.0 / side
		var z, a, b, aa, ab, bb float64
		for k := range side {
			f := -11.5 + (float64(k)+0.5)*h
			for l := range side {
				g := -13 + (float64(l)+0.5)*h
				u, v := f+0.5, g+3
				w := p(f) * p(-g) * math.Exp(-(u*u-2*r*u*v+v*v)/(2*(1-r*r))) / (2 * math.Pi * math.Sqrt(1-r*r)) * h * h
				z, a, b, aa, ab, bb = z+w, a+w*u, b+w*v, aa+w*u*u, ab+w*u*v, bb+w*v*v
			}
		}
		a, b = a/z, b/z
		want := gaussian(math.Log(z), []float64{a - 0.5, b - 3}, [][]float64{{aa/z - a*a, ab/z - a*b}, {ab/z - a*b, bb/z - b*b}})
		near(t, name, i.Exact, want, map[bool]float64{true: h * h, false: 1e-11}[name == "noisy_threshold"])
	}
	for _, lik := range []string{"probit", "logit", "noisy_threshold", "step"} {
		for _, m := range []float64{0.3, -30, -1000, 1e5} {
			one := posterior(t, fmt.Sprintf("mean: [%v], covariance: [[4]]", m), lik, "online").Exact
			other := posterior(t, "mean: [0.7], covariance: [[0.01]], labels: [-1]", lik, "online").Exact
			logZ := float64(*one.LogEvidence + *other.LogEvidence)
			want := gaussian(logZ, []float64{float64(one.Mean[0]), float64(other.Mean[0])}, [][]float64{{float64(one.Covariance[0][0]), 0}, {0, float64(other.Covariance[0][0])}})
			near(t, fmt.Sprintf("%s, means %v and 0.7", lik, m), posterior(t, fmt.Sprintf("mean: [%v, 0.7], covariance: [[4, 0], [0, 0.01]], labels: [1, -1]", m), lik, "online").Exact, want, 1e-9)
			want = gaussian(logZ, []float64{float64(other.Mean[0]), float64(one.Mean[0])}, [][]float64{{float64(other.Covariance[0][0]), 0}, {0, float64(one.Covariance[0][0])}})
			near(t, fmt.Sprintf("%s, means 0.7 and %v", lik, m), posterior(t, fmt.Sprintf("mean: [0.7, %v], covariance: [[0.01, 0], [0, 4]], labels: [-1, 1]", m), lik, "online").Exact, want, 1e-9)
		}
	}
	i := posterior(t, "mean: [1, -20], covariance: [[1, 0.5], [0.5, 2]], labels: [3.5, -2]", "{gaussian: {noise: 0.5}}", "exact")
	near(t, "gaussian", i.Exact, i.Approximations[0].Gaussian, 1e-11)
	sum, f, g := 0.0, i.Column("f1"), i.Column("f2")
	for _, v := range i.Column("exact") {
		sum += v * (f[1] - f[0]) * (g[61] - g[0])
	}
	if math.Abs(sum-1) > 1e-3 {
		t.Errorf("the density sums to %v", sum)
	}
}

// The covariance of Laplace's method is (K⁻¹ + W)⁻¹.
func TestCovariancesOfApproximations(t *testing.T) {
	i := posterior(t, "mean: [0.5, -1], covariance: [[2, 1], [1, 3]], labels: [1, -1]", "logit", "[laplace, {laplace: {max_iterations: 2}}]")
	got := i.Approximations[0].Gaussian
	var w [2]float64
	for k, m := range got.Mean {
		s := 1 / (1 + math.Exp(-float64(m)))
		w[k] = s * (1 - s)
	}
	a, b, c := 3.0/5+w[0], 2.0/5+w[1], -1.0/5 // K⁻¹ + W
	d := a*b - c*c
	near(t, "laplace", got, gaussian(float64(*got.LogEvidence), record.Floats(got.Mean), [][]float64{{b / d, -c / d}, {-c / d, a / d}}), 1e-12)
	end := i.Approximations[0].Iterates
	near(t, "the last iterate", &end[len(end)-1], got, 0)
	near(t, "the second iterate", &end[1], i.Approximations[1].Gaussian, 0)
	if limited := i.Approximations[1]; limited.Converged || limited.Iterations != 2 || len(limited.Iterates) != 2 {
		t.Errorf("after two iterations: %+v", limited)
	}
}

// On the pair of the supplement EP fails with the printed cavity variance, and the failure is a
// result; posterior linearisation is close to convergence after six iterations.
func TestFailuresAreShown(t *testing.T) {
	i := posterior(t, "mean: [-0.5, -3], covariance: [[1, 0.8], [0.8, 1]], labels: [1, 1]", "noisy_threshold", "[{ep: {negative_sites: keep}}, {ep: {negative_sites: keep, schedule: parallel}}, pl]")
	for _, ep := range i.Approximations[:2] {
		if ep.Gaussian != nil || !strings.Contains(ep.Failure.Text, "-117.9") {
			t.Errorf("%s: %q", ep.Inference, ep.Failure)
		}
	}
	pl := i.Approximations[2]
	if !pl.Converged || !pl.Failure.IsZero() || len(pl.Iterates) != 15 {
		t.Fatalf("pl: %+v", pl)
	}
	for k, m := range pl.Gaussian.Mean {
		if sixth := pl.Iterates[5].Mean[k]; math.Abs(float64(sixth-m)) > 0.1 {
			t.Errorf("f%d is %v after six iterations, %v in the end", k+1, sixth, m)
		}
	}
}

// Averages over one Gaussian latent value equal a fine sum. Where all means are 0 the class with
// the varying latent value is the most probable, and W has the eigenvalues 0, 1/3 and 1/3.
func TestSoftmaxIsIllustrated(t *testing.T) {
	i := illustrated(t, "illustrate: {softmax: {deviations: [3, 0, 0], latent: {from: -2, to: 2, points: 5}}}\nmodel: {likelihood: softmax}\n")[0]
	for k, m := range i.Column("f1") {
		want, sum := 0.0, 0.0
		for z := -10.0; z <= 10; z += 1e-3 {
			w := math.Exp(-z * z / 2)
			want, sum = want+w/(1+2*math.Exp(-m-3*z)), sum+w
		}
		if got := i.Column("averaged1")[k]; math.Abs(got-want/sum) > 1e-5 {
			t.Errorf("f1 = %v: averaged %v, want %v", m, got, want/sum)
		}
		if p := i.Column("p1")[k]; math.Abs(p-1/(1+2*math.Exp(-m))) > 1e-15 {
			t.Errorf("f1 = %v: probability %v", m, p)
		}
	}
	for c, want := range []float64{0, 1. / 3, 1. / 3} {
		if got := i.Column(fmt.Sprintf("eigenvalue%d", c+1))[2]; math.Abs(got-want) > 1e-15 {
			t.Errorf("eigenvalue %d is %v, want %v", c+1, got, want)
		}
	}
	if p := i.Column("averaged1")[2]; p < 0.4 {
		t.Errorf("the class that varies has the probability %v", p)
	}
}

// The cavity does not depend on the precision of its own site, although the marginal does; the
// cavity of a single case is the prior.
func TestCavityIsIllustrated(t *testing.T) {
	for _, e := range []struct{ options, labels string }{{"covariance: [[9]]", "[1]"}, {"covariance: [[9, 6], [6, 9]]", "[1, -1]"}} {
		i := illustrated(t, "illustrate: {cavity: {"+e.options+", labels: "+e.labels+", precision: {from: 0, to: 2, points: 5}}}\n"+
			"model: {likelihood: probit, inference: ep}\n")[0]
		for _, name := range []string{"cavity_mean", "cavity_variance"} {
			v := i.Column(name)
			if math.Abs(v[4]-v[0]) > 1e-11 {
				t.Errorf("%s %v", name, v)
			}
		}
		if v := i.Column("variance"); !(v[4] < v[0]/5) {
			t.Errorf("variances %v", v)
		}
		if m, v := i.Column("cavity_mean")[4], i.Column("cavity_variance")[4]; e.labels == "[1]" && (math.Abs(m) > 1e-12 || math.Abs(v-9) > 1e-11) {
			t.Errorf("the cavity of a single case is N(%v, %v)", m, v)
		}
	}
}
