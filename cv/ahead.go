package cv

import (
	"cmp"
	"slices"
	"strings"
)

// Deciding is the score that decides between configurations: the score of this name, for example of
// a contest. If name is empty, it is the score that all configurations tune, if all objectives are
// cv_ and the name of the same score; otherwise it is the BaseScore. classes is 0 for numeric
// targets.
func Deciding(name string, objectives []string, classes int) Score {
	if name == "" {
		name, _ = strings.CutPrefix(objectives[0], "cv_")
		for _, o := range objectives {
			if o != "cv_"+name {
				name = ""
			}
		}
	}
	if s, err := ScoreNamed(name); err == nil {
		return s
	}
	return BaseScore(classes)
}

// BaseScore is the first score for which the base rate has the value 0.
func BaseScore(classes int) Score {
	return Scores[slices.IndexFunc(Scores, func(s Score) bool { return s.Base && s.Numeric == (classes == 0) })]
}

// Ahead ranks contestants that have not yet visited all folds, the best first, and compares them on
// the same folds only. done[c][k] is true if contestant c has a result on fold k. better returns
// the score of a contestant on some folds together. More is better; NaN is worst.
//
// As in successive rejects (Audibert, Bubeck & Munos 2010, COLT), all that remain are compared on
// the folds that they have in common. Among the contestants with the fewest folds, the worst takes
// the last free rank, unless it is the best of all. So the rest have more folds in common.
// Contestants without a fold have the last ranks.
func Ahead(done [][]bool, better func(contestant int, folds []int) float64) []int {
	count := func(k int) (n int) {
		for _, d := range done[k] {
			if d {
				n++
			}
		}
		return n
	}
	var in, out []int // out has the last rank first
	for k := len(done) - 1; k >= 0; k-- {
		if count(k) == 0 {
			out = append(out, k)
		} else {
			in = append([]int{k}, in...)
		}
	}
	for len(in) > 0 {
		folds := Common(done, in)
		scores := map[int]float64{}
		for _, k := range in {
			if len(folds) > 0 {
				scores[k] = better(k, folds)
			}
		}
		slices.SortStableFunc(in, func(a, b int) int { return cmp.Compare(scores[b], scores[a]) })
		fewest := slices.MinFunc(in, func(a, b int) int { return count(a) - count(b) })
		last := 0
		for i, k := range in {
			if count(k) == count(fewest) {
				last = i
			}
		}
		if last == 0 && len(folds) > 0 {
			last = len(in) - 1 // the best has the fewest
		}
		out, in = append(out, in[last]), slices.Delete(in, last, last+1)
	}
	slices.Reverse(out)
	return out
}

// Common are the folds that all of these contestants have.
func Common(done [][]bool, contestants []int) (folds []int) {
	for f := range done[contestants[0]] {
		if !slices.ContainsFunc(contestants, func(k int) bool { return !done[k][f] }) {
			folds = append(folds, f)
		}
	}
	return folds
}
