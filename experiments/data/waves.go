package data

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
	"github.com/gpc-tune/gpc-tune/experiments/data/tables"
)

// wavesTests is the number of test cases of a set of waves of any size.
const wavesTests = 5000

// Waves generates a set of n cases and 5000 test cases for comparing methods for many cases. This
// numpy program generates the same inputs and labels, bit by bit:
//
//	rng = numpy.random.default_rng(20240501)
//	X = rng.uniform(-3, 3, (n + 5000, inputs))
//	f = 2.5 * sin(1.5 * X[:, 0]) + 0.75 * X[:, 0] * cos(2 * X[:, 1]) - 0.5
//	y = rng.uniform(size=n + 5000) < 1 / (1 + exp(-f))
//
// The last 5000 are the test cases. Inputs beyond the second are independent of the label. The
// files are CSV with the shortest decimals that have the same bits, and the label, 0 or 1, last. It
// is an error if the matrix exceeds the limits of Load.
func Waves(n, inputs int) ([]File, error) {
	switch {
	case n < 2 || inputs < 2:
		return nil, fmt.Errorf("%d cases of %d inputs; at least two of each are needed", n, inputs)
	case inputs >= tables.MaxColumns || n > tables.MaxCells/(inputs+1)-wavesTests:
		return nil, fmt.Errorf("%d cases of %d inputs are more than can be read again (%d columns, %d values)", n,
			inputs, tables.MaxColumns, tables.MaxCells)
	}
	x, y := waves(n+wavesTests, inputs)
	text := func(from, to int) []byte {
		var b bytes.Buffer
		b.Grow((to - from + 1) * inputs * 21)
		b.WriteString(strings.Join(cells.Positional(inputs), ",") + ",label\n")
		for i := from; i < to; i++ {
			for _, v := range x.RawRowView(i) {
				b.Write(append(strconv.AppendFloat(b.AvailableBuffer(), v, 'g', -1, 64), ','))
			}
			b.WriteString(strconv.Itoa(y[i]) + "\n")
		}
		return b.Bytes()
	}
	name := "waves_" + strconv.Itoa(n)
	if inputs > 2 {
		name += "x" + strconv.Itoa(inputs)
	}
	return []File{{name + "_train.csv", text(0, n)}, {name + "_test.csv", text(n, n+wavesTests)}}, nil
}

// waves draws inputs and labels.
func waves(n, inputs int) (x *mat.Dense, y []int) {
	r := newPCG64(20240501)
	x, y = mat.NewDense(n, inputs, nil), make([]int, n)
	values := x.RawMatrix().Data
	for i := range values {
		values[i] = r.uniform(-3, 3)
	}
	for i := range y {
		x1, x2 := x.At(i, 0), x.At(i, 1)
		if f := 2.5*math.Sin(1.5*x1) + 0.75*x1*math.Cos(2*x2) - 0.5; r.uniform(0, 1) < 1/(1+math.Exp(-f)) {
			y[i] = 1
		}
	}
	return x, y
}
