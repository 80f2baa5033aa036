package job

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/maphash"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/cv/split"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/objective/preprocess"
	"github.com/gpc-tune/gpc-tune/record"
)

// Set is one training set of a data set with its held-out cases. Configurations share it.
type Set struct {
	Evaluation   string // "train", "training", "test" or a splitter's name
	Repeat, Fold int
	Seed         uint64
	Source       *data.Data
	How          preprocess.Choice
	missing      string // imputation of missing values
	Train, Test  []int  // rows of Source; "test" holds out all of Source.Test
	Outer        *Set   // larger training set of nested cross-validation that contains this one

	mu       sync.Mutex
	prepared *Prepared // nil: not computed yet, or released
	Studies  int       // number of studies not assessed yet; the last one releases prepared
	users    int       // number of running jobs; the last one releases their shared covariances
}

// Prepared is a training set ready for fits: preprocessing is fitted on the training part only,
// unless the file requests all cases.
type Prepared struct {
	Data         objective.Data
	Preprocessor *preprocess.Map
	Held         *kernel.Inputs // nil: nothing is held out
	Rows         []int          // row of each held-out case in its file
	labels       []int          // classes of the held-out cases
	weights      []float64      // weights of the held-out cases; nil: 1 each
	counts       []int          // training cases per class
	sums         []float64      // sum of the training weights per class; nil: the counts
	ordered      bool           // the order of the classes was given
	targets      []float64      // targets of the held-out cases, if they are numeric
	moments      record.Moments // moments of the training cases' numbers
	Warnings     []cause.Notice
}

// some returns these training cases, without held-out cases.
func (p *Prepared) some(of []int) *Prepared {
	few := &Prepared{Data: p.Data}
	few.Data.X = &kernel.Inputs{X: data.PickRows(p.Data.X.X, of)}
	few.Data.Groups = data.Pick(p.Data.Groups, of)
	y := &few.Data.Y
	y.Index, y.Value, y.Weight = data.Pick(y.Index, of), data.Pick(y.Value, of), data.Pick(y.Weight, of)
	return few
}

// Prepare preprocesses the training set, or returns the result of the first call.
func (t *Set) Prepare() (*Prepared, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.prepared == nil {
		p := &Prepared{}
		if err := t.fill(p); err != nil {
			return nil, err
		}
		t.prepared = p
	}
	return t.prepared, nil
}

// Use registers a running job; done ends it. Only running jobs count the n² distances in their
// Memory.
func (t *Set) Use() (done func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.users++
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.users--; t.users > 0 || t.prepared == nil {
			return
		}
		p := *t.prepared
		p.Data.X = p.Data.X.Fresh()
		if p.Held != nil {
			p.Held = p.Held.Fresh()
		}
		t.prepared = &p
	}
}

// Release records that one study has finished with the training set.
func (t *Set) Release() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.Studies--; t.Studies <= 0 {
		t.prepared = nil
	}
}

func (t *Set) fill(p *Prepared) error {
	x := data.PickRows(t.Source.X, t.Train)
	fitted, weight := x, data.Pick(t.Source.Weights, t.Train)
	if t.How.All() {
		fitted, weight = t.Source.X, t.Source.Weights
	}
	_, names := t.Source.Schema.Sources()
	pre, warnings, err := preprocess.FitWeighted(fitted, weight, t.How.Method(), t.missing, names...)
	if of := (preprocess.InputError{}); errors.As(err, &of) && of.Input < len(t.Source.ColumnNames) {
		return fmt.Errorf("%s", of.Of(fmt.Sprintf("input %q", t.Source.ColumnNames[of.Input])))
	} else if err != nil {
		return err
	}
	pre.ApplyTo(x)
	p.Warnings, p.Preprocessor = warnings, pre
	p.Data = objective.Data{X: &kernel.Inputs{X: x}, Y: t.Targets(), Classes: t.Source.Classes,
		Groups: data.Pick(t.Source.Groups, t.Train), Scaled: pre.How != "none"}
	p.counts, p.ordered = make([]int, len(t.Source.Classes)), t.Source.Schema.Ordered
	if t.Source.Targets != nil {
		mean, variance := stat.PopMeanVariance(p.Data.Y.Value, p.Data.Y.Weight)
		p.moments = record.Moments{Mean: record.Number(mean), Variance: record.Number(variance)}
	} else {
		for _, row := range t.Train {
			p.counts[t.Source.Labels[row]]++
		}
		if t.Source.Weights != nil {
			p.sums = make([]float64, len(p.counts))
			for _, row := range t.Train {
				p.sums[t.Source.Labels[row]] += t.Source.Weights[row]
			}
		}
	}
	from, rows := t.Source, t.Test
	if t.Evaluation == "test" {
		from = t.Source.Test
		rows = make([]int, len(from.Rows))
		for i := range rows {
			rows[i] = i
		}
	}
	if len(rows) == 0 {
		return nil
	}
	held := data.PickRows(from.X, rows)
	pre.ApplyTo(held)
	p.Held, p.weights = &kernel.Inputs{X: held}, data.Pick(from.Weights, rows)
	for _, row := range rows {
		p.Rows = append(p.Rows, from.Rows[row])
		if from.Targets != nil {
			p.targets = append(p.targets, from.Targets[row])
		} else {
			p.labels = append(p.labels, from.Labels[row])
		}
	}
	return nil
}

