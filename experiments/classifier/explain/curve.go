package explain

import (
	"cmp"
	"iter"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
)

// Model is a fitted classifier, or a regression, as curves use it.
type Model struct {
	Preprocess func(x *mat.Dense) *kernel.Inputs
	// Posteriors iterates over the posteriors over which predictions are averaged. It is nil if the
	// model is no Gaussian process; then curves have no bands.
	Posteriors func() iter.Seq2[*objective.Point, error]
	// Predict returns the class probabilities, n×C, or the means of numbers, n×1. Calibrate maps
	// the posterior's probability of the second of two classes to its calibrated one; nil: no
	// calibration.
	Predict   func(z *kernel.Inputs) (*mat.Dense, error)
	Calibrate func(p float64) float64
	Classes   []string // none: numbers
}

// Curve is the effect of an input on one scale of one class, point by point.
type Curve struct {
	Input string `json:"input"`
	// Kind is partial_dependence, the mean prediction if all cases had the value, Friedman 2001,
	// Ann. Statist. 29, Eq. 53; or accumulated_local, the summed mean changes of predictions from
	// quantile to quantile of cases that lie between, less their mean, Apley & Zhu 2020, J. R.
	// Statist. Soc. B 82, Eq. 16.
	Kind  string `json:"kind"`
	Scale string `json:"scale"`           // latent, probability, or mean (of numbers)
	Class string `json:"class,omitempty"` // the class of the probability or of the latent process
	// Given is the value that all cases have of a second input, Beside, in words.
	Beside string          `json:"beside,omitempty"`
	Given  string          `json:"given,omitempty"`
	X      []record.Number `json:"x"`               // values of the input; of a category the numbers of Names
	Names  []string        `json:"names,omitempty"` // values of a category or of ranks
	Mean   []record.Number `json:"mean"`
	// Lo and Hi are the pointwise 95 % band of the joint posterior; none where there is no band.
	Lo []record.Number `json:"lo,omitempty"`
	Hi []record.Number `json:"hi,omitempty"`
}

// The kinds and scales of curves.
const (
	partialDependence = "partial_dependence"
	accumulatedLocal  = "accumulated_local"
	latentScale       = "latent"
	probabilityScale  = "probability"
	meanScale         = "mean"
)

// Grid has the values of an input at which its curves have points. Columns of the input matrix have
// the values of a row of Rows at the point.
type Grid struct {
	Input
	X     []float64
	Names []string
	Rows  [][]float64
}

// mostPoints is the number of points of a curve of a number: quantiles of its values.
const mostPoints = 20

// Numeric is the grid of column j: all values if they are few, else their quantiles.
func Numeric(name string, x *mat.Dense, j int) (g Grid) {
	g.Input = Input{name, []int{j}}
	sorted := slices.Sorted(slices.Values(mat.Col(nil, j, x)))
	n, different := len(sorted), slices.Compact(slices.Clone(sorted))
	if len(different) > mostPoints {
		different = nil
		for k := range mostPoints {
			different = append(different, sorted[k*(n-1)/(mostPoints-1)])
		}
		different = slices.Compact(different)
	}
	for _, v := range different {
		g.X, g.Rows = append(g.X, v), append(g.Rows, []float64{v})
	}
	return g
}

// sum is a mean over cases of predictions, Σ_i w_ik prediction(z_i) for the points k of a curve.
type sum struct {
	x       *mat.Dense // raw inputs, m×d
	weights *mat.Dense // m×G
}

// partial returns a sum for every point of the grid: the mean over the rows of x with the point's
// values.
func (g Grid) partial(x *mat.Dense) (all []sum) {
	n, _ := x.Dims()
	share := mat.NewDense(n, 1, slices.Repeat([]float64{1 / float64(n)}, n))
	for k := range g.Rows {
		all = append(all, sum{g.with(x, k), share})
	}
	return all
}

// with returns a copy of the cases x that all have the values of point k.
func (g Grid) with(x *mat.Dense, k int) *mat.Dense {
	out := mat.DenseCopyOf(x)
	for i := range out.RawMatrix().Rows {
		for c, j := range g.Columns {
			out.Set(i, j, g.Rows[k][c])
		}
	}
	return out
}

