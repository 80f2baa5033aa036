package objective

import (
	"errors"
	"fmt"
	"math"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// Data is a training set.
type Data struct {
	X       *kernel.Inputs
	Y       approx.Targets
	Classes []string // labels in natural order, for names; nil: the classes are numbered
	// Groups has the group of every case, for learners that hold cases out of their training set:
	// cases of one group stay together; nil: every case is its own.
	Groups []string
	// Scaled says that the columns of X are standardised or whitened, so that a length scale starts
	// at √d; otherwise it starts at the median distance between cases.
	Scaled bool
}

// Check says what is wrong with the data by themselves, with the case: counts that do not match,
// inputs and targets that are not finite, labels that are none of the classes. A class may have no
// case.
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
		case math.IsNaN(v) || math.IsInf(v, 0):
			return fmt.Errorf("target %v in row %d (counted from 1); every target must be a finite number", v, i+1)
		}
	}
	for i, c := range y.Index {
		if c < 0 || c >= y.Classes {
			return fmt.Errorf("label %d in row %d (counted from 1); the labels of %d classes must be 0 … %d",
				c, i+1, y.Classes, y.Classes-1)
		}
	}
	return d.X.Check(d.X.Dim())
}

// scale is where length scales and periods start that nobody set.
func (d Data) scale() float64 {
	s := math.Sqrt(float64(d.X.Dim()))
	if !d.Scaled {
		s = d.X.MedianDistance()
	}
	return s
}
