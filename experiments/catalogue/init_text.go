package catalogue

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
)

// starter writes a configuration file.
type starter struct {
	strings.Builder
	path string
}

func (w *starter) line(format string, args ...any) { fmt.Fprintf(w, format+"\n", args...) }

// relative is a path relative to the folder of the file.
func (w *starter) relative(path string) string {
	relative, err := filepath.Rel(filepath.Dir(w.path), path)
	if err != nil {
		relative = path
	}
	return scalar(filepath.ToSlash(relative))
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
