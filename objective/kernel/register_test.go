package kernel_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/objective/kernel/kerneltest"
)

// Kernels of functions are registered by their values, each under its own name, and are conforming kernels when they
// come from the table.
func TestRegisterFromFunc(t *testing.T) {
	saved := kernel.Table
	t.Cleanup(func() { kernel.Table = saved })
	exact, differences := kernel.FromFunc(cauchy, cauchySlope, cauchySettings...), kernel.FromFunc(cauchy, nil, cauchySettings...)
	kernel.Register("cauchy", "σ²/(1 + r²/l²)", 1, exact)
	kernel.Register("cauchy_by_differences", "the same", 3, differences)
	for name, k := range map[string]kernel.Kernel{"cauchy": exact, "cauchy_by_differences": differences} {
		if got := kernel.Table.NameOf(k); got != name {
			t.Errorf("%s has the name %q", name, got)
		}
		if of := kernel.Table.Default(name); kernel.Table.NameOf(of) != name {
			t.Errorf("%s from the table has the name %q", name, kernel.Table.NameOf(of))
		} else {
			kerneltest.Check(t, of, 2)
		}
	}
	if got := kernel.Table.NameOf(kernel.FromFunc(cauchy, cauchySlope, cauchySettings...)); got != "" {
		t.Errorf("a kernel that is not registered has the name %q", got)
	}
	if got := kernel.Table.VersionOf("cauchy_by_differences"); got != 3 {
		t.Errorf("version %d, want 3", got)
	}
	for want, register := range map[string]func(){
		`is "cauchy" already`: func() { kernel.Register("again", "again", 1, exact) },
		"the name is taken":   func() { kernel.Register("se", "another", 1, kernel.FromFunc(cauchy, nil, cauchySettings...)) },
		`"Length Scale"`: func() {
			kernel.Register("spaced", "spaced", 1, kernel.FromFunc(cauchy, nil, kernel.Setting{Name: "Length Scale"}))
		},
		`"s" of a hyperparameter`: func() {
			kernel.Register("twice", "twice", 1, kernel.FromFunc(cauchy, nil, kernel.Setting{Name: "s"}, kernel.Setting{Name: "s"}))
		},
		"needs a doc": func() { kernel.Register("undocumented", "", 1, kernel.FromFunc(cauchy, nil, cauchySettings...)) },
	} {
		func() {
			defer func() {
				if got := fmt.Sprint(recover()); !strings.Contains(got, want) {
					t.Errorf("%s, want %s", got, want)
				}
			}()
			register()
		}()
	}
}

// A kernel read from a file does not change the settings of its entry in the table.
func TestSettingsOfFromFunc(t *testing.T) {
	saved := kernel.Table
	t.Cleanup(func() { kernel.Table = saved })
	one := 1.0
	kernel.Register("held", "held", 1, kernel.FromFunc(cauchy, nil, kernel.Setting{Name: "amplitude", Setting: param.Setting{Fixed: &one}},
		kernel.Setting{Name: "length_scale", Default: 2}))
	e, err := kernel.Table.Lookup("kernel", "held")
	if err != nil {
		t.Fatal(err)
	}
	k, err := e.New(func(v any) error {
		of := v.(*struct {
			Setting0 param.Setting `yaml:"amplitude"`
			Setting1 param.Setting `yaml:"length_scale"`
		})
		three := 3.0
		of.Setting1.Bare = &three
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if p := k.Params(1); !p[0].Fixed || p[0].Init != 1 || p[1].Init != 3 {
		t.Errorf("%+v", p)
	}
	if p := kernel.Table.Default("held").Params(1); p[1].Init != 2 {
		t.Errorf("the default has changed: %+v", p)
	}
}
