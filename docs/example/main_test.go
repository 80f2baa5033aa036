package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
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

// The classifier of the experiment is kept with the program's own kernel, and predicts the words of a file and of requests.
func TestFitPredictAndServe(t *testing.T) {
	model := filepath.Join(t.TempDir(), "words.json")
	if err := do(t.Context(), io.Discard, []string{"fit", "words.yaml", model}); err != nil {
		t.Fatal(err)
	}
	var predicted bytes.Buffer
	if err := do(t.Context(), &predicted, []string{"predict", model, "words.txt"}); err != nil {
		t.Fatal(err)
	}
	var table struct {
		Columns []string
		Rows    [][]any
	}
	if err := json.Unmarshal(predicted.Bytes(), &table); err != nil || len(table.Rows) == 0 {
		t.Fatalf("%v in %.200s", err, &predicted)
	}

	ctx, stop := context.WithCancel(t.Context())
	address, ended := make(chan string, 1), make(chan error, 1)
	go func() { ended <- serve(ctx, model, "secret", func(a string) { address <- a }) }()
	ask := func(at, token string) int {
		r, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+at+"/schema", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		return answer.StatusCode
	}
	at := <-address
	if got := ask(at, "secret"); got != http.StatusOK {
		t.Errorf("status %d", got)
	}
	if got := ask(at, "guessed"); got == http.StatusOK {
		t.Error("another token is accepted")
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := do(t.Context(), io.Discard, nil); err == nil {
		t.Error("no arguments are no mistake")
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
