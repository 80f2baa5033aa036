package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The shells' completion scripts ask the program for the possible words.
func TestCompletions(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	for name, text := range map[string]string{"study.yaml": "version: 1\n", "model.json": "{}",
		"plants.csv": "width,height,kind\n1,2,a\n1.5,1,b\n2,2.5,a\n2.5,1.5,b\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, of := range []struct {
		line      string // the line as the scripts pass it, the unfinished word last
		has, lack []string
	}{
		{"run gallery:cr", []string{"gallery:crabs"}, []string{"gallery:pima_grid", "study.yaml"}},
		{"validate ", []string{"gallery:crabs", "study.yaml"}, []string{"plants.csv"}},
		{"validate st", []string{"study.yaml"}, []string{"gallery:crabs"}},
		{"submit local ", []string{"gallery:crabs"}, nil},
		{"run study.yaml ", nil, []string{"gallery:crabs"}},
		{"explain bi", []string{"bits", "bias"}, []string{"se"}},
		{"explain 13", []string{"130"}, []string{"0"}},
		{"explain ", []string{"exit-codes", "kernel", "log_evidence", "gallery:crabs"}, nil},
		{"evidence --kernel mat", []string{"matern32"}, []string{"se"}},
		{"evidence --preprocess ", []string{"none", "standardize", "whiten"}, nil},
		{"evidence --data plants.csv --label ", []string{"width", "kind"}, nil},
		{"data plants.csv --label ", []string{"width", "kind"}, nil},
		{"data ", []string{"crabs"}, []string{"study.yaml"}},
		{"list ", []string{"kernels", "pairs"}, nil},
		{"report --formats ", []string{"latex"}, nil},
		{"export --what ", []string{"folds"}, nil},
		{"run --format ", []string{"text", "csv"}, nil},
		{"predict ", []string{"json"}, nil}, // the ending of the files
		{"effects ", []string{"json"}, nil},
		{"effects --format ", []string{"text", "html"}, nil},
		{"man ", []string{"effects"}, nil},
		{"man ", []string{"run", "submit"}, []string{"slurm"}},
		{"man submit ", []string{"slurm"}, []string{"run"}},
	} {
		var out bytes.Buffer
		args := append([]string{"__complete"}, strings.Split(of.line, " ")...)
		if got := run(context.Background(), nil, args, nil, &out, io.Discard); got != exitDone {
			t.Errorf("%s: exit code %d", of.line, got)
		}
		var words []string
		for line := range strings.Lines(out.String()) {
			word, _, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
			words = append(words, word)
		}
		for _, w := range of.has {
			if !slices.Contains(words, w) {
				t.Errorf("%s lacks %s: %s", of.line, w, words)
			}
		}
		for _, w := range of.lack {
			if slices.Contains(words, w) {
				t.Errorf("%s has %s", of.line, w)
			}
		}
	}
}
