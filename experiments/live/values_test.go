package live

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"log"
	"math"
	"math/rand/v2"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/text/encoding/charmap"
	"golang.org/x/text/encoding/unicode"

	library "github.com/gpc-tune/gpc-tune/experiments/classifier"
	"github.com/gpc-tune/gpc-tune/experiments/classifier/predict"
	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
)

// drawn is a random model, its training file and its cases to predict, as values and not as texts.
type drawn struct {
	r *rand.Rand

	decimal, encoding, missing, categorical string
	delimiter                               rune
	header, tokens, indicators, folded      bool
	kinds                                   []string // kinds of the inputs
	ids, classes                            int
	labels                                  []string // labels of the classes
	above                                   bool     // the label is a number
	adjusted                                bool     // the model has costs, which the library does not apply
}

// levels returns the levels of a kind of input. The levels of codes are names although they are
// numbers.
func (d *drawn) levels(kind string) []string {
	return map[string][]string{"words": {"grün", "rouge", "señal"}, "booleans": {"False", "True"},
		"codes": {d.point("1.5"), "2", "30"}}[kind]
}

// draw draws a model.
func draw(r *rand.Rand) *drawn {
	pick := func(of ...string) string { return of[r.IntN(len(of))] }
	d := &drawn{
		r: r, decimal: pick("", "point", "comma"), encoding: pick("", "windows-1252", "utf-16le", "latin-1"),
		missing: pick("", "error", "drop", "mean", "median"), categorical: pick("one_hot", "one_hot", "kernel"),
		delimiter: []rune{';', ',', '\t'}[r.IntN(3)], header: r.IntN(4) > 0, tokens: r.IntN(2) == 0,
		folded: r.IntN(4) == 0, ids: r.IntN(3), classes: []int{2, 2, 2, 3, 0}[r.IntN(5)],
	}
	d.indicators = (d.missing == "mean" || d.missing == "median") && r.IntN(2) == 0
	for range 1 + r.IntN(4) {
		d.kinds = append(d.kinds, pick("numbers", "numbers", "words", "booleans", "codes"))
	}
	switch d.classes {
	case 2:
		d.labels = [][]string{{"no", "yes"}, {"0", "1"}, {"1.0", "2.0"}, {"False", "True"}, {"ärmer", "reich"}, {"1.5", "7"}}[r.IntN(6)]
		d.above, d.adjusted = d.labels[0] == "1.5", d.labels[0] == "no" && r.IntN(2) == 0
		d.labels[0] = d.point(d.labels[0])
	case 3:
		d.labels = [][]string{{"a", "b", "c"}, {"1", "2", "3"}}[r.IntN(2)]
	}
	return d
}

// name returns the name of column j of a file: the inputs, the ids, the label.
func (d *drawn) name(j int) string {
	switch {
	case !d.header:
		return "x" + strconv.Itoa(j+1)
	case j < len(d.kinds):
		return "größe " + strconv.Itoa(j)
	case j < len(d.kinds)+d.ids:
		return "id " + strconv.Itoa(j)
	}
	return "label"
}

// value draws a value: a float64, a text of a category, or nil.
func (d *drawn) value(kind string, missing bool) any {
	if missing && d.r.IntN(5) == 0 {
		return nil
	}
	if kind == "numbers" {
		v := math.Round(d.r.NormFloat64()*4000) / 1000
		if d.tokens && (v == -9 || v == -0.009) { // which stands for a missing value
			v = 9
		}
		switch d.r.IntN(4) {
		case 0:
			return v * 1000
		case 1:
			return d.r.NormFloat64()
		default:
			return v
		}
	}
	of := d.levels(kind)
	return of[d.r.IntN(len(of))]
}

// cell is the text of a value in a file.
func (d *drawn) cell(v any) string {
	pick := func(of ...string) string { return of[d.r.IntN(len(of))] }
	switch v := v.(type) {
	case nil:
		of := []string{"", "NA", "?"}
		if d.tokens {
			of = append(of, "none", d.point("-9.0"), "-9", d.point("-90e-1"))
		}
		return pick(of...)
	case float64:
		text := strconv.FormatFloat(v, 'g', -1, 64)
		if whole := strconv.FormatFloat(v, 'f', -1, 64); d.decimal != "" && d.r.IntN(2) == 0 && v == math.Trunc(v) && math.Abs(v) >= 1000 && math.Abs(v) < 1e6 {
			return whole[:len(whole)-3] + map[string]string{"point": ",", "comma": "."}[d.decimal] + whole[len(whole)-3:]
		}
		return d.point(text)
	}
	if text := v.(string); d.folded {
		return pick(text, strings.ToUpper(text))
	}
	return v.(string)
}

