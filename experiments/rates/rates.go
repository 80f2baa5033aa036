// Package rates predicts computing times from the measurements of gpc-tune doctor. Only estimates
// of times depend on it.
package rates

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"sort"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/atomicfile"
	"github.com/gpc-tune/gpc-tune/internal/build"
	"github.com/gpc-tune/gpc-tune/internal/machine"
	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// Rates are computing times on this machine, measured by `gpc-tune doctor`. They do not affect
// results.
type Rates struct {
	Schema  string                 `json:"schema"` // "gpc-tune/rates/1"
	Build   record.Build           `json:"build"`
	CPU     string                 `json:"cpu"`
	Kernels map[string]KernelRates `json:"kernels"` // by name, with " ard" appended for a length scale per column
	Methods map[string]MethodRates `json:"methods"` // by inference/likelihood
}

// Rate has the seconds for each term of a sum.
type Rate [3]float64

// KernelRates are for n cases with d columns: seconds per n²d, n² and nd.
type KernelRates struct {
	First    Rate `json:"first"` // parts that Inputs keep
	Gram     Rate `json:"gram"`
	Pullback Rate `json:"pullback"`
}

// MethodRates are for n cases, per latent process or binary problem: seconds per n³, n² and n.
// Those of a prediction are, per new case, for n², n and 1.
type MethodRates struct {
	Fit      Rate                     `json:"fit"`
	Again    Rate                     `json:"again"` // from the state of a nearby fit
	Predict  Rate                     `json:"predict"`
	Criteria map[string]CriterionRate `json:"criteria"`
}

// CriterionRate is for n cases, as in MethodRates.
type CriterionRate struct {
	Value    Rate `json:"value"`
	Gradient Rate `json:"gradient"`
}

// Nominal replaces Rates that were not measured: it has the right order of magnitude on any
// machine, and the right growth with the size of the problem, which suffices to divide work evenly.
var (
	Nominal       = &Rates{}
	nominalKernel = KernelRates{First: Rate{1e-10, 1e-9}, Gram: Rate{0, 1e-8}, Pullback: Rate{1e-9, 1e-9}}
	NominalMethod = MethodRates{Fit: Rate{1e-10, 2e-8, 1e-6}, Again: Rate{3e-11, 1e-8, 1e-6},
		Predict:  Rate{1e-9, 1e-8, 1e-6},
		Criteria: map[string]CriterionRate{"log_evidence": {Gradient: Rate{5e-11, 1e-8}}}}
)

// kernel and method are the rates of a name.
func (r *Rates) kernel(name string) (k KernelRates, ok bool) {
	if r == Nominal {
		return nominalKernel, true
	}
	k, ok = r.Kernels[name]
	return k, ok
}

func (r *Rates) method(name string) (m MethodRates, ok bool) {
	if r == Nominal {
		return NominalMethod, true
	}
	m, ok = r.Methods[name]
	return m, ok
}

const ratesSchema = "gpc-tune/rates/1"

// ThisMachine identifies this machine, without rates.
func ThisMachine() *Rates {
	return &Rates{Schema: ratesSchema, Build: build.This(), CPU: machine.CPU(), Kernels: map[string]KernelRates{},
		Methods: map[string]MethodRates{}}
}

// ratesFile is the file with a user's rates.
func ratesFile() (string, error) {
	dir, err := os.UserConfigDir()
	return filepath.Join(dir, "gpc-tune", "rates.json"), err
}

// LoadRates reads the rates saved by `gpc-tune doctor`. Without rates for this build and processor
// they are nil, and note has the reason.
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
	switch here := ThisMachine(); {
	case err != nil:
		return nil, fmt.Sprintf("no times: %v; run %s again", err, run)
	case r.Schema != here.Schema || r.Build != here.Build || r.CPU != here.CPU:
		return nil, fmt.Sprintf("no times: %s was measured by another build or on another processor; run %s "+
			"again", name, run)
	}
	return r, ""
}

