package page

import (
	"bufio"
	"fmt"
	"strings"

	"github.com/gpc-tune/gpc-tune/internal/pattern"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// longestPrinted is the largest number of rows of a table on paper.
const longestPrinted = 40

type latex struct {
	*bufio.Writer
	prefix string         // prefix of labels
	labels map[string]int // number of uses of each label
}

func (w *latex) heading(level int, text string) {
	fmt.Fprintf(w, "\n\\%ssection*{%s}\n", strings.Repeat("sub", level-1), plainLaTeX(text))
}

func (w *latex) paragraph(text string) { fmt.Fprintf(w, "\n%s\n", plainLaTeX(text)) }

func (w *latex) facts(facts []table.Fact) {
	if len(facts) == 0 {
		return
	}
	fmt.Fprint(w, "\n\\begin{description}\n\\sloppy\n")
	for _, f := range facts {
		fmt.Fprintf(w, "\\item[%s] %s\n", plainLaTeX(f.Name), plainLaTeX(f.Text))
	}
	fmt.Fprint(w, "\\end{description}\n")
}

// caption returns the caption of a table with this heading.
func (s sheet) caption(heading string) string {
	if len(s.Caption) > 0 {
		heading += ": " + strings.Join(s.Caption, ", ")
	}
	if s.Note != "" {
		heading += "; " + s.Note
	}
	return heading
}

// label returns a unique label for a table.
func (w *latex) label(heading string) string {
	label := w.prefix
	if heading = slug(heading); heading != "" {
		label += ":" + heading
	}
	if w.labels[label]++; w.labels[label] > 1 {
		label = fmt.Sprintf("%s:%d", label, w.labels[label])
	}
	return label
}

var (
	latexSigns = strings.NewReplacer(`\`, `\textbackslash{}`, "{", `\{`, "}", `\}`, "&", `\&`, "%", `\%`, "$", `\$`,
		"#", `\#`, "_", `\_`, "~", `\textasciitilde{}`, "^", `\textasciicircum{}`,
		"<", `\textless{}`, ">", `\textgreater{}`, "|", `\textbar{}`, `"`, `\symbol{34}`, "`", `\symbol{96}`,
		"'", "'{}", "--", "-{}-", "[", "{[}", "]", "{]}", "*", "{*}",
		"−", "$-$", "±", `$\pm$`, "≈", `$\approx$`, "…", `\ldots{}`, "–", "--")
	printedNumber = pattern.Of(`^(-?)([0-9]+(?:\.[0-9]+)?)(?:e([+-])0*([0-9]+))?$`)
	notInLabels   = pattern.Of(`[^A-Za-z0-9.]+`)
)

// plainLaTeX escapes a text for LaTeX, so that it is printed unchanged: without commands,
// ligatures, or options of a \\ or \item before it. Numbers have a minus sign, and powers of ten
// instead of an e.
func plainLaTeX(text string) string {
	words := strings.Split(table.Line(text), " ")
	for i, word := range words {
		number := printedNumber().FindStringSubmatch(word)
		switch {
		case number == nil:
			words[i] = latexSigns.Replace(word)
		case number[4] != "":
			words[i] = fmt.Sprintf(`$%s%s\times10^{%s%s}$`, number[1], number[2],
				strings.TrimPrefix(number[3], "+"), number[4])
		case number[1] != "":
			words[i] = "$" + word + "$"
		}
	}
	return strings.Join(words, " ")
}

// slug is a text as part of a label.
func slug(text string) string { return strings.Trim(notInLabels().ReplaceAllString(text, "-"), "-") }
