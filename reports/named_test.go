package reports

import (
	"fmt"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/record"
)

// Hyperparameters that exist once per input are named by the inputs; the shortest length scale
// comes first where readers want to see which input matters.
func TestNamed(t *testing.T) {
	c := Configuration{Hyperparameters: Values{{Name: "amplitude", Number: 2}, {Name: "length_scale[1]", Number: 5},
		{Name: "length_scale[2]", Number: 3}}}
	c.Record.Hyperparameters = []record.Hyperparameter{{Name: "amplitude"}, {Name: "length_scale[1]", Column: "age"},
		{Name: "length_scale[2]", Column: "dose"}}
	for _, of := range []struct {
		got  Values
		want string
	}{
		{c.Named(c.Hyperparameters), "[{amplitude 2} {length_scale[age] 5} {length_scale[dose] 3}]"},
		{c.ByInput(c.Hyperparameters), "[{amplitude 2} {length_scale[dose] 3} {length_scale[age] 5}]"},
		{c.Named(c.Hyperparameters[:1]), "[{amplitude 2}]"},
	} {
		if got := fmt.Sprint(of.got); got != of.want {
			t.Errorf("%s, want %s", got, of.want)
		}
	}
}
