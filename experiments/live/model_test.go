package live

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strings"
	"sync"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/classifier/predict"
	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
)

// The answer for rows equals the output of predict for the same file. Every other request is
// refused with a reason, and counted.
func TestModelHandler(t *testing.T) {
	p := plantest.Planned(t, "data: {dataset: crabs, subsample: 30}\nmodel: {kernel: se, likelihood: probit, inference: laplace}\ntune: none\n")
	name := filepath.Join(t.TempDir(), "m.json")
	o := predict.FitOptions{Options: run.Options{Warn: t.Logf}}
	o.Workers = 1
	if _, _, err := predict.Fit(t.Context(), p, name, o); err != nil {
		t.Fatal(err)
	}
	model, err := predict.LoadClassifier(name)
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
	w, r = httptest.NewRecorder(), httptest.NewRequest("POST", "/predict?why=1", strings.NewReader(string(good)))
	r.Host = "localhost"
	r.Header.Set("Content-Type", "application/json")
	NewModel(model, "", log.New(io.Discard, "", 0)).ServeHTTP(w, r)
	if body := w.Body.String(); w.Code != 200 || !strings.Contains(body, `"decision","why_of","base","why[`) {
		t.Errorf("%d %s", w.Code, body)
	}
	strict, err := model.Deciding(spec.Deciding{Strict: true})
	if err != nil {
		t.Fatal(err)
	}
	w, r = httptest.NewRecorder(), httptest.NewRequest("POST", "/predict", strings.NewReader(strings.Replace(string(good), ":10", `:"ten"`, 1)))
	r.Host = "localhost"
	r.Header.Set("Content-Type", "application/json")
	NewModel(strict, "", log.New(io.Discard, "", 0)).ServeHTTP(w, r)
	if body := w.Body.String(); w.Code != http.StatusUnprocessableEntity || !strings.Contains(body, `\"ten\" of case 0`) {
		t.Errorf("%d %s", w.Code, body)
	}
	h := NewModel(model, "", log.New(io.Discard, "", 0))
	ask := func(method, path, host, kind, body string) (int, string) {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Host = host
		r.Header.Set("Content-Type", kind)
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		want := "application/json"
		if path == "/metrics" {
			want = "text/plain; version=0.0.4; charset=utf-8"
		}
		if got := w.Result().Header.Get("Content-Type"); got != want {
			t.Errorf("%s %s is %s, want %s", method, path, got, want)
		}
		_, allowed, _ := strings.Cut(w.Body.String(), `"ask with `) // the one method, of 405 alone
		if got := w.Result().Header.Get("Allow"); (w.Code == http.StatusMethodNotAllowed) != (got != "") ||
			!strings.HasPrefix(allowed, got) {
			t.Errorf("%s %s allows %q: %s", method, path, got, w.Body)
		}
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
		{"GET", "/nothing", here, kind, "", http.StatusNotFound, "POST /predict"},
		{"PUT", "/", here, kind, "", http.StatusMethodNotAllowed, "ask with GET, POST"},
		{"POST", "/predict", here, kind, `{"rows": []}`, http.StatusBadRequest, "0 rows; ask for 1 to 10000"},
		{"POST", "/predict", here, kind, `{"row": []}`, http.StatusBadRequest, `unknown field`},
		{"POST", "/predict", here, kind, `{"rows": [{"nothing": 1}]}`, http.StatusUnprocessableEntity, `row 0: unknown column \"nothing\"`},
		{"POST", "/predict", here, kind, `{"rows": [{}]}`, http.StatusUnprocessableEntity, "row 0: there is no"},
		{"POST", "/predict", here, kind, strings.Replace(string(good), ":10", `:"ten"`, 1), 200, `\"sp\" that are no numbers: they are treated as missing; \"ten\" of case 0 (cases: 1)`},
		{"POST", "/predict", here, kind, `{"rows": "` + strings.Repeat("x", maxRequest) + `"}`, http.StatusRequestEntityTooLarge, "fewer rows"},
		{"POST", "/predict", here, kind + "; charset=utf-8", string(good), 200, `"columns":["case",`},
		{"POST", "/predict", here, kind + ";charset=UTF-8", string(good), 200, `"columns":["case",`},
		{"POST", "/predict", here, kind + "; charset=latin1", string(good), http.StatusUnsupportedMediaType, `charset \"latin1\"`},
		{"POST", "/predict", here, kind, string(good) + "{}", http.StatusBadRequest, "more after the first JSON value"},
		{"POST", "/predict", here, kind, string(good) + "]", http.StatusBadRequest, "after the first JSON value"},
		{"POST", "/predict", here, kind, string(good) + " \n", 200, `"columns":["case",`},
		{"POST", "/predict", here, kind, `{"rows": [], ` + string(good)[1:], http.StatusBadRequest, `\"rows\" is there twice`},
		{"POST", "/predict", here, kind, strings.Replace(string(good), ":10", `:10,"`+inputs[0].Name+`":11`, 1), http.StatusBadRequest, `row 0: \"sp\" is there twice`},
		{"POST", "/predict", here, kind, strings.Replace(string(good), ":10", ":[10]", 1), http.StatusUnprocessableEntity, `row 0: \"sp\" must be a number`},
		{"POST", "/predict", here, kind, strings.Replace(string(good), ":10", ":1e400", 1), 200, `\"1e400\" of case 0`},
		{"POST", "/predict", here, kind, strings.Replace(string(good), ":10", ":true", 1), 200, `\"true\" of case 0`},
		{"POST", "/predict", here, kind, strings.Replace(string(good), ":10", ":null", 1), 200, `values of \"sp\" are missing: 1 stands in for each (cases: 1)`},
		{"POST", "/predict", here, kind, `{"rows": [7]}`, http.StatusBadRequest, "row 0: want { at byte 11"},
		{"POST", "/predict", here, kind, `{"rows": [{"FL`, http.StatusBadRequest, "row 0: unexpected EOF"},
		{"POST", "/predict", here, kind, `{"rows": [{"` + "\xff" + `": 1}]}`, http.StatusBadRequest, "invalid UTF-8"},
		{"POST", "/predict", here, kind, `{"rows": [` + strings.Repeat(string(good)[9:len(good)-2]+",", maxRows/2) + `7]}`, http.StatusBadRequest, "more than 10000 rows; ask for 1 to 10000"},
		{"GET", "/health", here, "", "", 200, `"ok"`},
		{"GET", "/schema", here, "", "", 200, `"max_rows":10000`},
		{"GET", "/metrics", here, "", "", 200, "gpc_tune_predict_requests_total 24\ngpc_tune_predict_rows_total 16\ngpc_tune_predict_errors_total 21\n"},
	} {
		code, body := ask(c.method, c.path, c.host, c.kind, c.body)
		if code != c.code || !strings.Contains(body, c.want) {
			t.Errorf("%s %s: %d %s, want %d %s", c.method, c.path, code, body, c.code, c.want)
		}
	}
	var seconds float64
	_, metrics := ask("GET", "/metrics", here, "", "")
	_, last, _ := strings.Cut(metrics, "gpc_tune_predict_seconds_total ")
	if _, err := fmt.Sscan(last, &seconds); err != nil || !(seconds > 0) {
		t.Errorf("%v s for 10 rows, %v: %s", seconds, err, metrics)
	}
}

