package objective

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
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
	// Select is how the inducing inputs are selected, once per training set and at the initial
	// hyperparameters.
	Select Selection `yaml:"select"`
	// Correction is the treatment of the variance that Q lacks.
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
func (i Inducing) Check() error {
	if i.Points == 0 {
		return errors.New("inducing: points is missing; write how many there are to be, as in {points: 200}")
	}
	return nil
}

// Rank implements Structure.
func (i Inducing) Rank(n int) int { return min(n, i.Points) }

func (i Inducing) of(x *kernel.Inputs) structure { return &induction{option: i, x: x} }

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

// Selection is how inducing inputs are selected: the position of a row of inducing.Table.
type Selection int

// Names are the names of the selections.
func (Selection) Names() []string { return inducing.Table.Names() }

// UnmarshalText reads a selection's name.
func (s *Selection) UnmarshalText(text []byte) error {
	i := slices.Index(s.Names(), string(text))
	if i < 0 {
		return fmt.Errorf("unknown selection %q%s", text, registry.Suggest(string(text), s.Names()))
	}
	*s = Selection(i)
	return nil
}

// Choice is which inducing inputs a model has on a training set.
type Choice struct {
	inducing.Choice
	// Tried are the numbers that were tried, where a tolerance asks for so many as it takes.
	Tried []Tried
}

// Tried is what so many inducing inputs come to.
type Tried struct {
	Points      int
	LogEvidence float64 // nats, where a climb over the hyperparameters has ended
}

// induction is the choice of inducing inputs of a training set, made when they are first wanted.
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

// choose makes the choice for a kernel at theta, unless it is made.
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

// take makes c the choice.
func (i *induction) take(c *Choice) {
	i.choice, i.induced = c, newInduced(i.x, &kernel.Inputs{X: c.Z})
}

// induced is a training set beside its inducing inputs, in parts of a few thousand cases, of which
// threads take some each.
type induced struct {
	z     *kernel.Inputs
	x     *kernel.Inputs
	parts []inducedPart
}

// inducedPart is some of the cases. It has inducing inputs of its own, whose distances from the
// part's cases are then kept with it.
type inducedPart struct {
	z, x     *kernel.Inputs
	from, to int
}

const (
	// partSize is how many cases a part has.
	partSize = approx.PartSize
	// mostKept is how many distances are kept for the next theta, 256 MB of them.
	mostKept = 1 << 25
)

func newInduced(x, z *kernel.Inputs) *induced {
	d := &induced{z: z, x: x}
	for from := 0; from < x.N(); from += partSize {
		to := min(x.N(), from+partSize)
		rows := x.X.Slice(from, to, 0, x.Dim()).(*mat.Dense)
		d.parts = append(d.parts, inducedPart{&kernel.Inputs{X: z.X}, &kernel.Inputs{X: rows}, from, to})
	}
	return d
}

// each runs work for every part.
func (d *induced) each(work func(k int, p inducedPart)) {
	linalg.Parallel(len(d.parts), func(k int) { work(k, d.fresh(d.parts[k])) })
}

// fresh is a part that keeps no distances, where they are too many.
func (d *induced) fresh(p inducedPart) inducedPart {
	if d.x.N()*d.z.N() > mostKept {
		p.z, p.x = p.z.Fresh(), p.x.Fresh()
	}
	return p
}

// Memory implements Structure: the covariances, in whose memory V is made, and the distances that
// are kept; what threads have of a part each; and of several classes that are fitted together, a
// factor and two inverses of order C m.
func (i Inducing) Memory(m approx.Approximation, s approx.Size, dim int) int64 {
	points, n := i.Points, s.Cases
	wide, vectors, order := s.Kernels, 40, points
	switch _, apart := m.(approx.OneVsRest); {
	case apart && s.Kernels == 1: // every class has its V
		wide, vectors = wide+s.Classes, vectors*s.Classes
	case s.Classes > 2:
		vectors, order = vectors*s.Classes, order*s.Classes
	}
	if n*points <= mostKept {
		wide++
	}
	parts := 4 * min(runtime.GOMAXPROCS(0), n/partSize+1) * order * partSize
	return 8 * int64(wide*n*points+vectors*n+4*order*order+s.Kernels*points*s.New+parts+n*dim)
}

