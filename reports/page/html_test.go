package page

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/xml"
	"errors"
	"fmt"
	"html"
	"io"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// large is a run with the given number of configurations, alternately of random points and of
// restarts, each with the given number of trials.
func large(configurations, trials int) (m record.Manifest, lines []record.Line) {
	m = record.Manifest{Experiment: "large", Formats: []string{"html"}}
	for c := range configurations {
		m.Configurations = append(m.Configurations, record.Configuration{Dataset: "d", Label: record.Label{Kernel: reporttest.Declared("se"), Likelihood: reporttest.Declared("probit"), Inference: reporttest.Declared("laplace")}, Classes: []string{"a", "b"}, Tune: []string{"random", "bfgs"}[c%2],
			Hyperparameters: []record.Hyperparameter{{Name: "amplitude", Theta: "log_amplitude"}, {Name: "length_scale", Theta: "log_length_scale"}},
			Studies:         []record.Study{{Key: fmt.Sprint(c), Evaluation: "train", Train: 9}}})
		for i := range trials {
			x, y := float64(i*7919%trials)/float64(trials), float64(i*104_729%trials)/float64(trials)
			end := []record.Number{record.Number(x), record.Number(y)}
			trial := &record.Trial{Configuration: c, Index: i, Status: "evaluated", Evaluations: 1, Points: []record.Point{{Theta: end, Natural: end, Value: record.Number(-x * x), Gradient: record.Number(y)}}}
			if c%2 == 1 {
				trial.Start, trial.Status = end, "converged"
			}
			if i%10 == 3 {
				trial.Points, trial.Failure = nil, cause.NotPositiveDefinite.New("the covariance is not positive definite at %v", x)
			}
			lines = append(lines, record.Line{Key: fmt.Sprintf("%d-%d", c, i), Trial: trial})
		}
	}
	return m, lines
}

// crowd is the run of two rivals with many more of them, each with the predictions of one of the two.
func crowd(configurations int) (record.Manifest, []record.Line) {
	m, all := reporttest.Rivals()
	m.Contests = nil
	two, lines := m.Configurations, all
	for c := 2; c < configurations; c++ {
		of := two[c%2]
		of.Kernel = reporttest.Declared(fmt.Sprintf("se(length_scale: %d)", c))
		m.Configurations = append(m.Configurations, of)
		for _, line := range all {
			if line.Fit != nil && line.Fit.Configuration == c%2 {
				fit := *line.Fit
				fit.Configuration = c
				lines = append(lines, record.Line{Key: fmt.Sprintf("%d of %s", c, line.Key), Fit: &fit})
			}
		}
	}
	return m, lines
}

// parsed is the content of a page.
type parsed struct {
	text     string   // texts of all elements, one per line
	headings []string // headings of all levels, including folded parts
	tables   map[string][][]string
	links    []string
}

// parsePage reads a page as XML, except for the elements without an end tag; this also tests that
// all other elements end where they should. Tables are named by the heading above and the number of
// the configuration: "#0 restarts".
func parsePage(t *testing.T, page []byte) (p parsed) {
	t.Helper()
	page = regexp.MustCompile("(?s)<(style|script)>.*?</(style|script)>").ReplaceAll(page, nil)
	d := xml.NewDecoder(bytes.NewReader(page))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	p.tables = map[string][][]string{}
	var open []string
	configuration, heading, cell := "", "", ""
	for {
		token, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			cell = ""
			for _, a := range e.Attr {
				if slices.Contains([]string{"href", "src", "srcset", "action", "data"}, a.Name.Local) {
					p.links = append(p.links, a.Value)
				}
			}
			if e.Name.Local == "tr" {
				p.tables[heading] = append(p.tables[heading], nil)
			}
			if e.Name.Local != "meta" {
				open = append(open, e.Name.Local)
			}
		case xml.CharData:
			cell += string(e)
			p.text += strings.TrimSpace(string(e)) + "\n"
		case xml.EndElement:
			if len(open) == 0 || open[len(open)-1] != e.Name.Local {
				t.Fatalf("%s ends within %v", e.Name.Local, open)
			}
			open = open[:len(open)-1]
			cell = strings.TrimSpace(cell)
			switch e.Name.Local {
			case "summary", "h1", "h2", "h3":
				p.headings = append(p.headings, cell)
				if e.Name.Local == "summary" && strings.HasPrefix(cell, "#") {
					configuration = strings.Fields(cell)[0] + " "
				}
				heading = configuration + cell
			case "td", "th":
				rows := p.tables[heading]
				rows[len(rows)-1] = append(rows[len(rows)-1], cell)
			}
		}
	}
	if len(open) > 0 {
		t.Fatalf("%v do not end", open)
	}
	return p
}