// The schema has every column of a row, the levels of columns of names, and the classes.
func TestSchema(t *testing.T) {
	h := NewModel(fitted(t, "x,colour,w,y\n1,red,i,no\n2,blue,j,yes\n3,blue,k,no\n4,red,l,yes\n",
		", id: w, categorical: one_hot"), "", log.New(io.Discard, "", 0))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest("GET", "http://localhost/schema", nil))
	want := `{"inputs":[{"name":"x"},{"name":"colour","levels":["blue","red"]}],"ids":[{"name":"w"}],` +
		`"classes":["no","yes"],"max_rows":10000}`
	if got := strings.TrimSpace(w.Body.String()); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// deaf is a client that does not take the answer.
type deaf struct{ *httptest.ResponseRecorder }

func (deaf) Write([]byte) (int, error) { return 0, errors.New("broken pipe") }

// An answer that cannot be written is in the log.
func TestAnswersThatCannotBeWritten(t *testing.T) {
	var lines strings.Builder
	h := NewModel(new(predict.Classifier), "", log.New(&lines, "", 0))
	h.ServeHTTP(deaf{httptest.NewRecorder()}, httptest.NewRequest("GET", "http://localhost/health", nil))
	if got := lines.String(); got != "an answer could not be written: broken pipe\n" {
		t.Errorf("log %q", got)
	}
}

