package approx_test

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
)

// go test ./approx -run Adversarial -args -fits 600 checks more problems than the default.
var fits = flag.Int("fits", 0, "random problems per method and likelihood of TestAdversarial, 0 for few")

// hard is a problem that is meant to break a method.
type hard struct {
	kind  string
	x     [][]float64
	label []float64
	// a squared exponential; the noise is in the kernel or the likelihood
	logLength, logAmp, logNoise float64
}

var kinds = []string{"overlapping", "repeated", "contradictory", "separable", "one positive", "two cases"}

// drawHard draws n cases; length scale and amplitude are log-uniform in e^±10, noise in e^-3 … e.
func drawHard(rng *rand.Rand, kind string, n int) hard {
	if kind == "two cases" {
		n = 2
	}
	h := hard{kind: kind, logLength: 20*rng.Float64() - 10, logAmp: 20*rng.Float64() - 10, logNoise: 4*rng.Float64() - 3}
	h.x, h.label = twoClasses(n, rng.Uint64())
	for i := range n {
		switch half := n / 2; {
		case kind == "repeated" && i >= half:
			h.x[i], h.label[i] = h.x[i-half], h.label[i-half]
		case kind == "contradictory" && i >= half:
			h.x[i], h.label[i] = h.x[i-half], -h.label[i-half]
		case kind == "separable":
			h.label[i] = math.Copysign(1, h.x[i][0])
		case kind == "one positive":
			h.label[i] = -1
		}
	}
	if kind == "one positive" {
		h.label[n-1] = 1
	}
	return h
}

func (h hard) String() string {
	return fmt.Sprintf("%s, n = %d, log l = %.2f, log sf = %.2f, log noise = %.2f", h.kind, len(h.label), h.logLength, h.logAmp, h.logNoise)
}

// gram is the covariance matrix, with noise on its diagonal if noisy.
func (h hard) gram(noisy bool) *mat.SymDense {
	k, _, _ := seGram(h.x, h.logLength, h.logAmp)
	for i := range h.x {
		if noisy {
			k.SetSym(i, i, k.At(i, i)+math.Exp(2*h.logNoise))
		}
	}
	return k
}

// sweep counts the results of the fits of one method with one likelihood.
type sweep struct {
	name                       string
	fits, answered, jittered   int
	compared                   int
	worst, worstShare, allowed float64 // largest error (nats; share of tolerance); largest tolerance
	longest                    float64 // seconds
	reasons                    map[string]int
}

// fit fits and requires, within two minutes, finite numbers or an error with a known cause; Fit itself may return an
// error only if refusals is set. It returns nil if the fit or its adjoint fails.
func (s *sweep) fit(t *testing.T, h fmt.Stringer, method approx.Approximation, cov []approx.Cov, y approx.Targets, lik likelihood.Bound, refusals bool) approx.Posterior {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	start := time.Now()
	post, err := method.Fit(ctx, cov, y, lik, nil)
	s.longest = max(s.longest, time.Since(start).Seconds())
	s.fits++
	if err == nil {
		v := post.Evidence().Value()
		if math.IsNaN(v) || math.IsInf(v, 0) {
			t.Errorf("%s, %s: log evidence %v", s.name, h, v)
		}
		for j := range cov {
			g := approx.Cov{K: mat.NewSymDense(y.Len(), nil), Mean: make([]float64, y.Len())}
			if err = post.Evidence().Adjoint(&g, j); err != nil {
				break
			}
			if sum := mat.Sum(g.K) + mat.Sum(mat.NewVecDense(y.Len(), g.Mean)); math.IsNaN(sum) || math.IsInf(sum, 0) {
				t.Errorf("%s, %s: the adjoint holds what is no number", s.name, h)
			}
		}
		if (err == nil) != post.Diagnostics().Converged {
			t.Errorf("%s, %s: %+v, adjoint: %v", s.name, h, post.Diagnostics(), err)
		}
	} else if !refusals {
		t.Errorf("%s, %s: %v", s.name, h, err)
	}
	if err != nil {
		if !errors.Is(err, approx.ErrNotConverged) && !errors.Is(err, approx.ErrNotPositiveDefinite) && !errors.Is(err, approx.ErrNoGradient) {
			t.Errorf("%s, %s: not a reason of its own: %v", s.name, h, err)
		}
		s.reasons[fmt.Sprintf("%s: %v", h, err)]++
		return nil
	}
	s.answered++
	if post.Diagnostics().Jitter > 0 {
		s.jittered++
	}
	return post
}

