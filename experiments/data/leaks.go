package data

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/stat/distuv"
)

const (
	leakFolds    = 5
	neverHeldOut = -1
	// Limits of the search for leaks: the number of cases, the number of values (cases × inputs),
	// and the number of classes up to which intervals of numbers are tried.
	mostLeakCases, mostLeakValues, mostLeakClasses = 2000, 10_000_000, 10

	// Thresholds of the balanced held-out error of one input. A code with hardly more values than
	// classes leaks below codeError. Values as names of classes leak below nameError if intervals
	// have more than nameless. A number leaks below numberError if all other inputs have more than
	// apart.
	codeError                    = 0.06
	nameError, numberIsUseless   = 0.02, 0.10
	numberError, othersAreUseful = 0.005, 0.04
	honestError, surprisingP     = 0.15, 1e-4
)

// Leak is an input that alone predicts the class almost perfectly.
type Leak struct {
	Input string
	Error float64 // balanced held-out error: mean over classes of the fraction of wrong decisions
	Rare  bool    // there are classes of fewer than leakFolds cases, which Error does not count
}

// Leaks finds inputs that alone predict the class almost perfectly, such as a copy of the label, or
// a value that was only known after it. Every input is tried by itself in five folds: values as
// categories, and numbers in as many intervals as there are classes. Classes of fewer than five
// cases are never held out: their cases are in all training parts, and their errors do not count. A
// test that is honestly right in 85 % of the cases of each class would be as good as a leak with a
// probability of at most about 1e-4. An honest test that is better than that cannot be
// distinguished from a leak, so a found leak is a question to the reader.
func (d *Data) Leaks() (found []Leak) {
	n, inputs := d.X.Dims()
	most := min(mostLeakCases, mostLeakValues/inputs)
	if most < leakFolds || len(d.Classes) < 2 {
		return nil
	}
	c := leakCheck{count: make([]int, len(d.Classes))}
	var cases []int
	for i := 0; i < n; i += (n + most - 1) / most {
		if k := d.Labels[i]; k >= 0 {
			cases, c.label, c.fold = append(cases, i), append(c.label, k), append(c.fold, c.count[k]%leakFolds)
			c.count[k]++
		}
	}
	for k, n := range c.count {
		if n >= leakFolds {
			c.scored = append(c.scored, k)
		}
	}
	if len(c.scored) < 2 {
		return nil
	}
	for i, k := range c.label {
		if c.count[k] < leakFolds {
			c.fold[i] = neverHeldOut
		}
	}
	var all []oneInput
	first := 0 // column of the input
	for _, of := range d.Schema.Inputs {
		parts, width := []Column{of}, of.width()
		if of.Date != nil { // each part by itself
			names, _ := of.names()
			parts, width = nil, 1
			for _, name := range names {
				parts = append(parts, Column{Name: name})
			}
		}
		for _, p := range parts {
			for k, i := range cases {
				c.value = append(c.value[:k], p.value(d.X.RawRowView(i)[first:first+width]))
			}
			first += width
			all = append(all, c.score(p))
		}
	}
	return c.leaks(all)
}

// leaks are the inputs that are leaks, of all.
func (c *leakCheck) leaks(all []oneInput) (found []Leak) {
	good := 0
	for _, t := range all {
		if t.Error < othersAreUseful {
			good++
		}
	}
	for _, t := range all {
		alone := good == 0 || good == 1 && t.Error < othersAreUseful
		code := t.levels <= len(c.count)+1 && t.Error <= codeError
		name := t.asLevels <= nameError && t.asNumber >= numberIsUseless
		if t.surprising && (code || name || alone && t.Error <= numberError) {
			t.Rare = len(c.scored) < len(c.count)
			found = append(found, t.Leak)
		}
	}
	return found
}

// value returns a number for the value of an input: for a category the index of its level. A
// missing value is a value too.
func (c Column) value(columns []float64) float64 {
	switch {
	case c.Levels != nil && !c.Coded && floats.Max(columns) > 0:
		return float64(floats.MaxIdx(columns))
	case c.Levels != nil && !c.Coded, math.IsNaN(columns[0]):
		return math.Inf(-1)
	}
	return columns[0]
}

// oneInput is the prediction of the class from one input.
type oneInput struct {
	Leak
	levels             int     // different values
	asLevels, asNumber float64 // balanced errors; 1 if it was not tried
	surprising         bool    // an honest test would hardly ever be as good
}

// leakCheck has the cases, and the values of one input.
type leakCheck struct {
	count       []int // number of cases of each class
	scored      []int // classes of at least leakFolds cases
	label, fold []int // class and fold of each case; a fold may be neverHeldOut
	value       []float64
}

