package strictyaml

import "slices"

// Limits on a cross product.
const (
	MaxAlternatives = 100_000   // cells of one cross product
	maxExpanded     = 5_000_000 // nodes created for one cross product
)

// Expand returns the cross product of a part of a text in which any value may be a list of
// alternatives; the first list varies slowest. Values of the keys in lists are lists themselves:
// their elements expand, the list stays. If there are too many cells, that is a problem, and the
// result is nil.
func Expand(n *Node, lists []string, found *Findings) []*Node {
	if n == nil {
		return []*Node{nil}
	}
	e := expander{lists: lists, found: found, left: maxExpanded}
	all := e.expand(n)
	if e.refused {
		return nil
	}
	return all
}

// TooMany reports that the lists at a node multiply to more than MaxAlternatives.
func TooMany(n *Node, found *Findings) {
	found.At(n, "the lists multiply to more than %d configurations; split the experiment", MaxAlternatives)
}

type expander struct {
	lists   []string
	found   *Findings
	left    int
	refused bool
}

func (e *expander) expand(n *Node) (all []*Node) {
	switch n.Kind {
	case SequenceNode:
		if len(n.Content) == 0 {
			e.found.At(n, "an empty list leaves nothing to run; name at least one value")
		}
		for _, c := range n.Content {
			if all = append(all, e.expand(c)...); len(all) > MaxAlternatives {
				return e.refuse(n)
			}
		}
		return all
	case MappingNode:
		parts := make([][]*Node, len(n.Content))
		for i := 0; i < len(n.Content); i += 2 {
			key, value := n.Content[i], n.Content[i+1]
			parts[i] = []*Node{key}
			if value.Kind == SequenceNode && slices.Contains(e.lists, key.Value) {
				elements := make([][]*Node, len(value.Content))
				for k, c := range value.Content {
					elements[k] = e.expand(c)
				}
				parts[i+1] = e.product(value, elements)
			} else {
				parts[i+1] = e.expand(value)
			}
		}
		return e.product(n, parts)
	}
	return []*Node{n}
}

// product makes copies of a node for all combinations of its parts, the last fastest.
func (e *expander) product(n *Node, parts [][]*Node) []*Node {
	cells := 1
	for _, p := range parts {
		if cells *= len(p); cells > MaxAlternatives {
			return e.refuse(n)
		}
	}
	if e.left -= cells * (1 + len(parts)); e.left < 0 {
		return e.refuse(n)
	}
	all := make([]*Node, cells)
	for cell := range all {
		c := Emptied(n)
		c.Content = make([]*Node, len(parts))
		rest := cell
		for i := len(parts) - 1; i >= 0; i-- {
			c.Content[i] = parts[i][rest%len(parts[i])]
			rest /= len(parts[i])
		}
		all[cell] = c
	}
	return all
}

// refuse reports once that the cross product is too large.
func (e *expander) refuse(n *Node) []*Node {
	if !e.refused {
		TooMany(n, e.found)
		e.refused = true
	}
	return nil
}

// Emptied is a copy of a node without its content.
func Emptied(n *Node) *Node {
	c := *n
	c.Content = nil
	return &c
}
