package likelihood

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/registry"
)

// Ordinal is for C classes with an order (Chu & Ghahramani 2005, JMLR 6:1019): y is the number of
// cut points b_1 < … < b_C-1 that f plus noise exceeds, so that with F the distribution function of
// the noise, b_0 = -∞ and b_C = ∞
//
//	p(y = k|f) = F(b_k+1 - f) - F(b_k - f),   k = 0 … C-1
//
// The noise is normal, F = Φ, or logistic. Its scale is 1: together with the cut points it could be
// multiplied by any factor, as the kernel's amplitude is. The first parameter is the first cut
// point, `cut`, on the identity scale. The others are `gap[1]` … `gap[C-2]`, the distances of each
// cut point to the next. Their log scale keeps the cut points in order. They are free, and start
// where C classes have the same probability under f ~ N(0, 1). {fixed: v} holds them. With a
// constant prior mean, hold the first cut point: only the difference of the two matters.
//
// For two classes this is probit or logit with f shifted by the cut point.
type Ordinal struct {
	// Link is the distribution of the noise.
	Link Link `yaml:"link"`
	// Cut is the first cut point.
	Cut param.Setting `yaml:"cut"`
	// Gap is the setting of every distance of a cut point to the next.
	Gap param.Setting `yaml:"gap"`

	classes int // 0: three
}

// Link is the distribution of the noise that is added to f.
type Link int

const (
	ProbitLink Link = iota // standard normal
	LogitLink              // standard logistic
)

// Names are the links' names.
func (Link) Names() []string { return []string{"probit", "logit"} }

// UnmarshalText reads a link's name.
func (l *Link) UnmarshalText(text []byte) error {
	return registry.Choose(l, "link", text)
}

var (
	_ Sized      = Ordinal{}
	_ LogConcave = ordinal{}
	_ Parametric = ordinal{}
)

func (Ordinal) Domain() Domain { return Ordered }

// On implements Sized.
func (o Ordinal) On(classes int) Likelihood {
	o.classes = classes
	return o
}

// Params are the first cut point and the gaps.
func (o Ordinal) Params() []param.Spec {
	classes := cmp.Or(o.classes, 3)
	sd := math.Sqrt(1 + [...]float64{ProbitLink: 1, LogitLink: math.Pi * math.Pi / 3}[o.Link])
	start := func(k int) float64 { // the cut point with k of the classes below it
		return sd * math.Sqrt2 * math.Erfinv(float64(2*k-classes)/float64(classes))
	}
	specs := []param.Spec{o.Cut.Spec("cut", param.Identity, start(1))}
	for k := 1; k < classes-1; k++ {
		specs = append(specs, o.Gap.Spec(fmt.Sprintf("gap[%d]", k), param.Log, start(k+1)-start(k)))
	}
	return specs
}

func (o Ordinal) At(theta []float64) Bound {
	c := cells{link: o.Link, cuts: slices.Clone(theta), gaps: slices.Clone(theta)}
	c.gaps[0] = 1 // the factor of derivatives by the first cut point
	for k := 1; k < len(theta); k++ {
		// far outside the default bounds; prevents overflow
		c.gaps[k] = min(max(param.Log.Natural(theta[k]), 1e-50), 1e50)
		c.cuts[k] = c.cuts[k-1] + c.gaps[k]
	}
	return ordinal{integrated{o, c, c.Shape()}, c}
}

// ordinal is Ordinal with cut points. For the logistic function and a class between two cut points,
// Z is the difference of Logit's Z at the two cut points. If the two are nearly equal, Z is
// computed by quadrature.
type ordinal struct {
	integrated
	cells cells
}

func (o ordinal) LogProb(y, f float64) float64 { return o.cells.at(y, f, 0).logp }

// Moments implements MomentMatcher.
func (o ordinal) Moments(y, mean, variance float64) (logZ float64, d [4]float64) {
	if variance > 0 && !o.cells.closed(y) {
		if logZ, d, ok := o.cells.difference(y, mean, variance); ok {
			return logZ, d
		}
		return o.integrated.Moments(y, mean, variance)
	}
	c := o.cells.at(y, mean, variance)
	return c.logp, c.d
}

// DMoments implements Parametric.
func (o ordinal) DMoments(logZ, d1, d2 []float64, y, mean, variance float64) {
	if variance > 0 && !o.cells.closed(y) {
		o.integrated.DMoments(logZ, d1, d2, y, mean, variance)
		return
	}
	o.cells.byCuts(logZ, d1, d2, y, o.cells.at(y, mean, variance))
}

// Expected implements LogConcave, by quadrature to about 1e-14 of their size (the fourth: of the
// third over √variance).
func (o ordinal) Expected(y, mean, variance float64) (e float64, d [4]float64) {
	return expected(o, y, mean, variance, cellStep, o.around(y)...)
}

// DExpected implements LogConcave.
func (o ordinal) DExpected(e, d1, d2 []float64, y, mean, variance float64) {
	sum, at := make([]float64, 3*len(e)), make([]float64, 3*len(e))
	split := func(v []float64) (a, b, c []float64) { n := len(e); return v[:n], v[n : 2*n], v[2*n:] }
	byF, byF1, byF2 := split(at)
	gaussianRule(mean, variance, cellStep, o.around(y), func(f, _, w float64) {
		o.cells.ParamDerivs(byF, byF1, byF2, y, f)
		floats.AddScaled(sum, w, at)
	})
	byF, byF1, byF2 = split(sum)
	copy(e, byF)
	copy(d1, byF1)
	copy(d2, byF2)
}

