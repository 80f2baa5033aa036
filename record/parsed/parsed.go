// Package parsed makes components of records from YAML.
package parsed

import (
	"math"
	"slices"
	"strconv"

	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/record"
)

// Component converts a node to the form of records.
func Component(n *strictyaml.Node) record.Component {
	if n == nil {
		return record.Component{}
	}
	return record.Component{Text: strictyaml.Flow(n), Node: nodeOf(n)}
}

// ComponentOf reads the text of a component; a text that is not YAML is a word.
func ComponentOf(text string) record.Component {
	var root strictyaml.Node
	if err := strictyaml.Unmarshal([]byte(text), &root); err != nil || len(root.Content) != 1 {
		return record.Plain(text)
	}
	return record.Component{Text: text, Node: nodeOf(root.Content[0])}
}

func nodeOf(n *strictyaml.Node) (out record.Node) {
	switch n.Kind {
	case strictyaml.MappingNode:
		for pair := range slices.Chunk(n.Content, 2) {
			out.Parts = append(out.Parts, record.Part{Key: pair[0].Value, Node: nodeOf(pair[1])})
		}
	case strictyaml.SequenceNode:
		for _, item := range n.Content {
			out.Parts = append(out.Parts, record.Part{Node: nodeOf(item)})
		}
	default:
		out.Word = n.Value
		if x, err := strconv.ParseFloat(n.Value, 64); err == nil && !math.IsNaN(x) {
			out.Number = (*record.Number)(&x)
		}
	}
	return out
}
