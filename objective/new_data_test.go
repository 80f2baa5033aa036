package objective

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// size is a label whose names sort differently from its values.
type size int

func (s size) String() string { return [...]string{"small", "medium", "large"}[s] }

func TestNewDataNumbersLabelsOfAnyType(t *testing.T) {
	x := [][]float64{{1}, {2}, {3}, {4}}
	check := func(d Data, err error, value []float64, index []int, classes ...string) {
		t.Helper()
		if err != nil || !slices.Equal(d.Y.Value, value) || !slices.Equal(d.Y.Index, index) || !slices.Equal(d.Classes, classes) {
			t.Errorf("%v, %v, %v, error %v", d.Y, d.Classes, d.Y.Classes, err)
		}
	}
	d, err := NewData(x, []string{"F", "M", "M", "F"})
	check(d, err, []float64{-1, 1, 1, -1}, nil, "F", "M")
	d, err = NewData(x, []bool{true, false, true, true})
	check(d, err, []float64{1, -1, 1, 1}, nil, "false", "true")
	d, err = NewData(x, []string{"10", "9", "9", "100"})
	check(d, err, nil, []int{1, 0, 0, 2}, "9", "10", "100")
	d, err = NewData(x, []size{2, 0, 1, 1})
	check(d, err, nil, []int{2, 0, 1, 1}, "small", "medium", "large")
	d, err = NewData(x, []float64{1, -1, 0.5, 1})
	check(d, err, nil, []int{2, 0, 1, 2}, "-1", "0.5", "1")
	d, err = NewData(x, []any{"b", 'a', [2]int{3, 4}, "b"})
	check(d, err, nil, []int{2, 0, 1, 2}, "97", "[3 4]", "b")
	d, err = NewData(x, []any{true, 1.5, 0.5, false}) // truth values are the numbers 0 and 1
	check(d, err, nil, []int{2, 3, 1, 0}, "false", "0.5", "true", "1.5")
	x[0][0] = 7
	if d.X.X.At(0, 0) != 1 {
		t.Error("the inputs are not copied")
	}
}

func TestNewDataSaysWhatIsWrong(t *testing.T) {
	for want, err := range map[string]error{
		"there are no inputs":                               second(NewData(nil, []int{})),
		"there are no inputs; want at least":                second(NewData([][]float64{{}}, []int{1})),
		"row 2 (counted from 1) has 1 inputs and row 1 has": second(NewData([][]float64{{1, 2}, {3}}, []int{1, 2})),
		"input NaN in row 2, column 1":                      second(NewData([][]float64{{1}, {math.NaN()}}, []int{1, 2})),
		"2 rows of inputs and 1 labels":                     second(NewData([][]float64{{1}, {2}}, []int{1})),
		"1 classes among 2 labels":                          second(NewData([][]float64{{1}, {2}}, []int{1, 1})),
		"label NaN in row 2":                                second(NewData([][]float64{{1}, {2}}, []float64{1, math.NaN()})),
		"rows 1 and 2 (counted from 1) differ":              second(NewData([][]float64{{1}, {2}}, []any{1, "1"})),
		"row 2 (counted from 1) is a []int, which cannot":   second(NewData([][]float64{{1}, {2}}, []any{1, []int{1}})),
		"row 1 (counted from 1) is an empty text":           second(NewData([][]float64{{1}, {2}}, []string{"", "a"})),
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v, want %q", err, want)
		}
	}
}

func second(_ Data, err error) error { return err }

func ExampleNewData() {
	d, err := NewData([][]float64{{0.1, 2}, {0.3, 1}, {0.2, 4}}, []string{"setosa", "virginica", "setosa"})
	fmt.Println(d.Classes, d.Y.Value, err)
	// Output: [setosa virginica] [-1 1 -1] <nil>
}
