package search

import (
	"cmp"
	"slices"

	"github.com/gpc-tune/gpc-tune/record"
)

// ladder is a Ladder with what is known so far.
type ladder struct {
	*Ladder
	row  map[int]int // of fits, by configuration
	fits [][]*record.Fit
	rank []int // of each row, from 1; nil: to be found again
}

// ladders are those of the studies of a run.
type ladders map[*Ladder]*ladder

// enter adds a study to its ladder, if it has one.
func (all ladders) enter(s *tuning) {
	if s.Ladder == nil {
		return
	}
	l := all[s.Ladder]
	if l == nil {
		l = &ladder{Ladder: s.Ladder, row: map[int]int{}}
		all[s.Ladder] = l
	}
	if _, known := l.row[s.Configuration]; !known {
		l.row[s.Configuration] = len(l.fits)
		l.fits = append(l.fits, make([]*record.Fit, l.Rungs))
	}
}

// assessed enters the assessment of a study.
func (all ladders) assessed(s *tuning) {
	if l := all[s.Ladder]; l != nil && s.Rung < l.Rungs {
		l.fits[l.row[s.Configuration]][s.Rung], l.rank = s.fit, nil
	}
}

// claim is how soon a study on a ladder starts, the least first.
func (l *ladder) claim(s *tuning) int {
	if l.rank == nil {
		l.rank = make([]int, len(l.fits))
		for i, row := range l.Rank(l.fits) {
			l.rank[row] = i + 1
		}
	}
	return s.Rung * l.rank[l.row[s.Configuration]]
}

// order sorts studies by when their jobs start. A study whose trials others wait for starts with
// the first of them.
func (all ladders) order(active []*tuning, waiting func(*tuning) []job) []*tuning {
	type turn struct {
		*tuning
		claim int
	}
	claim := func(s *tuning) int {
		if l := all[s.Ladder]; l != nil {
			return l.claim(s)
		}
		return 0
	}
	var turns []turn
	for _, s := range active {
		t := turn{s, claim(s)}
		for _, f := range waiting(s) {
			t.claim = min(t.claim, claim(f.of))
		}
		turns = append(turns, t)
	}
	slices.SortFunc(turns, func(t, u turn) int {
		return cmp.Or(cmp.Compare(t.claim, u.claim), cmp.Compare(t.Cost, u.Cost), cmp.Compare(t.place, u.place))
	})
	sorted := make([]*tuning, len(turns))
	for i, t := range turns {
		sorted[i] = t.tuning
	}
	return sorted
}
