package strictyaml

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/gpc-tune/gpc-tune/internal/pattern"
)

// Node is a part of a text with its position. Its tag is the short one ("!!int"), and it is never
// an alias: Parse resolves those.
type Node = yaml.Node

// The kinds of nodes, and the styles that are written.
const (
	SequenceNode      = yaml.SequenceNode
	MappingNode       = yaml.MappingNode
	ScalarNode        = yaml.ScalarNode
	DoubleQuotedStyle = yaml.DoubleQuotedStyle
	FlowStyle         = yaml.FlowStyle
)

// IsNull reports whether a value is empty, ~ or null.
func IsNull(n *Node) bool { return n.Kind == ScalarNode && n.Tag == "!!null" }

// Find returns the value of a key in a mapping, or nil.
func Find(n *Node, key string) *Node {
	if n == nil || n.Kind != MappingNode {
		return nil
	}
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			return n.Content[i+1]
		}
	}
	return nil
}

// Describe names a node in a message: its kind, or the text of a scalar.
func Describe(n *Node) string {
	switch {
	case n.Kind == MappingNode:
		return "a mapping"
	case n.Kind == SequenceNode:
		return "a list"
	case IsNull(n):
		return "nothing"
	case len(n.Value) > 60:
		return strconv.Quote(strings.ToValidUTF8(n.Value[:60], "")) + "…"
	}
	return strconv.Quote(n.Value)
}

var (
	decimal = pattern.Of(`^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$`)
	zeros   = pattern.Of(`^([-+]?)0+([0-9])`)
	based   = pattern.Of(`^[-+]?0[xXoObB]`)
	grouped = pattern.Of(`^[-+]?[0-9][0-9._]*_`)
)

func expected(want string, n *Node) error {
	return fmt.Errorf("expected %s, found %s", want, Describe(n))
}

// decimalText checks that a scalar is a decimal number without leading zeros, which YAML 1.1 reads
// as octal, and without another base or separators, which versions of YAML read differently. If it
// is a text or a list, the error says what was expected.
func decimalText(n *Node, want string) error {
	const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	switch text := n.Value; {
	case n.Kind != ScalarNode || n.Style&quoted != 0:
		return expected(want, n)
	case len(text) > 400:
		return fmt.Errorf("a number of %d characters; write it shorter", len(text))
	case based().MatchString(text):
		if v, err := strconv.ParseInt(text, 0, 64); err == nil {
			return fmt.Errorf("%q is not decimal; write %d", text, v)
		}
		return fmt.Errorf("%q is not decimal", text)
	case grouped().MatchString(text):
		return fmt.Errorf("%q has a separator; write %s", text, strings.ReplaceAll(text, "_", ""))
	case !decimal().MatchString(text):
		return expected(want, n)
	case zeros().MatchString(text) && !strings.ContainsAny(text, ".eE"):
		return fmt.Errorf("%q has a leading zero, which some read as octal; write %s",
			text, zeros().ReplaceAllString(text, "$1$2"))
	}
	return nil
}

// Number reads a finite decimal number.
func Number(n *Node) (float64, error) {
	if err := decimalText(n, "a number"); err != nil {
		return 0, err
	}
	v, err := strconv.ParseFloat(n.Value, 64)
	if err != nil {
		return 0, fmt.Errorf("%s is beyond the range of numbers", n.Value)
	}
	return v, nil
}

// Whole reads an integer of this many bits, including the sign. It may be written like 5.0 or 1e3.
func Whole(n *Node, bits int) (int64, error) {
	const want = "a whole number"
	if err := decimalText(n, want); err != nil {
		return 0, err
	}
	if v, err := strconv.ParseInt(n.Value, 10, bits); err == nil {
		return v, nil
	}
	v, err := strconv.ParseFloat(n.Value, 64)
	if err != nil || v != math.Trunc(v) || math.Abs(v) >= math.Ldexp(1, min(bits-1, exact)) {
		return 0, expected(want, n)
	}
	return int64(v), nil
}

// Natural reads a nonnegative integer of this many bits.
func Natural(n *Node, bits int) (uint64, error) {
	const want = "a whole number, 0 or more"
	if err := decimalText(n, want); err != nil {
		return 0, err
	}
	if v, err := strconv.ParseUint(strings.TrimPrefix(n.Value, "+"), 10, bits); err == nil {
		return v, nil
	}
	v, err := strconv.ParseFloat(n.Value, 64)
	if err != nil || v < 0 || v != math.Trunc(v) || v >= math.Ldexp(1, min(bits, exact)) {
		return 0, expected(want, n)
	}
	return uint64(v), nil
}

// exact is the number of bits of an integer that a float64 represents exactly.
const exact = 53

// Bool reads true or false.
func Bool(n *Node) (bool, error) {
	text, truth := strings.ToLower(n.Value), map[string]bool{"true": true, "yes": true, "on": true, "y": true}
	switch {
	case n.Kind != ScalarNode:
	case n.Tag == "!!bool" && (text == "true" || text == "false"):
		return truth[text], nil
	case truth[text], text == "false", text == "no", text == "off", text == "n":
		return false, fmt.Errorf("expected true or false, found %s; write %t", Describe(n), truth[text])
	}
	return false, expected("true or false", n)
}

// jsonNumber matches the numbers of JSON.
var jsonNumber = pattern.Of(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][-+]?[0-9]+)?$`)

// Literal reads a text, a number, true, false or null: as it is written, and in JSON, which has its
// type.
func Literal(n *Node) (text, literal string, err error) {
	const quoted = yaml.SingleQuotedStyle | yaml.DoubleQuotedStyle | yaml.LiteralStyle | yaml.FoldedStyle
	switch {
	case n.Kind != ScalarNode:
		return "", "", expected("a text, a number, true, false or null", n)
	case n.Value == "":
		return "", "", errors.New("an empty text; write a value, or leave the key out")
	case n.Style&quoted != 0:
	case n.Tag == "!!null":
		return "null", "null", nil
	case n.Tag == "!!bool":
		b, err := Bool(n)
		return n.Value, strconv.FormatBool(b), err
	case n.Tag == "!!int" || n.Tag == "!!float":
		v, err := Number(n)
		if literal = n.Value; !jsonNumber().MatchString(literal) {
			literal = strconv.FormatFloat(v, 'g', -1, 64)
		}
		if err != nil {
			err = fmt.Errorf("%w, or in quotes, for a text", err)
		}
		return n.Value, literal, err
	}
	quote, err := json.Marshal(n.Value)
	return n.Value, string(quote), err
}

// Quoted reports whether a text is in quotes.
func Quoted(n *Node) bool { return n.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle) != 0 }

// Flow writes a node as YAML flow text on one line.
func Flow(n *Node) string {
	if n == nil {
		return ""
	}
	text, err := yaml.Marshal(plainStyle(n))
	if err != nil {
		panic(err) // cannot fail for parsed nodes
	}
	return strings.Join(strings.Fields(string(text)), " ")
}

func plainStyle(n *Node) *Node {
	c := &Node{Kind: n.Kind, Tag: n.Tag, Value: n.Value}
	if n.Kind != ScalarNode {
		c.Style = yaml.FlowStyle
	}
	for _, child := range n.Content {
		c.Content = append(c.Content, plainStyle(child))
	}
	return c
}

// Marshal, Unmarshal, NewEncoder and NewDecoder are the library's own, for texts that this program
// writes and reads itself.
var (
	Marshal    = yaml.Marshal
	Unmarshal  = yaml.Unmarshal
	NewEncoder = yaml.NewEncoder
	NewDecoder = yaml.NewDecoder
)
