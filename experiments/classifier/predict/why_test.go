package predict

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/record"
)

// For every kind of model the Shapley values sum to the difference between the prediction and the
// base. The nearest training case of a training case is this case, with a correlation of 1.
func TestWhyOfPredictions(t *testing.T) {
	twelve := "a,b,c,d,e,f,g,h,i,j,k,l,y\n"
	for i := range 40 {
		for j := range 12 {
			twelve += fmt.Sprintf("%d,", (i*(j+3)*7)%13)
		}
		twelve += []string{"no\n", "yes\n"}[(i*3%13+i*5%11)/11%2]
	}
	wide := filepath.Join(t.TempDir(), "wide.csv")
	if err := os.WriteFile(wide, []byte(twelve), 0o666); err != nil {
		t.Fatal(err)
	}
	gp, colours := coloured(t, "laplace")
	comparing, _ := coloured(t, "logistic_regression")
	model := func(text string) *Classifier {
		c, err := LoadClassifier(fitted(t, plantest.Planned(t, text), 0))
		if err != nil {
			t.Fatal(err)
		}
		return c
	}
	const fit = "\nmodel: {kernel: se, likelihood: %s, inference: %s}\ntune: none\n"
	for _, of := range []struct {
		name    string
		c       *Classifier
		file    string
		nearest bool
	}{
		{"categories", gp, colours, true}, {"logistic regression", comparing, colours, false},
		{"12 inputs", model("data: {train: " + wide + ", preprocess: standardize}" + fmt.Sprintf(fit, "probit", "ep")), wide, true},
		{"whitened", model("data: {dataset: pima, preprocess: whiten}" + fmt.Sprintf(fit, "probit", "laplace")), "pima", false},
		{"inducing", model("data: {dataset: pima, preprocess: standardize}" +
			fmt.Sprintf(fit, "probit", "{laplace: {inducing: 10}}")), "pima", false},
		{"numbers", model("data: {dataset: housing, preprocess: standardize, subsample: 40}" +
			fmt.Sprintf(fit, "gaussian", "exact")), "housing", false},
	} {
		file := of.file
		if ds, err := of.c.file.Columns.Read(file); err != nil || len(ds.Rows) == 0 {
			t.Fatal(err)
		}
		small := *of.c
		explained, err := small.Deciding(spec.Deciding{Why: true})
		if err != nil {
			t.Fatal(err)
		}
		p, err := firstRows(explained, file, 3)
		if err != nil {
			t.Fatalf("%s: %v", of.name, err)
		}
		at := map[string]int{}
		for j, name := range p.Columns {
			at[name] = j
		}
		for i, row := range p.Rows {
			value := "mean"
			if k, is := at["why_of"]; is {
				value = "p[" + row[k].(string) + "]"
			}
			sum := row[at["base"]].(record.Number)
			for name, j := range at {
				if strings.HasPrefix(name, "why[") {
					sum += row[j].(record.Number)
				}
			}
			if want := row[at[value]].(record.Number); math.Abs(float64(sum-want)) > 1e-9 {
				t.Errorf("%s: case %d: the sum is %v, want %s %v", of.name, i, sum, value, want)
			}
			if j, is := at["nearest"]; of.nearest && (!is || !strings.HasPrefix(row[j].(string), fmt.Sprintf("%d (", i)) ||
				!strings.Contains(row[j].(string), ", 1.00); ")) {
				t.Errorf("%s: nearest to training case %d: %v", of.name, i, row)
			}
			if of.nearest && row[at["outside"]] != "" {
				t.Errorf("%s: training case %d is outside: %v", of.name, i, row[at["outside"]])
			}
		}
		if _, sampled := at["why_error"]; sampled != (of.name == "12 inputs" || of.name == "numbers") {
			t.Errorf("%s: columns %v", of.name, p.Columns)
		}
	}
}

// firstRows predicts the first cases of a file.
func firstRows(c *Classifier, file string, n int) (*Predicted, error) {
	ds, err := c.file.Columns.Read(file)
	if err != nil {
		return nil, err
	}
	ds.Rows, ds.X = ds.Rows[:n], data.PickRows(ds.X, []int{0, 1, 2}[:n])
	ds.Labels, ds.Targets, ds.IDs = nil, nil, nil
	s := stream{Classifier: c, name: file}
	return s.predict(ds)
}

