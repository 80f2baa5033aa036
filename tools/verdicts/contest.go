package main

import (
	"bytes"
	"flag"
	"fmt"
	"log"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"

	"github.com/sourcegraph/conc/pool"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/experiments/data"
)

// contest is a population of data sets and the models that compete on each of them. The true score
// of a model is its mean, over the data sets, on other cases after a fit to all cases of the set.
type contest struct {
	name     string
	n, folds int
	models   string  // tuned, alike, nested, or empty: random
	count    int     // number of models; 0: 20
	repeats  int     // number of repeats of the folds; 0: one
	test     int     // number of cases of a test set in place of folds
	share    float64 // fraction of the second class at inputs 0; 0: half
	group    int     // number of cases of a group, with similar inputs and targets; 0: no groups
	score    string  // empty: information_bits, or standardized_log_loss of numeric targets
	numeric  bool    // targets are numbers
	weighted bool    // cases have weights of 1 to 3
	digits   bool    // cases are handwritten digits, odd or even
	race     bool    // after half of the folds the better half of the models goes on
	noise    bool    // the labels are independent of the inputs
}

var contests = []contest{
	{name: "40 cases, 10 folds", n: 40, folds: 10},
	{name: "80 cases, 5 folds", n: 80, folds: 5},
	{name: "80 cases, 10 folds, 1:9", n: 80, folds: 10, share: 0.1},
	{name: "200 cases, 10 folds", n: 200, folds: 10},
	{name: "80 cases, 10 folds, tuned", n: 80, folds: 10, models: "tuned"},
	{name: "200 cases, 5 folds, tuned", n: 200, folds: 5, models: "tuned"},
	{name: "digits, 80 cases, 10 folds", n: 80, folds: 10, digits: true},
	{name: "digits, 200 cases, 5 folds, tuned", n: 200, folds: 5, digits: true, models: "tuned"},
	{name: "10 equal models, 40 cases, 10 folds", n: 40, folds: 10, models: "alike", count: 10},
	{name: "10 equal models, 80 cases, 5 folds", n: 80, folds: 5, models: "alike", count: 10},
	{name: "8 nearly equal kernels, 100 cases, 10 folds, tuned", n: 100, folds: 10, models: "nested", count: 8},
	{name: "groups of 4, 160 cases, 5 folds", n: 160, folds: 5, group: 4},
	{name: "80 cases, 5 folds, 3 repeats", n: 80, folds: 5, repeats: 3},
	{name: "test set, 100 and 200 cases", n: 100, test: 200},
	{name: "auc, 100 cases, 5 folds", n: 100, folds: 5, score: "auc"},
	{name: "error rate, 100 cases, 5 folds", n: 100, folds: 5, score: "error_rate"},
	{name: "regression, 80 cases, 10 folds", n: 80, folds: 10, numeric: true},
	{name: "regression, rmse, 80 cases, 10 folds, tuned", n: 80, folds: 10, numeric: true, models: "tuned",
		score: "rmse"},
	{name: "weights of 1 to 3, 80 cases, 5 folds", n: 80, folds: 5, weighted: true},
	{name: "race, 80 cases, 10 folds", n: 80, folds: 10, race: true},
	{name: "noise, 80 cases, 10 folds, tuned", n: 80, folds: 10, models: "tuned", noise: true},
	{name: "500 cases, 5 folds", n: 500, folds: 5},
	{name: "digits, 500 cases, 5 folds, tuned", n: 500, folds: 5, digits: true, models: "tuned"},
}

func (d contest) by() cv.Score {
	switch {
	case d.score != "":
		return score(d.score)
	case d.numeric:
		return score("standardized_log_loss")
	}
	return score("information_bits")
}

func (d contest) size() int {
	if d.count == 0 {
		return 20
	}
	return d.count
}

// sample is a data set.
type sample struct {
	x      [][]float64
	target []float64 // 0 or 1, or a number
	weight []float64 // nil: 1 each
	group  []int     // nil: none
}

