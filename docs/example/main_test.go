package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/objective/kernel/kerneltest"
	"github.com/gpc-tune/gpc-tune/search/searchtest"
)

func TestComponents(t *testing.T) {
	kerneltest.Check(t, spectrum{Length: 2}, 4)
	searchtest.Check(t, compass{Rounds: 3})
}

// The experiment's file names the components, the report tells what they came to, and the versions identify the run.
func TestExperiment(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "run")
	var report bytes.Buffer
	if err := run(t.Context(), &report, "words.yaml", folder); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(report.String(), "spectrum") {
		t.Errorf("no spectrum in\n%s", &report)
	}
	manifest, err := os.ReadFile(filepath.Join(folder, "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"kernel spectrum":1`, `"method compass":1`} {
		if !strings.Contains(strings.ReplaceAll(string(manifest), " 1", "1"), want) && !strings.Contains(string(manifest), want) {
			t.Errorf("the manifest does not say %s", want)
		}
	}
}

// A mistake is told with what there is, this program's components among it.
func TestMistakes(t *testing.T) {
	text, err := os.ReadFile("words.yaml")
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "words.yaml")
	wrong := strings.Replace(string(text), "spectrum:", "spectrun:", 1)
	if err := os.WriteFile(file, []byte(wrong), 0o666); err != nil {
		t.Fatal(err)
	}
	err = run(t.Context(), &bytes.Buffer{}, file, t.TempDir())
	if err == nil || !strings.Contains(err.Error(), `did you mean "spectrum"?`) {
		t.Error(err)
	}
}