// accumulated returns one sum with all points of the grid, of a single column.
func (g Grid) accumulated(x *mat.Dense) sum {
	n, d := x.Dims()
	j, points := g.Columns[0], len(g.X)
	s := sum{mat.NewDense(2*n, d, nil), mat.NewDense(2*n, points, nil)}
	in := make([]int, n) // the interval of every row: k lies between points k-1 and k
	counts := make([]float64, points)
	for i := range n {
		k, _ := slices.BinarySearch(g.X, x.At(i, j))
		in[i] = min(max(k, 1), points-1)
		counts[in[i]]++
		for side, to := range []float64{g.X[in[i]-1], g.X[in[i]]} {
			s.x.SetRow(2*i+side, x.RawRowView(i))
			s.x.Set(2*i+side, j, to)
		}
	}
	// The mean over cases, each in the middle of its interval, is subtracted.
	centre := make([]float64, points)
	for k := 1; k < points; k++ {
		for l := 1; l <= k; l++ {
			share := counts[k] / float64(n)
			if l == k {
				share /= 2
			}
			centre[l] += share
		}
	}
	for i, k := range in {
		for point := range points {
			w := -centre[k]
			if k <= point {
				w++
			}
			s.weights.Set(2*i, point, -w/counts[k])
			s.weights.Set(2*i+1, point, w/counts[k])
		}
	}
	return s
}

// Curves returns the partial dependence of the grid over the cases x, and for a single column the
// accumulated local effects, on every scale.
func (m Model) Curves(g Grid, x *mat.Dense) (out []Curve, err error) {
	sums := map[string][]sum{partialDependence: g.partial(x)}
	if len(g.Columns) == 1 && g.Names == nil && len(g.X) > 1 {
		sums[accumulatedLocal] = []sum{g.accumulated(x)}
	}
	for _, kind := range []string{partialDependence, accumulatedLocal} {
		var all []Curve
		for _, s := range sums[kind] {
			part, err := m.moments(s, kind == partialDependence)
			if err != nil {
				return nil, err
			}
			if all == nil {
				all = part
				continue
			}
			for k := range all { // one point more of each
				all[k].Mean = append(all[k].Mean, part[k].Mean...)
				all[k].Lo, all[k].Hi = append(all[k].Lo, part[k].Lo...), append(all[k].Hi, part[k].Hi...)
			}
		}
		for _, c := range all {
			c.Input, c.Kind, c.Names = g.Name, kind, g.Names
			c.X = record.Numbers(g.X)
			out = append(out, c)
		}
	}
	return out, nil
}

// moments are the curves of a sum on every scale, with bands. With level the sums are means of
// predictions, so a mean of probabilities lies between 0 and 1.
func (m Model) moments(s sum, level bool) (out []Curve, err error) {
	z := m.Preprocess(s.x)
	predicted, err := m.Predict(z)
	if err != nil {
		return nil, err
	}
	latent, proba, err := m.joint(z, s.weights)
	if err != nil {
		return nil, err
	}
	for c, of := range latent {
		curve := Curve{Scale: latentScale}
		switch {
		case m.Classes == nil:
			curve.Scale = meanScale
		case len(latent) == 1: // positive values favour the second of two classes
			curve.Class = m.Classes[len(m.Classes)-1]
		default:
			curve.Class = m.Classes[c]
		}
		for k, v := range of.mean {
			curve.add(v, 1.96*math.Sqrt(of.variance(k)), false)
		}
		out = append(out, curve)
	}
	if m.Classes == nil && latent == nil {
		means := weighted(s.weights, mat.Col(nil, 0, predicted))
		out = append(out, Curve{Scale: meanScale, Mean: record.Numbers(means)})
	}
	for c, class := range m.Classes {
		if c == 0 && len(m.Classes) == 2 {
			continue
		}
		curve := Curve{Scale: probabilityScale, Class: class}
		for k, v := range weighted(s.weights, mat.Col(nil, c, predicted)) {
			half := math.NaN()
			if proba.count > 0 {
				half = 1.96 * math.Sqrt(proba.variance(k))
			}
			curve.add(v, half, level)
		}
		out = append(out, curve)
	}
	return out, nil
}

// joint has the moments of the sums of each latent process, and of the sums of the probabilities of
// the second of two classes, under the joint posterior.
func (m Model) joint(z *kernel.Inputs, weights *mat.Dense) (latent []mixture, proba mixture, err error) {
	if m.Posteriors == nil {
		return nil, proba, nil
	}
	for point, err := range m.Posteriors() {
		if err != nil {
			return nil, proba, err
		}
		means, variances := point.Latents(z)
		if latent == nil {
			latent = make([]mixture, len(means))
		}
		for c := range means {
			latent[c].add(point.Functionals(z, weights, c))
		}
		if p, slope, ok := point.Slopes(means[0], variances[0]); ok {
			m.recalibrate(p, slope)
			tilted := mat.DenseCopyOf(weights)
			tilted.Apply(func(i, _ int, w float64) float64 { return w * slope[i] }, tilted)
			_, variance := point.Functionals(z, tilted, 0)
			proba.add(weighted(weights, p), variance)
		}
	}
	return latent, proba, nil
}

// recalibrate corrects probabilities and their slopes in place.
func (m Model) recalibrate(p, slope []float64) {
	if m.Calibrate == nil {
		return
	}
	const step = 1e-4
	for i, v := range p {
		lo, hi := max(v-step, 0), min(v+step, 1)
		slope[i] *= (m.Calibrate(hi) - m.Calibrate(lo)) / (hi - lo)
		p[i] = m.Calibrate(v)
	}
}

