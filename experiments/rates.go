package experiments

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"runtime"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/atomicfile"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/internal/machine"
	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// Rates say how long this machine computes, as `gpc-tune doctor` measured. They decide nothing.
type Rates struct {
	Schema  string                 `json:"schema"` // "gpc-tune/rates/1"
	Build   record.Build           `json:"build"`
	CPU     string                 `json:"cpu"`
	Kernels map[string]KernelRates `json:"kernels"` // by name, " ard" after it with a length scale for every column
	Methods map[string]MethodRates `json:"methods"` // by inference/likelihood
}

// Rate are seconds for each term of a sum.
type Rate [3]float64

// KernelRates are for n cases with d columns: seconds for n²d, n² and nd.
type KernelRates struct {
	First    Rate `json:"first"` // what Inputs keep
	Gram     Rate `json:"gram"`
	Pullback Rate `json:"pullback"`
}

// MethodRates are for n cases and each latent process or binary problem: seconds for n³, n² and n. Those of a prediction
// are, for each new case, for n², n and 1.
type MethodRates struct {
	Fit      Rate                     `json:"fit"`
	Again    Rate                     `json:"again"` // from the state of a neighbour
	Predict  Rate                     `json:"predict"`
	Criteria map[string]CriterionRate `json:"criteria"`
}

// CriterionRate is for n cases, as in MethodRates.
type CriterionRate struct {
	Value    Rate `json:"value"`
	Gradient Rate `json:"gradient"`
}

// nominal stand for Rates where none were measured: of the right order on any machine, and by their growth with the size of
// the problem good enough to divide work evenly.
var (
	nominal       = &Rates{}
	nominalKernel = KernelRates{First: Rate{1e-10, 1e-9}, Gram: Rate{0, 1e-8}, Pullback: Rate{1e-9, 1e-9}}
	nominalMethod = MethodRates{Fit: Rate{1e-10, 1e-7, 1e-6}, Again: Rate{3e-11, 3e-8, 1e-6}, Predict: Rate{1e-9, 1e-8, 1e-6},
		Criteria: map[string]CriterionRate{"log_evidence": {Gradient: Rate{5e-11, 1e-8}}}}
)

// kernel and method are the rates of a name.
func (r *Rates) kernel(name string) (k KernelRates, ok bool) {
	if r == nominal {
		return nominalKernel, true
	}
	k, ok = r.Kernels[name]
	return k, ok
}

func (r *Rates) method(name string) (m MethodRates, ok bool) {
	if r == nominal {
		return nominalMethod, true
	}
	m, ok = r.Methods[name]
	return m, ok
}

const ratesSchema = "gpc-tune/rates/1"

// thisMachine is Rates without any.
func thisMachine() *Rates {
	return &Rates{Schema: ratesSchema, Build: thisBuild(), CPU: machine.CPU(), Kernels: map[string]KernelRates{}, Methods: map[string]MethodRates{}}
}

// CheckEnvironment is an ErrEnvironment where the environment asks for instructions that this machine lacks.
func CheckEnvironment() error {
	if err := linalg.Err(); err != nil {
		return fmt.Errorf("%w: %w", ErrEnvironment, err)
	}
	return nil
}

// thisBuild is what computes here.
func thisBuild() record.Build {
	return record.Build{Version: Version(), Go: runtime.Version(), Arch: runtime.GOOS + "/" + runtime.GOARCH + " " + linalg.SIMD()}
}

// ratesFile is where a user's rates are kept.
func ratesFile() (string, error) {
	dir, err := os.UserConfigDir()
	return filepath.Join(dir, "gpc-tune", "rates.json"), err
}

// LoadRates reads what `gpc-tune doctor` has kept. Without rates for this build and processor they are nil, and the note
// says why.
func LoadRates() (r *Rates, note string) {
	const run = "gpc-tune doctor"
	name, err := ratesFile()
	if err != nil {
		return nil, fmt.Sprintf("no times: %v", err)
	}
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "after " + run + ", which measures this machine once, the time is shown too"
	}
	if err == nil {
		err = json.Unmarshal(text, &r)
	}
	switch here := thisMachine(); {
	case err != nil:
		return nil, fmt.Sprintf("no times: %v; run %s again", err, run)
	case r.Schema != here.Schema || r.Build != here.Build || r.CPU != here.CPU:
		return nil, fmt.Sprintf("no times: %s is of another build or processor; run %s again", name, run)
	}
	return r, ""
}

