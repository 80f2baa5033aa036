package page

import (
	"slices"
	"testing"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
)

// With answers for several data sets, each sentence on what drives the predictions names its own.
func TestDriversNameTheirDataSet(t *testing.T) {
	none := &record.Drivers{Missing: "no input was permuted"}
	r := &reports.Report{Answers: []reports.Answer{{Dataset: "crabs", Drivers: none}}}
	if got, want := driven(r, nil).Texts, []string{none.Missing}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	r.Answers = append(r.Answers, reports.Answer{Dataset: "iris", Drivers: none})
	if got, want := driven(r, nil).Texts, []string{"crabs: " + none.Missing, "iris: " + none.Missing}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
