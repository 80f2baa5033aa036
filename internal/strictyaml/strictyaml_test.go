package strictyaml

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"testing"
	"time"
)

// problems returns the problems that Parse finds.
func problems(text string) Problems {
	found := NewFindings("f.yaml")
	Parse([]byte(text), found)
	ps, _ := found.Err().(Problems)
	return ps
}

// The positions of syntax errors, counted by hand. The library's own message names the line before for half of them.
func TestPlacesOfSyntaxErrors(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a: 1\nb:\n\tc: 1\n", "3:1: "},
		{"\ta: 1\n", "1:1: "},
		{"a: {b: 1\nc: 2\n", "2:2: "},
		{"a: 1\nb: {c: 1\nd: 2\n", "3:2: "},
		{"a: 1\nb: [1, 2\nd: 2\n", "3:2: "},
		{"a: 1\nb: 'c\nd: 2\n", "4:1: "},
		{"a: 1\nb: c: d\n", "2:5: "},
		{"a: 1\nb: c: d", "2:5: "},
		{"a:\n  b: 1\n c: 2\n", "3:2: "},
		{"a: 1\nb: *c\n", "2:4: unknown anchor 'c'"},
		{"a: 1 # *c\nb: [1, *c]\n", "2:8: unknown anchor 'c'"},
		{"a: é*cd\nb: [*c, 2]\n", "2:5: unknown anchor 'c' referenced (an alias *name repeats what &name stands before)"},
		{"b: *c", "1:4: unknown anchor 'c'"},
		{"# d\n*c\n", "2:1: unknown anchor 'c'"},
		{"b: [*c , 1]\n", "1:5: unknown anchor 'c'"},
		{"\"a #\": *c\n", "1:1: unknown anchor 'c'"}, // is not found behind what could be a comment
		{"a: 1\n---\nb: [\n", "4:1: "},
		{"é: \"\\q\"\n", "1:5: found unknown escape"},
		{"a: é\x02\n", "1:5: control character"},
		{"a: 1\r\nb: \xff\r\n", "2:4: byte 0xff"},
		{"a: 1\rb: \xff\r\n", "2:4: byte 0xff"},
		{"a: [1, 2", "1:9: "},
		{"a: 1\né: {b: 2", "2:9: "},
		{"\xff\xfea", "1:1: UTF-16 text"},
		{"\xfe\xffa", "1:1: UTF-16 text"},
		{"\ufeffa: \x01\n", "1:4: control character U+0001"},
		{"a: \x7f\n", "1:4: control character U+007F"},
		// the characters before it are allowed
		{"a: b\u00a0\u0085\u0084", "1:7: control character U+0084"},
		{"a: \u0086", "1:4: control character U+0086"},
		{"a: \u009f", "1:4: control character U+009F"},
		{"a: b\ufeff\n", "1:5: control character U+FEFF"},
		{"", "1:1: the file is empty"},
		{"a: 1\n---\nb: 2\n", "2:1: a second document"},
		{"a: 1\n<<: {b: 2}\n", "2:1: merge keys"},
		{"a: !!str 1\n", "1:4: tags (!!str) are not supported"},
		{strings.Repeat("#", MaxBytes+1), " 1048577 bytes"},
		{"# é" + strings.Repeat(",", maxNodes+1), " 200001 commas"},
		{"\ufeffa: 1\n# é" + strings.Repeat("[", 10*MaxDepth+1), "2:1004: lists and mappings within each other"},
	} {
		ps := problems(c.text)
		if len(ps) != 1 || !strings.HasPrefix(ps[0].Error(), "f.yaml:"+c.want) {
			t.Errorf("%q: %v, want one at %s", c.text, ps, c.want)
		}
	}
}

// A message gives the beginning of the part with the mistake, if it is another place.
func TestBeginningsOfPartsWithMistakes(t *testing.T) {
	for text, want := range map[string]string{
		"b: [1, 2":                ", while parsing a flow sequence that begins at 1:4",
		"a: 1\nb:\n  [1,\n   2\n": ", while parsing a flow sequence that begins at 3:3",
		"'c\n":                    ", while scanning a quoted scalar that begins at 1:1",
		// and its end is missing at 2:1
		"\ta: 1\n": ", while scanning for the next token",
		// the tab itself
		"a: *b\n": "",
		// in no part
	} {
		ps := problems(text)
		if len(ps) != 1 {
			t.Errorf("%q: %v", text, ps)
			continue
		}
		if _, part, _ := strings.Cut(ps[0].Message, ", while "); !strings.HasSuffix(ps[0].Message, want) ||
			(part == "") != (want == "") {
			t.Errorf("%q: %v, want %q", text, ps, want)
		}
	}
}

