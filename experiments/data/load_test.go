package data

import (
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
	"github.com/gpc-tune/gpc-tune/experiments/data/tables"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/testing/needs"
	"github.com/gpc-tune/gpc-tune/objective/preprocess"
)

func TestCheck(t *testing.T) {
	inf := math.Inf(1)
	for name, f := range map[string]struct {
		s    Spec
		want []string // key: part of the message
	}{
		"bundled":          {Spec{Dataset: "crabs", Preprocess: preprocess.Choice{How: "whiten"}, Missing: "mean", Categorical: "one_hot", Subsample: 2}, nil},
		"file":             {Spec{Train: "f", Test: "g", ID: []cells.Name{"case"}, Group: "case", Positive: "M", Classes: []cells.Name{"M", "F"}}, nil},
		"both":             {Spec{Dataset: "crabs", Train: "f"}, []string{"train: keep one"}},
		"neither":          {Spec{}, []string{"dataset: neither"}},
		"unknown":          {Spec{Dataset: "crab"}, []string{`dataset: did you mean "crabs"?`}},
		"columns and drop": {Spec{Train: "f", Columns: Columns{Chosen: []cells.Name{"a"}}, Drop: []cells.Name{"b"}}, []string{"drop: both"}},
		"modes":            {Spec{Train: "f", Missing: "means", Categorical: "onehot", Preprocess: preprocess.Choice{How: "standardise"}}, []string{`missing: did you mean "mean"?`, `categorical: here that is "one_hot"`, `preprocess: did you mean "standardize"?`}},
		"two methods": {Spec{Train: "f", Preprocess: preprocess.Choice{Whiten: new(preprocess.Cases), Standardize: new(preprocess.Cases)}},
			[]string{"preprocess: are both given"}},
		"one case":              {Spec{Train: "f", Subsample: 1}, []string{"subsample: at least 2"}},
		"negative":              {Spec{Train: "f", Subsample: -5}, []string{"subsample: at least 2"}},
		"twice":                 {Spec{Train: "f", Drop: []cells.Name{"a", "a"}}, []string{`drop: column "a" occurs twice`}},
		"label dropped":         {Spec{Train: "f", Label: "a", Drop: []cells.Name{"a"}}, []string{`drop: column "a" is already used as label`}},
		"group as input":        {Spec{Train: "f", Columns: Columns{Chosen: []cells.Name{"a"}}, Group: "a"}, []string{`group: already used as columns`}},
		"one class":             {Spec{Train: "f", Classes: []cells.Name{"3"}}, []string{"classes: at least two"}},
		"equal classes":         {Spec{Train: "f", Classes: []cells.Name{"3", "3.0"}}, []string{`classes: "3" occurs twice`}},
		"positive left out":     {Spec{Train: "f", Classes: []cells.Name{"3", "5"}, Positive: "7"}, []string{`positive: "7" is not among classes`}},
		"positive of three":     {Spec{Train: "f", Classes: []cells.Name{"3", "5", "7"}, Positive: "7"}, []string{"positive: only two classes"}},
		"above and classes":     {Spec{Train: "f", Above: new(25.0), Classes: []cells.Name{"3", "5"}}, []string{"classes: above makes the classes"}},
		"infinite threshold":    {Spec{Train: "f", Above: &inf}, []string{"above: finite"}},
		"regression of classes": {Spec{Train: "f", Regression: true, Above: new(1.0), Positive: "a", Classes: []cells.Name{"a", "b"}}, []string{"classes: above makes", "above: numeric labels", "classes: numeric labels", "positive: numeric labels"}},
	} {
		t.Run(name, func(t *testing.T) {
			got := f.s.Check()
			if len(got) != len(f.want) {
				t.Fatalf("%d problems: %v", len(got), got)
			}
			for i, p := range got {
				key, part, _ := strings.Cut(f.want[i], ": ")
				if p.Key != key || !strings.Contains(p.Message, part) {
					t.Errorf("%s: %s; should be %s", p.Key, p.Message, f.want[i])
				}
			}
		})
	}
}

