package catalogue

import (
	"bytes"
	"slices"
	"strings"
	"testing"
)

// Every word of the glossary has one row, in alphabetical order of the rows, and is explained by it,
// also in capitals.
func TestGlossary(t *testing.T) {
	var first, all []string
	for _, row := range glossary() {
		first = append(first, strings.ToLower(row.words[0]))
		for _, w := range row.words {
			all = append(all, plain(w))
			for _, name := range []string{w, strings.ToUpper(w), strings.ReplaceAll(w, " ", "-")} {
				var out bytes.Buffer
				if err := Explain(&out, name); err != nil || !strings.Contains(out.String(), name+" (a word of the glossary)\n"+row.meaning+"\n") {
					t.Errorf("%s: %v\n%s", name, err, &out)
				}
			}
		}
		if other, is := strings.CutPrefix(row.meaning, "see "); is && Explain(new(bytes.Buffer), other) != nil {
			t.Errorf("%q: %q is not explained", row.words, other)
		}
	}
	if !slices.IsSorted(first) || len(first) < 100 {
		t.Errorf("the rows are not in order, or few: %q", first)
	}
	slices.Sort(all)
	if len(slices.Compact(slices.Clone(all))) < len(all) {
		t.Errorf("a word has two rows: %q", all)
	}
}

// The words that describe effects, explanations and sets are explained.
func TestWordsOfEffects(t *testing.T) {
	for _, word := range []string{"importance", "level of noise", "partial dependence", "accumulated local effects", "effect", "band", "rug",
		"pair", "Shapley values", "base", "nearest cases", "outside", "conformal sets", "coverage", "set_size"} {
		if err := Explain(new(bytes.Buffer), word); err != nil {
			t.Error(err)
		}
	}
}