// weighted returns wᵀv.
func weighted(w *mat.Dense, v []float64) []float64 {
	var out mat.VecDense
	out.MulVec(w.T(), mat.NewVecDense(len(v), v))
	return out.RawVector().Data
}

// add adds a point with a band of this half width; NaN: none. A band of a probability has its width
// on the scale of log odds, so that it stays within 0 and 1.
func (c *Curve) add(v, half float64, probability bool) {
	c.Mean = append(c.Mean, record.Number(v))
	if math.IsNaN(half) {
		return
	}
	lo, hi := v-half, v+half
	if spread := v * (1 - v); probability && spread > 0 {
		odds, wide := math.Log(v/(1-v)), half/spread
		lo, hi = 1/(1+math.Exp(wide-odds)), 1/(1+math.Exp(-wide-odds))
	}
	c.Lo, c.Hi = append(c.Lo, record.Number(lo)), append(c.Hi, record.Number(hi))
}

// mixture averages means and variances over posteriors.
type mixture struct {
	count        int
	mean, within []float64 // means of the means and of the variances
	squared      []float64 // sums of squared deviations of the means
}

func (m *mixture) add(mean, variance []float64) {
	if m.count == 0 {
		m.mean, m.within, m.squared = make([]float64, len(mean)), make([]float64, len(mean)), make([]float64, len(mean))
	}
	m.count++
	for k, v := range mean {
		before := v - m.mean[k]
		m.mean[k] += before / float64(m.count)
		m.squared[k] += before * (v - m.mean[k])
		m.within[k] += (variance[k] - m.within[k]) / float64(m.count)
	}
}

func (m mixture) variance(k int) float64 {
	return max(0, m.within[k]+m.squared[k]/float64(m.count))
}

// Effects has the importances and curves of a classifier's inputs, for given cases.
// Its JSON is the output of gpc-tune effects.
type Effects struct {
	Schema  string `json:"schema"`
	About   string `json:"about"`   // the label and the inputs, in words
	Cases   int    `json:"cases"`   // of the file
	Scored  int    `json:"scored"`  // cases with a label on which importances are measured; 0: none
	Repeats int    `json:"repeats"` // permutations
	Means   int    `json:"means"`   // cases over which curves are means
	// Base is the information of the predictions of the scored cases without any permutation, in
	// bits per case against the training frequencies.
	Base       record.Number              `json:"base_bits"`
	Importance []Importance               `json:"importance"` // the largest first
	Curves     []Curve                    `json:"curves"`
	Rugs       map[string][]record.Number `json:"rugs"` // up to 60 values of each input with curves
	Warnings   []string                   `json:"warnings"`
}

// Sort puts the largest importance first, and curves in the order of their inputs.
func (e *Effects) Sort() {
	slices.SortStableFunc(e.Importance, func(a, b Importance) int { return cmp.Compare(b.Bits, a.Bits) })
	place := func(c Curve) int {
		return slices.IndexFunc(e.Importance, func(of Importance) bool {
			return of.Input == c.Input || strings.HasPrefix(c.Input, of.Input+" ") // a part of a date
		})
	}
	slices.SortStableFunc(e.Curves, func(a, b Curve) int { return cmp.Compare(place(a), place(b)) })
}

// Range is the smallest and the largest mean of a curve, with their points.
func (c Curve) Range() (lowest, highest int) {
	v := record.Floats(c.Mean)
	return floats.MinIdx(v), floats.MaxIdx(v)
}

// Leading are the most important inputs, at most this many.
func (e *Effects) Leading(most int) (names []string) {
	e.Sort()
	for _, of := range e.Importance[:min(most, len(e.Importance))] {
		names = append(names, of.Input)
	}
	return names
}

// mostFixed is the number of values of the second input of a pair: of a number the 10 %, 50 % and
// 90 % quantile.
const mostFixed = 5

// Fix returns copies of the cases x with each of a few values of the grid, and the values in words.
func (g Grid) Fix(x *mat.Dense) (names []string, cases []*mat.Dense) {
	points := []int{}
	if g.Names == nil && len(g.X) > mostFixed {
		for _, share := range []float64{0.1, 0.5, 0.9} {
			points = append(points, int(math.Round(share*float64(len(g.X)-1))))
		}
	} else {
		for k := range min(len(g.X), mostFixed) {
			points = append(points, k)
		}
	}
	for _, k := range points {
		name := reports.Readable(g.X[k])
		if g.Names != nil {
			name = g.Names[k]
		}
		names, cases = append(names, g.Name+" = "+name), append(cases, g.with(x, k))
	}
	return names, cases
}
