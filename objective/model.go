package objective

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// Model is a Gaussian-process classifier without its data and the values of its hyperparameters.
type Model struct {
	Kernels    []kernel.Kernel // one for all latent processes, or one per class
	Mean       Mean            // nil means Zero
	Likelihood likelihood.Likelihood
	Inference  approx.Approximation
}

// On is the model for this number of classes; 0: numeric labels. It replaces a kernel.PerClass by
// one kernel for each class, also where Check then returns an error.
func (m Model) On(classes int) Model {
	m.Likelihood = likelihood.On(m.Likelihood, classes)
	if len(m.Kernels) == 1 {
		if each, is := m.Kernels[0].(kernel.PerClass); is && each.Kernel != nil {
			m.Kernels = slices.Repeat([]kernel.Kernel{each.Kernel}, max(classes, 2))
		}
	}
	return m
}

// TunedBy is the model whose hyperparameters an inference method tunes for m, with this number of
// classes. This is m with that method. If the method has softmax but not the likelihood of m, which
// is of random utilities, it is softmax with scaled covariances. The class of the largest f_c + e_c
// stays the same if all f_c and e_c are multiplied by a number. So covariances K with noise of
// variance v correspond to covariances K v'/v with noise of variance v'; only the form of the noise
// differs. Softmax has v' = π²/6 (McFadden 1974), and multinomial_probit v = 1.
func (m Model) TunedBy(a approx.Approximation, classes int) Model {
	m = m.On(classes)
	m.Inference = a
	if _, err := approx.Uses(a, m.Likelihood, classes); err == nil || len(m.Likelihood.Params()) > 0 {
		return m
	}
	of, is := m.Likelihood.At(nil).(likelihood.RandomUtility)
	if _, err := approx.Uses(a, likelihood.Softmax{}, classes); err != nil || !is {
		return m
	}
	_, variance := of.NoiseMoments()
	_, others := likelihood.Softmax{}.NoiseMoments()
	kernels := make([]kernel.Kernel, len(m.Kernels))
	for i, k := range m.Kernels {
		kernels[i] = kernel.Scaled{Factor: others / variance, Named: kernel.Named{Kernel: k}}
	}
	m.Kernels, m.Likelihood = kernels, likelihood.Softmax{}
	return m
}

// checkOptions checks the options of the kernels and the likelihood, for inputs with dim columns.
func (m Model) checkOptions(dim int) error {
	var errs []error
	for _, k := range m.Kernels {
		for _, leaf := range kernel.Leaves(k, dim) {
			if leaf.Kernel == nil {
				errs = append(errs, errors.New("a kernel, or a part of one, is nil"))
			}
			errs = append(errs, kernel.Check(leaf.Kernel))
		}
	}
	for _, l := range likelihood.Alternatives(m.Likelihood) {
		errs = append(errs, likelihood.Check(l))
	}
	return errors.Join(errs...)
}

// Check returns the capabilities of the parts together with this number of classes. An error says
// why they do not work together, and what does. It needs no data.
func (m Model) Check(classes int) (approx.Caps, error) {
	if len(m.Kernels) == 0 || m.Likelihood == nil || m.Inference == nil {
		panic("objective: a model needs a kernel, a likelihood and an inference method")
	}
	m = m.On(classes)
	if len(likelihood.Alternatives(m.Likelihood)) == 0 {
		return approx.Caps{}, errors.New("a choice of no likelihood; give at least two likelihoods")
	}
	if j := len(m.Kernels); j > 1 && j != likelihood.Processes(m.Likelihood, classes) {
		return approx.Caps{}, fmt.Errorf("%d kernels for %d classes: give one shared kernel, or, for more than two "+
			"classes that have no order, one per class", j, classes)
	}
	if s := approx.StructureOf(m.Inference); s != nil {
		if err := s.(Structure).Check(m.Kernels, m.Together(classes), 0); err != nil {
			return approx.Caps{}, err
		}
	}
	return approx.Uses(m.Inference, m.Likelihood, classes)
}

