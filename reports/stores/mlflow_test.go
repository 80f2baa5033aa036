package stores

import (
	"path"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// The names of MLflow have letters of ASCII, digits, _, -, ., / and blanks, and no / or . at their
// ends.
func TestNamesForMLflow(t *testing.T) {
	for name, want := range map[string]string{"AZaz09_-. /x": "AZaz09_-. /x", "a@[`{:b": "a_____b", "/é./": "_", "log θ": "log _"} {
		if got := mlflowName(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// Every configuration is a run with a file for each tag, parameter and metric.
func TestFilesOfMLflow(t *testing.T) {
	m, lines := reporttest.Rivals()
	files, err := mlflowStore(reporttest.Build(t, m, lines))
	if err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, f := range files {
		dir := path.Dir(f.Name)
		name := path.Join(path.Base(dir), path.Base(f.Name))
		got[name] = append(got[name], strings.TrimSpace(string(f.Text)))
	}
	for name, want := range map[string]string{
		"tags/mlflow.source.name": "gpc-tune, gpc-tune", "tags/gpc-tune.status": "done, done",
		"params/inference": "laplace, ep", "params/amplitude": "2, 2", "metrics/log_evidence": "0 -4, 0 -5",
	} {
		if text := strings.Join(got[name], ", "); text != want {
			t.Errorf("%s: %s, want %s", name, text, want)
		}
	}
}
