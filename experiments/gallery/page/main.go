// Page runs the gallery's experiments and writes docs/gallery.md, what others published beside what
// comes out here, and in docs/gallery the figures that the files ask for.
//
// Every number on it is a result of the runs or from the published section of a file. Where the two
// differ by more than the published one is uncertain, the page has the note of the file that says
// why; a file that does not say it is an error.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gpc-tune/gpc-tune/experiments/gallery"
	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/reports"
	pages "github.com/gpc-tune/gpc-tune/reports/page"
	"github.com/gpc-tune/gpc-tune/reports/picture"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

func main() {
	log.SetFlags(0)
	out := flag.String("o", "docs/gallery.md",
		"the page to write, its figures in a folder beside it; - for standard output, without figures")
	digits := flag.String("digits", ".", "folder of the USPS digits, as gpc-tune data usps writes them; without, "+
		"the experiments on them are left out")
	runs := flag.String("runs", "", "folder to keep the runs in, which another start goes on with; default: a "+
		"temporary one")
	full := flag.Bool("full", false, "the experiments that are too long to be run with the others, instead of these")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: page [flags] [experiment …]")
		flag.PrintDefaults()
	}
	flag.Parse()
	names := flag.Args()
	if len(names) == 0 {
		names = slices.DeleteFunc(gallery.Names(), func(name string) bool { return gallery.Long(name) != *full })
	}
	if *runs == "" {
		dir, err := os.MkdirTemp("", "gallery")
		if err != nil {
			log.Fatal(err)
		}
		defer os.RemoveAll(dir)
		*runs = dir
	}
	p := page{file: *out, target: "gallery", names: names, figures: map[string][]byte{}}
	if *full {
		p.target += "-full"
	}
	for _, name := range names {
		start := time.Now()
		err := p.add(context.Background(), name, *digits, filepath.Join(*runs, name))
		log.Printf("%s: %v", name, time.Since(start).Round(time.Second/10))
		if err != nil {
			p.faults = append(p.faults, fmt.Errorf("%s: %w", name, err))
		}
	}
	if err := errors.Join(append(p.faults, p.write())...); err != nil {
		log.Fatal(err)
	}
}

// page is what has been run so far.
type page struct {
	file               string            // that it is written to; -: standard output
	target             string            // of make, that writes it
	names              []string          // of the experiments
	figures            map[string][]byte // by the names of their files
	overview, sections bytes.Buffer
	faults             []error
}

// folder is where the figures are, beside the page.
func (p *page) folder() string { return strings.TrimSuffix(p.file, filepath.Ext(p.file)) }

// link is the way from the page to a file.
func (p *page) link(file string) (string, error) {
	to, err := filepath.Abs(file)
	if err != nil {
		return "", err
	}
	from, err := filepath.Abs(filepath.Dir(p.file))
	if err != nil {
		return "", err
	}
	to, err = filepath.Rel(from, to)
	return filepath.ToSlash(to), err
}

// write writes the page and its figures, and removes those that are no more.
func (p *page) write() error {
	if p.file == "-" {
		_, err := os.Stdout.Write(p.text())
		return err
	}
	old, err := filepath.Glob(filepath.Join(p.folder(), "*.svg"))
	for _, name := range old {
		err = errors.Join(err, os.Remove(name))
	}
	if err := errors.Join(err, os.MkdirAll(p.folder(), 0o777)); err != nil {
		return err
	}
	for name, svg := range p.figures {
		if err := os.WriteFile(filepath.Join(p.folder(), name), svg, 0o666); err != nil {
			return err
		}
	}
	return os.WriteFile(p.file, p.text(), 0o666)
}

func (p *page) text() []byte {
	return slices.Concat([]byte(`# The gallery

Published experiments, one file each, with what was published beside what comes out here. `+"`make "+p.target+"`"+
		` writes this page;
no number on it is typed by hand. A published figure is uncertain by half a unit of its last digit, unless its `+
		`file says otherwise;
where ours is further from it, the file says why. `+"`gpc-tune run gallery:NAME`"+
		` runs one of them, in about the time given on one processor.

| experiment | what it is | published figures | within their uncertainty | takes | remarks |
| --- | --- | ---: | ---: | ---: | --- |
`), p.overview.Bytes(), p.sections.Bytes())
}

