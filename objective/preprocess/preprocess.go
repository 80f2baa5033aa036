// Package preprocess maps inputs before they reach a kernel. It replaces missing values by the mean
// or the median of their column. Then it standardises, z_j = (x_j - mean_j)/sd_j, perhaps after a
// power of skewed inputs, or whitens, z = S^(-½)(x - mean) with the covariance S of the inputs.
//
// Fit computes the statistics from the cases that it is given, so that no test case has an
// influence on them. Apply maps any inputs by these statistics. The package knows neither files nor
// labels.
package preprocess

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/internal/registry"
)

// Map is a map of the inputs, fitted on the training part of a split and applied to both parts:
//
//	z = (t(x) − Mean) / Scale     or     z = W (x − Mean),   W = Root Rootᵀ
//
// after missing values have been replaced by Impute. t is given by the powers of the columns. Parts
// that are nil are left out.
type Map struct {
	How    string    `json:"how"`
	Impute []float64 `json:"impute,omitempty"` // d: replaces a missing value
	Power  []Power   `json:"power,omitempty"`  // d
	Mean   []float64 `json:"mean,omitempty"`   // d
	Scale  []float64 `json:"scale,omitempty"`  // d: population standard deviations, 1 for constant columns
	// d×r, row-major, of W in its r directions: W itself may be far larger than the data
	Root []float64 `json:"root,omitempty"`
}

// epsilon is the distance from 1 to the next number.
const epsilon = 0x1p-52

// method is a value of the key preprocess.
type method struct {
	fit func(p *Map, x *mat.Dense, weight []float64) (warnings []cause.Notice, err error)

	power, mean, scale, root bool // the parts of Map that fit sets
}

// Table lists the values of the key preprocess; the first is the default.
var Table = registry.Table[method]{
	of("none", "inputs as they are",
		method{fit: func(*Map, *mat.Dense, []float64) ([]cause.Notice, error) { return nil, nil }}),
	of("standardize", "zero mean and unit variance", method{fit: standardize, mean: true, scale: true}),
	of("power", "powers or logarithms of skewed inputs that are not below 0, then zero mean and unit variance",
		method{fit: powers, power: true, mean: true, scale: true}),
	of("whiten", "zero mean and identity covariance", method{fit: whiten, mean: true, root: true}),
}

func of(name, doc string, m method) registry.Entry[method] {
	return registry.Entry[method]{Name: name, Doc: doc, New: func(registry.Decode) (method, error) { return m, nil }}
}

// methodNamed finds a value of the key preprocess.
func methodNamed(name string) (method, error) {
	e, err := Table.Lookup("preprocess", name)
	if err != nil {
		return method{}, err
	}
	return e.New(nil)
}

// InputError is an error about one input.
type InputError struct {
	Input int    // from 0
	text  string // format of the message, with one verb for the input's name
}

// Error calls the input by its number, from 1.
func (e InputError) Error() string { return e.Of(fmt.Sprintf("input %d", e.Input+1)) }

// Of is the message with this name of the input.
func (e InputError) Of(name string) string { return fmt.Sprintf(e.text, name) }

// Fit learns a map from x, the n×d inputs of a training part; x is not changed. how is none,
// standardize, power or whiten, missing is error, drop, mean or median; "" is the first in each
// list. Columns marked in names hold category numbers and are not changed; whiten does not allow
// them. The errors are about the data, and InputErrors: a missing value with error or drop, an
// infinite value, or a column without any value.
func Fit(x *mat.Dense, how, missing string, names ...bool) (*Map, []cause.Notice, error) {
	return FitWeighted(x, nil, how, missing, names...)
}

// FitWeighted is Fit to cases of these weights, above 0; nil: 1 each.
func FitWeighted(
	x *mat.Dense, weight []float64, how, missing string, names ...bool,
) (*Map, []cause.Notice, error) {
	if n, _ := x.Dims(); weight != nil && len(weight) != n {
		panic(fmt.Sprintf("preprocess: %d weights of %d cases", len(weight), n))
	}
	p := &Map{How: cmp.Or(how, Table[0].Name)}
	m, err := methodNamed(p.How)
	if err != nil {
		return nil, nil, err
	}
	if err := p.fitImputation(x, weight, missing); err != nil {
		return nil, nil, err
	}
	if p.Impute != nil {
		x = mat.DenseCopyOf(x)
		p.impute(x)
	}
	warnings, err := m.fit(p, x, weight)
	if err != nil {
		return nil, nil, err
	}
	for j, is := range names {
		switch {
		case is && m.root:
			return nil, nil, InputError{j, p.How + " would mix %s, which holds names, with the others; standardize " +
				"instead"}
		case is && m.scale:
			p.Mean[j], p.Scale[j] = 0, 1
			if m.power {
				p.Power[j] = Power{Exponent: 1}
			}
		}
	}
	return p, warnings, nil
}