// A category that no training case has is named for the case that has it, whether categories are
// indicators, indicators with a further one for missing values, or codes. A missing category is not
// new.
func TestNewCategoriesAreOutside(t *testing.T) {
	var b strings.Builder
	b.WriteString("town,kind,x,label\n")
	for i := range 60 {
		town := []string{"Ulm", "Bonn", "Jena", ""}[i%4]
		fmt.Fprintf(&b, "%s,%c,%d,%c\n", town, 'a'+i%2, i*37%50, 'p'+i*7%50/25)
	}
	fresh := written(t, "town,kind,x\nRom,a,1\nUlm,z,2\n,b,3\nRom,z,99\nJena,b,4\n")
	want := []string{"town is a new category", "kind is a new category", "town missing",
		"x 99 above 49; town is a new category; kind is a new category", ""}
	for _, how := range []string{"categorical: one_hot", "categorical: one_hot, missing_indicators: true", "categorical: kernel"} {
		model := byLaplace
		if how == "categorical: kernel" {
			model = strings.Replace(model, "kernel: se", "kernel: {sum: [se, hamming]}", 1)
		}
		c := learnt(t, b.String(), "label: label, missing: median, "+how, model)
		got, err := c.Predict(fresh, spec.Deciding{Why: true})
		if err != nil {
			t.Fatal(err)
		}
		for i, text := range column[string](t, got, "outside") {
			if is := want[i]; text != is && !(is == "town missing" && how != "categorical: one_hot" && text == "") {
				t.Errorf("%s: case %d: %q, want %q", how, i, text, is)
			}
		}
	}
}

// The effects on a chosen class add up to its probability. With two classes they are the opposite of
// the effects on the other.
func TestWhyOfOneClass(t *testing.T) {
	var b strings.Builder
	b.WriteString("u,v,label\n")
	for i := range 40 {
		fmt.Fprintf(&b, "%d,%d,%c\n", i*17%40, i*29%40, 'p'+i*17%40/20)
	}
	c := learnt(t, b.String(), "label: label", byLaplace)
	fresh := written(t, "u,v\n3,8\n33,20\n")
	of := map[string]*Predicted{}
	for _, class := range []string{"p", "q"} {
		got, err := c.Predict(fresh, spec.Deciding{WhyOf: class})
		if err != nil {
			t.Fatal(err)
		}
		of[class] = got
		base, u, v := column[record.Number](t, got, "base"), column[record.Number](t, got, "why[u]"), column[record.Number](t, got, "why[v]")
		for i, p := range column[record.Number](t, got, "p["+class+"]") {
			if sum := base[i] + u[i] + v[i]; math.Abs(float64(sum-p)) > 1e-12 || column[string](t, got, "why_of")[i] != class {
				t.Errorf("case %d: effects on %s add up to %v, want %v", i, class, sum, p)
			}
		}
	}
	for i, effect := range column[record.Number](t, of["p"], "why[u]") {
		if other := column[record.Number](t, of["q"], "why[u]")[i]; math.Abs(float64(effect+other)) > 1e-12 || effect == 0 {
			t.Errorf("case %d: effects of u %v and %v", i, effect, other)
		}
	}
	if _, err := c.Predict(fresh, spec.Deciding{WhyOf: "r"}); err == nil || !strings.Contains(err.Error(), `no class "r" to explain, but p, q`) {
		t.Error(err)
	}
}

// A value beyond the training cases is named with the end of their range, in the units of the file,
// with and without whitening. Pima's largest glu among the training cases is 199. Missing values are
// named.
func TestOutsideOfWhatWasSeen(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new.csv")
	if err := os.WriteFile(file, []byte("npreg,glu,bp,skin,bmi,ped,age\n3,250,70,30,30,0.5,30\n3,199,70,30,30,0.5,30\n3,,,30,99,0.5,30\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, preprocess := range []string{"standardize", "none", "whiten", "power"} {
		p := plantest.Planned(t, "data: {dataset: pima, missing: median, preprocess: "+preprocess+"}\nmodel: {kernel: se, likelihood: probit, inference: laplace}\ntune: none\n")
		c, err := LoadClassifier(fitted(t, p, 0))
		if err != nil {
			t.Fatal(err)
		}
		got, err := c.Predict(file, spec.Deciding{Why: true})
		if err != nil {
			t.Fatal(err)
		}
		outside := column[string](t, got, "outside")
		if outside[0] != "glu 250 above 199" || outside[1] != "" || outside[2] != "bmi 99 above 47.9; glu missing; bp missing" {
			t.Errorf("%s: %q", preprocess, outside)
		}
	}
}
