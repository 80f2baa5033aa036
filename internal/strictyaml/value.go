package strictyaml

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// IsNull says whether a value was left empty, or is ~ or null.
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
	decimal = regexp.MustCompile(`^[-+]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][-+]?[0-9]+)?$`)
	zeros   = regexp.MustCompile(`^([-+]?)0+([0-9])`)
	based   = regexp.MustCompile(`^[-+]?0[xXoObB]`)
	grouped = regexp.MustCompile(`^[-+]?[0-9][0-9._]*_`)
)

// errNumber is that a text is no number at all.
var errNumber = errors.New("not a number")

// decimalText checks that a scalar is a number as everybody writes it: decimal, without leading zeros, which YAML 1.1 takes for
// octal, and without another base or separators, of which versions of YAML think differently.
func decimalText(n *Node) error {
	plain := n.Kind == ScalarNode && n.Style&(yaml.SingleQuotedStyle|yaml.DoubleQuotedStyle|yaml.LiteralStyle|yaml.FoldedStyle) == 0
	switch text := n.Value; {
	case !plain:
		return errNumber
	case len(text) > 400:
		return fmt.Errorf("a number of %d characters; write it shorter", len(text))
	case based.MatchString(text):
		if v, err := strconv.ParseInt(text, 0, 64); err == nil {
			return fmt.Errorf("%q is not decimal; write %d", text, v)
		}
		return fmt.Errorf("%q is not decimal", text)
	case grouped.MatchString(text):
		return fmt.Errorf("%q has a separator; write %s", text, strings.ReplaceAll(text, "_", ""))
	case !decimal.MatchString(text):
		return errNumber
	case zeros.MatchString(text) && !strings.ContainsAny(text, ".eE"):
		return fmt.Errorf("%q has a leading zero, which some read as octal; write %s", text, zeros.ReplaceAllString(text, "$1$2"))
	}
	return nil
}

// Number reads a finite decimal number.
func Number(n *Node) (float64, error) {
	if err := decimalText(n); err != nil {
		return 0, notA(n, "a number", err)
	}
	v, err := strconv.ParseFloat(n.Value, 64)
	if err != nil || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%s is beyond the range of numbers", n.Value)
	}
	return v, nil
}

// Whole reads a whole number from lo to hi; unsigned says that it is 0 or more, in messages. It may be written like 5.0 or 1e3.
func Whole(n *Node, bits int) (int64, error) {
	if err := decimalText(n); err != nil {
		return 0, notA(n, "a whole number", err)
	}
	if v, err := strconv.ParseInt(n.Value, 10, bits); err == nil {
		return v, nil
	}
	v, err := strconv.ParseFloat(n.Value, 64)
	if err != nil || v != math.Trunc(v) || math.Abs(v) >= 1<<53 || bits < 64 && math.Abs(v) >= math.Ldexp(1, bits-1) {
		return 0, fmt.Errorf("expected a whole number, found %s", Describe(n))
	}
	return int64(v), nil
}

// Natural reads a whole number that is 0 or more.
func Natural(n *Node, bits int) (uint64, error) {
	if err := decimalText(n); err != nil {
		return 0, notA(n, "a whole number, 0 or more", err)
	}
	if v, err := strconv.ParseUint(strings.TrimPrefix(n.Value, "+"), 10, bits); err == nil {
		return v, nil
	}
	v, err := strconv.ParseFloat(n.Value, 64)
	if err != nil || v < 0 || v != math.Trunc(v) || v >= 1<<53 || bits < 64 && v >= math.Ldexp(1, bits) {
		return 0, fmt.Errorf("expected a whole number, 0 or more, found %s", Describe(n))
	}
	return uint64(v), nil
}

// Bool reads true or false.
func Bool(n *Node) (bool, error) {
	if n.Kind == ScalarNode && n.Tag == "!!bool" {
		switch strings.ToLower(n.Value) {
		case "true":
			return true, nil
		case "false":
			return false, nil
		}
	}
	meant := map[string]string{"yes": "true", "on": "true", "y": "true", "no": "false", "off": "false", "n": "false"}[strings.ToLower(n.Value)]
	if n.Kind == ScalarNode && meant != "" {
		return false, fmt.Errorf("expected true or false, found %s; write %s", Describe(n), meant)
	}
	return false, fmt.Errorf("expected true or false, found %s", Describe(n))
}

// notA says that a node is not what was expected, or why the number is not taken.
func notA(n *Node, what string, err error) error {
	if errors.Is(err, errNumber) {
		return fmt.Errorf("expected %s, found %s", what, Describe(n))
	}
	return err
}

// Flow writes a node as YAML flow text on one line.
func Flow(n *Node) string {
	if n == nil {
		return ""
	}
	text, err := yaml.Marshal(plainStyle(n))
	if err != nil {
		panic(err) // nodes that were parsed can be written
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

// Marshal, Unmarshal, NewEncoder and NewDecoder are the library's own, for texts that this program writes and reads.
var (
	Marshal    = yaml.Marshal
	Unmarshal  = yaml.Unmarshal
	NewEncoder = yaml.NewEncoder
	NewDecoder = yaml.NewDecoder
)
