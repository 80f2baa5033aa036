// Package shown is a report as its pictures see it: which configurations have room, how they are
// named and look, and parts that several kinds of pictures have.
package shown

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/internal/panicked"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// Report is a report as pictures see it. Where not all configurations have room, the first ones of
// the order are drawn.
type Report struct {
	*reports.Report
	order          []int    // the best configuration of every data set, then the next of each, and so on
	LookNumber     []int    // place of every configuration in the order of all, the number of its look
	kind           string   // name of the kind of pictures while these are drawn
	Shared, Labels []string // what all configurations share, and what each differs in
	// OnlyOne is the index of the configuration to draw, with the best one if several share a
	// figure. It is -1 for all that there is room for.
	OnlyOne int
}

// New makes the Report of a report. only is its OnlyOne.
func New(r *reports.Report, only int) Report {
	s := Report{Report: r, LookNumber: make([]int, len(r.Configurations)), OnlyOne: only}
	s.Shared, s.Labels = nameAll(r)
	var rank []int
	for i := range r.Configurations {
		s.order, rank = append(s.order, i), append(rank, r.AnswerOf(i).Place(i))
	}
	slices.SortStableFunc(s.order, func(a, b int) int { return cmp.Compare(rank[a], rank[b]) })
	for k, i := range s.order {
		s.LookNumber[i] = k
	}
	if only >= 0 {
		s.order = []int{only}
	}
	return s
}

// Naming names the members of a figure. A figure of one configuration has its difference from all
// others as heading.
func (s Report) Naming(members ...Member) Naming {
	shared, names := NameMembers(s.ShortNames(), members...)
	n := Naming{Note: Shortened(strings.Join(s.Shared, ", ")), Members: names}
	if len(members) == 1 {
		m := members[0]
		n.Members = []string{m.Scores.Partial.Beside(s.Labels[m.Index])}
		if len(s.Configurations) > 1 {
			n.Heading = n.Members[0]
		}
		return n
	}
	shared = slices.DeleteFunc(shared, func(word string) bool { return slices.Contains(s.Shared, word) })
	n.Heading = Shortened(strings.Join(shared, ", "))
	return n
}

// Evaluation is the name of an evaluation for a title if the report has several, or else for a
// note.
func (s Report) Evaluation(name string) (title, note string) {
	for _, c := range s.Configurations {
		for _, e := range c.Evaluations {
			if e.Name != name {
				return name, ""
			}
		}
	}
	return "", name
}

// attempt calls draw for a figure of the configurations. If it panics, the figure is a box that
// says why, so that all others are drawn.
func (s Report) attempt(of []int, draw func() figure.Figure) (f figure.Figure) {
	if thrown := panicked.Try(func() { f = draw() }); thrown != nil {
		f = figure.Figure{Name: s.kind, Title: reports.Spaced(s.kind), Failure: thrown.Error()}
		for _, i := range of {
			f.Title += fmt.Sprintf(" #%d", i)
		}
	}
	return f
}

// Fitting returns the members that have room: all in the order of the file, or else the first most
// of the order. left is the number of the other members. If only is a configuration, room returns
// it. If withBest is set, the best comes first.
func (s Report) Fitting(group []Member, most int, withBest bool) (drawn []Member, left int) {
	if s.OnlyOne < 0 && len(group) <= most {
		return group, 0
	}
	drawn = slices.Clone(group)
	slices.SortStableFunc(drawn, func(a, b Member) int {
		return cmp.Compare(s.LookNumber[a.Index], s.LookNumber[b.Index])
	})
	if s.OnlyOne < 0 {
		return drawn[:most], len(group) - most
	}
	best := drawn[0].Index
	return slices.DeleteFunc(drawn, func(m Member) bool {
		return m.Index != s.OnlyOne && !(withBest && m.Index == best)
	}), 0
}

// LeftOut is a note on configurations that have no room in the figures of a kind; name is the name
// of the figure of one such configuration, up to its number.
func LeftOut(n int, name string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s not drawn; gpc-tune report DIR --figure %s-N draws #N",
		table.Counted(n, "more configuration is", "more configurations are"), name)
}

// Looks give every member the same look in all figures of the report, under these names.
func (s Report) Looks(group []Member, names []string) map[string]int {
	out := map[string]int{}
	for k, m := range group {
		out[names[k]] = s.LookNumber[m.Index]
	}
	return out
}

// Indices returns the index of the configuration of each member.
func Indices(group []Member) (out []int) {
	for _, m := range group {
		out = append(out, m.Index)
	}
	return out
}

// InTurn calls draw for the first most configurations of the order for which it draws something,
// and names the figures by their numbers.
func (s Report) InTurn(name string, most int, draw func(Member) figure.Figure) (out []figure.Figure) {
	without := 0
	for _, i := range s.order {
		member := Member{Index: i, Configuration: s.Configurations[i]}
		f := s.attempt([]int{i}, func() figure.Figure { return draw(member) })
		switch {
		case len(f.Panels) == 0 && f.Failure == "":
			continue
		case len(out) == most:
			without++
			continue
		}
		f.Name, f.Of = fmt.Sprintf("%s-%d", name, i), []int{i}
		out = append(out, f)
	}
	if without > 0 {
		last := &out[len(out)-1]
		last.Notes = append(last.Notes, LeftOut(without, name))
	}
	return out
}

// Draw are the pictures of a kind, ready to be written; a box where they cannot be drawn.
func (s Report) Draw(kind string, of func(Report) []figure.Figure) (out []figure.Figure) {
	seen := map[string]bool{}
	s.kind = kind
	var all []figure.Figure
	box := s.attempt(nil, func() (none figure.Figure) {
		all = of(s)
		return none
	})
	if box.Failure != "" {
		all = append(all, box)
	}
	for _, f := range all {
		name := fileName(f.Name)
		for f.Name = name; seen[f.Name]; {
			f.Name = fmt.Sprintf("%s-%d", name, len(seen)+1)
		}
		seen[f.Name], f.Kind = true, kind
		if print := s.Manifest.Print; print != nil {
			f.Print = figure.Print(*print)
		}
		if text := table.Missing(s.Report); text != "" {
			state, _, _ := strings.Cut(text, ";") // without the remedy
			f.Notes = append(f.Notes, "incomplete: "+state)
		}
		out = append(out, f)
	}
	return out
}

// fileName makes a name of lower-case letters, digits and single hyphens.
func fileName(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name),
		func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	name = strings.Join(words, "-")
	return name[:min(len(name), 80)]
}

// SeveralData is the data set of an answer if the report has answers for several.
func (s Report) SeveralData(a reports.Answer) string {
	if len(s.Decided()) > 1 {
		return a.Dataset
	}
	return ""
}