// The answer comes first, failures and warnings after the results, and the tables have the numbers
// that TestNumbers computes.
func TestHTML(t *testing.T) {
	m, lines := reporttest.Run(t)
	r := reporttest.Build(t, m, lines)
	p := parsePage(t, Render(t, "html", r))
	want := []string{"toy", "Answer", "Results", "Failures: " + table.Failures(r), "Warnings: 4 (of all fits, chosen or not)", "Figures"}
	got := slices.DeleteFunc(p.headings, func(h string) bool { return !slices.Contains(want, h) })
	if !slices.Equal(got, want) || !strings.Contains(p.text, "Incomplete: at least 2 jobs are missing; resume the run to complete it") {
		t.Errorf("the page begins with %q", got)
	}
	for _, text := range []string{"test trial 2: panic: oh", "train trial 1 at log_length_scale=3: EP did not converge", "test: covariance is not positive definite",
		"trial 1 and 1 more: amplitude is at its lower bound", "kfold fold 1 fit: 3 sites were floored", "column 3 is constant"} {
		if at := strings.Index(p.text, text); at < strings.Index(p.text, "log evidence") {
			t.Errorf("%q is not after the results", text)
		}
	}
	summary := table.Summary(r)
	summary.MoveConstantsToCaption()
	var names []string
	for _, c := range summary.Columns {
		names = append(names, c.Name)
	}
	results := p.tables["Results"]
	if len(results) != 1+len(summary.Rows) || len(results[0]) != len(names) || !slices.Equal(results[0][:4], []string{"#", "bits", "likelihood", "inference"}) {
		t.Fatalf("results: %q", results)
	}
	for j, name := range results[0] { // the score that decides is the second column, then follow the words about the models
		for i, row := range summary.Rows {
			if want := texts(row)[slices.Index(names, name)]; results[1+i][j] != want {
				t.Errorf("results: %s of row %d is %q, want %q", name, i, results[1+i][j], want)
			}
		}
	}
	for heading, want := range map[string]string{
		"#0 hyperparameters": `[[hyperparameter value] [length_scale 2] [amplitude 4] [noise 0.5]]`,
		"#0 restarts": `[[trial status evaluations log_evidence gradient start length_scale start amplitude start noise end length_scale end amplitude end noise remark]` +
			` [0 converged 12 -3.250 1e-07 1 1 0.5000 2 4 0.5000 chosen] [1 converged 9 -3.500 2e-07 3 1 0.5000 1 1 0.5000 ] [2 failed 0   5 1 0.5000    ] [3 converged 15 -3.250 3e-07 7 1 0.5000 2 4 0.5000 ]]`,
		"#0 decisions, test (rows: true classes)": `[[class F M] [F 1 0] [M 2 1]]`,
		"#1 best points": `[[best value point length_scale] [chosen by log_evidence of 3 of 4 points -4 2 7.389] [held-out information_bits of 2 of 4 points 0.75 1 2.718]` +
			` [held-out errors of 2 of 4 points 1 1 2.718] [held-out error_rate of 2 of 4 points 0.25 1 2.718] [held-out auc of 1 of 4 points 0.75 0 1]]`,
		"#1 points": `[[point log_evidence length_scale information_bits errors error_rate auc n remark] [0 -6.000 1.00 0.5000 2 0.5000 0.75 4 ] [1 -5.000 2.72 0.7500 1 0.2500  4 ] [2 -4.000 7.39      chosen] [3  20.09      ]]`,
	} {
		if got := fmt.Sprint(p.tables[heading]); got != want {
			t.Errorf("%s: %s, want %s", heading, got, want)
		}
	}
	var scores []string // scores of the first configuration, with their intervals
	for _, row := range p.tables["#0 scores"][1:] {
		scores = append(scores, strings.Join(row, " "))
	}
	if !slices.Contains(scores, "error_rate 0.5000 0.1500 – 0.8500") {
		t.Errorf("scores %q", scores)
	}
	provenance := p.text[strings.LastIndex(p.text, "Provenance"):]
	for _, text := range []string{"gpc-tune run FILE.yaml", "go1.26", "amd64", "toy d", "\nk\n"} {
		if !strings.Contains(provenance, text) {
			t.Errorf("the provenance lacks %q: %q", text, provenance)
		}
	}
}

