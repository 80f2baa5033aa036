package spec

import (
	"slices"

	"github.com/gpc-tune/gpc-tune/experiments/declared"
	"github.com/gpc-tune/gpc-tune/experiments/illustrate"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
)

// illustrations reads the illustrate section: one illustration or a list. Sections for experiments
// with data must be absent.
func (d *decoder) illustrations(root, n *strictyaml.Node, s *Spec) {
	d.without(root, "illustrate shows models without data", dataSections...)
	entries := []*strictyaml.Node{n}
	if n.Kind == strictyaml.SequenceNode {
		if entries = n.Content; len(entries) == 0 {
			d.At(n, "an empty list; illustrate for example prior")
		}
	}
	if len(entries) > illustrate.MaxIllustrations {
		d.At(n, "%d illustrations, more than %d; split the experiment", len(entries), illustrate.MaxIllustrations)
		return
	}
	for _, e := range entries {
		if v, kind, ok := component(d, e, "illustration", illustrate.Illustrations); ok {
			s.Illustrations = append(s.Illustrations,
				Illustration{v, kind, strictyaml.Flow(e), d.Found.Place(e), d.Places(option(e))})
		}
	}
}

// checkIllustrations checks every illustration with every model.
func (d *decoder) checkIllustrations(s *Spec) {
	for _, i := range s.Illustrations {
		for _, m := range s.Models {
			if m.Comparator != nil {
				d.Found.AtPlace(m.Written.Inference.Place,
					"%s is a comparator; without data there is nothing to illustrate", m.Written.Inference)
				continue
			}
			if slices.ContainsFunc(i.Needs(), func(part string) bool { return m.Written.Part(part).IsZero() }) ||
				unread(m.Model) {
				continue // already reported
			}
			i.Check(m.Model, func(at string, err error) {
				place, option := i.places[at]
				if part := m.Written.Part(at); !option && !part.IsZero() {
					place = part.Place
				} else if !option {
					place = i.Place
				}
				d.Found.AtPlace(place, "%v", err)
			})
		}
	}
}

// unread reports whether a part of the model could not be read.
func unread(m declared.Model) bool {
	w := m.Written
	return !w.Kernel.IsZero() && m.Kernels == nil || !w.Likelihood.IsZero() && m.Likelihood == nil ||
		!w.Inference.IsZero() && m.Inference == nil
}

// dataSections are the sections that only experiments with data have.
var dataSections = []string{"data", "tune", "evaluate", "race", "predict"}