func TestSpecProblemsFoundInTheFile(t *testing.T) {
	three := "a,b,label\n1,2,M\n3,4,F\n5,6,N\n"
	var absent []cells.Name
	for i := range 25 {
		absent = append(absent, cells.Name(fmt.Sprint("c", i)))
	}
	for name, f := range map[string]struct {
		s    Spec
		text string
		want []string
	}{
		"unknown columns":    {Spec{Label: "lable", Drop: []cells.Name{"c"}, ID: []cells.Name{"9"}}, good, []string{`data.label: no column "lable"; did you mean "label"? (the file's columns are a, b, label, or their numbers)`, `data.drop: no column "c"`, `data.id: no column "9"`}},
		"no header":          {Spec{Group: "x4"}, "1,2,M\n3,4,F\n", []string{`data.group: no column "x4"`, "no header; its columns are named x1, x2, x3"}},
		"25 unknown columns": {Spec{Drop: absent}, good, []string{`data.drop: no column "c0"`, `no column "c18"`, "and 6 more columns that the file does not have"}},
		"aliases":            {Spec{Columns: Columns{Chosen: []cells.Name{"a", "1"}}}, good, []string{`data.columns: column "a" occurs twice`}},
		"default label":      {Spec{Drop: []cells.Name{"label"}}, good, []string{`data.drop: column "label" is already used as label`}},
		"nothing left":       {Spec{Drop: []cells.Name{"a", "b"}}, good, []string{"data.columns: no input column is left"}},
		"faults of keys":     {Spec{Missing: "mode"}, good, []string{`data.missing: unknown value "mode"`}},
		"many columns":       {Spec{Label: "y"}, strings.Repeat("1,", 12) + "M\n" + strings.Repeat("2,", 12) + "F\n", []string{"x1, x2, x3, x4, x5, x6, x7, x8, x9, x10, … (13 in all)"}},
		"many text labels":   {Spec{Label: "1"}, strings.ReplaceAll(strings.ReplaceAll(distinct(101), "F", "1"), "M", "2"), []string{`data.label: column "x1" has 101 different values`, "name the column that holds the label"}},
		"no such class":      {Spec{Classes: []cells.Name{"M", "W"}}, good, []string{`data.classes: no case has the label "W"`, "have M, F"}},
		"no positive":        {Spec{Positive: "W"}, good, []string{`data.positive: no class "W"`, "have F, M"}},
		"positive of three":  {Spec{Positive: "M"}, three, []string{"data.positive: only two classes have a positive one, and there are 3 (F, M, N)"}},
		"too small a part":   {Spec{Subsample: 2}, three + "1,1,M\n", []string{`data.subsample: 2 of 4 cases would leave none of class "N"`}},
		"too many levels":    {Spec{Categorical: "one_hot", Label: "label"}, "a,label\n" + distinct(101), []string{`f.csv:2: column "a" has 101 different texts ("t0" here)`}},
		"no input":           {Spec{Columns: Columns{Chosen: []cells.Name{"a"}}, Categorical: "one_hot", Categories: []cells.Name{"b"}}, good, []string{`data.categories: column "b" is not an input; remove it here, or add it to columns`}},
		"text under one_hot": {Spec{}, "a,label\nu,M\nv,F\n", []string{`f.csv:1:1: column "x1": "a" is not a number`}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := load(t, f.s, f.text, "")
			if err == nil {
				t.Fatal("no error")
			}
			for _, part := range f.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("error\n%v\nshould contain %q", err, part)
				}
			}
		})
	}
}

// distinct writes n lines, each with a different text and one of two labels.
func distinct(n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "t%d,%c\n", i, "FM"[i%2])
	}
	return b.String()
}

