package objective

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/internal/cause"
)

// Settings of a local optimisation; the zero value is useful.
type Settings struct {
	// Method names the local optimiser in Optimizers; "" is "bfgs".
	Method string
	// GradientThreshold is the size of the gradient at which a point is stationary, relative to
	// max(1, |value|); 0 is 1e-6, and 1e-5 with Differences. BFGS also ends where the gradient is
	// at most 3 times as large, if its quadratic model of the criterion predicts a gain of at most
	// a thousandth of the threshold. Both are relative to max(1, |value|).
	GradientThreshold float64
	// Evaluations is the number of fits after which the optimisation stops; 0 is 500, and with
	// Differences 500 times the number of fits that a gradient takes.
	Evaluations int
	// Gradients is the source of the gradients.
	Gradients Gradients
}

// Status is the reason why a local optimisation ended.
type Status string

const (
	Converged       Status = "converged"        // no free hyperparameter can be moved uphill within its bounds
	Evaluated       Status = "evaluated"        // there was nothing to optimise
	EvaluationLimit Status = "evaluation_limit" // Settings.Evaluations was reached
	Stalled         Status = "stalled"          // no better point was found, although the gradient is not small
	Interrupted     Status = "interrupted"      // the context ended
	Failed          Status = "failed"           // the start could not be evaluated
)

// AtBound is a hyperparameter that ended at one of its bounds.
type AtBound struct {
	Name  string
	Side  string  // lower | upper
	Value float64 // the bound, in natural units
}

// Optimum is the best point that a local optimisation evaluated.
type Optimum struct {
	Theta []float64 // the free hyperparameters
	// Inputs are the inducing inputs, row by row, if they were moved too; else nil.
	Inputs      []float64
	Value       float64   // the criterion, in nats; NaN where nothing could be evaluated
	Gradient    []float64 // its gradient over Theta and Inputs; nil if there is none
	Status      Status
	Evaluations int
	AtBound     []AtBound
	// Path has the start, the end of each iteration, and last Theta; nil if there was nothing to
	// optimise.
	Path     []Step
	Fails    []error          // errors of failed evaluations, from which it stepped back
	Warnings []approx.Warning // what a user should know, the fit's own warnings included
}

// Step is a point on the way of a local optimisation.
type Step struct {
	Theta []float64 // the free hyperparameters
	Value float64   // the criterion there, in nats
}

// reach bounds the distance that one round of a local optimisation moves from its start in any
// coordinate of theta: a factor e^10. A quasi-Newton step along a flattening slope can have any
// length, and a line search would end on one of the distant plateaus (constant or diagonal
// covariances). With a shorter reach climbs took more evaluations and did not end higher. Without a
// reach a climb on the crabs data ended 12 nats lower.
const reach = 10

// mostMoved is the largest number of coordinates for the matrices of bfgs.
const mostMoved = 3000

