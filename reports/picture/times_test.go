package picture

import (
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// The wall times in the journal, added up by configuration, longest first. A report without times
// has no such figure, and neither have files, which are built without times.
func TestTimePicture(t *testing.T) {
	m, lines := reporttest.Run(t)
	want := make([]float64, len(m.Configurations))
	for i := range lines {
		lines[i].Seconds = float64(1 + i%5)
		if l := lines[i]; l.Trial != nil {
			want[l.Trial.Configuration] += l.Seconds
		} else {
			want[l.Fit.Configuration] += l.Seconds
		}
	}
	r := reporttest.Build(t, m, lines)
	if drawn := pictured(t, Time, r); len(drawn) > 0 {
		t.Errorf("without times: %+v", drawn)
	}
	var err error
	if r.Times, err = reports.BuildTimings(m, lines); err != nil {
		t.Fatal(err)
	}
	f := single(t, pictured(t, Time, r))
	rows := f.Panels[0].Layers[0].(figure.Intervals)
	slices.SortFunc(want, func(a, b float64) int { return int(b - a) })
	want = slices.DeleteFunc(want, func(s float64) bool { return s == 0 })
	if !slices.Equal(rows.X, want) || !slices.Equal(rows.Hi, want) || slices.Max(rows.Lo) != 0 ||
		len(f.Panels[0].Y.Names) != len(want) {
		t.Errorf("%+v over %q, want %v", rows, f.Panels[0].Y.Names, want)
	}
	if err := Check(Time); err == nil || !strings.Contains(err.Error(), "report DIR --figure time") {
		t.Error(err)
	}
}
