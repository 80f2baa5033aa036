package main

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/golden"
	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// short are the experiments that take no more than a second.
var short = []string{"gpml_fig31", "gpml_fig35", "gpml_fig36", "lecture_sinusoid", "lecture_ard", "lecture_surface", "csato_figure2", "gpml_fig32", "gpml_fig33", "gpml_fig34", "garcia_fernandez_pair", "lecture_prior", "lecture_squashed"}

// found runs an experiment of the gallery.
func found(t *testing.T, name string) *reports.Report {
	t.Helper()
	r, _, err := result(t.Context(), name, t.TempDir(), filepath.Join(t.TempDir(), name))
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

// The short ones run, fail nowhere, say why where they differ from what was published, and have the figures that their files name, as
// files beside the page.
func TestShortExperiments(t *testing.T) {
	p := page{file: filepath.Join(t.TempDir(), "docs", "page.md"), names: short, figures: map[string][]byte{}}
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
		"\n| [gpml_fig35](#gpml_fig35) | GPML Figure 3.5: predictive probabilities over", " and Laplace's method. | 2 | ",
		"\n| [gpml_fig36](#gpml_fig36) | GPML Figure 3.6: Laplace's method against EP on a line. |  |  | &lt;\u00a01\u00a0min |  |\n",
		"a lattice of length scale and amplitude, for Laplace and EP. |  |  |  | not run: usps\\_3v5\\_train.csv.gz is not here |\n",
		"\n## gpml_fig36\n\nGPML Figure 3.6: ", "\nGPML Figure 3.5:\n\n| configuration | figure | published | here | here − published | why they differ |\n| --- | --- | ---: |",
		"| #2 se(length\\_scale: fixed 0.3) | max probability | 0.84 | 0.902 | 0.062 | the extremes of all",
		"\n![gpml\\_fig36 · probit · predictions over the inputs](page/gpml_fig36-decision-0.svg)\n",
		"\nerror rate, preprocess standardize, kernel sum(polynomial, noise), mean zero, likelihood step, tune none:\n\n| inference | sonar kfold | sonar training | crabs kfold | crabs training |\n",
		"\n<details><summary>1 warning</summary>\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page lacks %q", want)
		}
	}

	old := filepath.Join(filepath.Dir(p.file), "page", "old.svg")
	for range 2 {
		if err := p.write(); err != nil {
			t.Fatal(err)
		}
		if _, err := os.Stat(old); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%v: a figure that is no more", err)
		}
		if err := os.WriteFile(old, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	written, err := os.ReadFile(p.file)
	if err != nil {
		t.Error(err)
	}
	golden.Equal(t, "the page that was written", written, text)
	links := regexp.MustCompile(`!\[[^\]]*\]\(([^)]*)\)`).FindAllStringSubmatch(text, -1)
	if len(links) != len(p.figures) || len(links) < len(short) {
		t.Errorf("%d pictures on the page, %d figures", len(links), len(p.figures))
	}
	for _, link := range links {
		if svg, err := os.ReadFile(filepath.Join(filepath.Dir(p.file), link[1])); err != nil || !bytes.HasPrefix(svg, []byte("<svg")) && !bytes.Contains(svg[:200], []byte("<svg")) {
			t.Errorf("%s: %v", link[1], err)
		} else if len(svg) > 150e3 {
			t.Errorf("%s has %d bytes", link[1], len(svg))
		}
	}
}

