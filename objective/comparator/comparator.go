// Package comparator holds classifiers that are not posteriors of Gaussian processes (base rates,
// nearest neighbours, logistic regression, least squares, support-vector machines; one file each),
// so that Gaussian processes can be compared with them on the same splits and scores.
//
// A Comparator chooses its hyperparameters, such as its regularisation, from its training set and a
// seed alone. It predicts class probabilities. It has no posterior of latent functions. Fit returns
// soon after its context ends. Failures that the data cause are errors.
//
// The book is Rasmussen & Williams, Gaussian Processes for Machine Learning (2006), called GPML.
package comparator

import (
	"context"
	"errors"
	"fmt"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/internal/interrupt"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// Comparator is a classifier to compare with. Its options are its exported fields; their zero
// values are the documented defaults. Its Fit returns a Fitted. Where cases have groups, Fit holds
// out whole groups for its cross-validation within the training set.
type Comparator interface {
	objective.Learner
	// Check returns an error for options that are out of range or do not go together.
	Check() error
	// Params lists the hyperparameters in Summary.Natural, for inputs with dim columns and classes
	// of these names. Starts that depend on the data are left open.
	Params(dim int, classes []string) []param.Spec
	// Memory is the memory, in bytes, of a fit and a prediction after it, with the distances that
	// the inputs keep.
	Memory(s approx.Size, dim int) int64
	// Seconds is the approximate processor time of a fit. The factors in its formula are from fits
	// timed on one machine, and are right within about a factor of two.
	Seconds(s approx.Size, dim int) float64
	// Restore rebuilds, without iterating, the Fitted that Fit made from the same data and whose
	// State this is. Its predictions are the same to the last bit, and so are the hyperparameters
	// and the log evidence in its Summary. It is an error if the state has another length, a number
	// that is not finite, or one that no fit can have.
	Restore(d objective.Data, s approx.State) (Fitted, error)
}

// KernelUser comparators need the model's kernel. The comment of each comparator says what it does
// with the kernel's hyperparameters.
type KernelUser interface {
	// With is the comparator with that kernel.
	With(k kernel.Kernel) Comparator
}

// oneKernel returns an error for a choice among kernels: comparators do not choose.
func oneKernel(what string, k kernel.Kernel) error {
	if k != nil {
		for _, s := range k.Params(1) {
			if s.Map.Discrete() {
				return fmt.Errorf("%s does not choose a kernel; write a list, as in kernel: [se, matern32], to "+
					"compare one with each", what)
			}
		}
	}
	return nil
}

// Fitted is a fitted Comparator.
type Fitted interface {
	objective.Fitted
	Summary() Summary
	// State is the argument of Restore from which, with the training set and the options, this is
	// rebuilt.
	State() approx.State
}

// Summary describes a fit for reports.
type Summary struct {
	Natural     []float64 // the hyperparameters of Params, in natural units
	LogEvidence float64   // nats; NaN for a comparator without evidence
	Iterations  int       // number of iterations of the optimiser
	Converged   bool
	Warnings    []approx.Warning
	// Coefficients of a linear classifier have a row for each class; for two classes there is one
	// row, for the second. A row has an entry for each input, and a last one for the bias if there
	// is one. StandardErrors have the same shape. Both are nil for other comparators.
	Coefficients, StandardErrors [][]float64
}

// Expander comparators predict without their training set, from a condensed state.
type Expander interface {
	// Expand rebuilds, for inputs with dim columns, the Fitted whose Condense returned this state.
	// Its predictions are the same to the last bit, and so are the hyperparameters and the
	// coefficients in its Summary. It is an error if no fit can have this state.
	Expand(dim, classes int, s approx.State) (Fitted, error)
}

// Condensed is the Fitted of an Expander.
type Condensed interface {
	Condense() approx.State
}

// Confident classifiers have a confidence that is not a function of their class probabilities.
type Confident interface {
	// Confidence sets dst[i] to the confidence in the prediction for the i-th case of z. Cases with
	// the smallest numbers are rejected first.
	Confidence(dst []float64, z *kernel.Inputs)
}

// optionless implements methods of comparators without options that take next to no memory.
type optionless struct{}

// Check returns nil.
func (optionless) Check() error { return nil }

// Memory is taken as 0.
func (optionless) Memory(approx.Size, int) int64 { return 0 }

// Seconds implements Comparator.
func (optionless) Seconds(approx.Size, int) float64 { return 0 }

// models is the number of binary models: one for two classes, else one for each class.
func models(classes int) float64 {
	if classes <= 2 {
		return 1
	}
	return float64(classes)
}

// cubic is the time of the binary models if each takes unit n³ seconds for n cases.
func cubic(s approx.Size, unit float64) float64 {
	n := float64(s.Cases)
	return models(s.Classes) * unit * n * n * n
}

// learn calls fit with the class 0 … C-1 of every case and the number of cases of every class, and
// returns as soon as ctx ends. It adds the comparator's name to an error of fit.
func learn(
	ctx context.Context, name string, d objective.Data, fit func(index []int, counts []float64) (Fitted, error),
) (objective.Fitted, error) {
	return interrupt.Do(ctx, func() (objective.Fitted, error) {
		index, counts, err := counted(d)
		if err != nil {
			return nil, err
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		f, err := fit(index, counts)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		return f, nil
	})
}

// repeated returns the data with repeated cases in place of weights, for comparators without
// weights.
func repeated(name string, d objective.Data) (objective.Data, error) {
	if err := d.Check(); err != nil {
		return d, fmt.Errorf("comparator: %w", err)
	}
	own, err := d.Repeated()
	if err != nil {
		return d, fmt.Errorf("%s takes no weights of cases: %w; logistic_regression takes any", name, err)
	}
	return own, nil
}

// weightOf is the weight of case i.
func weightOf(d objective.Data, i int) float64 {
	if d.Y.Weight == nil {
		return 1
	}
	return d.Y.Weight[i]
}

// counted returns the class 0 … C-1 of every case and for every class the sum of its cases'
// weights. It returns an error for numeric targets and for data that Data.Check refuses.
func counted(d objective.Data) (index []int, counts []float64, err error) {
	if err := d.Check(); err != nil {
		return nil, nil, fmt.Errorf("comparator: %w", err)
	}
	y := d.Y
	if y.Classes < 2 {
		return nil, nil, errors.New("comparator: the targets are numbers; comparators are for classes")
	}
	index, counts = y.Index, make([]float64, y.Classes)
	if y.Classes == 2 {
		index = make([]int, len(y.Value))
		for i, v := range y.Value {
			if v > 0 {
				index[i] = 1
			}
		}
	}
	for i, c := range index {
		counts[c] += weightOf(d, i)
	}
	return index, counts, nil
}

// cut divides a state into parts of these lengths.
func cut(s approx.State, lengths ...int) (parts [][]float64, err error) {
	want := 0
	for _, n := range lengths {
		want += n
	}
	if len(s) != want {
		return nil, fmt.Errorf("state has %d numbers, want %d; it belongs to other data or another method",
			len(s), want)
	}
	for i, v := range s {
		if v-v != 0 {
			return nil, fmt.Errorf("state[%d] = %v, want a finite number", i, v)
		}
	}
	for _, n := range lengths {
		parts, s = append(parts, s[:n]), s[n:]
	}
	return parts, nil
}

// checkShape panics unless dst has a row for each case and a column for each class.
func checkShape(dst *mat.Dense, z *kernel.Inputs, classes int) {
	if r, c := dst.Dims(); r != z.N() || c != classes {
		panic(fmt.Sprintf("comparator: dst is %d×%d, want %d×%d", r, c, z.N(), classes))
	}
}

// checkNew panics unless new cases have dim columns of finite inputs and dst has the shape that
// checkShape requires.
func checkNew(dst *mat.Dense, z *kernel.Inputs, dim, classes int) {
	checkShape(dst, z, classes)
	if err := z.Check(dim); err != nil {
		panic(fmt.Sprintf("comparator: new cases: %v", err))
	}
}

// block is the number of new cases that are predicted at once.
const block = 2048

// blocks calls predict for up to block new cases at a time, with their rows of dst.
func blocks(dst *mat.Dense, z *kernel.Inputs, predict func(dst *mat.Dense, z *kernel.Inputs)) {
	_, classes := dst.Dims()
	for from := 0; from < z.N(); from += block {
		to := min(from+block, z.N())
		part := &kernel.Inputs{X: z.X.Slice(from, to, 0, z.Dim()).(*mat.Dense)}
		predict(dst.Slice(from, to, 0, classes).(*mat.Dense), part)
	}
}
