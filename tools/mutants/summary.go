//go:build unix

package main

import (
	"fmt"
	"path"
	"strings"
)

// An end is the outcome of a mutant.
type end int

const (
	alive end = iota
	equivalent
	killed
	killedByTime
	ends
)

// result is a mutant with its outcome.
type result struct {
	mutant
	end
	by      string // the test that detected it
	reached int    // number of tests that reach it
	left    int    // number of tests not run: time was up, or another one had detected it
	reason  string // why it is listed as equivalent; "" if not
}

func (r result) String() string {
	what := [ends]string{"ALIVE", "equivalent", "killed: " + r.by, "killed by time: " + r.by}[r.end]
	switch {
	case r.reached == 0:
		what += " (no test reaches it)"
	case r.end == alive && r.left > 0:
		what += fmt.Sprintf(" (%d of %d tests not run)", r.left, r.reached)
	}
	return fmt.Sprintf("%s:%d: %s\n\t%s\n\t%s", r.file, r.line, what, r.text, r.change)
}

// count has the number of mutants per outcome.
type count [ends]int

func (c count) killed() int { return c[killed] + c[killedByTime] }

// rate is the number of killed mutants over the number of mutants that are not equivalent.
func (c count) rate() float64 { return float64(c.killed()) / float64(max(1, c.killed()+c[alive])) }

// summary returns the page and the rate of all.
func summary(results []result, seed uint64, each int) (page string, rate float64) {
	var b strings.Builder
	fmt.Fprintf(&b, `# Mutants

Written by `+"`make mutants`"+`. Seed %d, %d mutants of each package, all of which compile. A mutant
is one small change of the code: an operator, a comparison, a condition, a number, or a statement left out. It is killed
when a test fails, or takes far longer than without it. What counts as a change, and how they are tried:
tools/mutants.

| package | mutants | killed | of these by time | equivalent | alive | killed of those not equivalent |
| --- | ---: | ---: | ---: | ---: | ---: | ---: |
`, seed, each)
	var all, one count
	row := func(name string, c count) {
		fmt.Fprintf(&b, "| %s | %d | %d | %d | %d | %d | %.1f %% |\n", name, c.killed()+c[equivalent]+c[alive],
			c.killed(), c[killedByTime], c[equivalent], c[alive], 100*c.rate())
	}
	for i, r := range results {
		all[r.end]++
		one[r.end]++
		if pkg := path.Dir(r.file); i+1 == len(results) || path.Dir(results[i+1].file) != pkg {
			row(pkg, one)
			one = count{}
		}
	}
	row("all", all)
	for _, part := range []struct {
		title string
		end   end
		note  func(result) string
	}{
		{"Alive", alive, func(r result) string {
			return fmt.Sprintf("; reached by %d tests, %d of them not run", r.reached, r.left)
		}},
		{"Equivalent", equivalent, func(r result) string { return ": " + r.reason }},
	} {
		if all[part.end] > 0 {
			fmt.Fprintf(&b, "\n## %s\n\n", part.title)
		}
		for _, r := range results {
			if r.end == part.end {
				fmt.Fprintf(&b, "- %s: %s, %s%s\n", r.file, code(r.text), code(r.change), part.note(r))
			}
		}
	}
	return b.String(), all.rate()
}

// code is a line or a change of it as Markdown, in two backquotes if it has one.
func code(text string) string {
	what, left := strings.CutPrefix(text, "left out: ")
	mark := "`"
	if strings.Contains(what, mark) {
		mark = "``"
	}
	if what = mark + what + mark; left {
		return "left out: " + what
	}
	return what
}
