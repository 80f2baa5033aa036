package data

import (
	"maps"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
)

// IgnoreCase is a value of the key ignore_case: the columns in which texts that differ only in
// letter case are equal. The most frequent spelling of the training file replaces the others.
type IgnoreCase struct {
	All     bool         // all columns of categories, ordinal inputs and the label
	Columns []cells.Name // or only these columns
}

// UnmarshalText reads true, false or the name of one column.
func (i *IgnoreCase) UnmarshalText(text []byte) error {
	switch name := string(text); name {
	case "true", "false":
		*i = IgnoreCase{All: name == "true"}
	default:
		*i = IgnoreCase{Columns: []cells.Name{cells.Name(name)}}
	}
	return nil
}

// List and Map return pointers to the field for a list; a mapping is no form.
func (i *IgnoreCase) List() any { return &i.Columns }
func (i *IgnoreCase) Map() any  { return &i.Columns }

// Spellings returns one spelling for all texts that differ only in letter case: the most frequent
// one, or the first in order if several are equally frequent.
func Spellings(counts map[string]int) map[string]string {
	best := map[string]string{}
	for _, text := range slices.Sorted(maps.Keys(counts)) {
		key := strings.ToLower(text)
		if other, met := best[key]; !met || counts[text] > counts[other] {
			best[key] = text
		}
	}
	out := map[string]string{}
	for text := range counts {
		out[text] = best[strings.ToLower(text)]
	}
	return out
}

// spelling returns the text in the form in which texts are compared: in lower case or unchanged.
func (c Column) spelling(text string) string {
	if c.IgnoreCase {
		return strings.ToLower(text)
	}
	return text
}

// place returns a function that finds a text of the column among others, or -1. The words true and
// false are found in any letter case, if a single one of the others is the word.
func (c Column) place(among []string) func(text string) int {
	places := map[string]int{}
	for k, text := range among {
		places[c.spelling(text)] = k
	}
	return func(text string) int {
		if k, is := places[c.spelling(text)]; is {
			return k
		}
		if !strings.EqualFold(text, "true") && !strings.EqualFold(text, "false") {
			return -1
		}
		same := func(other string) bool { return strings.EqualFold(other, text) }
		k := slices.IndexFunc(among, same)
		if k >= 0 && slices.ContainsFunc(among[k+1:], same) {
			return -1
		}
		return k
	}
}