// save keeps the rates and returns the file.
func (r *Rates) save() (string, error) {
	name, err := ratesFile()
	if err != nil {
		return "", err
	}
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return "", err
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return "", err
	}
	return name, atomicfile.Write(name, func(w io.Writer) error {
		_, err := w.Write(append(text, '\n'))
		return err
	})
}

// fitRate returns the non-negative coefficients with the least Σ (relative error)² of times as sums of terms. There are
// few enough terms to try all sets of them.
func fitRate(terms [][3]float64, seconds []float64) (best Rate) {
	least := math.Inf(1)
	for set := 1; set < 8; set++ {
		var columns []int
		for c := range 3 {
			if set>>c&1 == 1 {
				columns = append(columns, c)
			}
		}
		if len(columns) > len(seconds) {
			continue
		}
		a, ones := mat.NewDense(len(seconds), len(columns), nil), mat.NewVecDense(len(seconds), nil)
		scale := terms[len(terms)-1]
		for i, s := range seconds {
			for j, c := range columns {
				a.Set(i, j, terms[i][c]/scale[c]/s)
			}
			ones.SetVec(i, 1)
		}
		var x, residual mat.VecDense
		if err := x.SolveVec(a, ones); err != nil && !errors.As(err, new(mat.Condition)) {
			continue
		}
		residual.MulVec(a, &x)
		residual.SubVec(&residual, ones)
		rate, positive := Rate{}, true
		for j, c := range columns {
			rate[c] = x.AtVec(j) / scale[c]
			positive = positive && x.AtVec(j) >= 0
		}
		if r := mat.Norm(&residual, 2); positive && r < least {
			least, best = r, rate
		}
	}
	return best
}

// of is the sum of the terms.
func (r Rate) of(terms [3]float64) (seconds float64) {
	for i, c := range r {
		seconds += c * terms[i]
	}
	return seconds
}

// kernelTerms and methodTerms are what rates are for.
func kernelTerms(n, dim int) [3]float64 {
	x, d := float64(n), float64(dim)
	return [3]float64{x * x * d, x * x, x * d}
}

func methodTerms(n int) [3]float64 {
	x := float64(n)
	return [3]float64{x * x * x, x * x, x}
}

// kernelKey names a kernel of the table.
func kernelKey(k kernel.Kernel) string {
	name := kernel.Table.NameOf(k)
	if len(k.Params(2)) > len(k.Params(1)) {
		name += " ard"
	}
	return name
}

// Costs are how long the parts of a study take, in seconds of processor time.
type Costs struct {
	Evaluation  float64 // one, cold, with its gradient if a local optimiser wants it
	Evaluations float64 // expected, in the longest job
	Longest     float64 // job
	Trials      float64 // of the jobs, those that are trials
	All         float64 // jobs
	Path        float64 // the jobs of a study that come one after another, whatever the number of workers
}

// evaluations is how many a local optimiser is expected to take for so many free hyperparameters: 14 to 27 for two on the
// bundled data, and 65 to 95 from six on.
func evaluations(free int) float64 { return min(2+9*float64(free), 80) }

// perMove is how many evaluations a move of a Markov chain is expected to take.
const perMove = 2.5

// phases are the times of one fit of a model, in seconds.
type phases struct{ first, gram, pullback, fit, again, value, gradient, predict float64 }