// fitImputation sets Impute to the mean or median of the values that are not missing. It returns an
// error for values that are infinite, or missing and not replaced.
func (p *Map) fitImputation(x *mat.Dense, weight []float64, missing string) error {
	n, d := x.Dims()
	centre, imputes := map[string]func(x, w []float64) float64{"mean": weightedMean, "median": weightedMedian}[missing]
	if imputes {
		p.Impute = make([]float64, d)
	}
	column := make([]float64, n)
	for j := range d {
		mat.Col(column, j, x)
		unusable := func(v float64) bool { return math.IsInf(v, 0) || math.IsNaN(v) && !imputes }
		if i := slices.IndexFunc(column, unusable); i >= 0 {
			return InputError{j, fmt.Sprintf("case %d has %v as %%s; remove it, or set missing: mean or median for "+
				"missing values", i+1, column[i])}
		}
		if !imputes {
			continue
		}
		there, of := present(column, weight)
		if len(there) == 0 {
			return InputError{j, fmt.Sprintf("%%s has no value in these %d cases, so none to put in for what is "+
				"missing; leave the column out", n)}
		}
		p.Impute[j] = centre(there, of)
	}
	return nil
}

// impute replaces missing values in x, in place.
func (p *Map) impute(x *mat.Dense) {
	n, _ := x.Dims()
	for i := range n {
		row := x.RawRowView(i)
		for j, v := range p.Impute {
			if math.IsNaN(row[j]) {
				row[j] = v
			}
		}
	}
}

// Check checks a map that was read from outside the program, for inputs with d columns.
func (p *Map) Check(d int) error {
	sets, err := methodNamed(p.How)
	if err != nil {
		return err
	}
	for _, part := range []struct {
		name   string
		values []float64
		wanted bool
	}{{"impute", p.Impute, p.Impute != nil}, {"mean", p.Mean, sets.mean}, {"scale", p.Scale, sets.scale}} {
		length := 0
		if part.wanted {
			length = d
		}
		if len(part.values) != length {
			return fmt.Errorf("%s has %d numbers, want %d", part.name, len(part.values), length)
		}
	}
	if len(p.Root)%d != 0 || len(p.Root) > d*d || len(p.Root) > 0 && !sets.root {
		return fmt.Errorf("root has %d numbers, want a multiple of %d up to %d with whiten, else none", len(p.Root), d,
			d*d)
	}
	if sets.power != (p.Power != nil) || len(p.Power) > 0 && len(p.Power) != d {
		return fmt.Errorf("power has %d entries, want %d with power, else none", len(p.Power), d)
	}
	for j, power := range p.Power {
		if err := power.check(); err != nil {
			return fmt.Errorf("power[%d]: %w", j, err)
		}
	}
	for j, s := range p.Scale {
		if !(s > 0) {
			return fmt.Errorf("scale[%d] = %v must be greater than 0", j, s)
		}
	}
	return nil
}

// Apply maps x, m×d, into a new matrix of the same shape. It panics on missing values if Impute is
// nil; the readers of data then refuse them.
func (p *Map) Apply(x *mat.Dense) *mat.Dense {
	z := mat.DenseCopyOf(x)
	p.ApplyTo(z)
	return z
}

// ApplyTo is Apply in place.
func (p *Map) ApplyTo(z *mat.Dense) {
	m, d := z.Dims()
	for _, part := range [][]float64{p.Impute, p.Mean, p.Scale} {
		if part != nil && len(part) != d {
			panic(fmt.Sprintf("preprocess: inputs have %d columns, the map has %d", d, len(part)))
		}
	}
	p.impute(z)
	for i := range m {
		row := z.RawRowView(i)
		for j, v := range row {
			if math.IsNaN(v) {
				panic(fmt.Sprintf("preprocess: missing value at row %d, column %d, and no imputation was fitted", i, j))
			}
			if p.Power != nil {
				v = p.Power[j].at(v)
			}
			if p.Mean != nil {
				v -= p.Mean[j]
			}
			if p.Scale != nil {
				v /= p.Scale[j]
			}
			row[j] = v
		}
	}
	if p.How != "whiten" {
		return
	}
	r := len(p.Root) / d
	if r == 0 {
		z.Zero()
		return
	}
	root := blas64.General{Rows: d, Cols: r, Stride: r, Data: p.Root}
	coordinates := mat.NewDense(m, r, nil)
	linalg.Gemm(blas.NoTrans, blas.NoTrans, 1, z.RawMatrix(), root, 0, coordinates.RawMatrix())
	linalg.Gemm(blas.NoTrans, blas.Trans, 1, coordinates.RawMatrix(), root, 0, z.RawMatrix())
}

