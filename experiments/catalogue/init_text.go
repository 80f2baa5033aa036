package catalogue

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/gpc-tune/gpc-tune/experiments/data/tables"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
)

// starter writes a configuration file.
type starter struct {
	strings.Builder
	path string
}

func (w *starter) line(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

// relative converts a path relative to the current folder to one relative to the folder of the
// file. An absolute path stays absolute unless it leads below that folder.
func (w *starter) relative(path string) string {
	from, err := filepath.Abs(filepath.Dir(w.path))
	to, wrong := filepath.Abs(path)
	relative, apart := filepath.Rel(from, to)
	outside := strings.HasPrefix(relative, "..")
	switch {
	case errors.Join(err, wrong, apart) != nil, outside && filepath.IsAbs(path):
		relative = path
	case outside && !leads(from, relative, to): // a symbolic link is on the way
		relative = to
	}
	return scalar(filepath.ToSlash(relative))
}

// leads reports whether a path that starts in a folder, without symbolic links, leads to the file
// of another path.
func leads(folder, relative, path string) bool {
	folder, err := filepath.EvalSymlinks(folder)
	file, _ := tables.Located(filepath.Join(folder, relative))
	there, wrong := os.Stat(file)
	file, _ = tables.Located(path)
	here, missing := os.Stat(file)
	return errors.Join(err, wrong, missing) == nil && os.SameFile(here, there)
}

// comment returns a text on one line.
func comment(text string) string {
	return strings.Join(strings.FieldsFunc(text,
		func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
}

// scalar returns a text as YAML on one line.
func scalar(text string) string {
	n := strictyaml.Node{Kind: strictyaml.ScalarNode, Tag: "!!str", Value: text}
	if slices.ContainsFunc([]rune(text), func(r rune) bool {
		return !unicode.IsPrint(r) ||
			strings.ContainsRune(",[]{}", r)
	}) {
		n.Style = strictyaml.DoubleQuotedStyle
	}
	out, err := strictyaml.Marshal(&n)
	if err != nil {
		panic(err) // cannot fail for a text
	}
	return strings.TrimSuffix(string(out), "\n")
}
