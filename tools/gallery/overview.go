package main

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/gpc-tune/gpc-tune/experiments/gallery"
	"github.com/gpc-tune/gpc-tune/tools/gallery/ledger"
)

// overview returns the overview: counts, then the exhibits in the order of their sources, each with
// its pictures and a line that says whether it agrees. have are the files of the folder with the
// given name.
func overview(entries []ledger.Entry, folder string, have func(file string) bool) ([]byte, error) {
	var out bytes.Buffer
	all := count(entries)
	fmt.Fprintf(&out, `# The gallery

Published experiments, and what comes out of them here: %s of the ledger, numbers and statements that can be checked.
A printed number agrees if ours rounds to it. [ledger.csv](%s/ledger.csv) has every row with its value here, its verdict
and the reason of a difference. `+"`make gallery`"+` runs the experiments and writes this page; nothing that it says of
our results is typed by hand.

**%d agree. %d differ, each for a reason. %d have nothing to compare, each for a reason. %d wait for a longer run.**

| source | rows | agree | differ | nothing to compare | not run |
| --- | ---: | ---: | ---: | ---: | ---: |
`, counted(all.rows, "row"), folder, all.agree, all.differ, all.none(), all.unrun)
	for _, s := range sources {
		if n := count(of(entries, s.name)); n.rows > 0 {
			fmt.Fprintf(&out, "| [%s](#%s) | %d | %d | %d | %d | %d |\n", cell(s.title), anchor(s.title), n.rows,
				n.agree, n.differ, n.none(), n.unrun)
		}
	}
	if len(all.causes) > 0 {
		out.WriteString("\n| why rows differ | rows |\n| --- | ---: |\n")
		for _, c := range all.causes {
			fmt.Fprintf(&out, "| %s | %d |\n", c.Cause, c.rows)
		}
	}
	if lines := all.kept(); lines != "" {
		fmt.Fprintf(&out, "\nNot run again the last time:\n\n- %s\n", strings.ReplaceAll(cell(lines), ", ", "\n- "))
	}
	var faults []error
	for _, s := range sources {
		var chapter bytes.Buffer
		its := of(entries, s.name)
		for _, x := range s.exhibits {
			faults = append(faults, x.write(&chapter, its, folder, have))
		}
		if chapter.Len() > 0 {
			fmt.Fprintf(&out, "\n## %s\n%s", cell(s.title), chapter.Bytes())
		}
	}
	return out.Bytes(), errors.Join(faults...)
}

// write writes an exhibit: pictures, caption, verdict, and its rows, folded. An exhibit without
// rows and pictures is omitted. A missing picture is an error.
func (x exhibit) write(out *bytes.Buffer, entries []ledger.Entry, folder string, have func(string) bool) error {
	entries = slices.DeleteFunc(slices.Clone(entries), func(e ledger.Entry) bool {
		return !slices.Contains(x.places, e.Place)
	})
	lacks := func(ending string) func(string) bool {
		return func(name string) bool { return !have(name + ending) }
	}
	pictures := slices.DeleteFunc(slices.Clone(x.pictures), lacks(".svg"))
	experiments := slices.DeleteFunc(x.experiments(entries), lacks(".md"))
	if len(entries)+len(experiments) > 0 {
		fmt.Fprintf(out, "\n### %s\n", cell(x.title))
	}
	for i, picture := range pictures {
		if i == 0 {
			fmt.Fprintln(out)
		}
		fmt.Fprintf(out, "<a href=\"%s/%s.md\"><img src=\"%s/%s.svg\" alt=\"%s\" width=\"%d%%\"></a>\n", folder,
			experimentOf(picture), folder, picture, cell(x.shows), min(45, 96/len(pictures)))
	}
	if len(entries)+len(experiments) > 0 {
		fmt.Fprintf(out, "\n%s%s\n", cell(x.shows), links(experiments, folder))
	}
	if len(entries) > 0 {
		fmt.Fprintf(out, "\n%s\n\n<details><summary>%s</summary>\n", verdict(entries), counted(len(entries), "row"))
		if x.crossed {
			tabulate(out, crossed(entries))
		}
		tabulate(out, published(entries))
		out.WriteString("\n</details>\n")
	}
	if lack := len(x.pictures) - len(pictures); lack > 0 {
		return fmt.Errorf("%s lacks %s of %s", x.title, counted(lack, "picture"), strings.Join(x.pictures, ", "))
	}
	return nil
}

// links lead to the pages of experiments.
func links(experiments []string, folder string) string {
	var texts []string
	for _, name := range experiments {
		texts = append(texts, fmt.Sprintf("[%s](%s/%s.md)", cell(name), folder, name))
	}
	if len(texts) == 0 {
		return ""
	}
	return " (" + strings.Join(texts, ", ") + ")"
}

// experiments returns the experiments of an exhibit, each once.
func (x exhibit) experiments(entries []ledger.Entry) (names []string) {
	all := slices.Clone(x.also)
	for _, p := range x.pictures {
		all = append(all, experimentOf(p))
	}
	for _, e := range entries {
		all = append(all, e.Experiments...)
	}
	for _, name := range gallery.Names() {
		if slices.Contains(all, name) {
			names = append(names, name)
		}
	}
	return names
}

// experimentOf is the experiment that a picture belongs to.
func experimentOf(picture string) string {
	name, _, _ := strings.Cut(picture, "-")
	return name
}

// verdict is the line of an exhibit: what agrees, what differs and why, and what has nothing to
// compare. If there are many reasons it lists their kinds; the reasons are with the rows.
func verdict(entries []ledger.Entry) string {
	n := count(entries)
	var parts []string
	if n.agree > 0 {
		parts = append(parts, fmt.Sprintf("**Agrees:** %d of %d.", n.agree, n.rows))
	}
	if n.differ > 0 {
		which, why := reasons(entries, ledger.Differs)
		switch {
		case len(why) > 2:
			which, why = nil, []string{sentence(n.why())}
		case len(which) > 3:
			which = nil
		}
		part := fmt.Sprintf("**Differs:** %d of %d.", n.differ, n.rows)
		parts = append(parts, strings.Join(slices.Concat([]string{part}, which, why), " "))
	}
	if n.none() > 0 {
		_, why := reasons(entries, ledger.NotApplicable)
		if len(why) > 1 {
			why = nil
		}
		part := fmt.Sprintf("**Nothing to compare:** %d of %d.", n.none(), n.rows)
		parts = append(parts, strings.Join(append([]string{part}, why...), " "))
	}
	if n.unrun > 0 {
		parts = append(parts, fmt.Sprintf("**Not run:** %d of %d.", n.unrun, n.rows))
	}
	return strings.Join(parts, " ")
}

// reasons are sentences: for each row with this verdict the published and the computed value, and
// every reason once.
func reasons(entries []ledger.Entry, of ledger.Verdict) (which, why []string) {
	for _, e := range entries {
		if e.Verdict != of || e.Kept == ledger.NotRun {
			continue
		}
		which = append(which, cell(sentence(fmt.Sprintf("%s: %s there, %s here", e.Quantity, e.Published, e.Here))))
		if text := cell(sentence(e.Reason)); !slices.Contains(why, text) {
			why = append(why, text)
		}
	}
	return which, why
}

// anchor is the link target of a heading, as GitHub names it.
func anchor(title string) string {
	var out strings.Builder
	for _, r := range strings.ToLower(title) {
		switch {
		case r == ' ' || r == '-':
			out.WriteByte('-')
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			out.WriteRune(r)
		}
	}
	return out.String()
}
