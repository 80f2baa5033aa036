// Package gallery holds the published experiments that come with gpc-tune, so that `gpc-tune run
// gallery:NAME` works from anywhere.
package gallery

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"path"
	"slices"
	"strings"
)

//go:embed *.yaml
var files embed.FS

// Ledger is the table of all published numbers, as CSV: source, place, setting, quantity,
// published, digits, remark. Package ledger reads it.
//
//go:embed ledger.csv
var Ledger string

// Names lists the experiments in natural order: numbers in names sort by value, so that figure 3.6
// is before figure 3.13.
func Names() []string {
	entries, err := fs.ReadDir(files, ".")
	if err != nil {
		panic(err) // the folder is part of the program
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), path.Ext(e.Name())))
	}
	stem := func(name string) string { return strings.TrimRight(name, "0123456789") }
	slices.SortFunc(names, func(a, b string) int {
		return cmp.Or(cmp.Compare(stem(a), stem(b)), cmp.Compare(len(a), len(b)), cmp.Compare(a, b))
	})
	return names
}

// Long reports whether an experiment takes too long to run with all others: its name ends in _full.
func Long(name string) bool { return strings.HasSuffix(name, "_full") }

// Comment returns the comment at the beginning of an experiment file, without comment signs. It
// names the reproduced result and its source, and the differences with their reasons.
func Comment(text []byte) string {
	var out strings.Builder
	for line := range strings.Lines(string(text)) {
		rest, is := strings.CutPrefix(line, "#")
		if !is {
			break
		}
		out.WriteString(strings.TrimPrefix(rest, " "))
	}
	return strings.TrimSpace(out.String())
}

// Doc is the first sentence of the comment, on one line.
func Doc(text []byte) string {
	paragraph, _, _ := strings.Cut(Comment(text), "\n\n")
	words := strings.Fields(paragraph)
	for i, word := range words {
		if strings.HasSuffix(word, ".") && word != "al." {
			words = words[:i+1]
			break
		}
	}
	return strings.Join(words, " ")
}

// Read returns the configuration file of an experiment.
func Read(name string) ([]byte, error) {
	text, err := files.ReadFile(name + ".yaml")
	if err != nil {
		return nil, fmt.Errorf("no experiment %q in the gallery (have %s)", name, strings.Join(Names(), ", "))
	}
	return text, nil
}