// point puts the decimal separator into a plain number.
func (d *drawn) point(text string) string {
	if d.decimal == "comma" {
		return strings.Replace(text, ".", ",", 1)
	}
	return text
}

// typed is a value in JSON.
func (d *drawn) typed(v any, kind string) string {
	quoted := func(s string) string { text, _ := json.Marshal(s); return string(text) } // texts alone
	switch v := v.(type) {
	case nil:
		if d.tokens && d.r.IntN(3) == 0 {
			return []string{"-9", "-9.0", "-0.9e1", `"none"`}[d.r.IntN(4)]
		}
		return []string{"null", `"NA"`, `""`}[d.r.IntN(3)]
	case float64:
		switch d.r.IntN(4) {
		case 0:
			return strconv.FormatFloat(v, 'e', -1, 64)
		case 1:
			return quoted(d.cell(v)) // a text is written like a field of the file
		}
		return strconv.FormatFloat(v, 'g', -1, 64)
	}
	switch text := v.(string); {
	case kind == "booleans" && d.r.IntN(3) > 0:
		return strings.ToLower(text)
	case kind == "codes" && d.r.IntN(3) > 0:
		number, _ := strconv.ParseFloat(strings.Replace(text, ",", ".", 1), 64)
		return strconv.FormatFloat(number, 'e', -1, 64)
	default:
		return quoted(d.cell(text))
	}
}

// file writes rows of cells in the form of the model's files.
func (d *drawn) file(names []string, rows [][]string) []byte {
	var b bytes.Buffer
	w := csv.NewWriter(&b)
	w.Comma = d.delimiter
	if d.header {
		w.Write(names)
	}
	for _, row := range rows {
		if len(row) == 1 && row[0] == "" { // as most programs write it, or as csv.Writer does
			if w.Flush(); d.r.IntN(2) == 0 {
				b.WriteString("\n")
				continue
			}
		}
		w.Write(row)
	}
	w.Flush()
	text := b.Bytes()
	switch d.encoding {
	case "windows-1252":
		text, _ = charmap.Windows1252.NewEncoder().Bytes(text) // all letters above are in it
	case "latin-1":
		text, _ = charmap.ISO8859_1.NewEncoder().Bytes(text)
	case "utf-16le":
		text, _ = unicode.UTF16(unicode.LittleEndian, unicode.IgnoreBOM).NewEncoder().Bytes(text)
	}
	return text
}

