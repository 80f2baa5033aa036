package cv

import (
	"math"
	"slices"
)

// Link is a distribution function F, symmetric about 0, by which a number z becomes the probability
// F(z): it returns ln F(z) and its slope.
type Link func(z float64) (logF, slope float64)

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// counted is the weights of n cases (nil: 1 each).
func counted(weight []float64, n int) []float64 {
	if weight == nil {
		return slices.Repeat([]float64{1}, n)
	}
	return weight
}

// logistic is F(z) = 1/(1 + exp(-z)).
func logistic(z float64) (logF, slope float64) {
	return -math.Log1p(math.Exp(-math.Abs(z))) + min(z, 0), sigmoid(-z)
}

// FitSigmoid fits q_i = F((a x_i + b)/√(1 + a² v_i)), the probability that case i belongs to a
// class, to the outputs N(x_i, v_i) of cases that were held out: Platt's method (1999), for
// variances as in GPML 6.5.1. It maximises
//
//	Σ_i w_i (t_i ln q_i + (1-t_i) ln(1-q_i))   over a ≥ 0 and b
//
// with Platt's targets t, (N₊+1)/(N₊+2) for the weight N₊ of the class and 1/(N₋+2) for the others,
// so that a maximum exists. A larger output never makes the class less probable. If the best slope
// would be negative, a is 0: the outputs then have no information on the class. A nil v is 0 and a
// nil weight is 1 for each case. The scale of x does not matter.
func FitSigmoid(f Link, x, v []float64, is []bool, weight []float64) (a, b float64) {
	p := newSigmoidFit(f, x, v, is, counted(weight, len(x)))
	at := p.ascend(p.at(1, 0), false)
	if at.a < 0 {
		at = p.ascend(p.at(0, 0), true)
	}
	return at.a / p.unit, at.b
}

// slopeDeviation is the prior standard deviation of ln a in fitSlope. With 0.2 a temperature that
// is learnt from some hundred cases costs at most 0.002 nats per case where none is needed.
const slopeDeviation = 0.2

// fitSlope returns the a > 0 that maximises Σ_i w_i ln F(±a x_i) - (ln a)²/(2 s²), with + for
// cases that belong to the class and s = slopeDeviation: the mode under a log-normal prior around
// 1. It takes Newton steps in ln a.
func fitSlope(f Link, x []float64, is []bool, weight []float64) (a float64) {
	p := newSigmoidFit(f, x, nil, is, counted(weight, len(x)))
	for i, yes := range is {
		if p.t[i] = 0; yes {
			p.t[i] = 1
		}
	}
	const precision = 1 / (slopeDeviation * slopeDeviation)
	objective := func(u float64) (l, gradient, curvature float64) {
		at := p.at(math.Exp(u)*p.unit, 0)
		l = at.l - u*u*precision/2
		gradient = at.a*at.ga - u*precision
		return l, gradient, at.a*at.a*at.haa + max(1-u, 0.1)*precision // a ga = u/s² at the mode
	}
	u := 0.0
	l, gradient, curvature := objective(u)
	for range 500 {
		step := gradient / curvature
		if !(math.Abs(step*gradient) > 1e-20*(1+math.Abs(l))) {
			break
		}
		next, g, c := objective(u + step)
		for range 60 {
			if next >= l || step*gradient < 1e-9*(1+math.Abs(l)) { // the change of l is below rounding
				break
			}
			step /= 2
			next, g, c = objective(u + step)
		}
		u, l, gradient, curvature = u+step, next, g, c
	}
	return math.Exp(u)
}

// sigmoidFit is one FitSigmoid, with x in units of its root mean square.
type sigmoidFit struct {
	link            Link
	unit            float64
	x, v, t, weight []float64
}

func newSigmoidFit(f Link, x, v []float64, is []bool, weight []float64) *sigmoidFit {
	n := len(x)
	p := &sigmoidFit{link: f, x: make([]float64, n), v: make([]float64, n), t: make([]float64, n), weight: weight}
	positive, negative, squares := 0.0, 0.0, 0.0
	for i, yes := range is {
		if yes {
			positive += weight[i]
		} else {
			negative += weight[i]
		}
		squares += x[i] * x[i]
	}
	if p.unit = math.Sqrt(squares / float64(n)); !(p.unit > 0) {
		p.unit = 1
	}
	for i, yes := range is {
		p.x[i], p.t[i] = x[i]/p.unit, 1/(negative+2)
		if v != nil {
			p.v[i] = v[i] / (p.unit * p.unit)
		}
		if yes {
			p.t[i] = (positive + 1) / (positive + 2)
		}
	}
	return p
}

// sigmoidPoint is the log likelihood l at a and b, with its gradient and the Fisher information.
type sigmoidPoint struct {
	a, b                     float64
	l, ga, gb, haa, hab, hbb float64
}

func (p *sigmoidFit) at(a, b float64) sigmoidPoint {
	c := sigmoidPoint{a: a, b: b}
	for i, t := range p.t {
		root := math.Sqrt(1 + a*a*p.v[i])
		z := (a*p.x[i] + b) / root
		yes, up := p.link(z)
		no, down := p.link(-z)
		c.l += p.weight[i] * (t*yes + (1-t)*no)
		slope, h := p.weight[i]*(t*up-(1-t)*down), p.weight[i]*up*down
		da, db := (p.x[i]-z*a*p.v[i]/root)/root, 1/root
		c.ga, c.gb = c.ga+slope*da, c.gb+slope*db
		c.haa, c.hab, c.hbb = c.haa+h*da*da, c.hab+h*da*db, c.hbb+h*db*db
	}
	return c
}

// step is a step of Fisher scoring, over b alone if a is held, with its gain to first order. A
// ridge keeps it finite where constant outputs tell nothing of a.
func (c sigmoidPoint) step(hold bool) (da, db, gain float64) {
	if hold {
		db = c.gb / c.hbb
		return 0, db, db * c.gb
	}
	ridge := 1e-12 * (c.haa + c.hbb)
	haa, hbb := c.haa+ridge, c.hbb+ridge
	det := haa*hbb - c.hab*c.hab
	da, db = (hbb*c.ga-c.hab*c.gb)/det, (haa*c.gb-c.hab*c.ga)/det
	return da, db, da*c.ga + db*c.gb
}

// ascend is Fisher scoring with step halving.
func (p *sigmoidFit) ascend(s sigmoidPoint, hold bool) sigmoidPoint {
	n := float64(len(p.x))
	for range 500 {
		da, db, gain := s.step(hold)
		if !(gain > 1e-20*n) {
			break
		}
		better := false
		for range 60 {
			next := p.at(s.a+da, s.b+db)
			if better = next.l > s.l || gain < 1e-9*n; better { // the change of l is below rounding
				s = next
				break
			}
			da, db = da/2, db/2
		}
		if !better {
			break
		}
	}
	return s
}
