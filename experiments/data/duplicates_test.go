package data

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Cases are in one group exactly if their inputs are written alike, whatever their labels.
func TestDuplicatesTogether(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var inputs []string
	text := "a,b,colour,y\n"
	for range 120 {
		fields := []string{[]string{"0", "1.5", ""}[r.IntN(3)], []string{"2", "-3"}[r.IntN(2)],
			[]string{"red", "blue"}[r.IntN(2)]}
		inputs = append(inputs, strings.Join(fields, ","))
		text += inputs[len(inputs)-1] + fmt.Sprintf(",%d\n", r.IntN(2))
	}
	path := filepath.Join(t.TempDir(), "f.csv")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	s := Spec{Train: path, Categorical: "one_hot", Missing: "median", Duplicates: "together"}
	d, err := Load(s, ".", 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range inputs {
		for j := range inputs {
			if (inputs[i] == inputs[j]) != (d.Groups[i] == d.Groups[j]) {
				t.Fatalf("cases %d (%s) and %d (%s) are in the groups %q and %q", i, inputs[i], j, inputs[j],
					d.Groups[i], d.Groups[j])
			}
		}
	}

	together := d.Hash
	s.Duplicates = ""
	absent, err := Load(s, ".", 0)
	if err != nil {
		t.Fatal(err)
	}
	s.Duplicates = "independent"
	if d, err = Load(s, ".", 0); err != nil || d.Groups != nil || d.Hash != absent.Hash || d.Hash == together {
		t.Errorf("%v, groups %v, hashes %s, %s and %s", err, d.Groups, d.Hash, absent.Hash, together)
	}
	s.Duplicates, s.Group = "together", "a"
	if _, err := Load(s, ".", 0); err == nil || !strings.Contains(err.Error(), "keep one of the two") {
		t.Error(err)
	}
}
