package gallery

import (
	"slices"
	"strings"
	"testing"
)

// Every file begins with a comment of a sentence or more about the reproduced result.
func TestComments(t *testing.T) {
	for _, name := range Names() {
		text, err := Read(name)
		if err != nil {
			t.Fatal(err)
		}
		comment, doc := Comment(text), Doc(text)
		if len(doc) < 30 || !strings.HasSuffix(doc, ".") || strings.Contains(doc, "\n") || !strings.HasPrefix(strings.Join(strings.Fields(comment), " "), doc) {
			t.Errorf("%s: the first sentence is %q", name, doc)
		}
	}
}

func TestNamesInOrder(t *testing.T) {
	names := Names()
	if a, b, c := slices.Index(names, "gpml_fig31"), slices.Index(names, "gpml_fig36"), slices.Index(names, "gpml_fig313"); a < 0 || !(a < b && b < c) {
		t.Errorf("%q", names)
	}
}

func TestFirstSentence(t *testing.T) {
	for text, want := range map[string]string{
		"# A of B et al. (2000): both,\n# one by one. The rest.\n#\n#     code\nname: x\n# no comment\n": "A of B et al. (2000): both, one by one.",
		"# GPML 3.7.4, at\n# 2.35.\nname: x\n":        "GPML 3.7.4, at 2.35.",
		"# See docs/a.md. ä too.\n":                   "See docs/a.md.",
		"# At a = 1 and\n# b:\n#\n#     code\nx: 1\n": "At a = 1 and b:",
		"name: x\n": "",
	} {
		if got := Doc([]byte(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := Comment([]byte("# A.\n#\n#     code\nname: x\n# no comment\n")); got != "A.\n\n    code" {
		t.Errorf("%q", got)
	}
}
