package kernel

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// spectral is a Profile whose kernel has a spectral density, a scale mixture of normals [GPML
// 4.2.1]: with z standard normal and s > 0 random, ω = s z/l has κ(|x - x'|²/l²) = E cos(ω·(x -
// x')).
type spectral interface {
	// mixing is the quantile function of s, at 0 < u < 1 and the natural value of κ's own
	// hyperparameter, with its derivative ∂ln s/∂ln shape; nil: s is 1.
	mixing() func(u, shape float64) (s, slope float64)
}

// Features are m numbers φ(x) of an input x whose inner products approximate a kernel, k(x, x') ≈
// φ(x)·φ(x'), without its noise. A stationary kernel has random Fourier features (Rahimi & Recht
// 2007): with M frequencies ω_k of its spectral density,
//
//	φ(x) = σ/√M (cos ω_k·x, sin ω_k·x),   k = 1 … M,
//
// so that φ(x)·φ(x) is σ² exactly. The features of linear and constant kernels are exact. A sum has
// the features of its terms, and a product of stationary and constant kernels has the sums of the
// factors' frequencies. The standard normal vectors and the quantiles behind the frequencies are
// fixed, so that the features are smooth functions of theta.
type Features struct {
	terms []term
	rows  int
	shift []float64 // subtracted from the inputs of stationary terms, against rounding
}

// term is a product of kernels with features.
type term struct {
	factor     float64 // all covariances are multiplied by it
	amplitudes []int   // places of ln σ in theta
	waves      []wave
	line       *line // a term with a linear kernel has a line and no waves; nil: it has waves
	from, size int   // rows of the features
}

// line is the linear kernel of some columns.
type line struct {
	kernel  Linear
	columns []int
	lengths []int // places of the ln l in theta; none: 1
}

// wave is the frequencies of a stationary kernel.
type wave struct {
	columns []int
	lengths []int // places of the ln l in theta: one, or one for each column
	shape   int   // place of the hyperparameter of κ in theta; -1: none
	mixing  func(u, shape float64) (s, slope float64)
	z       [][]float64 // a standard normal vector for each frequency
	u       []float64   // the place of its s in the mixture
}

// withFeatures names the kernels that have features, for errors.
const withFeatures = "features are for se, matern12, matern32, matern52, rational_quadratic, linear, constant, " +
	"noise, their sums, and products of all of these but linear"

// CheckFeatures returns an error if k has no features, or needs more than m of them, for inputs
// with dim columns; 0 stands for as few columns as possible.
func CheckFeatures(k Kernel, m, dim int) error {
	_, err := layOut(k, m, cmp.Or(dim, leastDim(k)))
	return err
}

// leastDim is the smallest number of columns for which k makes sense, at least 1.
func leastDim(k Kernel) int {
	switch c := k.(type) {
	case Active:
		return slices.Max(c.Dims)
	case Tied:
		return len(c.Group)
	case combination:
		least, parts := 1, []Named(nil)
		parts, _ = c.parts(1)
		for _, p := range parts {
			least = max(least, leastDim(p.Kernel))
		}
		return least
	}
	return 1
}

// NewFeatures are at most m features of k for inputs like x; see CheckFeatures.
func NewFeatures(k Kernel, m int, x *Inputs) (*Features, error) {
	f, err := layOut(k, m, x.Dim())
	if err != nil {
		return nil, err
	}
	f.shift = x.means()
	for i := range f.terms {
		if t := &f.terms[i]; t.waves != nil {
			t.draw(t.size / 2)
		}
	}
	return f, nil
}

// layOut makes the terms of k without their frequencies.
func layOut(k Kernel, m, dim int) (*Features, error) {
	all, err := terms(k, upTo(dim), upTo(count(k, dim)))
	if err != nil {
		return nil, err
	}
	f, exact, stationary := &Features{terms: all}, 0, 0
	for _, t := range all {
		if t.waves != nil {
			stationary++
		} else {
			exact += t.exactly()
		}
	}
	if len(all) == 0 {
		return nil, errors.New("features: noise alone has none; add a kernel of the inputs")
	}
	if least := exact + 2*stationary; m < least {
		return nil, fmt.Errorf("features: %d are too few for this kernel; write at least %d", m, least)
	}
	for i := range all {
		t := &all[i]
		if t.size = t.exactly(); t.waves != nil {
			t.size = (m - exact) / (2 * stationary) * 2
		}
		t.from = f.rows
		f.rows += t.size
	}
	return f, nil
}