// Together is the number of latent processes that are fitted together, for this number of classes.
func (m Model) Together(classes int) int {
	if _, apart := m.Inference.(approx.OneVsRest); apart {
		return 1
	}
	return likelihood.Processes(m.Likelihood, classes)
}

// CheckDim returns an error if a kernel, or the structure of the covariance, cannot be used for
// inputs with dim columns. It needs no data.
func (m Model) CheckDim(dim int) error {
	for _, k := range m.Kernels {
		if err := kernel.CheckDim(k, dim); err != nil {
			return err
		}
	}
	if s := approx.StructureOf(m.Inference); s != nil {
		return s.(Structure).Check(m.Kernels, 1, dim)
	}
	return nil
}

// batch is the number of new cases that are predicted at once. It limits the size of K(X, Z).
const batch = 2048

// Memory is the memory of a fit of the model in bytes. It includes covariances, the distances that
// inputs keep, the criterion c unless it is nil, and its gradient if wanted.
func (m Model) Memory(s approx.Size, dim int, c Criterion, gradient bool) int64 {
	s.Kernels = len(m.Kernels)
	s.New = min(s.New, batch)
	if likelihood.Processes(m.Likelihood, s.Classes) == 1 {
		s.Classes = min(s.Classes, 2)
	}
	if own := structureOf(m.Inference, s.Cases); own != nil {
		return own.Memory(m.Inference, s, dim)
	}
	silent := s
	silent.New = 0
	n, method := int64(s.Cases), m.Inference.Memory(silent)
	sum := method.Fit
	matrices := int64(s.Kernels)
	if c != nil {
		sum = sum.And(c.Memory(method, gradient))
	}
	passing := sum.Passing
	if gradient {
		passing += max(0, 8*n*n-approx.Spare(m.Inference, s)) // the adjoint
	}
	own := m.Kernels[0].Memory(s.Cases, 0, dim)
	// predictions come after the fit
	predicted := 8*matrices*n*int64(s.New) + m.Kernels[0].Memory(s.Cases, s.New, dim) - own +
		m.Inference.Memory(s).Fit.Passing - method.Fit.Passing
	return 8*matrices*n*n + own + sum.Kept + max(passing, predicted)
}

// Width is the Width of the structure of the covariance of n cases with dim inputs, at most n, its
// value for the matrix.
func (m Model) Width(n, dim int) int {
	if own := structureOf(m.Inference, n); own != nil {
		return min(n, own.Width(n, dim))
	}
	return n
}

func (m Model) mean() Mean {
	if m.Mean == nil {
		return Zero{}
	}
	return m.Mean
}

// Layout lists the model's hyperparameters for inputs with dim columns: kernel hyperparameters by
// their own names, or as "class[M].…" when each class has a kernel, then "mean.…" and
// "likelihood.…". classes are the labels used in those names; nil numbers them. Length scales and
// periods whose start depends on the data start at scale, or at the nearest bound. A scale of NaN
// leaves these starts open, which is enough for names and bounds.
func (m Model) Layout(dim int, classes []string, scale float64) Layout {
	l := Layout{cut: []int{0}}
	add := func(prefix string, specs []param.Spec) {
		for _, s := range specs {
			s = s.Within(prefix)
			if s.FromData && !math.IsNaN(scale) {
				s.Init, s.FromData = min(max(scale, s.Lo), s.Hi), false
			}
			if !s.Fixed {
				l.Free = append(l.Free, len(l.Specs))
			}
			l.Specs = append(l.Specs, s)
		}
		l.cut = append(l.cut, len(l.Specs))
	}
	for j, k := range m.Kernels {
		prefix := ""
		if len(m.Kernels) > 1 {
			label := strconv.Itoa(j)
			if classes != nil {
				label = classes[j]
			}
			prefix = "class[" + label + "]."
		}
		add(prefix, k.Params(dim))
	}
	add("mean.", m.mean().Params(dim))
	add("likelihood.", m.Likelihood.Params())
	return l
}

// LayoutOn is the layout of the model's hyperparameters on a data set, with starts that come from
// the data.
func (m Model) LayoutOn(d Data) Layout {
	l := m.Layout(d.X.Dim(), d.Classes, math.NaN())
	for _, s := range l.Specs {
		if s.FromData {
			return m.Layout(d.X.Dim(), d.Classes, d.scale())
		}
	}
	return l
}