// compare compares a log evidence with that in extended precision.
func (s *sweep) compare(t *testing.T, h fmt.Stringer, got, want, uncertainty float64) {
	t.Helper()
	s.compared++
	allowed := 1e-9*max(1, math.Abs(want)) + uncertainty
	s.allowed = max(s.allowed, allowed)
	s.worst, s.worstShare = max(s.worst, math.Abs(got-want)), max(s.worstShare, math.Abs(got-want)/allowed)
	if !(math.Abs(got-want) <= allowed) {
		t.Errorf("%s, %s: log evidence %.12g, want %.12g; rounding explains %.2g", s.name, h, got, want, uncertainty)
	}
}

// sizes draws the number of cases; every third problem is small enough for the oracle.
func sizes(rng *rand.Rand, i int) int {
	if i%3 == 0 {
		return 2 + rng.IntN(9)
	}
	return 2 + rng.IntN(59)
}

const small = 10 // largest number of cases for the oracle

// exactly returns K in extended precision.
func exactly(k *mat.SymDense, jitter float64) matrix {
	n := k.SymmetricDim()
	a := zeros(n)
	for i := range n {
		for j := range n {
			a[i][j] = number(k.At(i, j))
		}
		a[i][i].Add(a[i][i], number(jitter))
	}
	return a
}

// widened is Σ_ij |G_ij| √(K_ii K_jj) in units of rounding: the first-order change of the log evidence when the
// entries of K change by their rounding errors.
func widened(g, k *mat.SymDense) float64 {
	sum := 0.0
	n := k.SymmetricDim()
	for i := range n {
		for j := range n {
			sum += math.Abs(g.At(i, j)) * math.Sqrt(k.At(i, i)*k.At(j, j))
		}
	}
	return unit(n) * sum
}

// extendedRegression is GPML (2.30), to which every method reduces with Gaussian noise.
func extendedRegression(k matrix, y []float64, logNoise float64) extended {
	n := len(y)
	noise := math.Exp(logNoise)
	noise *= noise
	tau, terms := make(vector, n), 0.0 // summands of the log evidence: y²/σ², and what sites share with their cavities
	for i, v := range y {
		tau[i] = quo(number(1), number(noise))
		terms += (v*v + float(k[i][i])) / noise
	}
	r, logDet := precisionMatrix(k, tau)
	b := r.times(vectorOf(y))
	value := -(logDet + float(inner(vectorOf(y), b)) + float64(n)*math.Log(2*math.Pi*noise)) / 2
	return extended{logEvidence: value, uncertainty: algebra(k, r, tau, b) + unit(n)*terms}
}