// Save saves the rates and returns the name of the file.
func (r *Rates) Save() (string, error) {
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

// FitRate returns the non-negative coefficients with the least Σ (relative error)² of times as sums
// of terms. There are so few terms that all subsets are tried.
func FitRate(terms [][3]float64, seconds []float64) (best Rate) {
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

// Of is the sum of the terms.
func (r Rate) Of(terms [3]float64) (seconds float64) {
	for i, c := range r {
		seconds += c * terms[i]
	}
	return seconds
}

// KernelTerms and methodTerms are the terms for the rates.
func KernelTerms(n, dim int) [3]float64 {
	x, d := float64(n), float64(dim)
	return [3]float64{x * x * d, x * x, x * d}
}

func MethodTerms(n int) [3]float64 {
	x := float64(n)
	return [3]float64{x * x * x, x * x, x}
}

// withInducing are the terms for n cases with m inducing inputs, given those for m cases:
// operations that take m² per pair of inputs take m per case, and a method takes about six passes
// of m² instead of one of n³.
func withInducing(terms [3]float64, n, m int, passes float64) [3]float64 {
	per := float64(n) / float64(m)
	return [3]float64{passes * per * terms[0], passes * per * terms[1], per * terms[2]}
}

// KernelKey names a kernel of the table.
func KernelKey(k kernel.Kernel) string {
	name := kernel.Table.NameOf(k)
	if len(k.Params(2)) > len(k.Params(1)) {
		name += " ard"
	}
	return name
}

// Times are the times of one fit of a model, in seconds.
type Times struct{ First, Gram, Pullback, Fit, Again, Value, Gradient, Predict float64 }

// Phases returns the times of a model; false if they were not measured.
func (r *Rates) Phases(m objective.Model, s approx.Size, dim int, criterion string) (p Times, ok bool) {
	points := approx.InducingOf(m.Inference).Points
	if points >= s.Cases {
		points = 0
	}
	for _, k := range m.Kernels {
		for _, leaf := range kernel.Leaves(k, dim) {
			rates, ok := r.kernel(KernelKey(leaf.Kernel))
			if !ok {
				return p, false
			}
			terms := KernelTerms(s.Cases, leaf.Dim)
			if points > 0 {
				terms = withInducing(KernelTerms(points, leaf.Dim), s.Cases, points, 1)
			}
			p.First += rates.First.Of(terms) / float64(len(m.Kernels)) // shared by the kernels
			p.Gram += rates.Gram.Of(terms)
			p.Pullback += rates.Pullback.Of(terms)
		}
	}
	method, classes := m.Inference, float64(max(1, s.Classes))
	if s.Classes == 2 {
		classes = 1
	}
	pairs := 1.0 // with inducing inputs and joint classes, each pair of classes needs products
	if each, ok := method.(approx.OneVsRest); ok {
		method = each.Binary
	} else if points > 0 {
		pairs = classes
	}
	rates, ok := r.method(MethodKey(method, m.Likelihood))
	if !ok {
		return p, false
	}
	terms := MethodTerms(s.Cases)
	apart := s
	apart.Distinct = s.Cases
	if method.Memory(s) != method.Memory(apart) { // equal cases are merged for the factorisation
		terms[0] = MethodTerms(s.Distinct)[0]
	}
	if points > 0 {
		terms = withInducing(MethodTerms(points), s.Cases, points, 6*pairs)
	}
	times := classes
	if a, ok := method.(approx.Abridger); ok {
		_, more := a.Abridged()
		times *= more
	}
	p.Fit, p.Again = times*rates.Fit.Of(terms), times*rates.Again.Of(terms)
	c, ok := rates.Criteria[criterion]
	if !ok {
		c = rates.Criteria["log_evidence"] // plus a prior
	}
	p.Value, p.Gradient = classes*c.Value.Of(terms), classes*c.Gradient.Of(terms)
	if held := float64(s.New); held > 0 {
		x := float64(s.Cases)
		if points > 0 {
			x = float64(points)
		}
		p.Predict = 2*held/float64(s.Cases)*p.Gram + classes*held*rates.Predict.Of([3]float64{pairs * x * x, x, 1})
	}
	return p, true
}

const (
	// Points is a number of inducing inputs that loses little accuracy on most problems, and faster
	// is the speed-up over the exact method from which on they are recommended.
	Points = 500
	faster = 10
)

// InducingFrom is the approximate number of cases from which on Points inducing inputs take a tenth
// of the time of the exact method, for one evaluation with its gradient, and the model with them.
// ok is false if the method does not accept them, or the times are unknown.
func (r *Rates) InducingFrom(m objective.Model, s approx.Size, dim int) (with objective.Model, cases int, ok bool) {
	with = m
	if with.Inference, ok = approx.Induced(m.Inference, Points); !ok {
		return m, 0, false
	}
	if _, err := with.Check(s.Classes); err != nil {
		return m, 0, false
	}
	gains := func(n int) bool {
		s.Cases, s.Distinct, s.New = n, n, 0
		exact, known := r.Phases(m, s, dim, "log_evidence")
		less, _ := r.Phases(with, s, dim, "log_evidence")
		return known && exact.Evaluation() >= faster*less.Evaluation()
	}
	const most = 1 << 24
	if !gains(most) {
		return m, 0, false
	}
	cases = Points + 1 + sort.Search(most-Points, func(k int) bool { return gains(Points + 1 + k) })
	digits := math.Pow(10, math.Floor(math.Log10(float64(cases)))-1) // two significant digits
	return with, int(math.Ceil(float64(cases)/digits) * digits), true
}

// Evaluation is the time of one evaluation with its gradient.
func (t Times) Evaluation() float64 { return t.Gram + t.Fit + t.Value + t.Pullback + t.Gradient }

func MethodKey(m approx.Approximation, lik likelihood.Likelihood) string {
	return approx.Table.NameOf(m) + "/" + likelihood.Table.NameOf(lik)
}
