package main

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/experiments/gallery"
	"github.com/gpc-tune/gpc-tune/reports"
	pages "github.com/gpc-tune/gpc-tune/reports/page"
	"github.com/gpc-tune/gpc-tune/reports/picture"
	"github.com/gpc-tune/gpc-tune/reports/table"
	"github.com/gpc-tune/gpc-tune/tools/gallery/ledger"
)

// own returns the files of an experiment by name: its figures and its page, which has a
// description, the figures, the published values, the results and the warnings. An unexpected
// failure in the run is returned as an error besides. If run is nil the page has only the
// description.
func own(name string, r *ledger.Run, entries []ledger.Entry) (map[string][]byte, error) {
	yaml, err := gallery.Read(name)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	fmt.Fprintf(&out, "# %s\n\n%s\n\n[The file](../../experiments/gallery/%s.yaml); `gpc-tune run gallery:%s`, and "+
		"`plan` for how long that takes. [The gallery](../gallery.md).\n", cell(name), comment(yaml), name, name)
	files := map[string][]byte{}
	if r == nil {
		files[name+".md"] = append(out.Bytes(), "\nNot run yet.\n"...)
		return files, nil
	}
	if err := draw(&out, files, name, r.Report); err != nil {
		return nil, err
	}
	var of []ledger.Entry
	for _, e := range entries {
		if slices.Contains(e.Experiments, name) {
			of = append(of, e)
		}
	}
	if len(of) > 0 {
		out.WriteString("\n## Published\n")
		tabulate(&out, published(of))
	}
	results(&out, r)
	err = remarks(&out, r.Report, failing[name])
	files[name+".md"] = out.Bytes()
	return files, err
}

// draw adds the figures of an experiment to its page and its files.
func draw(out *bytes.Buffer, files map[string][]byte, name string, r *reports.Report) error {
	svg, err := pages.FormatNamed("svg")
	if err != nil || !r.Writes(svg.Name) {
		return err
	}
	for _, f := range picture.Drawn(r) {
		var text bytes.Buffer
		if err := svg.Draw(&text, f); err != nil {
			return err
		}
		file := name + "-" + f.Name + ".svg"
		files[file] = text.Bytes()
		fmt.Fprintf(out, "\n![%s](%s)\n", cell(f.Title), file)
	}
	return nil
}

// results writes the table of the configurations; an illustration has only figures.
func results(out *bytes.Buffer, r *ledger.Run) {
	t, ok := table.Pivot(r.Report, r.Times)
	if !ok {
		t = table.Summary(r.Report)
	}
	if ok || len(r.Report.Configurations) > 0 {
		out.WriteString("\n## Results\n")
		t.MoveConstantsToCaption()
		tabulate(out, t)
	}
}

// failing has the expected number of failures of experiments whose files say that some fits fail.
var failing = map[string]int{"garcia_fernandez_order": 1} // ten plain updates diverge in a fold

// remarks writes the failures and the warnings. An unexpected number of failures is an error.
func remarks(out *bytes.Buffer, r *reports.Report, expected int) error {
	var warnings []string
	failures := 0
	for _, w := range r.Warnings {
		warnings = append(warnings, w.String())
	}
	for i, c := range r.Configurations {
		for _, w := range c.Warnings {
			warnings = append(warnings, fmt.Sprintf("#%d: %s", i, w))
		}
		for _, f := range c.Failures {
			why, remedy, _ := strings.Cut(f.String(), "; ")
			fmt.Fprintf(out, "\nFailed, #%d: %s\n", i, cell(strings.TrimSpace(sentence(why)+" "+sentence(remedy))))
		}
		failures += len(c.Failures)
	}
	if len(warnings) > 0 {
		fmt.Fprintf(out, "\n<details><summary>%s</summary>\n\n", counted(len(warnings), "warning"))
		for _, w := range alike(warnings) {
			fmt.Fprintf(out, "- %s\n", cell(w))
		}
		fmt.Fprintf(out, "\n</details>\n")
	}
	if failures != expected {
		return fmt.Errorf("%s, want %d", counted(failures, "failure"), expected)
	}
	return nil
}

// published writes entries of the ledger as a table.
func published(entries []ledger.Entry) table.Table {
	t := table.Table{Columns: []table.Column{{Name: "where"}, {Name: "of"}, {Name: "what"}, {Name: "published"},
		{Name: "here"}, {Name: "verdict"}}}
	for _, e := range entries {
		verdict := string(e.Verdict)
		switch e.Verdict {
		case ledger.Differs:
			verdict = "differs: " + e.Reason
		case ledger.NotApplicable:
			verdict = e.Reason
		}
		t.Rows = append(t.Rows, table.Row(e.Place, e.Setting, e.Quantity, e.Published, e.Here, verdict))
	}
	return t
}

// crossed writes entries whose setting is "likelihood method data (cases)" as a table of the
// published values and, in parentheses, the computed ones.
func crossed(entries []ledger.Entry) table.Table {
	t := table.Table{Caption: []string{"published (here)"}, Columns: []table.Column{{Name: ""}}}
	var rows []string
	for _, e := range entries {
		words := strings.Fields(e.Setting)
		if len(words) < 3 || e.Here == "" {
			continue
		}
		row, column := strings.Join(words[:2], " "), words[2]
		at := slices.Index(rows, row)
		if at < 0 {
			at, rows, t.Rows = len(rows), append(rows, row), append(t.Rows, table.Row(row))
		}
		i := slices.IndexFunc(t.Columns, func(c table.Column) bool { return c.Name == column })
		if i < 0 {
			i, t.Columns = len(t.Columns), append(t.Columns, table.Column{Name: column, Right: true})
		}
		for len(t.Rows[at]) <= i {
			t.Rows[at] = append(t.Rows[at], table.Row("")...)
		}
		t.Rows[at][i] = table.Row(e.Published + " (" + e.Here + ")")[0]
	}
	return t
}
