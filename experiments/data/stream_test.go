package data

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// Reading a file in parts gives the cases of the whole file, for parts of any size: with quotes
// over several lines, comments, blank lines, a header or none. Errors name their line. No part has more records than asked
// for, but the first may have two.
func TestStreamIsTheFile(t *testing.T) {
	train := filepath.Join(t.TempDir(), "train.csv")
	text := "# a comment\nname,x,y,state\n\"a\nb\",1,2,ill\nc,3,4,well\n\n# more\n\"d \"\"e\"\"\",5,6,ill\nf,7,8,well\ng,9,10,ill\n"
	for _, text := range []string{text, strings.Replace(text, "name,x,y,state\n", "", 1)} {
		if err := os.WriteFile(train, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		id := Name("name")
		if !strings.Contains(text, "name") {
			id = "1"
		}
		all, err := Load(Spec{Train: train, ID: []Name{id}}, "", 1)
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
			err = all.Schema.Stream("-", strings.NewReader(wrong), records, func(*Data) error { return nil })
			if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("-:%d:", line)) {
				t.Errorf("%d records: error %v, want one of line %d", records, err, line)
			}
		}
	}
}