// fit writes the training file, and fits and loads the model; names are the columns of its file.
func (d *drawn) fit(t *testing.T, dir string) (model string, names []string) {
	t.Helper()
	width := len(d.kinds) + d.ids + 1
	for j := range width {
		names = append(names, d.name(j))
	}
	n := 8 + d.r.IntN(5)
	var rows [][]string
	for i := range n {
		var row []string
		for _, kind := range d.kinds {
			// every level occurs, and so does a value of every column
			v := d.value(kind, i >= 4 && d.missing != "" && d.missing != "error")
			if of := d.levels(kind); i < len(of) {
				v = of[i]
			}
			row = append(row, d.cell(v))
		}
		for j := range d.ids {
			row = append(row, fmt.Sprintf("00%d%d", i, j))
		}
		if d.classes == 0 {
			row = append(row, d.cell(d.value("numbers", false)))
		} else {
			row = append(row, d.labels[i%d.classes])
		}
		rows = append(rows, row)
	}
	if d.missing == "drop" { // enough cases stay
		for i := range 6 {
			for j, kind := range d.kinds {
				if of := d.levels(kind); i >= len(of) {
					rows[i][j] = d.cell(d.value(kind, false))
				}
			}
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "train.csv"), d.file(names, rows), 0o666); err != nil {
		t.Fatal(err)
	}
	y, model := map[string]any{"train": filepath.Join(dir, "train.csv"), "label": names[width-1], "categorical": d.categorical,
		"preprocess": "standardize"}, filepath.Join(dir, "m.json")
	var ids, codes []string
	for j := range d.ids {
		ids = append(ids, strconv.Itoa(len(d.kinds)+j+1))
	}
	for j, kind := range d.kinds {
		if kind == "codes" {
			codes = append(codes, strconv.Itoa(j+1))
		}
	}
	set := func(key string, value any, given bool) {
		if given {
			y[key] = value
		}
	}
	set("id", ids, ids != nil)
	set("categories", codes, codes != nil)
	set("decimal", d.decimal, d.decimal != "")
	set("encoding", d.encoding, d.encoding != "")
	set("missing", d.missing, d.missing != "")
	set("missing_values", []string{"none", "-9"}, d.tokens)
	set("missing_indicators", true, d.indicators)
	set("ignore_case", true, d.folded)
	set("above", 2.5, d.above)
	of := "{se: {ard: true, length_scale: 1.3}}"
	named := slices.ContainsFunc(d.kinds, func(kind string) bool { return kind != "numbers" })
	if named && d.categorical == "kernel" {
		of = map[bool]string{true: "{sum: [" + of + ", hamming]}", false: "hamming"}[slices.Contains(d.kinds, "numbers")]
	}
	m := map[int]string{0: "likelihood: gaussian, inference: exact", 2: "likelihood: probit, inference: laplace", 3: "likelihood: softmax, inference: laplace"}[d.classes]
	text, _ := json.Marshal(y) // texts, lists and booleans
	more := ""
	if d.adjusted {
		more = "predict: {loss: {yes: {no: 5}}}\n"
	}
	p := plantest.Planned(t, fmt.Sprintf("data: %s\nmodel: {kernel: %s, %s}\ntune: none\n%s", text, of, m, more))
	o := predict.FitOptions{Options: run.Options{Warn: func(string, ...any) {}}}
	o.Workers = 1
	if _, _, err := predict.Fit(t.Context(), p, model, o); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return model, names
}

// matrix is the matrix of the inputs of rows of values, by the columns in the model file.
func matrix(t *testing.T, d *drawn, file []byte, rows [][]any) (x [][]float64) {
	t.Helper()
	var f struct {
		Columns struct {
			Inputs []struct {
				Levels      []string
				Gaps, Coded bool
			}
		}
	}
	if err := json.Unmarshal(file, &f); err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		var z []float64
		for j, c := range f.Columns.Inputs {
			text, _ := row[j].(string)
			level := slices.IndexFunc(c.Levels, func(l string) bool { return l == text || d.folded && strings.EqualFold(l, text) })
			switch {
			case c.Levels == nil && row[j] == nil:
				z = append(z, math.NaN())
			case c.Levels == nil:
				z = append(z, row[j].(float64))
			case c.Coded && row[j] == nil:
				z = append(z, float64(len(c.Levels)))
			case c.Coded:
				z = append(z, float64(level))
			default:
				for k := range c.Levels {
					switch {
					case row[j] == nil && !c.Gaps:
						z = append(z, math.NaN())
					case k == level:
						z = append(z, 1)
					default:
						z = append(z, 0)
					}
				}
			}
			if c.Gaps {
				z = append(z, map[bool]float64{true: 1}[row[j] == nil])
			}
		}
		x = append(x, z)
	}
	return x
}

