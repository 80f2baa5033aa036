package spec

import (
	"math"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/internal/jsonschema"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/record"
)

// Costs are read from triples, a mapping, or a file with a mapping or a matrix; a cost that is not
// given is 1 for an error, and 0 for a correct decision.
func TestCostsOfFlags(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	reject, nan := 0.2, math.NaN()
	usual := cv.Loss{{0, 1}, {1, 0}}
	for i, c := range []struct {
		loss    string
		reject  *float64
		classes []string
		want    cv.Loss
		mistake string
	}{
		{loss: "", classes: []string{"ill", "well"}}, {loss: "", reject: &reject, classes: []string{"ill", "well"}, want: usual},
		{loss: "ill,well,5", classes: []string{"ill", "well"}, want: cv.Loss{{0, 5}, {1, 0}}},
		{loss: " ill,well,5  well,well,-2 ", classes: []string{"ill", "well"}, want: cv.Loss{{0, 5}, {1, -2}}},
		{loss: "{ill: {well: 5}, well: {ill: 3, well: }}", classes: []string{"ill", "well"}, want: cv.Loss{{0, 5}, {3, 0}}},
		{loss: file("map", "{ill: {well: 7}}\n"), classes: []string{"ill", "well"}, want: cv.Loss{{0, 7}, {1, 0}}},
		{loss: file("matrix", "truth, ill, well\nwell, 3, 0.5\nill, 0, 9\n"), classes: []string{"ill", "well"}, want: cv.Loss{{0, 9}, {3, 0.5}}},
		{loss: "ill,well", classes: []string{"ill", "well"}, mistake: `"ill,well" must be truth,decision,cost, as in ill,well,5`},
		{loss: "ill,well,5,6", classes: []string{"ill", "well"}, mistake: "must be truth,decision,cost"},
		{loss: "ill,well,much", classes: []string{"ill", "well"}, mistake: "must be truth,decision,cost"},
		{loss: "ill,wel,5", classes: []string{"ill", "well"}, mistake: `unknown class "wel"; did you mean "well"?`},
		{loss: "il,well,5", classes: []string{"ill", "well"}, mistake: `unknown class "il"`},
		{loss: "ill,well,5 ill,well,6", classes: []string{"ill", "well"}, mistake: `the cost of deciding "well" where "ill" is the truth is given twice`},
		{loss: "ill,well,NaN", classes: []string{"ill", "well"}, mistake: "NaN is not a cost"},
		{loss: "ill,well,-Inf", classes: []string{"ill", "well"}, mistake: "-Inf is not a cost"},
		{loss: "ill,well,5", mistake: "the model predicts numbers, and costs are for decisions on classes"},
		{reject: &reject, mistake: "the model predicts numbers"},
		{reject: &nan, classes: []string{"ill", "well"}, mistake: "NaN is not a cost"},
		{reject: &reject, classes: []string{"accept", "reject"}, mistake: `a class is also named "reject"`},
		{loss: "accept,reject,5", classes: []string{"accept", "reject"}, want: cv.Loss{{0, 5}, {1, 0}}},
		{loss: file("empty", ""), classes: []string{"ill", "well"}, mistake: "the file is empty"},
		{loss: file("uneven", "a,ill\nill,1,2\n"), classes: []string{"ill", "well"}, mistake: "wrong number of fields"},
		{loss: file("part", "a,ill,well\nill,0,9\n"), classes: []string{"ill", "well"}, mistake: "2 of 4 costs are there"},
		{loss: file("words", "a,ill,well\nill,0,x\nwell,1,0\n"), classes: []string{"ill", "well"}, mistake: `row 2: "x" is no cost`},
		{loss: file("blanks", "a, ill, well\n ill, 0, 2\n well, 1, 0\n"), classes: []string{"ill", "well"},
			want: cv.Loss{{0, 2}, {1, 0}}},
		{loss: "{ill: {well: x}}", classes: []string{"ill", "well"}, mistake: "expected a number"},
		{loss: "{ill", classes: []string{"ill", "well"}, mistake: "--loss"},
	} {
		got, err := ReadCosts(Deciding{Loss: c.loss, Reject: c.reject}, c.classes)
		if (err == nil) != (c.mistake == "") || err != nil && strings.Count(err.Error(), c.mistake) != 1 {
			t.Errorf("%d: %q: %v, want %q", i, c.loss, err, c.mistake)
		}
		if c.mistake == "" && (got == nil) != (c.want == nil) || got != nil && c.want != nil && (!reflect.DeepEqual(got.Loss, c.want) || got.Reject != c.reject) {
			t.Errorf("%d: %q: %+v, want %v", i, c.loss, got, c.want)
		}
	}
}