func TestClassesAndTheirOrder(t *testing.T) {
	numbers := "a,label\n1,10\n2,9\n3,-1\n4,9.0\n"
	for name, f := range map[string]struct {
		s      Spec
		text   string
		want   []string
		labels []int
	}{
		"numbers":              {Spec{}, numbers, []string{"-1", "9", "10"}, []int{2, 1, 0, 1}},
		"one is no number":     {Spec{}, numbers + "5,b\n", []string{"-1", "9", "10", "b"}, []int{2, 1, 0, 1, 3}},
		"numbers in texts":     {Spec{}, "a,label\n1,c10\n2,c9\n3,c1\n4,c9\n", []string{"c1", "c9", "c10"}, []int{2, 1, 0, 1}},
		"text":                 {Spec{}, "a,label\n1,b\n2,B\n3,a\n", []string{"B", "a", "b"}, []int{2, 0, 1}},
		"kept":                 {Spec{Classes: []cells.Name{"10", "9.000"}}, numbers, []string{"9", "10"}, []int{1, 0, 0}},
		"positive":             {Spec{Classes: []cells.Name{"10", "9"}, Positive: "9.0"}, numbers, []string{"10", "9"}, []int{0, 1, 1}},
		"above":                {Spec{Above: new(9.0)}, numbers, []string{"not above 9", "above 9"}, []int{1, 0, 0, 0}},
		"above, other way":     {Spec{Above: new(9.0), Positive: "not above 9"}, numbers, []string{"above 9", "not above 9"}, []int{0, 1, 1, 1}},
		"above a fraction":     {Spec{Above: new(9.5)}, numbers, []string{"not above 9.5", "above 9.5"}, []int{1, 0, 0, 0}},
		"zeros":                {Spec{}, "a,label\n1,0\n2,-0.0\n3,1\n", []string{"0", "1"}, []int{0, 0, 1}},
		"first column":         {Spec{Label: "1"}, "M,1,2\nF,3,4\n", []string{"F", "M"}, []int{1, 0}},
		"missing label, drop":  {Spec{Missing: "drop"}, "a,label\n1,M\n2,\n,F\n4,F\n", []string{"F", "M"}, []int{1, 0}},
		"missing, other class": {Spec{Classes: []cells.Name{"M", "F"}}, "a,label\n1,M\n,N\n4,F\n", []string{"F", "M"}, []int{1, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := load(t, f.s, f.text, f.text)
			if err != nil {
				t.Fatal(err)
			}
			for _, part := range []*Data{d, d.Test} {
				if !reflect.DeepEqual(part.Classes, f.want) || !reflect.DeepEqual(part.Labels, f.labels) {
					t.Errorf("classes %q, labels %v", part.Classes, part.Labels)
				}
			}
		})
	}
}

func TestAboveOfHousing(t *testing.T) {
	d, err := Load(Spec{Dataset: "housing", Above: new(21.2), Positive: "above 21.2"}, "", 1)
	if err != nil {
		t.Fatal(err)
	}
	binary, err := Load(Spec{Dataset: "housing_binary", Positive: "high"}, "", 1)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(d.Labels, binary.Labels) || !mat.Equal(d.X, binary.X) {
		t.Error("housing above 21.2 is not housing_binary")
	}
}

func TestRegression(t *testing.T) {
	d, err := Load(Spec{Dataset: "housing", Regression: true}, "", 1)
	if err != nil {
		t.Fatal(err)
	}
	if d.Classes != nil || d.Labels != nil || len(d.Targets) != 506 || d.Targets[0] != 24 || len(d.Counts()) != 0 {
		t.Errorf("classes %v, %d targets", d.Classes, len(d.Targets))
	}
	if s := Describe(d); *s.Target != (Range{5, 50, s.Target.Mean, 21.2}) || math.Abs(s.Target.Mean-22.532806324110677) > 1e-12 { // statistics.fmean of Python
		t.Errorf("target %+v", s.Target)
	}
}

func TestColumnsGroupsAndIDs(t *testing.T) {
	text := "case,a,b,who,label,c\n007,1,2,p,M,9\n,3,4,q,F,9\nx y,5,6,p,M,9\n"
	for _, s := range []Spec{
		{ID: []cells.Name{"case"}, Group: "who", Label: "label", Drop: []cells.Name{"c"}},
		{ID: []cells.Name{"1"}, Group: "4", Label: "5", Columns: Columns{Chosen: []cells.Name{"a", "3"}}},
	} {
		d, err := load(t, s, text, "a,b,label,case\n1,0,F,t\n")
		if err != nil {
			t.Fatal(err)
		}
		if !mat.Equal(d.X, goodX) || !reflect.DeepEqual(d.Groups, []string{"p", "q", "p"}) || !reflect.DeepEqual(d.IDs, []IDColumn{{"case", []string{"007", "", "x y"}}}) {
			t.Errorf("read %v %v %v", mat.Formatted(d.X), d.Groups, d.IDs)
		}
		if !mat.Equal(d.Test.X, rows([]float64{1, 0})) || d.Test.Labels[0] != 0 || d.Test.IDs[0].Values[0] != "t" {
			t.Errorf("test %v %v", mat.Formatted(d.Test.X), d.Test.IDs)
		}
	}
	d, err := load(t, Spec{ID: []cells.Name{"who"}, Group: "who"}, "who,a,label\np,1,M\nq,2,F\np,3,M\n", "")
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(d.Groups, []string{"p", "q", "p"}) || !reflect.DeepEqual(d.IDs[0].Values, d.Groups) || Describe(d).Groups != 2 {
		t.Errorf("groups %v, ids %v", d.Groups, d.IDs)
	}
	d, err = load(t, Spec{Columns: Columns{Chosen: []cells.Name{"b", "a"}}}, good, good)
	if err != nil {
		t.Fatal(err)
	}
	if d.X.At(0, 0) != 2 || d.Test.X.At(0, 0) != 2 || !reflect.DeepEqual(d.ColumnNames, []string{"b", "a"}) {
		t.Errorf("columns %v", d.ColumnNames)
	}
}

