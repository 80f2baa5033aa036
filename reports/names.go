package reports

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gpc-tune/gpc-tune/record"
)

// IllustratedNames returns short names for the components of illustrations.
func IllustratedNames(all []record.Illustration) map[string]string {
	var texts []record.Component
	for _, i := range all {
		texts = append(texts, i.Kernel, i.Mean, i.Likelihood)
		for _, a := range i.Approximations {
			texts = append(texts, a.Inference)
		}
	}
	return ShortNames(texts)
}

// Spaced replaces underscores by spaces.
func Spaced(name string) string { return strings.ReplaceAll(name, "_", " ") }

// ShortNames returns short names for the components of the report's configurations.
func (r *Report) ShortNames() map[string]string {
	var all []record.Component
	for _, c := range r.Configurations {
		all = append(all, c.Kernel, c.Likelihood, c.Inference, c.TuneInference)
	}
	return ShortNames(all)
}

// ShortNames returns short names for components, by their texts. Numbers and settings of
// hyperparameters are left out, unless different components would have equal names: these then show
// the settings in which they differ, to four digits, or if that does not suffice the whole text.
func ShortNames(all []record.Component) map[string]string {
	short := map[string]string{}
	alike := map[string][]record.Component{} // components by short name
	for _, c := range all {
		if _, met := short[c.Text]; !met {
			short[c.Text] = ShortName(c)
			alike[short[c.Text]] = append(alike[short[c.Text]], c)
		}
	}
	for _, group := range alike {
		if len(group) == 1 {
			continue
		}
		values := map[string][]string{} // texts of each setting, in the components that have it
		for _, c := range group {
			met := map[string]string{}
			namer{met: met}.component(c.Node, "")
			for path, setting := range met {
				values[path] = append(values[path], setting)
			}
		}
		n := namer{shown: map[string]bool{}}
		for path, of := range values {
			n.shown[path] = len(of) < len(group) || len(slices.Compact(of)) > 1
		}
		for _, c := range group {
			short[c.Text] = n.component(c.Node, "")
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

// ShortName abbreviates {sum: [{se: {length_scale: {init: 2}}}, noise]} to sum(se, noise).
func ShortName(c record.Component) string { return namer{}.component(c.Node, "") }

// namer abbreviates components.
type namer struct {
	shown map[string]bool   // the settings to show, by path
	met   map[string]string // collects the text of every setting; nil: not needed
	// whether the component is inside an option; there an option that is only a number is shown
	inside bool
}

// component names a component: se, {se: options}, or a list of components.
func (w namer) component(n record.Node, path string) string {
	if len(n.Parts) == 0 {
		return n.Word
	}
	var names []string
	for i, part := range n.Parts {
		if part.Key == "" {
			names = append(names, w.component(part.Node, path+"."+strconv.Itoa(i)))
		} else {
			names = append(names, part.Key+w.options(part.Node, path+"."+part.Key))
		}
	}
	return strings.Join(names, ", ")
}

// options is the text in brackets after a component's name, if any.
func (w namer) options(n record.Node, path string) string {
	text := ""
	if len(n.Parts) == 0 || n.Parts[0].Key == "" {
		text = w.component(n, path)
	} else {
		var parts []string
		for _, part := range n.Parts {
			at := path + "." + part.Key
			switch {
			case !setting(part.Node):
				inside := w
				inside.inside = true
				parts = append(parts, fmt.Sprintf("%s: %s", part.Key, inside.component(part.Node, at)))
			case w.shown[at], w.inside && len(n.Parts) == 1 && part.Node.Number != nil:
				parts = append(parts, fmt.Sprintf("%s: %s", part.Key, settingText(part.Node)))
			case w.met != nil:
				w.met[at] = settingText(part.Node)
			}
		}
		text = strings.Join(parts, ", ")
	}
	if text == "" {
		return ""
	}
	return "(" + text + ")"
}

// settingText is a setting for readers: 0.3, fixed 0.3, init 1 bounds 0.1 to 10.
func settingText(n record.Node) string {
	if n.Number != nil {
		return strconv.FormatFloat(float64(*n.Number), 'g', 4, 64)
	}
	if len(n.Parts) == 0 {
		return n.Word
	}
	var words []string
	for _, part := range n.Parts {
		if part.Key == "" {
			words = append(words, settingText(part.Node))
		} else {
			words = append(words, part.Key+" "+settingText(part.Node))
		}
	}
	if n.Parts[0].Key == "" {
		return strings.Join(words, " to ")
	}
	return strings.Join(words, " ")
}

// setting reports whether a value is a number or the setting of a hyperparameter.
func setting(n record.Node) bool {
	if n.Word != "" {
		return n.Number != nil
	}
	return !slices.ContainsFunc(n.Parts, func(p record.Part) bool {
		return !slices.Contains([]string{"init", "fixed", "bounds", "prior"}, p.Key)
	})
}

// Part is the name of a part of the configuration; it is "" for a part of a model that a comparator
// does not have.
func (c Configuration) Part(name string) string {
	if c.Likelihood.Text == "none" && name == "none" {
		return ""
	}
	return name
}
