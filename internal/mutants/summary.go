package main

import (
	"fmt"
	"strings"
)

// count is how many mutants of a package met which end.
type count struct{ drawn, own, others, time, equivalent, alive int }

func (c *count) add(r Result) {
	c.drawn++
	switch {
	case r.Listed && r.Killed == "":
		c.equivalent++
	case r.Killed == "":
		c.alive++
	case r.ByOwn:
		c.own++
	default:
		c.others++
	}
	if r.ByTime {
		c.time++
	}
}

// rate is the part of the mutants that are not equivalent which was killed.
func (c count) rate() float64 { return float64(c.own+c.others) / float64(max(1, c.drawn-c.equivalent)) }

// summary is the page, the rate of all, and the mutants that are listed as equivalent and were killed all the same.
func summary(results []Result, seed uint64, each int) (page string, rate float64, faults []string) {
	var all count
	byPackage := map[string]*count{}
	var order []string
	for _, r := range results {
		p := r.File[:strings.LastIndexByte(r.File, '/')]
		if byPackage[p] == nil {
			byPackage[p] = &count{}
			order = append(order, p)
		}
		byPackage[p].add(r)
		all.add(r)
		if r.Listed && r.Killed != "" {
			faults = append(faults, "listed as equivalent: "+r.String())
		}
	}
	var b strings.Builder
	fmt.Fprintf(&b, `# Mutants

Written by `+"`make mutants`"+`. Seed %d, %d mutants of each package, all of which compile. A mutant is one small change of
the code: an operator, a comparison, a condition, a number, or a statement left out. It is killed when a test fails, or takes far
longer than without it. What counts as a change, and how they are tried: internal/mutants.

| package | mutants | killed by its own tests | by those of other packages | of these by time | equivalent | alive | killed of those not equivalent |
| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |
`, seed, each)
	line := func(name string, c count) {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %d | %.1f %% |\n", name, c.drawn, c.own, c.others, c.time, c.equivalent, c.alive, 100*c.rate())
	}
	for _, p := range order {
		line(p, *byPackage[p])
	}
	line("all", all)
	list := func(title string, which func(Result) bool, note func(Result) string) {
		found := false
		for _, r := range results {
			if !which(r) {
				continue
			}
			if !found {
				fmt.Fprintf(&b, "\n## %s\n\n", title)
				found = true
			}
			fmt.Fprintf(&b, "- %s: `%s`, %s%s\n", r.File, r.Text, code(r.Change), note(r))
		}
	}
	list("Alive", func(r Result) bool { return r.Killed == "" && !r.Listed }, func(r Result) string {
		return fmt.Sprintf("; reached by %d tests", r.Reached)
	})
	list("Equivalent", func(r Result) bool { return r.Killed == "" && r.Listed }, func(r Result) string { return ": " + r.Reason })
	return b.String(), all.rate(), faults
}

// code is a change as Markdown.
func code(change string) string {
	if what, ok := strings.CutPrefix(change, "left out: "); ok {
		return "left out: `" + what + "`"
	}
	return "`" + change + "`"
}