func TestTestFileIsMatchedToTheTrainingFile(t *testing.T) {
	plain := strings.SplitN(good, "\n", 2)[1]
	for name, f := range map[string]struct {
		train, test string
		want        []string // parts of the error, or of the warnings if ok
		ok          bool
	}{
		"other order":      {good, "label,b,a\nM,2,1\nF,4,3\nM,6,5\n", nil, true},
		"more columns":     {good, "z,label,b,a\n0,M,2,1\n0,F,4,3\n0,M,6,5\n", []string{"columns that the training file does not have are ignored (1)"}, true},
		"no headers":       {plain, plain, nil, true},
		"header in one":    {good, plain, []string{"only one of this file and the training file has a header"}, true},
		"header in other":  {plain, good, []string{"only one of this file and the training file has a header"}, true},
		"column missing":   {good, "a,label\n1,M\n2,F\n", []string{"g.csv:1: has no column b, which the training file has"}, false},
		"label missing":    {good, "a,b\n1,2\n", []string{"g.csv:1: has no column label"}, false},
		"other width":      {plain, "1,M\n2,F\n", []string{"g.csv: has 2 columns, the training file 3"}, false},
		"unseen class":     {good, "a,b,label\n1,2,M\n3,4,N\n3,4,W\n", []string{`g.csv:3: class "N" does not occur in the training data (F, M)`, "g.csv:4:"}, false},
		"missing value":    {good, "a,b,label\n1,,M\n", []string{"g.csv:2:3: column \"b\" has no value"}, false},
		"missing label":    {good, "a,b,label\n1,2,\n", []string{"g.csv:2:5: the label"}, false},
		"header, no cases": {good, "a,b,label\n", []string{"g.csv:1: has a single line"}, false},
		"text":             {good, "a,b,label\n1,2,M\n3,x,F\n", []string{`g.csv:3:3: column "b": "x" is not a number`}, false},
	} {
		t.Run(name, func(t *testing.T) {
			d, err := load(t, Spec{}, f.train, f.test)
			var told string
			if f.ok != (err == nil) {
				t.Fatalf("error %v", err)
			}
			if f.ok {
				if !mat.Equal(d.Test.X, goodX) || !reflect.DeepEqual(d.Test.Labels, d.Labels) {
					t.Errorf("read %v %v", mat.Formatted(d.Test.X), d.Test.Labels)
				}
				told = strings.Join(cause.Texts(d.Test.Warnings), "\n")
				if f.want == nil && told != "" {
					t.Errorf("warnings %s", told)
				}
			} else {
				told = err.Error()
			}
			for _, part := range f.want {
				if !strings.Contains(told, part) {
					t.Errorf("told\n%s\nshould contain %q", told, part)
				}
			}
		})
	}
	// One case and one class are enough to test on.
	if d, err := load(t, Spec{}, good, "a,b,label\n1,2,M\n"); err != nil || d.Test.Labels[0] != 1 {
		t.Errorf("one test case: %v", err)
	}
	// Classes selects the classes in both files.
	d, err := load(t, Spec{Classes: []cells.Name{"3", "5"}}, "1,3.0\n2,5.0\n3,7\n", "1,9\n2,3\n")
	if err != nil || len(d.Labels) != 2 || !reflect.DeepEqual(d.Test.Rows, []int{1}) {
		t.Errorf("classes: %+v, %v", d, err)
	}
}