// A threshold is a probability for two classes, without costs.
func TestThresholdOfFlags(t *testing.T) {
	two := []string{"a", "b"}
	at := func(v float64) *float64 { return &v }
	for i, c := range []struct {
		of      Deciding
		classes []string
		mistake string
	}{
		{Deciding{}, two, ""}, {Deciding{}, nil, ""}, {Deciding{Threshold: at(0)}, two, ""}, {Deciding{Threshold: at(1)}, two, ""}, {Deciding{Threshold: at(0.3)}, two, ""},
		{Deciding{Threshold: at(0.3)}, nil, "the model predicts numbers"}, {Deciding{Threshold: at(0.3)}, two[:1], "the model has 1"},
		{Deciding{Threshold: at(0.3)}, []string{"a", "b", "c"}, "the model has 3"}, {Deciding{Threshold: at(0.3), Loss: "a,b,2"}, two, "costs decide by themselves"},
		{Deciding{Threshold: at(0.3), Reject: at(1)}, two, "costs decide by themselves"}, {Deciding{Threshold: at(-0.01)}, two, "-0.01 is not a probability"},
		{Deciding{Threshold: at(1.01)}, two, "1.01 is not a probability"}, {Deciding{Threshold: at(math.NaN())}, two, "NaN is not a probability"},
	} {
		got, err := ReadThreshold(c.of, c.classes)
		if (err == nil) != (c.mistake == "") || err != nil && (!strings.Contains(err.Error(), c.mistake) || !strings.Contains(err.Error(), "--threshold")) {
			t.Errorf("%d: %v, want %q", i, err, c.mistake)
		}
		if want := c.of.Threshold; err == nil && (want == nil) != (got == nil) || got != nil && (len(got) != 1 || got[0] != *want) {
			t.Errorf("%d: %v", i, got)
		}
	}
}

// The costs of a file are those on the classes of its data.
func TestCostsOfFiles(t *testing.T) {
	for predict, want := range map[string]struct {
		costs   *record.Costs
		mistake string
	}{
		"{}": {}, "{loss: {a: {b: 4}}}": {costs: &record.Costs{Loss: [][]record.Number{{0, 4}, {1, 0}}}},
		"{loss: {a: {b: 4}}, reject_cost: 0.5}": {costs: &record.Costs{Loss: [][]record.Number{{0, 4}, {1, 0}}, Reject: new(record.Number)}},
		"{reject_cost: 0.5}":                    {costs: &record.Costs{Loss: [][]record.Number{{0, 1}, {1, 0}}, Reject: new(record.Number)}},
		"{loss: {a: {c: 4}}}":                   {mistake: `f.yaml:3:17: unknown class "c"`},
	} {
		s, err := Parse("f.yaml", []byte(head+"predict: "+predict+"\n"), nil)
		if err != nil {
			t.Errorf("%s: %v", predict, err)
			continue
		}
		found := strictyaml.NewFindings("f.yaml")
		got := s.Costs.On(found, &data.Data{Name: "d", Classes: []string{"a", "b"}})
		if want.costs != nil && want.costs.Reject != nil {
			*want.costs.Reject = 0.5
		}
		if err := found.Err(); (err == nil) != (want.mistake == "") || err != nil && !strings.Contains(err.Error(), want.mistake) || err == nil && !reflect.DeepEqual(got, want.costs) {
			t.Errorf("%s: %+v, %v, want %+v", predict, got, err, want)
		}
		numeric := strictyaml.NewFindings("f.yaml")
		if got := s.Costs.On(numeric, &data.Data{Name: "d"}); got != nil || (numeric.Err() == nil) != (predict == "{}") {
			t.Errorf("%s on numbers: %+v, %v", predict, got, numeric.Err())
		}
	}
}

// Every key in the schema has a description, and no number two bounds on one side.
func TestSchemaOfFilesIsDescribed(t *testing.T) {
	seen := 0
	var visit func(where string, s any)
	visit = func(where string, s any) {
		switch s := s.(type) {
		case []jsonschema.Schema:
			for _, v := range s {
				visit(where, v)
			}
		case jsonschema.Schema:
			for _, side := range []string{"inimum", "aximum"} {
				if s["m"+side] != nil && s["exclusiveM"+side] != nil {
					t.Errorf("%s: two bounds: %v", where, s)
				}
			}
			if properties, is := s["properties"].(jsonschema.Schema); is {
				for name, p := range properties {
					if of, is := p.(jsonschema.Schema); is && of["description"] != nil {
						seen++
					} else if len(describe("", name)) > 0 {
						t.Errorf("%s.%s has no description", where, name)
					}
				}
			}
			for key, v := range s {
				visit(where+"."+key, v)
			}
		}
	}
	if visit("", ExperimentSchema()); seen < 200 {
		t.Errorf("%d descriptions", seen)
	}
}
