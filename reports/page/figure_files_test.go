package page

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/picture"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// Every figure gets a file of its name, and all figures together also give one picture.
func TestFigureFiles(t *testing.T) {
	r := &reports.Report{Experiment: "e", Configurations: []reports.Configuration{reporttest.Hill(), reporttest.Evaluated("probit", "ep", cv.Estimate{Value: 0.1}, "error_reject")}}
	r.Configurations[1].Dataset = "../A b"
	for format, want := range map[string][]string{
		"svg": {"figures/progress-0.svg", "figures/slices-0.svg", "figures/grid-0.svg", "figures/curves-a-b-kfold.svg", "figures/evidence-information-0.svg"},
		"pdf": {"figures/progress-0.pdf", "figures/slices-0.pdf", "figures/grid-0.pdf", "figures/curves-a-b-kfold.pdf", "figures/evidence-information-0.pdf"},
		"png": {"figures/progress-0.png", "figures/slices-0.png", "figures/grid-0.png", "figures/curves-a-b-kfold.png", "figures/evidence-information-0.png"},
	} {
		f, err := FormatNamed(format)
		if err != nil {
			t.Fatal(err)
		}
		var names []string
		apart := 0
		for _, file := range f.Files(r) {
			names = append(names, file.Name)
			var b bytes.Buffer
			if err := file.Write(&b); err != nil {
				t.Fatal(err)
			}
			if format == "svg" {
				apart += len(reporttest.Texts(t, b.Bytes()))
			}
		}
		if !slices.Equal(names, want) {
			t.Errorf("files %q, want %q", names, want)
		}
		if together := Render(t, format, r); format == "svg" && (apart < 20 || len(reporttest.Texts(t, together)) != apart) {
			t.Errorf("%d texts together, %d apart", len(reporttest.Texts(t, together)), apart)
		}
	}
	if f, err := picture.Named(r, "grid-0"); err != nil || f.Name != "grid-0" {
		t.Errorf("%v, %v", f.Name, err)
	}
	if _, err := picture.Named(r, "grid-1"); err == nil || !strings.Contains(err.Error(), `did you mean "grid-0"?`) {
		t.Error(err)
	}
}

// The figures that an experiment names, by their names or kinds, are drawn into files in the given
// order, each once. A name without a figure is reported, but not while jobs are missing.
func TestDrawn(t *testing.T) {
	m, lines := reporttest.Run(t)
	all, err := reports.Build(m, lines)
	if err != nil {
		t.Fatal(err)
	}
	var whole []string
	for _, f := range picture.All(all) {
		whole = append(whole, f.Name)
	}
	names := func(r *reports.Report) (names []string) {
		for _, f := range picture.Drawn(r) {
			names = append(names, f.Name)
		}
		return names
	}
	if got := names(all); !slices.Equal(got, whole) {
		t.Errorf("without names %q, want all, %q", got, whole)
	}
	first, kind := whole[len(whole)-1], picture.All(all)[0].Kind
	m.Figures = []string{first, kind, "relevance-7", whole[0]}
	want := []string{first}
	for _, f := range picture.All(all) {
		if f.Kind == kind && f.Name != first {
			want = append(want, f.Name)
		}
	}
	r, err := reports.Build(m, lines)
	if err != nil {
		t.Fatal(err)
	}
	if got := names(r); !slices.Equal(got, want) {
		t.Errorf("%q are %q, want %q", m.Figures, got, want)
	}
	svg, err := FormatNamed("svg")
	if err != nil {
		t.Fatal(err)
	}
	var files []string
	for _, f := range svg.Files(r) {
		files = append(files, strings.TrimSuffix(strings.TrimPrefix(f.Name, "figures/"), ".svg"))
	}
	if !slices.Equal(files, want) {
		t.Errorf("files %q, want %q", files, want)
	}
	if r.Missing == 0 || !slices.Equal(r.Warnings, all.Warnings) {
		t.Errorf("%d jobs are missing, and already %q", r.Missing, r.Warnings)
	}
	for name, want := range map[string]string{"grid": "", "grid-3": "", "evidence-information-configurations-0": "", "curves-crabs-kfold": "", "grit-0": `did you mean "grid"?`, "grid-": "unknown picture", "Grid": "unknown picture", "gridlock": "unknown picture"} {
		if err := picture.Check(name); (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", name, err, want)
		}
	}
}

// Figures are written on request only; results always.
func TestAlways(t *testing.T) {
	for _, f := range Formats {
		if want := f.Name == "json" || f.Name == "csv"; f.Always != want || f.Always && f.File == "" {
			t.Errorf("%s: always %v, in %q", f.Name, f.Always, f.File)
		}
	}
}

func TestUnknownFormat(t *testing.T) {
	if _, err := FormatNamed("jsn"); err == nil || !strings.Contains(err.Error(), `did you mean "json"?`) {
		t.Errorf("error %v", err)
	}
}