// post asks a handler.
func post(h *ModelHandler, body string) (int, string) {
	r := httptest.NewRequest("POST", "/predict", strings.NewReader(body))
	r.Host = "localhost"
	r.Header.Set("Content-Type", "application/json; charset=UTF-8")
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// The same cases have the same probabilities, to the last bit, from a CSV file, from JSON and from
// Go, whatever the settings by which files are read.
func TestValuesAreTheSameEverywhere(t *testing.T) {
	r := rand.New(rand.NewPCG(20, 26))
	compared, refused, lacking, replaced := 0, 0, 0, 0
	models := exhaustive.Of(80, 500)
	for model := range models {
		d, dir := draw(r), t.TempDir()
		name, names := d.fit(t, dir)
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		c, err := predict.LoadClassifier(name)
		if err != nil {
			t.Fatal(err)
		}
		allowed := d.missing == "mean" || d.missing == "median"
		missing := allowed || r.IntN(4) == 0
		var values [][]any
		var cells [][]string
		var objects []string
		gap := false // a missing value that the library does not replace
		for i := range 3 + r.IntN(5) {
			var row []any
			var texts, pairs []string
			for j, kind := range d.kinds {
				v := d.value(kind, missing)
				gap = gap || v == nil && !allowed
				row, texts = append(row, v), append(texts, d.cell(v))
				pairs = append(pairs, fmt.Sprintf("%q: %s", names[j], d.typed(v, kind)))
			}
			for j := range d.ids {
				id := fmt.Sprintf("%d-%d", i, j)
				texts, pairs = append(texts, id), append(pairs, fmt.Sprintf("%q: %q", names[len(d.kinds)+j], id))
			}
			values, cells = append(values, row), append(cells, texts)
			r.Shuffle(len(pairs), func(a, b int) { pairs[a], pairs[b] = pairs[b], pairs[a] })
			objects = append(objects, "{"+strings.Join(pairs, ", ")+"}")
		}
		where := fmt.Sprintf("model %d, %+v: %v", model, *d, values)
		cases := filepath.Join(dir, "new.csv")
		if err := os.WriteFile(cases, d.file(names[:len(names)-1], cells), 0o666); err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		_, wrong := c.Stream(t.Context(), cases, nil, spec.Deciding{}, &out)
		code, body := post(NewModel(c, "", log.New(io.Discard, "", 0)), `{"rows": [`+strings.Join(objects, ",")+`]}`)
		if gap && d.missing == "error" {
			lacking++
			if wrong == nil || !strings.Contains(wrong.Error(), "has no value") || code != 422 || !strings.Contains(body, "has no value") || !strings.Contains(body, ": row ") {
				t.Errorf("%s: a missing value gives %v, and %d %s", where, wrong, code, body)
			}
			continue
		}
		var answer struct {
			Columns []string
			Rows    [][]any
		}
		if err := json.Unmarshal([]byte(body), &answer); err != nil || wrong != nil || code != 200 {
			t.Fatalf("%s: %v, and %d %s (%v)", where, wrong, code, body, err)
		}
		table, err := csv.NewReader(&out).ReadAll()
		if err != nil || len(table) != len(values)+1 || len(answer.Rows) != len(values) || !slices.Equal(table[0], answer.Columns) {
			t.Fatalf("%s: %d rows of CSV, %d of JSON (%v)", where, len(table)-1, len(answer.Rows), err)
		}
		var proba [][]float64
		for i, row := range answer.Rows {
			var p []float64
			for j, v := range row {
				if fromCSV := table[i+1][j]; fmt.Sprint(v) != fromCSV {
					if number, err := strconv.ParseFloat(fromCSV, 64); err != nil || number != v {
						t.Errorf("%s: row %d: %s is %v by JSON and %s by CSV", where, i, answer.Columns[j], v, fromCSV)
					}
				}
				if strings.HasPrefix(answer.Columns[j], "p[") {
					p = append(p, v.(float64))
				}
			}
			proba = append(proba, p)
		}
		l, err := library.Load(bytes.NewReader(text))
		if d.classes == 0 || d.adjusted {
			refused++
			if want := map[bool]string{true: "calibrate, threshold, costs: they are not applied here", false: "gpc-tune predict predicts numbers"}[d.adjusted]; err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%s: %v, want %q", where, err, want)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		x := matrix(t, d, text, values)
		got, err := l.Proba(t.Context(), x)
		if unknown := slices.ContainsFunc(x, func(row []float64) bool { return slices.ContainsFunc(row, math.IsNaN) }); gap && unknown {
			replaced++
			if err == nil || !strings.Contains(err.Error(), "every input must be a finite number") {
				t.Errorf("%s: a missing value gives %v", where, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", where, err)
		}
		for i := range got {
			if !slices.Equal(got[i], proba[i]) {
				t.Errorf("%s: row %d: %v by Go, %v by JSON", where, i, got[i], proba[i])
			}
		}
		compared++
	}
	if compared < models/2 || refused < models/10 || lacking < models/50 || replaced < models/50 {
		t.Errorf("%d models compared in all three, %d refused by the library, %d without a value, %d with another in place of it", compared, refused, lacking, replaced)
	}
}
