package page

import (
	"bytes"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// TestUnconvergedFitsAreMarked: a fit that was accepted without convergence has a mark next to its
// log evidence, in every format.
func TestUnconvergedFitsAreMarked(t *testing.T) {
	m, lines := reporttest.Run(t)
	before := reporttest.Build(t, m, lines)
	for i, l := range lines {
		if l.Fit != nil && l.Fit.Failure.IsZero() && l.Fit.Configuration == 0 {
			fit := *l.Fit
			fit.Converged = false
			lines[i].Fit = &fit
		}
	}
	r := reporttest.Build(t, m, lines)
	if before.Configurations[0].Converged != nil || r.Configurations[0].Converged == nil || *r.Configurations[0].Converged {
		t.Fatalf("converged is %v, and %v where it is not", before.Configurations[0].Converged, r.Configurations[0].Converged)
	}
	for format, want := range map[string]string{"text": "not converged", "html": "not converged", "markdown": "not converged", "latex": "not converged", "json": `"converged": false`, "csv": ",-3.25,false,"} {
		if text := Render(t, format, r); !strings.Contains(string(text), want) {
			t.Errorf("%s does not say %q", format, want)
		}
		if bytes.Contains(Render(t, format, before), []byte(want)) {
			t.Errorf("%s says %q of fits that converged", format, want)
		}
	}
}
