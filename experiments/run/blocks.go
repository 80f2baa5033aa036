package run

import (
	"cmp"
	"container/heap"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// ParseBlock reads INDEX/OF.
func ParseBlock(s string) (b Block, err error) {
	index, of, _ := strings.Cut(s, "/")
	b.Index, err = strconv.Atoi(index)
	if err == nil {
		b.Of, err = strconv.Atoi(of)
	}
	if err != nil || b.Index < 0 || b.Index >= b.Of {
		return b, fmt.Errorf("block %q: write INDEX/BLOCKS, counted from 0: 0/8 is the first of eight", s)
	}
	return b, nil
}

func (b Block) String() string { return fmt.Sprintf("%d/%d", b.Index, b.Of) }

// Estimate is the expected time of a study's parts, in seconds of processor time.
type Estimate struct {
	Trials float64 `json:"trials"`
	Later  float64 `json:"later"` // the assessment
}

// estimate returns the estimates of all studies. measured reports whether r, which may be nil, had
// all rates.
func estimate(p *plan.Plan, r *plan.Rates) (all []Estimate, measured bool) {
	measured = r != nil
	for _, s := range p.Studies {
		c, ok := plan.Times{}, false
		if r != nil {
			c, ok = s.Times(r)
		}
		if !ok {
			measured = false
			c, _ = s.Times(plan.Nominal)
		}
		all = append(all, Estimate{c.Trials, c.All - c.Trials})
	}
	return all, measured
}

// unit is work that one block does as a whole: a study, or one trial of a divided study, or all
// jobs of a divided study after its trials.
type unit struct {
	study, trial int // trial: index, or search.Later for the jobs after the trials and for whole studies
	seconds      float64
	wave         int // units of wave 1 start when all units of wave 0 are done, and so on
}

// division assigns the units of a plan to blocks.
type division struct {
	units []unit
	block []int   // block of each unit
	first [][]int // units of the trials of each study; nil: the study is not divided
	later []int   // unit of each whole study, or of the jobs of a study after its trials
}

// divide assigns the studies to blocks by their expected times. A study larger than half a block is
// divided if it proposes all of its trials at once. The result depends on the plan and the
// estimates only, so it is the same on every machine.
func divide(p *plan.Plan, estimates []Estimate, blocks int) division {
	d := division{first: make([][]int, len(p.Studies)), later: make([]int, len(p.Studies))}
	share := 0.0
	for _, e := range estimates {
		share += (e.Trials + e.Later) / float64(blocks)
	}
	// A study that waits for others is placed after them.
	placed, left := make([]bool, len(p.Studies)), len(p.Studies)
	for left > 0 {
		before := left
		for i, s := range p.Studies {
			waits := s.Stage != nil && slices.ContainsFunc(s.Stage.After, func(k int) bool { return !placed[k] })
			if placed[i] || waits {
				continue
			}
			if s.RunsTrialsOf < i { // its lead shares trials: one block runs both
				d.first[i], d.later[i] = d.first[s.RunsTrialsOf], d.later[s.RunsTrialsOf]
				d.units[d.later[i]].seconds += estimates[i].Trials + estimates[i].Later
				placed[i] = true
				left--
				continue
			}
			wave := 0
			if s.Stage != nil {
				for _, k := range s.Stage.After {
					wave = max(wave, d.units[d.later[k]].wave+1)
				}
			}
			e, trials := estimates[i], s.First
			if blocks == 1 || e.Trials+e.Later <= share/2 {
				trials = 0
			}
			d.place(i, trials, e, wave)
			placed[i] = true
			left--
		}
		if left == before {
			panic("run: stages wait for each other")
		}
	}
	d.distribute(blocks)
	return d
}

// place makes the units of a study: its trials, if there are at least two, and the rest.
func (d *division) place(study, trials int, e Estimate, wave int) {
	add := func(u unit) int {
		d.units = append(d.units, u)
		return len(d.units) - 1
	}
	if trials < 2 {
		d.later[study] = add(unit{study, schedule.Later, e.Trials + e.Later, wave})
		return
	}
	for t := range trials {
		d.first[study] = append(d.first[study], add(unit{study, t, e.Trials / float64(trials), wave}))
	}
	d.later[study] = add(unit{study, schedule.Later, e.Later, wave + 1})
}

// distribute assigns the units to blocks. In each wave, the longest unit is assigned first, to the
// block with the smallest load: the largest load exceeds the mean by at most one unit (Graham
// 1969).
func (d *division) distribute(blocks int) {
	order := make([]int, len(d.units))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		u, v := d.units[a], d.units[b]
		return cmp.Or(cmp.Compare(u.wave, v.wave), cmp.Compare(v.seconds, u.seconds), cmp.Compare(u.study, v.study),
			cmp.Compare(u.trial, v.trial))
	})
	d.block = make([]int, len(d.units))
	var loads loads
	wave := -1
	for _, k := range order {
		if u := d.units[k]; u.wave != wave {
			wave, loads = u.wave, make([]load, blocks)
			for b := range loads {
				loads[b].block = b
			}
		}
		d.block[k] = loads[0].block
		loads[0].seconds += d.units[k].seconds
		loads[0].units++
		heap.Fix(&loads, 0)
	}
}

// own reports whether a block runs a trial, or with search.Later the jobs after the trials.
func (d division) own(b Block, study, trial int) bool {
	k := d.later[study]
	if trial != schedule.Later && d.first[study] != nil {
		k = d.first[study][trial]
	}
	return d.block[k] == b.Index
}

// missing lists the units with jobs that are not on record.
func (d division) missing(left []schedule.Missing) (units []int) {
	for _, m := range left {
		switch first := d.first[m.Study]; {
		case m.Closed:
			units = append(units, first...)
		case first != nil:
			for _, t := range m.First {
				units = append(units, first[t])
			}
		}
		units = append(units, d.later[m.Study])
	}
	slices.Sort(units) // studies may have units in common
	return slices.Compact(units)
}

// load is the time assigned to a block so far.
type load struct {
	seconds      float64
	units, block int
}

// loads is a heap with the least loaded block on top.
type loads []load

func (l loads) Len() int { return len(l) }

func (l loads) Swap(i, k int) { l[i], l[k] = l[k], l[i] }

func (l loads) Less(i, k int) bool {
	return cmp.Or(cmp.Compare(l[i].seconds, l[k].seconds), l[i].units-l[k].units, l[i].block-l[k].block) < 0
}

func (l *loads) Push(any) { panic("experiments: blocks do not change in number") }

func (l *loads) Pop() any { panic("experiments: blocks do not change in number") }

// Block is one of Of parts of a run, counted from 0.
type Block struct{ Index, Of int }