// Optimize climbs from start, the free hyperparameters, to a local maximum of o within the bounds,
// and returns the best point that it evaluated. A start outside the bounds is moved to the nearest
// bound.
//
// gonum's methods know no bounds. Each round minimises -f(clip(u)), with the gradient zeroed where
// f rises out of the box. The next round starts at the best point, so that a coordinate that was
// clipped without need can leave the edge. The box of a round is the bounds, but at most 10 to
// either side of its start. Rounds end when the point is stationary or at its bounds, when a whole
// round finds nothing better, or at the limit. With no free hyperparameter there is one evaluation.
// Discrete hyperparameters, such as the chosen kernel of a Choice, are not moved.
//
// It is an error if the method is unknown or needs a gradient that o does not have, if the start
// cannot be evaluated, or if ctx ends. The Optimum then has the best point so far, if there is one.
func Optimize(ctx context.Context, o *Objective, start []float64, s Settings) (Optimum, error) {
	s.Method = cmp.Or(s.Method, "bfgs")
	s.GradientThreshold = cmp.Or(s.GradientThreshold, s.Gradients.threshold())
	none := Optimum{Value: math.NaN(), Status: Failed}
	entry, err := Optimizers.Lookup("local optimiser", s.Method)
	if err != nil {
		return none, err
	}
	optimizer, err := entry.New(nil)
	if err != nil {
		return none, err
	}
	c := climb{Run: NewRun(ctx, o), threshold: s.GradientThreshold}
	c.gradients = s.Gradients
	c.Limit = cmp.Or(s.Evaluations, 500*s.Gradients.Evaluations(len(start)))
	if len(start) > 0 && !c.HasGradient() {
		return none, fmt.Errorf("%s needs a gradient, which %T with %T does not have; use differences of values, "+
			"or a method without gradients, such as nelder_mead",
			s.Method, o.model.Inference, o.model.Likelihood)
	}
	for _, p := range o.Layout.FreeSpecs() {
		lo, hi := p.ThetaBounds()
		c.lo, c.hi = append(c.lo, lo), append(c.hi, hi)
	}
	if start, err = o.tuned(ctx, start); err != nil {
		return none, err
	}
	if len(start) > mostMoved && s.Method == "bfgs" {
		return none, fmt.Errorf("bfgs keeps matrices of %d rows, the hyperparameters and all numbers of the "+
			"inducing inputs; use method: lbfgs, or fewer points", len(start))
	}
	for len(c.lo) < len(start) {
		c.lo, c.hi = append(c.lo, math.Inf(-1)), append(c.hi, math.Inf(1))
	}
	if _, err := c.try(clip(start, c.lo, c.hi)); err != nil {
		return c.optimum(Failed), fmt.Errorf("start point: %w", err)
	}
	if len(start) == 0 {
		return c.optimum(Evaluated), nil
	}
	status, err := c.up(optimizer)
	if err == nil && status != EvaluationLimit {
		if err = c.findFlat(); err == nil && c.flat != nil {
			status, err = c.settle(optimizer)
		}
	}
	if err != nil {
		return c.optimum(Interrupted), err
	}
	return c.optimum(status), nil
}

// up climbs to a local maximum of the criterion less the tilt. The error is the end of the context.
func (c *climb) up(optimizer Optimizer) (Status, error) {
	for {
		before := c.best.worth
		lo, hi := c.box()
		method := optimizer.Method(c.threshold)
		q, newton := method.(*quasiNewton)
		switch {
		case newton && c.tilt != nil:
			q.inverse = c.inverse
		case newton && !c.looked:
			q.amplitudes = c.amplitudes()
		}
		// The run has more than gonum's result: the best point in place of the last, and the
		// failures.
		_, err := optimize.Minimize(c.problem(lo, hi), c.best.free, &optimize.Settings{
			Converger: small(c.threshold), Recorder: round{c, lo, hi},
		}, method)
		if c.ctx.Err() != nil {
			return Interrupted, c.ctx.Err()
		}
		if newton {
			c.inverse = q.inverse
		}
		steep := c.steepness()
		switch {
		case steep <= c.threshold, err != nil && steep <= 100*c.threshold:
			// In the second case the remaining gain is below the resolution, or at most a
			// thousandth of the threshold by the method's model of f.
			return Converged, nil
		case c.Evaluations >= c.Limit:
			return EvaluationLimit, nil
		case newton && q.flat:
			if err := c.findFlat(); err != nil || c.flat != nil {
				return Converged, err
			}
			c.looked = true
		case !(c.best.worth-before > resolution*max(1, math.Abs(before))):
			return Stalled, nil
		}
	}
}

// climb is the run of one local optimisation, with the bounds of the free hyperparameters.
type climb struct {
	*Run
	lo, hi    []float64
	threshold float64
	path      []Step
	inverse   *mat.SymDense // -H⁻¹ of the criterion, where the method has an estimate
	flat      []int         // amplitudes not determined by the criterion
	looked    bool          // amplitudes that had seemed flat were not
}

// step adds a point to the path, unless it is the last one.
func (c *climb) step(u []float64, value float64) {
	theta := u[:len(c.objective.Layout.Free):len(c.objective.Layout.Free)]
	if n := len(c.path); n == 0 || !slices.Equal(c.path[n-1].Theta, theta) {
		c.path = append(c.path, Step{theta, value})
	}
}

// round records the end points of the iterations of a round.
type round struct {
	*climb
	lo, hi []float64
}

// Init implements optimize.Recorder.
func (round) Init() error { return nil }

// Record implements optimize.Recorder.
func (r round) Record(at *optimize.Location, op optimize.Operation, _ *optimize.Stats) error {
	if op == optimize.MajorIteration {
		u, value := clip(at.X, r.lo, r.hi), -at.F
		for i, t := range r.tilt {
			value += t * u[i]
		}
		r.step(u, value)
	}
	return nil
}

