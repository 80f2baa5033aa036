package record

import "testing"

// A component of several configurations is listed once.
func TestListOfComponents(t *testing.T) {
	long := Component{"{sum: [se, linear]}", Node{Parts: []Part{{"", Node{Word: "se"}}, {"", Node{Word: "linear"}}}}}
	m := &Manifest{Configurations: []Configuration{{Label: Label{Kernel: long, Mean: Plain("zero")}}, {Label: Label{Kernel: long}}}}
	if m.List(); len(m.Components) != 1 || m.Components[0].Text != long.Text {
		t.Errorf("%+v", m.Components)
	}
}

// The name of an input stands in place of its number.
func TestShownNames(t *testing.T) {
	for _, c := range []struct {
		h    Hyperparameter
		want string
	}{
		{Hyperparameter{Name: "l[2]", Column: "age"}, "l[age]"}, {Hyperparameter{Name: "l[2]"}, "l[2]"}, {Hyperparameter{Name: "[2]", Column: "age"}, "[age]"},
		{Hyperparameter{Name: "l", Column: "age"}, "l"}, {Hyperparameter{Name: "a[x].l[2]", Column: "age"}, "a[x].l[age]"},
	} {
		if got := c.h.Shown(); got != c.want {
			t.Errorf("%+v: %s, want %s", c.h, got, c.want)
		}
	}
}
