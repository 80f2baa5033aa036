package schedule

import (
	"cmp"
	"slices"

	"github.com/gpc-tune/gpc-tune/record"
)

// ladder is a Ladder with the fits so far.
type ladder struct {
	*Ladder
	row  map[int]int // row in fits of each configuration
	fits [][]*record.Fit
	rank []int // rank of each row, from 1; nil: not computed
}

// ladders has the ladders of the studies of a run.
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

// claim is the key by which studies on a ladder are ordered: the smallest starts first.
func (l *ladder) claim(s *tuning) int {
	if l.rank == nil {
		l.rank = make([]int, len(l.fits))
		for i, row := range l.Rank(l.fits) {
			l.rank[row] = i + 1
		}
	}
	return s.Rung * l.rank[l.row[s.Configuration]]
}

// order sorts studies by claim, then cost, then place. A study has the smallest claim among itself
// and the studies that wait for its first pending job.
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
