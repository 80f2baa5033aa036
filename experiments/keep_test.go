package experiments

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"net"
	"net/http"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gpc-tune/gpc-tune/experiments/classifier/predict"
)

// logged has the first entries of a log.
type logged chan string

func (l logged) Write(text []byte) (int, error) {
	select {
	case l <- string(text):
	default:
	}
	return len(text), nil
}

// Fit, Predict and Serve keep a classifier from Go: Predict and the server give the predictions of
// the model file of Fit.
func TestFitPredictAndServe(t *testing.T) {
	p, err := Parse(t.Context(), ".", []byte("name: kept\ndata: {dataset: crabs, subsample: 30}\nmodel: {kernel: se, likelihood: probit, inference: laplace}\n"+
		"tune: none\n"))
	if err != nil {
		t.Fatal(err)
	}
	model := filepath.Join(t.TempDir(), "m.json")
	evidence, summary, err := Fit(t.Context(), p, model, FitOptions{})
	if err != nil || summary.Failed > 0 || !(evidence < 0) {
		t.Fatal(evidence, summary, err)
	}
	got, err := Predict(t.Context(), model, "crabs", Deciding{})
	if err != nil {
		t.Fatal(err)
	}
	c, err := predict.LoadClassifier(model)
	if err != nil {
		t.Fatal(err)
	}
	want, err := c.Predict("crabs", Deciding{})
	if err != nil {
		t.Fatal(err)
	}
	one, _ := json.Marshal(got)
	other, _ := json.Marshal(want)
	if string(one) != string(other) {
		t.Errorf("Predict: %.200s, want %.200s", one, other)
	}
	if _, err := Predict(t.Context(), filepath.Join(t.TempDir(), "none.json"), "crabs", Deciding{}); !errors.Is(err, ErrInvalid) {
		t.Errorf("no model file: %v", err)
	}
	if _, _, err := Fit(t.Context(), p, model, FitOptions{Configuration: new(-1)}); !errors.Is(err, ErrInvalid) {
		t.Errorf("configuration -1: %v", err)
	}

	ctx, stop := context.WithCancel(t.Context())
	address, ended := make(chan string, 1), make(chan error, 1)
	go func() {
		ended <- Serve(ctx, model, "127.0.0.1:0", "secret", Deciding{}, nil, func(a string) { address <- a })
	}()
	host := <-address
	at := "http://" + host
	ask := func(token string) (int, string) {
		r, err := http.NewRequestWithContext(t.Context(), "GET", at+"/schema", nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+token)
		answer, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil {
			t.Fatal(err)
		}
		return answer.StatusCode, string(text)
	}
	if code, text := ask("secret"); code != http.StatusOK || !strings.Contains(text, `"FL"`) {
		t.Errorf("%d %s", code, text)
	}
	if code, _ := ask("another"); code != http.StatusUnauthorized && code != http.StatusForbidden {
		t.Errorf("another token: %d", code)
	}
	// An answer to a client that has gone is an entry of the standard log. The server has further
	// requests of the connection to answer, and more to write than the client takes.
	entries, before := make(logged, 9), log.Writer()
	log.SetOutput(entries)
	defer log.SetOutput(before)
	client, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	gone := client.(*net.TCPConn)
	gone.SetReadBuffer(1 << 12)
	fmt.Fprint(gone, strings.Repeat("GET / HTTP/1.1\r\nHost: "+host+"\r\nAuthorization: Bearer secret\r\n\r\n", 500))
	if _, err := gone.Read(make([]byte, 1)); err != nil {
		t.Error(err)
	}
	gone.SetLinger(0) // closed at once, without the rest of the answers
	gone.Close()
	select {
	case entry := <-entries:
		if !strings.Contains(entry, "an answer could not be written") {
			t.Error(entry)
		}
	case <-time.After(10 * time.Second):
		t.Error("no entry of the log")
	}
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := Serve(t.Context(), model, "0.0.0.0:0", "", Deciding{}, nil, nil); !errors.Is(err, ErrInvalid) {
		t.Errorf("an address that others reach: %v", err)
	}
}

// TestFitByLogEvidence: the classifier chosen by log evidence has the largest one, whatever the
// searches maximise. Here leave-one-out prefers another model.
func TestFitByLogEvidence(t *testing.T) {
	const file = "name: by\ndata: {dataset: crabs, subsample: 40, preprocess: standardize}\n" +
		"model: {kernel: [{se: {length_scale: {fixed: 0.5}}}, {se: {length_scale: {fixed: 40}}}, linear], likelihood: probit, " +
		"inference: laplace}\ntune: {method: bfgs, restarts: 1, objective: loo_log_probability}\n"
	p, err := Parse(t.Context(), ".", []byte(file))
	if err != nil {
		t.Fatal(err)
	}
	kept := func(o FitOptions) float64 {
		evidence, _, err := Fit(t.Context(), p, filepath.Join(t.TempDir(), "m.json"), o)
		if err != nil {
			t.Fatal(err)
		}
		return evidence
	}
	most := math.Inf(-1)
	for k := range 3 {
		most = max(most, kept(FitOptions{Configuration: &k}))
	}
	if by := kept(FitOptions{By: "log_evidence"}); by != most {
		t.Errorf("log evidence %v, that of the best configuration %v", by, most)
	}
	if other := kept(FitOptions{}); other >= most {
		t.Errorf("by leave-one-out the log evidence is %v too", other)
	}
}

// With a score of the evaluation the summary counts the jobs of the study: of each of three
// configurations the fits to the parts of two folds, and to all data.
func TestFitByScoreCountsTheStudy(t *testing.T) {
	p, err := Parse(t.Context(), ".", []byte("name: by\ndata: {dataset: crabs, subsample: 40}\nmodel: {kernel: [{se: {length_scale: {fixed: 0.5}}}, "+
		"{se: {length_scale: {fixed: 40}}}, linear], likelihood: probit, inference: laplace}\ntune: none\nevaluate: {kfold: {k: 2}}\n"))
	if err != nil {
		t.Fatal(err)
	}
	_, summary, err := Fit(t.Context(), p, filepath.Join(t.TempDir(), "m.json"), FitOptions{By: "log_loss"})
	if err != nil || summary.Total != 9 || summary.Done != 9 || summary.Failed != 0 {
		t.Errorf("%+v, %v", summary, err)
	}
}
