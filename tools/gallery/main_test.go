package main

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gpc-tune/gpc-tune/experiments/gallery"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/tools/gallery/ledger"
)

// short lists experiments that take at most a second.
var short = []string{"gpml_fig31", "gpml_fig35", "gpml_fig36", "lecture_sinusoid", "lecture_ard", "lecture_surface", "csato_figure2", "gpml_fig32", "gpml_fig33", "gpml_fig34", "garcia_fernandez_pair", "lecture_prior", "lecture_squashed"}

// reported runs an experiment of the gallery.
func reported(t *testing.T, name string) *reports.Report {
	t.Helper()
	r, err := result(t.Context(), name, t.TempDir(), filepath.Join(t.TempDir(), name))
	if err != nil {
		t.Fatal(err)
	}
	return r.Report
}

func score(t *testing.T, c reports.Configuration, name string) float64 {
	t.Helper()
	e, ok := c.Scores.Value(name)
	if !ok {
		t.Fatalf("%s has no %s", c.Inference, name)
	}
	return e.Value
}

// The short experiments run without failures and give the values and the verdicts of the stored
// ledger.
func TestShortExperiments(t *testing.T) {
	kept := keptEntries(t)
	b := book{file: filepath.Join(t.TempDir(), "docs", "page.md"), part: true, runs: ledger.Runs{}, former: ledger.Runs{}}
	if err := errors.Join(b.run(t.Context(), append(short, "usps_3v5_grid"), t.TempDir(), t.TempDir()), b.write()); err != nil {
		t.Fatal(err)
	}
	got, err := b.formerEntries()
	if err != nil {
		t.Fatal(err)
	}
	compared := 0
	for _, e := range got {
		if e.Verdict == ledger.NotApplicable {
			continue
		}
		compared++
		i := slices.IndexFunc(kept, func(k ledger.Entry) bool { return k.Row == e.Row })
		if i < 0 || kept[i].Here != e.Here || kept[i].Verdict != e.Verdict || kept[i].Reason != e.Reason {
			t.Errorf("%v: %q, %s, %q; run make gallery if that is meant", e.Row, e.Here, e.Verdict, e.Reason)
		}
	}
	if compared < 10 {
		t.Errorf("%d rows were compared", compared)
	}
	links := regexp.MustCompile(`!\[[^\]]*\]\(([^)]*)\)`)
	pictures := 0
	for _, name := range short {
		page, err := os.ReadFile(filepath.Join(b.folder(), name+".md"))
		if err != nil {
			t.Fatal(err)
		}
		for _, link := range links.FindAllStringSubmatch(string(page), -1) {
			pictures++
			svg, err := os.ReadFile(filepath.Join(b.folder(), link[1]))
			if err != nil || !bytes.Contains(svg[:min(200, len(svg))], []byte("<svg")) {
				t.Errorf("%s: %v", link[1], err)
			} else if len(svg) > 150e3 {
				t.Errorf("%s has %d bytes", link[1], len(svg))
			}
		}
	}
	files, err := filepath.Glob(filepath.Join(b.folder(), "*.svg"))
	if err != nil || len(files) != pictures || pictures < len(short) {
		t.Errorf("%d pictures on the pages, %d files, %v", pictures, len(files), err)
	}
}

// keptEntries are the entries of docs/gallery/ledger.csv.
func keptEntries(t *testing.T) []ledger.Entry {
	t.Helper()
	entries, err := (&book{file: filepath.Join("..", "..", "docs", "gallery.md")}).formerEntries()
	if err != nil {
		t.Fatal(err)
	}
	return entries
}

// The stored ledger has every row, in the order of the ledger, each with a verdict and its reason.
func TestKeptLedger(t *testing.T) {
	rows, err := ledger.Rows()
	if err != nil {
		t.Fatal(err)
	}
	kept := keptEntries(t)
	if len(kept) != len(rows) {
		t.Fatalf("%d rows of %d", len(kept), len(rows))
	}
	for i, e := range kept {
		if e.Row != rows[i] {
			t.Errorf("%v is where %v must be", e.Row, rows[i])
		}
		value, reason := e.Here != "", e.Reason != ""
		want := map[ledger.Verdict][2]bool{ledger.Agrees: {true, false}, ledger.Differs: {true, true}, ledger.NotApplicable: {false, true}}
		if w, known := want[e.Verdict]; !known || value != w[0] || reason != w[1] {
			t.Errorf("%v: %s, here %q, reason %q", e.Row, e.Verdict, e.Here, e.Reason)
		}
	}
}