// add runs an experiment and writes its section.
func (p *page) add(ctx context.Context, name, digits, dir string) error {
	text, err := gallery.Read(name)
	if err != nil {
		return err
	}
	file, err := p.link(filepath.Join("experiments", "gallery", name+".yaml"))
	if err != nil {
		return err
	}
	fmt.Fprintf(&p.sections, "\n## %s\n\n%s\n\n[The file](%s); `gpc-tune run gallery:%s`.\n", name, p.comment(text),
		file, name)
	summary := [4]string{} // published, within, takes, remarks
	defer func() {
		fmt.Fprintf(&p.overview, "| [%s](#%s) | %s | %s |\n", name, name, p.linked(gallery.Doc(text)),
			strings.Join(summary[:], " | "))
	}()
	report, times, err := result(ctx, name, digits, dir)
	var absent absent
	if errors.As(err, &absent) {
		summary[3] = "not run: " + cell(absent.Error())
		fmt.Fprintf(&p.sections, "\nNot run: %v.\n", absent)
		return nil
	}
	if err != nil {
		summary[3] = "failed"
		fmt.Fprintf(&p.sections, "\nFailed: %s\n", cell(err.Error()))
		return err
	}
	summary[2] = cell(about(times.Seconds))
	err = p.draw(name, report)
	published, within, faults := compare(report)
	if n := len(published.Rows); n > 0 {
		summary[0], summary[1] = strconv.Itoa(n), strconv.Itoa(within)
		p.table(published)
	}
	if t, ok := table.Pivot(report, times); ok {
		p.table(t)
	} else if len(report.Configurations) > 0 { // an illustration is its figures
		p.table(table.Summary(report))
	}
	warnings, failures := p.remarks(report)
	if warnings > 0 {
		summary[3] = counted(warnings, "warning")
	}
	if failures > 0 {
		summary[3] = strings.TrimSuffix("**"+counted(failures, "failure")+"**, "+summary[3], ", ")
		faults = append(faults, errors.New(counted(failures, "failure")))
	}
	return errors.Join(append(faults, err)...)
}

// remarks writes what failed and the warnings of a report, and counts them.
func (p *page) remarks(report *reports.Report) (warned, failures int) {
	warnings := slices.Clone(report.Warnings)
	for i, c := range report.Configurations {
		for _, w := range c.Warnings {
			warnings = append(warnings, fmt.Sprintf("#%d: %s", i, w))
		}
		for _, f := range c.Failures {
			fmt.Fprintf(&p.sections, "\nFailed, #%d: %s\n", i, cell(f.String()))
		}
		failures += len(c.Failures)
	}
	if len(warnings) > 0 {
		fmt.Fprintf(&p.sections, "\n<details><summary>%s</summary>\n\n", counted(len(warnings), "warning"))
		for _, w := range alike(warnings) {
			fmt.Fprintf(&p.sections, "- %s\n", cell(w))
		}
		fmt.Fprintf(&p.sections, "\n</details>\n")
	}
	return len(warnings), failures
}

var digits = regexp.MustCompile(`[0-9][0-9.e+-]*`)

// alike are the first of the warnings, "#2: trial 3: message", whose messages differ in numbers
// only, and how many more there are.
func alike(texts []string) (first []string) {
	var kinds []string
	count := map[string]int{}
	for _, text := range texts {
		places := strings.SplitN(text, ": ", 3)
		kind := digits.ReplaceAllString(places[len(places)-1], "")
		if count[kind]++; count[kind] == 1 {
			kinds, first = append(kinds, kind), append(first, text)
		}
	}
	for i, kind := range kinds {
		if more := count[kind] - 1; more > 0 {
			first[i] += fmt.Sprintf(" (%d more like this)", more)
		}
	}
	return first
}

