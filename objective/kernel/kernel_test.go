package kernel_test

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/objective/kernel/kerneltest"
)

// variants is every kernel of the table, plain and, where it has the option, with ARD.
func variants(t testing.TB) map[string]kernel.Kernel {
	all := map[string]kernel.Kernel{}
	for _, e := range kernel.Table {
		for _, ard := range []bool{false, true} {
			hasARD := false
			k, err := e.New(func(v any) error {
				if f := reflect.ValueOf(v).Elem().FieldByName("ARD"); f.IsValid() {
					f.SetBool(ard)
					hasARD = true
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case !ard:
				all[e.Name] = k
			case hasARD:
				all[e.Name+" ard"] = k
			}
		}
	}
	return all
}

func TestConformance(t *testing.T) {
	for name, k := range variants(t) {
		for _, dim := range []int{1, 3} {
			t.Run(fmt.Sprintf("%s d=%d", name, dim), func(t *testing.T) { kerneltest.Check(t, k, dim) })
		}
	}
}
