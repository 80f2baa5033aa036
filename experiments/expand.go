package experiments

import (
	"fmt"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"
)

// maxConfigurations bounds the cross product of one experiment.
const maxConfigurations = 100_000

// Limits on a configuration file, far above any real one, so that a hostile one is refused and not followed.
const (
	maxDepth = 100
	maxNodes = 1_000_000
)

// parse reads one YAML document and replaces aliases by what they stand for.
func (d *decoder) parse(text []byte) *yaml.Node {
	var doc yaml.Node
	dec := yaml.NewDecoder(strings.NewReader(string(text)))
	err := dec.Decode(&doc)
	if err != nil {
		line := 1
		message := strings.TrimPrefix(err.Error(), "yaml: ")
		if n, _ := fmt.Sscanf(message, "line %d:", &line); n == 1 {
			_, message, _ = strings.Cut(message, ": ")
		} else if err.Error() == "EOF" {
			message = "the file is empty"
		}
		d.problems = append(d.problems, Problem{d.file, line, 1, message})
		return nil
	}
	var second yaml.Node
	if dec.Decode(&second) == nil {
		d.at(&second, "a second document; one file declares one experiment")
		return nil
	}
	budget := maxNodes
	root := d.resolve(doc.Content[0], 0, &budget)
	if budget < 0 {
		return nil
	}
	return root
}

// resolve copies a node with its aliases replaced.
func (d *decoder) resolve(n *yaml.Node, depth int, budget *int) *yaml.Node {
	*budget--
	if depth > maxDepth || *budget < 0 {
		if *budget > -maxNodes { // say it once
			*budget = -2 * maxNodes
			d.at(n, "nested deeper than %d levels or longer than %d entries (an alias that contains itself?)", maxDepth, maxNodes)
		}
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null", Line: n.Line, Column: n.Column}
	}
	if n.Kind == yaml.AliasNode {
		return d.resolve(n.Alias, depth+1, budget)
	}
	c := *n
	c.Tag = n.ShortTag()
	c.Anchor = ""
	c.Content = nil
	for i, child := range n.Content {
		if n.Kind == yaml.MappingNode && n.Content[i/2*2].ShortTag() == "!!merge" {
			if i%2 == 0 {
				d.at(child, "merge keys (<<) are not supported; write an alias as the whole value, or repeat the keys")
			}
			continue
		}
		c.Content = append(c.Content, d.resolve(child, depth+1, budget))
	}
	return &c
}

// expand returns the cross product of a part of the file in which any value may be a list of alternatives. The values
// of the keys in lists are lists by nature: their elements expand, the list itself stays.
func (d *decoder) expand(n *yaml.Node, lists []string) []*yaml.Node {
	if n == nil {
		return []*yaml.Node{nil}
	}
	switch n.Kind {
	case yaml.SequenceNode:
		if len(n.Content) == 0 {
			d.at(n, "an empty list leaves nothing to run; name at least one value")
		}
		var all []*yaml.Node
		for _, c := range n.Content {
			all = append(all, d.expand(c, lists)...)
		}
		return d.bounded(n, all)
	case yaml.MappingNode:
		all := []*yaml.Node{emptied(n)}
		for i := 0; i < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			var values []*yaml.Node
			if value.Kind == yaml.SequenceNode && slices.Contains(lists, key.Value) {
				values = d.product(emptied(value), value.Content, lists)
			} else {
				values = d.expand(value, lists)
			}
			all = d.bounded(n, crossed(all, func(v *yaml.Node) []*yaml.Node { return []*yaml.Node{key, v} }, values))
		}
		return all
	}
	return []*yaml.Node{n}
}

// product expands every element of a list that stays a list.
func (d *decoder) product(empty *yaml.Node, elements []*yaml.Node, lists []string) []*yaml.Node {
	all := []*yaml.Node{empty}
	for _, e := range elements {
		all = d.bounded(empty, crossed(all, func(v *yaml.Node) []*yaml.Node { return []*yaml.Node{v} }, d.expand(e, lists)))
	}
	return all
}

// crossed appends every value to every node.
func crossed(nodes []*yaml.Node, content func(*yaml.Node) []*yaml.Node, values []*yaml.Node) []*yaml.Node {
	if len(nodes)*len(values) > maxConfigurations {
		return make([]*yaml.Node, maxConfigurations+1)
	}
	var all []*yaml.Node
	for _, n := range nodes {
		for _, v := range values {
			c := *n
			c.Content = append(slices.Clip(n.Content), content(v)...)
			all = append(all, &c)
		}
	}
	return all
}

// bounded refuses a cross product that is too large.
func (d *decoder) bounded(n *yaml.Node, all []*yaml.Node) []*yaml.Node {
	if len(all) > maxConfigurations {
		d.at(n, "the lists multiply to more than %d configurations; split the experiment", maxConfigurations)
		return nil
	}
	return all
}

func emptied(n *yaml.Node) *yaml.Node {
	c := *n
	c.Content = nil
	return &c
}

// flow writes a node as YAML flow text on one line, the canonical name of a component in results.
func flow(n *yaml.Node) string {
	if n == nil {
		return ""
	}
	c := plainStyle(n)
	text, err := yaml.Marshal(c)
	if err != nil {
		panic(err) // nodes that were parsed can be written
	}
	return strings.Join(strings.Fields(string(text)), " ")
}

func plainStyle(n *yaml.Node) *yaml.Node {
	c := &yaml.Node{Kind: n.Kind, Tag: n.Tag, Value: n.Value}
	if n.Kind != yaml.ScalarNode {
		c.Style = yaml.FlowStyle
	}
	for _, child := range n.Content {
		c.Content = append(c.Content, plainStyle(child))
	}
	return c
}

// set applies `--set path=value`: path is dotted keys, value YAML. Missing mappings are made.
func (d *decoder) set(root *yaml.Node, assignment string) {
	arg := d.as("--set " + assignment)
	path, text, ok := strings.Cut(assignment, "=")
	if !ok || path == "" {
		arg.at(nil, "expected path=value, as in model.likelihood=logit")
		return
	}
	value := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}
	if strings.TrimSpace(text) != "" {
		if value = arg.parse([]byte(text)); value == nil {
			return
		}
	}
	forget(value)
	n := root
	keys := strings.Split(path, ".")
	for i, key := range keys {
		if n.Kind != yaml.MappingNode {
			arg.at(nil, "%s is not a mapping in the file", strings.Join(keys[:i], "."))
			return
		}
		at := -1
		for j := 0; j < len(n.Content); j += 2 {
			if n.Content[j].Value == key {
				at = j + 1
			}
		}
		if at < 0 {
			n.Content = append(n.Content, &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key}, &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"})
			at = len(n.Content) - 1
		}
		if i == len(keys)-1 {
			n.Content[at] = value
		} else if isNull(n.Content[at]) {
			n.Content[at] = &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
		}
		n = n.Content[at]
	}
}

// forget removes the position of a value that does not stand in the file.
func forget(n *yaml.Node) {
	n.Line, n.Column = 0, 0
	for _, c := range n.Content {
		forget(c)
	}
}
