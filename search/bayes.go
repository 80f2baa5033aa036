package search

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/record"
)

// Bayes is Bayesian optimisation in the unit cube that param.Spec.Place maps to the space. It
// evaluates the initial values and points of a scrambled Sobol sequence. Then it evaluates one
// after the other the point with the largest expected improvement on the best value. The
// expectation is under a Gaussian-process regression of all squashed values so far
// (objective.Surrogate; Jones, Schonlau & Welch 1998). No point is evaluated twice; a search among
// finitely many points ends when all are evaluated. In the regression a choice has a coordinate for
// each of its values: 1 for the chosen value and 0 for the others. The points of a batch are found
// one after another, as if the earlier ones had the value that the regression predicts (the
// "Kriging believer" of Ginsbourger, Le Riche & Carraro 2010). The same holds for trials under way
// in an asynchronous or a parallel search. A failed trial counts as the worst value seen.
type Bayes struct {
	Trials int `yaml:"trials" within:"[1,1000]"` // 0 means 40
	// number of Trials before the first regression; 0 means d + 2, at most 6
	Initial int `yaml:"initial" within:"[1,1000]"`
	Batch   int `yaml:"batch" within:"[1,1000]"` // trials per batch after Initial; 0 means 1
	Overlap `yaml:",inline"`
	Window  `yaml:",inline"`
}

// Check implements Strategy.
func (b Bayes) Check(s Space) error {
	// Every call of Ask makes several hundred regressions of n³ operations.
	err := checkSearch(s, count{"trials", b.Trials, 1, 1000}, count{"initial", b.Initial, 1, 1000},
		count{"batch", b.Batch, 1, 1000}, count{"asynchronous", b.Asynchronous, 2, 1000},
		count{"parallel", b.Parallel, 1, 1000})
	if err = cmp.Or(err, overlaps(b.Overlap, b.Window, b.Batch)); err != nil {
		return err
	}
	if b = b.on(s); b.Initial > b.Trials {
		return fmt.Errorf("initial = %d are more than all of the trials = %d", b.Initial, b.Trials)
	}
	return checkSobol(s)
}

// on returns b with the defaults filled in.
func (b Bayes) on(s Space) Bayes {
	b.Trials, b.Batch = cmp.Or(b.Trials, 40), cmp.Or(b.Batch, 1)
	b.Initial = cmp.Or(b.Initial, min(len(s)+2, mostFirst, b.Trials))
	return b
}

// Optimizer implements Strategy.
func (Bayes) Optimizer() string { return "" }

// Learns implements Learner.
func (Bayes) Learns() {}

// models tells FitsModel that the strategy does.
func (Bayes) models() {}

// Forecasts implements Forecaster.
func (Bayes) Forecasts() {}

func (b Bayes) waits() bool { return b.Batch <= 1 && max(b.Asynchronous, b.Parallel) == 0 }

// Budget implements Strategy.
func (b Bayes) Budget(s Space) Budget {
	b = b.on(s)
	return s.budget(Budget{Trials: b.Trials, AtOnce: max(b.Batch, b.Asynchronous, b.Parallel), AtMost: s.mixed()})
}

// Ask implements Strategy: the initial points, then batches or one point at a time. If no
// regression is possible, for example because every trial has failed, it continues with the Sobol
// sequence.
func (b Bayes) Ask(s Space, done []record.Trial, seed uint64) []Proposal {
	if len(s) == 0 {
		return askOnce(done)
	}
	return b.on(s).propose(s, done, seed, s.starts())
}

