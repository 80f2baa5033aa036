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

// shorten makes short names for components, from their YAML flow texts. Of numbers and the settings of hyperparameters they have those
// in which texts differ that would else look the same, and where this does not tell them apart it is their text.
func shorten(texts []string) map[string]string {
	short := map[string]string{}
	alike := map[string][]string{} // the texts of every name without settings
	for _, text := range texts {
		if _, found := short[text]; !found {
			name := shortName(text)
			short[text], alike[name] = name, append(alike[name], text)
		}
	}
	for _, group := range alike {
		values := map[string][]string{} // of every setting, where texts have it
		for _, text := range group {
			var n namer
			n.name(text)
			for path, value := range n.settings {
				values[path] = append(values[path], value)
			}
		}
		tell := namer{told: map[string]bool{}}
		for path, of := range values {
			tell.told[path] = len(of) < len(group) || slices.ContainsFunc(of, func(v string) bool { return v != of[0] })
		}
		for _, text := range group {
			short[text] = tell.name(text)
		}
	}
	named := map[string]int{}
	for _, name := range short {
		named[name]++
	}
	for text, name := range short {
		if named[name] > 1 {
			short[text] = text
		}
	}
	return short
}

// shortName makes {sum: [{se: {length_scale: {init: 2}}}, noise]} into sum(se, noise).
func shortName(text string) string { return new(namer).name(text) }

// namer names components with those of their settings that are to be told, by path, and finds all settings.
type namer struct {
	told     map[string]bool
	settings map[string]string
}

func (c *namer) name(text string) string {
	var root yaml.Node
	if err := yaml.Unmarshal([]byte(text), &root); err == nil && len(root.Content) == 1 {
		return c.component(root.Content[0], "")
	}
	return text
}

// component names a component: se, {se: options}, or a list of components.
func (c *namer) component(n *yaml.Node, path string) string {
	var parts []string
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			parts = append(parts, n.Content[i].Value+c.options(n.Content[i+1], path+"."+n.Content[i].Value))
		}
	case yaml.SequenceNode:
		for i, item := range n.Content {
			parts = append(parts, c.component(item, fmt.Sprintf("%s.%d", path, i)))
		}
	default:
		return n.Value
	}
	return strings.Join(parts, ", ")
}

// options are what follows a component's name in brackets, if anything.
func (c *namer) options(n *yaml.Node, path string) string {
	text := ""
	switch n.Kind {
	case yaml.MappingNode:
		var parts []string
		for i := 0; i+1 < len(n.Content); i += 2 {
			name, value := n.Content[i].Value, n.Content[i+1]
			at := path + "." + name
			if !setting(value) {
				parts = append(parts, fmt.Sprintf("%s: %s", name, c.component(value, at)))
				continue
			}
			if c.settings == nil {
				c.settings = map[string]string{}
			}
			if c.settings[at] = plainly(value); c.told[at] {
				parts = append(parts, fmt.Sprintf("%s: %s", name, c.settings[at]))
			}
		}
		text = strings.Join(parts, ", ")
	default:
		text = c.component(n, path)
	}
	if text == "" {
		return ""
	}
	return "(" + text + ")"
}

// plainly writes {fixed: 2} as "fixed 2".
func plainly(n *yaml.Node) string {
	var parts []string
	switch n.Kind {
	case yaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			parts = append(parts, n.Content[i].Value+" "+plainly(n.Content[i+1]))
		}
	case yaml.SequenceNode:
		for _, item := range n.Content {
			parts = append(parts, plainly(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	default:
		return n.Value
	}
	return strings.Join(parts, ", ")
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
