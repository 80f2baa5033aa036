package predict

import (
	"bytes"
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/experiments/plan/plantest"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/record"
)

// written writes a file and returns its path.
func written(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "cases.csv")
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

// learnt is a classifier of the cases in text; section has further keys of the data.
func learnt(t *testing.T, text, section, model string) *Classifier {
	t.Helper()
	p := plantest.Planned(t, fmt.Sprintf("data: {train: %s, %s}\nmodel: {%s}\ntune: none\n", written(t, text),
		section, model))
	c, err := LoadClassifier(fitted(t, p, 0))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

const ofRows, byLaplace = "label: label, id: who, missing: median", "kernel: se, likelihood: probit, inference: laplace"

// A file predicted in parts has the same predictions, scores and warnings as at once, and the cells
// are the exact numbers.
func TestStreamsArePredictedLikeFiles(t *testing.T) {
	c := learnt(t, rows(8, 2, 5), ofRows, byLaplace)
	text := rows(streamed+10, 2, 11)
	text += "n,1,a,,2\n"
	text = strings.Replace(text, "z\n", "z\nm,1,a,,2\n", 1) // the first and the last case lack y
	name := written(t, text)
	want, err := c.Predict(name, spec.Deciding{})
	if err != nil {
		t.Fatal(err)
	}
	for _, from := range []string{name, "-"} {
		var out bytes.Buffer
		got, err := c.Stream(t.Context(), from, strings.NewReader(text), spec.Deciding{}, &out)
		if err != nil {
			t.Fatal(err)
		}
		if got.Labelled != streamed+12 || got.Labelled != want.Labelled || !reflect.DeepEqual(got.Scores, want.Scores) {
			t.Errorf("%s: %d labelled, %+v, want %+v", from, got.Labelled, got.Scores, want.Scores)
		}
		if !slices.Equal(got.Warnings, want.Warnings) ||
			!strings.Contains(strings.Join(got.Warnings, "\n"), "(cases: 2)") {
			t.Errorf("%s: warnings %q, want %q", from, got.Warnings, want.Warnings)
		}
		cells, err := csv.NewReader(&out).ReadAll()
		if err != nil || len(cells) != 1+len(want.Rows) || !slices.Equal(cells[0], want.Columns) {
			t.Fatalf("%s: %d rows, error %v", from, len(cells), err)
		}
		for i, row := range want.Rows {
			for j, v := range row {
				cell := cells[1+i][j]
				number, is := v.(record.Number)
				if parsed, err := strconv.ParseFloat(cell, 64); is && (err != nil || parsed != float64(number)) ||
					!is && cell != fmt.Sprint(v) {
					t.Fatalf("%s: %s of case %d is %s, want %v", from, cells[0][j], i, cell, v)
				}
			}
		}
	}
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if got, err := c.Stream(stopped, name, nil, spec.Deciding{}, io.Discard); got != nil ||
		!errors.Is(err, context.Canceled) {
		t.Errorf("stopped: %+v, error %v", got, err)
	}
	other := strings.NewReader("x,y\n1,2\n3,4\n")
	if _, err := c.Stream(t.Context(), "-", other, spec.Deciding{}, io.Discard); !errors.Is(err, spec.ErrInvalid) {
		t.Errorf("other columns: error %v", err)
	}
}

// A single labelled case has scores.
func TestScoresOfOneCase(t *testing.T) {
	c := learnt(t, rows(8, 2, 5), ofRows, byLaplace)
	got, err := c.Predict(written(t, "who,x,label,y,z\nm,1,a,2,3\nn,1,?,2,3\n"), spec.Deciding{})
	if err != nil {
		t.Fatal(err)
	}
	p := float64(column[record.Number](t, got, "p[a]")[0])
	if s := got.Scores["log_loss"]; got.Labelled != 1 || math.Abs(float64(s.Value)+math.Log(p)) > 1e-12 {
		t.Errorf("%d labelled, a log loss of %v, want %v", got.Labelled, s.Value, -math.Log(p))
	}
}

// Cases with numbers of successes and failures are scored by all their trials.
func TestScoresOfCounts(t *testing.T) {
	c := learnt(t, "x,s,n\n0,1,4\n1,3,4\n2,5,5\n-1,0,3\n-2,1,6\n", "counts: {successes: s, trials: n}", byLaplace)
	got, err := c.Predict(written(t, "x,s,n\n0.5,2,3\n-1,0,4\n1,3,3\n1,0,0\n"), spec.Deciding{})
	if err != nil {
		t.Fatal(err)
	}
	p, want := column[record.Number](t, got, "p[success]"), 0.0
	for i, of := range [][2]float64{{2, 3}, {0, 4}, {3, 3}} {
		want -= (of[0]*math.Log(float64(p[i])) + (of[1]-of[0])*math.Log1p(-float64(p[i]))) / 10
	}
	if s := got.Scores["log_loss"]; got.Labelled != 3 || math.Abs(float64(s.Value)-want) > 1e-12 {
		t.Errorf("%d labelled, a log loss of %v, want %v", got.Labelled, s.Value, want)
	}
}

// The model determines the columns of predictions. The confidence of a comparator that rejects by
// the distance to the nearest training case is minus that distance.
func TestColumnsOfModels(t *testing.T) {
	text := rows(8, 2, 5)
	for model, want := range map[string]string{
		byLaplace: "case who p[a] p[b] latent_mean latent_variance decision",

		"inference: p1nn": "case who p[a] p[b] confidence decision",
	} {
		got, err := learnt(t, text, ofRows, model).Predict(written(t, text+"far,1e3,a,1e3,1e3\n"), spec.Deciding{})
		if err != nil {
			t.Fatal(err)
		}
		if columns := strings.Join(got.Columns, " "); columns != want {
			t.Errorf("%s: columns %s, want %s", model, columns, want)
			continue
		}
		if !strings.Contains(want, "confidence") {
			continue
		}
		for i, v := range column[record.Number](t, got, "confidence") {
			if (v == 0) != (i < 8) || v > 0 {
				t.Errorf("%s: case %d has a confidence of %v", model, i, v)
			}
		}
	}
}

// Records that end too early are an error that says so.
func TestRecordsThatEndTooEarly(t *testing.T) {
	c := learnt(t, rows(8, 2, 5), ofRows, byLaplace)
	for _, text := range []string{"", "{", `{"rows"`, `{"rows": [`, `{"rows": []`, `{"rows": [{"x"`, `{"rows": [{"x": 1, "y": 2, "z": 3}`} {
		if _, err := c.ReadRecords([]byte(text), 5); !errors.Is(err, io.ErrUnexpectedEOF) {
			t.Errorf("%q: error %v", text, err)
		}
	}
}

// Two cases or more whose numbers are in another notation than the training file are refused before
// a line of predictions is written.
func TestAnotherNotationIsRefused(t *testing.T) {
	c := learnt(t, "a;b;y\n1,5;2,5;u\n2,5;3,5;v\n4,5;1,5;u\n", "label: y, decimal: comma", "inference: p1nn")
	const want = `no value of "a" is a number as in the training file; one is "1.5"; this model reads decimal: comma`
	var out strings.Builder
	_, err := c.Stream(t.Context(), "-", strings.NewReader("a;b\n1.5;2.5\n3.5;4.5\n"), spec.Deciding{}, &out)
	if !errors.Is(err, spec.ErrInvalid) || !strings.Contains(err.Error(), want) || out.Len() > 0 {
		t.Errorf("%v, written %q", err, out.String())
	}
	if _, err = c.Stream(t.Context(), "-", strings.NewReader("a;b\n1.5;2,5\n"), spec.Deciding{}, &out); err != nil {
		t.Errorf("one case: %v", err)
	}
}