func (d *induced) room() approx.Cov {
	m, n := d.z.N(), d.x.N()
	cov := d.adjoint(nil)
	cov.Cross, cov.Scratch = mat.NewDense(m, n, linalg.Floats(m*n)), true
	return cov
}

// adjoint implements structure. The columns of Cross come part by part.
func (d *induced) adjoint(*approx.Work) approx.Cov {
	m, n := d.z.N(), d.x.N()
	return approx.Cov{K: mat.NewSymDense(m, nil), Diag: make([]float64, n), Noise: make([]float64, n)}
}

// columns are those of a part.
func (p inducedPart) columns(cross *mat.Dense) *mat.Dense {
	m, _ := cross.Dims()
	return cross.Slice(0, m, p.from, p.to).(*mat.Dense)
}

func (d *induced) prior(cov approx.Cov, k kernel.Kernel, theta []float64) {
	smoothGram(k, cov.K, theta, d.z)
	d.each(func(_ int, p inducedPart) {
		kernel.Cross(k, p.columns(cov.Cross), theta, p.z, p.x)
		smooth, noise := cov.Diag[p.from:p.to], cov.Noise[p.from:p.to]
		kernel.SmoothDiag(k, smooth, theta, p.x)
		kernel.Diag(k, noise, theta, p.x)
		floats.Sub(noise, smooth)
	})
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

// pullbackInputs adds to dst, m×d, the derivative over the inducing inputs that an adjoint makes,
// which fill fills. An inducing input is on both sides of K_zz.
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
		p := d.fresh(d.parts[i])
		errs[i] = errors.Join(errs[i], kernel.PullbackInputs(k, parts[i], theta, p.z, p.x, cross))
	}
	if err := fill(&adjoint); err != nil {
		return err
	}
	square := mat.NewDense(m, m, nil)
	for i := range m {
		for j := range m {
			square.Set(i, j, 2*adjoint.K.At(i, j))
		}
	}
	err := kernel.PullbackInputs(k, dst, theta, d.z, &kernel.Inputs{X: d.z.X}, square)
	for _, part := range parts {
		dst.Add(dst, part)
	}
	return errors.Join(append(errs, err)...)
}

func (d *induced) cross(dst *mat.Dense, k kernel.Kernel, theta []float64, z *kernel.Inputs) {
	kernel.Cross(k, dst, theta, d.z, z)
}

func (d *induced) rows() int { return d.z.N() }

func (d *induced) pullback(
	grad []float64, k kernel.Kernel, theta []float64, _ approx.Cov, adjoint *approx.Cov,
	fill func(*approx.Cov) error,
) error {
	m := d.z.N()
	grads := make([][]float64, len(d.parts))
	for i := range grads {
		grads[i] = make([]float64, len(grad))
	}
	adjoint.Part = func(cross *mat.Dense, from int) {
		i := from / partSize
		p := d.fresh(d.parts[i])
		kernel.PullbackCross(k, grads[i], theta, p.z, p.x, cross)
	}
	if err := fill(adjoint); err != nil {
		return err
	}
	square := mat.NewDense(m, m, nil)
	for i := range m {
		for j := range m {
			square.Set(i, j, adjoint.K.At(i, j))
		}
	}
	kernel.PullbackCross(k, grad, theta, d.z, d.z, square)
	d.each(func(i int, p inducedPart) {
		noise := adjoint.Noise[p.from:p.to]
		// as noise is the variance less the smooth one
		kernel.PullbackDiag(k, grads[i], theta, p.x, noise)
		smooth := floats.SubTo(make([]float64, len(noise)), adjoint.Diag[p.from:p.to], noise)
		kernel.PullbackSmoothDiag(k, grads[i], theta, p.x, smooth)
	})
	for _, g := range grads {
		floats.Add(grad, g)
	}
	return nil
}