// counted is a number of things.
func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// about is a time to one digit, which is what is left of it at the next run.
func about(seconds float64) string {
	for _, unit := range []struct {
		name    string
		seconds float64
	}{{"h", 3600}, {"min", 60}} {
		if n := seconds / unit.seconds; n >= 0.95 {
			digit := math.Pow10(int(math.Floor(math.Log10(n))))
			return fmt.Sprintf("%.0f\u00a0%s", max(1, math.Round(n/digit)*digit), unit.name)
		}
	}
	return "<\u00a01\u00a0min"
}

// draw puts the figures of an experiment that has them in files on the page.
func (p *page) draw(name string, r *reports.Report) error {
	svg, err := pages.FormatNamed("svg")
	if err != nil || p.file == "-" || !r.Writes(svg.Name) {
		return err
	}
	for _, f := range picture.Drawn(r) {
		var text bytes.Buffer
		if err := svg.Draw(&text, f); err != nil {
			return err
		}
		file := name + "-" + f.Name + ".svg"
		p.figures[file] = text.Bytes()
		fmt.Fprintf(&p.sections, "\n![%s](%s/%s)\n", cell(f.Title), filepath.Base(p.folder()), file)
	}
	return nil
}

// absent is a file of data that may not be distributed.
type absent string

func (a absent) Error() string { return string(a) + " is not here" }

// result runs an experiment.
func result(ctx context.Context, name, digits, dir string) (*reports.Report, *reports.Timings, error) {
	spec, err := spec.Load("gallery:"+name, nil)
	if err != nil {
		return nil, nil, err
	}
	spec.Dir = digits
	for _, d := range spec.Data {
		if _, err := os.Stat(filepath.Join(digits, d.Train)); d.Train != "" && errors.Is(err, fs.ErrNotExist) {
			return nil, nil, absent(d.Train)
		}
	}
	plan, err := plan.New(ctx, spec)
	if err != nil {
		return nil, nil, err
	}
	options := run.Options{Resume: true, Warn: log.Printf}
	options.Workers = runtime.GOMAXPROCS(0)
	report, _, err := run.Run(ctx, plan, dir, options)
	if err != nil {
		return nil, nil, err
	}
	folder, err := run.ReadFolder(dir)
	if err != nil {
		return nil, nil, err
	}
	times, err := reports.BuildTimings(folder.Manifest, folder.Lines)
	return report, times, err
}

// compare sets published figures beside ours, and counts those that are within the uncertainty. The
// others need a reason.
func compare(r *reports.Report) (t table.Table, within int, faults []error) {
	labels := picture.Labels(r)
	var sources []string
	for i, c := range r.Configurations {
		for _, p := range c.Published {
			if !slices.Contains(sources, p.Source) {
				sources = append(sources, p.Source)
			}
			for _, f := range p.Figures {
				here, published, uncertainty := float64(f.Here), float64(f.Published), float64(f.Uncertainty)
				why := ""
				switch {
				case f.Partial != nil:
					why = f.Partial.String()
					faults = append(faults, fmt.Errorf("configuration %d: %s is over %v", i, f.Name, f.Partial))
				case math.Abs(here-published) <= uncertainty*(1+1e-9):
					within++
				case p.Note != "":
					why = p.Note
				default:
					why = "not said"
					faults = append(faults, fmt.Errorf("configuration %d: %s is %v here and %v ± %v in %s, and no "+
						"note says why", i, f.Name, here, published, uncertainty, p.Source))
				}
				t.Rows = append(t.Rows, table.Row(labels[i], p.Source, strings.ReplaceAll(f.Name, "_", " "),
					stated(published, uncertainty), shown(here, uncertainty), shown(here-published, uncertainty), why))
			}
		}
	}
	t.Columns = []table.Column{{Name: "configuration"}, {Name: "source"}, {Name: "figure"},
		{Name: "published", Right: true}, {Name: "here", Right: true}, {Name: "here − published", Right: true},
		{Name: "why they differ"}}
	drop := func(column int) {
		t.Columns = slices.Delete(t.Columns, column, column+1)
		for i := range t.Rows {
			t.Rows[i] = slices.Delete(t.Rows[i], column, column+1)
		}
	}
	if within == len(t.Rows) {
		drop(6)
	}
	if len(sources) == 1 {
		drop(1)
		t.Caption = sources
	}
	if len(labels) == 1 {
		drop(0)
	}
	return t, within, faults
}