func TestBundledTestFileByName(t *testing.T) {
	d, err := Load(Spec{Dataset: "pima", Test: "pima"}, t.TempDir(), 1)
	if err != nil {
		t.Fatal(err)
	}
	if plain, err := Load(Spec{Dataset: "pima"}, "", 1); err != nil || plain.Hash != d.Hash || len(d.Test.Labels) != 332 {
		t.Errorf("test: pima is another set (%v)", err)
	}
}

func TestMissing(t *testing.T) {
	text := "a,b,label\n1,?,M\n3,4,F\nNA,6,F\n5,8,M\n"
	d, err := load(t, Spec{Missing: "drop"}, text, text)
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range []*Data{d, d.Test} {
		if !mat.Equal(part.X, rows([]float64{3, 4}, []float64{5, 8})) || !reflect.DeepEqual(part.Rows, []int{1, 3}) || !strings.Contains(strings.Join(cause.Texts(part.Warnings), ""), "values are missing, and the cases dropped (cases: 2)") {
			t.Errorf("drop: %v, rows %v, warnings %q", mat.Formatted(part.X), part.Rows, part.Warnings)
		}
	}
	for _, how := range []string{"mean", "median"} {
		if d, err = load(t, Spec{Missing: how}, text, ""); err != nil {
			t.Fatal(err)
		}
		if !math.IsNaN(d.X.At(0, 1)) || !math.IsNaN(d.X.At(2, 0)) || d.X.At(3, 1) != 8 {
			t.Errorf("%s: %v", how, mat.Formatted(d.X))
		}
		if s := Describe(d); !reflect.DeepEqual(s.Missing, []Gap{{"a", 1}, {"b", 1}}) {
			t.Errorf("missing %v", s.Missing)
		}
	}
}

// Indicators of missing values need no cases: a table without any is a fault like other ones.
func TestIndicatorsWithoutCases(t *testing.T) {
	s := Spec{Missing: "mean", MissingIndicators: true, Unlabelled: "drop"}
	if _, err := load(t, s, "a,label\n1,\n2,\n", ""); err == nil || !strings.Contains(err.Error(), "has no cases; add some") {
		t.Error(err)
	}
}

func TestOneHot(t *testing.T) {
	train := "colour,size,label\nred,1,M\nblue,2,F\n,3,M\nred,4,F\n"
	d, err := load(t, Spec{Categorical: "one_hot", Missing: "mean"}, train, "label,colour,size\nM,green,1\nF,red,2\n")
	if err != nil {
		t.Fatal(err)
	}
	nan := math.NaN()
	want := rows([]float64{0, 1, 1}, []float64{1, 0, 2}, []float64{nan, nan, 3}, []float64{0, 1, 4})
	if !reflect.DeepEqual(d.ColumnNames, []string{"colour=blue", "colour=red", "size"}) || fmt.Sprint(mat.Formatted(d.X)) != fmt.Sprint(mat.Formatted(want)) {
		t.Errorf("read %v %v", d.ColumnNames, mat.Formatted(d.X))
	}
	if !mat.Equal(d.Test.X, rows([]float64{0, 0, 1}, []float64{0, 1, 2})) || !strings.Contains(strings.Join(cause.Texts(d.Test.Warnings), ""), `values of "colour" that do not occur in the training file: all their indicators are 0; "green" of case 0 (line 2) (cases: 1)`) {
		t.Errorf("test %v, warnings %q", mat.Formatted(d.Test.X), d.Test.Warnings)
	}
	if _, err := load(t, Spec{Categorical: "one_hot"}, train, ""); err == nil || !strings.Contains(err.Error(), `f.csv:4:1: column "colour" has no value`) {
		t.Errorf("a missing level gives %v", err)
	}
}

