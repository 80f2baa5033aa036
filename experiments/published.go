package experiments

import (
	"reflect"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/internal/registry"
)

// published are figures that somebody else found for the configurations that have what it says.
type published struct {
	record.Published
	of    []condition
	names []*yaml.Node // of the figures
	node  *yaml.Node
}

// condition is a field of configurations with the text it must have.
type condition struct {
	field func(record.Configuration) string
	text  string
}

// publishedFields are the fields by which published figures name configurations, as in results.
var publishedFields = map[string]func(record.Configuration) string{
	"dataset":        func(c record.Configuration) string { return c.Dataset },
	"preprocess":     func(c record.Configuration) string { return c.Preprocess },
	"kernel":         func(c record.Configuration) string { return c.Kernel },
	"mean":           func(c record.Configuration) string { return c.Mean },
	"likelihood":     func(c record.Configuration) string { return c.Likelihood },
	"inference":      func(c record.Configuration) string { return c.Inference },
	"tune_inference": func(c record.Configuration) string { return c.TuneInference },
}

// published reads the published section: {source, figures}, or a list of them. An element of figures has fields of
// configurations, figures by their names in results, and maybe the evaluation that its scores belong to and a note.
func (d *decoder) published(n *yaml.Node, s *Spec) {
	if n == nil || isNull(n) {
		return
	}
	if n.Kind == yaml.SequenceNode {
		for _, c := range n.Content {
			d.published(c, s)
		}
		return
	}
	var section publishing
	d.into(n, &section)
	if len(section.Figures) == 0 && n.Kind == yaml.MappingNode {
		d.at(n, "published has no figures; add for example figures: [{inference: ep, log_evidence: -100.6}]")
	}
	for _, f := range section.Figures {
		if f == nil { // told
			continue
		}
		p := &published{Published: record.Published{Source: section.Source}, node: f}
		d.mapping(f, func(key, value *yaml.Node) {
			switch field, ok := publishedFields[key.Value]; {
			case ok:
				text := value.Value
				if value.Kind != yaml.ScalarNode {
					text = flow(value)
				}
				p.of = append(p.of, condition{field, text})
			case key.Value == "evaluation":
				d.into(value, &p.Evaluation)
			case key.Value == "note":
				d.into(value, &p.Note)
			default:
				var v float64
				d.scalar(value, reflect.ValueOf(&v).Elem())
				p.names, p.Figures = append(p.names, key), append(p.Figures, record.Figure{Name: key.Value, Value: record.Number(v)})
			}
		})
		s.published = append(s.published, p)
	}
}

// publishing is the published section, or an element of it.
type publishing struct {
	Source  string       `yaml:"source"`
	Figures []*yaml.Node `yaml:"figures"`
}

// matches says if a configuration has what the figures are for: a component is given by its name, or with all its options.
func (p *published) matches(c record.Configuration) bool {
	return !slices.ContainsFunc(p.of, func(of condition) bool {
		text := of.field(c)
		name, _, _ := strings.Cut(strings.TrimPrefix(text, "{"), ":")
		return of.text != text && of.text != name
	})
}

// publishedOf finds the figures for a configuration, and checks their names.
func (d *decoder) publishedOf(c record.Configuration, all []*published) (found []record.Published) {
	have := []string{"log_evidence", "leave_one_out"}
	for _, s := range cv.Scores {
		have = append(have, s.Name)
	}
	for _, h := range c.Hyperparameters {
		have = append(have, h.Name)
	}
	for _, p := range all {
		if !p.matches(c) {
			continue
		}
		for _, name := range p.names {
			if !slices.Contains(have, name.Value) {
				d.at(name, "unknown figure %q%s", name.Value, registry.Suggest(name.Value, append(have, "evaluation", "note")))
			}
		}
		found = append(found, p.Published)
	}
	return found
}
