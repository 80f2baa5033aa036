package picture

import (
	"fmt"
	"slices"
	"testing"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
)

// The score by which an answer ranks has its unit: percentages are 100 times a fraction.
func TestUnitsOfRankings(t *testing.T) {
	for _, of := range []struct {
		by, unit string
		factor   float64
	}{{"error_rate", "%", 100}, {"information_bits", "bits per case", 1}, {"log_evidence", "nats", 1}} {
		for _, a := range []reports.Answer{{By: of.by}, {By: "brier", Nested: &reports.Choice{By: of.by}}} {
			if by, unit, factor := ranking(a); by != of.by || unit != of.unit || factor != of.factor {
				t.Errorf("%s: %s in %s, times %v", of.by, by, unit, factor)
			}
		}
	}
}

// A figure has 30 configurations. Of 33, the note counts the others that may be the best.
func TestConfigurationsThatAreNotDrawn(t *testing.T) {
	r := &reports.Report{Answers: []reports.Answer{{By: "error_rate"}}}
	for k := range 33 {
		r.Configurations = append(r.Configurations, reports.Configuration{Label: record.Label{Kernel: record.Component{Text: fmt.Sprint(k)}}})
		if k > 0 {
			r.Answers[0].Rivals = append(r.Answers[0].Rivals, reports.Rival{Configuration: k,
				Difference: record.Number(-0.01 * float64(k)), InSet: k != 31})
		}
	}
	got := againstPictures(shown.New(r, -1))
	if want := "3 more configurations are not drawn, 2 of them in the set"; len(got) != 1 || !slices.Contains(got[0].Notes, want) {
		t.Errorf("%+v, want the note %q", got, want)
	}
}
