package catalogue

import (
	"encoding/json"
	"strings"
	"testing"
)

// A study of a client keeps its keys of data: columns by name, and numbers of columns become names.
// Categories and meanings of the table stay where the study says nothing else. Lines of other
// sections keep their numbers, and the files of the study are not used.
func TestForTable(t *testing.T) {
	table := map[string]any{"train": clientTable, "label": "y", "positive": "b", "missing": "median",
		"categories": []any{"town", "who"}, "columns": map[string]any{"day": map[string]any{"date": "d"}, "pain": "p"}}
	names := []string{"town", "who", "day", "pain", "dose"}
	const rest = `"label":"y","missing":"median",`
	for own, want := range map[string]string{
		`{train: a.csv, label: z, group: who}`: `{"categories":["town"],"columns":{"day":{"date":"d"},"pain":"p"},` +
			`"group":"who",` + rest + `"positive":"b","preprocess":"standardize","train":"train.parquet"}`,
		`{group: [2], drop: 1, id: [day]}`: `{"columns":{"pain":"p"},"drop":["town"],"group":"who","id":["day"],` + rest +
			`"positive":"b","preprocess":"standardize","train":"train.parquet"}`,
		`{columns: [town, day], weights: dose}`: `{"categories":["town"],"columns":{"day":{"date":"d"}},"drop":["who","pain"],` +
			rest + `"positive":"b","preprocess":"standardize","train":"train.parquet","weights":"dose"}`,
		`{columns: {town: {unit: kg}}, categories: [pain, 5], order: [b, 2024-01-02]}`: `{"categories":["pain","dose","who"],` +
			`"columns":{"day":{"date":"d"},"town":{"unit":"kg"}},` + rest + `"order":["b","2024-01-02"],"preprocess":"standardize","train":"train.parquet"}`,
		`{missing: drop, above: 1.5, zz: null, missing_indicators: true, positive: a}`: `{"above":1.5,"categories":` +
			`["town","who"],"columns":{"day":{"date":"d"},"pain":"p"},"label":"y","missing":"drop","missing_indicators":true,` +
			`"positive":"a","preprocess":"standardize","train":"train.parquet","zz":null}`,
	} {
		study, err := ForTable([]byte("seed: 1\ndata:\n  "+own+"\n\nmodel: {kernel: se}\n"), "a.yaml", table, names)
		if err != nil {
			t.Errorf("%s: %v", own, err)
			continue
		}
		if of, _ := json.Marshal(study.Data); string(of) != want {
			t.Errorf("%s: data\n%s, want\n%s", own, of, want)
		}
		if text := "seed: 1\ndata: " + want + "\n\n\nmodel: {kernel: se}\n"; study.Text != text {
			t.Errorf("%s: text\n%s, want\n%s", own, study.Text, text)
		}
	}
	study, err := ForTable([]byte("data: {columns: [dose, 1, who], categories: [who], missing: drop}"), "a.yaml", table, names)
	given, _ := json.Marshal(study.Given)
	others, _ := json.Marshal(study.Rest)
	if want := `{"categories":["who","town"],"drop":["day","pain"],"inputs":["dose","town","who","who"],"positive":"b"}`; err != nil ||
		string(given) != want || string(others) != `{"missing":"drop"}` {
		t.Errorf("%v: given\n%s, want\n%s, rest %s", err, given, want, others)
	}
	study, err = ForTable([]byte("{\"seed\": 1, \"data\": {\"drop\": \"who\"}}"), "a.yaml", nil, names)
	if err != nil || study.Text != "{\"seed\": 1, \"data\": {\"drop\": [\"who\"], \"preprocess\": \"standardize\"}}\n" {
		t.Errorf("%v: flow style: %s", err, study.Text)
	}
	study, err = ForTable([]byte(`{"kernels": ["se", "linear"], "model": {"mean": "zero"}, "classes": "joint", "preprocess": "whiten", "tune": "none", "zz": 1}`),
		"a.yaml", nil, names)
	model, _ := json.Marshal(study.Model)
	sections, _ := json.Marshal(study.Sections)
	if err != nil || string(model) != `{"classes":"joint","kernel":["se","linear"],"mean":"zero"}` ||
		string(sections) != `{"tune":"none","zz":1}` || study.Data["preprocess"] != "whiten" {
		t.Errorf("%v: model %s, sections %s, data %v", err, model, sections, study.Data)
	}
	const made = "data:\n  train: train.parquet # 3 rows\n"
	if study, err := ForTable([]byte(made), "a.yaml", table, names); err != nil || study.Text != made || len(study.Data) != 1 {
		t.Errorf("%v: a study that is made already: %+v", err, study)
	}
	if study, err := ForTable([]byte("seed: 1\n# end"), "a.yaml", table, names); err != nil ||
		!strings.HasPrefix(study.Text, "seed: 1\n# end\ndata: {\"categories\":") {
		t.Errorf("%v: a study without data: %+v", err, study)
	}
}

// What a table cannot be is an error.
func TestForTableRefuses(t *testing.T) {
	table := map[string]any{"weights": "w"}
	for study, want := range map[string]string{
		"data: {columns: [Town]}": `no column "Town"; did you mean "town"? (have town, who)`,
		"data: {test: a.csv}":     "data: {test: ...} has no use",
		"data: {label: who}":      "data: {label: who} is a column of X, and the labels are y",
		"data: {weights: who}":    "sample_weight and data: {weights: ...} are both given",
		"data: a.csv":             "data is a.csv, expected a mapping",
		"model: se":               "model is se, expected a mapping",
		"data: [":                 "a.yaml:1:",
		"kernel":                  "a.yaml",
	} {
		if _, err := ForTable([]byte(study), "a.yaml", table, []string{"town", "who"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", study, err, want)
		}
	}
}
