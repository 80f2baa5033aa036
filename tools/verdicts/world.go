package main

import (
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/cv"
)

// design specifies simulated data sets and the models that compete on them.
type design struct {
	n, folds int
	repeats  int     // repeats of the folds; 0: one
	share    float64 // fraction of cases in the second class; 0: half. Three classes: a third each
	classes  int     // 0: two
	unstrat  bool    // the folds are not stratified
	group    int     // cases per group, which have one label and similar inputs; 0: no groups
	models   string  // a key of kinds
	signal   float64 // coefficient of the log odds on an input; 0: labels are independent of inputs
	numbers  []int   // numbers of models that compete
}

// kinds draw the k-th model.
var kinds = map[string]func(rng *rand.Rand, k int) model{
	"mixed": func(rng *rand.Rand, _ int) model {
		m := model{inputs: some(rng, 1+rng.IntN(inputs)), noise: math.Pow(10, 2*rng.Float64()-1),
			scale: 0.5 + 2*rng.Float64()}
		if rng.IntN(2) == 0 {
			m.length = math.Sqrt(float64(len(m.inputs))) * math.Exp(2*rng.Float64()-1)
		}
		return m
	},
	"short length scales": func(rng *rand.Rand, _ int) model {
		return model{inputs: some(rng, 2), length: 0.2 + 0.3*rng.Float64(), noise: 0.1, scale: 1 + 2*rng.Float64()}
	},
	"informed": func(rng *rand.Rand, _ int) model {
		m := model{inputs: []int{0, 1, 2, 3}, noise: math.Pow(10, rng.Float64()-0.5), scale: 1 + rng.Float64()}
		m.inputs = append(m.inputs, some(rng, rng.IntN(10))...)
		if rng.IntN(2) == 0 {
			m.length = 2 * math.Sqrt(float64(len(m.inputs)))
		}
		return m
	},
	"constants": func(rng *rand.Rand, _ int) model { return model{shrunk: rng.Float64()} },
}

const inputs = 20

func some(rng *rand.Rand, n int) []int { return rng.Perm(inputs)[:n] }

// model is a least-squares classifier. f is the prediction of the labels by Gaussian process
// regression. The log odds of a class are the log odds of its training frequency plus scale times
// f.
type model struct {
	inputs []int
	length float64 // length scale of the squared exponential covariance; 0: linear covariance
	noise  float64 // noise variance
	scale  float64 // factor of f
	shrunk float64 // without inputs: factor of the log odds of the training frequency
}

func (m model) covariance(a, b []float64) (k float64) {
	for _, i := range m.inputs {
		if m.length == 0 {
			k += a[i] * b[i] / float64(len(m.inputs))
		} else {
			k -= (a[i] - b[i]) * (a[i] - b[i]) / (2 * m.length * m.length)
		}
	}
	if m.length > 0 {
		k = math.Exp(k)
	}
	return k
}

// fitted is a model with its inputs: the predictions of a held-out case are a row times the labels.
type fitted struct {
	model
	weights *mat.Dense // a row for each case and repeat
	sums    []float64  // sums of the rows
}

// world has the inputs of a data set, its folds and its models. Labels are drawn again and again.
type world struct {
	design
	x      *mat.Dense
	tested [][]int // index: repeat; the fold of each case
	models []fitted
	groups []int
	rng    *rand.Rand
}

func newWorld(d design, models int, rng *rand.Rand) *world {
	w := &world{design: d, x: mat.NewDense(d.n, inputs, nil), rng: rng}
	if d.group > 0 {
		w.groups = make([]int, d.n)
	}
	for i := range d.n {
		row := w.x.RawRowView(i)
		for j := range row {
			row[j] = rng.NormFloat64()
		}
		if d.group > 0 {
			w.groups[i] = i / d.group
			if first := w.x.RawRowView(i - i%d.group); i%d.group > 0 {
				for j := range row {
					row[j] = first[j] + 0.3*row[j]
				}
			}
		}
	}
	for range max(1, d.repeats) {
		fold := make([]int, d.n)
		size := max(1, d.group)
		for k, g := range rng.Perm(d.n / size) {
			for i := range size {
				fold[g*size+i] = k % d.folds
			}
		}
		w.tested = append(w.tested, fold)
	}
	for k := range models {
		w.models = append(w.models, w.fit(kinds[d.models](rng, k)))
	}
	return w
}

