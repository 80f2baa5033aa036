package predict

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/gpc-tune/gpc-tune/experiments/classifier/explain"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/modelfile"
	"github.com/gpc-tune/gpc-tune/internal/random"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/page"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// Limits of the comparison of new cases with training cases.
const (
	driftWindow = 100 // new values of an input that are compared at a time
	leastKnown  = 10  // training values of an input that are needed
	driftDraws  = 399 // permutations of a category
	driftLevel  = 0.05
	// Values of an input are equal if they differ by less than this fraction of the range, because
	// preprocessing rounds.
	sameValue = 1e-9
)

// Drift compares the cases that a model is asked about with the cases that it was fitted to. It
// counts the cases with a value outside the training range. For each input it compares disjoint
// windows of 100 new values with all training values, at 5 % for each window: numbers and ordered
// values by the rank-sum test, categories by a permutation test of Pearson's χ².
type Drift struct {
	mu            sync.Mutex
	inputs        []*inputDrift
	impute        []float64 // replaces missing values, as in the training cases; nil: they are left out
	cases, beyond int
}

// InputDrift is the state of an input.
type InputDrift struct {
	Input   string
	Windows int     // windows compared
	Shifts  int     // windows that differ at 5 %
	P       float64 // p value of the last window; NaN: there is none
	Waiting int     // values in the next window
}

// inputDrift has the training values of an input, in ascending order, and the values of the next
// window.
type inputDrift struct {
	InputDrift
	column  data.Column
	columns []int // its columns in the input matrix
	known   []float64
	window  []float64
	seed    uint64
}

// newDrift is the comparison with the training cases of a model file; nil: there are none.
func newDrift(file *modelfile.File) *Drift {
	if file == nil || file.Inputs == nil {
		return nil
	}
	raw, inputs := file.Raw(), explain.Inputs(file.Columns.From())
	d := &Drift{impute: file.Preprocess.Impute}
	for _, of := range file.Columns.Inputs {
		k := slices.IndexFunc(inputs, func(i explain.Input) bool { return i.Name == of.Name })
		in := &inputDrift{InputDrift: InputDrift{Input: of.Name, P: math.NaN()}, column: of, columns: inputs[k].Columns,
			seed: random.Derive(file.Seed, "drift", of.Name)}
		for i := range file.Inputs {
			if v := valueOf(of, in.columns, raw.RawRowView(i)); !math.IsNaN(v) {
				in.known = append(in.known, v)
			}
		}
		if len(in.known) < leastKnown {
			continue
		}
		slices.Sort(in.known)
		for i, v := range in.known[1:] {
			if v-in.known[i] <= in.tolerance() {
				in.known[i+1] = in.known[i]
			}
		}
		d.inputs = append(d.inputs, in)
	}
	return d
}

func (i *inputDrift) tolerance() float64 {
	lo, hi := i.known[0], i.known[len(i.known)-1]
	return sameValue * max(hi-lo, math.Abs(hi), math.Abs(lo))
}

