package page

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// The tables of a paper have complete rows, every column of numbers is wide enough for its numbers,
// and pdfLaTeX, if installed, sets them on at most two pages.
func TestPaper(t *testing.T) {
	for name, r := range proseReports(t) {
		text := string(Render(t, "latex", r))
		begin, column := regexp.MustCompile(`^\\begin\{longtable\}\{(.*)\}$`), regexp.MustCompile(`S\[table-format=(-?)([0-9]+)\.([0-9]+)\]|[lr]`)
		var columns [][]string
		for line := range strings.Lines(text) {
			line = strings.TrimSuffix(line, "\n")
			if found := begin.FindStringSubmatch(line); found != nil {
				columns = column.FindAllStringSubmatch(found[1], -1)
			}
			row, isRow := strings.CutSuffix(line, ` \\`)
			if !isRow || strings.HasPrefix(row, "{") {
				continue
			}
			cells := strings.Split(regexp.MustCompile(`(^|[^\\])&`).ReplaceAllString(row, "$1\x00"), "\x00")
			if len(cells) != len(columns) {
				t.Fatalf("%s: %d cells in %d columns: %s", name, len(cells), len(columns), line)
			}
			for i, cell := range cells {
				cell = strings.TrimSpace(cell)
				if columns[i][2] == "" || cell == "" {
					continue
				}
				whole, part, _ := strings.Cut(strings.TrimPrefix(cell, columns[i][1]), ".")
				if digits := regexp.MustCompile(`^[0-9]*$`); !digits.MatchString(whole+part) || len(whole) > count(columns[i][2]) || len(part) > count(columns[i][3]) {
					t.Errorf("%s: %q has no room in %s", name, cell, columns[i][0])
				}
			}
		}
		if strings.Count(text, `\begin{longtable}`) != strings.Count(text, `\end{longtable}`) {
			t.Errorf("%s: a table does not end", name)
		}
	}

	program, err := exec.LookPath("pdflatex")
	if err != nil {
		t.Skip("needs pdflatex, with booktabs, longtable and siunitx, to compile report.tex: install them and run it there")
	}
	folder := t.TempDir()
	m, lines := reporttest.Rivals()
	text := "\\documentclass[a4paper]{article}\\usepackage{booktabs,longtable,siunitx}\\begin{document}\n" +
		string(Render(t, "latex", reporttest.Build(t, m, lines)))
	m, lines = regressionRun()
	text += string(Render(t, "latex", reporttest.Build(t, m, lines))) + "\\end{document}\n"
	if err := os.WriteFile(filepath.Join(folder, "paper.tex"), []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	c := exec.Command(program, "-interaction=nonstopmode", "-halt-on-error", "paper.tex")
	c.Dir = folder
	said, err := c.CombinedOutput()
	if err != nil || !regexp.MustCompile(`\([12] pages?,`).Match(said) || bytes.Contains(said, []byte("Overfull")) {
		t.Errorf("%v\n%s", err, said)
	}
}

func count(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}
