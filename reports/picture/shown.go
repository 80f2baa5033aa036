package picture

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

// pictureReport is a report as pictures see it. Where not all configurations have room, the first
// ones of the order are drawn.
type pictureReport struct {
	*reports.Report
	order          []int    // the best configuration of every data set, then the next of each, and so on
	lookNumber     []int    // lookNumber of every configuration in the order of all, which is the number of its look
	kind           string   // a name of pictureTable, while its pictures are drawn
	shared, labels []string // what all configurations share, and what each differs in
	// index of the configuration to draw, with the best one if several share a figure; -1: all that
	// there is room for
	onlyOne int
}

func newShown(r *reports.Report, only int) pictureReport {
	s := pictureReport{Report: r, lookNumber: make([]int, len(r.Configurations)), onlyOne: only}
	s.shared, s.labels = nameAll(r)
	var rank []int
	for i := range r.Configurations {
		s.order, rank = append(s.order, i), append(rank, r.AnswerOf(i).Place(i))
	}
	slices.SortStableFunc(s.order, func(a, b int) int { return cmp.Compare(rank[a], rank[b]) })
	for k, i := range s.order {
		s.lookNumber[i] = k
	}
	if only >= 0 {
		s.order = []int{only}
	}
	return s
}

// naming names the members of a figure. A figure of one configuration has its difference from all
// others as heading.
func (s pictureReport) naming(members ...Member) Naming {
	shared, names := nameMembers(s.ShortNames(), members...)
	n := Naming{Note: shortened(strings.Join(s.shared, ", ")), Members: names}
	if len(members) == 1 {
		m := members[0]
		n.Members = []string{m.Scores.Partial.Beside(s.labels[m.Index])}
		if len(s.Configurations) > 1 {
			n.Heading = n.Members[0]
		}
		return n
	}
	shared = slices.DeleteFunc(shared, func(word string) bool { return slices.Contains(s.shared, word) })
	n.Heading = shortened(strings.Join(shared, ", "))
	return n
}

// evaluation is the name of an evaluation for a title if the report has several, or else for a
// note.
func (s pictureReport) evaluation(name string) (title, note string) {
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
func (s pictureReport) attempt(of []int, draw func() figure.Figure) (f figure.Figure) {
	if thrown := panicked.Try(func() { f = draw() }); thrown != nil {
		f = figure.Figure{Name: s.kind, Title: reports.Spaced(s.kind), Failure: thrown.Error()}
		for _, i := range of {
			f.Title += fmt.Sprintf(" #%d", i)
		}
	}
	return f
}

// fitting returns the members that have room: all in the order of the file, or else the first most
// of the order. left is the number of the other members. If only is a configuration, room returns
// it. If withBest is set, the best comes first.
func (s pictureReport) fitting(group []Member, most int, withBest bool) (drawn []Member, left int) {
	if s.onlyOne < 0 && len(group) <= most {
		return group, 0
	}
	drawn = slices.Clone(group)
	slices.SortStableFunc(drawn, func(a, b Member) int {
		return cmp.Compare(s.lookNumber[a.Index], s.lookNumber[b.Index])
	})
	if s.onlyOne < 0 {
		return drawn[:most], len(group) - most
	}
	best := drawn[0].Index
	return slices.DeleteFunc(drawn, func(m Member) bool {
		return m.Index != s.onlyOne && !(withBest && m.Index == best)
	}), 0
}

// leftOut is a note on configurations that have no room in the figures of a kind; name is the name
// of the figure of one such configuration, up to its number.
func leftOut(n int, name string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%s not drawn; gpc-tune report DIR --figure %s-N draws #N",
		table.Counted(n, "more configuration is", "more configurations are"), name)
}

// looks give every member the same look in all figures of the report, under these names.
func (s pictureReport) looks(group []Member, names []string) map[string]int {
	out := map[string]int{}
	for k, m := range group {
		out[names[k]] = s.lookNumber[m.Index]
	}
	return out
}

// indices returns the index of the configuration of each member.
func indices(group []Member) (out []int) {
	for _, m := range group {
		out = append(out, m.Index)
	}
	return out
}

// inTurn calls draw for the first most configurations of the order for which it draws something,
// and names the figures by their numbers.
func (s pictureReport) inTurn(name string, most int, draw func(Member) figure.Figure) (out []figure.Figure) {
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
		last.Notes = append(last.Notes, leftOut(without, name))
	}
	return out
}
