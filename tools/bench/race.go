//go:build linux

package main

import (
	"fmt"
	"math"
	"slices"
)

// contender is a program, method or setting that takes turns with others.
type contender struct {
	name string
	run  func() answer
}

// timing holds the answers of all turns of a contender.
type timing struct {
	name  string
	turns []answer
}

// race lets the contenders take turns. A round is one turn of each.
func race(rounds int, contenders ...contender) []timing {
	all := make([]timing, len(contenders))
	for range rounds {
		for i, c := range contenders {
			all[i].name = c.name
			all[i].turns = append(all[i].turns, c.run())
		}
	}
	return all
}

func (t timing) sorted(f func(answer) float64) []float64 {
	v := make([]float64, len(t.turns))
	for i, a := range t.turns {
		v[i] = f(a)
	}
	slices.Sort(v)
	return v
}

func cpuOf(a answer) float64  { return a.CPU }
func wallOf(a answer) float64 { return a.Wall }

func (t timing) least(f func(answer) float64) float64 { return t.sorted(f)[0] }

func (t timing) median(f func(answer) float64) float64 { return middle(t.sorted(f)) }

// middle is the median of sorted values.
func middle(v []float64) float64 { return (v[len(v)/2] + v[(len(v)-1)/2]) / 2 }

// ratio is the median over the rounds of the other's processor time over t's.
func (t timing) ratio(other timing) float64 {
	v := make([]float64, len(t.turns))
	for i, a := range t.turns {
		v[i] = other.turns[i].CPU / a.CPU
	}
	slices.Sort(v)
	return middle(v)
}

// nearest is the least processor time of the fastest of the others, over t's.
func (t timing) nearest(others []timing) float64 {
	best := math.Inf(1)
	for _, o := range others {
		best = min(best, o.least(cpuOf)/t.least(cpuOf))
	}
	return best
}

// first is the answer of the first turn; all turns give the same.
func (t timing) first() answer { return t.turns[0] }

// column is one more column of a table of times.
type column struct {
	header string
	cell   func(timing) string
}

// times writes the table of a race, with the ratios of processor times to the first contender.
func (b *bench) times(all []timing, more ...column) {
	header := "| | CPU, least | CPU, median | wall, least | wall, median | ratio |"
	rule := "|---|---:|---:|---:|---:|---:|"
	for _, c := range more {
		header, rule = header+" "+c.header+" |", rule+"---:|"
	}
	var rows []string
	for _, t := range all {
		row := fmt.Sprintf("| %s | %s | %s | %s | %s | %.3g |", t.name,
			seconds(t.least(cpuOf)), seconds(t.median(cpuOf)), seconds(t.least(wallOf)), seconds(t.median(wallOf)),
			t.least(cpuOf)/all[0].least(cpuOf))
		for _, c := range more {
			row += " " + c.cell(t) + " |"
		}
		rows = append(rows, row)
	}
	b.table(header, rule, rows...)
}

// evaluations is the column of the number of evaluations that each contender took.
func evaluations(header string) column {
	return column{header, func(t timing) string { return fmt.Sprint(t.first().Evaluations) }}
}

func seconds(s float64) string {
	switch {
	case s < 0.1:
		return fmt.Sprintf("%.3g ms", 1000*s)
	case s < 1:
		return fmt.Sprintf("%.0f ms", 1000*s)
	}
	return fmt.Sprintf("%.2f s", s)
}

// agree returns the largest difference between a and b, relative to max(1, |b|). It ends the run if
// this exceeds the tolerance.
func agree(what string, a, b []float64, tolerance float64) float64 {
	if len(a) != len(b) {
		must(fmt.Errorf("%s: %d numbers and %d", what, len(a), len(b)))
	}
	scale, worst := 1.0, 0.0
	for i := range b {
		scale, worst = max(scale, math.Abs(b[i])), max(worst, math.Abs(a[i]-b[i]))
	}
	if !(worst <= tolerance*scale) {
		must(fmt.Errorf("%s: results differ by %.3g of %.3g, more than %.0e of it", what, worst, scale, tolerance))
	}
	return worst / scale
}

// compare checks values and vectors of a race against the first, and returns what to say of it.
func compare(all []timing, value, vector float64) string {
	first := all[0].first()
	var worstValue, worstVector float64
	for _, t := range all[1:] {
		a := t.first()
		d := agree(t.name+": log evidence", []float64{a.Value}, []float64{first.Value}, value)
		worstValue, worstVector = max(worstValue, d), max(worstVector, agree(t.name, a.Out, first.Out, vector))
	}
	return fmt.Sprintf("%.1e and %.1e (allowed: %.0e, %.0e)", worstValue, worstVector, value, vector)
}