// A number is accepted only if all versions of YAML read it as the same number. Else the message
// suggests the number that was meant.
func TestNumbersAreWhatTheyLookLike(t *testing.T) {
	scalar := func(text string) *Node {
		return Parse([]byte("["+text+"]"), NewFindings("")).Content[0]
	}
	for text, want := range map[string]float64{"1": 1, "-3": -3, "+5": 5, ".5": 0.5, "1.": 1, "1e3": 1000, "1E-3": 0.001, "0": 0, "0.10": 0.1, "1e05": 1e5} {
		if v, err := Number(scalar(text)); err != nil || v != want {
			t.Errorf("%s is %v, %v; want %v", text, v, err, want)
		}
	}
	for text, wayOut := range map[string]string{"010": "write 10", "-007": "write -7", "0x10": "write 16", "0o10": "write 8", "0b11": "write 3", "1_000": "write 1000", "1_0.5": "write 10.5",
		".inf": "expected a number", ".nan": "expected a number", "inf": "expected", "1e400": "beyond", "'5'": "expected", "1:30": "expected", "~": "found nothing", "[1]": "a list", "0x1p3": "not decimal"} {
		if v, err := Number(scalar(text)); err == nil || v != 0 || !strings.Contains(err.Error(), wayOut) {
			t.Errorf("%s is %v, error %v; want one with %q", text, v, err, wayOut)
		}
	}
	for text, want := range map[string]int64{"5.0": 5, "1e3": 1000, "-2": -2} {
		if v, err := Whole(scalar(text), 64); err != nil || v != want {
			t.Errorf("%s is %v, %v; want %v", text, v, err, want)
		}
	}
	for _, text := range []string{"1.5", "1e300", "9223372036854775808", "010"} {
		if v, err := Whole(scalar(text), 64); err == nil {
			t.Errorf("%s is %v", text, v)
		}
	}
	if v, err := Natural(scalar("18446744073709551615"), 64); err != nil || v != 1<<64-1 {
		t.Error(v, err)
	}
	for _, c := range []struct {
		text    string
		bits    int
		natural bool
		whole   bool
		value   uint64
	}{
		{"-1", 64, false, true, 0}, {"0", 8, true, true, 0}, {"0.0", 8, true, true, 0}, {"5.0", 8, true, true, 5}, {"+7", 8, true, true, 7},
		{"127", 8, true, true, 127}, {"128", 8, true, false, 128}, {"128.0", 8, true, false, 128}, {"127.0", 8, true, true, 127},
		{"255", 8, true, false, 255}, {"255.0", 8, true, false, 255}, {"256", 8, false, false, 0}, {"256.0", 8, false, false, 0},
		{"-128", 8, false, true, 0}, {"9007199254740991.0", 64, true, true, 1<<53 - 1}, {"9007199254740992.0", 64, false, false, 0},
		{"9007199254740992", 64, true, true, 1 << 53}, {"1.5", 64, false, false, 0}, {"1e400", 64, false, false, 0}, {"a", 64, false, false, 0},
	} {
		n, err := Natural(scalar(c.text), c.bits)
		if (err == nil) != c.natural || n != c.value && c.natural {
			t.Errorf("%s of %d bits: %d, %v", c.text, c.bits, n, err)
		}
		w, err := Whole(scalar(c.text), c.bits)
		if (err == nil) != c.whole || c.whole && c.natural && w != int64(c.value) {
			t.Errorf("%s of %d bits: %d, %v", c.text, c.bits, w, err)
		}
	}
	for text, want := range map[string]bool{"true": true, "True": true, "TRUE": true, "false": false, "False": false} {
		if v, err := Bool(scalar(text)); err != nil || v != want {
			t.Errorf("%s is %v, %v", text, v, err)
		}
	}
	for text, wayOut := range map[string]string{"yes": "write true", "Yes": "write true", "on": "write true", "y": "write true", "off": "write false",
		"no": "write false", "n": "write false", "N": "write false", "o": "expected true or false", "[true]": "expected true or false", "1": "expected true or false", "'true'": "write true", "'False'": "write false"} {
		if _, err := Bool(scalar(text)); err == nil || !strings.Contains(err.Error(), wayOut) {
			t.Errorf("%s: %v, want %q", text, err, wayOut)
		}
	}
}