// propose is Ask for more than 0 hyperparameters. The first points of the search are this number of
// starts, with the initial values.
func (b Bayes) propose(s Space, done []record.Trial, seed uint64, starts int) []Proposal {
	first, last := len(done)-Enqueued(done), b.Initial
	var model *regression
	met, best := s.met(done)
	if first >= b.Initial {
		last = min(first+b.Batch, b.Trials)
		model = s.everywhere().regress(met, done, seed)
		for i, t := range done {
			if met[i] != nil && t.UnderWay() {
				model = model.believe(met[i])
			}
		}
	} else if max(b.Asynchronous, b.Parallel) > 0 {
		last = first + 1
	}
	var batch []Proposal
	for i := first; i < last; i++ {
		var u []float64
		var gain, short *float64
		switch {
		case i < starts && model == nil:
			u = s.unit(s.startAt(seed, i))
		case model == nil:
			u = s.next(i, met, seed)
		default:
			var reach float64
			u, reach = model.improve(met, met[best], param.Source(seed, uint64(i)).Uint64())
			reach = -model.unit * math.Expm1(-reach)
			short = &reach
		}
		if u == nil {
			break // all points are evaluated
		}
		if model != nil {
			gain = model.gain(u)
		}
		if met = append(met, u); i+1 < last {
			model = model.believe(u)
		}
		theta := s.place(u)
		if i < starts && model == nil {
			theta = s.startAt(seed, i) // not place(u), which may differ in the last bit
		}
		batch = append(batch, Proposal{Points: [][]float64{theta}, Gain: gain, Short: short})
	}
	return batch
}

// starts is the number of points at initial values with which a search begins. Usually this is 1.
// It is one for every choice if the user gives no bounds for a hyperparameter that matters for some
// choices only: within the default bounds the few other first points of a choice may all be poor.
func (s Space) starts() int {
	for _, p := range s {
		if p.When != nil && !p.Given {
			return max(1, param.Turns(s))
		}
	}
	return 1
}

// startAt is param.Start, moved to an allowed point.
func (s Space) startAt(seed uint64, i int) []float64 {
	theta := param.Start(s, seed, i)
	if !s.Allows(theta) {
		return s.NearestAllowed(theta)
	}
	return theta
}

// Enqueued is the number of trials of enqueued points, at the beginning of a history.
func Enqueued(done []record.Trial) int {
	if n := slices.IndexFunc(done, func(t record.Trial) bool { return t.Enqueued == 0 }); n >= 0 {
		return n
	}
	return len(done)
}

// met returns the points of the trials in the unit cube, nil where theta is unknown, and which of
// them has the best value, or -1.
func (s Space) met(done []record.Trial) (met [][]float64, best int) {
	best = -1
	for i, t := range done {
		met = append(met, s.unit(t.Theta()))
		if met[i] != nil && !math.IsInf(t.Value(), -1) && (best < 0 || t.Value() > done[best].Value()) {
			best = i
		}
	}
	return met, best
}

// next is the i-th point of the Sobol sequence. In a mixed or constrained space it is the first
// from there on that is allowed and not met. If none of the next 1024 is allowed, it is the first
// that is not met after it was moved; nil if there is none.
func (s Space) next(i int, met [][]float64, seed uint64) (moved []float64) {
	most := 1
	if s.mixed() || s.constrained() {
		most = 1024
	}
	sequence := mat.NewDense(i+most, len(s), nil)
	sobol(sequence, seed)
	for j := range most {
		row := sequence.RawRowView(i + j)
		_, forbidden := s.placed(row)
		switch u := s.settled(row); {
		case most > 1 && !isNew(u, met, leastDistance):
		case !forbidden:
			return u
		case moved == nil:
			moved = u
		}
	}
	return moved
}

// regression is a Gaussian-process regression of the values of trials, squashed, that proposes
// points in a region.
type regression struct {
	region
	*objective.Surrogate
	unit float64 // unit of the squashed values
	best float64 // best squashed value: 0, or the largest assumed one
}

// region is a part of the unit cube, with coordinates of its own from 0 to 1.
type region struct {
	dim           int
	point         func(c []float64) []float64 // the point of the unit cube with these coordinates
	features      func(u []float64) []float64 // the regression's inputs for a point
	finite        bool                        // it has finitely many points
	leastDistance float64                     // least distance along some axis of two evaluated points
}

// everywhere is the region of all points.
func (s Space) everywhere() region {
	return region{len(s), s.settled, s.features, s.mixed(), leastDistance}
}

// regress fits the values of the trials that have ended at the points met; nil if there are none or
// if it fails.
func (in region) regress(met [][]float64, done []record.Trial, seed uint64) *regression {
	var rows, values []float64
	for i, t := range done {
		if met[i] != nil && !t.UnderWay() {
			rows, values = append(rows, in.features(met[i])...), append(values, t.Value())
		}
	}
	below := belowBest(values)
	if below == nil {
		return nil
	}
	squashed, unit := squashed(below, 0)
	return in.fit(rows, squashed, unit, seed)
}

