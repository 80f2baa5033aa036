// Package strictyaml reads a strict subset of YAML: every mistake has its line and column, numbers
// are decimal, tags and merge keys are refused, and time and memory are bounded for any text. It
// wraps gopkg.in/yaml.v3, which no other package of this module imports.
package strictyaml

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"reflect"
	"strings"
	"unicode/utf8"

	"gopkg.in/yaml.v3"

	"github.com/gpc-tune/gpc-tune/internal/pattern"
)

// Limits of a text, far above any real one, against malicious input.
const (
	MaxBytes = 1 << 20 // maximum size of the text
	MaxDepth = 100     // maximum nesting of lists and mappings
	maxNodes = 200_000 // keys, values and elements; repetitions by aliases count again
)

// Parse reads the one document of a text. Aliases are replaced by their anchors. Problems are added
// to found; the node is then nil unless the whole document could be read.
func Parse(text []byte, found *Findings) *Node {
	fail := func(line, column int, message string) *Node {
		found.AtPlace(Place{found.file, line, column}, "%s", message)
		return nil
	}
	if len(text) > MaxBytes {
		found.At(nil, "%d bytes, more than the %d that will be read; take repeated parts out of the file",
			len(text), MaxBytes)
		return nil
	}
	for _, check := range []func([]byte) (int, string){notText, tooDeep} {
		if at, message := check(text); message != "" {
			line, column := placeAt(text, at)
			return fail(line, column, message)
		}
	}
	if n := bytes.Count(text, []byte(",")); n > maxNodes {
		found.At(nil, "%d commas, and so more than the %d entries that will be read", n, maxNodes)
		return nil
	}
	dec := yaml.NewDecoder(bytes.NewReader(text))
	var doc, second Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return fail(1, 1, "the file is empty")
	case err != nil:
		return fail(place(dec, text, err))
	}
	switch err := dec.Decode(&second); {
	case err == nil:
		return fail(second.Line, second.Column, "a second document; one file declares one experiment")
	case !errors.Is(err, io.EOF):
		return fail(place(dec, text, err))
	}
	r := resolver{found: found, left: maxNodes}
	root := r.resolve(doc.Content[0], 0)
	if r.left < 0 {
		return nil
	}
	return root
}

const byteOrder = "\ufeff" // a byte-order mark, which occupies no column

// placeAt is the position of a byte.
func placeAt(text []byte, at int) (line, column int) {
	before := strings.TrimPrefix(string(text[:at]), byteOrder)
	before = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(before)
	last := before[1+strings.LastIndexByte(before, '\n'):]
	return 1 + strings.Count(before, "\n"), 1 + utf8.RuneCountInString(last)
}

// notText finds the first byte that YAML does not allow.
func notText(text []byte) (at int, message string) {
	if bytes.HasPrefix(text, []byte("\xff\xfe")) || bytes.HasPrefix(text, []byte("\xfe\xff")) {
		return at, "UTF-16 text; save it as UTF-8"
	}
	at = len(text) - len(bytes.TrimPrefix(text, []byte(byteOrder)))
	for at < len(text) {
		c, size := utf8.DecodeRune(text[at:])
		switch {
		case c == utf8.RuneError && size == 1:
			return at, fmt.Sprintf("byte %#02x is not UTF-8 text; save the file as UTF-8", text[at])
		case c < ' ' && c != '\t' && c != '\n' && c != '\r' || c >= 0x7f && c < 0xa0 && c != 0x85 || c == '\ufeff':
			const way = `control character U+%04X; remove it, or write it in double quotes as "\u%04X"`
			return at, fmt.Sprintf(way, c, c)
		}
		at += size
	}
	return at, ""
}

// tooDeep finds brackets that are nested too deeply, because the library's time grows with the
// square of their depth. It also counts brackets in quotes and comments, which are mostly closed
// there again, so the limit is a multiple of MaxDepth.
func tooDeep(text []byte) (at int, message string) {
	depth := 0
	for i, c := range text {
		switch c {
		case '[', '{':
			if depth++; depth > 10*MaxDepth {
				return i, fmt.Sprintf("lists and mappings within each other, deeper than %d levels", MaxDepth)
			}
		case ']', '}':
			depth = max(0, depth-1)
		}
	}
	return at, ""
}

