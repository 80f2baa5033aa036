package page

import (
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
)

// A figure that cannot be drawn is a box on the page, and no other is missing.
func TestAFailingFigureIsABoxOnThePage(t *testing.T) {
	good := figure.Figure{Name: "good", Title: "good", Panels: []figure.Panel{{Layers: []figure.Layer{figure.Line{}}}}}
	all, left := drawings([]figure.Figure{{Name: "a", Title: "a", Panels: []figure.Panel{{Layers: []figure.Layer{nil}}}}, good,
		{Name: "b", Title: "b", Failure: "panic: no value"}})
	if len(all) != 3 || left != 0 || all[1].Failure != "" || len(all[1].Panels) != 1 {
		t.Fatalf("%+v, %d left", all, left)
	}
	p := newPage(&reports.Report{Experiment: "e"})
	p.Figures = all
	var text strings.Builder
	if err := p.write(&text); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"could not be drawn: panic: runtime error: invalid memory address", "could not be drawn: panic: no value", "<h3>good</h3>"} {
		if !strings.Contains(text.String(), want) {
			t.Errorf("no %q", want)
		}
	}
}