// Texts that would take excessive time or memory are refused, with one problem, without excessive allocation.
func TestHostileTextsAreRefused(t *testing.T) {
	laughs := "a: &a [1, 1, 1, 1, 1, 1, 1, 1, 1]\n"
	for c := 'b'; c <= 'i'; c++ {
		laughs += fmt.Sprintf("%c: &%c [%s]\n", c, c, strings.Repeat(fmt.Sprintf("*%c, ", c-1), 9))
	}
	for name, text := range map[string]string{
		"billion laughs": laughs, "alias of itself": "a: &a [*a]\n", "too large": strings.Repeat("#", MaxBytes+1),
		"brackets": "a: " + strings.Repeat("[", MaxBytes/2), "braces": "a: " + strings.Repeat("{a: ", MaxBytes/8), "dashes": strings.Repeat("- ", MaxBytes/4),
		"questions": strings.Repeat("? ", MaxBytes/4), "entries": "[" + strings.Repeat("1,", maxNodes+1) + "]", "nul": strings.Repeat("\x00", 1000),
	} {
		t.Run(name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			done := make(chan Problems)
			go func() { done <- problems(text) }()
			select {
			case ps := <-done:
				if len(ps) != 1 || len(ps[0].Message) > 1000 {
					t.Errorf("%d problems: %.300v", len(ps), ps)
				}
			case <-time.After(time.Minute):
				t.Fatal("hangs")
			}
			runtime.ReadMemStats(&after)
			if took := after.TotalAlloc - before.TotalAlloc; took > 500<<20 {
				t.Errorf("%d MiB were allocated", took>>20)
			}
		})
	}
}

// A text at a limit is read. A text beyond it is not.
func TestLimitsOfTexts(t *testing.T) {
	within := func(n int, what string) string { return strings.Repeat("[", n) + what + strings.Repeat("]", n) + "\n" }
	nested := func(n int) string { return within(n, "1, 1") }
	closed := func(n int) string { return "a: 1\n# ]]{[}" + strings.Repeat("[", n-1) }
	for _, c := range []struct {
		name, text, refused string
	}{
		{"bytes", strings.Repeat("#", MaxBytes-5) + "\na: 1", strings.Repeat("#", MaxBytes-4) + "\na: 1"},
		{"depth", nested(MaxDepth), nested(MaxDepth + 1)},
		{"depth of an alias", "a: &a 1\nb: " + within(MaxDepth-1, "*a"), "a: &a 1\nb: " + within(MaxDepth, "*a")},
		{"open brackets", closed(10 * MaxDepth), closed(10*MaxDepth + 1)},
		{"commas", "# " + strings.Repeat(",", maxNodes) + "\na: 1", "# " + strings.Repeat(",", maxNodes+1) + "\na: 1"},
		{"entries", "[" + strings.Repeat("1,", maxNodes-2) + "1]", "[" + strings.Repeat("1,", maxNodes-1) + "1]"},
		{"entries of aliases", "a: &a 1\nb: [" + strings.Repeat("*a, ", maxNodes/2-4) + "1]", "a: &a 1\nb: [" + strings.Repeat("*a, ", maxNodes/2) + "1]"},
	} {
		found := NewFindings("")
		if root := Parse([]byte(c.text), found); root == nil || found.Err() != nil {
			t.Errorf("%s: %v, %v", c.name, root, found.Err())
		}
		if ps := problems(c.refused); len(ps) != 1 {
			t.Errorf("one too many %s: %v", c.name, ps)
		}
	}
}