// draw draws n cases, or returns the cases of source in random order.
func (d contest) draw(rng *rand.Rand, n int, source *sample) (s sample) {
	if source != nil {
		for _, i := range rng.Perm(len(source.x)) {
			s.x, s.target = append(s.x, source.x[i]), append(s.target, source.target[i])
		}
		return s
	}
	coefficients := []float64{1, 0.8, 0.6, 0.4}
	switch {
	case d.noise:
		coefficients = nil
	case d.models == "alike":
		coefficients = []float64{1.5}
	}
	base := 0.0
	if d.share > 0 {
		base = math.Log(d.share/(1-d.share)) / sharpness
	}
	ofGroup := 0.0 // added to the targets of a group
	for i := range n {
		x := make([]float64, inputs+2*d.size())
		for j := range x {
			x[j] = rng.NormFloat64()
		}
		if d.group > 0 && i%d.group > 0 {
			for j, v := range s.x[i-i%d.group] {
				x[j] = 0.8*v + 0.6*x[j]
			}
		} else if d.group > 0 {
			ofGroup = rng.NormFloat64()
		}
		for j := inputs; j < len(x); j++ {
			x[j] += 1.5 * x[0] // noisy copies, two for each of the equal models
		}
		f := base + ofGroup
		for j, c := range coefficients {
			f += c * x[j]
		}
		y := f + rng.NormFloat64()
		if !d.numeric {
			y = map[bool]float64{true: 1}[rng.Float64() < sigmoid(sharpness*f)]
		}
		s.x, s.target = append(s.x, x), append(s.target, y)
		if d.group > 0 {
			s.group = append(s.group, i/d.group)
		}
		if d.weighted {
			s.weight = append(s.weight, float64(1+rng.IntN(3)))
		}
	}
	return s
}

// sharpness is the slope of the log odds.
const sharpness = 1.5

// digits are the bundled handwritten digits: odd or even.
func digits() *sample {
	d, err := data.Load(data.Spec{Dataset: "digits"}, "", 1)
	if err != nil {
		panic(err)
	}
	s := &sample{}
	n, _ := d.X.Dims()
	for i := range n {
		x := slices.Clone(d.X.RawRowView(i))
		floats.AddConst(-5, x)
		floats.Scale(1./6, x)
		s.x, s.target = append(s.x, x), append(s.target, float64(d.Labels[i]%2))
	}
	return s
}

// rivals draws the models.
func (d contest) rivals(rng *rand.Rand) (all []rival) {
	for k := range d.size() {
		r := rival{noise: 0.3, scale: 3}
		switch d.models {
		case "alike":
			r.inputs = []int{inputs + 2*k, inputs + 2*k + 1}
		case "nested":
			r.inputs, r.tuned, r.length, r.alpha = rng.Perm(8)[:6], true, 1, math.Exp(3*rng.Float64())
		default:
			of := inputs
			if d.digits {
				of = 64
			}
			r.inputs = rng.Perm(of)[:2+rng.IntN(of/2)]
			r.noise, r.scale = math.Pow(10, 1.5*rng.Float64()-1), 1.5+2*rng.Float64()
			r.tuned = d.models == "tuned"
			if rng.IntN(2) == 0 {
				r.length = math.Exp(rng.Float64() - 0.5)
			}
		}
		all = append(all, r)
	}
	return all
}

