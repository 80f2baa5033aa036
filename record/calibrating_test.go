package record

import (
	"slices"
	"testing"
)

// Sets compare with the first evaluation that has several folds and is not nested.
func TestCalibratingStudies(t *testing.T) {
	for i, c := range []struct {
		evaluations []string
		want        []int
	}{
		{[]string{"train", "kfold", "kfold"}, []int{1, 2}},
		{[]string{"test", "kfold", "kfold", "kfold"}, []int{1, 2, 3}},
		{[]string{"train", "hold_out", "kfold", "kfold", "training"}, []int{2, 3}},
		{[]string{"train", "kfold", "kfold", "leave_one_out", "leave_one_out"}, []int{1, 2}},
		{[]string{"train", "nested", "nested fold 0", "nested fold 0", "nested"}, nil},
		{[]string{"train", "nested", "nested fold 0", "nested fold 0", "group_kfold", "group_kfold"}, []int{4, 5}},
		{[]string{"train", "hold_out"}, nil}, {[]string{"test"}, nil}, {[]string{"train", "hold_out", "training"}, nil},
	} {
		var of Configuration
		for _, e := range c.evaluations {
			of.Studies = append(of.Studies, Study{Evaluation: e})
		}
		if got := of.Calibrating(); !slices.Equal(got, c.want) {
			t.Errorf("%d: %v: %v, want %v", i, c.evaluations, got, c.want)
		}
	}
}
