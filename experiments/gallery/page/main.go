// Page runs the gallery's experiments and writes docs/gallery.md: what others published beside what comes out here.
//
// Every number on it is a result of the runs or from the published section of a file. Where the two differ by more than the
// published one is uncertain, the page has the note of the file that says why; a file that does not say it is an error.
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
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gpc-tune/gpc-tune/experiments"
	"github.com/gpc-tune/gpc-tune/experiments/gallery"
	"github.com/gpc-tune/gpc-tune/reports"
)

func main() {
	log.SetFlags(0)
	out := flag.String("o", "docs/gallery.md", "the page to write; - for standard output")
	digits := flag.String("digits", ".", "folder of the USPS digits, as gpc-tune data usps writes them; without, the experiments on them are left out")
	runs := flag.String("runs", "", "folder to keep the runs in, which another start goes on with; default: a temporary one")
	full := flag.Bool("full", false, "the experiments that take hours, instead of the others")
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
	var p page
	for _, name := range names {
		start := time.Now()
		err := p.add(context.Background(), name, *digits, filepath.Join(*runs, name))
		log.Printf("%s: %v", name, time.Since(start).Round(time.Second/10))
		if err != nil {
			p.faults = append(p.faults, fmt.Errorf("%s: %w", name, err))
		}
	}
	if err := write(*out, p.text()); err != nil {
		log.Fatal(err)
	}
	if err := errors.Join(p.faults...); err != nil {
		log.Fatal(err)
	}
}

func write(name string, text []byte) error {
	if name == "-" {
		_, err := os.Stdout.Write(text)
		return err
	}
	return os.WriteFile(name, text, 0o666)
}

// page is what has been run so far.
type page struct {
	overview, sections bytes.Buffer
	faults             []error
}

func (p *page) text() []byte {
	return slices.Concat([]byte(`# The gallery

Published experiments, one file each, with what was published beside what comes out here. `+"`make gallery`"+` writes this page;
no number on it is typed by hand. A published figure is uncertain by half a unit of its last digit, unless its file says otherwise;
where ours is further from it, the file says why.

| experiment | published figures | within their uncertainty |
| --- | ---: | ---: |
`), p.overview.Bytes(), p.sections.Bytes())
}

// add runs an experiment and writes its section.
func (p *page) add(ctx context.Context, name, digits, dir string) error {
	text, err := gallery.Read(name)
	if err != nil {
		return err
	}
	fmt.Fprintf(&p.sections, "\n## %s\n\n%s\n\n[The file](../experiments/gallery/%s.yaml); `gpc-tune run gallery:%s`.\n", name, comment(string(text)), name, name)
	report, err := run(ctx, name, digits, dir)
	var absent absent
	if errors.As(err, &absent) {
		fmt.Fprintf(&p.overview, "| [%s](#%s) | not run: %v | |\n", name, name, absent)
		fmt.Fprintf(&p.sections, "\nNot run: %v.\n", absent)
		return nil
	}
	if err != nil {
		fmt.Fprintf(&p.overview, "| [%s](#%s) | failed | |\n", name, name)
		return err
	}
	summary := report.Summary()
	fmt.Fprintln(&p.sections)
	if len(summary.Caption) > 0 {
		fmt.Fprintf(&p.sections, "%s\n\n", cell(strings.Join(summary.Caption, ", ")))
	}
	var columns []string
	for _, c := range summary.Columns {
		columns = append(columns, c.Name)
	}
	p.table(columns, summary.Rows)
	published, faults := compare(report)
	within := 0
	for _, row := range published {
		if row[5] == "" {
			within++
		}
	}
	if len(published) > 0 {
		fmt.Fprintln(&p.sections)
		p.table([]string{"#", "source", "published", "here", "here − published", "why it differs"}, published)
		fmt.Fprintf(&p.overview, "| [%s](#%s) | %d | %d |\n", name, name, len(published), within)
	} else {
		fmt.Fprintf(&p.overview, "| [%s](#%s) | none | |\n", name, name)
	}
	for i, c := range report.Configurations {
		for _, f := range c.Failures {
			fmt.Fprintf(&p.sections, "\nFailed, #%d: %v\n", i, f)
		}
		if len(c.Failures) > 0 {
			faults = append(faults, fmt.Errorf("configuration %d has %d failures", i, len(c.Failures)))
		}
	}
	return errors.Join(faults...)
}