// The comment is there paragraph by paragraph, its code as it is, and names of experiments on the page lead there.
func TestComment(t *testing.T) {
	p := page{names: []string{"a_b"}}
	got := p.comment([]byte("# See gallery:a_b, not gallery:a_bc:\n# x_1 < 2.\n#\n#     gpc-tune check gallery:a_b\n#\n# End.\nname: x\n"))
	if want := "See [gallery:a\\_b](#a_b), not gallery:a\\_bc:\nx\\_1 &lt; 2.\n\n    gpc-tune check gallery:a_b\n\nEnd."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestAlike(t *testing.T) {
	got := alike([]string{"#1: trial 0: ep took 4 precisions as 0", "a: b", "#2: fold 3 fit and 7 more: ep took 12 precisions as 0", "#2: fit: pl", "#3: fit: ep took 1.5e-3 precisions as 0", "#4: fit: {a: 1}", "#4: fit: {b: 1}"})
	if want := []string{"#1: trial 0: ep took 4 precisions as 0 (2 more like this)", "a: b", "#2: fit: pl", "#4: fit: {a: 1}", "#4: fit: {b: 1}"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestAbout(t *testing.T) {
	for seconds, want := range map[float64]string{0: "< 1 min", 50: "< 1 min", 58: "1 min", 100: "2 min", 16 * 60: "20 min", 3500: "1 h", 3 * 3600: "3 h", 26 * 3600: "30 h"} {
		if got := strings.ReplaceAll(about(seconds), "\u00a0", " "); got != want {
			t.Errorf("%v s is %q, want %q", seconds, got, want)
		}
	}
}

// On the line of GPML Figure 3.6 Laplace's method decides as EP does, and is too cautious.
func TestLaplaceIsCautious(t *testing.T) {
	c := found(t, "gpml_fig36").Configurations
	laplace, ep := c[0], c[1]
	if laplace.Inference.Text != "laplace" || ep.Inference.Text != "ep" {
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
		return v
	}
	one, two, three := length("length_scale[1]"), length("length_scale[2]"), length("length_scale[3]")
	if !(one < two/5 && one < three/5) || !(c[0].LogEvidence > c[1].LogEvidence+10) || !(score(t, c[0], "rmse") < score(t, c[1], "rmse")) {
		t.Errorf("length scales %g, %g, %g; log evidence %v with them and %v with one", one, two, three, c[0].LogEvidence, c[1].LogEvidence)
	}
}

func TestDifferencesNeedAReason(t *testing.T) {
	figure := func(name string, published, uncertainty, here reports.Number) reports.PublishedFigure {
		return reports.PublishedFigure{Name: name, Published: published, Uncertainty: uncertainty, Here: here}
	}
	r := &reports.Report{Configurations: []reports.Configuration{{Label: record.Label{Inference: record.Plain("laplace")}}, {Label: record.Label{Inference: record.Plain("ep")}, Published: []reports.Published{
		{Source: "A", Figures: reports.PublishedFigures{figure("log_evidence", -99, 0.5, -99.5), figure("errors", 21, 0.5, 22)}},
		{Source: "B", Note: "for a reason", Figures: reports.PublishedFigures{figure("error_rate", 0.031, 0.0005, 0.0321), figure("rmse", 1, 0, 1), figure("errors", 67, 5, 62), figure("log_evidence", -107, 0.05, -107.001)}},
	}}}}
	compared, within, faults := compare(r)
	var got []string
	for _, row := range compared.Rows {
		got = append(got, strings.Join(table.Texts(row), " "))
	}
	want := []string{"#1 ep A log evidence -99 -99.5 -0.5 ", "#1 ep A errors 21 22 1 not said", "#1 ep B error rate 0.031 0.0321 0.0011 for a reason", "#1 ep B rmse 1 ± 0 1 0 ", "#1 ep B errors 67 ± 5 62 -5 ", "#1 ep B log evidence -107.0 -107.00 0.00 "}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if within != 4 || len(compared.Columns) != 7 || compared.Caption != nil {
		t.Errorf("%d within the uncertainty; %v, %q", within, compared.Columns, compared.Caption)
	}
	r.Configurations = r.Configurations[1:]
	if compared, _, _ = compare(r); len(compared.Columns) != 6 || len(compared.Rows[0]) != 6 || compared.Rows[0][1].Text != "log evidence" {
		t.Errorf("of one configuration %v %q", compared.Columns, compared.Rows[0])
	}
	r.Configurations[0].Published = r.Configurations[0].Published[1:]
	r.Configurations[0].Published[0].Figures = r.Configurations[0].Published[0].Figures[3:]
	if compared, within, _ = compare(r); within != 1 || len(compared.Columns) != 4 || len(compared.Rows[0]) != 4 || !slices.Equal(compared.Caption, []string{"B"}) {
		t.Errorf("of nothing that differs %v %q", compared.Columns, compared.Rows[0])
	}
	if len(faults) != 1 || !strings.Contains(faults[0].Error(), "errors is 22 here and 21 ± 0.5 in A, and no note says why") {
		t.Errorf("faults %v", faults)
	}
}