// TestAdversarial fits repeated and contradictory cases, separable data, one positive among 500
// cases, and two cases, with length scales and amplitudes from e^-10 to e^10. Fits with log-concave
// likelihoods never return an error from Fit; at least 99 % of all fits succeed and the others say
// why. For few cases the log evidence agrees with 240-bit arithmetic to 1e-9 plus the rounding
// error.
func TestAdversarial(t *testing.T) {
	fits := cmp.Or(*fits, exhaustive.Of(len(kinds), 18))
	var all []*sweep
	run := func(name string, body func(s *sweep, rng *rand.Rand)) {
		s := &sweep{name: name, reasons: map[string]int{}}
		all = append(all, s)
		body(s, rand.New(rand.NewPCG(2026, uint64(len(all)))))
	}

	list := formulated(t)
	for _, p := range slices.Clone(list) {
		switch p.method.(type) {
		case approx.EP:
			if !p.fickle() {
				list = append(list, pair{p.name + ", parallel", approx.EP{Iteration: approx.Iteration{Schedule: approx.Parallel}}, p.lik}, pair{p.name + ", mixed", approx.EP{Iteration: approx.Iteration{Schedule: approx.Mixed}}, p.lik})
			}
		case approx.PL:
			list = append(list, pair{p.name + ", parallel", approx.PL{Iteration: approx.Iteration{Schedule: approx.Parallel}}, p.lik})
		}
	}
	for i, p := range list {
		_, slow := p.method.(approx.Variational)
		large := i < len(formulated(t)) && (!slow || fits > 100)
		_, smooth := p.lik.(likelihood.Differentiable)
		_, noisyThreshold := p.lik.Likelihood().(likelihood.NoisyThreshold)
		run(p.name, func(s *sweep, rng *rand.Rand) {
			for i := range fits {
				h := drawHard(rng, kinds[i%len(kinds)], sizes(rng, i))
				if i%96 == 4 && large {
					h = drawHard(rng, "one positive", 500)
				}
				k := h.gram(!smooth)
				post := s.fit(t, h, p.method, []approx.Cov{{K: k}}, approx.Targets{Classes: 2, Value: h.label}, p.lik, noisyThreshold)
				if post == nil || len(h.label) > small { // EP with the noisy threshold may have several fixed points
					continue
				}
				want := p.extended(t, exactly(k, post.Diagnostics().Jitter), h.label, post.State())
				if _, ok := p.method.(approx.Online); ok {
					want.uncertainty = widened(p.adjoint(t, post, len(h.label)).K, k)
				}
				s.compare(t, h, post.Evidence().Value(), want.logEvidence, want.uncertainty)
			}
		})
	}

	for _, e := range approx.Table {
		method, err := e.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		if caps, err := method.Uses(likelihood.Gaussian{}, 0); err != nil || !caps.Gradient {
			continue
		}
		run(e.Name+"/gaussian", func(s *sweep, rng *rand.Rand) {
			for i := range fits {
				h := drawHard(rng, kinds[i%len(kinds)], sizes(rng, i))
				for j, x := range h.x { // targets of size 1, contradictory where the labels are
					h.label[j] += math.Sin(2*x[0]) / 2
				}
				k := h.gram(false)
				post := s.fit(t, h, method, []approx.Cov{{K: k}}, approx.Targets{Value: h.label}, likelihood.Gaussian{}.At([]float64{h.logNoise}), false)
				if post == nil || len(h.label) > small {
					continue
				}
				want := extendedRegression(exactly(k, 0), h.label, h.logNoise)
				s.compare(t, h, post.Evidence().Value(), want.logEvidence, want.uncertainty)
			}
		})
	}
	for _, shared := range []bool{true, false} {
		run(map[bool]string{true: "laplace/softmax", false: "laplace/softmax, 3 kernels"}[shared], func(s *sweep, rng *rand.Rand) {
			for i := range fits {
				h := drawHard(rng, kinds[i%len(kinds)], sizes(rng, i))
				y := make([]int, len(h.label))
				for j := range y {
					switch {
					case h.label[j] > 0:
						y[j] = 1
					case h.kind != "one positive" && h.x[j][1] > 0:
						y[j] = 2
					}
				}
				cov, _ := priors(h.x, h.logLength, h.logAmp, 3, shared)
				post := s.fit(t, h, approx.Laplace{}, cov, approx.Targets{Classes: 3, Index: y}, likelihood.Softmax{}, false)
				if post == nil || len(y) > small/2 {
					continue
				}
				var k []matrix
				uncertainty := 0.0
				for j, g := range adjointsOf(t, post, len(cov), len(y)) {
					uncertainty += widened(g.K, cov[j].K)
				}
				for c := range 3 {
					k = append(k, exactly(classOf(cov, c).K, 0))
				}
				// Σ_c E_c adds inverses of three matrices with entries of at most 1; its own inverse is less than any
				// K_c + D_c⁻¹.
				uncertainty += 3 * unit(len(y)) * float64(len(y)) * mat.Trace(cov[0].K)
				s.compare(t, h, post.Evidence().Value(), float(extendedMulticlass(t, k, y, post.State())), uncertainty)
			}
		})
	}

	compared, fitted, answered := 0, 0, 0
	for _, s := range all {
		t.Logf("%-28s %4d fits, %4d answered (%d with jitter), %3d compared: off by at most %.0e nats and %.0e of the tolerance, itself at most %.0e nats; longest %.2f s", s.name, s.fits, s.answered, s.jittered, s.compared, s.worst, s.worstShare, s.allowed, s.longest)
		for _, r := range slices.Sorted(maps.Keys(s.reasons)) {
			t.Logf("    %s", r)
		}
		compared, fitted, answered = compared+s.compared, fitted+s.fits, answered+s.answered
	}
	t.Logf("%d of %d fits answered, %.2f %%; %d compared", answered, fitted, 100*float64(answered)/float64(fitted), compared)
	if answered*100 < fitted*99 {
		t.Errorf("%d of %d fits answered, want at least 99 %%", answered, fitted)
	}
	if least := min(200, 11*fits); compared < least {
		t.Errorf("%d fits compared, want at least %d", compared, least)
	}
}