func (o ordinal) around(y float64) []float64 { return o.cells.around(y) }

// cellStep is the step of a gaussianRule. It is smaller than sigmoidStep, because zeros of Φ(b) -
// Φ(a) may be nearer to the real axis than zeros of Φ.
const cellStep = 0.3

// cells are the classes as intervals between cut points.
type cells struct {
	link       Link
	cuts, gaps []float64 // gaps[k] = cuts[k] - cuts[k-1] exactly
}

// cell is log p(y|f) of one class, or log Z, with derivatives by f, and with the derivatives of
// log p, d[0] and d[1] by the upper cut point alone.
type cell struct {
	logp  float64
	d     [4]float64
	upper [3]float64
}

// class returns the number of the class of y: 0 for -1, the first of two classes.
func class(y float64) int { return int(max(y, 0)) }

// between says whether a class has a cut point on either side.
func (c cells) between(k int) bool { return k > 0 && k < len(c.cuts) }

// closed says whether at has averages for the class.
func (c cells) closed(y float64) bool { return c.link == ProbitLink || !c.between(class(y)) }

// around are the class's cut points, where log p varies on the scale of 1.
func (c cells) around(y float64) []float64 {
	k := class(y)
	return c.cuts[max(k-1, 0):min(k+1, len(c.cuts))]
}

// at returns the cell of y averaged over f ~ N(mean, variance). For the first and the last class it
// is the probit or logit likelihood of two classes, with f shifted by the cut point. If its class
// is not closed, variance must be 0.
func (c cells) at(y, mean, variance float64) (of cell) {
	k := class(y)
	if !c.between(k) {
		side, cut := -1.0, c.cuts[0]
		if k > 0 {
			side, cut = 1, c.cuts[k-1]
		}
		var two MomentMatcher = Probit{}
		if c.link == LogitLink {
			two = Logit{}
		}
		of.logp, of.d = two.Moments(side, mean-cut, variance)
		return of
	}
	below, gap := c.cuts[k-1]-mean, c.gaps[k]
	if c.link == LogitLink {
		return logitCell(below, gap)
	}
	s := math.Sqrt(1 + variance)
	i := normalInterval(below/s, gap/s)
	of.logp = floor(i.logMass)
	unit := s
	for j, d := range i.d {
		of.d[j] = d / unit
		unit *= s
	}
	// with e = N(b)/P, e′ = e(b - E[x]) as b falls with f
	of.upper = [3]float64{
		i.upper / s, i.upper * i.below / (s * s), i.upper * (i.below*i.below - 1 - i.d[1]) / (s * s * s),
	}
	return of
}

// difference returns log Z of a class between the cut points a and b of the logistic function, with
// its derivatives. Z is the average of σ(f - a) minus the average of σ(f - b), or the average of
// σ(b - f) minus the average of σ(a - f). It takes the pair with the smaller averages. ok is false
// if the second average is more than half of the first.
func (c cells) difference(y, mean, variance float64) (logZ float64, d [4]float64, ok bool) {
	k, side := class(y), 1.0
	first, second := c.cuts[k-1], c.cuts[k]
	if mean-first > second-mean {
		side, first, second = -1, second, first
	}
	larger, d := Logit{}.Moments(side, mean-first, variance)
	smaller, e := Logit{}.Moments(side, mean-second, variance)
	share := math.Exp(smaller - larger)
	if share > 0.5 {
		return 0, d, false
	}
	z, less := ratios(d), ratios(e)
	for j := range z {
		z[j] = (z[j] - share*less[j]) / (1 - share)
	}
	d = cumulants(z[0], z[1], z[2], z[3])
	d[1] = min(d[1], 0)
	return larger + math.Log1p(-share), d, true
}

// logitCell is σ(b) - σ(a) = σ(b)σ(-a)(1 - e^(a-b)), a and b being the cut points minus f.
func logitCell(a, gap float64) cell {
	logB, b1, b2, b3 := Logit{}.Derivs(1, a+gap)
	logA, a1, a2, a3 := Logit{}.Derivs(-1, a)
	share := math.Log(-math.Expm1(-gap))
	if gap > math.Ln2 {
		share = math.Log1p(-math.Exp(-gap))
	}
	return cell{
		logp:  logB + logA + share,
		d:     [4]float64{-(a1 + b1), a2 + b2, -(a3 + b3)},
		upper: [3]float64{b1 + 1/math.Expm1(gap), -b2, b3},
	}
}

// byCuts sets the derivatives by the parameters, given the derivatives of a cell. A shift of both
// cut points equals a shift of f in the other direction.
func (c cells) byCuts(logp, d1, d2 []float64, y float64, of cell) {
	k := class(y)
	for j := range logp {
		by := [3]float64{-of.d[0], -of.d[1], -of.d[2]}
		switch {
		case j == k && j > 0:
			by = of.upper
		case j > k:
			by = [3]float64{}
		}
		logp[j], d1[j], d2[j] = c.gaps[j]*by[0], c.gaps[j]*by[1], c.gaps[j]*by[2]
	}
}

// Derivs implements Density.
func (c cells) Derivs(y, f float64) (logp, d1, d2, d3 float64) {
	of := c.at(y, f, 0)
	return of.logp, of.d[0], of.d[1], of.d[2]
}

// ParamDerivs implements Density.
func (c cells) ParamDerivs(logp, d1, d2 []float64, y, f float64) {
	c.byCuts(logp, d1, d2, y, c.at(y, f, 0))
}

// Shape implements Density.
func (cells) Shape() Shape { return Shape{LogConcave: true} }