// box returns the bounds of the next round.
func (c climb) box() (lo, hi []float64) {
	for i, v := range c.best.free {
		lo, hi = append(lo, max(c.lo[i], v-reach)), append(hi, min(c.hi[i], v+reach))
	}
	return lo, hi
}

// steepness is the largest entry, relative to max(1, |value|), of the gradient at the best point,
// without entries that point out of the bounds.
func (c climb) steepness() float64 {
	largest := 0.0
	for i, g := range c.best.gradient {
		if c.tilt != nil {
			g -= c.tilt[i]
		}
		largest = max(largest, math.Abs(inward(g, c.best.free[i], c.lo[i], c.hi[i])))
	}
	return largest / max(1, math.Abs(c.best.value))
}

// faint is the amplitude of a part of the kernel that adds nothing, relative to the largest
// amplitude: it adds a millionth of the variance.
const faint = 1e-3

// optimum reports the best point.
func (c climb) optimum(status Status) Optimum {
	m := Optimum{
		Theta: c.best.free, Value: c.best.value, Gradient: c.best.gradient, Status: status,
		Evaluations: c.Evaluations, Fails: c.Fails,
	}
	if m.Theta == nil {
		m.Value = math.NaN()
		return m
	}
	if n := len(c.objective.Layout.Free); len(m.Theta) > n {
		m.Theta, m.Inputs = m.Theta[:n:n], m.Theta[n:]
	}
	if len(m.Theta) > 0 {
		c.step(m.Theta, m.Value)
		m.Path = c.path
	}
	warn := func(w approx.Warning) { m.Warnings = append(m.Warnings, w) }
	largest := 0.0 // amplitude of a part of the kernel
	for i, p := range c.objective.Layout.FreeSpecs() {
		if p.Term {
			largest = max(largest, p.Map.Natural(m.Theta[i]))
		}
	}
	for i, p := range c.objective.Layout.FreeSpecs() {
		if p.Map.Discrete() {
			continue
		}
		b := AtBound{Name: p.Name, Side: "lower", Value: p.Lo}
		switch m.Theta[i] {
		case c.lo[i]:
		case c.hi[i]:
			b.Side, b.Value = "upper", p.Hi
		default:
			if v := p.Map.Natural(m.Theta[i]); p.Term && v < faint*largest {
				warn(cause.SwitchedOff.New("%s = %.2g, where its part of the kernel adds nothing", p.Name, v))
			}
			continue
		}
		m.AtBound = append(m.AtBound, b)
		warn(p.Ended(b.Side == "upper"))
	}
	if len(m.Theta) > 0 && len(m.AtBound) == 0 && c.objective.guesses(m.Value) {
		warn(cause.Plateau.New("ended on a plateau, where the model is no better than a constant classifier: its log "+
			"evidence, %.6g, is that of probabilities that do not depend on the inputs", m.Value))
	}
	for _, i := range c.flat {
		p := c.objective.Layout.FreeSpecs()[i]
		warn(cause.Undetermined.New("%s is not determined: above %.4g the objective gains less than %v nats for a "+
			"factor of e", p.Name, p.Map.Natural(m.Theta[i]), plateau))
	}
	switch status {
	case EvaluationLimit:
		warn(cause.EvaluationLimit.New("stopped at evaluation %d",
			m.Evaluations))
	case Stalled:
		warn(cause.Stalled.New("stopped without a better point at a gradient of %.3g nats per unit of theta",
			c.steepness()*max(1, math.Abs(m.Value))))
	}
	m.Warnings = append(m.Warnings, c.failed("failed")...)
	m.Warnings = append(m.Warnings, c.best.diagnostics.Warnings...)
	return m
}