// If every remark is for information only, there are notes and no warnings.
func TestNotesAreNoWarnings(t *testing.T) {
	m, lines := reporttest.Rivals()
	for _, test := range []struct {
		warnings []cause.Notice
		want     string
	}{
		{nil, "[]"}, {[]cause.Notice{cause.Damped.New("ep")}, "[calm Notes: 1 (of all fits, chosen or not)]"}, {[]cause.Notice{cause.Unconverged.New("ep")}, "[warn Warnings: 1 (of all fits, chosen or not)]"},
	} {
		lines[0].Fit.Warnings = test.warnings
		got := []string{}
		for _, a := range alerts(reporttest.Build(t, m, lines)) {
			got = append(got, a.Class+" "+a.Title)
		}
		if fmt.Sprint(got) != test.want {
			t.Errorf("%q is told as %q, want %s", test.warnings, got, test.want)
		}
	}
}

// The page contains all figures in parts: every panel, and every legend sample with its name.
func TestHTMLFigures(t *testing.T) {
	m, lines := reporttest.Run(t)
	r := reporttest.Build(t, m, lines)
	page := string(Render(t, "html", r))
	parts, names := 0, 0
	for _, f := range picture.All(r) {
		if !strings.Contains(page, `<figure id="figure-`+f.Name+`">`) {
			t.Errorf("%s is not on the page", f.Name)
		}
		panels, keys, _ := f.Parts()
		parts, names = parts+len(panels)+len(keys), names+len(keys)
	}
	if got := strings.Count(page, "<svg "); parts < 3 || got != parts {
		t.Errorf("the page has %d parts of figures, want %d", got, parts)
	}
	if got := len(regexp.MustCompile(`(?s)<span><svg .*?</svg>\s*[^<\s]`).FindAllString(page, -1)); got != names {
		t.Errorf("the page has %d names in legends, want %d", got, names)
	}
}

// User-given names appear as text only, and the page loads nothing: it has no address, no attribute
// that a browser follows by itself, and a policy that forbids loading and allows the page's one
// script.
func TestHTMLIsClosed(t *testing.T) {
	m, lines := reporttest.Run(t)
	m.Experiment, m.Source, m.Settings, m.Warnings = injected, injected, []string{injected}, []cause.Notice{cause.NoEffect.New("%s", injected)}
	for i := range m.Configurations {
		c := &m.Configurations[i]
		c.Dataset, c.DataHash, c.Preprocess, c.Tune = injected, injected, injected, injected
		c.Kernel, c.Mean, c.Inference = record.Plain(injected), record.Plain(injected), record.Plain(injected)
		c.Classes = []string{injected, injected + "2"}
		for j := range c.Hyperparameters {
			c.Hyperparameters[j].Name += injected
		}
	}
	for _, line := range lines {
		if line.Trial != nil && !line.Trial.Failure.IsZero() {
			line.Trial.Failure.Text = injected
		}
	}
	page := Render(t, "html", reporttest.Build(t, m, lines))
	p := parsePage(t, page)
	if n := strings.Count(p.text, injected); n < 40 {
		t.Errorf("the name is shown %d times", n)
	}
	script := regexp.MustCompile("(?s)<script>(.*?)</script>").FindAllSubmatch(page, -1)
	if len(script) != 1 || bytes.Count(page, []byte("<script")) != 1 {
		t.Fatalf("the page has %d scripts", bytes.Count(page, []byte("<script")))
	}
	hash := sha256.Sum256(script[0][1])
	policy := html.EscapeString("default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-" + base64.StdEncoding.EncodeToString(hash[:]) + "'")
	if !strings.Contains(strings.ReplaceAll(string(page), "&#43;", "+"), `<meta http-equiv="Content-Security-Policy" content="`+policy+`">`) {
		t.Errorf("the page does not have the policy %s", policy)
	}
	for _, address := range []string{"://", "url(", "@import", "javascript:"} {
		if bytes.Contains(page, []byte(address)) {
			t.Errorf("the page has %q", address)
		}
	}
	for _, link := range p.links {
		if !strings.HasPrefix(link, "#") {
			t.Errorf("the page refers to %q", link)
		}
	}
}

