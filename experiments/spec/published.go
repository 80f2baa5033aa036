package spec

import (
	"math"
	"strconv"
	"strings"

	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/record"
)

// publishedFields are the fields that select configurations for published figures, named as in
// results.
var publishedFields = map[string]func(record.Configuration) record.Component{
	"dataset":        func(c record.Configuration) record.Component { return record.Plain(c.Dataset) },
	"preprocess":     func(c record.Configuration) record.Component { return record.Plain(c.Preprocess) },
	"kernel":         func(c record.Configuration) record.Component { return c.Kernel },
	"mean":           func(c record.Configuration) record.Component { return c.Mean },
	"likelihood":     func(c record.Configuration) record.Component { return c.Likelihood },
	"inference":      func(c record.Configuration) record.Component { return c.Inference },
	"tune_inference": func(c record.Configuration) record.Component { return c.TuneInference },
}

// published reads the published section: {source, figures}, or a list of them. An element of
// figures has fields of configurations, figures by their names in results, and optionally the
// evaluation of its scores and a note. The note should explain a difference larger than the
// figure's uncertainty.
func (d *decoder) published(n *strictyaml.Node, s *Spec) {
	if n == nil || strictyaml.IsNull(n) {
		return
	}
	if n.Kind == strictyaml.SequenceNode {
		for _, c := range n.Content {
			d.published(c, s)
		}
		return
	}
	var section publishing
	d.Into(n, &section)
	if len(section.Figures) == 0 && n.Kind == strictyaml.MappingNode {
		d.At(n, "published has no figures; add for example figures: [{inference: ep, log_evidence: -100.6}]")
	}
	for _, f := range section.Figures {
		if f == nil { // already reported
			continue
		}
		p := &Published{Published: record.Published{Source: section.Source}, Place: d.Found.Place(f)}
		d.Mapping(f, func(key, value *strictyaml.Node) {
			switch field, ok := publishedFields[key.Value]; {
			case ok:
				text := value.Value
				if value.Kind != strictyaml.ScalarNode {
					text = strictyaml.Flow(value)
				}
				p.of = append(p.of, condition{field, text})
			case key.Value == "evaluation":
				d.Into(value, &p.Evaluation)
			case key.Value == "note":
				d.Into(value, &p.Note)
			default:
				p.Names, p.Figures = append(p.Names, FigureName{key.Value, d.Found.Place(key)}),
					append(p.Figures, d.figure(key.Value, value))
			}
		})
		s.Published = append(s.Published, p)
	}
}

// figure reads a number, whose uncertainty is half a unit of its last digit, or {value: number,
// uncertainty: number}.
func (d *decoder) figure(name string, n *strictyaml.Node) record.Figure {
	var f uncertain
	if n.Kind == strictyaml.MappingNode {
		d.Into(n, &f)
		if v := strictyaml.Find(n, "value"); v == nil || strictyaml.IsNull(v) {
			d.At(n, "a figure with an uncertainty needs a value, as in {value: 21, uncertainty: 1}")
		}
		if !(f.Uncertainty >= 0) {
			d.At(n, "an uncertainty must not be negative, found %v", f.Uncertainty)
		}
	} else {
		var err error
		if f.Value, err = strictyaml.Number(n); err != nil {
			d.At(n, "%v", err)
		}
		mantissa, exponent, _ := strings.Cut(strings.ToLower(n.Value), "e")
		_, decimals, _ := strings.Cut(mantissa, ".")
		power, _ := strconv.Atoi(exponent)
		f.Uncertainty = 0.5 * math.Pow10(power-len(decimals))
	}
	return record.Figure{Name: name, Value: record.Number(f.Value), Uncertainty: record.Number(f.Uncertainty)}
}

// uncertain is a figure with its uncertainty.
type uncertain struct {
	Value       float64 `yaml:"value"`
	Uncertainty float64 `yaml:"uncertainty"`
}

// publishing is the published section, or an element of it.
type publishing struct {
	Source  string             `yaml:"source"`
	Figures []*strictyaml.Node `yaml:"figures"`
}
