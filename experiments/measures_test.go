package experiments

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestMeasures: the classes depend on a number that is written with a unit, with limits of
// detection, or as a duration. With the meaning of the column, the held-out log loss is near the
// loss of the true probabilities. It is larger without the column, or with an input for each of its
// texts.
func TestMeasures(t *testing.T) {
	for name, of := range map[string]struct {
		text    func(v float64) string
		meaning string
	}{
		"unit": {func(v float64) string {
			if v > 1 { // two sources of the table write it in two ways
				return fmt.Sprintf("%.3fkg", 70+10*v)
			}
			return fmt.Sprintf("%.0f g", 1000*(70+10*v))
		}, "unit: kg"},
		"limits": {func(v float64) string {
			if v < -0.8 {
				return "<0.45"
			}
			return fmt.Sprintf("%.2f", math.Exp(v))
		}, "limits: true"},
		"duration": {func(v float64) string {
			minutes := int(90 * math.Exp(v/2))
			if v < 0 {
				return fmt.Sprintf("%d min", minutes)
			}
			return fmt.Sprintf("%dh %02d min", minutes/60, minutes%60)
		}, "duration: minutes"},
	} {
		t.Run(name, func(t *testing.T) {
			r := rand.New(rand.NewPCG(9, 0))
			var text strings.Builder
			text.WriteString("what,size,y\n")
			const n = 200
			best := 0.0 // the mean log loss of the true probabilities
			for range n {
				v, size := r.NormFloat64(), r.NormFloat64()
				p, y := 1/(1+math.Exp(-2.5*max(v, -0.8)-size)), "no"
				if r.Float64() < p {
					y, p = "yes", 1-p
				}
				best -= math.Log(1-p) / n
				fmt.Fprintf(&text, "%s,%.3f,%s\n", of.text(v), size, y)
			}
			loss := heldOutLoss(t, "cases.csv", text.String())
			without, with := loss("drop: [what]"), loss("columns: {what: {"+of.meaning+"}}")
			t.Logf("log loss %.3f without and %.3f with it, %.3f of the true probabilities", without, with, best)
			if with > best+0.06 || without < best+0.1 {
				t.Errorf("log loss %.3f without and %.3f with it, %.3f of the true probabilities", without, with, best)
			}
		})
	}
}
