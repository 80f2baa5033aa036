package reports

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"
)

// shorten makes short names for the components of the report's configurations.
func (r *Report) shorten() map[string]string {
	var texts []string
	for _, c := range r.Configurations {
		texts = append(texts, c.Kernel, c.Likelihood, c.Inference, c.TuneInference, c.Tune)
	}
	return shorten(texts)
}

// shorten makes short names for components, from their YAML flow texts. Numbers and the settings of hyperparameters are
// left out, unless texts that differ would then look the same.
func shorten(texts []string) map[string]string {
	short := map[string]string{}
	firsts := map[string]string{} // the first text of every short name
	clash := map[string]bool{}
	for _, text := range texts {
		name := shortName(text)
		if first, found := firsts[name]; found && first != text {
			clash[name] = true
		} else {
			firsts[name] = text
		}
		short[text] = name
	}
	for text, name := range short {
		if clash[name] {
			short[text] = text
		}
	}
	return short
}

// shortName makes {sum: [{se: {length_scale: {init: 2}}}, noise]} into sum(se, noise).
func shortName(text string) string {
	var root yaml.Node
	if err := yaml.Unmarshal([]byte(text), &root); err == nil && len(root.Content) == 1 {
		return component(root.Content[0])
	}
	return text
}

// component names a component: se, {se: options}, or a list of components.
func component(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		var parts []string
		for i := 0; i+1 < len(n.Content); i += 2 {
			parts = append(parts, n.Content[i].Value+options(n.Content[i+1]))
		}
		return strings.Join(parts, ", ")
	case yaml.SequenceNode:
		var parts []string
		for _, item := range n.Content {
			parts = append(parts, component(item))
		}
		return strings.Join(parts, ", ")
	}
	return n.Value
}

// options are what follows a component's name in brackets, if anything.
func options(n *yaml.Node) string {
	text := ""
	switch n.Kind {
	case yaml.MappingNode:
		var parts []string
		for i := 0; i+1 < len(n.Content); i += 2 {
			if name, value := n.Content[i].Value, n.Content[i+1]; !setting(value) {
				parts = append(parts, fmt.Sprintf("%s: %s", name, component(value)))
			}
		}
		text = strings.Join(parts, ", ")
	default:
		text = component(n)
	}
	if text == "" {
		return ""
	}
	return "(" + text + ")"
}

// setting says if a value is a number or the setting of a hyperparameter.
func setting(n *yaml.Node) bool {
	if n.Kind == yaml.MappingNode {
		for i := 0; i < len(n.Content); i += 2 {
			if !slices.Contains([]string{"init", "fixed", "bounds", "prior"}, n.Content[i].Value) {
				return false
			}
		}
		return true
	}
	_, err := strconv.ParseFloat(n.Value, 64)
	return n.Kind == yaml.ScalarNode && err == nil
}
