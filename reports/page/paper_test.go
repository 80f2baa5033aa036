package page

import (
	"bytes"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/testing/needs"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
	"github.com/gpc-tune/gpc-tune/reports/table"
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

	program := needs.Program(t, "pdflatex", "texlive-latex-recommended and texlive-science")
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

// Columns of plain numbers are aligned by the digits on both sides of the point and the sign; texts,
// other notations and columns without any number are not.
func TestAlignedColumns(t *testing.T) {
	for want, cells := range map[string][]any{
		"2.0": {3, 12}, "-3.2": {reports.Number(-1.25), 100}, "1.1": {nil, reports.Number(0.5)},
		"": {"1", "12"}, " ": {reports.Number(math.NaN()), nil}, "  ": {nil, nil}, "   ": {1, "a"},
		"    ": {1, reports.Number(1e-9)},
	} {
		var rows [][]table.Cell
		for _, c := range cells {
			rows = append(rows, table.Row(c))
		}
		if got := aligned(rows, 0); got != strings.TrimSpace(want) {
			t.Errorf("%v: %q, want %q", cells, got, want)
		}
	}
}

func count(digits string) int {
	n, _ := strconv.Atoi(digits)
	return n
}
