package figure

import (
	"slices"
	"strings"
)

// alt is a text alternative for a figure or a part of one: its title, and for every panel its
// title, its axes with names along them, and the names of its layers.
func (f Figure) alt() string {
	if f.part < 0 {
		return f.Title
	}
	panels, texts := f.Panels, []string{}
	if f.part > 0 {
		panels = panels[f.part-1 : f.part]
	} else {
		texts = append(texts, f.Title)
	}
	for _, p := range panels {
		texts = append(texts, p.alt())
	}
	return joined(". ", texts...)
}

func (p Panel) alt() string {
	const most = 12
	var names []string
	for _, l := range p.Layers {
		if name := l.label(); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	rows := p.Y.Names[:min(len(p.Y.Names), most)]
	return joined(": ", p.Title, joined(" over ", p.Y.Label, p.X.Label), joined(", ", rows...),
		joined(", ", names[:min(len(names), most)]...))
}

// joined joins the texts that are not empty.
func joined(by string, texts ...string) string {
	texts = slices.DeleteFunc(slices.Clone(texts), func(t string) bool { return t == "" })
	return strings.Join(texts, by)
}