// Under categorical: kernel a category is one column of the positions of its levels in order; a missing value and an
// unknown one have positions of their own. A column under categories has levels though it holds numbers.
func TestCategoriesOfTheKernel(t *testing.T) {
	train := "colour,size,label\nred,10,M\nblue,9,F\nred,8,M\nred,8,F\n"
	d, err := load(t, Spec{Categorical: "kernel", Categories: []cells.Name{"size"}, Missing: "mean"}, train,
		"colour,size,label\ngreen,8,M\n,10,F\nblue,9,F\n")
	if err != nil {
		t.Fatal(err)
	}
	warning := `values of "colour" that do not occur in the training file: the kernel treats them as different from all training cases; "green" of case 0 (line 2) (cases: 1)`
	if !mat.Equal(d.X, rows([]float64{1, 0}, []float64{0, 2}, []float64{1, 1}, []float64{1, 1})) || len(d.Warnings) > 0 {
		t.Errorf("read %v, warnings %q", mat.Formatted(d.X), d.Warnings)
	}
	if !mat.Equal(d.Test.X, rows([]float64{3, 1}, []float64{2, 0}, []float64{0, 2})) || len(d.Test.Warnings) != 1 ||
		!strings.HasPrefix(d.Test.Warnings[0].String(), warning) {
		t.Errorf("test %v, warnings %q", mat.Formatted(d.Test.X), d.Test.Warnings)
	}
}

func TestSubsample(t *testing.T) {
	all, err := Load(Spec{Dataset: "digits"}, "", 1)
	if err != nil {
		t.Fatal(err)
	}
	counts := all.Counts()
	for _, n := range []int{10, 11, 300, 1796} {
		var hashes []string
		for _, seed := range []uint64{1, 1, 2} {
			d, err := Load(Spec{Dataset: "digits", Subsample: n}, "", seed)
			if err != nil {
				t.Fatal(err)
			}
			hashes = append(hashes, d.Hash)
			if len(d.Labels) != n || !slices.IsSorted(d.Rows) || len(slices.Compact(slices.Clone(d.Rows))) != n {
				t.Fatalf("%d: %d cases, rows %v", n, len(d.Labels), d.Rows)
			}
			for k, c := range d.Counts() {
				if share := float64(n*counts[k]) / 1797; math.Abs(float64(c)-share) >= 1 {
					t.Errorf("%d: %d of class %s, whose share is %v", n, c, d.Classes[k], share)
				}
			}
			for i, row := range d.Rows {
				if d.Labels[i] != all.Labels[row] || !reflect.DeepEqual(d.X.RawRowView(i), all.X.RawRowView(row)) {
					t.Fatalf("%d: case %d is not row %d", n, i, row)
				}
			}
		}
		if hashes[0] != hashes[1] || hashes[0] == hashes[2] {
			t.Errorf("%d: hashes of seeds 1, 1, 2 are %v", n, hashes)
		}
	}
	if d, err := Load(Spec{Dataset: "digits", Subsample: 1797}, "", 1); err != nil || d.Hash != all.Hash || len(d.Warnings) != 1 {
		t.Errorf("all of them: %v", err)
	}
	d, err := Load(Spec{Dataset: "housing", Regression: true, Subsample: 100}, "", 1)
	if err != nil || len(d.Targets) != 100 {
		t.Errorf("regression: %v", err)
	}
}

func TestSubset(t *testing.T) {
	d, err := load(t, Spec{ID: []cells.Name{"id"}, Group: "who"}, "id,who,a,label\np,u,1,M\nq,v,2,F\nr,u,3,M\n", "")
	if err != nil {
		t.Fatal(err)
	}
	part := d.subset([]int{2, 0})
	if !mat.Equal(part.X, rows([]float64{3}, []float64{1})) || !reflect.DeepEqual(part.Labels, []int{1, 1}) || !reflect.DeepEqual(part.Groups, []string{"u", "u"}) ||
		!reflect.DeepEqual(part.Rows, []int{2, 0}) || !reflect.DeepEqual(part.IDs[0].Values, []string{"r", "p"}) || part.Targets != nil {
		t.Errorf("%+v", part)
	}
	part.X.Set(0, 0, 99)
	if d.X.At(2, 0) != 3 {
		t.Error("the part shares the whole's inputs")
	}
}

