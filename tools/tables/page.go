package main

import (
	"fmt"
	"math"
	"strings"
)

const heading = "## Thirty tables\n"

// written is the section of the page.
func written(all []result, rows int, seed uint64) string {
	var b strings.Builder
	fmt.Fprint(&b, heading)
	right, guessed, better := 0, 0, 0
	ratio, gap, worst := 0.0, 0.0, 0.0
	for _, r := range all {
		switch r.label {
		case "right":
			right++
		case "guessed":
			guessed++
		}
		if r.loss < r.plain {
			better++
		}
		ratio += math.Log(r.loss/r.plain) / float64(len(all))
		gap += (r.loss - r.truest) / float64(len(all))
		worst = max(worst, r.loss/r.plain)
	}
	fmt.Fprintf(&b, `
`+"`make tables`"+` makes %d tables as exports are, with seed %d: %d rows each, with identifiers, remarks, dates, units,
limits of detection, durations, ordered answers in three languages and missing values. Their classes are drawn from
known probabilities. `+"`init`"+` writes a study of each, which runs untouched. The label it takes is right for %d and
wrong, but named as a guess, for %d; those were made again with `+"`--label`"+`.

The log loss is that of 1000 further rows, predicted by the model file of the answer. Beside it stand the true
probabilities, and a plain logistic regression, which has numbers, one-hot categories and nothing of the rest. The
answer is better for %d tables; its log loss is on average %.1f %% lower, and at most %.1f %% higher. The true
probabilities are lower by %.3f on average.

| table | columns | label | answer's inference | answer | plain logistic regression | truth |
| --- | --: | --- | --- | --: | --: | --: |
`, len(all), seed, rows, right, guessed, better, 100*(1-math.Exp(ratio)), max(0, 100*(worst-1)), gap)
	for _, r := range all {
		fmt.Fprintf(&b, "| %s | %d | %s | %s | %.3f | %.3f | %.3f |\n", r.name, r.columns, r.label, r.answer, r.loss,
			r.plain, r.truest)
	}
	return b.String()
}
