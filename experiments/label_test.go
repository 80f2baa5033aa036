package experiments

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"testing"
)

// results.json names the label, the inputs, and the columns that are left out or suspect. The label
// is one that the file names, one that it does not name, or numeric.
func TestResultsSayWhatIsPredicted(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "t.csv")
	text := "k,note,x,after,y\n"
	for i := range 60 {
		y := i / 7 % 3 / 2 // 1 in a third of the cases, unrelated to x
		text += fmt.Sprintf("c%d,n%d,%g,%d,%s\n", i, i%4, float64(i*i%17)+0.5*float64(y), 7+y, []string{"no", "yes"}[y])
	}
	if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	type column struct{ Column, Reason string }
	type answer struct {
		Label struct {
			Name    string
			Classes []string
			Counts  []int
			Guessed bool
		}
		LeftOut  []column `json:"left_out"`
		Suspects []column
	}
	for _, c := range []struct {
		data, model, split, want string
	}{
		{"id: k, drop: [note]", "likelihood: probit, inference: laplace", "kfold",
			`{"Label":{"Name":"y","Classes":["no","yes"],"Counts":[42,18],"Guessed":true},"left_out":[{"Column":"note","Reason":"dropped"},` +
				`{"Column":"k","Reason":"id"}],"Suspects":[{"Column":"after","Reason":"alone predicts the class, with a held-out error of 0 %"}]}`},
		{"label: y, columns: [x]", "likelihood: probit, inference: laplace", "kfold",
			`{"Label":{"Name":"y","Classes":["no","yes"],"Counts":[42,18],"Guessed":false},"left_out":[{"Column":"k","Reason":"not among columns"},` +
				`{"Column":"note","Reason":"not among columns"},{"Column":"after","Reason":"not among columns"}],"Suspects":[]}`},
		{"label: x, drop: [y, k], group: note", "likelihood: gaussian, inference: exact", "group_kfold",
			`{"Label":{"Name":"x","Classes":null,"Counts":null,"Guessed":false},"left_out":[{"Column":"k","Reason":"dropped"},` +
				`{"Column":"y","Reason":"dropped"},{"Column":"note","Reason":"group"}],"Suspects":[]}`},
	} {
		p, err := Parse(t.Context(), dir, []byte("name: said\ndata: {train: "+file+", "+c.data+"}\nmodel: {kernel: se, "+c.model+"}\ntune: none\nevaluate: {"+c.split+": {k: 2}}\n"))
		if err != nil {
			t.Fatal(c.data, err)
		}
		folder := filepath.Join(t.TempDir(), "run")
		if _, _, err := Run(t.Context(), p, folder, Options{}); err != nil {
			t.Fatal(c.data, err)
		}
		written, err := os.ReadFile(filepath.Join(folder, "results.json"))
		if err != nil {
			t.Fatal(err)
		}
		var got struct{ Answer answer }
		var want answer
		if err := json.Unmarshal([]byte(c.want), &want); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(written, &got); err != nil || !reflect.DeepEqual(got.Answer, want) {
			now, _ := json.Marshal(got.Answer)
			t.Errorf("%s: %v\n%s\nwant\n%s", c.data, err, now, c.want)
		}
		if !bytes.Contains(written, []byte(`"suspects":`)) {
			t.Errorf("%s: no suspects", c.data)
		}
	}
}
