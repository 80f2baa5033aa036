package table

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// The JSON and the CSV export have the same content.
func TestExports(t *testing.T) {
	m, lines := reporttest.Run(t)
	m.Contests = []record.Contest{
		{Evaluation: "kfold", Score: "log_loss", Race: "paired_t", Options: []byte("{}"), Configurations: []int{1}, Folds: []int{1, 2}, Next: []int{0}},
		{Evaluation: "kfold", Score: "log_loss", Configurations: []int{1}, Folds: []int{1}, Next: []int{2}, WinnerOnly: true},
	}
	r := reporttest.Build(t, m, lines)
	for _, e := range Exported() {
		var text, objects bytes.Buffer
		rows := e.Export(r)
		if err := writeCSV(&text, rows); err != nil {
			t.Fatal(err)
		}
		if err := writeJSON(&objects, rows); err != nil {
			t.Fatal(err)
		}
		cells, err := csv.NewReader(&text).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		var list []map[string]any
		d := json.NewDecoder(&objects)
		d.UseNumber()
		if err := d.Decode(&list); err != nil {
			t.Fatal(err)
		}
		if len(rows.Columns) == 0 && len(list) == 0 && len(cells) == 0 {
			continue // there is no such table
		}
		if len(list) != len(cells)-1 || len(list) == 0 && e.Data != nil {
			t.Errorf("%s: %d objects and %d rows", e.Name, len(list), len(cells)-1)
			continue
		}
		for i, row := range cells[1:] {
			if len(list[i]) != len(row) {
				t.Errorf("%s row %d: %d members, want %d", e.Name, i, len(list[i]), len(row))
			}
			for k, cell := range row {
				var want string
				switch v := list[i][cells[0][k]].(type) {
				case nil:
				case map[string]any:
					if strings.Count(cell, "=") != len(v) {
						t.Errorf("%s row %d: %q and %v", e.Name, i, cell, v)
					}
					continue
				case json.Number:
					if x, err := v.Float64(); err != nil || reports.Exact(x) != cell && v.String() != cell {
						t.Errorf("%s row %d %s: %q in CSV, %v in JSON", e.Name, i, cells[0][k], cell, v)
					}
					continue
				default:
					want = fmt.Sprint(v)
				}
				if cell != want {
					t.Errorf("%s row %d %s: %q in CSV, %q in JSON", e.Name, i, cells[0][k], cell, want)
				}
			}
		}
	}
	var none bytes.Buffer
	if err := writeJSON(&none, Table{Columns: Columns("a")}); err != nil || !json.Valid(none.Bytes()) {
		t.Errorf("%q, %v", none.String(), err)
	}
	if _, err := ExportNamed("trails"); err == nil || !strings.Contains(err.Error(), `did you mean "trials"?`) {
		t.Errorf("error %v", err)
	}
}

// Tables that are joined for programs lose no column, whatever the names.
func TestJoinedTablesKeepTheirColumns(t *testing.T) {
	var all Table
	first := Table{Columns: Columns("a b", "a-b", "")}
	first.Add(1, 2, "x")
	second := Table{Columns: Columns("c", "a b")}
	second.Add(3, 4)
	all.join(first)
	all.join(second)
	var text bytes.Buffer
	if err := writeCSV(&text, all); err != nil || text.String() != "a_b,a_b_,remark,c\n1,2,x,\n4,,,3\n" {
		t.Errorf("%v\n%s", err, &text)
	}
}