// guesses reports whether a log evidence equals the log likelihood of a constant classifier. Its
// probabilities are equal, as where all latent values are independent or 0, or are the relative
// frequencies of the classes.
func (o *Objective) guesses(value float64) bool {
	_, evidence := o.criterion.(LogEvidence)
	_, apart := o.model.Inference.(approx.OneVsRest)
	y := o.data.Y
	if !evidence || apart || y.Classes < 2 {
		return false
	}
	counts := make([]float64, y.Classes)
	for i := range y.Len() {
		w := 1.0
		if y.Weight != nil {
			w = y.Weight[i]
		}
		if y.Classes > 2 {
			counts[y.Index[i]] += w
		} else {
			counts[int(y.Value[i]+1)/2] += w
		}
	}
	n, shares := floats.Sum(counts), 0.0
	for _, k := range counts {
		if k > 0 {
			shares += k * math.Log(k/n)
		}
	}
	near := func(guess float64) bool { return math.Abs(value-guess) <= 1e-6*max(1, math.Abs(guess)) }
	return near(-n*math.Log(float64(y.Classes))) || near(shares)
}

// amplitudes are the indices of the free amplitudes.
func (c *climb) amplitudes() (amplitudes []int) {
	for i, p := range c.objective.Layout.FreeSpecs() {
		if p.Component() == "amplitude" && !p.Map.Discrete() {
			amplitudes = append(amplitudes, i)
		}
	}
	return amplitudes
}

// findFlat finds the amplitudes that the criterion does not determine at the best point: single
// ones or, if there are none, all amplitudes together. It takes one evaluation for each amplitude
// for which the estimated curvature does not decide. The error is the end of the context.
func (c *climb) findFlat() error {
	if c.flat != nil || c.best.gradient == nil || c.objective.guesses(c.best.value) {
		return nil
	}
	var tried []int
	for _, i := range c.amplitudes() {
		if c.inverse == nil || c.inverse.At(i, i) > doubtful || c.hardlyMoved(i) {
			tried = append(tried, i)
		}
	}
	for _, i := range tried {
		if flat, err := c.isFlat([]int{i}); err != nil {
			return err
		} else if flat {
			c.flat = append(c.flat, i)
		}
	}
	if c.flat == nil && len(tried) > 1 {
		if flat, err := c.isFlat(tried); err != nil {
			return err
		} else if flat {
			c.flat = tried
		}
	}
	return nil
}

// hardlyMoved reports whether the path has too little movement along a hyperparameter to estimate
// its curvature.
func (c *climb) hardlyMoved(i int) bool {
	lo, hi := c.best.free[i], c.best.free[i]
	for _, s := range c.path {
		lo, hi = min(lo, s.Theta[i]), max(hi, s.Theta[i])
	}
	return hi-lo < 0.5
}

// isFlat reports whether the criterion does not determine some amplitudes together. Along them it
// has a slope below plateau, and it is hardly lower a factor of e further up (further down near an
// upper bound). At the lower bounds of the amplitudes it has to be lower: otherwise they would not
// matter at all.
func (c *climb) isFlat(amplitudes []int) (bool, error) {
	slope, step := 0.0, 1.0
	for _, i := range amplitudes {
		slope += c.best.gradient[i]
		if c.best.free[i]+1 > c.hi[i] {
			step = -1
		}
	}
	if math.Abs(slope) > plateau || c.Evaluations+2 > c.Limit {
		return false, nil
	}
	beside, off := slices.Clone(c.best.free), slices.Clone(c.best.free)
	for _, i := range amplitudes {
		beside[i], off[i] = beside[i]+step, c.lo[i]
	}
	p, err := c.Converged(clip(beside, c.lo, c.hi))
	if err != nil || !(p.value >= c.best.value-0.5/(undetermined*undetermined)) {
		return false, c.ctx.Err()
	}
	p, err = c.Converged(off)
	return !(err == nil && p.value >= c.best.value-plateau), c.ctx.Err()
}

// settle climbs to the smallest values of the amplitudes that are not determined, and optimises the
// other hyperparameters with them.
func (c *climb) settle(optimizer Optimizer) (Status, error) {
	c.tilt = make([]float64, len(c.best.free))
	for _, i := range c.flat {
		c.tilt[i] = plateau / float64(len(c.flat))
	}
	c.best.worth = c.best.value
	for i, t := range c.tilt {
		c.best.worth -= t * c.best.free[i]
	}
	c.threshold = min(c.threshold, plateau/1000/max(1, math.Abs(c.best.value)))
	status, err := c.up(optimizer)
	if status == Stalled && c.steepness()*max(1, math.Abs(c.best.value)) <= plateau/10 {
		status = Converged // the rounding of the fits allows no smaller slope
	}
	return status, err
}
