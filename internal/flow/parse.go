// Package flow reads and writes components as flow text on one line, {se: {length_scale: 2}}: the
// subset of YAML used in model files, without a YAML library. A component's options are its fields
// with yaml tags.
package flow

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/gpc-tune/gpc-tune/internal/record"
)

// maxDepth is the maximum nesting of lists and mappings.
const maxDepth = 100

// Parse reads a word, a list or a mapping. Words may be in single or double quotes.
func Parse(text string) (record.Node, error) {
	p := parser{text: text}
	n, err := p.node(0)
	if err == nil && p.next() != 0 {
		err = p.wrong("the end")
	}
	return n, err
}

type parser struct {
	text string
	at   int
}

// next is the next nonblank character, 0 at the end.
func (p *parser) next() byte {
	for p.at < len(p.text) && p.text[p.at] == ' ' {
		p.at++
	}
	if p.at == len(p.text) {
		return 0
	}
	return p.text[p.at]
}

func (p *parser) wrong(want string) error {
	return fmt.Errorf("column %d of %q: want %s", p.at+1, p.text, want)
}

func (p *parser) node(depth int) (n record.Node, err error) {
	if depth > maxDepth {
		return n, p.wrong(fmt.Sprintf("at most %d levels", maxDepth))
	}
	open := p.next()
	end := map[byte]byte{'{': '}', '[': ']'}[open]
	if end == 0 {
		if n.Word, err = p.word(); err != nil {
			return n, err
		}
		if x, err := strconv.ParseFloat(n.Word, 64); err == nil && !math.IsNaN(x) {
			n.Number = (*record.Number)(&x)
		}
		return n, nil
	}
	for p.at++; ; p.at++ {
		var part record.Part
		if open == '{' {
			if part.Key, err = p.word(); err == nil && p.next() != ':' {
				err = p.wrong("a colon")
			}
			if err != nil {
				return n, err
			}
			p.at++
		}
		if part.Node, err = p.node(depth + 1); err != nil {
			return n, err
		}
		n.Parts = append(n.Parts, part)
		switch p.next() {
		case end:
			p.at++
			return n, nil
		case ',':
		default:
			return n, p.wrong(fmt.Sprintf("a comma or %c", end))
		}
	}
}

// word reads a name, a number or a text in quotes.
func (p *parser) word() (string, error) {
	switch quote := p.next(); quote {
	case '\'':
		return p.single()
	case '"':
		text, err := strconv.QuotedPrefix(p.text[p.at:])
		if err != nil {
			return "", p.wrong("a text in quotes")
		}
		p.at += len(text)
		return strconv.Unquote(text)
	}
	rest := p.text[p.at:]
	if i := strings.IndexAny(rest, ",:{}[]'\""); i >= 0 {
		rest = rest[:i]
	}
	p.at += len(rest)
	if rest = strings.TrimRight(rest, " "); rest == "" {
		return "", p.wrong("a word")
	}
	return rest, nil
}

// single reads a text in single quotes; a doubled quote stands for one.
func (p *parser) single() (string, error) {
	for i := p.at + 1; i < len(p.text); i++ {
		if p.text[i] != '\'' {
			continue
		}
		if i+1 < len(p.text) && p.text[i+1] == '\'' {
			i++
			continue
		}
		text := strings.ReplaceAll(p.text[p.at+1:i], "''", "'")
		p.at = i + 1
		return text, nil
	}
	return "", p.wrong("a text in quotes")
}