// The page shows the best or the first rows of long tables and says where the rest is; of many
// configurations it shows the first.
func TestHTMLIsCut(t *testing.T) {
	const trials = 1000
	m, lines := large(2, trials)
	r := reporttest.Build(t, m, lines)
	p := parsePage(t, Render(t, "html", r))
	for _, heading := range []string{"#0 points (200 of 900)", "#1 restarts (200 of 1000)"} {
		rows := p.tables[heading]
		if len(rows) != 1+longestTable {
			t.Fatalf("%s: %d rows", heading, len(rows))
		}
		column := slices.Index(rows[0], "log_evidence")
		for i, row := range rows[1:] { // the values are -(k/1000)²; every k = 7 modulo 10 failed
			k := i + (i+2)/9
			want := reports.Decimals(-float64(k)*float64(k)/trials/trials, 3)
			if row[column] != want {
				t.Fatalf("%s: row %d has the value %s, want %s", heading, i, row[column], want)
			}
		}
	}
	for _, note := range []string{"the best 200 of 900 rows; trials.csv has all of them", "the best 200 of 1000 rows; trials.csv has all of them"} {
		if !strings.Contains(p.text, note) {
			t.Errorf("the page does not say %q", note)
		}
	}
	if !strings.Contains(p.text, "Failures: "+table.Failures(r)+"\n") || !strings.Contains(p.text, "and 160 more, in results.json") {
		t.Error("failures are left out without a word")
	}

	m, lines = large(mostDetailed+20, 2)
	p = parsePage(t, Render(t, "html", reporttest.Build(t, m, lines)))
	if n := len(p.tables["Results"]); n != 1+mostDetailed+20 {
		t.Errorf("%d rows of results", n)
	}
	if !strings.Contains(p.text, "20 more, none better than these, are not on this page: gpc-tune show DIR --configuration N shows #N") || slices.Contains(p.links, fmt.Sprint("#c", mostDetailed)) || !slices.Contains(p.links, fmt.Sprint("#c", mostDetailed-1)) {
		t.Error("the first configurations are linked to, and that others are not is said")
	}
}

// A table of as many rows as there is room for is whole, and in its order; of the tables only the
// results may have more rows than others.
func TestTablesThatJustFit(t *testing.T) {
	of := table.Table{Columns: table.Columns("log_evidence")}
	for i := range 3 {
		of.Add(reports.Number(i))
	}
	for most, want := range map[int]string{2: "the first 2 of 3 rows; results.json has all of them", 3: "", 4: ""} {
		s := newSheet(table.Section{}, of, most, "")
		if s.Note != want || len(s.Rows) != min(most, 3) {
			t.Errorf("%d rows in a table of at most %d, with the note %q", len(s.Rows), most, s.Note)
		}
	}
	m, lines := large(longestTable+1, 1)
	p := parsePage(t, Render(t, "html", reporttest.Build(t, m, lines)))
	if n := len(p.tables["Results"]); n != 1+longestTable+1 {
		t.Errorf("%d rows of results", n)
	}
}

// Panels are in pairs if there are two columns of them and more than one row.
func TestPairsOfPanels(t *testing.T) {
	for _, c := range []struct {
		columns, panels int
		pairs           bool
	}{{1, 4, false}, {2, 2, false}, {2, 3, true}, {2, 4, true}, {3, 6, false}} {
		all, _ := drawings([]figure.Figure{{Columns: c.columns, Panels: make([]figure.Panel, c.panels)}})
		if len(all) != 1 || all[0].Pairs != c.pairs {
			t.Errorf("%+v: %+v", c, all)
		}
	}
}

// A figure of more than 1 MiB is not on the page. Neither are figures beyond 4 MiB in all.
func TestLargeFiguresAreLeftOut(t *testing.T) {
	of := func(name int) figure.Figure {
		return figure.Figure{Panels: []figure.Panel{{Layers: []figure.Layer{figure.Mark{Name: strings.Repeat("x", name)}}}}}
	}
	one, _ := drawings([]figure.Figure{of(1e5)})
	fit := 4 << 20 / (len(one[0].Panels[0]) + len(one[0].Keys[0].Sample))
	if all, left := drawings(slices.Repeat([]figure.Figure{of(1e5)}, fit+2)); len(all) != fit || left != 2 {
		t.Errorf("%d drawn and %d left out, want %d and 2", len(all), left, fit)
	}
	if all, left := drawings([]figure.Figure{of(1 << 20), of(1)}); len(all) != 1 || left != 1 || len(all[0].Keys[0].Name) != 1 {
		t.Errorf("of a figure that is too large and another %d are drawn and %d left out", len(all), left)
	}
}

// injected is a name that contains a script.
const injected = `<script>window.injected = 1</script>&"'`
