package main

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"

	"github.com/sourcegraph/conc/pool"
	"gonum.org/v1/gonum/stat"

	"github.com/gpc-tune/gpc-tune/cv"
)

// labelled is the number of draws of labels for the inputs of one world.
const labelled = 25

// observe measures the verdicts on a data set.
type observe func(w *world, y []int, c cv.Contenders) []float64

// simulated calls of for every data set of a design, and returns its rows of numbers in order.
func (d design) simulated(sets int, seed uint64, of observe) (out [][]float64) {
	most := slices.Max(d.numbers)
	p := pool.NewWithResults[[][]float64]().WithMaxGoroutines(runtime.GOMAXPROCS(0))
	for i := range (sets + labelled - 1) / labelled {
		p.Go(func() (rows [][]float64) {
			w := newWorld(d, most, rand.New(rand.NewPCG(seed, uint64(i))))
			for range min(labelled, sets-i*labelled) {
				c, ok := cv.Contenders{}, false
				var y []int
				for !ok {
					y = w.labels()
					c, ok = w.predict(y)
				}
				rows = append(rows, of(w, y, c))
			}
			return rows
		})
	}
	for _, rows := range p.Wait() {
		out = append(out, rows...)
	}
	return out
}

func score(name string) cv.Score {
	s, err := cv.ScoreNamed(name)
	if err != nil {
		panic(err)
	}
	return s
}

// best is the model with the best test information, and the estimate of it.
func best(parts [][]cv.Predictions) (k int, of cv.Estimate) {
	s := score("information_bits")
	for i, p := range parts {
		if e, _, _ := s.Of(cv.Pool(p...)); i == 0 || e.Value > of.Value {
			k, of = i, e
		}
	}
	return k, of
}

// row of a table.
func row(out *bytes.Buffer, cells ...string) {
	fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | "))
}

func percent(share float64) string { return fmt.Sprintf("%.1f", 100*share) }

// mean of a column.
func column(rows [][]float64, k int) (out []float64) {
	for _, r := range rows {
		out = append(out, r[k])
	}
	return out
}

func (d design) String() string {
	text := fmt.Sprintf("%s, %d, %d", d.models, d.n, d.folds)
	if d.unstrat {
		text += " not stratified"
	}
	if d.repeats > 0 {
		text += fmt.Sprintf(" × %d repeats", d.repeats)
	}
	switch {
	case d.classes > 2:
		text += fmt.Sprintf(", %d classes", d.classes)
	case d.share > 0:
		text += ", 1:9"
	default:
		text += ", 1:1"
	}
	if d.group > 0 {
		text += fmt.Sprintf(", groups of %d", d.group)
	}
	return text
}

// skill counts the sets without signal in which the best is found to have skill.
func skill(out *bytes.Buffer, sets int, seed uint64) {
	out.WriteString(skillText)
	var all []design
	for _, n := range []int{40, 60, 200} {
		for _, folds := range []int{3, 10} {
			for _, share := range []float64{0, 0.1} {
				all = append(all, design{models: "mixed", n: n, folds: folds, share: share})
			}
		}
	}
	all = append(all, design{models: "mixed", n: 60, folds: 10, unstrat: true},
		design{models: "mixed", n: 60, folds: 2},
		design{models: "mixed", n: 60, folds: 60}, design{models: "mixed", n: 60, folds: 3, repeats: 3},
		design{models: "mixed", n: 60, folds: 3, classes: 3}, design{models: "mixed", n: 80, folds: 5, group: 4},
		design{models: "short length scales", n: 60, folds: 3}, design{models: "short length scales", n: 200, folds: 3},
		design{models: "constants", n: 60, folds: 10, unstrat: true})
	m := []int{1, 5, 20, 60, 200}
	row(out, "models, cases, folds, classes", "sets", "1", "5", "20", "60", "200")
	row(out, "---", "--:", "--:", "--:", "--:", "--:", "--:")
	for i, d := range all {
		d.numbers = m
		found := d.simulated(sets, seed+uint64(i)<<32, func(_ *world, _ []int, c cv.Contenders) (row []float64) {
			for _, m := range m {
				of := c
				of.Parts = c.Parts[:m]
				row = append(row, shown(of))
			}
			return row
		})
		cells := []string{d.String(), fmt.Sprint(len(found))}
		for k := range m {
			cells = append(cells, percent(stat.Mean(column(found, k), nil)))
		}
		row(out, cells...)
	}
}

// shown is 1 if the best model is found to have skill, else 0.
func shown(c cv.Contenders) float64 {
	if k, of := best(c.Parts); of.Value > 0 && c.Knows(k) {
		return 1
	}
	return 0
}

