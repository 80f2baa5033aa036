package reports

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
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
// left out, unless texts that differ would then look the same: these show the settings in which they differ, to four digits, or if
// that is not enough the whole text.
func shorten(texts []string) map[string]string {
	short := map[string]string{}
	alike := map[string][]string{} // the texts of every short name
	for _, text := range texts {
		if _, met := short[text]; !met {
			short[text] = namer{}.name(text)
			alike[short[text]] = append(alike[short[text]], text)
		}
	}
	for _, group := range alike {
		if len(group) == 1 {
			continue
		}
		values := map[string][]string{} // of every setting, where texts have it
		for _, text := range group {
			met := map[string]string{}
			namer{met: met}.name(text)
			for path, setting := range met {
				values[path] = append(values[path], setting)
			}
		}
		n := namer{shown: map[string]bool{}}
		for path, of := range values {
			n.shown[path] = len(of) < len(group) || len(slices.Compact(of)) > 1
		}
		for _, text := range group {
			short[text] = n.name(text)
		}
	}
	uses := map[string]int{}
	for _, name := range short {
		uses[name]++
	}
	for text, name := range short {
		if uses[name] > 1 {
			short[text] = text
		}
	}
	return short
}

// shortName makes {sum: [{se: {length_scale: {init: 2}}}, noise]} into sum(se, noise).
func shortName(text string) string { return namer{}.name(text) }

// namer names components.
type namer struct {
	shown map[string]bool   // the settings that names have, by their path
	met   map[string]string // takes the text of every setting; nil: none
}

func (w namer) name(text string) string {
	var root strictyaml.Node
	if err := strictyaml.Unmarshal([]byte(text), &root); err == nil && len(root.Content) == 1 {
		return w.component(root.Content[0], "")
	}
	return text
}

// component names a component: se, {se: options}, or a list of components.
func (w namer) component(n *strictyaml.Node, path string) string {
	var parts []string
	switch n.Kind {
	case strictyaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			parts = append(parts, n.Content[i].Value+w.options(n.Content[i+1], path+"."+n.Content[i].Value))
		}
	case strictyaml.SequenceNode:
		for i, item := range n.Content {
			parts = append(parts, w.component(item, path+"."+strconv.Itoa(i)))
		}
	default:
		return n.Value
	}
	return strings.Join(parts, ", ")
}

// options are what follows a component's name in brackets, if anything.
func (w namer) options(n *strictyaml.Node, path string) string {
	text := ""
	switch n.Kind {
	case strictyaml.MappingNode:
		var parts []string
		for i := 0; i+1 < len(n.Content); i += 2 {
			name, value := n.Content[i].Value, n.Content[i+1]
			at := path + "." + name
			switch {
			case !setting(value):
				parts = append(parts, fmt.Sprintf("%s: %s", name, w.component(value, at)))
			case w.shown[at]:
				parts = append(parts, fmt.Sprintf("%s: %s", name, settingText(value)))
			case w.met != nil:
				w.met[at] = settingText(value)
			}
		}
		text = strings.Join(parts, ", ")
	default:
		text = w.component(n, path)
	}
	if text == "" {
		return ""
	}
	return "(" + text + ")"
}

// settingText is a setting as a reader likes it: 0.3, fixed 0.3, init 1 bounds 0.1 to 10.
func settingText(n *strictyaml.Node) string {
	var words []string
	switch n.Kind {
	case strictyaml.MappingNode:
		for i := 0; i+1 < len(n.Content); i += 2 {
			words = append(words, n.Content[i].Value, settingText(n.Content[i+1]))
		}
		return strings.Join(words, " ")
	case strictyaml.SequenceNode:
		for _, item := range n.Content {
			words = append(words, settingText(item))
		}
		return strings.Join(words, " to ")
	}
	if x, err := strconv.ParseFloat(n.Value, 64); err == nil {
		return strconv.FormatFloat(x, 'g', 4, 64)
	}
	return n.Value
}

// setting says if a value is a number or the setting of a hyperparameter.
func setting(n *strictyaml.Node) bool {
	if n.Kind == strictyaml.MappingNode {
		for i := 0; i < len(n.Content); i += 2 {
			if !slices.Contains([]string{"init", "fixed", "bounds", "prior"}, n.Content[i].Value) {
				return false
			}
		}
		return true
	}
	_, err := strconv.ParseFloat(n.Value, 64)
	return n.Kind == strictyaml.ScalarNode && err == nil
}
