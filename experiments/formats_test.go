package experiments_test

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/gpc-tune/gpc-tune/experiments"
)

// A study of the same table has the same results.json, byte for byte, whatever the format of the file.
func TestResultsDoNotDependOnTheFormat(t *testing.T) {
	text, err := os.ReadFile("data/sets/iris.csv")
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(bytes.NewReader(text)).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	for _, row := range rows[1:] {
		var x [4]float64
		for j := range x {
			x[j], _ = strconv.ParseFloat(row[j], 64)
		}
		fmt.Fprintf(&lines, "{%q: %v, %q: %v, %q: %v, %q: %v, %q: %q}\n", rows[0][0], x[0], rows[0][1], x[1], rows[0][2], x[2], rows[0][3], x[3],
			rows[0][4], row[4])
	}
	columns, err := os.ReadFile("data/testdata/iris.parquet")
	if err != nil {
		t.Fatal(err)
	}
	packer, _ := zstd.NewWriter(nil)
	half := bytes.Index(text, []byte(rows[80][0]+","))
	half += bytes.IndexByte(text[half:], '\n') + 1
	header := text[:bytes.IndexByte(text, '\n')+1]
	files := []map[string][]byte{{"x.csv": text}, {"x.parquet": columns}, {"x.jsonl": []byte(lines.String())}, {"x.csv.zst": packer.EncodeAll(text, nil)},
		{"x/1.csv": text[:half], "x/2.csv": append(bytes.Clone(header), text[half:]...)}}
	var want []byte
	for _, of := range files {
		t.Chdir(t.TempDir())
		var train string
		for name, content := range of {
			train, _, _ = strings.Cut(name, "/")
			path := filepath.FromSlash(name)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		p, err := experiments.Parse(t.Context(), "s.yaml", []byte("data: {train: "+train+"}\nmodel: {kernel: se, likelihood: logit, classes: one_vs_rest, "+
			"inference: laplace}\ntune: none\nevaluate: {kfold: {k: 2}}\n"))
		if err != nil {
			t.Fatal(train, err)
		}
		if _, _, err := experiments.Run(t.Context(), p, "run", experiments.Options{}); err != nil {
			t.Fatal(train, err)
		}
		got, err := os.ReadFile("run/results.json")
		if err != nil {
			t.Fatal(err)
		}
		if want == nil {
			want = got
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%s: other results than from CSV:\n%s\n%s", train, got, want)
		}
	}
}