// A schema that was stored in a model file reads cases to predict, labelled or not.
func TestSchemaReadsCasesToPredict(t *testing.T) {
	train := "case,a,b,label\n1,1,u,M\n2,3,v,F\n3,5,u,M\n"
	d, err := load(t, Spec{ID: []cells.Name{"case"}, Categorical: "one_hot"}, train, "")
	if err != nil {
		t.Fatal(err)
	}
	file, err := json.Marshal(d.Schema)
	if err != nil {
		t.Fatal(err)
	}
	var schema Schema
	if err := json.Unmarshal(file, &schema); err != nil || !reflect.DeepEqual(&schema, d.Schema) {
		t.Fatalf("%s: %v", file, err)
	}
	for name, f := range map[string]struct {
		text   string
		labels []int
	}{
		"labelled":   {"case,a,b,label\nz,1,u,F\n", []int{0}},
		"in part":    {"case,a,b,label\nz,1,u,\ny,2,u,W\nx,1,v,M\n", []int{-1, -1, 1}},
		"unlabelled": {"b,case,a\nu,z,1\n", nil},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "new")
			if err := os.WriteFile(path, []byte(f.text), 0o600); err != nil {
				t.Fatal(err)
			}
			got, err := schema.Read(path)
			if err != nil {
				t.Fatal(err)
			}
			if !reflect.DeepEqual(got.X.RawRowView(0), []float64{1, 1, 0}) || got.IDs[0].Values[0] != "z" || !reflect.DeepEqual(got.Labels, f.labels) {
				t.Errorf("read %v %v %v", mat.Formatted(got.X), got.IDs, got.Labels)
			}
		})
	}
	// Without a header the label column may be omitted.
	d, err = load(t, Spec{Label: "1"}, "M,1,2\nF,3,4\n", "")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "new")
	if err := os.WriteFile(path, []byte("7,8\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := d.Schema.Read(path); err != nil || !mat.Equal(got.X, rows([]float64{7, 8})) || got.Labels != nil {
		t.Errorf("no header: %+v, %v", got, err)
	}
}

func TestSchemaReadRefuses(t *testing.T) {
	d, err := load(t, Spec{ID: []cells.Name{"case"}}, "case,a,b,label\n1,1,1,M\n2,3,1,F\n", "")
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "new")
	if _, err := d.Schema.Read(path); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("no file: %v", err)
	}
	if err := os.WriteFile(path, []byte("z,y\n1,2\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := d.Schema.Read(path); err == nil || !strings.Contains(err.Error(), "has no column a, b, which the training file has") {
		t.Errorf("other columns: %v", err)
	}
}

// Indicators are counted before they are allocated.
func TestTooManyIndicators(t *testing.T) {
	levels := make([]string, 100)
	s := Schema{Inputs: []Column{{Name: "a", Levels: levels}, {Name: "b", Levels: levels}}}
	_, err := s.data(&table{Table: &tables.Table{Faults: &FileError{Path: "f"}}, rows: make([]int, 1<<20)}, true)
	if err == nil || !strings.Contains(err.Error(), "1048576 rows of 200 columns are more than can be held") {
		t.Errorf("got %v", err)
	}
}

func TestNamesTakeAnyScalarAsText(t *testing.T) {
	var n cells.Name
	if err := encoding.TextUnmarshaler(&n).UnmarshalText([]byte("3")); err != nil || n != "3" {
		t.Errorf("%q, %v", n, err)
	}
}

func TestDescribe(t *testing.T) {
	d, err := Load(Spec{Dataset: "pima", Positive: "No"}, "", 1)
	if err != nil {
		t.Fatal(err)
	}
	s := Describe(d)
	if s.Name != "pima" || s.Cases != 200 || len(s.Inputs) != 7 || s.Test.Cases != 332 || s.Hash != d.Hash || s.Citation == "" ||
		!reflect.DeepEqual(s.Classes, []Count{{Class: "Yes", N: 68}, {Class: "No", N: 132}}) || !strings.HasPrefix(s.Form, "comma-separated") {
		t.Errorf("%+v", s)
	}
}