// shown is x with a digit more than it is compared to; a whole number, as a count is, without.
func shown(x, uncertainty float64) string {
	digits := 6
	if uncertainty > 0 {
		digits = max(0, 1-int(math.Floor(math.Log10(2*uncertainty))))
	}
	if math.IsNaN(x) {
		return "none"
	}
	if x == math.Trunc(x) {
		digits = 0
	}
	scale := math.Pow10(digits)
	return strconv.FormatFloat(math.Round(x*scale)/scale+0, 'f', digits, 64) // + 0: no negative zero
}

// stated is a published number, with its uncertainty where that is not half a unit of its last
// digit.
func stated(x, uncertainty float64) string {
	text := strconv.FormatFloat(x, 'f', -1, 64)
	units := x / (2 * uncertainty)
	if at := -math.Log10(2 * uncertainty); uncertainty > 0 && math.Abs(at-math.Round(at)) < 1e-9 &&
		math.Abs(units-math.Round(units)) < 1e-6 {
		_, decimals, _ := strings.Cut(text, ".")
		return strconv.FormatFloat(x, 'f', max(int(math.Round(at)), len(decimals), 0), 64)
	}
	return text + " ± " + strconv.FormatFloat(uncertainty, 'f', -1, 64)
}

// table writes a table with its caption.
func (p *page) table(t table.Table) {
	if len(t.Rows) == 0 {
		return
	}
	if len(t.Caption) > 0 {
		fmt.Fprintf(&p.sections, "\n%s:\n", cell(strings.Join(t.Caption, ", ")))
	}
	line := func(cells []string) { fmt.Fprintf(&p.sections, "| %s |\n", strings.Join(cells, " | ")) }
	var names, rules []string
	for _, c := range t.Columns {
		rule := "---"
		if c.Right {
			rule = "---:"
		}
		names, rules = append(names, cell(c.Name)), append(rules, rule)
	}
	fmt.Fprintln(&p.sections)
	line(names)
	line(rules)
	for _, row := range t.Rows {
		var cells []string
		for i, text := range table.Texts(row) {
			if t.Columns[i].Right {
				// an interval stays on one line
				text = strings.NewReplacer("– ", "–\u2060\u00a0", " ", "\u00a0").Replace(text)
			}
			cells = append(cells, cell(text))
		}
		line(cells)
	}
}

// cell is a text as Markdown shows it.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "*", `\*`, "_", `\_`, "<", "&lt;", "\n", " ").Replace(text)
}

// comment is that of a file, in paragraphs; lines that are indented are code.
func (p *page) comment(text []byte) string {
	var out strings.Builder
	for line := range strings.Lines(gallery.Comment(text)) {
		line = strings.TrimSuffix(line, "\n")
		if !strings.HasPrefix(line, "    ") {
			line = p.linked(line)
		}
		out.WriteString(line + "\n")
	}
	return strings.TrimSpace(out.String())
}

var entry = regexp.MustCompile(`gallery:[a-zA-Z0-9\\_]+`)

// linked is a text of which the names of experiments on the page are links to them.
func (p *page) linked(text string) string {
	return entry.ReplaceAllStringFunc(cell(text), func(found string) string {
		name := strings.ReplaceAll(strings.TrimPrefix(found, "gallery:"), `\`, "")
		if !slices.Contains(p.names, name) {
			return found
		}
		return fmt.Sprintf("[%s](#%s)", found, name)
	})
}