// predict predicts cases of a sample after a fit to others.
func (d contest) predict(r rival, s sample, train, test []int) cv.Predictions {
	var x [][]float64
	var y []float64
	counts := []float64{0, 0} // weights of the training cases of each class
	for _, i := range train {
		x, y = append(x, s.x[i]), append(y, s.target[i])
		if !d.numeric {
			counts[int(s.target[i])] += s.weighs(i)
		}
	}
	f := r.fit(x, y)
	var p cv.Predictions
	var err error
	if d.numeric {
		var targets, mean, variance []float64
		for _, i := range test {
			m, v := f.predict(s.x[i], true)
			targets, mean = append(targets, s.target[i]), append(mean, f.mean+f.deviation*m)
			variance = append(variance, f.deviation*f.deviation*v)
		}
		p, err = cv.NewRegression(test, targets, mean, variance, f.mean, f.deviation*f.deviation)
	} else {
		proba, labels := mat.NewDense(len(test), 2, nil), make([]int, len(test))
		odds := math.Log(counts[1] / counts[0])
		for a, i := range test {
			m, _ := f.predict(s.x[i], false)
			q := sigmoid(odds + f.scale*f.deviation*2*m)
			proba.SetRow(a, []float64{1 - q, q})
			labels[a] = int(s.target[i])
		}
		p, err = cv.NewPredictions(test, labels, proba, counts)
	}
	if err != nil {
		panic(err)
	}
	if s.weight != nil {
		for _, i := range test {
			p.Weight = append(p.Weight, s.weight[i])
		}
	}
	return p
}

func (s sample) weighs(i int) float64 {
	if s.weight == nil {
		return 1
	}
	return s.weight[i]
}

// split is a division of cases.
type split struct{ train, test []int }

// splits divides the cases of a sample: into folds, stratified by label if there are no groups, or
// into a training and a test set.
func (d contest) splits(rng *rand.Rand, s sample) (all []split) {
	if d.test > 0 {
		return []split{{span(0, d.n), span(d.n, d.n+d.test)}}
	}
	size := max(1, d.group)
	for range max(1, d.repeats) {
		units := rng.Perm(d.n / size)
		if !d.numeric && d.group == 0 {
			slices.SortStableFunc(units, func(a, b int) int { return int(s.target[a] - s.target[b]) })
		}
		folds := make([]split, d.folds)
		for at, u := range units {
			for k := range folds {
				to := &folds[k].train
				if k == at%d.folds {
					to = &folds[k].test
				}
				*to = append(*to, span(u*size, (u+1)*size)...)
			}
		}
		all = append(all, folds...)
	}
	return all
}

// span has the whole numbers from a up to b, without b.
func span(a, b int) (all []int) {
	for i := a; i < b; i++ {
		all = append(all, i)
	}
	return all
}

// outcome is the verdict on a data set, and the scores of its models on other cases.
type outcome struct {
	best          int
	in            []bool // models in the set
	atMost, fresh []float64
	atLeast       float64 // bound of the skill of the best
	known         bool    // skill of the best is found
}

// compete returns the outcomes of data sets.
func (d contest) compete(sets int, seed uint64) []outcome {
	models := d.rivals(rand.New(rand.NewPCG(seed, 0)))
	var source *sample
	if d.digits {
		source = digits()
	}
	out := make([]outcome, sets)
	p := pool.New().WithMaxGoroutines(runtime.GOMAXPROCS(0))
	for i := range sets {
		p.Go(func() { out[i] = d.judge(models, source, rand.New(rand.NewPCG(seed, uint64(i+1)))) })
	}
	p.Wait()
	return out
}