func TestUSPS(t *testing.T) {
	d, err := Load(Spec{Train: needs.Data(t, "usps_3v5_train.csv.gz"), Test: needs.Data(t, "usps_3v5_test.csv.gz")}, ".", 1)
	if err != nil {
		t.Fatal(err)
	}
	if n, columns := d.X.Dims(); n != 767 || columns != 256 || !reflect.DeepEqual(d.Counts(), []int{406, 361}) || !reflect.DeepEqual(d.Test.Counts(), []int{418, 355}) || !reflect.DeepEqual(d.Classes, []string{"3", "5"}) {
		t.Errorf("%d × %d, classes %v, counts %v and %v", n, columns, d.Classes, d.Counts(), d.Test.Counts())
	}
	// The threes and fives of the ten-digit file are the same cases.
	all, err := Load(Spec{Train: needs.Data(t, "usps_resampled_train.csv.gz"), Classes: []cells.Name{"3", "5"}}, ".", 1)
	if err != nil {
		t.Fatal(err)
	}
	if !mat.Equal(all.X, d.X) || !reflect.DeepEqual(all.Labels, d.Labels) {
		t.Error("classes: [3, 5] of the ten digits gives other cases")
	}
}

func BenchmarkLoadCrabs(b *testing.B) {
	for b.Loop() {
		if _, err := Load(Spec{Dataset: "crabs"}, "", 1); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkLoadUSPS3v5(b *testing.B) {
	s := Spec{Train: needs.Data(b, "usps_3v5_train.csv.gz")}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Load(s, ".", 1); err != nil {
			b.Fatal(err)
		}
	}
}

func TestSchemaReadsBundledSets(t *testing.T) {
	d, err := Load(Spec{Dataset: "pima"}, "", 0)
	if err != nil {
		t.Fatal(err)
	}
	got, err := d.Schema.Read("pima")
	if err != nil || !mat.Equal(got.X, d.Test.X) || !reflect.DeepEqual(got.Labels, d.Test.Labels) {
		t.Errorf("the test file of pima: %v", err)
	}
	if _, err := d.Schema.Read("pimo"); !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), `did you mean "pima"`) {
		t.Errorf("neither file nor set: %v", err)
	}
}

func TestSchemaCheck(t *testing.T) {
	d, err := load(t, Spec{ID: []cells.Name{"case"}, Categorical: "one_hot"}, "case,a,b,label\n1,1,u,M\n2,3,v,F\n", "")
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Schema.Check(); err != nil {
		t.Fatal(err)
	}
	for what, change := range map[string]func(*Schema){
		"no inputs":         func(s *Schema) { s.Inputs = nil },
		"negative index":    func(s *Schema) { s.Inputs[0].Index = -1 },
		"index too large":   func(s *Schema) { s.Label.Index = 4 },
		"width":             func(s *Schema) { s.Width = 2 },
		"same index":        func(s *Schema) { s.ID[0].Index = 1 },
		"same name":         func(s *Schema) { s.ID[0].Name = "a" },
		"no name":           func(s *Schema) { s.Label.Name = "" },
		"no level":          func(s *Schema) { s.Inputs[1].Levels = []string{} },
		"levels in a mess":  func(s *Schema) { s.Inputs[1].Levels = []string{"v", "u"} },
		"one class":         func(s *Schema) { s.Classes = s.Classes[:1] },
		"equal classes":     func(s *Schema) { s.Classes = []string{"M", "M"} },
		"above three":       func(s *Schema) { s.Above, s.Classes = new(float64), []string{"a", "b", "c"} },
		"missing in no way": func(s *Schema) { s.Missing = "guess" },
	} {
		s := *d.Schema
		s.Inputs, s.ID = append([]Column{}, s.Inputs...), append([]Column{}, s.ID...)
		if change(&s); s.Check() == nil {
			t.Errorf("%s: accepted", what)
		}
	}
}

// Classes with a single case are one warning.
func TestSingleCases(t *testing.T) {
	for labels, want := range map[string]string{
		"a,a,b,b":      "",
		"a,a,b":        `class "b" has a single case`,
		"a,a,b,10,c d": `3 classes have a single case: "10", "b", "c d"`,
	} {
		var table strings.Builder
		table.WriteString("x,label\n")
		for i, label := range strings.Split(labels, ",") {
			fmt.Fprintf(&table, "%d,%s\n", i, label)
		}
		d, err := Load(Spec{Train: file(t, "train.csv", table.String()), Label: "label"}, "", 0)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, w := range d.Warnings {
			if w.Kind == cause.Single {
				got = append(got, w.Text)
			}
		}
		if strings.Join(got, "; ") != want {
			t.Errorf("labels %s: %q, want %q", labels, got, want)
		}
	}
}