// Frequent mistakes come with the remedy.
func TestRemedies(t *testing.T) {
	for text, want := range map[string]string{
		"a: @b\n": "quote what begins with @", "a: 1\nb:\n\tc: 1\n": "indent with blanks, not with tabs",
		"a: 1\nb: c: d\n": "quote a text that has", "a: {b: 1\nc: 2\n": "close the brace", "a: [b\nc: 2\n": "close the bracket",
		"a:\n  b: 1\n c: 2\n": "keys of one mapping begin in the same column",
	} {
		ps := problems(text)
		if len(ps) != 1 || !strings.Contains(ps[0].Message, want) || strings.Count(ps[0].Message, " (") != 1 {
			t.Errorf("%q: %v, want %s", text, ps, want)
		}
	}
}

// As many alternatives as are allowed are expanded, and more are refused once.
func TestTooManyAlternatives(t *testing.T) {
	expand := func(text string) (int, Problems) {
		found := NewFindings("f.yaml")
		n := len(Expand(Parse([]byte(text), found), nil, found))
		ps, _ := found.Err().(Problems)
		return n, ps
	}
	list := func(key string, n int) string { return key + ": [" + strings.Repeat("1, ", n-1) + "1]\n" }
	if n, ps := expand(list("a", MaxAlternatives)); n != MaxAlternatives || len(ps) != 0 {
		t.Errorf("%d alternatives, %v", n, ps)
	}
	// Their nodes: each cell has one for itself and two for each key.
	keys := strings.Repeat("k: 1\n", 60)
	if n, ps := expand(list("a", 200) + list("b", maxExpanded/200/125) + keys); n != maxExpanded/125 || len(ps) != 0 {
		t.Errorf("%d alternatives with 62 keys, %v", n, ps)
	}
	for _, text := range []string{list("a", 200) + list("b", maxExpanded/200/125+1) + keys,
		"x:\n " + list("a", 400) + " " + list("b", 400) + "y:\n " + list("c", 400) + " " + list("d", 400),
		list("a", MaxAlternatives+1), list("a", MaxAlternatives) + list("b", 2),
		list("a", MaxAlternatives/2) + list("b", 3), list("a", 400) + list("b", 400) + list("c", 400)} {
		if n, ps := expand(text); n != 0 || len(ps) != 1 {
			t.Errorf("%.40s…: %d alternatives, %v", text, n, ps)
		}
	}
}

// Of many similar problems the first are reported and the others counted; the same problem twice is reported once.
func TestAlikeProblemsAreCounted(t *testing.T) {
	f := NewFindings("f.yaml")
	for i := range 1000 {
		n := &Node{Line: i + 1, Column: 1}
		f.At(n, "unknown key %q", fmt.Sprint(i))
		f.At(n, "unknown key %q", fmt.Sprint(i))
	}
	f.At(&Node{Line: 5, Column: 9}, "another kind")
	ps := f.Err().(Problems)
	if len(ps) != maxAlike+2 || ps[5].Message != "another kind" || ps[len(ps)-1].Error() != "f.yaml: and at least 980 more like these" || f.Found() != 2001 {
		t.Errorf("%d problems, of %d found: %v", len(ps), f.Found(), ps)
	}
}

