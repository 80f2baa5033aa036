package page

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

func TestGoldenContests(t *testing.T) {
	m, lines := reporttest.Rivals()
	r := reporttest.Build(t, m, lines)
	withScores(r, "information_bits", "errors")
	for format, name := range map[string]string{"text": "rivals.txt", "markdown": "rivals.md", "latex": "rivals.tex"} {
		compare(t, name, Render(t, format, r))
	}
}

// The numbers of the rivals in the golden files, computed by hand. Log losses of ln 2, 0, 0, ln 2
// over the inner folds have mean ½ ln 2 and standard error ln 2 √(1/3)/2. On the outer fold both
// cases are certain and right: 1 bit each, since the base line is ½ : ½, and Wilson's interval for
// 0 errors of 2 ends at z²/(2 + z²). In the race, after the first fold #0 has 0 bits a case, #1 has
// 1 and 0; after the second #1 has 1, 0, 1, 1: mean ¾, standard error ½/√4.
func TestContestNumbers(t *testing.T) {
	m, lines := reporttest.Rivals()
	r := reporttest.Build(t, m, lines)
	withScores(r, "information_bits", "errors", "error_rate", "log_loss", "brier", "ece", "auc", "average_precision", "balanced_accuracy",
		"sensitivity", "specificity", "f1", "matthews")
	const z = 1.959963984540054
	loss, error := math.Ln2/2, math.Ln2*math.Sqrt(1./3)/2
	want := []string{
		"race over hold_out of toy by information_bits, successive_halving {eta: 2}: #1 won, 1 of 2 configurations cut, 1 of 4 fits saved (1 job)",
		"#0 cut after fold 1: rank 2 of 2; the best 1 stay (best #1)",
		"scores in the race",
		"#1 0.75 " + fmt.Sprintf("%.4f", 0.75-z/4) + " – 1.0000 2", // at most 1 bit
		"#0 0 (1 of 2 folds)  1",
		"nested cross-validation of toy over kfold, winners by log_loss over the inner folds",
		"chosen: #0 in 1 of 1 outer folds",
		"outer scores, 2 cases of 1 of 1 folds",
		"information_bits 1.0000 1.0000 – 1.0000",
		"errors 0 ",
		"error_rate 0.0000 0.0000 – " + reports.Readable(z*z/(2+z*z)),
		"log_loss 0.0 0.0 – 0.0",
		"brier 0.0 0.0 – 0.0",
		"ece 0 ",
		"auc 1 ",
		"average_precision 1.0000 0.2065 – 1.0000", // Wilson's interval for 1 of 1
		"balanced_accuracy 1.0000 0.4389 – 1.0000", // 1 - √2 (1 - 0.206549)/2
		"sensitivity 1.0000 0.2065 – 1.0000",
		"specificity 1.0000 0.2065 – 1.0000",
		"f1 1.0000 0.3424 – 1.0000", // 2 · 0.206549/1.206549
		"matthews 1.0000 -0.7822 to 1.0000",
		"outer folds",
		"0 6 2  #0 " + reports.Readable(loss) + " #1 " + reports.Readable(2*loss) + " 1 0  -3.000 amplitude=2",
		"scores in the competitions",
		"0 #0 " + reports.Readable(loss) + " 0.0000 – " + fmt.Sprintf("%.4f", loss+z*error) + " 2 winner",
		"0 #1 " + reports.Readable(2*loss) + " " + fmt.Sprintf("%.4f – %.4f", 2*loss, 2*loss) + " 2 ",
	}
	var got []string
	for s, t := range table.Of(r, table.ForShow) {
		if s.Name != "contests" {
			continue
		}
		if t.Lead != "" {
			got = append(append(got, t.Lead), t.Notes...)
		}
		if len(t.Rows) > 0 {
			got = append(got, t.Title)
		}
		for _, row := range t.Rows {
			got = append(got, strings.Join(texts(row), " "))
		}
	}
	if !slices.Equal(got, want) {
		t.Errorf("%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// said is the content of a prose document, read back: headings, paragraphs, items and rows, each a
// list of texts.
type said [][]string

func (s *said) heading(level int, text string) {
	*s = append(*s, []string{"heading", table.Line(text)})
}
func (s *said) paragraph(text string) { *s = append(*s, []string{"paragraph", table.Line(text)}) }
func (s *said) items(texts []string) {
	for _, text := range texts {
		*s = append(*s, []string{"item", table.Line(text)})
	}
}
func (s *said) facts(facts []table.Fact) {
	for _, f := range facts {
		s.items([]string{f.Name + ": " + f.Text})
	}
}
func (s *said) row(cells []string) {
	row := []string{"row"}
	for _, cell := range cells {
		row = append(row, table.Line(cell))
	}
	*s = append(*s, row)
}
func (s *said) table(t sheet) {
	if len(t.Rows) == 0 {
		return
	}
	if t.Heading != "" {
		s.heading(3, t.Heading)
	}
	for _, note := range []string{strings.Join(t.Caption, ", "), t.Note} {
		if note != "" {
			s.paragraph(note)
		}
	}
	s.row(t.ColumnNames())
	for _, row := range t.Rows {
		s.row(texts(row))
	}
}

// proseReports returns the reports of the hand-made runs, and of the first one with names that
// contain markup of many kinds.
func proseReports(t *testing.T) map[string]*reports.Report {
	m, lines := reporttest.Run(t)
	out := map[string]*reports.Report{"toy": reporttest.Build(t, m, lines)}
	m, lines = reporttest.Rivals()
	out["rivals"] = reporttest.Build(t, m, lines)
	m, lines = reporttest.Run(t)
	names := []string{"a|b", `a\|b\`, "*x* _y_ `z`", "<b>&amp;</b>", "![i](http://e.org) www.e.org", "[0] 50 % of $x^2$ {a}~#", "* star", "# heading", "- item", "1. one", "---", "'' `` \"q\"", "new\nline\t\x07 é −", "-1.5e-07 a_b", `\input{x}`}
	next := 0
	name := func() string { next++; return fmt.Sprint(names[next%len(names)], " ", next) }
	m.Experiment, m.Source = name(), name()
	for _, text := range names {
		m.Warnings = append(m.Warnings, cause.NoEffect.New("%s", text))
	}
	for i := range m.Configurations {
		c := &m.Configurations[i]
		c.DataHash, c.Mean, c.Preprocess = name(), record.Plain(name()), name()
		c.Likelihood, c.Inference, c.Tune = record.Plain(name()), record.Plain(name()), name()
		c.Classes = []string{name(), name()}
		for j := range c.Hyperparameters {
			c.Hyperparameters[j].Name += name()
		}
	}
	for _, l := range lines {
		if l.Trial != nil && !l.Trial.Failure.IsZero() {
			l.Trial.Failure.Text = name()
		}
	}
	out["hostile"] = reporttest.Build(t, m, lines)
	return out
}

// A Markdown reader that reports every unescaped markup character as an error reads what the
// document says.
func TestMarkdown(t *testing.T) {
	sign := regexp.MustCompile("\\\\([!-/:-@[-`{-~])|([`*_\\[\\]<>|~&$]|://|www\\.)")
	for name, r := range proseReports(t) {
		read := func(text string) string {
			if strings.HasPrefix(text, "# ") || strings.HasPrefix(text, "- ") || regexp.MustCompile(`^([0-9]+[.)] |[-=+#]+$)`).MatchString(text) {
				t.Errorf("%s: %q begins a block", name, text)
			}
			return sign.ReplaceAllStringFunc(text, func(s string) string {
				if s[0] != '\\' {
					t.Errorf("%s: markup in %q", name, text)
				}
				return strings.TrimPrefix(s, `\`)
			})
		}
		var got, want said
		newDocument(r, table.ForPages, longestSummary, longestTable).write(&want)
		for text := range strings.Lines(string(Render(t, "markdown", r))) {
			text = strings.TrimSuffix(text, "\n")
			heading := regexp.MustCompile("^#{1,3} (.*)$").FindStringSubmatch(text)
			switch item, isItem := strings.CutPrefix(text, "- "); {
			case text == "", strings.HasPrefix(text, "| --"):
			case heading != nil:
				if strings.HasSuffix(heading[1], " #") {
					t.Errorf("%s: the sign at the end of %q is cut off", name, text)
				}
				got.heading(0, read(heading[1]))
			case isItem:
				got.items([]string{read(item)})
			case text[0] == '|':
				var cells []string
				for _, cell := range regexp.MustCompile(`((?:[^|\\]|\\.)*)\|`).FindAllStringSubmatch(text[1:], -1) {
					cells = append(cells, read(strings.TrimSpace(cell[1])))
				}
				got.row(cells)
			default:
				got.paragraph(read(text))
			}
		}
		same(t, name, got, want)
	}
}

// Of many configurations a document has the details of the best, and tells how many are left out.
func TestProseTellsWhatIsLeftOut(t *testing.T) {
	for more, want := range map[int]string{0: "", 1: "1 more configuration is", 2: "2 more configurations are"} {
		m, lines := large(mostDetailed+more, 1)
		text := string(Render(t, "markdown", reporttest.Build(t, m, lines)))
		if n := len(regexp.MustCompile(`(?m)^## \\?#`).FindAllString(text, -1)); n != mostDetailed {
			t.Errorf("details of %d configurations", n)
		}
		want += " not here, none better than these: gpc-tune show DIR --configuration N shows #N"
		if told := strings.Contains(text, "\n"+want); told != (more > 0) {
			t.Errorf("with %d more: %q is there: %v", more, want, told)
		}
	}
}

// An alert has the first items, and tells how many more there are and where.
func TestAlertsTellWhatIsLeftOut(t *testing.T) {
	a := alert{Rest: "on the page"}
	a.add(-1, "all")
	a.add(3, slices.Repeat([]string{"one"}, table.MostListed)...)
	want := append([]string{"all"}, slices.Repeat([]string{"#3 one"}, table.MostListed)...)
	if got := a.texts(); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	a.add(4, slices.Repeat([]string{"two"}, table.MostListed+2)...)
	if got := a.texts(); got[len(got)-1] != "and 2 more, on the page" {
		t.Errorf("%q", got[len(got)-1])
	}
}

// same compares two documents line by line.
func same(t *testing.T, name string, got, want said) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		if i >= len(got) || i >= len(want) || !slices.Equal(got[i], want[i]) {
			t.Fatalf("%s, line %d: %q, want %q", name, i, got[min(i, len(got)-1)], want[min(i, len(want)-1)])
		}
	}
}

func TestPlain(t *testing.T) {
	for _, c := range []struct{ text, markdown, latex string }{
		{"1. a|b #", `1\. a\|b \#`, `1. a\textbar{}b \#`},
		{"- x_1 & 50 %", `\- x\_1 \& 50 %`, `- x\_1 \& 50 \%`},
		{"-0.25 1e-07 -3e+300 2e5 1e-07x", "-0.25 1e-07 -3e+300 2e5 1e-07x", `$-0.25$ $1\times10^{-7}$ $-3\times10^{300}$ 2e5 1e-07x`},
		{"a\u202eb\u2066", `a\\u202eb\\u2066`, `a\textbackslash{}u202eb\textbackslash{}u2066`},
		{"## a\n\tb\x00c", `\## a b c`, `\#\# a b c`},
		{"0.1 … 0.9 ± é", "0.1 … 0.9 ± é", `0.1 \ldots{} 0.9 $\pm$ é`},
		{`\[x]*--"`, `\\\[x\]\*--"`, `\textbackslash{}{[}x{]}{*}-{}-\symbol{34}`},
	} {
		if got := plainMarkdown(c.text); got != c.markdown {
			t.Errorf("%q is %q in Markdown, want %q", c.text, got, c.markdown)
		}
		if got := plainLaTeX(c.text); got != c.latex {
			t.Errorf("%q is %q in LaTeX, want %q", c.text, got, c.latex)
		}
	}
}

var texts = table.Texts
