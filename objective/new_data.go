package objective

import (
	"cmp"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// NewData makes a training set from rows of inputs, one for each case and all of the same length,
// and from the labels of the cases. The labels have two or more classes. The classes are in natural
// order. Numbers and truth values are ordered by value, and texts by value if all are numbers. Any
// other labels are ordered by their text, as fmt.Sprint writes it. Of two classes the first is y =
// -1 and the second y = +1; more are numbered from 0. Their texts are the names of the classes. The
// inputs are copied without scaling: set Scaled if their columns are standardised.
//
// It is an error if rows differ in length, an input is not finite, there is one class only,
// different labels have the same text, or a label is NaN. The error names the place.
func NewData[L comparable](x [][]float64, labels []L) (Data, error) {
	inputs, err := kernel.NewInputs(x)
	if err != nil {
		return Data{}, fmt.Errorf("objective: %w", err)
	}
	if len(labels) != len(x) {
		return Data{}, fmt.Errorf("objective: %d rows of inputs and %d labels; want a label for every row",
			len(x), len(labels))
	}
	index, names, err := classify(labels)
	if err != nil {
		return Data{}, fmt.Errorf("objective: %w", err)
	}
	d := Data{X: inputs, Y: approx.Coded(len(names), index, nil), Classes: names, alphabetical: !numeric(labels)}
	return d, d.Check()
}

// classify returns the class of every label, and the names of the classes.
func classify[L comparable](labels []L) (index []int, names []string, err error) {
	// at maps a label to its class, first the text of a label to the first row with it.
	at, first := map[L]int{}, map[string]int{}
	var classes []L
	for i, label := range labels {
		if !reflect.ValueOf(&label).Elem().Comparable() {
			return nil, nil, fmt.Errorf("label %v in row %d (counted from 1) is a %T, which cannot be compared", label,
				i+1, label)
		}
		if label != label {
			return nil, nil, fmt.Errorf("label %v in row %d (counted from 1) is not equal to itself; "+
				"leave the case out", label, i+1)
		}
		if _, known := at[label]; known {
			continue
		}
		text := fmt.Sprint(label)
		if other, same := first[text]; same {
			return nil, nil, fmt.Errorf("the labels in rows %d and %d (counted from 1) differ, and both are written "+
				"%q; give their type a method String that tells them apart", other+1, i+1, text)
		}
		if text == "" {
			return nil, nil, fmt.Errorf("the label in row %d (counted from 1) is an empty text; name the class", i+1)
		}
		at[label], first[text] = 0, i
		classes = append(classes, label)
	}
	if len(classes) < 2 {
		return nil, nil, fmt.Errorf("%d classes among %d labels; there must be two or more", len(classes), len(labels))
	}
	numeric := numeric(classes)
	slices.SortFunc(classes, func(a, b L) int {
		order := 0
		if numeric {
			order = cmp.Compare(numberOf(a), numberOf(b))
		}
		return cmp.Or(order, strings.Compare(fmt.Sprint(a), fmt.Sprint(b)))
	})
	for k, c := range classes {
		at[c], names = k, append(names, fmt.Sprint(c))
	}
	for _, label := range labels {
		index = append(index, at[label])
	}
	return index, names, nil
}

// numeric reports whether all labels are numbers.
func numeric[L any](labels []L) bool {
	return !slices.ContainsFunc(labels, func(l L) bool { return math.IsNaN(numberOf(l)) })
}

// numberOf returns a label as a number: 0 or 1 for false and true, the value of a text that is a
// number, else NaN.
func numberOf(label any) float64 {
	switch v := reflect.ValueOf(label); {
	case v.CanInt():
		return float64(v.Int())
	case v.CanUint():
		return float64(v.Uint())
	case v.CanFloat():
		return v.Float()
	case v.Kind() == reflect.Bool && v.Bool():
		return 1
	case v.Kind() == reflect.Bool:
		return 0
	}
	if x, err := strconv.ParseFloat(fmt.Sprint(label), 64); err == nil {
		return x
	}
	return math.NaN()
}