// add compares cases, before missing values are replaced. It does nothing if d is nil.
func (d *Drift) add(ds *data.Data) {
	if d == nil {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	for k := range ds.Rows {
		d.cases++
		row, outside := slices.Clone(ds.X.RawRowView(k)), false
		for j := range d.impute {
			if math.IsNaN(row[j]) {
				row[j] = d.impute[j]
			}
		}
		for _, in := range d.inputs {
			if v := valueOf(in.column, in.columns, row); !math.IsNaN(v) && in.add(v) {
				outside = true
			}
		}
		if outside {
			d.beyond++
		}
	}
}

// add adds a value to the window, and compares a full one. It reports whether the value is outside
// the training range.
func (i *inputDrift) add(v float64) (outside bool) {
	at, _ := slices.BinarySearch(i.known, v)
	for _, near := range []int{at - 1, at} {
		if near >= 0 && near < len(i.known) && math.Abs(i.known[near]-v) <= i.tolerance() {
			v = i.known[near]
		}
	}
	i.window = append(i.window, v)
	if len(i.window) == driftWindow {
		if i.column.Levels != nil {
			i.P = chiSquareShift(i.known, i.window, i.seed+uint64(i.Windows))
		} else {
			i.P = rankShift(i.known, i.window)
		}
		if i.Windows++; i.P <= driftLevel {
			i.Shifts++
		}
		i.window = nil
	}
	return v < i.known[0] || v > i.known[len(i.known)-1]
}

// rankShift is the p value of Wilcoxon's rank-sum test of two samples, two-sided, by its normal
// approximation with midranks for equal values (Lehmann 1975, Nonparametrics, 1.5).
func rankShift(known, window []float64) float64 {
	all := slices.Concat(known, window)
	slices.Sort(all)
	n, w := float64(len(all)), float64(len(window))
	sum, ties := 0.0, 0.0
	for _, v := range window {
		first, _ := slices.BinarySearch(all, v)
		last, _ := slices.BinarySearch(all, math.Nextafter(v, math.Inf(1)))
		sum += float64(first+last+1) / 2 // the mean of the ranks first + 1 … last
	}
	for i := 0; i < len(all); {
		next, _ := slices.BinarySearch(all, math.Nextafter(all[i], math.Inf(1)))
		t := float64(next - i)
		ties, i = ties+t*t*t-t, next
	}
	variance := w * (n - w) / 12 * (n + 1 - ties/(n*(n-1)))
	if !(variance > 0) { // one value
		return 1
	}
	return 2 * distuv.UnitNormal.CDF(-math.Abs(sum-w*(n+1)/2)/math.Sqrt(variance))
}

// chiSquareShift is the p value of the permutation test of Σ_l (n_l - w m_l/m)²/m_l. Here n_l is
// the number of values l among the w of the window, and m_l their number among all m values.
func chiSquareShift(known, window []float64, seed uint64) float64 {
	all := slices.Concat(window, known)
	names := slices.Compact(slices.Sorted(slices.Values(all)))
	level, total := make([]int, len(all)), make([]float64, len(names))
	for i, v := range all {
		level[i], _ = slices.BinarySearch(names, v)
		total[level[i]]++
	}
	w := len(window)
	statistic := func() (sum float64) {
		count := make([]float64, len(names))
		for _, l := range level[:w] {
			count[l]++
		}
		for l, n := range count {
			d := n - float64(w)*total[l]/float64(len(all))
			sum += d * d / total[l]
		}
		return sum
	}
	observed, extreme := statistic(), 1.0
	rng := rand.New(rand.NewPCG(seed, 0))
	for range driftDraws {
		for i := range w {
			j := i + rng.IntN(len(level)-i)
			level[i], level[j] = level[j], level[i]
		}
		if statistic() >= observed*(1-1e-12) {
			extreme++
		}
	}
	return extreme / (driftDraws + 1)
}

// Cases is the number of cases, and of cases with a value outside the training range.
func (d *Drift) Cases() (all, outside int) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.cases, d.beyond
}

// Inputs is the state of every input.
func (d *Drift) Inputs() (out []InputDrift) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, in := range d.inputs {
		in.Waiting = len(in.window)
		out = append(out, in.InputDrift)
	}
	return out
}

// part shows the comparison on a page.
func (d *Drift) part() page.Part {
	p := page.Part{Heading: "Drift"}
	if d == nil {
		p.Texts = []string{"The model file has no training cases to compare requests with."}
		return p
	}
	all, outside := d.Cases()
	share := ""
	if all > 0 {
		share = fmt.Sprintf(" (%s %%)", reports.Readable(100*float64(outside)/float64(all)))
	}
	p.Texts = []string{fmt.Sprintf("Of %s since the start, %d%s %s a value outside the training range.",
		table.Counted(all, "case", "cases"), outside, share, map[bool]string{true: "has", false: "have"}[outside == 1]),
		fmt.Sprintf("Every %d values of an input are compared with its training values, at 5 %%: without a shift, 1 "+
			"window in 20 is reported. Dates are not compared.", driftWindow)}
	t := table.Table{Title: "shift of inputs", Columns: table.Columns("input", "windows", "with a shift",
		"p of the last", "values waiting", "")}
	for _, in := range d.Inputs() {
		verdict := ""
		if in.P <= driftLevel {
			verdict = "shifted"
		}
		t.Add(in.Input, in.Windows, in.Shifts, reports.Number(in.P), in.Waiting, verdict)
	}
	p.Tables = []table.Table{t}
	return p
}

// unknownLevel is the value of a category that is none of the levels of the training cases.
const unknownLevel = 1e9

// valueOf is the value of an input in a row of raw inputs: a number, the index of a level or of a
// place in an order, or unknownLevel; NaN: it is missing, or a date.
func valueOf(of data.Column, columns []int, row []float64) float64 {
	first := row[columns[0]]
	switch {
	case of.Date != nil:
		return math.NaN()
	case of.Order != nil:
		return first - 1
	case of.Levels == nil:
		return first
	case of.Coded && int(first) < len(of.Levels):
		return first
	case of.Coded && int(first) > len(of.Levels):
		return unknownLevel
	case of.Coded || math.IsNaN(first):
		return math.NaN()
	}
	for l := range columns {
		switch {
		case row[columns[l]] != 1:
		case l < len(of.Levels):
			return float64(l)
		default: // the indicator of missing values
			return math.NaN()
		}
	}
	return unknownLevel
}