// fitted writes a training file, and fits and loads a model with these keys of data.
func fitted(t testing.TB, train, keys string) *predict.Classifier {
	t.Helper()
	dir := t.TempDir()
	file, name := filepath.Join(dir, "train.csv"), filepath.Join(dir, "m.json")
	if err := os.WriteFile(file, []byte(train), 0o666); err != nil {
		t.Fatal(err)
	}
	p := plantest.Planned(t, fmt.Sprintf("data: {train: %s, preprocess: standardize%s}\nmodel: {kernel: se, likelihood: probit, inference: laplace}\ntune: none\n", file, keys))
	o := predict.FitOptions{Options: run.Options{Warn: t.Logf}}
	o.Workers = 1
	if _, _, err := predict.Fit(t.Context(), p, name, o); err != nil {
		t.Fatal(err)
	}
	model, err := predict.LoadClassifier(name)
	if err != nil {
		t.Fatal(err)
	}
	return model
}

// decimalComma is a training file of one input.
const decimalComma = "x;y\n-1,5;no\n2,25;yes\n0,75;no\n3,5;yes\n1;no\n4;yes\n"

// A panic is a response with status 500, which /metrics counts, and the next request is answered.
func TestPanicsAreAnswered(t *testing.T) {
	var lines strings.Builder
	h := NewModel(new(predict.Classifier), "", log.New(&lines, "", 0))
	for range 2 * maxLarge {
		if code, body := post(h, "{}"); code != http.StatusInternalServerError || !strings.Contains(body, "panic: ") {
			t.Fatalf("%d %s", code, body)
		}
	}
	r, w := httptest.NewRequest("GET", "/metrics", nil), httptest.NewRecorder()
	r.Host = "localhost"
	if h.ServeHTTP(w, r); !strings.Contains(w.Body.String(), fmt.Sprintf("gpc_tune_predict_errors_total %d\n", 2*maxLarge)) ||
		!strings.Contains(lines.String(), "/predict: panic: ") {
		t.Errorf("%s\n%s", w.Body, &lines)
	}
	h = NewModel(fitted(t, decimalComma, ", decimal: comma"), "", log.New(io.Discard, "", 0))
	if code, body := post(h, `{"rows": [{"x": 1}]}`); code != 200 {
		t.Errorf("%d %s", code, body)
	}
}

// An input that is not finite once it is standardised is an error of its row.
func TestInputsFarFromAnyOther(t *testing.T) {
	model := fitted(t, "x,y\n0,no\n1e-310,yes\n2e-310,no\n3e-310,yes\n", "")
	h := NewModel(model, "", log.New(io.Discard, "", 0))
	if code, body := post(h, `{"rows": [{"x": 1e-310}, {"x": 1}]}`); code != 422 || !strings.Contains(body, "rows: case 1 has +Inf as x, preprocessed; its inputs are too far") {
		t.Errorf("%d %s", code, body)
	}
	if code, body := post(h, `{"rows": [{"x": 1e-310}]}`); code != 200 {
		t.Errorf("%d %s", code, body)
	}
}

