package main

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
)

const heading = "## Tables with known truth\n"

// kinds are scikit-learn's classifiers, as peers.py names them.
var kinds = []string{"logistic regression", "random forest", "boosting", "SVC"}

// lossRatios summarises the ratios of r.loss to the least log loss of the others by their mean and
// their maximum.
func lossRatios(all []result, others func(r result) map[string]float64) string {
	ratio, worst, better := 0.0, 0.0, 0
	for _, r := range all {
		of := r.loss / least(others(r))
		ratio += math.Log(of) / float64(len(all))
		worst = max(worst, of)
		if of < 1 {
			better++
		}
	}
	return fmt.Sprintf("better for %d tables, on average by %.1f %%, and at most %.1f %% worse", better,
		100*(1-math.Exp(ratio)), max(0, 100*(worst-1)))
}

// several compares mean log losses over the tables of more than two classes.
func several(all []result, seed string) string {
	n, own, best, worst := 0.0, 0.0, 0.0, 0.0
	for _, r := range all {
		if r.classes > 2 {
			n, own, best = n+1, own+r.loss, best+least(r.peers)
			worst = max(worst, r.loss/least(r.peers))
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("With %s the answers for the %.0f tables of three or more classes have the mean log loss "+
		"%.3f.\nThe best of the four have %.3f. The largest ratio is %.2f.\n", seed, n, own/n, best/n, worst)
}

// least is the smallest of several losses.
func least(losses map[string]float64) float64 {
	return slices.Min(slices.Collect(maps.Values(losses)))
}

// written is the section of the page, with the results of this seed and of the next one.
func written(all, again []result, rows int, seed uint64) string {
	var b strings.Builder
	fmt.Fprint(&b, heading)
	labels, gap := map[string]int{}, 0.0
	for _, r := range all {
		labels[r.label]++
		gap += (r.loss - r.truest) / float64(len(all))
	}
	fmt.Fprintf(&b, `
`+"`make tables`"+` makes %d tables as exports are, with seed %d: %d rows each, with identifiers, remarks, dates, units,
limits of detection, durations, ordered answers in three languages and missing values. Their classes are drawn from
known probabilities. Others are tables of science: separable classes, repeated subjects, counts, a label in the first
columns, or a label that another column looks like. `+"`init`"+` writes a study of each, which runs untouched. It takes
the right label for %d and a wrong one for %d, and asks for %d; the last two were made again with `+"`--label`"+`.

The log loss is of 1000 further rows, which the model file of the answer predicts. The true probabilities are lower
by %.3f on average. `, len(all), seed, rows, labels["right"], labels["wrong"],
		labels["asked"], gap)
	peers := all[0].peers != nil
	if peers {
		file := func(r result) map[string]float64 { return r.peers }
		same := func(r result) map[string]float64 { return r.informed }
		fmt.Fprintf(&b, `Beside it stand four classifiers of scikit-learn, each with a hyperparameter chosen by
cross-validation. They have the numbers of the file, scaled, and its texts of few values, one-hot. The answer is
compared with the best of the four, as found on the new rows: it is %s.

The last but one column is the best of the same four with the inputs that the study of `+"`init`"+` has: parts of dates,
units, ranks and the rest. The answer is %s.

With the next seed the answer is %s than the best of the four.
Compared with the four that have the inputs of `+"`init`"+`, it is %s.

%s%s`, lossRatios(all, file), lossRatios(all, same), lossRatios(again, file), lossRatios(again, same),
			several(all, "this seed"), several(again, "the next one"))
	}
	head := []string{"table", "columns", "label", "answer's inference", "answer"}
	if peers {
		head = append(append(head, kinds...), "best, inputs of init")
	}
	fmt.Fprintf(&b, "\n| %s | truth |\n| --- | --: | --- | --- |%s\n", strings.Join(head, " | "),
		strings.Repeat(" --: |", len(head)-3))
	for _, r := range all {
		losses := []float64{r.loss}
		if peers {
			for _, kind := range kinds {
				losses = append(losses, r.peers[kind])
			}
			losses = append(losses, least(r.informed))
		}
		fmt.Fprintf(&b, "| %s | %d | %s | %s |", r.name, r.columns, r.label, r.answer)
		for _, loss := range append(losses, r.truest) {
			fmt.Fprintf(&b, " %.3f |", loss)
		}
		fmt.Fprintln(&b)
	}
	return b.String()
}
