package predict

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/spec"
)

// The training incomes are exp(0), exp(0.2), … exp(9.8). With the power 0 new ones are far if their
// logarithm is above 19.6; below 1 it is continued by its tangent, and not far. Without a power they
// are far above 36070. Ages, 20 to 69, are far below -29 or above 118. One warning counts the cases, in all
// and by column; whitened inputs have no names.
func TestFarValuesAreCounted(t *testing.T) {
	var b strings.Builder
	b.WriteString("income,age,label\n")
	for i := range 50 {
		fmt.Fprintf(&b, "%.17g,%d,%s\n", math.Exp(float64(i)/5), 20+i*37%50, "ab"[i/3%2:i/3%2+1])
	}
	fresh := "income,age\n1e-7,40\n1e-3,40\n20000,-25\n1e9,200\n1e8,80\n3,118.5\n"
	for how, want := range map[string]string{
		"power":       `values of "income" (1), "age" (2) (cases: 2)`,
		"standardize": `values of "income" (2), "age" (2) (cases: 3)`,
		"whiten":      `inputs (cases: 3)`,
		// its file has rounded ranges: ages from -1.7 to 1.7 deviations of 14.43, far above 118.1
		"standardize, logistic_regression": `values of "income" (2), "age" (2) (cases: 3)`,
	} {
		how, comparator, _ := strings.Cut(how, ", ")
		by := byLaplace
		if comparator != "" {
			by = "inference: " + comparator
		}
		c := learnt(t, b.String(), "label: label, preprocess: "+how, by)
		got, err := c.Predict(written(t, fresh), spec.Deciding{})
		if err != nil {
			t.Fatal(err)
		}
		var told []string
		for _, w := range got.Warnings {
			if what, rest, is := strings.Cut(w, " are far from all training cases"); is {
				told = append(told, what+rest[strings.Index(rest, " (cases"):])
			}
		}
		if strings.Join(told, ", ") != want {
			t.Errorf("%s: %q, want %s", how, got.Warnings, want)
		}
	}
}
