package page

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/internal/panicked"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// Format is a way to write a Report.
type Format struct {
	Name   string // name in YAML files and flags
	Doc    string
	File   string // its name in the folder of the run; empty if it is only shown
	Always bool   // written after every run; else if the experiment's report.formats names it
	With   string // the format of a file that this one refers to, written with it
	Render func(w io.Writer, r *reports.Report) error
	// Draw writes the file of one figure, in formats with a file per figure; the * in File stands
	// for its name
	Draw func(w io.Writer, figures ...figure.Figure) error
}

// File is a file of a format.
type File struct {
	Name  string // name in the folder of the run
	Write func(w io.Writer) error
}

// Files are the files of the format.
func (f Format) Files(r *reports.Report) (out []File) {
	if f.Draw == nil {
		return []File{{f.File, func(w io.Writer) (err error) {
			if thrown := panicked.Try(func() { err = f.Render(w, r) }); thrown != nil {
				err = fmt.Errorf("format %s: %w", f.Name, thrown)
			}
			return err
		}}}
	}
	for _, p := range picture.Drawn(r) {
		out = append(out, File{strings.Replace(f.File, "*", p.Name, 1),
			func(w io.Writer) error { return f.Draw(w, p) }})
	}
	return out
}

// Formats lists the formats.
var Formats = []Format{
	{"text", "tables for the terminal", "", false, "", table.Text, nil},
	{"json", "everything, for programs", "results.json", true, "", reports.WriteJSON[*reports.Report], nil},
	{"csv", "scores and hyperparameters, one row per configuration, evaluation and fold", "results.csv", true, "",
		table.ScoresCSV, nil},
	{"trials", "every evaluated point: where it started, hyperparameters, objective, scores, failure", "trials.csv",
		false, "", table.TrialsCSV, nil},
	{"predictions", "every held-out case: class probabilities, decision, latent means and variances",
		"predictions.csv", false, "", table.PredictionsCSV, nil},
	{"svg", "the figures, each a file, for browsers and print", "figures/*.svg", false, "", picture.Draws(figure.SVG),
		figure.SVG},
	{"pdf", "the figures, each a file, for papers", "figures/*.pdf", false, "", picture.Draws(figure.PDF), figure.PDF},
	{"png", "the figures, each a file, as pixels", "figures/*.png", false, "", picture.Draws(figure.PNG), figure.PNG},
	{"markdown", "the tables of the page in Markdown, as GitHub shows it; writes trials.csv too", "report.md", false,
		"trials", Markdown, nil},
	{"latex", "answer, results and comparisons for a paper in LaTeX, to \\input with booktabs, longtable and siunitx",
		"report.tex", false, "", Paper, nil},
	{"html", "a page with everything but predictions, for a browser; writes trials.csv too, for what the page has " +
		"no room for", "report.html", false, "trials", HTML, nil},
}

// FilesOf lists the formats whose files are written where the given formats are asked for.
func FilesOf(names []string) (out []Format) {
	asked := slices.Clone(names)
	for _, f := range Formats {
		if slices.Contains(names, f.Name) {
			asked = append(asked, f.With)
		}
	}
	for _, f := range Formats {
		if f.File != "" && (f.Always || slices.Contains(asked, f.Name)) {
			out = append(out, f)
		}
	}
	return out
}

// FormatNamed finds a format.
func FormatNamed(name string) (Format, error) {
	return registry.Find("format", name, Formats, func(f Format) string { return f.Name })
}

// WriteHTML writes the page of report.html, headed by the Live, with a script that keeps it up to
// date from where it comes from: status.json, which is WriteJSON with the version as its entity
// tag, and the page itself. A nil report means that there is none yet.
func (l Live) WriteHTML(w io.Writer, r *reports.Report) error {
	waiting := r == nil
	if waiting {
		r = &reports.Report{Experiment: l.Title}
	}
	p := newPage(r, pageScript, liveScript)
	p.Policy, p.Live, p.Waiting = LivePolicy, &l, waiting
	if r.Missing > 0 && len(l.Text) > 0 {
		p.Alerts = p.Alerts[1:] // the Live says so
	}
	for _, f := range Formats {
		set := fileSet{Pattern: f.File}
		if f.Draw != nil && !waiting {
			for _, file := range f.Files(r) {
				set.Names = append(set.Names, file.Name)
			}
		}
		if f.File != "" && (f.Draw == nil || len(set.Names) > 0) {
			p.Files = append(p.Files, set)
		}
	}
	return p.write(w)
}

// Register adds a format of another program to Formats. It is like kernel.Register, except that no
// key has the version of a format, because formats compute no results.
func Register(f Format) {
	var have []string
	for _, other := range Formats {
		have = append(have, other.Name)
	}
	registry.CheckName("format", f.Name, 1, have)
	if f.Doc == "" || f.Render == nil {
		panic(fmt.Sprintf("format %q needs a doc and a function that writes it", f.Name))
	}
	Formats = append(Formats, f)
}