// Every row of the ledger appears once on the page, and every experiment is named there.
func TestExhibits(t *testing.T) {
	rows, err := ledger.Rows()
	if err != nil {
		t.Fatal(err)
	}
	shown := map[string]int{}
	var experiments []string
	for _, s := range sources {
		for _, x := range s.exhibits {
			for _, place := range x.places {
				shown[s.name+"|"+place]++
				if !slices.ContainsFunc(rows, func(r ledger.Row) bool { return r.Source == s.name && r.Place == place }) {
					t.Errorf("%s: no row is at %s", x.title, place)
				}
			}
			experiments = append(experiments, x.also...)
			for _, p := range x.pictures {
				experiments = append(experiments, experimentOf(p))
			}
		}
	}
	for _, r := range rows {
		if shown[r.Source+"|"+r.Place] != 1 {
			t.Errorf("%v is in %d exhibits", r, shown[r.Source+"|"+r.Place])
		}
	}
	for _, e := range keptEntries(t) {
		experiments = append(experiments, e.Experiments...)
	}
	for _, name := range gallery.Names() {
		if !slices.Contains(experiments, name) {
			t.Errorf("the page does not name %s", name)
		}
	}
}

// The page is readable: no long sentences and no long cells; its links work.
func TestPage(t *testing.T) {
	docs := filepath.Join("..", "..", "docs")
	pages, err := filepath.Glob(filepath.Join(docs, "gallery", "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	link := regexp.MustCompile(`\]\(([^)#]+)\)|(?:href|src)="([^"]+)"`)
	for _, page := range append(pages, filepath.Join(docs, "gallery.md")) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, found := range link.FindAllStringSubmatch(string(text), -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), found[1]+found[2])); err != nil && !strings.Contains(found[1], "://") {
				t.Errorf("%s: %v", page, err)
			}
		}
		for line := range strings.Lines(string(text)) {
			if strings.HasPrefix(line, "| ") {
				for _, c := range strings.Split(strings.ReplaceAll(line, `\|`, ""), " | ") {
					if n := utf8.RuneCountInString(c); n > 200 {
						t.Errorf("%s: a cell of %d characters: %s", page, n, c)
					}
				}
			}
		}
	}
	text, err := os.ReadFile(filepath.Join(docs, "gallery.md"))
	if err != nil {
		t.Fatal(err)
	}
	sentences := regexp.MustCompile(`[.!?:]\s|\n\n|\n- | \| `)
	for _, s := range sentences.Split(string(text), -1) {
		if n := len(strings.Fields(s)); n > 40 && !strings.Contains(s, "<img") {
			t.Errorf("a sentence of %d words: %s", n, s)
		}
	}
}

// The comment is converted paragraph by paragraph, code unchanged, with links from names of experiments to their pages.
func TestComment(t *testing.T) {
	got := comment([]byte("# See gallery:csato_table1, not gallery:a_bc:\n# x_1 < 2.\n#\n#     gpc-tune check gallery:a_b\n#\n# End.\nname: x\n"))
	if want := "See [gallery:csato\\_table1](csato_table1.md), not gallery:a\\_bc:\nx\\_1 &lt; 2.\n\n    gpc-tune check gallery:a_b\n\nEnd."; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestAlike(t *testing.T) {
	got := alike([]string{"#1: trial 0: ep took 4 precisions as 0", "a: b", "#2: fold 3 fit and 7 more: ep took 12 precisions as 0", "#2: fit: pl", "#3: fit: ep took 1.5e-3 precisions as 0", "#4: fit: {a: 1}", "#4: fit: {b: 1}"})
	if want := []string{"#1: trial 0: ep took 4 precisions as 0 (2 more like this)", "a: b", "#2: fit: pl", "#4: fit: {a: 1}", "#4: fit: {b: 1}"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

// On the data of GPML Figure 3.6 Laplace's method makes about the same decisions as EP, and is
// underconfident.
func TestLaplaceIsCautious(t *testing.T) {
	c := reported(t, "gpml_fig36").Configurations
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

// Automatic relevance determination switches off the copy of the first input and the irrelevant input.
func TestARDFindsTheInput(t *testing.T) {
	c := reported(t, "lecture_ard").Configurations
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
