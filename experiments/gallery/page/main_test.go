package main

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/reports"
)

// short are the experiments that take no more than a second.
var short = []string{"gpml_fig31", "gpml_fig35", "gpml_fig36", "lecture_sinusoid", "lecture_ard", "lecture_surface", "csato_figure2", "gpml_fig32", "gpml_fig33", "gpml_fig34", "garcia_fernandez_pair", "lecture_prior", "lecture_squashed"}

// found runs an experiment of the gallery.
func found(t *testing.T, name string) *reports.Report {
	t.Helper()
	r, err := run(t.Context(), name, t.TempDir(), filepath.Join(t.TempDir(), name))
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func score(t *testing.T, c reports.Configuration, name string) float64 {
	t.Helper()
	e, ok := c.Scores.Value(name)
	if !ok {
		t.Fatalf("%s has no %s", c.Inference, name)
	}
	return e.Value
}

// The short ones run, fail nowhere, and say why where they differ from what was published.
func TestShortExperiments(t *testing.T) {
	var p page
	for _, name := range short {
		if err := p.add(t.Context(), name, t.TempDir(), filepath.Join(t.TempDir(), name)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := p.add(t.Context(), "usps_3v5_grid", t.TempDir(), filepath.Join(t.TempDir(), "none")); err != nil {
		t.Errorf("digits that are not there: %v", err)
	}
	text := string(p.text())
	for _, want := range []string{
		"| [gpml_fig35](#gpml_fig35) | 6 | ", "| [gpml_fig36](#gpml_fig36) | none | |\n", "| [usps_3v5_grid](#usps_3v5_grid) | not run: usps_3v5_train.csv.gz is not here | |\n",
		"\n## gpml_fig36\n\nGPML Figure 3.6: ", "| # | source | published | here | here − published | why it differs |\n| --- |", "| GPML Figure 3.5 | max\\_probability 0.84 | 0.805 | -0.035 | the cases are others",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
}

// On the line of GPML Figure 3.6 Laplace's method decides as EP does, and is too cautious.
func TestLaplaceIsCautious(t *testing.T) {
	c := found(t, "gpml_fig36").Configurations
	laplace, ep := c[0], c[1]
	if laplace.Inference != "laplace" || ep.Inference != "ep" {
		t.Fatalf("%s and %s", laplace.Inference, ep.Inference)
	}
	if a, b := score(t, laplace, "errors"), score(t, ep, "errors"); a > b+5 || b > a+5 {
		t.Errorf("%v and %v errors", a, b)
	}
	if a, b := score(t, laplace, "information_bits"), score(t, ep, "information_bits"); !(a < b-0.05) {
		t.Errorf("%v bits by Laplace's method, %v by EP", a, b)
	}
}

// Automatic relevance determination leaves the copy of the first input and the stranger out.
func TestARDFindsTheInput(t *testing.T) {
	c := found(t, "lecture_ard").Configurations
	length := func(name string) float64 {
		v, ok := c[0].Hyperparameters.Get(name)
		if !ok {
			t.Fatalf("no %s in %v", name, c[0].Hyperparameters)
		}
		return float64(v)
	}
	one, two, three := length("length_scale[1]"), length("length_scale[2]"), length("length_scale[3]")
	if !(one < two/5 && one < three/5) || !(c[0].LogEvidence > c[1].LogEvidence+10) || !(score(t, c[0], "rmse") < score(t, c[1], "rmse")) {
		t.Errorf("length scales %g, %g, %g; log evidence %v with them and %v with one", one, two, three, c[0].LogEvidence, c[1].LogEvidence)
	}
}

func TestDifferencesNeedAReason(t *testing.T) {
	figure := func(name string, published, uncertainty, here reports.Number) reports.Figure {
		return reports.Figure{Name: name, Published: published, Uncertainty: uncertainty, Here: here}
	}
	r := &reports.Report{Configurations: []reports.Configuration{{}, {Published: []reports.Published{
		{Source: "A", Figures: reports.Figures{figure("log_evidence", -99, 0.5, -99.5), figure("errors", 21, 0.5, 22)}},
		{Source: "B", Note: "for a reason", Figures: reports.Figures{figure("error_rate", 0.031, 0.0005, 0.0321), figure("rmse", 1, 0, 1), figure("errors", 67, 5, 62), figure("log_evidence", -107, 0.05, -107.001)}},
	}}}}
	rows, faults := compare(r)
	var got []string
	for _, row := range rows {
		got = append(got, strings.Join(row, " "))
	}
	want := []string{"1 A log_evidence -99 -99.5 -0.5 ", "1 A errors 21 22 1 not said", "1 B error_rate 0.031 0.0321 0.0011 for a reason", "1 B rmse 1 ± 0 1 0 ", "1 B errors 67 ± 5 62 -5 ", "1 B log_evidence -107.0 -107.00 0.00 "}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if len(faults) != 1 || !strings.Contains(faults[0].Error(), "errors is 22 here and 21 ± 0.5 in A, and no note says why") {
		t.Errorf("faults %v", faults)
	}
}
