package data

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
)

// Reading a file in parts gives the cases of the whole file, for parts of any size: with quotes
// over several lines, comments, blank lines, a header or none. Errors name their line. No part has
// more records than requested, except the first, which may have two.
func TestStreamIsTheFile(t *testing.T) {
	train := filepath.Join(t.TempDir(), "train.csv")
	text := "# a comment\nname,x,y,state\n\"a\nb\",1,2,ill\nc,3,4,well\n\n# more\n\"d \"\"e\"\"\",5,6,ill\nf,7,8,well\ng,9,10,ill\n\n# the end\n"
	for _, text := range []string{text, strings.Replace(text, "name,x,y,state\n", "", 1)} {
		if err := os.WriteFile(train, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		id := cells.Name("name")
		if !strings.Contains(text, "name") {
			id = "1"
		}
		all, err := Load(Spec{Train: train, ID: []cells.Name{id}}, "", 1)
		if err != nil {
			t.Fatal(err)
		}
		whole, err := all.Schema.Read(train)
		if err != nil {
			t.Fatal(err)
		}
		for records := 1; records < 8; records++ {
			var rows, labels []int
			var ids []string
			var x []float64
			err := all.Schema.Stream("-", strings.NewReader(text), records, func(d *Data) error {
				rows, labels, ids = append(rows, d.Rows...), append(labels, d.Labels...), append(ids, d.IDs[0].Values...)
				if len(d.Rows) > max(records, 2) || len(d.Rows) > records && d.Rows[0] > 0 {
					t.Errorf("%d records: a part of %d cases", records, len(d.Rows))
				}
				for i := range d.Rows {
					x = append(x, d.X.RawRowView(i)...)
				}
				return nil
			})
			if err != nil || !reflect.DeepEqual(rows, whole.Rows) || !reflect.DeepEqual(labels, whole.Labels) ||
				!reflect.DeepEqual(ids, whole.IDs[0].Values) || fmt.Sprint(x) != fmt.Sprint(whole.X.RawMatrix().Data) {
				t.Errorf("%d records: %v %v %v %v (%v), want %v %v %v", records, rows, labels, ids, x, err, whole.Rows, whole.Labels,
					whole.IDs[0].Values)
			}
			wrong := strings.Replace(text, "7,8", "7,eight", 1)
			line := 1 + strings.Count(wrong[:strings.Index(wrong, "eight")], "\n")
			var unread []Unread
			err = all.Schema.Stream("-", strings.NewReader(wrong), records, func(d *Data) error {
				unread = Merge(unread, d.Unread)
				return nil
			})
			if err != nil || len(unread) != 1 || unread[0].N != 1 || unread[0].First[0].Line != line || unread[0].First[0].Text != "eight" {
				t.Errorf("%d records: %+v cannot be read, %v, want one value in line %d", records, unread, err, line)
			}
		}
	}
}

// The first part determines how all are read: a later part looks otherwise on its own, as does a
// header in a file of one column, and in one whose cases are all missing.
func TestPartsAreReadAlike(t *testing.T) {
	train := filepath.Join(t.TempDir(), "train.csv")
	for text, of := range map[string]struct{ training, want string }{
		"a,b\n1,2\n?,3\n4,?\n":                   {"1,2,x\n3,4,y\n5,6,x\n", "[0 1 2] [1 2 NaN 3 4 NaN]"}, // names by the first line of numbers
		"1;2\n3,5;4\n1,5;2,5\n3,5;4,5\n":         {"1;2;x\n3;4,5;y\n5;6;x\n", "[0 1 2 3] [1 2 3.5 4 1.5 2.5 3.5 4.5]"},
		"1,5\n2,5\n\n3,5\n":                      {"1;x\n3,5;y\n5;x\n", "[0 1 2 3] [1.5 2.5 NaN 3.5]"}, // the training file has no delimiter ,
		"u v\n\n\"\"\n?\n":                       {"u v;y\n1;m\n3,5;n\n5;m\n", "[0 1 2] [NaN NaN NaN]"},
		"none;2\n3;4\n":                          {"1;2;x\n3;4,5;y\n5;6;x\n", "[0 1] [NaN 2 3 4]"}, // none is no name of a column
		"\n1\n\n\"\n\"\n-9,0\n\"-90e-1\"\n2\n\n": {"1;x\n3,5;y\n5;x\n", "[0 1 2 3 4 5 6 7] [NaN 1 NaN NaN NaN NaN 2 NaN]"},
	} {
		if err := os.WriteFile(train, []byte(of.training), 0o666); err != nil {
			t.Fatal(err)
		}
		all, err := Load(Spec{Train: train, Decimal: "comma", Missing: "median", MissingValues: []cells.Name{"none", "-9"}}, "", 1)
		if err != nil {
			t.Fatal(err)
		}
		for records := 1; records < 8; records++ {
			var rows []int
			var x []float64
			err := all.Schema.Stream("-", strings.NewReader(text), records, func(d *Data) error {
				rows, x = append(rows, d.Rows...), append(x, d.X.RawMatrix().Data...)
				return nil
			})
			if got := fmt.Sprint(rows, x); got != of.want || err != nil {
				t.Errorf("%q in parts of %d: %s (%v), want %s", text, records, got, err, of.want)
			}
		}
	}
}

// A number that stands for a missing value does so in every spelling, in training files too.
func TestMissingNumbersInAnySpelling(t *testing.T) {
	train := filepath.Join(t.TempDir(), "train.csv")
	text := "x,c,y\n1,-9,a\n-9,-9.00,b\n-9.0,9,a\n-90e-1,u,-9.0\n-0.9E1,v,b\n9,w,a\n"
	if err := os.WriteFile(train, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	d, err := Load(Spec{Train: train, Missing: "median", Unlabelled: "drop", Categorical: "one_hot", MissingValues: []cells.Name{"-9"}}, "", 1)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(d.Rows, d.ColumnNames, d.X.RawMatrix().Data); got != "[0 1 2 4 5] [x c=9 c=v c=w] [1 NaN NaN NaN NaN NaN NaN NaN NaN 1 0 0 NaN 0 1 0 9 0 0 1]" {
		t.Error(got)
	}
}
