package live

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/classifier/predict"
	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/internal/testing/browser"
)

// visits is the model of cases with a category, an order, a number, a date and a number with a comma, and
// sets of classes.
func visits(t *testing.T) *predict.Classifier {
	t.Helper()
	text := "colour;grade;size;day;token;label\n"
	for i := range 60 {
		label := []string{"yes", "no", "no"}[i%3]
		if i%5 == 0 {
			label = "yes"
		}
		text += fmt.Sprintf("%s;%s;%d,%d;2024-0%d-1%d;%d;%s\n", []string{"red", "green", "<b>blue"}[i%3],
			[]string{"low", "mid", "high"}[i*7%11%3], i*13%17, i%10, 1+i*5%7, i*3%9, i%7, label)
	}
	file, name := filepath.Join(t.TempDir(), "visits.csv"), filepath.Join(t.TempDir(), "m.json")
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	p := plantest.Planned(t, fmt.Sprintf("data: {train: %s, label: label, categorical: one_hot, decimal: comma, preprocess: "+
		"standardize, columns: {grade: {ordered: [low, mid, high]}, day: {date: {form: ymd, parts: [month, weekday]}}}}\n"+
		"model: {kernel: se, likelihood: logit, inference: laplace}\ntune: none\nevaluate: {kfold: {k: 3}}\n"+
		"predict: {sets: {coverage: 0.9}}\n", file))
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

// The page has a field of the right kind for every input. The answer to a form is the prediction of
// POST /predict for the same case, with its set and why, and the form keeps its values. A fault of a
// value is named, and the form of another site is refused.
func TestFormOfAModel(t *testing.T) {
	h := NewModel(visits(t), "", silent())
	ask := func(method, path, kind, body string, more ...string) (int, string) {
		r := httptest.NewRequest(method, path, strings.NewReader(body))
		r.Host = "localhost"
		r.Header.Set("Content-Type", kind)
		for i := 0; i < len(more); i += 2 {
			r.Header.Set(more[i], more[i+1])
		}
		w := httptest.NewRecorder()
		h.ServeHTTP(w, r)
		policy := w.Header().Get("Content-Security-Policy")
		if form := strings.Contains(w.Body.String(), "<form"); form != strings.Contains(policy, "form-action 'self'") {
			t.Errorf("%s %s has the policy %s", method, path, policy)
		}
		return w.Code, w.Body.String()
	}
	code, text := ask("GET", "/", "", "")
	for _, want := range []string{`<label>colour`, `<option>&lt;b&gt;blue</option>`, `<option>high</option>`,
		`name="input2" type="number" step="any"`, `name="input3" type="date"`, `name="input4" type="number"`,
		"Of 0 cases since the start"} {
		if code != 200 || !strings.Contains(text, want) {
			t.Errorf("%d, no %s in %s", code, want, text)
		}
	}
	const form = "application/x-www-form-urlencoded"
	sent := url.Values{"input0": {"red"}, "input1": {"mid"}, "input2": {"3.5"}, "input3": {"2024-03-14"}, "input4": {""}}
	code, text = ask("POST", "/", form, sent.Encode())
	_, answer := ask("POST", "/predict?why=1", "application/json",
		`{"rows": [{"colour": "red", "grade": "mid", "size": 3.5, "day": "2024-03-14", "token": null}]}`)
	var predicted struct {
		Columns []string
		Rows    [][]any
	}
	if err := json.Unmarshal([]byte(answer), &predicted); err != nil {
		t.Fatalf("%v: %s", err, answer)
	}
	want := []string{`<option selected>red</option>`, `value="3.5"`, `value="2024-03-14"`, "The nearest training cases"}
	for j, name := range predicted.Columns {
		switch name {
		case "p[yes]", "latent_mean":
			want = append(want, fmt.Sprintf("<dd>%.4g</dd>", predicted.Rows[0][j]))
		case "why[colour]":
			want = append(want, fmt.Sprintf(">%+.3f</td>", predicted.Rows[0][j]))
		case "decision":
			want = append(want, fmt.Sprintf("<dd>%v</dd>", predicted.Rows[0][j]))
		case "set":
			want = append(want, fmt.Sprintf("<dd>{%v}</dd>", predicted.Rows[0][j]))
		}
	}
	if len(want) != 9 {
		t.Fatalf("%v", predicted.Columns)
	}
	for _, want := range want {
		if code != 200 || !strings.Contains(text, strings.ReplaceAll(want, "+", "&#43;")) {
			t.Errorf("%d, no %s in %s", code, want, text)
		}
	}
	sent.Set("input3", "the 14th")
	if code, text = ask("POST", "/", form, sent.Encode()); code != 200 || !strings.Contains(text, "the 14th") {
		t.Errorf("%d: %s", code, text)
	}
	if code, text = ask("POST", "/", form, sent.Encode(), "Sec-Fetch-Site", "cross-site"); code != 403 {
		t.Errorf("%d: %s", code, text)
	}
	if code, text = ask("POST", "/", form, "input0=%zz"); code != 422 || !strings.Contains(text, "no prediction") {
		t.Errorf("%d: %s", code, text)
	}
	if _, text = ask("GET", "/metrics", "", ""); !strings.Contains(text, "gpc_tune_drift_windows_total{input=\"size\"} 0\n") ||
		strings.Contains(text, "NaN") {
		t.Error(text)
	}
}

// In a browser the form is sent without a script, and the answer has no violation of accessibility.
func TestFormInBrowser(t *testing.T) {
	l, err := Listen("127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	at := "http://" + l.Addr().String() + "/"
	b := browser.Start(t, at, "data:") // the picture of the button of a date
	go Serve(t.Context(), l, NewModel(visits(t), "secret", silent()), silent(), nil)
	for _, width := range []int{1280, 420} {
		b.View(width, "dark")
		b.Open(at + "?token=secret")
		b.Follow(`document.querySelector('[name=input2]').value = '3.5'; document.querySelector('form button').click()`)
		var seen string
		b.Eval(`document.querySelector('#answer').innerText + document.querySelector('[name=input2]').value`, &seen)
		if !strings.Contains(seen, "decision") || !strings.HasSuffix(seen, "3.5") {
			t.Errorf("%q", seen)
		}
		b.Photograph(fmt.Sprintf("form-%d-dark", width))
		for _, f := range append(b.Violations(), b.Faults...) {
			t.Error(f)
		}
	}
}
