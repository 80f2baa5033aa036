package spec

import (
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/experiments/data/tables"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
)

// set applies `--set path=value`: path is keys separated by dots, value is YAML. Missing mappings
// are created.
func (d *decoder) set(root *strictyaml.Node, assignment string) {
	name := assignment
	if len(name) > 200 {
		name = strings.ToValidUTF8(name[:200], "") + "…"
	}
	arg := d.As("--set " + name)
	path, text, ok := strings.Cut(assignment, "=")
	if !ok || path == "" {
		arg.At(nil, "expected path=value, as in model.likelihood=logit")
		return
	}
	value := &strictyaml.Node{Kind: strictyaml.ScalarNode, Tag: "!!null"}
	if strings.TrimSpace(text) != "" {
		if value = strictyaml.Parse([]byte(text), arg.Found); value == nil {
			return
		}
	}
	forget(value)
	n := root
	keys := strings.Split(path, ".")
	if len(keys) > strictyaml.MaxDepth {
		arg.At(nil, "%d keys within each other, more than %d", len(keys), strictyaml.MaxDepth)
		return
	}
	for i, key := range keys {
		if n.Kind != strictyaml.MappingNode {
			arg.At(nil, "%s is not a mapping in the file", strings.Join(keys[:i], "."))
			return
		}
		at := -1
		for j := 0; j < len(n.Content); j += 2 {
			if n.Content[j].Value == key {
				at = j + 1
			}
		}
		if at < 0 {
			n.Content = append(n.Content, &strictyaml.Node{Kind: strictyaml.ScalarNode, Tag: "!!str", Value: key},
				&strictyaml.Node{Kind: strictyaml.MappingNode, Tag: "!!map"})
			at = len(n.Content) - 1
		}
		if i == len(keys)-1 {
			n.Content[at] = value
		} else if strictyaml.IsNull(n.Content[at]) {
			n.Content[at] = &strictyaml.Node{Kind: strictyaml.MappingNode, Tag: "!!map"}
		}
		n = n.Content[at]
	}
}

// pathKeys are the keys whose values are paths.
var pathKeys = []string{"data.train", "data.test", "tune.start_from"}

// Rebased converts a setting of a command line to a setting of the file. Paths of the command line
// are relative to the current folder, paths of the file to its folder, so relative paths become
// absolute. A relative path that does not exist in the current folder is left as it is.
func Rebased(file, assignment string) string {
	path, text, _ := strings.Cut(assignment, "=")
	value := strictyaml.Parse([]byte(text), strictyaml.NewFindings(""))
	if !slices.Contains(pathKeys, path) || value == nil || filepath.Dir(file) == "." {
		return assignment
	}
	paths := value.Content
	if value.Kind == strictyaml.ScalarNode {
		paths = []*strictyaml.Node{value}
	}
	changed := false
	for _, n := range paths {
		name, _ := tables.Located(n.Value)
		_, missing := os.Stat(name)
		absolute, err := filepath.Abs(n.Value)
		if n.Kind == strictyaml.ScalarNode && !filepath.IsAbs(n.Value) && missing == nil && err == nil {
			*n, changed = strictyaml.Node{Kind: strictyaml.ScalarNode, Tag: "!!str", Value: absolute}, true
		}
	}
	out, err := strictyaml.Marshal(value)
	if !changed || err != nil {
		return assignment
	}
	return path + "=" + strings.TrimSuffix(string(out), "\n")
}

// forget removes the position of a value that is not in the file.
func forget(n *strictyaml.Node) {
	n.Line, n.Column = 0, 0
	for _, c := range n.Content {
		forget(c)
	}
}
