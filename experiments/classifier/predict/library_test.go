package predict

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	library "github.com/gpc-tune/gpc-tune/experiments/classifier"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/record"
)

// probabilities returns the probabilities in a table of predictions.
func probabilities(t *testing.T, p *Predicted) (out [][]float64) {
	t.Helper()
	for _, row := range p.Rows {
		var proba []float64
		for j, name := range p.Columns {
			if strings.HasPrefix(name, "p[") {
				proba = append(proba, float64(row[j].(record.Number)))
			}
		}
		out = append(out, proba)
	}
	return out
}

// With a model file of the command, library and command give the same predictions. The library
// refuses files that it does not support.
func TestTheLibraryReadsModelFiles(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new.csv")
	if err := os.WriteFile(path, []byte("who,x,y,z\na,1,2,3\nb,,2,3\nc,0.5,-1,7\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	read := 0
	for _, text := range models(t) {
		name := filepath.Join(t.TempDir(), "m.json")
		if err := os.WriteFile(name, text, 0o666); err != nil {
			t.Fatal(err)
		}
		command, err := LoadClassifier(name)
		if err != nil {
			t.Fatal(err)
		}
		c, err := library.Load(bytes.NewReader(text))
		if command.fitted.Compared != nil || command.fitted.Data.Classes == nil {
			if err == nil || !strings.Contains(err.Error(), "gpc-tune predict predicts") {
				t.Errorf("%s: error %v", command.file.Model.Inference, err)
			}
			continue
		}
		if err != nil {
			t.Error(err)
			continue
		}
		read++
		predicted, err := command.Predict(path, spec.Deciding{})
		if err != nil {
			t.Fatal(err)
		}
		cases, err := command.file.Columns.Read(path)
		if err != nil {
			t.Fatal(err)
		}
		var x [][]float64
		for i := range cases.Rows {
			x = append(x, mat.Row(nil, i, cases.X))
		}
		got, err := c.Proba(t.Context(), x)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range probabilities(t, predicted) {
			if !slices.Equal(got[i], want) {
				t.Errorf("%s, case %d: %v, want %v", command.file.Model.Inference, i, got[i], want)
			}
		}
	}
	if read < 3 {
		t.Errorf("only %d model files", read)
	}
}

// With a model file of the library, command and library give the same predictions.
func TestTheLibraryWritesModelFiles(t *testing.T) {
	x := [][]float64{{1, 2}, {2, 1}, {3, 5}, {-1, 4}, {0, 0}, {2, 2}, {4, 1}, {-2, -3}}
	for _, labels := range [][]string{
		{"ill", "well", "ill", "ill", "well", "well", "ill", "well"},
		{"a", "b", "c", "a", "b", "c", "a", "b"},
	} {
		options := []library.Option{library.Restarts(1), library.Columns("u", "v")}
		if len(labels[1]) == 1 {
			options = append(options, library.Kernel(kernel.Matern32{ARD: true}), library.Likelihood(likelihood.Logit{}),
				library.Inference(approx.OneVsRest{Binary: approx.EP{}}))
		}
		c, err := library.Train(t.Context(), x, labels, options...)
		if err != nil {
			t.Fatal(err)
		}
		var file bytes.Buffer
		if err := c.Save(&file); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		model, data := filepath.Join(dir, "m.json"), filepath.Join(dir, "new.csv")
		rows := "v,u\n"
		for _, row := range x {
			rows += strconv.FormatFloat(row[1], 'g', -1, 64) + "," + strconv.FormatFloat(row[0], 'g', -1, 64) + "\n"
		}
		if err := os.WriteFile(model, file.Bytes(), 0o666); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(data, []byte(rows), 0o666); err != nil {
			t.Fatal(err)
		}
		command, err := LoadClassifier(model)
		if err != nil {
			t.Fatal(err)
		}
		predicted, err := command.Predict(data, spec.Deciding{})
		if err != nil {
			t.Fatal(err)
		}
		want, err := c.Proba(t.Context(), x)
		if err != nil {
			t.Fatal(err)
		}
		for i, got := range probabilities(t, predicted) {
			if !slices.Equal(got, want[i]) {
				t.Errorf("case %d: %v, want %v", i, got, want[i])
			}
		}
	}
}
