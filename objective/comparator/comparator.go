// Package comparator holds classifiers that are not posteriors of Gaussian processes, one file
// each, so that those can be compared with them on the same splits and scores.
//
// A Comparator chooses by itself what it has to choose, from its training set and a seed alone, and
// predicts class probabilities. It maximises no evidence under somebody else's strategy and has no
// posterior over latent functions.
//
// A comparator of two classes is applied to more by fitting each class against all others and
// dividing the probabilities by their sum. The book is Rasmussen & Williams, Gaussian Processes for
// Machine Learning (2006), called GPML.
package comparator

import (
	"errors"
	"fmt"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/objective/param"
)

// Comparator is a classifier to compare with. Its options are its exported fields; their zero
// values are the documented defaults. Its Fit returns a Fitted. Where cases have groups, what it
// holds out within the training set it holds out group by group.
type Comparator interface {
	objective.Learner
	// Check says what is wrong with the options.
	Check() error
	// UsesKernel says whether it needs one. What it does with the kernel's hyperparameters is said
	// where it is declared.
	UsesKernel() bool
	// With is the comparator with that kernel.
	With(k kernel.Kernel) Comparator
	// Params lists what Summary.Natural holds, for inputs with dim columns and classes of these
	// names. Starts that come from the data are left open.
	Params(dim int, classes []string) []param.Spec
	// Memory is how many bytes a fit, with what the inputs keep, takes, and then a prediction.
	Memory(s approx.Size, dim int) int64
	// Restore rebuilds, without iterating, the Fitted that Fit made of the same data and that left
	// this state: its predictions are the same, to the bit, and of its Summary the hyperparameters
	// and the log evidence. It is an error if the state has another length, a number that is not
	// finite, or one that no fit can have.
	Restore(d objective.Data, s approx.State) (Fitted, error)
}

// Fitted is a fitted Comparator.
type Fitted interface {
	objective.Fitted
	Summary() Summary
	// State is what Restore needs besides the training set and the options.
	State() approx.State
}

// Summary is what there is to say of a fit.
type Summary struct {
	Natural     []float64 // the hyperparameters of Params, in natural units
	LogEvidence float64   // nats; NaN for a comparator that has none
	Iterations  int       // of its optimisation
	Converged   bool
	Warnings    []string
}

// Confident classifiers know more of how sure they are than their class probabilities tell.
type Confident interface {
	// Confidence sets dst[i] to a number for the i-th case of z: the smaller, the sooner it is to
	// be rejected.
	Confidence(dst []float64, z *kernel.Inputs)
}

// Table lists the comparators by their names in an experiment file.
var Table = registry.Table[Comparator]{
	registry.Of[BaseRate, Comparator]("base_rate", "the class frequencies of the training set, for every case"),
	registry.Of[P1NN, Comparator]("p1nn", "probabilistic one-nearest-neighbour, GPML 3.7: the class of the nearest training case with a fitted probability"),
	registry.Of[LeastSquares, Comparator]("least_squares", "regression on -1 and +1 with the model's kernel, hyperparameters and probabilities from leave-one-out outputs, GPML 6.5.1", LeastSquares{Restarts: 1}),
	registry.Of[SVM, Comparator]("svm", "support vector machine with the model's kernel, cost and length scale by cross-validation, GPML 6.4", SVM{Costs: SVM{}.costs(), Folds: 5, Tolerance: SVM{}.tolerance()}),
	registry.Of[LogisticRegression, Comparator]("logistic_regression", "logistic or multiple logistic regression with a Gaussian prior on the weights, Laplace's method, amplitude by its evidence").At(2),
}

// kernelFree is what comparators without a kernel have in common.
type kernelFree struct{}

// UsesKernel is false.
func (kernelFree) UsesKernel() bool { return false }

// counted returns the class 0 … C-1 of every case and the cases of every class. Numeric targets are
// an error, and what Data.Check finds.
func counted(d objective.Data) (index, counts []int, err error) {
	if err := d.Check(); err != nil {
		return nil, nil, fmt.Errorf("comparator: %w", err)
	}
	y := d.Y
	if y.Classes < 2 {
		return nil, nil, errors.New("comparator: the targets are numbers; comparators are for classes")
	}
	index, counts = y.Index, make([]int, y.Classes)
	if y.Classes == 2 {
		index = make([]int, len(y.Value))
		for i, v := range y.Value {
			if v > 0 {
				index[i] = 1
			}
		}
	}
	for _, c := range index {
		counts[c]++
	}
	return index, counts, nil
}

// members lists the cases of every group, in the order of their first; nil where there are no
// groups.
func members(groups []string) (of [][]int) {
	at := map[string]int{}
	for i, g := range groups {
		if _, met := at[g]; !met {
			at[g], of = len(of), append(of, nil)
		}
		of[at[g]] = append(of[at[g]], i)
	}
	return of
}

// cut divides a state into parts of these lengths.
func cut(s approx.State, lengths ...int) (parts [][]float64, err error) {
	want := 0
	for _, n := range lengths {
		want += n
	}
	if len(s) != want {
		return nil, fmt.Errorf("state has %d numbers, want %d; it belongs to other data or another method", len(s), want)
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

// machines is the number of two-class problems that so many classes make.
func machines(classes int) int {
	if classes == 2 {
		return 1
	}
	return classes
}

// against codes machine m of so many classes: +1 for its class, which is class 1 of two, and -1 for
// the others.
func against(index []int, classes, m int) []float64 {
	if classes == 2 {
		m = 1
	}
	y := make([]float64, len(index))
	for i, c := range index {
		y[i] = -1
		if c == m {
			y[i] = 1
		}
	}
	return y
}

// probabilities sets dst, m×C, from the probabilities that each machine gives to +1, as logarithms:
// logp(machine, i, y) is that of y for the i-th case.
func probabilities(dst *mat.Dense, logp func(machine, i int, y float64) float64) {
	cases, classes := dst.Dims()
	for i := range cases {
		row := dst.RawRowView(i)
		if classes == 2 {
			row[0], row[1] = logp(0, i, -1), logp(0, i, 1)
		} else {
			for c := range row {
				row[c] = logp(c, i, 1)
			}
		}
		softmax(row)
	}
}

// softmax replaces logarithms by what they are of, divided by its sum.
func softmax(row []float64) {
	total := floats.LogSumExp(row)
	for c, v := range row {
		row[c] = exp(v - total)
	}
}

// checkShape panics unless dst has a row a case and a column a class.
func checkShape(dst *mat.Dense, z *kernel.Inputs, classes int) {
	if r, c := dst.Dims(); r != z.N() || c != classes {
		panic(fmt.Sprintf("comparator: dst is %d×%d, want %d×%d", r, c, z.N(), classes))
	}
}

// checkNew panics unless the inputs of new cases have so many columns of finite numbers.
func checkNew(z *kernel.Inputs, dim int) {
	if err := z.Check(dim); err != nil {
		panic(fmt.Sprintf("comparator: new cases: %v", err))
	}
}
