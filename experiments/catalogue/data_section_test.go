package catalogue

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/columns"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
	"github.com/gpc-tune/gpc-tune/experiments/data/tables"
)

// tabled is a table of two inputs, with and without gaps, and a label.
func tabled() *columns.Table {
	return &columns.Table{
		Spec: data.Spec{Train: "a.csv", Label: "y"}, Rows: 50, Label: 2,
		Layout:  tables.Layout{Header: true, Names: []string{"u", "v", "y"}, Form: "CSV"},
		Classes: counts(20, 30), Columns: []columns.Column{
			{Name: "u", Use: columns.Input, Found: "numbers"}, {Name: "v", Use: columns.Input, Found: "numbers", Missing: 3},
			{Name: "y", Use: columns.Label, Found: "two texts"}},
	}
}

// The data section has a line for each finding about a table, and no other lines.
func TestDataSections(t *testing.T) {
	for _, c := range []struct {
		change func(t *columns.Table)
		has    []string
		lacks  []string
	}{
		{func(*columns.Table) {}, []string{"train: a.csv # 50 rows, CSV\n", "# test: FILE", "label: y #", "+1 unless positive: CLASS",
			"missing: median # of 3 values in 1 input; or drop (the case), mean; missing_indicators: true adds", "  # inputs:\n  #   u: numbers\n  #   v: numbers; 3 missing\n"},
			[]string{"encoding:", "classes:", "order:", "unlabelled", "ignore_case", "decimal", "missing_values",
				"duplicates", "repeat", "columns:", "categor", "id:", "group:", "drop:"}},
		{func(t *columns.Table) { t.Encoding = "cp850" }, []string{"encoding: cp850 #"}, nil},
		{func(t *columns.Table) { t.Rare, t.Spec.Classes = counts(1, 2), []cells.Name{"p", "q"} }, []string{"classes: [p, q] # not a (1), b (2): too few"}, nil},
		{func(t *columns.Table) { t.Spec.Order = []cells.Name{"low", "high"} }, []string{"order: [low, high] # of the classes"}, nil},
		{func(t *columns.Table) { t.Unlabelled = 1 }, []string{"unlabelled: drop # 1 case without a label"}, nil},
		{func(t *columns.Table) { t.Unlabelled = 2 }, []string{"unlabelled: drop # 2 cases without a label"}, nil},
		{func(t *columns.Table) {
			t.Spec.IgnoreCase.Columns, t.Spellings = []cells.Name{"c", "d, e"}, "Yes and YES"
		}, []string{"ignore_case: [c, \"d, e\"] # spelt in several ways, which are one; Yes and YES"}, nil},
		{func(t *columns.Table) { t.Spec.Decimal = "comma" }, []string{"decimal: comma # numbers as in 1.234,5; or point"}, nil},
		{func(t *columns.Table) { t.Spec.Decimal = "point" }, []string{"decimal: point # numbers as in 1,234.5; or comma"}, nil},
		{func(t *columns.Table) { t.Spec.MissingValues = []cells.Name{"-", "none"} }, []string{`missing_values: [`, "none] # texts among numbers"}, nil},
		{func(t *columns.Table) { t.Columns[1].Missing = 0 }, []string{"missing: median # no input has missing values here"}, []string{"; 0 missing"}},
		{func(t *columns.Table) { t.Columns[0].Missing = 4 }, []string{"missing: median # of 7 values in 2 inputs;"}, nil},
		{func(t *columns.Table) { t.Columns[1].Use = columns.Left }, []string{"missing: median # no input", "drop: # left out\n    - v #"}, nil},
		{func(t *columns.Table) { t.Spec.Duplicates, t.Duplicates = "together", 5 }, []string{"duplicates: together # 5 rows repeat"}, nil},
		{func(t *columns.Table) { t.Duplicates = 5 }, []string{"  # 5 rows repeat an earlier one, the label included"}, []string{"duplicates:"}},
		{func(t *columns.Table) {
			t.Columns[0].Use, t.Columns[0].Kind, t.Columns[0].Found = columns.ID, "key", "all differ"
		},
			[]string{"id: # carried through to the predictions, no inputs\n    - u # key: all differ\n"}, []string{"#   u:"}},
		{func(t *columns.Table) { t.Columns[0].Use, t.Columns[1].Use = columns.Left, columns.Left }, []string{"drop: # left out\n    - u # : numbers\n    - v # : numbers\n"},
			[]string{"# inputs:"}},
		{func(t *columns.Table) { t.Columns[0].Use = columns.Group }, []string{"group: u # : numbers\n"}, nil},
		{func(t *columns.Table) {
			t.Spec.Columns.Described = map[string]data.Meaning{"u": {Unit: "kg"}}
			t.Columns[0].Unit = "kg"
		}, []string{"  columns: # what values mean", "    u: {unit: kg} # numbers\n"}, []string{"#   u:"}},
		{func(t *columns.Table) {
			t.Spec.Columns.Described = map[string]data.Meaning{"v": {Unit: "kg", Limits: true}}
			t.Columns[1].Unit, t.Columns[1].Limits = "kg", true
		}, []string{"    v: {unit: kg, limits: true} # numbers; 3 missing\n"}, nil},
		{func(t *columns.Table) {
			t.Spec.Columns.Described = map[string]data.Meaning{"v": {Limits: true}}
			t.Columns[1].Limits = true
		}, []string{"    v: {limits: true} # numbers; 3 missing\n"}, []string{"#   v:"}},
		{func(t *columns.Table) {
			t.Spec.Columns.Described = map[string]data.Meaning{"v": {Duration: "hours"}}
			t.Columns[1].Duration = "hours"
		}, []string{"    v: {duration: hours} # numbers; 3 missing\n"}, []string{"#   v:"}},
		{func(t *columns.Table) {
			t.Spec.Columns.Described = map[string]data.Meaning{"v": {}}
			t.Columns[1].Date = &cells.Date{Form: "dmy", Parts: []cells.Part{"month", "hour"}, Since: "u"}
		}, []string{"    v: {date: {form: dmy, parts: [month, hour], since: u}} # numbers; 3 missing\n"}, []string{"#   v:"}},
		{func(t *columns.Table) {
			t.Spec.Columns.Described = map[string]data.Meaning{"v": {}}
			t.Columns[1].Date = &cells.Date{Form: "dmy"}
		}, []string{"    v: {date: {form: dmy}} # numbers; 3 missing\n"}, nil},
		{func(t *columns.Table) { t.Classes = counts(1, 2, 3) }, nil, []string{"+1 unless"}},
	} {
		table, w := tabled(), &starter{path: "f.yaml"}
		c.change(table)
		w.writeTable(table)
		text := w.String()
		for _, want := range c.has {
			if !strings.Contains(text, want) {
				t.Errorf("%s\nlacks %q", text, want)
			}
		}
		for _, no := range c.lacks {
			if strings.Contains(text, no) {
				t.Errorf("%s\nhas %q", text, no)
			}
		}
	}
}