// place finds the position of a syntax error. The library's message counts the lines of some errors
// from 0, and may name the line where the current element begins instead of the line of the error.
// Its parser has both positions, which are read by reflection.
func place(dec *yaml.Decoder, text []byte, err error) (line, column int, message string) {
	message = lineOf().ReplaceAllString(err.Error(), "")
	if m := anchorOf().FindStringSubmatch(message); m != nil { // the message has no position
		line, column = placeOf(text, "*"+m[1])
		return line, column, explain(message)
	}
	parser := reflect.ValueOf(dec).Elem().FieldByName("parser").Elem().FieldByName("parser")
	mark := func(name string) (line, column int) {
		m := parser.FieldByName(name)
		return int(m.FieldByName("line").Int()) + 1, int(m.FieldByName("column").Int()) + 1
	}
	line, column = mark("problem_mark")
	if lines := 1 + bytes.Count(text, []byte("\n")); line > lines { // the last line had no line end
		line, column = lines, 1+utf8.RuneCount(text[1+bytes.LastIndexByte(text, '\n'):])
	}
	message = explain(message)
	if context := parser.FieldByName("context").String(); context != "" {
		fromLine, fromColumn := mark("context_mark")
		message += ", " + context
		if fromLine != line || fromColumn != column {
			message += fmt.Sprintf(" that begins at %d:%d", fromLine, fromColumn)
		}
	}
	return line, column, message
}

// placeOf finds the first occurrence of a word that is not in a comment.
func placeOf(text []byte, word string) (line, column int) {
	for at := range bytes.Lines(text) {
		line++
		code, _, _ := bytes.Cut(at, []byte(" #"))
		for from := 0; ; {
			k := bytes.Index(code[from:], []byte(word))
			if k < 0 {
				break
			}
			if from += k + len(word); from == len(code) || bytes.IndexByte([]byte(" \t\r\n,]}:"), code[from]) >= 0 {
				return line, 1 + utf8.RuneCount(code[:from-len(word)])
			}
		}
	}
	return 1, 1
}

var anchorOf = pattern.Of(`^unknown anchor '(.*)' referenced$`)

var lineOf = pattern.Of(`^yaml: (line \d+: )?`)

// explain adds a remedy to the library's message.
func explain(message string) string {
	for _, e := range []struct{ of, then string }{
		{"cannot start any token", "indent with blanks, not with tabs, and quote what begins with @, ` or %"},
		{"violates indentation", "indent with blanks, not with tabs"},
		{"mapping values are not allowed", "quote a text that has \": \" in it, or put the key on a line of its own"},
		{"',' or '}'", "close the brace, or put a comma between its keys"},
		{"',' or ']'", "close the bracket, or put a comma between its elements"},
		{"expected key", "keys of one mapping begin in the same column"},
		{"unknown anchor", "an alias *name repeats what &name stands before"},
	} {
		if strings.Contains(message, e.of) {
			return message + " (" + e.then + ")"
		}
	}
	return message
}

// resolver copies nodes with their aliases replaced.
type resolver struct {
	found *Findings
	left  int // nodes that may still be made; less than 0: already reported
}

func (r *resolver) resolve(n *Node, depth int) *Node {
	if r.left--; r.left >= 0 && depth <= MaxDepth {
		return r.copy(n, depth)
	}
	if r.left >= -1 { // report once
		r.left = -2
		r.found.At(n, "nested deeper than %d levels or longer than %d entries (an alias that contains itself?)",
			MaxDepth, maxNodes)
	}
	return &Node{Kind: ScalarNode, Tag: "!!null", Line: n.Line, Column: n.Column}
}

func (r *resolver) copy(n *Node, depth int) *Node {
	if n.Kind == yaml.AliasNode {
		return r.resolve(n.Alias, depth)
	}
	if n.Style&yaml.TaggedStyle != 0 {
		r.found.At(n, "tags (%s) are not supported; write numbers plainly and quote texts", n.Tag)
	}
	c := *n
	c.Anchor = ""
	c.Content = nil
	for i, child := range n.Content {
		if r.left < 0 {
			break
		}
		if n.Kind == MappingNode && n.Content[i/2*2].ShortTag() == "!!merge" {
			if i%2 == 0 {
				r.found.At(child, "merge keys (<<) are not supported; "+
					"write an alias as the whole value, or repeat the keys")
			}
			continue
		}
		c.Content = append(c.Content, r.resolve(child, depth+1))
	}
	return &c
}
