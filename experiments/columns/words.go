package columns

import (
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/runes"
	"golang.org/x/text/transform"
	"golang.org/x/text/unicode/norm"
)

func set(words string) map[string]bool {
	out := map[string]bool{}
	for _, w := range strings.Fields(words) {
		out[w] = true
	}
	return out
}

func pairs(text string) map[string]bool {
	out := map[string]bool{}
	for _, pair := range strings.Split(text, "|") {
		of := strings.Fields(pair)
		slices.Sort(of)
		out[strings.Join(of, " ")] = true
	}
	return out
}

// plain returns a text in lower case without accents.
func plain(text string) string {
	remove := transform.Chain(norm.NFD, runes.Remove(runes.In(unicode.Mn)), norm.NFC)
	if out, _, err := transform.String(remove, text); err == nil {
		text = out
	}
	latin := strings.NewReplacer("ß", "ss", "ø", "o", "Ø", "o", "ł", "l", "Ł", "l", "æ", "ae", "ı", "i")
	return strings.ToLower(latin.Replace(text))
}

// words returns the words of a name: LoanStatus, loan_status and "loan status" have the same two.
func words(name string) (out []string) {
	var word []rune
	flush := func() {
		if len(word) > 0 {
			out = append(out, plain(string(word)))
		}
		word = nil
	}
	letters := []rune(name)
	for i, r := range letters {
		switch {
		case !unicode.IsLetter(r) && !unicode.IsDigit(r):
			flush()
			continue
		case i > 0 && unicode.IsUpper(r) && unicode.IsLower(letters[i-1]):
			flush()
		}
		word = append(word, r)
	}
	flush()
	return out
}