// A mistake at one place is told once; one with other words, or at another place, is another mistake.
func TestProblemsAreToldOnce(t *testing.T) {
	f, n := NewFindings("f.yaml"), &Node{Line: 2, Column: 3}
	f.At(n, "key %q", "b")
	f.At(n, "key %q", "a")
	f.At(n, "key %q", "b")
	f.At(n, "key %s", `"a"`)
	f.At(&Node{Line: 1, Column: 9}, "key %q", "a")
	f.At(&Node{Line: 2, Column: 1}, "key %q", "a")
	f.At(nil, "whole")
	want := `f.yaml: whole
f.yaml:1:9: key "a"
f.yaml:2:1: key "a"
f.yaml:2:3: key "b"
f.yaml:2:3: key "a"`
	if got := f.Err().Error(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

// What is told of a long text, and of many problems, is cut where it becomes too long, and nothing before.
func TestMessagesAreCut(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{strings.Repeat("a", maxMessage), strings.Repeat("a", maxMessage)},
		{strings.Repeat("a", maxMessage+1), strings.Repeat("a", maxMessage) + "…"},
		{strings.Repeat("a", maxMessage-1) + "é", strings.Repeat("a", maxMessage-1) + "…"},
	} {
		f := NewFindings("")
		f.At(nil, "%s", c.text)
		if got := f.Err().(Problems)[0].Message; got != c.want {
			t.Errorf("%d bytes, with the end %q", len(got), got[maxMessage-3:])
		}
	}
	for _, c := range []struct{ text, want string }{
		{strings.Repeat("a", 60), `"` + strings.Repeat("a", 60) + `"`},
		{strings.Repeat("a", 61), `"` + strings.Repeat("a", 60) + `"…`},
		{strings.Repeat("a", 59) + "é", `"` + strings.Repeat("a", 59) + `"…`},
	} {
		if got := Describe(&Node{Kind: ScalarNode, Value: c.text}); got != c.want {
			t.Errorf("%s is described as %s", c.text, got)
		}
	}
	digits := &Node{Kind: ScalarNode, Value: "0." + strings.Repeat("0", 397) + "1"}
	if x, err := Number(digits); err != nil || x != 0 { // it is less than the least positive number
		t.Errorf("400 characters: %v, %v", x, err)
	}
	digits.Value += "1"
	if _, err := Number(digits); err == nil || !strings.Contains(err.Error(), "401 characters") {
		t.Errorf("401 characters: %v", err)
	}
	f := NewFindings("f.yaml")
	for i := range maxAlike + 1 {
		f.At(&Node{Line: i + 1}, "unknown key")
	}
	if ps := f.Err().(Problems); len(ps) != maxAlike+1 || ps[maxAlike].Error() != "f.yaml: and at least 1 more like these" {
		t.Errorf("one more than are told: %v", ps)
	}
}

// What is read can be written again, with its aliases replaced.
func TestAliasesAreReplaced(t *testing.T) {
	root := Parse([]byte("a: &x [1, &y b]\nc: *x\nd: {e: *y}\n"), NewFindings(""))
	text, err := Marshal(root)
	if want := "a: [1, b]\nc: [1, b]\nd: {e: b}\n"; err != nil || string(text) != want {
		t.Errorf("%s, %v; want %s", text, err, want)
	}
	if c := Find(root, "c"); c == nil || Flow(c) != "[1, b]" || Find(root, "x") != nil ||
		Find(Find(root, "a"), "1") != nil || Find(nil, "a") != nil {
		t.Error("keys are not found, or others are")
	}
}

// Tags are short, also where the text has the one for all texts, and a quoted number is a text.
func TestTagsAreShort(t *testing.T) {
	root := Parse([]byte("[1, 1.5, a, '1', ~, true, ! 1, ! '1', 2024-01-02, {}, []]"), NewFindings(""))
	var tags []string
	for _, n := range root.Content {
		tags = append(tags, n.Tag)
	}
	want := "!!int !!float !!str !!str !!null !!bool !!int !!str !!timestamp !!map !!seq"
	if got := strings.Join(tags, " "); got != want || root.Tag != "!!seq" {
		t.Errorf("%s, want %s", got, want)
	}
}

// Mistakes are told apart from other errors.
func TestProblemsAreMistakes(t *testing.T) {
	f := NewFindings("f.yaml")
	f.At(nil, "a mistake")
	if err := fmt.Errorf("read: %w", f.Err()); !errors.Is(err, ErrMistakes) || errors.Is(err, io.EOF) {
		t.Error(err)
	}
}

// A list of one is that one, and a list of none is a mistake at its place.
func TestShortLists(t *testing.T) {
	found := NewFindings("f.yaml")
	if all := Expand(Parse([]byte("a: [1]\n"), found), nil, found); len(all) != 1 || Flow(all[0]) != "{a: 1}" ||
		found.Err() != nil {
		t.Errorf("%d alternatives, %v", len(all), found.Err())
	}
	Expand(Parse([]byte("a: 1\nb: []\n"), found), nil, found)
	if err := found.Err(); err == nil ||
		err.Error() != "f.yaml:2:4: an empty list leaves nothing to run; name at least one value" {
		t.Error(err)
	}
}

// A copy of a node without its content leaves the node as it is.
func TestEmptied(t *testing.T) {
	n := Parse([]byte("{a: 1}"), NewFindings(""))
	if c := Emptied(n); Flow(c) != "{}" || c.Line != n.Line || Flow(n) != "{a: 1}" {
		t.Errorf("%s of %s", Flow(c), Flow(n))
	}
}

func TestExpandIsTheCrossProductInOrder(t *testing.T) {
	found := NewFindings("f.yaml")
	root := Parse([]byte("{a: [1, 2], sum: [x, [y, z]], b: {c: [3, 4]}}"), found)
	var got []string
	for _, n := range Expand(root, []string{"sum"}, found) {
		got = append(got, Flow(n))
	}
	want := []string{"{a: 1, sum: [x, y], b: {c: 3}}", "{a: 1, sum: [x, y], b: {c: 4}}", "{a: 1, sum: [x, z], b: {c: 3}}", "{a: 1, sum: [x, z], b: {c: 4}}",
		"{a: 2, sum: [x, y], b: {c: 3}}", "{a: 2, sum: [x, y], b: {c: 4}}", "{a: 2, sum: [x, z], b: {c: 3}}", "{a: 2, sum: [x, z], b: {c: 4}}"}
	if strings.Join(got, "\n") != strings.Join(want, "\n") || found.Err() != nil {
		t.Errorf("got\n%s\n%v", strings.Join(got, "\n"), found.Err())
	}
	many := Parse([]byte("{"+strings.Repeat("a: [1, 2], ", 17)+"}"), found)
	if Expand(many, nil, found) != nil || found.Err() == nil {
		t.Error("2^17 cells were made")
	}
}

// FuzzParse: any text gives a node or a problem at a place within the text, and Flow and Expand accept every node.
func FuzzParse(f *testing.F) {
	for _, s := range []string{"a: 1\nb: [x, {c: &d 2}, *d]\n", "\ta", "a: {b", "a: 'b", "- - -\n? a\n: b\n", "a: |\n  b\n c\n", "---\na\n---\nb\n", "<<: {a: 1}\n", "\ufeffa: !!str 1\r\n", "*a", "%YAML 1.1\n---\n"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		found := NewFindings("f.yaml")
		root := Parse(text, found)
		err := found.Err()
		if root == nil && err == nil {
			t.Fatal("neither a node nor a problem")
		}
		if err != nil {
			for _, p := range err.(Problems) {
				if lines := strings.Count(string(text), "\n") + strings.Count(string(text), "\r") + 2 + strings.Count(string(text), "\u0085") + strings.Count(string(text), "\u2028") + strings.Count(string(text), "\u2029"); p.Message == "" || p.Line < 0 || p.Line > lines {
					t.Fatalf("%v, in a text of %d lines", p, lines)
				}
			}
			return
		}
		Flow(root)
		Expand(root, []string{"a"}, found)
	})
}

