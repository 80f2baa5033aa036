package picture

import (
	"testing"

	"github.com/gpc-tune/gpc-tune/reports"
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
