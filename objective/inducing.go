package objective

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strconv"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/objective/inducing"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// Inducing selects a prior of lower rank, as an option of a method. It replaces K by
//
//	K̂ = Q + Λ,   Q = K_xz K_zz⁻¹ K_zx,
//
// for m inducing inputs Z, at a cost of O(n m²) time and O(n m) memory (Quiñonero-Candela &
// Rasmussen 2005). With the zero value, or with no more cases than points, the method uses K
// itself.
type Inducing struct {
	// Points is m.
	Points int `yaml:"points" within:"[1,1000000]"`
	// Select names the method that selects the inducing inputs, once per training set and at the
	// initial hyperparameters.
	Select Selection `yaml:"select"`
	// Correction is the treatment of the variance that K has and Q has not, K - Q.
	Correction approx.Correction `yaml:"correction"`
	// Tolerance, if not 0, reduces the number of inputs: to the smallest number for which doubling
	// changes the log evidence by at most this, in nats per case. Points is the maximum.
	Tolerance float64 `yaml:"tolerance" within:"(0,inf)"`
	// Rechoose selects the inputs again at the tuned hyperparameters, and fits the model with
	// these.
	Rechoose bool `yaml:"rechoose"`
	// TuneInputs moves the inducing inputs together with the hyperparameters, in local optimisers.
	TuneInputs bool `yaml:"tune_inputs"`
}

// auto is the meaning of the text "auto".
var auto = Inducing{Points: 2000, Tolerance: DefaultTolerance}

// DefaultTolerance is the tolerance of auto. A larger change of the log evidence by another
// selection of inducing inputs, in nats per case, is a warning.
const DefaultTolerance = 1e-3

// Reads lists the texts that UnmarshalText reads, besides numbers.
func (Inducing) Reads() (texts []string, numbers bool) { return []string{"auto"}, true }

// PowerOr implements Structure.
func (i Inducing) PowerOr(own float64) float64 { return i.Correction.PowerOr(own) }

// Check implements Structure.
func (i Inducing) Check([]kernel.Kernel, int, int) error {
	if i.Points <= 0 {
		return errors.New("inducing: points is missing, or below 1; write how many there are to be, as in " +
			"{points: 200}")
	}
	return nil
}

// Rank implements Structure.
func (i Inducing) Rank(n int) int { return min(n, i.Points) }

// Width implements Structure.
func (i Inducing) Width(n, _ int) int { return i.Rank(n) }

func (i Inducing) of(x *kernel.Inputs, _ []kernel.Kernel) structure {
	return &induction{option: i, x: x}
}

// InducingOf is the option inducing of a method; zero if it has none.
func InducingOf(m approx.Approximation) Inducing {
	i, _ := approx.StructureOf(m).(Inducing)
	return i
}

// Induced returns the method with this number of inducing inputs; ok is false if it already has
// another structure, or works with matrices only.
func Induced(m approx.Approximation, points int) (with approx.Approximation, ok bool) {
	if approx.StructureOf(m) != nil {
		return m, false
	}
	return approx.With(m, Inducing{Points: points})
}

// UnmarshalText reads a number of points, or auto.
func (i *Inducing) UnmarshalText(text []byte) error {
	if string(text) == "auto" {
		*i = auto
		return nil
	}
	points, err := strconv.Atoi(string(text))
	if err != nil || points < 1 {
		return fmt.Errorf("inducing: %q is no number of points; write how many, as in 200, or auto, or {points: 200, "+
			"select: greedy, correction: fitc}", text)
	}
	i.Points = points
	return nil
}

// Selection is a method that selects inducing inputs, as the position of its row in inducing.Table.
type Selection int

// Names are the names of the selections.
func (Selection) Names() []string { return inducing.Table.Names() }

// UnmarshalText reads a selection's name.
func (s *Selection) UnmarshalText(text []byte) error {
	return registry.Choose(s, "selection", text)
}

// Choice holds the inducing inputs of a model on a training set.
type Choice struct {
	inducing.Choice
	// Tried has the numbers of inducing inputs that were tried, if the option has a tolerance.
	Tried []Tried
}

// Tried is the log evidence that was reached with a number of inducing inputs.
type Tried struct {
	Points      int
	LogEvidence float64 // nats, at the end of a climb over the hyperparameters
}

// induction has the inducing inputs of a training set. They are chosen when they are first needed.
type induction struct {
	option Inducing
	x      *kernel.Inputs

	mu       sync.Mutex
	*induced // nil: not chosen yet
	choice   *Choice
}

// selected chooses up to m inputs for a kernel at theta.
func (i *induction) selected(ctx context.Context, k kernel.Kernel, theta []float64, m int) (inducing.Choice, error) {
	method := inducing.Table.Default(i.option.Select.Names()[i.option.Select])
	c, err := method.Select(ctx, k, theta, i.x, m, 1)
	if err != nil {
		return c, fmt.Errorf("inducing inputs: %w", err)
	}
	return c, nil
}

// choose makes the choice for a kernel at theta, unless one is made already.
func (i *induction) choose(ctx context.Context, k kernel.Kernel, theta []float64) (*induced, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.induced == nil {
		if i.option.Tolerance > 0 {
			return nil, errors.New("inducing inputs: how many there are to be is not known; Choose finds it before " +
				"a fit")
		}
		c, err := i.selected(ctx, k, theta, i.option.Points)
		if err != nil {
			return nil, err
		}
		i.take(&Choice{Choice: c})
	}
	return i.induced, nil
}