// phases returns the times of a model, or false where they were not measured.
func (r *Rates) phases(m objective.Model, s approx.Size, dim int, criterion string) (p phases, ok bool) {
	for _, k := range m.Kernels {
		for _, leaf := range kernel.Leaves(k, dim) {
			rates, ok := r.kernel(kernelKey(leaf.Kernel))
			if !ok {
				return p, false
			}
			terms := kernelTerms(s.Cases, leaf.Dim)
			p.first += rates.First.of(terms) / float64(len(m.Kernels)) // shared
			p.gram += rates.Gram.of(terms)
			p.pullback += rates.Pullback.of(terms)
		}
	}
	method, classes := m.Inference, float64(max(1, s.Classes))
	if s.Classes == 2 {
		classes = 1
	}
	if each, ok := method.(approx.OneVsRest); ok {
		method = each.Binary
	}
	rates, ok := r.method(methodKey(method, m.Likelihood))
	if !ok {
		return p, false
	}
	terms := methodTerms(s.Cases)
	apart := s
	apart.Distinct = s.Cases
	if method.Memory(s) != method.Memory(apart) { // it takes equal cases together, to factorise
		terms[0] = methodTerms(s.Distinct)[0]
	}
	times := classes
	if a, ok := method.(approx.Abridger); ok {
		_, more := a.Abridged()
		times *= more
	}
	p.fit, p.again = times*rates.Fit.of(terms), times*rates.Again.of(terms)
	c, ok := rates.Criteria[criterion]
	if !ok {
		c = rates.Criteria["log_evidence"] // with a prior added
	}
	p.value, p.gradient = classes*c.Value.of(terms), classes*c.Gradient.of(terms)
	if held := float64(s.New); held > 0 {
		x := float64(s.Cases)
		p.predict = 2*held/float64(s.Cases)*p.gram + classes*held*rates.Predict.of([3]float64{x * x, x, 1})
	}
	return p, true
}

func methodKey(m approx.Approximation, lik likelihood.Likelihood) string {
	return approx.Table.NameOf(m) + "/" + likelihood.Table.NameOf(lik)
}

// costs are those of one study with these trials.
func (r *Rates) costs(j *job, s approx.Size, criterion string, free int, trials []batch) (c Costs, ok bool) {
	_, dim := j.set.source.X.Dims()
	tuned, ok1 := r.phases(j.tuned, s, dim, criterion)
	model, ok2 := r.phases(j.model, s, dim, "loo_log_probability")
	if !ok1 || !ok2 {
		return c, false
	}
	evaluation := tuned.gram + tuned.value
	if j.optimizer != "" && j.gradients == objective.Exact {
		evaluation += tuned.pullback + tuned.gradient
	}
	c.Evaluation = tuned.first + tuned.fit + evaluation
	add := func(b batch, evaluations, seconds float64) {
		c.All += float64(b.trials) * seconds
		c.Path += float64(b.rounds) * seconds
		if seconds > c.Longest {
			c.Longest, c.Evaluations = seconds, evaluations
		}
	}
	moves, samples := 0.0, 0.0
	if j.chain != nil {
		moves = float64(cmp.Or(j.chain.Burn, 100*free) + cmp.Or(j.chain.Samples, 100)*cmp.Or(j.chain.Thin, 2))
		samples = float64(cmp.Or(j.chain.Samples, 100) * trials[0].trials)
	}
	for _, b := range trials {
		n := float64(b.points)
		switch {
		case j.optimizer != "": // restarts are far apart, and their fits as good as cold
			fits := evaluations(free) * float64(j.gradients.Evaluations(free))
			add(b, fits, tuned.first+fits*(evaluation+tuned.fit))
		case j.chain != nil:
			add(b, perMove*moves, tuned.first+perMove*moves*(evaluation+tuned.again))
		case j.cross != nil:
			sum := 0.0
			for _, set := range j.folds {
				fold, _ := r.phases(j.tuned, set.size(s.Distinct < s.Cases), dim, criterion)
				sum += fold.first + fold.fit + (n-1)*fold.again + n*(fold.gram+fold.predict)
			}
			add(b, n*float64(len(j.folds)), sum)
		default:
			each := tuned.gram + tuned.value + tuned.predict
			if j.hybrid {
				each += model.gram + model.again + model.predict - tuned.predict
			}
			add(b, n, tuned.first+tuned.fit+(n-1)*tuned.again+n*each)
		}
	}
	c.Trials = c.All
	assess := model.first + model.gram + model.fit + model.predict + samples*(model.gram+model.again+model.predict)
	if j.whole {
		assess += model.value
	}
	if j.curvature {
		assess += 2 * float64(free) * (evaluation + tuned.again)
	}
	add(batch{1, 1, 1}, 1+samples, assess)
	return c, true
}
