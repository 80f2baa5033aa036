package catalogue

import (
	"strings"

	gpctune "github.com/gpc-tune/gpc-tune"
)

// term is a row of docs/glossary.md.
type term struct {
	words   []string // that have this meaning
	meaning string
}

// glossary returns the rows of docs/glossary.md.
func glossary() (all []term) {
	for line := range strings.Lines(gpctune.Glossary) {
		words, meaning, is := strings.Cut(strings.TrimPrefix(strings.TrimSpace(line), "| "), " | ")
		if is && words != "word" && words != "---" {
			all = append(all, term{strings.Split(words, ", "), strings.TrimSuffix(meaning, " |")})
		}
	}
	return all
}

// named reports whether a term is called by this name, in capitals or not, one or several, with
// hyphens, underscores or blanks.
func (t term) named(name string) bool {
	for _, word := range t.words {
		if w, n := plain(word), plain(name); w == n || w+"s" == n || w == n+"s" {
			return true
		}
	}
	return false
}

// plain is a name in small letters, with blanks between words.
func plain(name string) string {
	return strings.ToLower(strings.NewReplacer("-", " ", "_", " ").Replace(name))
}