// power counts the sets with signal in which skill is found, and the sets in which the Mann-Whitney
// test finds it. The critical value of that test is the one with 5 % false alarms for the same
// number of models.
func power(out *bytes.Buffer, sets int, seed uint64) {
	out.WriteString(powerText)
	m := []int{1, 5, 20, 60}
	auc := score("auc")
	row(out, "AUC of one", "sets", "models", "skill", "Mann-Whitney at 5 %", "Mann-Whitney in noise", "t-test",
		"t-test in noise")
	row(out, "--:", "--:", "--:", "--:", "--:", "--:", "--:", "--:")
	for i, signal := range []float64{1e-9, 0.32, 0.48, 0.8} {
		d := design{models: "informed", n: 80, folds: 5, unstrat: true, signal: signal, numbers: m}
		number := 2 * sets / 5
		if i == 0 {
			number = sets
		}
		rows := d.simulated(number, seed+uint64(i+100)<<32, func(_ *world, y []int, c cv.Contenders) (row []float64) {
			for _, m := range m {
				of := c
				of.Parts = c.Parts[:m]
				k, e := best(of.Parts)
				p := cv.Pool(of.Parts[k]...)
				a, _, _ := auc.Of(p)
				ones := float64(counted(y))
				zeros := float64(len(y)) - ones
				z := (a.Value - 0.5) / math.Sqrt((ones+zeros+1)/(12*ones*zeros))
				t := 0.0
				test := cv.CaseT(score("information_bits").Each(p), p.Cases, p.Weight)
				if test.P <= 0.05 && e.Value > 0 {
					t = 1
				}
				row = append(row, a.Value, z, t, shown(of))
			}
			return row
		})
		if i == 0 {
			noise = rows
			continue
		}
		for k, m := range m {
			null := column(noise, 4*k+1)
			slices.Sort(null)
			critical := null[int(math.Ceil(0.95*float64(len(null))))-1]
			row(out, fmt.Sprintf("%.2f", stat.Mean(column(rows, 0), nil)), fmt.Sprint(len(rows)), fmt.Sprint(m),
				percent(stat.Mean(column(rows, 4*k+3), nil)), percent(above(column(rows, 4*k+1), critical)),
				percent(above(null, 1.6449)), percent(stat.Mean(column(rows, 4*k+2), nil)),
				percent(stat.Mean(column(noise, 4*k+2), nil)))
		}
	}
}

// noise has the rows without signal.
var noise [][]float64

func above(v []float64, critical float64) (share float64) {
	for _, x := range v {
		if x > critical {
			share += 1 / float64(len(v))
		}
	}
	return share
}

func counted(y []int) (ones int) {
	for _, label := range y {
		ones += label
	}
	return ones
}

// corrected compares the score of the best, raw and corrected, with its score on fresh cases.
func corrected(out *bytes.Buffer, sets int, seed uint64) {
	out.WriteString(correctedText)
	s := score("information_bits")
	m := []int{5, 20, 60, 200}
	row(out, "models, cases, folds, classes", "signal", "sets", "models", "standard error", "raw − fresh",
		"corrected − fresh")
	row(out, "---", "--:", "--:", "--:", "--:", "--:", "--:")
	for i, d := range []design{{n: 60, folds: 3}, {n: 60, folds: 3, signal: 0.7}, {n: 40, folds: 10, share: 0.1},
		{n: 40, folds: 10, share: 0.1, signal: 0.7}, {n: 200, folds: 3}, {n: 200, folds: 3, signal: 0.7},
		{n: 200, folds: 10, share: 0.1, signal: 0.7}} {
		d.models, d.unstrat, d.numbers = "mixed", true, m
		rows := d.simulated(sets/5, seed+uint64(i+300)<<32, func(w *world, y []int, c cv.Contenders) (row []float64) {
			for _, m := range m {
				of := c
				of.Parts = c.Parts[:m]
				k, raw := best(of.Parts)
				after, _ := of.Corrected(s)
				fresh := w.fresh(w.models[k].model, y, s)
				row = append(row, (raw.Hi-raw.Lo)/(2*1.96), raw.Value-fresh, after.Value-fresh)
			}
			return row
		})
		for k, m := range m {
			cells := []string{d.String(), map[bool]string{true: "yes", false: "no"}[d.signal > 0],
				fmt.Sprint(len(rows)), fmt.Sprint(m)}
			for j := range 3 {
				cells = append(cells, fmt.Sprintf("%+.3f", stat.Mean(column(rows, 3*k+j), nil)))
			}
			row(out, cells...)
		}
	}
}

const (
	skillText = `
### Skill in noise

Labels are independent of 20 normal inputs. The table has the share of sets, in %, in which the
best of 1, 5, 20, 60 or 200 models is found to have skill (` + "`skill.better`" + `), which should be 5 at
most. A figure of 5 has a standard error of 1 for 500 sets. 1:9 are the sizes of the classes; of
groups all cases have the same label.

* Mixed: linear and squared exponential covariances of random inputs, with all lengths, noises
  and sharpnesses.
* Short length scales: squared exponential, two inputs, 0.2 to 0.5 standard deviations.
* Constants: the class frequencies of the training part, shrunk towards equal ones.

`
	powerText = `
### Power

Four of the inputs matter, in 80 cases and 5 folds; the models use these and others. Beside the
share of sets in which skill is found, in %, stands the Mann-Whitney test of the best model. Its
critical value is the one with which it finds skill in 5 % of 500 sets of noise with as many
models. At its nominal value it finds skill in noise as often as the next column says, and so
does the t-test of the score over cases.

`
	keptText = `
### The set and its bounds

The table has three shares of sets, in %. The truly best model is in the set. Using the best costs
at most the bound. It is better than the base rate by at least the bound. All three should be 95 or
more. A figure of 95 has a standard error of 1.5 for 200 sets.
The truly best model has the largest mean score on other cases, over all sets, after a fit to all
cases of each. Other columns have the mean size of the set and the mean bound of the cost, in
units of the score. The last two are the shares of sets in which the lower bound is above 0, and in
which skill is found.

* Four of 20 normal inputs matter. There are 20 models with linear and squared exponential
  covariances of random inputs. Scores are test information unless the name says another.
* Tuned: in each fold, length scale and noise maximise the evidence.
* Digits: handwritten digits, odd or even, with 64 inputs.
* Equal models: each has two inputs of its own, noisy copies of the input that the labels depend
  on. The first model stands for the truly best.
* Nearly equal kernels: rational quadratic ones of 6 of 8 inputs.
* Race: after half of the folds the better half of the models goes on, perhaps without the truly
  best one.
* Noise: labels are independent of the inputs.

`
	correctedText = `
### Corrected score

The best has another score on 1000 fresh cases, after a fit to all cases. The table has the mean
differences from it, in bits per case: of the raw score and of the corrected one. It also has the
mean standard error of the raw score.

`
)
