package page

import (
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// Every format for readers contains the pivot besides the summary.
func TestPivotIsReported(t *testing.T) {
	r := &reports.Report{Configurations: []reports.Configuration{reporttest.Scored("a", "probit", "ep", 0.5, "test"), reporttest.Scored("a", "logit", "ep", 0.25, "test"), reporttest.Scored("b", "probit", "ep", 0, "test")}}
	for format, row := range map[string]string{"text": "logit       0.250", "markdown": "| logit | 0.250 |  |", "latex": `logit & 0.250 & `, "html": `<td>logit</td><td class="n">0.250</td>`} {
		if out := string(Render(t, format, r)); strings.Count(out, row) != 1 || !strings.Contains(out, "error rate, preprocess none") {
			t.Errorf("%s has no %q:\n%s", format, row, out)
		}
	}
}