// score predicts the class from the values.
func (c *leakCheck) score(of Column) oneInput {
	levels := slices.Clone(c.value)
	slices.Sort(levels)
	t := oneInput{Leak: Leak{Input: of.Name}, levels: len(slices.Compact(levels)), asNumber: 1}
	wrong := c.count // if no value occurs twice, every decision is wrong
	if t.levels < len(c.value) {
		wrong = c.heldOut(c.levels)
	}
	t.asLevels = c.balanced(wrong)
	if of.Levels == nil && len(c.count) <= mostLeakClasses {
		split := c.heldOut(c.intervals)
		if t.asNumber = c.balanced(split); t.asNumber < t.asLevels {
			wrong = split
		}
	}
	t.Error = min(t.asLevels, t.asNumber)
	p := 1.0
	for _, k := range c.scored {
		p *= distuv.Binomial{N: float64(c.count[k]), P: honestError}.CDF(float64(wrong[k]))
	}
	t.surprising = p <= surprisingP
	return t
}

// balanced returns the mean over the scored classes of the fraction of wrong decisions.
func (c *leakCheck) balanced(wrong []int) (sum float64) {
	for _, k := range c.scored {
		sum += float64(wrong[k]) / float64(c.count[k]) / float64(len(c.scored))
	}
	return sum
}

// heldOut counts the wrong decisions on the cases of each class. The decision rule is learnt from
// the cases of all other folds.
func (c *leakCheck) heldOut(learn func(cases []int) (rule func(value float64) int)) []int {
	order := make([]int, len(c.value))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(c.value[i], c.value[j]) })
	wrong := make([]int, len(c.count))
	for f := range leakFolds {
		rule := learn(slices.DeleteFunc(slices.Clone(order), func(i int) bool { return c.fold[i] == f }))
		for i, k := range c.label {
			if c.fold[i] == f && rule(c.value[i]) != k {
				wrong[k]++
			}
		}
	}
	return wrong
}

// largest returns the class with the largest fraction of its cases among the counted ones, and this
// fraction.
func (c *leakCheck) largest(counts []float64) (class int, share float64) {
	for k, n := range counts {
		if s := n / float64(c.count[k]); s > share {
			class, share = k, s
		}
	}
	return class, share
}

// levels decides for the class of each value; -1: the value is unknown. cases are in the order of
// their values.
func (c *leakCheck) levels(cases []int) func(float64) int {
	var values, counts []float64 // counts of each class, value by value
	classes := len(c.count)
	for _, i := range cases {
		if v := c.value[i]; len(values) == 0 || v != values[len(values)-1] {
			values, counts = append(values, v), append(counts, make([]float64, classes)...)
		}
		counts[len(counts)-classes+c.label[i]]++
	}
	return func(v float64) int {
		at, known := slices.BinarySearch(values, v)
		if !known {
			return -1
		}
		k, _ := c.largest(counts[at*classes : (at+1)*classes])
		return k
	}
}

// intervals divides the numbers into as many intervals as there are classes, and returns the
// function that decides for the class of a number's interval. cases are in the order of their
// values.
func (c *leakCheck) intervals(cases []int) func(float64) int {
	classes := len(c.count)
	all := make([]float64, (len(cases)+1)*classes)
	before := func(i int) []float64 { return all[i*classes : (i+1)*classes] } // cases of each class before the i-th
	for i, k := range cases {
		copy(before(i+1), before(i))
		before(i + 1)[c.label[k]]++
	}
	counts := make([]float64, classes)
	within := func(a, b int) (int, float64) { return c.largest(floats.SubTo(counts, before(b), before(a))) }
	cuts := []int{0, len(cases)}
	for range len(c.count) - 1 {
		at, most := 0, 0.0
		for l, a := range cuts[:len(cuts)-1] {
			b := cuts[l+1]
			_, whole := within(a, b)
			for i := a + 1; i < b; i++ {
				if c.value[cases[i]] == c.value[cases[i-1]] {
					continue
				}
				_, left := within(a, i)
				_, right := within(i, b)
				if gain := left + right - whole; gain > most {
					at, most = i, gain
				}
			}
		}
		if most == 0 {
			break
		}
		cuts = append(cuts, at)
		slices.Sort(cuts)
	}
	return func(v float64) int {
		l := 0
		for l+2 < len(cuts) && v >= between(c.value[cases[cuts[l+1]-1]], c.value[cases[cuts[l+1]]]) {
			l++
		}
		k, _ := within(cuts[l], cuts[l+1])
		return k
	}
}

// between returns the middle of two numbers; the lower one may stand for a missing value.
func between(a, b float64) float64 { return max(a/2+b/2, -math.MaxFloat64) }
