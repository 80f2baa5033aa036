package data

import (
	"strings"
	"testing"
)

// A unit in another letter case than the declared one is refused with both readings where they
// differ, and converted where they do not.
func TestUnitsOfOtherLetterCase(t *testing.T) {
	s := Spec{Columns: Columns{Described: map[string]Meaning{"w": {Unit: "mg"}}}}
	if _, err := load(t, s, "w,y\n1 mg,a\n5 Mg,b\n", ""); err == nil || !strings.Contains(err.Error(), `f.csv:3:1: column "w": "5 Mg" has another unit by its letter case: `+
		`Mg (megagram) and mg (milligram) differ`) {
		t.Error(err)
	}
	d, err := load(t, Spec{Columns: Columns{Described: map[string]Meaning{"w": {Unit: "mg"}}}}, "w,y\n1 mg,a\n5 g,b\n2 G,a\n1 KG,b\n", "")
	if err != nil || d.X.At(1, 0) != 5000 || d.X.At(2, 0) != 2000 || d.X.At(3, 0) != 1e6 {
		t.Errorf("%+v, %v", d, err)
	}
}
