package figure

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/testing/needs"
)

// Lengths and their values in points, computed by hand.
func TestLength(t *testing.T) {
	for text, want := range map[string]float64{"72pt": 72, "25.4mm": 72, "2.54 cm": 72, "1in": 72, "8.5pt": 8.5} {
		if got, err := Length(text); err != nil || math.Abs(got-want) > 1e-12 {
			t.Errorf("%s: %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "84", "mm", "-1mm", "0pt", "NaNmm", "Infpt", "1e9in", "84 px", "8mmpt"} {
		if got, err := Length(text); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}

// size returns an attribute of an SVG's first element, in points.
func size(t *testing.T, svg, name string) float64 {
	t.Helper()
	found := regexp.MustCompile(` ` + name + `="([0-9.]+)pt"`).FindStringSubmatch(svg)
	if found == nil {
		t.Fatalf("no %s in %.200s", name, svg)
	}
	v, err := strconv.ParseFloat(found[1], 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// A printed figure has the requested width, no text smaller than 6 pt, and no text outside it;
// without a title it has neither title nor note.
func TestPrint(t *testing.T) {
	for _, print := range []Print{{Width: 238, Font: 8, Untitled: true}, {Width: 494, Font: LeastFont}, {Width: 142, Font: 9}, {Font: 12}} {
		for _, f := range examples() {
			f.Notes = []string{"a note"}
			screen := svg(t, f)
			f.Print = print
			text := svg(t, f)
			width := size(t, text, "width")
			if print.Width > 0 && math.Abs(width-print.Width) > 1e-9 {
				t.Errorf("%s, %+v: %v pt wide", f.Name, print, width)
			}
			if print.Width == 0 && math.Abs(width-size(t, screen, "width")*print.Font/9) > 1e-9 {
				t.Errorf("%s, %+v: %v pt wide", f.Name, print, width)
			}
			scale := print.Font / 9
			for _, found := range regexp.MustCompile(`font-size:([0-9.]+)px`).FindAllStringSubmatch(text, -1) {
				if v, err := strconv.ParseFloat(found[1], 64); err != nil || v*scale < leastText-1e-9 {
					t.Fatalf("%s, %+v: text of %v pt", f.Name, print, v*scale)
				}
			}
			shown := 0
			for _, e := range elements(t, text) {
				if e.name == "text" && (strings.HasPrefix(f.Title, e.text) || e.text == "a note") {
					shown++
				}
			}
			if shown == 0 != print.Untitled {
				t.Errorf("%s, %+v: title or notes %d times", f.Name, print, shown)
			}
		}
	}
}

// A PDF is small, has the size of its SVG and the same bytes every time, and its cross-reference
// table is right.
func TestPDF(t *testing.T) {
	for _, f := range examples() {
		f.Print = Print{Width: 238, Font: 8}
		var b, again bytes.Buffer
		if err := PDF(&b, f); err != nil {
			t.Fatal(err)
		}
		if err := PDF(&again, f); err != nil || !bytes.Equal(b.Bytes(), again.Bytes()) {
			t.Errorf("%s: other bytes, %v", f.Name, err)
		}
		if b.Len() > 100_000 {
			t.Errorf("%s: %d bytes", f.Name, b.Len())
		}
		text := b.String()
		box := fmt.Sprintf("/MediaBox [0 0 238 %s]", decimal(math.Round(size(t, svg(t, f), "height")*1e4)/1e4))
		if !strings.Contains(text, box) {
			t.Errorf("%s: no %s", f.Name, box)
		}
		rows := regexp.MustCompile(`(?m)^(\d{10}) 00000 n $`).FindAllStringSubmatch(text, -1)
		for i, row := range rows {
			if at, _ := strconv.Atoi(row[1]); !strings.HasPrefix(text[at:], fmt.Sprintf("%d 0 obj\n", i+1)) {
				t.Errorf("%s: object %d is not at %d", f.Name, i+1, at)
			}
		}
		if start := strings.LastIndex(text, "xref\n0 "); len(rows) < 8 || !strings.HasSuffix(text, fmt.Sprintf("startxref\n%d\n%%%%EOF\n", start)) {
			t.Errorf("%s: %d objects", f.Name, len(rows))
		}
	}
}

// A PDF reader finds exactly the texts of the SVG, every character, and only embedded fonts.
func TestPDFAsRead(t *testing.T) {
	for _, tool := range []string{"pdftotext", "pdffonts"} {
		needs.Program(t, tool, "poppler-utils")
	}
	f := examples()[1]
	f.Title, f.Notes = "Δ−½ log₁₀ σ², λ ≤ 3: Çsató & Fokoué", []string{"π, 漢"}
	file := filepath.Join(t.TempDir(), "f.pdf")
	var b bytes.Buffer
	if err := PDF(&b, f); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, b.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	run := func(name string, args ...string) string {
		c := exec.Command(name, args...)
		var complaints bytes.Buffer
		c.Stderr = &complaints
		out, err := c.Output()
		if err != nil || complaints.Len() > 0 {
			t.Fatalf("%s: %v, %s", name, err, complaints.Bytes())
		}
		return string(out)
	}
	words := func(text string) map[string]int {
		n := map[string]int{}
		for _, w := range strings.Fields(text) {
			n[w]++
		}
		return n
	}
	read := words(run("pdftotext", "-raw", file, "-"))
	var all []string
	for _, e := range elements(t, svg(t, f)) {
		if e.name == "text" {
			all = append(all, e.text)
		}
	}
	for word := range words(strings.Join(all, " ")) {
		if read[word] == 0 && !strings.Contains(word, "漢") { // the font lacks this character
			t.Errorf("%q is not among what is read", word)
		}
	}
	for _, line := range strings.Split(strings.TrimSpace(run("pdffonts", file)), "\n")[2:] {
		if !regexp.MustCompile(`SUBSET\+LiberationSans\S* .*Identity-H +yes yes yes`).MatchString(line) {
			t.Errorf("font %q", line)
		}
	}
	if _, err := exec.LookPath("pdfinfo"); err == nil {
		if info := run("pdfinfo", file); !strings.Contains(info, f.Title) {
			t.Error(info)
		}
	}
}