// Rows is the number of features.
func (f *Features) Rows() int { return f.rows }

// upTo are the numbers 0 … n-1.
func upTo(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

// terms returns the terms of k for these columns of the inputs, and these places of its
// hyperparameters in theta.
func terms(k Kernel, columns, places []int) ([]term, error) {
	switch c := k.(type) {
	case Noise:
		return nil, nil
	case Constant:
		return []term{{factor: 1, amplitudes: places[:1]}}, nil
	case Linear:
		return []term{{factor: 1, amplitudes: places[:1], line: &line{c, columns, places[1:]}}}, nil
	case Active:
		own := make([]int, len(c.Dims))
		for i, d := range c.Dims {
			own[i] = columns[d-1]
		}
		return terms(c.Kernel, own, places)
	case Additive:
		return terms(c.sum(len(columns)), columns, places)
	case Tied:
		at, _ := c.places(len(columns))
		own := make([]int, len(at))
		for i, p := range at {
			own[i] = places[p]
		}
		return terms(c.Kernel, columns, own)
	case Scaled:
		all, err := terms(c.Kernel, columns, places)
		for i := range all {
			all[i].factor *= c.Factor
		}
		return all, err
	case Sum:
		return sumTerms(c, columns, places)
	case Product:
		return productTerms(c, columns, places)
	}
	if s, ok := k.(interface {
		wave(columns, places []int) (wave, bool)
	}); ok {
		if w, ok := s.wave(columns, places); ok {
			return []term{{factor: 1, amplitudes: places[:1], waves: []wave{w}}}, nil
		}
	}
	return nil, fmt.Errorf("%s; this model has another kernel: use inducing inputs", withFeatures)
}

// wave implements terms for a spectral profile; ok is false for another.
func (k Stationary[P]) wave(columns, places []int) (w wave, ok bool) {
	p, ok := any(k.Shape).(spectral)
	if !ok {
		return w, false
	}
	w = wave{columns: columns, lengths: places[1:], shape: -1, mixing: p.mixing()}
	if _, ok := any(k.Shape).(Shaped); ok {
		w.lengths, w.shape = places[1:len(places)-1], places[len(places)-1]
	}
	return w, true
}

// splitPlaces cuts the places of a combination's hyperparameters into the places of its parts.
func splitPlaces(parts []Named, places []int, dim int) (own [][]int) {
	for _, p := range parts {
		n := count(p.Kernel, dim)
		own, places = append(own, places[:n]), places[n:]
	}
	return own
}

func sumTerms(s Sum, columns, places []int) (all []term, err error) {
	for i, own := range splitPlaces(s, places, len(columns)) {
		more, err := terms(s[i].Kernel, columns, own)
		if err != nil {
			return nil, err
		}
		all = append(all, more...)
	}
	return all, nil
}

// productTerms multiplies every term of a factor with every term of the others. White noise has no
// term, and neither has a product with it.
func productTerms(p Product, columns, places []int) ([]term, error) {
	all := []term{{factor: 1}}
	for i, own := range splitPlaces(p, places, len(columns)) {
		more, err := terms(p[i].Kernel, columns, own)
		if err != nil {
			return nil, err
		}
		var products []term
		for _, a := range all {
			for _, b := range more {
				if a.line != nil && (b.line != nil || b.waves != nil) || b.line != nil && a.waves != nil {
					return nil, fmt.Errorf("%s; this model has a product with linear: use inducing inputs",
						withFeatures)
				}
				both := term{factor: a.factor * b.factor, line: a.line}
				if b.line != nil {
					both.line = b.line
				}
				both.amplitudes = slices.Concat(a.amplitudes, b.amplitudes)
				both.waves = slices.Concat(a.waves, b.waves)
				products = append(products, both)
			}
		}
		all = products
	}
	return all, nil
}

// exactly is the number of features of a term without waves.
func (t term) exactly() int {
	if t.line == nil {
		return 1
	}
	return int(t.line.kernel.bias()) + len(t.line.columns)
}

// amplitude is the root of the term's variance, of a linear kernel's factor σ².
func (t term) amplitude(theta []float64) float64 {
	a := math.Sqrt(t.factor)
	for _, p := range t.amplitudes {
		a *= natural(theta[p])
	}
	return a
}

// frequencies sets ω, a row for each frequency with a column for each input.
func (t term) frequencies(theta []float64, dim int) blas64.General {
	omega := linalg.NewGeneral(t.size/2, dim)
	for _, w := range t.waves {
		for k, z := range w.z {
			s, _ := w.scale(theta, k)
			row := generalRow(omega, k)
			for j, c := range w.columns {
				row[c] += s * z[j] / natural(theta[w.lengths[j%len(w.lengths)]])
			}
		}
	}
	return omega
}

// scale is the factor s of frequency k, with its derivative ∂ln s/∂ln shape.
func (w wave) scale(theta []float64, k int) (s, slope float64) {
	if w.mixing == nil {
		return 1, 0
	}
	return w.mixing(w.u[k], natural(theta[w.shape]))
}

// Fill sets dst, Rows() × n, to the features of the n cases of x.
func (f *Features) Fill(dst *mat.Dense, theta []float64, x *Inputs) {
	f.each(theta, x, f.moved(x), dst, func(t term, a float64, rows blas64.General) {
		m := t.size / 2
		for k := range m {
			cos, sin := generalRow(rows, k), generalRow(rows, m+k)
			for i, phase := range sin {
				s, c := math.Sincos(phase)
				cos[i], sin[i] = a*c, a*s
			}
		}
	})
}

// moved are the inputs of stationary terms.
func (f *Features) moved(x *Inputs) blas64.General {
	ones := make([]float64, x.Dim())
	floats.AddConst(1, ones)
	return x.scaled(f.shift, ones)
}

// each sets the features of terms without waves. For the others it sets the second half of their
// rows to the phases ω·x, and calls waves with the amplitude of a feature.
func (f *Features) each(
	theta []float64, x *Inputs, moved blas64.General, dst *mat.Dense,
	waves func(t term, a float64, rows blas64.General),
) {
	for _, t := range f.terms {
		rows := dst.Slice(t.from, t.from+t.size, 0, x.N()).(*mat.Dense).RawMatrix()
		a := t.amplitude(theta)
		if t.waves == nil {
			t.fillExactly(rows, a, theta, x)
			continue
		}
		phases := rows
		phases.Rows, phases.Data = t.size/2, rows.Data[t.size/2*rows.Stride:]
		linalg.Gemm(blas.NoTrans, blas.Trans, 1, t.frequencies(theta, x.Dim()), moved, 0, phases)
		waves(t, a/math.Sqrt(float64(t.size/2)), rows)
	}
}

// fillExactly sets the features of a constant, σ, or of a linear kernel, σ√b and σx_j/l_j.
func (t term) fillExactly(rows blas64.General, a float64, theta []float64, x *Inputs) {
	from := t.size
	if t.line != nil {
		from -= len(t.line.columns)
	}
	for k := range t.size {
		row := generalRow(rows, k)
		for i := range row {
			if row[i] = a; k >= from {
				row[i] *= x.X.At(i, t.line.columns[k-from])
			}
		}
		if k >= from && len(t.line.lengths) > 0 {
			floats.Scale(1/natural(theta[t.line.lengths[k-from]]), row)
		}
	}
}

// casesAtOnce is the number of cases whose features Pull has in memory.
const casesAtOnce = 256

// Pull adds Σ_ki G_ki ∂φ_k(x_i)/∂θ_p to grad[p], for G of the shape of Fill's dst. With a = ω·x and
// B = σ/√M (G_sin cos a - G_cos sin a),
//
//	∂/∂ln σ: Σ G∘Φ,   ∂/∂ln l_j: -Σ_k ω_kj (B X)_kj
//	∂/∂ln shape: Σ_kj ω_kj (B X)_kj ∂ln s_k/∂ln shape
func (f *Features) Pull(grad, theta []float64, x *Inputs, g *mat.Dense) {
	all := mat.NewDense(f.rows, min(casesAtOnce, x.N()), nil)
	for from := 0; from < x.N(); from += casesAtOnce {
		to := min(x.N(), from+casesAtOnce)
		phi := all.Slice(0, f.rows, 0, to-from).(*mat.Dense)
		own := &Inputs{X: x.X.Slice(from, to, 0, x.Dim()).(*mat.Dense)}
		f.pull(grad, theta, own, phi, g.Slice(0, f.rows, from, to).(*mat.Dense))
	}
}

// pull is Pull for some cases, with memory for their features.
func (f *Features) pull(grad, theta []float64, x *Inputs, phi, g *mat.Dense) {
	moved, whole := f.moved(x), g.RawMatrix()
	f.each(theta, x, moved, phi, func(t term, a float64, rows blas64.General) {
		m, total := t.size/2, 0.0
		for k := range m {
			b, phases := generalRow(rows, k), generalRow(rows, m+k)
			byCos, bySin := generalRow(whole, t.from+k), generalRow(whole, t.from+m+k)
			for i, phase := range phases {
				s, c := math.Sincos(phase)
				b[i] = a * (bySin[i]*c - byCos[i]*s)
				total += a * (byCos[i]*c + bySin[i]*s)
			}
		}
		for _, p := range t.amplitudes {
			grad[p] += total
		}
		b, bx := rows, linalg.NewGeneral(m, x.Dim())
		b.Rows = m
		linalg.Gemm(blas.NoTrans, blas.NoTrans, 1, b, moved, 0, bx)
		for _, w := range t.waves {
			w.pull(grad, theta, bx)
		}
	})
	for _, t := range f.terms {
		if t.waves == nil {
			t.pullExactly(grad, theta, phi, g)
		}
	}
}

// pull adds the derivatives by length scales and shape, given B X.
func (w wave) pull(grad, theta []float64, bx blas64.General) {
	for k, z := range w.z {
		s, slope := w.scale(theta, k)
		row := generalRow(bx, k)
		for j, c := range w.columns {
			p := w.lengths[j%len(w.lengths)]
			by := s * z[j] / natural(theta[p]) * row[c]
			grad[p] -= by
			if w.shape >= 0 {
				grad[w.shape] += by * slope
			}
		}
	}
}

// pullExactly adds the derivatives of the features of a constant or linear kernel.
func (t term) pullExactly(grad, theta []float64, phi, g *mat.Dense) {
	for k := range t.size {
		by := floats.Dot(phi.RawRowView(t.from+k), g.RawRowView(t.from+k))
		for _, p := range t.amplitudes {
			grad[p] += by
		}
		if t.line == nil || len(t.line.lengths) == 0 {
			continue
		}
		if j := k - (t.size - len(t.line.columns)); j >= 0 {
			grad[t.line.lengths[j]] -= by
		}
	}
}

// mostHalton is the largest number of coordinates in which Halton's points are used. In more of
// them orthogonal frequencies are better.
const mostHalton = 8

// draw makes the numbers behind m frequencies: a quantile for each mixture, and a standard normal
// vector for each wave. In few coordinates they are the points of J. M. Hammersley, whose first
// coordinate is (k - ½)/m and whose others are Halton's sequences. In more, the normal vectors are
// orthogonal in groups (F. X. Yu et al., Orthogonal random features, NIPS 2016), with norms at the
// m quantiles of their distribution.
func (t *term) draw(m int) {
	next := 0
	coordinate := func() []float64 {
		next++
		return halton(m, next-1)
	}
	dim := 0
	for i := range t.waves {
		w := &t.waves[i]
		w.z = make([][]float64, m)
		if dim += len(w.columns); w.mixing != nil {
			w.u = coordinate()
		}
	}
	var z [][]float64
	if next+dim <= mostHalton {
		z = make([][]float64, m)
		for range dim {
			for k, u := range coordinate() {
				z[k] = append(z[k], math.Sqrt2*math.Erfinv(2*u-1))
			}
		}
	} else {
		z = orthogonal(m, dim)
	}
	for i := range t.waves {
		w := &t.waves[i]
		for k := range z {
			w.z[k], z[k] = z[k][:len(w.columns)], z[k][len(w.columns):]
		}
		if w.mixing != nil && w.shape < 0 { // s is the same for every theta
			for k, u := range w.u {
				s, _ := w.mixing(u, 0)
				floats.Scale(s, w.z[k])
			}
			w.mixing = nil
		}
	}
}

// halton is coordinate j of m points: the digits of k, in the base of the j-th prime, reversed
// behind the point, and (k - ½)/m for j = 0.
func halton(m, j int) []float64 {
	u := make([]float64, m)
	base := prime(j)
	for k := range u {
		if j == 0 {
			u[k] = (float64(k) + 0.5) / float64(m)
			continue
		}
		digit := 1.0
		for rest := k + 1; rest > 0; rest /= base {
			digit /= float64(base)
			u[k] += digit * float64(rest%base)
		}
	}
	return u
}

// prime is the j-th prime number, from 2 for j = 1.
func prime(j int) (p int) {
	for p = 1; j > 0; {
		p++
		composite := false
		for q := 2; q*q <= p; q++ {
			composite = composite || p%q == 0
		}
		if !composite {
			j--
		}
	}
	return p
}

// orthogonal are m vectors of dim numbers. Each is standard normal; dim consecutive ones are
// orthogonal to each other.
func orthogonal(m, dim int) (z [][]float64) {
	rng := rand.New(param.Source(1, 0))
	norms := rng.Perm(m)
	for k := range m {
		v := make([]float64, dim)
		for {
			for j := range v {
				v[j] = rng.NormFloat64()
			}
			before := floats.Norm(v, 2)
			for range 2 { // twice, against rounding
				for _, other := range z[k-k%dim : k] {
					floats.AddScaled(v, -floats.Dot(v, other)/floats.Dot(other, other), other)
				}
			}
			if floats.Norm(v, 2) > 1e-6*before {
				break
			}
		}
		x, _ := gammaQuantile(float64(dim)/2, (float64(norms[k])+0.5)/float64(m))
		floats.Scale(math.Sqrt(2*x)/floats.Norm(v, 2), v)
		z = append(z, v)
	}
	return z
}

// mixing implements spectral: the spectral density is normal [GPML 4.11].
func (squaredExponential) mixing() func(u, shape float64) (s, slope float64) { return nil }

// These implement spectral: the spectral density of the Matérn kernel of order ν is Student's t
// with 2ν degrees of freedom [GPML 4.15], a normal divided by √(χ²/2ν).

func (matern12) mixing() func(u, shape float64) (s, slope float64) { return student(1) }
func (matern32) mixing() func(u, shape float64) (s, slope float64) { return student(3) }
func (matern52) mixing() func(u, shape float64) (s, slope float64) { return student(5) }

func student(degrees float64) func(u, shape float64) (s, slope float64) {
	return func(u, _ float64) (s, slope float64) {
		x, _ := gammaQuantile(degrees/2, u)
		return math.Sqrt(degrees / 2 / x), 0
	}
}

// mixing implements spectral: the rational quadratic is a mixture of squared exponentials of
// precision x/α in units of 1/l², with x gamma distributed of shape α [GPML 4.20].
func (rationalQuadratic) mixing() func(u, shape float64) (s, slope float64) {
	return func(u, alpha float64) (s, slope float64) {
		x, slope := gammaQuantile(alpha, u)
		return math.Sqrt(x / alpha), (slope - 1) / 2
	}
}

// gammaQuantile is the quantile x at u of the gamma distribution of shape a and scale 1, with its
// derivative ∂ln x/∂ln a. Both follow from the series
//
//	P(a, x) = xᵃ e⁻ˣ/Γ(a + 1) Σ_n c_n,   c_n = xⁿ/((a + 1) … (a + n))   [DLMF 8.7.1]
//
// as ∂x/∂a = -(∂P/∂a)/(∂P/∂x). Above a = 10⁶ they are the cube of a normal variable (E. B. Wilson
// and M. M. Hilferty, The distribution of chi-square, PNAS 17, 1931).
func gammaQuantile(a, u float64) (x, slope float64) {
	if a > 1e6 {
		z := math.Sqrt2 * math.Erfinv(2*u-1)
		root := 1 - 1/(9*a) + z/(3*math.Sqrt(a))
		return a * root * root * root, 1 + 3*(1/(9*a)-z/(6*math.Sqrt(a)))/root
	}
	lg, _ := math.Lgamma(a + 1)
	if log := (math.Log(u) + lg) / a; log < -40 { // P(a, x) is xᵃ/Γ(a + 1)
		return math.Exp(max(log, -700)), mathext.Digamma(a+1) - log
	}
	x = mathext.GammaIncRegInv(a, u)
	for range 2 { // steps of Newton's method in ln x
		sum, _ := gammaSeries(a, x)
		density := math.Exp(a*math.Log(x) - x - lg) // x/a times the density
		x *= math.Exp((u/density - sum) / a)
	}
	sum, weighted := gammaSeries(a, x)
	return x, weighted - (math.Log(x)-mathext.Digamma(a+1))*sum
}

// gammaSeries returns Σ c_n and Σ c_n Σ_{j≤n} 1/(a + j).
func gammaSeries(a, x float64) (sum, weighted float64) {
	c, harmonic := 1.0, 0.0
	sum = 1
	for n := 1.0; ; n++ {
		c *= x / (a + n)
		harmonic += 1 / (a + n)
		sum += c
		weighted += c * harmonic
		if c*max(1, harmonic) < 1e-17*min(sum, max(weighted, 1e-300)) && a+n > x || c == 0 {
			return sum, weighted
		}
	}
}