// fit uses the held-out residuals of Gaussian process regression with covariance K. In fold k they
// are C_kk⁻¹ (C y)_k with C = (K + noise I)⁻¹. For folds of one case this is GPML (5.12).
func (w *world) fit(m model) fitted {
	f := fitted{model: m, weights: mat.NewDense(w.n*len(w.tested), w.n, nil), sums: make([]float64, w.n*len(w.tested))}
	if len(m.inputs) == 0 {
		return f
	}
	k := mat.NewSymDense(w.n, nil)
	for i := range w.n {
		for j := range i {
			k.SetSym(i, j, m.covariance(w.x.RawRowView(i), w.x.RawRowView(j)))
		}
		k.SetSym(i, i, m.covariance(w.x.RawRowView(i), w.x.RawRowView(i))+m.noise)
	}
	var cholesky mat.Cholesky
	var c mat.SymDense
	if !cholesky.Factorize(k) || cholesky.InverseTo(&c) != nil {
		panic("the covariance is singular")
	}
	for r, tested := range w.tested {
		for fold := range w.folds {
			var in []int
			for i, t := range tested {
				if t == fold {
					in = append(in, i)
				}
			}
			for a, weights := range left(&c, in) {
				copy(f.weights.RawRowView(r*w.n+in[a]), weights)
				f.sums[r*w.n+in[a]] = floats.Sum(weights)
			}
		}
	}
	return f
}

// left has a row of weights for each case of fold k. They are -C_kk⁻¹ C_ko for the other cases o,
// and 0 for the cases of the fold.
func left(c *mat.SymDense, in []int) (out [][]float64) {
	n := c.SymmetricDim()
	block, rows := mat.NewSymDense(len(in), nil), mat.NewDense(len(in), n, nil)
	for a, i := range in {
		for j := range n {
			rows.Set(a, j, -c.At(i, j))
		}
		for b, j := range in {
			block.SetSym(a, b, c.At(i, j))
			rows.Set(a, j, 0)
		}
	}
	var cholesky mat.Cholesky
	if !cholesky.Factorize(block) || cholesky.SolveTo(rows, rows) != nil {
		panic("a block of the inverse is singular")
	}
	for a := range in {
		out = append(out, rows.RawRowView(a))
	}
	return out
}

// labels draws labels. Without signal they are a random order of fixed numbers of labels, within
// the folds if these are stratified.
func (w *world) labels() []int {
	classes, share := max(2, w.classes), w.share
	if share == 0 {
		share = 0.5
	}
	y := make([]int, w.n)
	if w.signal != 0 {
		for i := range y {
			y[i] = w.truth(w.x.RawRowView(i))
		}
		return y
	}
	size := max(1, w.group)
	of := func(k, n int) int { // the label of the k-th of n
		if classes > 2 {
			return k % classes
		}
		return min(1, int(float64(k+1)*share+1e-9)-int(float64(k)*share+1e-9))
	}
	place := w.rng.Perm(w.n / size)
	if !w.unstrat {
		slices.SortStableFunc(place, func(a, b int) int { return w.tested[0][a*size] - w.tested[0][b*size] })
	}
	start := 0
	for k, g := range place {
		for i := range size {
			y[g*size+i] = of(k, w.n/size)
		}
		// a random order within the fold
		if end := k + 1; end == len(place) || !w.unstrat && w.tested[0][place[end]*size] != w.tested[0][g*size] {
			for a := end - 1; a > start; a-- {
				b := start + w.rng.IntN(a-start+1)
				for i := range size {
					p, q := place[a]*size+i, place[b]*size+i
					y[p], y[q] = y[q], y[p]
				}
			}
			start = end
		}
	}
	return y
}

// truth draws a label by the inputs.
func (w *world) truth(x []float64) int {
	odds := 0.0
	if w.share > 0 {
		odds = math.Log(w.share / (1 - w.share))
	}
	for _, v := range x[:4] {
		odds += w.signal * v
	}
	if w.rng.Float64() < sigmoid(odds) {
		return 1
	}
	return 0
}

func sigmoid(x float64) float64 { return 1 / (1 + math.Exp(-x)) }