// Data is a training set. Weights of its cases are in Y.Weight; nil: 1 each. A case of weight 0
// does not count. A case with a whole number w as its weight is equivalent to w equal cases. For
// methods without weights (see approx.Caps) the cases are repeated w times, and weights that are
// not whole numbers are an error.
type Data struct {
	X            *kernel.Inputs
	Y            approx.Targets
	Classes      []string // labels in natural order, for names; nil: the classes are numbered
	alphabetical bool     // Classes are in the order of their texts
	// Groups has the group of every case, for learners that hold cases out of their training set:
	// cases of one group stay together; nil: every case is a group of its own.
	Groups []string
	// Scaled reports whether the columns of X are standardised or whitened. Length scales then
	// start at √d, otherwise at the median distance between cases.
	Scaled bool
}

// Check returns an error, which names the case, if numbers of cases differ, inputs or targets are
// not finite, or a label is none of the classes. A class may have no case.
func (d Data) Check() error {
	if d.X == nil || d.X.X == nil || d.X.X.IsEmpty() {
		return errors.New("there are no cases; the inputs must have at least one row and one column")
	}
	n, y := d.X.N(), d.Y
	switch {
	case y.Len() != n:
		return fmt.Errorf("%d rows of inputs and %d targets", n, y.Len())
	case y.Classes < 0 || y.Classes == 1:
		return fmt.Errorf("%d classes; want 2, whose labels are -1 and +1 in Value, "+
			"or more, whose numbers are in Index, or 0 for numbers in Value", y.Classes)
	case y.Classes > 2 && len(y.Value) > 0:
		return fmt.Errorf("%d classes and %d targets in Value; their labels 0 … %d belong into Index",
			y.Classes, len(y.Value), y.Classes-1)
	case y.Classes <= 2 && len(y.Index) > 0:
		return fmt.Errorf("%d classes and %d targets in Index; "+
			"the labels -1 and +1 of two classes, and numbers, belong into Value", y.Classes, len(y.Index))
	case d.Classes != nil && len(d.Classes) != y.Classes:
		return fmt.Errorf("%d names of classes and %d classes", len(d.Classes), y.Classes)
	case d.Groups != nil && len(d.Groups) != n:
		return fmt.Errorf("%d rows of inputs and %d groups", n, len(d.Groups))
	}
	for i, v := range y.Value {
		switch {
		case y.Classes == 2 && v != -1 && v != 1:
			return fmt.Errorf("label %v in row %d (counted from 1); "+
				"the labels of two classes must be -1 and +1", v, i+1)
		case !finite(v):
			return fmt.Errorf("target %v in row %d (counted from 1); every target must be a finite number", v, i+1)
		}
	}
	for i, c := range y.Index {
		if c < 0 || c >= y.Classes {
			return fmt.Errorf("label %d in row %d (counted from 1); the labels of %d classes must be 0 … %d",
				c, i+1, y.Classes, y.Classes-1)
		}
	}
	if err := d.checkWeights(); err != nil {
		return err
	}
	return d.X.Check(d.X.Dim())
}

// checkWeights checks the number of the weights, their values and their sum.
func (d Data) checkWeights() error {
	w := d.Y.Weight
	if w == nil {
		return nil
	}
	if len(w) != d.X.N() {
		return fmt.Errorf("%d rows of inputs and %d weights", d.X.N(), len(w))
	}
	sum := 0.0
	for i, v := range w {
		if !finite(v) || v < 0 {
			return fmt.Errorf("weight %v in row %d (counted from 1); a weight must be a finite number, 0 or more",
				v, i+1)
		}
		sum += v
	}
	if !finite(sum) || sum == 0 {
		return fmt.Errorf("the weights add up to %v; want a finite number above 0", sum)
	}
	return nil
}

// scale is the default start of length scales and periods.
func (d Data) scale() float64 {
	s := math.Sqrt(float64(d.X.Dim()))
	if !d.Scaled {
		s = d.X.MedianDistance(d.Y.Weight)
	}
	return s
}