// judge draws a data set, on which the models compete.
func (d contest) judge(models []rival, source *sample, rng *rand.Rand) outcome {
	const fresh = 1000
	s := d.draw(rng, d.n+d.test+fresh, source)
	splits := d.splits(rng, s)
	c := cv.Contenders{Seed: rng.Uint64(), Groups: s.group}
	o := outcome{in: make([]bool, len(models)), atMost: make([]float64, len(models))}
	held := 0
	for _, split := range splits {
		held += len(split.test)
	}
	c.Ratio = float64(held) / float64(max(1, d.repeats)*len(splits[0].train))
	all, others := span(0, d.n), span(d.n+d.test, len(s.x))
	var parts [][]cv.Predictions
	for _, m := range models {
		var row []cv.Predictions
		for _, split := range splits {
			row = append(row, d.predict(m, s, split.train, split.test))
		}
		parts = append(parts, row)
		o.fresh = append(o.fresh, d.value(d.predict(m, s, all, others)))
	}
	left := d.left(parts)
	var scores []float64
	for _, k := range left {
		c.Parts = append(c.Parts, parts[k])
		scores = append(scores, d.value(parts[k]...))
	}
	best := floats.MaxIdx(scores)
	set := c.Set(d.by(), best)
	for k, at := range left {
		o.in[at], o.atMost[at] = set.In[k], set.AtMost[k]
	}
	o.best, o.known = left[best], c.Knows(best)
	if d.by().Base {
		o.atLeast = c.AtLeast(d.by(), best)
	}
	return o
}

// value is the score of predictions, with its sign changed if less is better.
func (d contest) value(parts ...cv.Predictions) float64 {
	s := d.by()
	e, _, err := s.Of(cv.Pool(parts...))
	if err != nil {
		panic(err)
	}
	return map[bool]float64{true: 1, false: -1}[s.Greater] * e.Value
}

// left are the models that compete on all folds.
func (d contest) left(parts [][]cv.Predictions) []int {
	all := span(0, len(parts))
	if !d.race {
		return all
	}
	value := func(k int) float64 { return d.value(parts[k][:len(parts[k])/2]...) }
	slices.SortStableFunc(all, func(a, b int) int {
		return map[bool]int{true: -1, false: 1}[value(a) > value(b)]
	})
	return all[:(len(all)+1)/2]
}

// matching is a part of the names of the contests that run.
var matching = flag.String("match", "", "with -only set: only contests whose names have this in them")

// kept writes a row for every contest: how often the statements hold.
func kept(out *bytes.Buffer, sets int, seed uint64) {
	out.WriteString(keptText)
	row(out, "contest", "sets", "truly best in the set", "size of the set", "at most holds", "at most",
		"at least holds", "at least above 0", "skill")
	row(out, "---", "--:", "--:", "--:", "--:", "--:", "--:", "--:", "--:")
	for i, d := range contests {
		if !strings.Contains(d.name, *matching) {
			continue
		}
		all := d.compete(2*sets/5, seed+uint64(i+400)<<32)
		cells := append([]string{d.name, fmt.Sprint(len(all))}, d.summary(all)...)
		row(out, cells...)
		log.Print(strings.Join(cells, " | "))
	}
}

// summary has the shares of the outcomes, in %, for which the statements hold.
func (d contest) summary(all []outcome) []string {
	truth := make([]float64, d.size())
	for _, o := range all {
		floats.AddScaled(truth, 1/float64(len(all)), o.fresh)
	}
	top := floats.MaxIdx(truth)
	if d.models == "alike" {
		top = 0 // all are equally good, and the first one stands for each
	}
	share := func(is func(o outcome) bool) string {
		n := 0.0
		for _, o := range all {
			if is(o) {
				n++
			}
		}
		return percent(n / float64(len(all)))
	}
	var size, most []float64
	for _, o := range all {
		n := 0.0
		for _, in := range o.in {
			if in {
				n++
			}
		}
		size, most = append(size, n), append(most, o.atMost[o.best])
	}
	cells := []string{share(func(o outcome) bool { return o.in[top] }),
		fmt.Sprintf("%.1f of %d", stat.Mean(size, nil), d.size()),
		share(func(o outcome) bool { return floats.Max(truth)-truth[o.best] <= o.atMost[o.best] }),
		fmt.Sprintf("%.3f", stat.Mean(most, nil)), "", ""}
	if d.by().Base {
		cells[4] = share(func(o outcome) bool { return !(o.atLeast > truth[o.best]) })
		cells[5] = share(func(o outcome) bool { return o.known && o.atLeast > 0 })
	}
	return append(cells, share(func(o outcome) bool { return o.known }))
}