// fit is the regression of these squashed values; nil if it fails.
func (in region) fit(rows, values []float64, unit float64, seed uint64) *regression {
	model, err := objective.NewSurrogate(mat.NewDense(len(values), len(rows)/len(values), rows), values, seed)
	if err != nil {
		return nil
	}
	return &regression{in, model, unit, 0}
}

// belowBest are the distances of values below the best of them. A failure, -Inf, counts as the
// worst value; nil if all have failed.
func belowBest(values []float64) []float64 {
	best, worst := math.Inf(-1), math.Inf(1)
	for _, v := range values {
		if best = max(best, v); !math.IsInf(v, -1) {
			worst = min(worst, v)
		}
	}
	if math.IsInf(best, -1) {
		return nil
	}
	below := make([]float64, len(values))
	for i, v := range values {
		below[i] = best - max(v, worst)
	}
	return below
}

// at predicts the squashed value at a point of the unit cube.
func (r *regression) at(u []float64) (mean, sd float64) {
	x := r.features(u)
	var m, s [1]float64
	r.Predict(m[:], s[:], mat.NewDense(1, len(x), x))
	return m[0], s[0]
}

// believe is the regression with its own prediction at u as another value; nil if that fails.
func (r *regression) believe(u []float64) *regression {
	if r == nil {
		return nil
	}
	mean, _ := r.at(u)
	model, err := r.With(r.features(u), mean)
	if err != nil {
		return nil
	}
	return &regression{r.region, model, r.unit, max(r.best, mean)}
}

// gain is the expected improvement at a point of the unit cube, in units of the objective.
func (r *regression) gain(u []float64) *float64 {
	mean, sd := r.at(u)
	expected := expectedGain(mean, sd, r.unit)
	return &expected
}

// squashed is -log(1 + d/s) of every distance d below the best: differences between values far
// below the best become small, so that they do not dominate the regression. The unit s, unless it
// is given, is the median of the distances above 0.
func squashed(below []float64, given float64) (values []float64, unit float64) {
	positive := slices.DeleteFunc(slices.Clone(below), func(d float64) bool { return d == 0 })
	slices.Sort(positive)
	if values, unit = make([]float64, len(below)), given; unit == 0 {
		if unit = 1; len(positive) > 0 {
			unit = positive[(len(positive)-1)/2]
		}
	}
	for i, d := range below {
		values[i] = -math.Log1p(d / unit)
	}
	return values, unit
}

// expectedGain is the expected improvement on the best value, in units of the objective, of a point
// whose squashed value f is normal with this mean m and standard deviation s. An f above 0 is an
// improvement of unit (1 - e^-f), so with the normal distribution function Φ it is
//
//	unit (Φ(m/s) - exp(s²/2 - m) Φ(m/s - s))
func expectedGain(mean, sd, unit float64) float64 {
	if sd == 0 {
		return -unit * math.Expm1(-max(mean, 0))
	}
	z := mean / sd
	below := func(z float64) float64 { return math.Erfc(-z/math.Sqrt2) / 2 }
	rest := math.Exp(sd*sd/2-mean) * below(z-sd)
	if x := sd - z; x > 30 { // φ(z) Φ(-x)/φ(x): the factors would overflow and underflow
		rest = math.Exp(-z*z/2) / math.Sqrt(2*math.Pi) / x * (1 - (1-3/(x*x))/(x*x))
	}
	return unit * max(0, below(z)-rest)
}

// leastDistance is the least distance of two evaluated points, along some axis of the unit cube.
const leastDistance = 1e-5

// mostFirst is the largest default of Initial. In many dimensions a regression learns more from its
// own proposals than from more first points.
const mostFirst = 6

// isNew reports whether u differs from every point of met by at least leastDistance along some
// axis.
func isNew(u []float64, met [][]float64, leastDistance float64) bool {
	return !slices.ContainsFunc(met, func(m []float64) bool {
		return m != nil && floats.Distance(u, m, math.Inf(1)) < leastDistance
	})
}

