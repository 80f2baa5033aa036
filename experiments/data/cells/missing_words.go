package cells

import (
	"slices"
	"strings"
)

// missingWords lists texts, in lower case, for a value that is not there: texts that programs
// write, and answers such as "refused".
var missingWords = []string{"-", "--", ".", "n/a", "#n/a", "n.a.", "null", "none", "nil", "unknown", "missing", "nd",
	"n.d.", "k.a.", "(null)", "<na>", "not available", "#value!", "#div/0!", "prefer not to say",
	"prefer not to answer", "don't know", "do not know", "dont know", "no answer", "refused", "not applicable",
	"no opinion", "keine angabe", "weiß nicht", "weiss nicht", "unbekannt", "sans réponse", "sans reponse",
	"ne sait pas", "ne se prononce pas", "inconnu", "no sabe", "no contesta", "ns/nc", "desconocido"}

// IsMissingWord reports whether a text, in any letter case, says that there is no value. Such texts
// are missing values if the other values are numbers or an ordered scale. Texts that always are
// missing values are in Missing.
func IsMissingWord(text string) bool { return slices.Contains(missingWords, strings.ToLower(text)) }