// Targets encodes the training labels for approximations.
func (t *Set) Targets() approx.Targets {
	y := approx.Coded(len(t.Source.Classes), t.labels(), data.Pick(t.Source.Targets, t.Train))
	y.Weight = data.Pick(t.Source.Weights, t.Train)
	return y
}

// some draws n positions of training cases at random, in ascending order. Each class has its
// rounded fraction of n. The result depends only on n and the cases.
func (t *Set) some(n int) []int {
	order := rand.New(rand.NewPCG(uint64(n), uint64(len(t.Train)))).Perm(len(t.Train))
	if labels := t.labels(); labels != nil {
		slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(labels[a], labels[b]) })
	}
	n = min(n, len(order))
	some := make([]int, n)
	for i := range some {
		some[i] = order[(2*i+1)*len(order)/(2*n)]
	}
	slices.Sort(some)
	return some
}

// Split divides a training set into folds. Its own held-out cases are not used.
func (t *Set) Split(s split.Splitter, seed uint64, evaluation string) ([]*Set, error) {
	folds, err := split.Split(s, len(t.Train), data.Pick(t.Source.Labels, t.Train), data.Pick(t.Source.Groups, t.Train),
		seed)
	if err != nil {
		return nil, lostClass(err, t.Source.Classes)
	}
	sets := make([]*Set, len(folds))
	for i, f := range folds {
		sets[i] = &Set{Evaluation: evaluation, Repeat: f.Repeat, Fold: f.Fold, Source: t.Source, How: t.How,
			missing: t.missing, Train: data.Pick(t.Train, f.Train), Test: data.Pick(t.Train, f.Test)}
	}
	return sets, nil
}

// WholeSet is the training set with all of the training data.
func WholeSet(ds *data.Data, spec data.Spec) *Set {
	t := &Set{Evaluation: "train", Source: ds, How: spec.Preprocess, missing: spec.Missing}
	for i := range ds.Rows {
		t.Train = append(t.Train, i)
	}
	return t
}

// lostClass adds to an error of a split the name of the class that a training part lacks.
func lostClass(err error, classes []string) error {
	var lost *split.LostClass
	if errors.As(err, &lost) {
		lost.Name = classes[lost.Class]
	}
	return err
}

// Imputes returns the imputation of missing values; "" if no value is missing.
func (t *Set) Imputes() string {
	lacks := func(d *data.Data) bool { return d != nil && floats.HasNaN(d.X.RawMatrix().Data) }
	if lacks(t.Source) || lacks(t.Source.Test) {
		return t.missing
	}
	return ""
}

// Held is the number of held-out cases.
func (t *Set) Held() int {
	if t.Evaluation == "test" {
		return len(t.Source.Test.Rows)
	}
	return len(t.Test)
}

// Size is the size of the problem. merges means that cases with equal inputs have equal rows of K.
func (t *Set) Size(merges bool) approx.Size {
	s := approx.Size{Cases: len(t.Train), Distinct: len(t.Train), New: t.Held(), Classes: len(t.Source.Classes)}
	if merges {
		s.Distinct = distinctRows(t.Source.X, t.Train)
	}
	return s
}

// distinctRows counts distinct rows, bit by bit, among the given rows of x. The first row of each
// kind is kept, under its hash or the next free number.
func distinctRows(x *mat.Dense, rows []int) int {
	first, seed := make(map[uint64]int, len(rows)), maphash.MakeSeed()
	var text []byte
	bits := func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }
	for _, i := range rows {
		row := x.RawRowView(i)
		text = text[:0]
		for _, v := range row {
			text = binary.LittleEndian.AppendUint64(text, math.Float64bits(v))
		}
		for h := maphash.Bytes(seed, text); ; h++ {
			k, taken := first[h]
			if !taken {
				first[h] = i
			}
			if !taken || slices.EqualFunc(row, x.RawRowView(k), bits) {
				break
			}
		}
	}
	return len(first)
}

// Folded is the number of cases in both parts of all training sets.
func Folded(sets []*Set) (n int) {
	for _, t := range sets {
		n += len(t.Train) + len(t.Test)
	}
	return n
}

// labels returns the classes of the training cases; nil for numeric targets.
func (t *Set) labels() []int { return data.Pick(t.Source.Labels, t.Train) }

// latticePoints is the number of points along each input, for one input and for two.
var latticePoints = [...]int{201, 41}

// inputs returns the raw input j of the training cases.
func (t *Set) inputs(j int) (v []float64) {
	for _, row := range t.Train {
		v = append(v, t.Source.X.At(row, j))
	}
	return v
}

// truth is the true function at raw inputs, if it is known: the probability of the second of two
// classes or of every class, or the mean.
func (t *Set) truth(x *mat.Dense) (truth [][]float64) {
	if t.Source.Truth == nil {
		return nil
	}
	n, _ := x.Dims()
	for i := range n {
		for k, v := range t.Source.Truth(x.RawRowView(i)) {
			if i == 0 {
				truth = append(truth, make([]float64, n))
			}
			truth[k][i] = v
		}
	}
	if len(truth) == 2 {
		truth = truth[1:]
	}
	return truth
}
