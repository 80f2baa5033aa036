package live

import (
	"encoding/json"
	"io"
	"log"
	"slices"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/classifier/predict"
)

// Any body of a request is answered with a documented status: each row has its result, or an error
// says why there is none.
func FuzzRequest(f *testing.F) {
	train := "x;sex;colour;w;y\n-1,5;True;grün;a;no\n2,25;False;rot;b;yes\n0,75;True;;c;no\n;False;rot;d;yes\n1;True;1,5;e;no\n4;False;rot;f;yes\n"
	var handlers []*ModelHandler
	for _, model := range []*predict.Classifier{
		fitted(f, train, ", decimal: comma, missing: median, missing_values: [-9], missing_indicators: true, id: w, categorical: one_hot"),
		fitted(f, "1e-310,no\n2e-310,yes\n-1e-310,no\n4e-310,yes\n", ""),
	} {
		handlers = append(handlers, NewModel(model, "", log.New(io.Discard, "", 0)))
	}
	for _, body := range []string{
		`{"rows": [{"x": 1.234, "sex": true, "colour": "grün", "w": "é\u00e9", "y": "no"}, {"x": null, "sex": "", "colour": 1.5}]}`,
		`{"rows": [{"x": -9.0, "sex": false, "colour": "1.234,5", "w": 7}]} `, `{"rows": [{"x1": 1e-310}, {"x1": "2"}, {"x1": 1e300}]}`,
		`{"rows": [{"x1": 1, "x1": 2}]}`, `{"rows": [{"x1": [1]}], "rows": []}`, `{"rows": [{"x1": 1}]}]`, "{\"rows\": [{\"x1\": \"\xff\\ud800\x00\"}]}", "",
	} {
		f.Add([]byte(body))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		for _, h := range handlers {
			code, text := post(h, string(body))
			var answer struct {
				Columns []string
				Rows    [][]any
				Error   string
			}
			if err := json.Unmarshal([]byte(text), &answer); err != nil || !slices.Contains([]int{200, 400, 422}, code) || (code == 200) != (answer.Error == "") {
				t.Fatalf("%q: %d %s (%v)", body, code, text, err)
			}
			if code != 200 {
				continue
			}
			var asked struct{ Rows []map[string]json.RawMessage }
			if err := json.Unmarshal(body, &asked); err != nil || len(asked.Rows) != len(answer.Rows) {
				t.Fatalf("%q: %d rows are answered, of %d (%v)", body, len(answer.Rows), len(asked.Rows), err)
			}
			for i, row := range answer.Rows {
				if len(row) != len(answer.Columns) || row[0] != float64(i) {
					t.Fatalf("%q: row %d is answered with %v", body, i, row)
				}
			}
		}
	})
}