// A value keeps its type in JSON, and is written as in the file.
func TestLiteral(t *testing.T) {
	for in, want := range map[string][2]string{
		"true": {"true", "true"}, "False": {"False", "false"}, "32": {"32", "32"}, "-0.50": {"-0.50", "-0.50"}, "1e-3": {"1e-3", "1e-3"},
		".5": {".5", "0.5"}, "5.": {"5.", "5"}, "+5": {"+5", "5"}, "12345678901234567890": {"12345678901234567890", "12345678901234567890"},
		"null": {"null", "null"}, "~": {"null", "null"}, "adam": {"adam", `"adam"`}, `"32"`: {"32", `"32"`}, "'true'": {"true", `"true"`},
		`"null"`: {"null", `"null"`}, "no": {"no", `"no"`}, "2024-01-02": {"2024-01-02", `"2024-01-02"`}, "é": {"é", `"é"`},
		"0x10": {"", "write 16, or in quotes"}, "010": {"", "leading zero"}, ".inf": {"", "or in quotes, for a text"}, "1_000": {"", "separator"},
		"[a]": {"", "expected a text, a number, true, false or null"}, `""`: {"", "an empty text"},
	} {
		found := NewFindings("f.yaml")
		root := Parse([]byte("x: "+in+"\n"), found)
		if err := found.Err(); err != nil {
			t.Fatalf("%s: %v", in, err)
		}
		text, literal, err := Literal(Find(root, "x"))
		if want[0] == "" {
			if err == nil || !strings.Contains(err.Error(), want[1]) {
				t.Errorf("%s: %v, want %q", in, err, want[1])
			}
		} else if text != want[0] || literal != want[1] || err != nil || !json.Valid([]byte(literal)) {
			t.Errorf("%s: %s, %s, %v; want %v", in, text, literal, err, want)
		}
	}
}