// predict returns the held-out predictions of all models. ok is false if a training part lacks a
// class.
func (w *world) predict(y []int) (c cv.Contenders, ok bool) {
	classes := max(2, w.classes)
	c = cv.Contenders{Groups: w.groups, Ratio: float64(w.folds) / float64(w.folds-1), Seed: w.rng.Uint64()}
	indicator := mat.NewDense(w.n, classes, nil)
	for i, label := range y {
		indicator.Set(i, label, 1)
	}
	counts := make([][][]int, len(w.tested))
	cases := make([][][]int, len(w.tested))
	for r, tested := range w.tested {
		counts[r], cases[r] = make([][]int, w.folds), make([][]int, w.folds)
		for k := range w.folds {
			counts[r][k] = make([]int, classes)
			for i, t := range tested {
				if t == k {
					cases[r][k] = append(cases[r][k], i)
				} else {
					counts[r][k][y[i]]++
				}
			}
			if slices.Contains(counts[r][k], 0) {
				return c, false
			}
		}
	}
	for _, m := range w.models {
		var f mat.Dense // a row for each row of weights, a column for each class
		f.Mul(m.weights, indicator)
		var parts []cv.Predictions
		for r := range w.tested {
			for k, in := range cases[r] {
				proba, labels := mat.NewDense(len(in), classes, nil), make([]int, len(in))
				for a, i := range in {
					labels[a] = y[i]
					m.probabilities(proba.RawRowView(a), f.RawRowView(r*w.n+i), m.sums[r*w.n+i], counts[r][k])
				}
				p, err := cv.NewPredictions(in, labels, proba, counts[r][k])
				if err != nil {
					panic(err)
				}
				parts = append(parts, p)
			}
		}
		c.Parts = append(c.Parts, parts)
	}
	return c, true
}

// probabilities are proportional to frequency times exp(scale f). Here f is the regression of the
// labels minus their frequency.
func (m model) probabilities(out, f []float64, sum float64, counts []int) {
	total := 0
	for _, n := range counts {
		total += n
	}
	for j := range out {
		share := float64(counts[j]) / float64(total)
		out[j] = share * math.Exp(m.scale*(f[j]-share*sum))
		if len(m.inputs) == 0 {
			out[j] = math.Pow(share, m.shrunk)
		}
	}
	floats.Scale(1/floats.Sum(out), out)
}

// fresh is the score of a model on other cases, after a fit to all cases of the set.
func (w *world) fresh(m model, y []int, s cv.Score) float64 {
	const cases = 1000
	k := mat.NewSymDense(w.n, nil)
	counts, f := []int{0, 0}, mat.NewDense(w.n, 2, nil)
	for _, label := range y {
		counts[label]++
	}
	for i := range w.n {
		for j := range i + 1 {
			k.SetSym(i, j, m.covariance(w.x.RawRowView(i), w.x.RawRowView(j)))
		}
		k.SetSym(i, i, k.At(i, i)+m.noise)
		f.Set(i, y[i], 1)
	}
	ones := mat.NewVecDense(w.n, slices.Repeat([]float64{1}, w.n))
	var cholesky mat.Cholesky
	if !cholesky.Factorize(k) || cholesky.SolveTo(f, f) != nil || cholesky.SolveVecTo(ones, ones) != nil {
		panic("the covariance is singular")
	}
	proba, labels, numbers := mat.NewDense(cases, 2, nil), make([]int, cases), make([]int, cases)
	x, row := make([]float64, inputs), make([]float64, w.n)
	for i := range cases {
		for j := range x {
			x[j] = w.rng.NormFloat64()
		}
		for j := range row {
			row[j] = m.covariance(x, w.x.RawRowView(j))
		}
		labels[i], numbers[i] = w.truth(x), i
		of := []float64{floats.Dot(row, mat.Col(nil, 0, f)), floats.Dot(row, mat.Col(nil, 1, f))}
		m.probabilities(proba.RawRowView(i), of, floats.Dot(row, ones.RawVector().Data), counts)
	}
	p, err := cv.NewPredictions(numbers, labels, proba, counts)
	if err != nil {
		panic(err)
	}
	e, _, _ := s.Of(p)
	return e.Value
}