// Original is the input j that Apply maps to z, for a map that does not whiten.
func (p *Map) Original(j int, z float64) float64 {
	if p.Scale != nil {
		z = z*p.Scale[j] + p.Mean[j]
	}
	if p.Power != nil {
		z = p.Power[j].of(z)
	}
	return z
}

// powers: the Box-Cox transformation of every column without values below 0, then zero mean and
// unit variance. λ is the exponent under which the transformed values have the largest normal
// likelihood.
func powers(p *Map, x *mat.Dense, weight []float64) ([]cause.Notice, error) {
	n, d := x.Dims()
	p.Power = make([]Power, d)
	x = mat.DenseCopyOf(x)
	column := make([]float64, n)
	for j := range d {
		mat.Col(column, j, x)
		p.Power[j] = likeliest(column, weight)
		for i, v := range column {
			x.Set(i, j, p.Power[j].at(v))
		}
	}
	return standardize(p, x, weight)
}

// standardize: zero mean and unit population variance (divisor n) per column; a constant column is
// only centred.
func standardize(p *Map, x *mat.Dense, weight []float64) ([]cause.Notice, error) {
	n, d := x.Dims()
	p.Mean, p.Scale = make([]float64, d), make([]float64, d)
	column := make([]float64, n)
	for j := range d {
		mat.Col(column, j, x)
		p.Mean[j] = weightedMean(column, weight)
		p.Scale[j] = 1
		if s := deviation(column, weight, p.Mean[j]); s > 0 {
			p.Scale[j] = s
		}
	}
	return nil, nil
}

// whiten: zero mean and identity population covariance without rotation, W = Σ^(-1/2), the
// symmetric root (ZCA). The root comes from the singular values of the centred inputs, X−1μᵀ = U S
// Vᵀ: Σ = V S² Vᵀ / n and W = √n V S⁻¹ Vᵀ. So small eigenvalues of Σ keep digits that forming Σ
// would lose. W projects out the directions in which the inputs do not vary; n cases vary in at
// most n-1 directions. A direction counts as constant if its singular value is at most max(n, d)·ε
// times the largest, or could come from rounding of the inputs, 4ε of the largest value in every
// column.
func whiten(p *Map, x *mat.Dense, weight []float64) ([]cause.Notice, error) {
	n, d := x.Dims()
	p.Mean = make([]float64, d)
	column, rounding := make([]float64, n), make([]float64, d)
	centred := mat.NewDense(n, d, nil)
	for j := range d {
		mat.Col(column, j, x)
		p.Mean[j] = weightedMean(column, weight)
		for i, v := range column {
			centred.Set(i, j, math.Sqrt(weightOf(weight, i))*(v-p.Mean[j]))
			rounding[j] = max(rounding[j], 4*epsilon*math.Abs(v))
		}
	}
	var svd mat.SVD
	if !svd.Factorize(centred, mat.SVDThinV) {
		return nil, errors.New("whitening: the singular value decomposition of the inputs did not converge; " +
			"standardize instead")
	}
	var v mat.Dense
	svd.VTo(&v)
	s := svd.Values(nil)
	var rank int
	for rank = 0; rank < min(len(s), n-1) && s[rank] > float64(max(n, d))*epsilon*s[0]; rank++ {
		noise := 0.0 // rounding error of the coordinate in this direction
		for j, e := range rounding {
			noise = math.Hypot(noise, v.At(j, rank)*e)
		}
		if s[rank] <= math.Sqrt(float64(n))*noise {
			break
		}
	}
	p.Root = make([]float64, d*rank)
	for j := range d {
		for k, v := range v.RawRowView(j)[:rank] {
			p.Root[j*rank+k] = v * math.Sqrt(math.Sqrt(count(n, weight))/s[k]) // V (√n S⁻¹)^½
		}
	}
	if rank < d {
		return []cause.Notice{cause.Projected.New("whitening: the training inputs vary in %d of %d directions; the "+
			"others are projected out", rank, d)}, nil
	}
	return nil, nil
}
