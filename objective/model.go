package objective

import (
	"fmt"
	"math"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// Model is the structure of a Gaussian-process classifier: everything but the data and the hyperparameters' values.
type Model struct {
	Kernels    []kernel.Kernel // one shared by all latent processes, or one per class
	Mean       Mean            // nil means Zero
	Likelihood likelihood.Likelihood
	Inference  approx.Approximation
}

// Check says what the parts can do together on this many classes, or why they cannot and what would. It needs no data.
func (m Model) Check(classes int) (approx.Caps, error) {
	if len(m.Kernels) == 0 || m.Likelihood == nil || m.Inference == nil {
		panic("objective: a model needs a kernel, a likelihood and an inference method")
	}
	if j := len(m.Kernels); j > 1 && (classes <= 2 || j != classes) {
		return approx.Caps{}, fmt.Errorf("%d kernels for %d classes: give one shared kernel, or, for more than two classes, one per class", j, classes)
	}
	caps, err := m.Inference.Uses(m.Likelihood, classes)
	if err == nil && caps.Covariance != approx.Dense {
		err = fmt.Errorf("%T reads covariances with inducing inputs, which a model does not have; choose a dense method", m.Inference)
	}
	return caps, err
}

// Memory is how many bytes a fit of the model takes, with covariances and what inputs keep, c unless it is nil, and its
// gradient if wanted.
func (m Model) Memory(s approx.Size, dim int, c Criterion, gradient bool) int64 {
	s.Kernels = len(m.Kernels)
	s.New = min(s.New, block)
	n, held := int64(s.Cases), int64(s.New)
	method := m.Inference.Memory(s)
	sum := method.Fit
	covariances := 2 * int64(s.Kernels) * (n*n + n*held) // and at amplitude 1, which a Run keeps
	if c != nil {
		sum = sum.And(c.Memory(method, gradient))
	}
	if gradient {
		covariances += n * n // the adjoint
	}
	return 8*covariances + m.Kernels[0].Memory(s.Cases, s.New, dim) + sum.Kept + sum.Passing
}

func (m Model) mean() Mean {
	if m.Mean == nil {
		return Zero{}
	}
	return m.Mean
}

// Data is a training set.
type Data struct {
	X       *kernel.Inputs
	Y       approx.Targets
	Classes []string // labels in natural order, for names; nil: the classes are numbered
	Groups  []string // of every case, for learners that hold cases out of their training set: those of one group belong together; nil: every case is its own
	// Scaled says that the columns of X are standardised or whitened, so that a length scale starts at √d; otherwise it
	// starts at the median distance between cases.
	Scaled bool
}

// check finds what would make every evaluation fail.
func (d Data) check() error {
	n, dim := d.X.X.Dims()
	if d.Y.Len() != n {
		return fmt.Errorf("%d rows of inputs and %d targets", n, d.Y.Len())
	}
	for i := range n {
		for j := range dim {
			if v := d.X.X.At(i, j); math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("input %v in row %d, column %d (counted from 1); every input must be a finite number", v, i+1, j+1)
			}
		}
	}
	return nil
}

// scale is where length scales and periods start that nobody set.
func (d Data) scale() float64 {
	s := math.Sqrt(float64(d.X.Dim()))
	if !d.Scaled {
		s = d.X.MedianDistance()
	}
	return s
}
