package main

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gpc-tune/gpc-tune/experiments/gallery"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// counted is a number with its noun, in the plural if it is not 1.
func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

// sentence is a text with a capital letter and a full stop; empty for an empty text.
func sentence(text string) string {
	if text == "" {
		return ""
	}
	first, size := utf8.DecodeRuneInString(text)
	return string(unicode.ToUpper(first)) + strings.TrimSuffix(text[size:], ".") + "."
}

// cell escapes a text for a cell of a Markdown table.
func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "*", `\*`, "_", `\_`, "<", "&lt;", "\n", " ").Replace(text)
}

var digits = regexp.MustCompile(`[0-9][0-9.e+-]*`)

// alike merges warnings, "#2: trial 3: message", that differ only in numbers: the first one, and
// the number of the others.
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

// tabulate writes a table with its caption.
func tabulate(out *bytes.Buffer, t table.Table) {
	if len(t.Rows) == 0 {
		return
	}
	if len(t.Caption) > 0 {
		fmt.Fprintf(out, "\n%s:\n", cell(strings.Join(t.Caption, ", ")))
	}
	line := func(cells []string) { fmt.Fprintf(out, "| %s |\n", strings.Join(cells, " | ")) }
	var names, rules []string
	for _, c := range t.Columns {
		rule := "---"
		if c.Right {
			rule = "---:"
		}
		names, rules = append(names, cell(c.Name)), append(rules, rule)
	}
	fmt.Fprintln(out)
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

// comment converts the comment of a file to paragraphs; indented lines are code.
func comment(text []byte) string {
	var out strings.Builder
	for line := range strings.Lines(gallery.Comment(text)) {
		line = strings.TrimSuffix(line, "\n")
		if !strings.HasPrefix(line, "    ") {
			line = linked(line)
		}
		out.WriteString(line + "\n")
	}
	return strings.TrimSpace(out.String())
}

var entry = regexp.MustCompile(`gallery:[a-zA-Z0-9\\_]+`)

// linked turns names of experiments in a text into links to their pages, in the same folder.
func linked(text string) string {
	return entry.ReplaceAllStringFunc(cell(text), func(found string) string {
		name := strings.ReplaceAll(strings.TrimPrefix(found, "gallery:"), `\`, "")
		if !slices.Contains(gallery.Names(), name) {
			return found
		}
		return fmt.Sprintf("[%s](%s.md)", found, name)
	})
}
