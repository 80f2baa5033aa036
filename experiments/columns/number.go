package columns

import (
	"fmt"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
)

// number holds numbers.
var number = Kind{Name: "number", Use: Input, is: func(p *profile) (string, bool) {
	if !p.isNumber() || len(p.currencies) > 1 {
		return "", false
	}
	t := p.tally()
	what := "numbers"
	if p.isWhole() {
		what = "whole numbers"
	}
	if p.levels != nil && len(p.levels) <= 2 {
		what = "two numbers"
	}
	found := fmt.Sprintf("%s, %.6g to %.6g, mean %.6g", what, t.min, t.max, t.mean)
	if p.percent > 0 && p.bare > 0 {
		found += fmt.Sprintf("; %d with a percent sign are divided by 100, and others, without one, are not; "+
			"write all alike", p.percent)
	}
	if text, n := p.standIn(); n > 0 {
		found += fmt.Sprintf("; if %s (%d times) stands for a missing value, add it to missing_values", text, n)
	}
	if n := len(p.levels); n > 2 && p.isWhole() {
		days := 0
		for text := range p.levels {
			if _, _, ok := cells.ParseDate(text, cells.YMD); ok && t.min >= 19000101 && t.max <= 21001231 {
				days++
			}
		}
		if days == n {
			found += fmt.Sprintf("; if they are dates, as 20241231 is, write columns: {%s: {date: {form: ymd, parts: "+
				"[year, month, weekday]}}}", p.name)
		}
	}
	return found, true
}}
