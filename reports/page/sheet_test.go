package page

import (
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// The numbers of a column have equally many decimals, unless they differ by more than two powers of
// ten, are of different quantities, or have a text of their own.
func TestNumbersOfAColumnAgree(t *testing.T) {
	number := func(v float64) reports.Number { return reports.Number(v) }
	of := table.Table{Title: "folds", Columns: table.Columns("fold", "bits", "wide", "whole", "words")}
	of.Add(0, number(1.453), number(1e-5), number(3), "a")
	of.Add(1, number(1.45), number(12.5), number(4), "b")
	of.Add(2, number(0.53), number(1), number(5), "c")
	s := newSheet(table.Section{}, of, 10, "")
	var rows []string
	for _, row := range s.Rows {
		rows = append(rows, strings.Join(table.Texts(row), " "))
	}
	if got, want := strings.Join(rows, "; "), "0 1.453 1e-05 3 a; 1 1.450 12.5 4 b; 2 0.530 1 5 c"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	of = table.Table{Title: "hyperparameters", Columns: table.Columns("hyperparameter", "value")}
	of.Add("amplitude", number(2))
	of.Add("noise", number(0.5))
	if s := newSheet(table.Section{}, of, 10, ""); s.Rows[1][1].String() != "0.5" || s.Rows[0][1].String() != "2" {
		t.Errorf("%v", s.Rows)
	}
}

// The column of the score that decides comes second, then the words about the model; the rest is
// left out on small screens.
func TestDecidingColumnIsSecond(t *testing.T) {
	columns := table.Columns("#", "status", "kernel", "evidence", "bits", "inference")
	columns[3].Right, columns[4].Right, columns[4].Decides = true, true, true
	s := sheet{Table: table.Table{Columns: columns}}
	s.Add(0, "best", "se", 1, 2, "ep")
	s.decidingFirst()
	if got := strings.Join(s.ColumnNames(), " "); got != "# bits kernel inference status evidence" {
		t.Error(got)
	}
	if got := strings.Join(table.Texts(s.Rows[0]), " "); got != "0 2 se ep best 1" {
		t.Error(got)
	}
	if s.Head(1) != "n" || s.Head(4) != "minor" || s.Head(5) != "n minor" {
		t.Errorf("%q %q %q", s.Head(1), s.Head(4), s.Head(5))
	}
}