// Every row has its own result or its own error, in files and in JSON, where the one column of a
// file has missing values too.
func TestNoRowVanishes(t *testing.T) {
	for keys, lacks := range map[string]string{
		"missing: median, ": "", "": "", "missing: drop, ": "", "missing: error, ": "has no value; write it",
	} {
		model := fitted(t, decimalComma, ", "+keys+"decimal: comma, missing_values: [-9]")
		h := NewModel(model, "", log.New(io.Discard, "", 0))
		code, body := post(h, `{"rows": [{"x": 1}, {"x": null}, {"x": -9.0}, {"x": "-9,0"}, {"x": ""}]}`)
		var out strings.Builder
		_, err := model.Stream(t.Context(), "-", strings.NewReader("x\n1\n\n-9,0\n\"\"\n-90e-1\n"), spec.Deciding{}, &out)
		if lacks != "" {
			if code != 422 || !strings.Contains(body, `row 1: column \"x\" `+lacks) || err == nil || !strings.Contains(err.Error(), `-:3:1: column "x" `+lacks) {
				t.Errorf("%s: %d %s, %v", keys, code, body, err)
			}
			continue
		}
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if code != 200 || strings.Count(body, ",[") != 4 || err != nil || len(lines) != 6 {
			t.Fatalf("%s: %d %s, %v %s", keys, code, body, err, &out)
		}
		for _, line := range lines[3:] {
			if line[1:] != lines[2][1:] || line[1:] == lines[1][1:] {
				t.Errorf("%s: the missing values are not alike: %s", keys, &out)
			}
		}
	}
}

// Eight clients at once, or 25, that send the largest bodies take a fraction of a gigabyte together,
// whether the bodies are refused or predicted.
func TestMemoryOfManyClients(t *testing.T) {
	const size, most = 15 << 20, 700 << 20
	clients := exhaustive.Of(8, 25)
	server := httptest.NewServer(NewModel(fitted(t, decimalComma, ", decimal: comma"), "", log.New(io.Discard, "", 0)))
	defer server.Close()
	named := httptest.NewServer(NewModel(fitted(t, strings.ReplaceAll("a;"+decimalComma, "\n", "\na;")[:len(decimalComma)+14], ", id: a, decimal: comma"), "", log.New(io.Discard, "", 0)))
	defer named.Close()
	id := strings.Repeat("é", size/maxRows/2)
	for _, c := range []struct {
		to   *httptest.Server
		body string
		code int
	}{
		{server, `{"rows": [` + strings.Repeat(`{"x":1},`, size/8) + `{"x":1}]}`, http.StatusBadRequest},
		{server, `{"rows": [{"x": "` + strings.Repeat("1", size) + `"}]}`, http.StatusOK},
		{named, `{"rows": [` + strings.Repeat(`{"x":1,"a":"`+id+`"},`, maxRows-1) + `{"x":1,"a":"` + id + `"}]}`, http.StatusOK},
	} {
		debug.FreeOSMemory()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		var group sync.WaitGroup
		for range clients {
			group.Go(func() {
				answer, err := http.Post(c.to.URL+"/predict", "application/json", strings.NewReader(c.body))
				if err != nil {
					t.Error(err)
					return
				}
				defer answer.Body.Close()
				if _, err := io.Copy(io.Discard, answer.Body); err != nil || answer.StatusCode != c.code {
					t.Errorf("%d (%v), want %d", answer.StatusCode, err, c.code)
				}
			})
		}
		group.Wait()
		runtime.ReadMemStats(&after)
		if after.Sys > before.Sys+most { // memory of the system, which the heap never gives back
			t.Errorf("%.60s…: %d clients take %d MiB", c.body, clients, (after.Sys-before.Sys)>>20)
		}
	}
}