// Configurations 0 and 1 together have every part: restarts that failed, a grid with a failed
// point, folds.
func TestShow(t *testing.T) {
	m, lines := reporttest.Run(t)
	r := reporttest.Build(t, m, lines)
	for _, test := range []struct {
		configuration, trial int
		want                 []string
	}{
		{-1, -1, []string{"toy #0  done", "toy #1  done", "toy #2  done", "toy #3  failed"}},
		{0, -1, []string{"log evidence   -3.25\n", "amplitude      4\n", "restarts\n", "chosen\n"}},
		{1, -1, []string{"\npoints\n", "\nfolds\n", "warning: kfold fold 1 fit: 3 sites were floored\n", "FAILED train trial 1 at log_length_scale=3: EP did not converge\n"}},
		{0, 2, []string{"trial 2  ", "FAILED panic: oh\n"}},
		{1, 1, []string{"kfold repeat 0 fold 1 trial 1", "EP did not converge\n"}},
	} {
		s, err := r.Show(test.configuration, test.trial)
		if err != nil {
			t.Fatal(err)
		}
		var text, object bytes.Buffer
		if err := shownText(&text, s); err != nil {
			t.Fatal(err)
		}
		for _, want := range test.want {
			if !strings.Contains(text.String(), want) {
				t.Errorf("show %d %d lacks %q:\n%s", test.configuration, test.trial, want, text.String())
			}
		}
		if strings.Contains(text.String(), "NaN") {
			t.Errorf("show %d %d:\n%s", test.configuration, test.trial, text.String())
		}
		if err := reports.WriteJSON(&object, s); err != nil || !json.Valid(object.Bytes()) {
			t.Errorf("%v", err)
		}
	}
	for _, none := range [][2]int{{4, -1}, {-2, -1}, {0, 9}} {
		if s, err := r.Show(none[0], none[1]); err == nil {
			t.Errorf("configuration %d trial %d: %+v", none[0], none[1], s)
		}
	}
}

// Of more than eight reasons why blocks wait the first eight are listed, and the others counted.
func TestProgressTellsOfTheQueue(t *testing.T) {
	for n, want := range map[int]string{8: "next: ", 10: "slurm: and 2 more\nnext: "} {
		q := reports.Queue{Engine: "slurm", Running: 1, Pending: 3, Suspended: 2}
		for k := range n {
			q.Messages = append(q.Messages, fmt.Sprintf("reason %d", k))
		}
		var b strings.Builder
		if err := progressText(&b, &reports.Progress{Queue: &q}); err != nil {
			t.Fatal(err)
		}
		if text := b.String(); !strings.Contains(text, "\nslurm: 1 block running, 3 in the queue, 2 suspended\nslurm: reason 0\n") ||
			!strings.Contains(text, "slurm: reason 7\n"+want) || strings.Count(text, "reason") != 8 {
			t.Errorf("%d reasons: %s", n, text)
		}
	}
}

// Every held-out case has the ids of its row in the file that it comes from.
func TestPredictionsHaveIDs(t *testing.T) {
	m, lines := reporttest.Run(t)
	for _, of := range []struct {
		hash   string
		test   bool
		values []string
	}{{"d", false, []string{"a", "b", "c", "d"}}, {"d", true, []string{"p", "q", "r", "s"}}, {"other", false, []string{"1", "2", "3", "4"}}} {
		m.IDs = append(m.IDs, record.IDs{DataHash: of.hash, Test: of.test, Rows: []int{0, 1, 2, 3},
			Columns: []record.IDColumn{{Name: "name", Values: of.values}}})
	}
	var text bytes.Buffer
	if err := PredictionsCSV(&text, reporttest.Build(t, m, lines)); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&text).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, row := range rows {
		got = append(got, strings.Join([]string{row[0], row[1], row[3], row[4], row[5]}, " "))
	}
	want := []string{"configuration evaluation fold case name",
		"0 test 0 0 p", "0 test 0 1 q", "0 test 0 2 r", "0 test 0 3 s", "1 kfold 0 0 a", "1 kfold 0 3 d",
		"1 kfold 1 1 b", "1 kfold 1 2 c", "2 kfold 0 0 a", "2 kfold 0 3 d"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// The command that retries failed jobs is shown if there is one; the next step is always shown.
func TestProgressTellsOfRetrying(t *testing.T) {
	for _, retry := range []string{"", "gpc-tune run x.yaml --retry-failed"} {
		var b strings.Builder
		if err := progressText(&b, &reports.Progress{Next: "gpc-tune report", Retry: retry}); err != nil {
			t.Fatal(err)
		}
		line := "to run the failed jobs again: " + retry + "\n"
		if strings.Contains(b.String(), "to run the failed jobs again") != (retry != "") || retry != "" && !strings.Contains(b.String(), line) || !strings.HasSuffix(b.String(), "next: gpc-tune report\n") {
			t.Errorf("%q is told as %q", retry, b.String())
		}
	}
}
