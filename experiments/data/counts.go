package data

import (
	"fmt"
	"math"
)

// Counts names the columns of rows that each stand for several trials with the same inputs, as in
// the binomial distribution. A row with s successes in t trials is two cases: one of class
// "success" and weight s, one of class "failure" and weight t - s. The log likelihood of both is
// that of the row less log (t choose s), which has no hyperparameters. Cases of weight 0 are left
// out. The cases of a row are a group, which no split divides, and have the numbers 2r and 2r + 1
// for row r.
type Counts struct {
	Successes Name `yaml:"successes"` // column of numbers from 0 to the trials, whole or not
	Trials    Name `yaml:"trials"`    // column of numbers of 0 or more; none: 1 each, and successes are probabilities
}

// classesOfCounts are the classes of the trials.
var classesOfCounts = []string{"failure", "success"}

// checkCounts checks counts, and keys that they exclude.
func (s Spec) checkCounts() (p Problems) {
	if s.Counts == (Counts{}) {
		return nil
	}
	if s.Counts.Successes == "" {
		p.add("counts", "names no column of successes; write {successes: COLUMN, trials: COLUMN}, or {successes: "+
			"COLUMN} for probabilities")
	}
	for _, c := range []struct {
		key   string
		given bool
	}{{"label", s.Label != ""}, {"above", s.Above != nil}, {"classes", len(s.Classes) > 0},
		{"positive", s.Positive != ""}, {"order", len(s.Order) > 0}, {"unlabelled", s.Unlabelled != ""}} {
		if c.given {
			p.add(c.key, "counts are the label, with the classes failure and success; remove one of the two")
		}
	}
	if s.Subsample > 0 {
		p.add("subsample", "would separate the successes of a row from its failures; take a part of the file instead")
	}
	return p
}

// count makes column the number of successes, and another one, if there is one, that of trials.
func (s *Schema) count(t *table, columns []int) {
	if len(columns) == 0 {
		return
	}
	s.Counts, t.counted = true, true
	t.roles[columns[0]] = succeeding
	for _, j := range columns[1:] {
		t.roles[j], s.Trials = trying, &Column{Name: t.names[j], Index: j}
	}
}

// amounts are the numbers of a row that say how often its case counts; NaN: it has none.
type amounts struct{ weight, successes, trials float64 }

// set sets the number of a column with this role, and reports whether the role is one of a number
// of cases.
func (a *amounts) set(r role, v float64) bool {
	switch r {
	case weighing:
		a.weight = v
	case succeeding:
		a.successes = v
	case trying:
		a.trials = v
	default:
		return false
	}
	return true
}

// amountNames are the roles of numbers of cases in messages.
var amountNames = map[role]string{weighing: "weight", succeeding: "number of successes", trying: "number of trials"}

// counts reports whether the role is one of a number of cases.
func (r role) counts() bool { return amountNames[r] != "" }

// append appends the row last read, whose columns begin at the given places of its line, as a case
// or as the successes and failures of its trials. It reports whether any has a weight.
func (t *table) append(want request, a amounts, row, line int, at func(j int) int) bool {
	if !t.counted {
		if a.weight == 0 {
			return false
		}
		if !math.IsNaN(a.weight) {
			t.weights = append(t.weights, a.weight)
		}
		t.rows, t.lines = append(t.rows, row), append(t.lines, line)
		return true
	}
	if a.successes > a.trials {
		t.faults.once(fault{"successes", t.label}, line, at(t.label), "column %q: %v successes of %v trials; %s",
			t.names[t.label], a.successes, a.trials, want.remedy("correct one of them", "or name other columns in counts"))
	}
	if math.IsNaN(a.weight) {
		a.weight = 1
	}
	first := len(t.rows)
	for k, weight := range []float64{a.weight * (a.trials - a.successes), a.weight * a.successes} {
		if weight == 0 {
			continue
		}
		n := len(t.rows)
		copy(t.numbers.RawRowView(n), t.numbers.RawRowView(first))
		for _, texts := range t.texts {
			if texts != nil {
				texts[n] = texts[first]
			}
		}
		t.texts[t.label][n] = classesOfCounts[k]
		t.weights = append(t.weights, weight)
		t.rows, t.lines = append(t.rows, 2*row+k), append(t.lines, line)
	}
	return len(t.rows) > first
}

// rowsOf are the names of the rows of cases that stand for trials.
func rowsOf(rows []int) (names []string) {
	for _, row := range rows {
		names = append(names, fmt.Sprint("row ", row/2+1))
	}
	return names
}