// absent is a file of data that may not be distributed.
type absent string

func (a absent) Error() string { return string(a) + " is not here" }

// run runs an experiment.
func run(ctx context.Context, name, digits, dir string) (*reports.Report, error) {
	spec, err := experiments.Load("gallery:"+name, nil)
	if err != nil {
		return nil, err
	}
	spec.Dir = digits
	for _, d := range spec.Data {
		if _, err := os.Stat(filepath.Join(digits, d.Train)); d.Train != "" && errors.Is(err, fs.ErrNotExist) {
			return nil, absent(d.Train)
		}
	}
	plan, err := experiments.NewPlan(ctx, spec)
	if err != nil {
		return nil, err
	}
	options := experiments.Options{Resume: true, Warn: log.Printf}
	options.Workers = runtime.GOMAXPROCS(0)
	report, _, err := plan.Run(ctx, dir, options)
	return report, err
}

// compare sets published figures beside ours: rows of configuration, source, figure, ours, the difference and, where that is more
// than the uncertainty, why.
func compare(r *reports.Report) (rows [][]string, faults []error) {
	for i, c := range r.Configurations {
		for _, p := range c.Published {
			for _, f := range p.Figures {
				here, published, uncertainty := float64(f.Here), float64(f.Published), float64(f.Uncertainty)
				why := ""
				if !(math.Abs(here-published) <= uncertainty*(1+1e-9)) {
					if why = p.Note; why == "" {
						why = "not said"
						faults = append(faults, fmt.Errorf("configuration %d: %s is %v here and %v ± %v in %s, and no note says why", i, f.Name, here, published, uncertainty, p.Source))
					}
				}
				rows = append(rows, []string{strconv.Itoa(i), p.Source, f.Name + " " + stated(published, uncertainty), shown(here, uncertainty), shown(here-published, uncertainty), why})
			}
		}
	}
	return rows, faults
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

// stated is a published number, with its uncertainty where that is not half a unit of its last digit.
func stated(x, uncertainty float64) string {
	text := strconv.FormatFloat(x, 'f', -1, 64)
	units := x / (2 * uncertainty)
	if at := -math.Log10(2 * uncertainty); uncertainty > 0 && math.Abs(at-math.Round(at)) < 1e-9 && math.Abs(units-math.Round(units)) < 1e-6 {
		_, decimals, _ := strings.Cut(text, ".")
		return strconv.FormatFloat(x, 'f', max(int(math.Round(at)), len(decimals), 0), 64)
	}
	return text + " ± " + strconv.FormatFloat(uncertainty, 'f', -1, 64)
}

// table writes a table.
func (p *page) table(columns []string, rows [][]string) {
	line := func(cells []string) {
		p.sections.WriteString("|")
		for _, c := range cells {
			p.sections.WriteString(" " + cell(c) + " |")
		}
		p.sections.WriteString("\n")
	}
	line(columns)
	line(slices.Repeat([]string{"---"}, len(columns)))
	for _, row := range rows {
		line(row)
	}
}

// cell is a text as Markdown shows it.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "*", `\*`, "_", `\_`, "<", "&lt;", "\n", " ").Replace(text)
}

// comment is the paragraph with which a file begins.
func comment(text string) string {
	var out []string
	for line := range strings.Lines(text) {
		rest, is := strings.CutPrefix(strings.TrimSpace(line), "# ")
		if !is {
			break
		}
		out = append(out, cell(rest))
	}
	return strings.Join(out, "\n")
}