// improve finds the point of the region with the largest expected improvement, excluding the points
// met: Nelder-Mead searches start from the best of many points of a Sobol sequence, and from the
// coordinates of the best point evaluated so far. It is nil if all points are met. reach is the
// largest mean plus reachSDs standard deviations of all points that were looked at.
func (r *regression) improve(met [][]float64, best []float64, seed uint64) (at []float64, reach float64) {
	const draws, climbs = 1024, 5
	candidates := mat.NewDense(draws, r.dim, nil)
	sobol(candidates, seed)
	points := make([][]float64, draws)
	var features []float64
	for i := range draws {
		points[i] = r.point(candidates.RawRowView(i))
		features = append(features, r.features(points[i])...)
	}
	mean, sd := make([]float64, draws), make([]float64, draws)
	r.Predict(mean, sd, mat.NewDense(draws, len(features)/draws, features))
	promise := make([]float64, draws) // minus the acquisition
	for i := range promise {
		promise[i] = -logExpectedImprovement(mean[i]-r.best, sd[i])
		reach = max(reach, mean[i]+reachSDs*sd[i])
	}
	order := make([]int, draws)
	floats.ArgsortStable(slices.Clone(promise), order)

	cube := frame{lo: make([]float64, r.dim), hi: slices.Repeat([]float64{1}, r.dim)}
	inside := func(c []float64) []float64 { return r.point(cube.clip(slices.Clone(c))) }
	least := math.Inf(1)
	first := slices.IndexFunc(order, func(i int) bool { return isNew(points[i], met, r.leastDistance) })
	if first >= 0 || !r.finite {
		first = order[max(first, 0)]
		least, at = promise[first], points[first]
	}
	starts := [][]float64{best}
	for _, i := range order[:climbs] {
		starts = append(starts, candidates.RawRowView(i))
	}
	loss := func(c []float64) float64 {
		mean, sd := r.at(inside(c))
		reach = max(reach, mean+reachSDs*sd)
		return cube.outside(c) - logExpectedImprovement(mean-r.best, sd)
	}
	for _, start := range starts {
		if top, err := descend(loss, start); err == nil && top.F < least && isNew(inside(top.X), met, r.leastDistance) {
			least, at = top.F, inside(top.X)
		}
	}
	return at, reach
}

// reachSDs is the number of predictive standard deviations above the prediction that the maximum is
// assumed not to exceed.
const reachSDs = 4

// descend minimises f from start with a simplex (Nelder & Mead 1965), until 4 (d + 1) iterations
// have improved f by no more than 0.01, or for 50 (d + 1) evaluations.
func descend(f func(u []float64) float64, start []float64) (*optimize.Result, error) {
	corners := len(start) + 1
	return optimize.Minimize(optimize.Problem{Func: f}, start, &optimize.Settings{
		FuncEvaluations: 50 * corners,
		Converger:       &optimize.FunctionConverge{Absolute: 1e-2, Iterations: 4 * corners},
	}, &optimize.NelderMead{SimplexSize: 0.05})
}

// logExpectedImprovement is log E[max(0, f)] for f normal with this mean and standard deviation,
// with z = mean/sd
//
//	log sd + log(φ(z) + zΦ(z))
//
// also where both terms underflow or cancel (Ament et al. 2023).
func logExpectedImprovement(mean, sd float64) float64 {
	z := mean / sd
	logDensity := -z*z/2 - math.Log(2*math.Pi)/2
	switch {
	case sd == 0:
		return math.Log(max(mean, 0))
	case z > -1:
		return math.Log(sd) + math.Log(math.Exp(logDensity)+z*math.Erfc(-z/math.Sqrt2)/2)
	case z > -30:
		mills := math.Erfc(-z/math.Sqrt2) / 2 / math.Exp(logDensity) // Φ/φ
		return math.Log(sd) + logDensity + math.Log1p(z*mills)
	}
	r := 1 / (z * z) // 1 + zΦ(z)/φ(z) = z⁻² - 3z⁻⁴ + 15z⁻⁶ - …
	return math.Log(sd) + logDensity + math.Log(r*(1-r*(3-r*(15-105*r))))
}
