package live

import (
	"encoding/json"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/classifier"
	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
)

// The answer for rows equals that of predict for the same file; every other request is refused with
// a reason, and counted.
func TestModelHandler(t *testing.T) {
	p := plantest.Planned(t, "data: {dataset: crabs, subsample: 30}\nmodel: {kernel: se, likelihood: probit, inference: laplace}\ntune: none\n")
	name := filepath.Join(t.TempDir(), "m.json")
	o := classifier.FitOptions{Configuration: -1, Options: run.Options{Warn: t.Logf}}
	o.Workers = 1
	if _, _, err := classifier.Fit(t.Context(), p, name, o); err != nil {
		t.Fatal(err)
	}
	model, err := classifier.LoadClassifier(name)
	if err != nil {
		t.Fatal(err)
	}
	inputs, _ := model.Columns()
	row := map[string]any{}
	for i, c := range inputs {
		row[c.Name] = 10 + i
	}
	good, _ := json.Marshal(map[string]any{"rows": []any{row, row}}) // plain data
	reject := 0.1
	costly, err := model.Deciding(spec.Deciding{Loss: "M,F,5", Reject: &reject})
	if err != nil {
		t.Fatal(err)
	}
	w, r := httptest.NewRecorder(), httptest.NewRequest("POST", "/predict", strings.NewReader(string(good)))
	r.Host = "localhost"
	r.Header.Set("Content-Type", "application/json")
	NewModel(costly, "", log.New(io.Discard, "", 0)).ServeHTTP(w, r)
	if body := w.Body.String(); w.Code != 200 || !strings.Contains(body, `"decision","expected_loss"]`) ||
		!strings.Contains(body, `"reject",0.1]`) {
		t.Errorf("%d %s", w.Code, body)
	}
	h := NewModel(model, "", log.New(io.Discard, "", 0))
	ask := func(method, path, host, kind, body string) (int, string) {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Host = host
		r.Header.Set("Content-Type", kind)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		return w.Code, w.Body.String()
	}
	const here, kind = "localhost:80", "application/json"
	for _, c := range []struct {
		method, path, host, kind, body string
		code                           int
		want                           string
	}{
		{"POST", "/predict", here, kind, string(good), 200, `"columns":["case",`},
		{"POST", "/predict", "evil.example", kind, string(good), http.StatusMisdirectedRequest, "call it localhost"},
		{"POST", "/predict", here, "text/plain", string(good), http.StatusUnsupportedMediaType, "application/json"},
		{"GET", "/predict", here, kind, "", http.StatusMethodNotAllowed, "ask with POST"},
		{"POST", "/schema", here, kind, "", http.StatusMethodNotAllowed, "ask with GET"},
		{"GET", "/", here, kind, "", http.StatusNotFound, "POST /predict"},
		{"POST", "/predict", here, kind, `{"rows": []}`, http.StatusBadRequest, "0 rows; ask for 1 to 10000"},
		{"POST", "/predict", here, kind, `{"row": []}`, http.StatusBadRequest, `unknown field`},
		{"POST", "/predict", here, kind, `{"rows": [{"nothing": 1}]}`, http.StatusUnprocessableEntity, `row 0: unknown column \"nothing\"`},
		{"POST", "/predict", here, kind, `{"rows": [{}]}`, http.StatusUnprocessableEntity, "row 0: there is no"},
		{"POST", "/predict", here, kind, strings.Replace(string(good), ":10", `:"ten"`, 1), http.StatusUnprocessableEntity, `\"ten\" is not a number`},
		{"POST", "/predict", here, kind, `{"rows": "` + strings.Repeat("x", maxRequest) + `"}`, http.StatusRequestEntityTooLarge, "fewer rows"},
		{"GET", "/health", here, "", "", 200, `"ok"`},
		{"GET", "/schema", here, "", "", 200, `"max_rows":10000`},
		{"GET", "/metrics", here, "", "", 200, "gpc_tune_predict_requests_total 4\ngpc_tune_predict_rows_total 6\ngpc_tune_predict_errors_total 11\n"},
	} {
		code, body := ask(c.method, c.path, c.host, c.kind, c.body)
		if code != c.code || !strings.Contains(body, c.want) {
			t.Errorf("%s %s: %d %s, want %d %s", c.method, c.path, code, body, c.code, c.want)
		}
	}
}
