package shown

import (
	"slices"
	"testing"

	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

func TestNamesOfConfigurations(t *testing.T) {
	r := &reports.Report{Configurations: []reports.Configuration{reporttest.Scored("a", "probit", "laplace", 0), reporttest.Scored("a", "logit", "laplace", 0), reporttest.Scored("a", "none", "p1nn", 0)}}
	c := &r.Configurations[2]
	c.Kernel, c.Mean, c.Tune = reporttest.Declared("none"), reporttest.Declared("none"), "none"
	if _, got := nameAll(r); !slices.Equal(got, []string{"#0 probit, laplace", "#1 logit, laplace", "#2 p1nn"}) {
		t.Errorf("%q", got)
	}
	if _, got := nameAll(&reports.Report{}); got != nil {
		t.Errorf("of nothing %q", got)
	}
}

// Numbers with five decimals or more are shortened.
func TestShortened(t *testing.T) {
	for text, want := range map[string]string{
		"se(length_scale: 10.4855691)": "se(length_scale: 10.49)", "0.00012345678, 0.12346, 123456": "0.0001235, 0.1235, 123456",
		"1.2345 and v1.2.3": "1.2345 and v1.2.3",
	} {
		if got := Shortened(text); got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
}