// At most sixty inputs are described one by one.
func TestManyInputs(t *testing.T) {
	for _, n := range []int{mostTold, mostTold + 1, mostTold + 5} {
		table, w := tabled(), &starter{path: "f.yaml"}
		table.Columns = nil
		for i := range n {
			table.Columns = append(table.Columns, columns.Column{Name: fmt.Sprint("c", i), Use: columns.Input, Found: "numbers"})
		}
		w.inputs(table)
		more := fmt.Sprintf("  #   and %d more (gpc-tune data shows all)\n", n-mostTold)
		if text := w.String(); strings.Count(text, ": numbers") != mostTold || strings.Count(text, "# inputs:") != 1 ||
			strings.HasSuffix(text, more) != (n > mostTold) {
			t.Errorf("of %d:\n%s", n, text)
		}
	}
}

// A bundled set, or a file without columns, is described by its summary.
func TestSectionsOfSets(t *testing.T) {
	for _, c := range []struct {
		from data.Spec
		s    data.Summary
		want string
	}{
		{data.Spec{Dataset: "crabs"}, data.Summary{Cases: 200, Inputs: []string{"p", "q"}, Classes: counts(80, 120)},
			"  dataset: crabs # 200 cases, 2 inputs: p, q\n  # train: cases.csv # or a file of your own: gpc-tune init cases.csv writes this for it\n" +
				"  # classes: a (80), b (120); the second is +1 unless positive: CLASS says the other\n"},
		{data.Spec{Train: "s.svm"}, data.Summary{Cases: 3, Inputs: []string{"p"}, Classes: counts(1, 1, 1), Missing: []data.Gap{{Input: "p", N: 2}, {Input: "q", N: 5}}},
			"  train: s.svm # 3 cases, 1 inputs: p\n  # test: FILE # with the same columns\n  # classes: a (1), b (1), c (1)\n" +
				"  missing: median # of 7 values in 2 inputs; or drop (the case), mean\n"},
		{data.Spec{Dataset: "housing"}, data.Summary{Cases: 3, Inputs: []string{"p"}, Target: &data.Range{Min: 1, Max: 9, Median: 2.5}, Missing: []data.Gap{{Input: "p", N: 1}}},
			"  # the label is a number, 1 to 9; above: 2.5 makes two classes of it\n  missing: median # of 1 value in 1 input; or drop (the case), mean\n"},
	} {
		w := &starter{path: "f.yaml"}
		if w.writeSet(c.from, c.s); !strings.HasSuffix(w.String(), c.want) {
			t.Errorf("%s\nwant\n%s", w.String(), c.want)
		}
	}
}