func (i *induction) prepare(ctx context.Context, k kernel.Kernel, theta []float64) error {
	_, err := i.choose(ctx, k, theta)
	return err
}

// take sets the choice to c.
func (i *induction) take(c *Choice) {
	i.choice, i.induced = c, newInduced(i.x, &kernel.Inputs{X: c.Z})
}

// Memory implements Structure. It counts the covariances, in whose memory V is made; the distances
// that are kept; a part of the cases for each thread; and for several classes that are fitted
// together a factor and two inverses of order C m.
func (i Inducing) Memory(m approx.Approximation, s approx.Size, dim int) int64 {
	bytes := lowRankMemory(i.Points, m, s, dim)
	if s.Cases*i.Points <= mostKept {
		bytes += 8 * int64(s.Cases*i.Points)
	}
	return bytes
}

// lowRankMemory is the memory of a fit with this number of features, in bytes.
func lowRankMemory(points int, m approx.Approximation, s approx.Size, dim int) int64 {
	n, wide, vectors, order := s.Cases, s.Kernels, 40, points
	switch _, apart := m.(approx.OneVsRest); {
	case apart && s.Kernels == 1: // every class has a V
		wide, vectors = wide+s.Classes, vectors*s.Classes
	case s.Classes > 2:
		vectors, order = vectors*s.Classes, order*s.Classes
	}
	parts := 4 * min(runtime.GOMAXPROCS(0), n/partSize+1) * order * partSize
	return 8 * int64(wide*n*points+vectors*n+4*order*order+s.Kernels*points*s.New+parts+n*dim)
}

// induced is a training set together with its inducing inputs.
type induced struct {
	lowRank
	byKernel
	z *kernel.Inputs
	// ofParts has for each part of the cases a copy of the inducing inputs, which keeps their
	// distances from these cases.
	ofParts []*kernel.Inputs
}

func newInduced(x, z *kernel.Inputs) *induced {
	d := &induced{z: z}
	d.lowRank = newLowRank(d, x)
	for range d.parts {
		d.ofParts = append(d.ofParts, &kernel.Inputs{X: z.X})
	}
	return d
}

// pair returns the inducing inputs and the cases of a part. They keep their distances unless there
// are more than mostKept.
func (d *induced) pair(p part) (z, x *kernel.Inputs) {
	z, x = d.ofParts[p.number], p.x
	if d.x.N()*d.z.N() > mostKept {
		return z.Fresh(), x.Fresh()
	}
	return z, x
}

func (d *induced) rows() int { return d.z.N() }

func (d *induced) gram(dst *mat.SymDense, k kernel.Kernel, theta []float64) {
	smoothGram(k, dst, theta, d.z)
}

func (d *induced) columns(dst *mat.Dense, k kernel.Kernel, theta []float64, p part) {
	z, x := d.pair(p)
	kernel.Cross(k, dst, theta, z, x)
}

func (d *induced) pullGram(grad []float64, k kernel.Kernel, theta []float64, g *mat.SymDense) {
	kernel.PullbackCross(k, grad, theta, d.z, d.z, square(1, g))
}

func (d *induced) pullColumns(grad []float64, k kernel.Kernel, theta []float64, p part, g *mat.Dense) {
	z, x := d.pair(p)
	kernel.PullbackCross(k, grad, theta, z, x, g)
}

func (d *induced) cross(dst *mat.Dense, k kernel.Kernel, theta []float64, z *kernel.Inputs) {
	kernel.Cross(k, dst, theta, d.z, z)
}

// smoothGram sets dst to K(Z, Z) without noise.
func smoothGram(k kernel.Kernel, dst *mat.SymDense, theta []float64, z *kernel.Inputs) {
	m := z.N()
	square := mat.NewDense(m, m, nil)
	kernel.Cross(k, square, theta, z, z)
	for i := range m {
		for j := i; j < m; j++ {
			dst.SetSym(i, j, square.At(i, j))
		}
	}
}

// pullbackInputs adds to dst, m×d, the derivative by the inducing inputs, from an adjoint that fill
// fills. An inducing input is on both sides of K_zz.
func (d *induced) pullbackInputs(
	dst *mat.Dense, k kernel.Kernel, theta []float64, fill func(*approx.Cov) error,
) error {
	m, adjoint := d.z.N(), d.adjoint(nil)
	parts, errs := make([]*mat.Dense, len(d.parts)), make([]error, len(d.parts))
	for i := range parts {
		parts[i] = mat.NewDense(m, d.z.Dim(), nil)
	}
	adjoint.Part = func(cross *mat.Dense, from int) {
		i := from / partSize
		z, x := d.pair(d.parts[i])
		errs[i] = errors.Join(errs[i], kernel.PullbackInputs(k, parts[i], theta, z, x, cross))
	}
	if err := fill(&adjoint); err != nil {
		return err
	}
	err := kernel.PullbackInputs(k, dst, theta, d.z, &kernel.Inputs{X: d.z.X}, square(2, adjoint.K))
	for _, part := range parts {
		dst.Add(dst, part)
	}
	return errors.Join(append(errs, err)...)
}

// square is c g as a whole matrix.
func square(c float64, g *mat.SymDense) *mat.Dense {
	dst := mat.DenseCopyOf(g)
	dst.Scale(c, dst)
	return dst
}
