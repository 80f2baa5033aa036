package cv

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
)

// TestSkillOfCounts: rows of counts, whose successes and failures are weighted cases of a group, under five kernel
// smoothers. If successes do not depend on the input, skill is found in at most 5 % of the data sets and two standard
// errors; and it is found where they do. over is the standard deviation of the log odds among rows with the same input.
func TestSkillOfCounts(t *testing.T) {
	for _, cell := range []struct {
		rows, folds   int
		evaluated     int // folds; 1: a test set
		slope, over   float64
		most          int // trials
		atLeast, sets int
		ends          bool // rows whose inputs are within one standard deviation have a single trial
	}{
		{12, 6, 6, 0, 1, 20, 0, 300, true}, {30, 5, 5, 0, 1, 50, 0, 300, true}, {60, 10, 10, 0, 0, 5, 0, 300, false}, {120, 2, 1, 0, 1, 200, 0, 1000, true},
		{30, 5, 5, 1, 0, 20, 70, 100, false}, {30, 30, 30, 1, 0, 20, 70, 100, false}, {60, 2, 1, 1, 0, 20, 95, 100, false},
	} {
		shown := 0
		if cell.slope == 0 { // the bound below grows with fewer sets
			cell.sets = exhaustive.Of(cell.sets/3, cell.sets)
		}
		for sim := range cell.sets {
			r := rand.New(rand.NewPCG(uint64(sim), uint64(cell.rows)))
			n := cell.rows
			x, s, f := make([]float64, n), make([]float64, n), make([]float64, n)
			for i := range n {
				x[i] = r.NormFloat64()
				p := 1 / (1 + math.Exp(-(cell.slope*x[i] + cell.over*r.NormFloat64() - 0.5)))
				trials := 1 + r.IntN(cell.most)
				if cell.ends && math.Abs(x[i]) < 1 {
					trials = 1
				}
				for range trials {
					if r.Float64() < p {
						s[i]++
					} else {
						f[i]++
					}
				}
			}
			order := r.Perm(n)
			c := Contenders{Seed: uint64(sim), Ratio: 1.2}
			groups := make([]int, 2*n)
			for i := range groups {
				groups[i] = i / 2
			}
			c.Groups = groups
			bad := false
			for _, h := range []float64{0.2, 0.5, 1, 2, 5} {
				var parts []Predictions
				for k := range min(cell.folds, cell.evaluated) {
					var S, F float64
					for at, i := range order {
						if at%cell.folds != k {
							S, F = S+s[i], F+f[i]
						}
					}
					if S == 0 || F == 0 {
						bad = true
						break
					}
					var cases, labels []int
					var proba, w []float64
					for at, i := range order {
						if at%cell.folds != k {
							continue
						}
						a, b := 1.0, 1.0
						for at, j := range order {
							if at%cell.folds != k {
								g := math.Exp(-(x[i] - x[j]) * (x[i] - x[j]) / (2 * h * h))
								a, b = a+g*s[j], b+g*f[j]
							}
						}
						for y, count := range []float64{f[i], s[i]} {
							if count > 0 {
								cases, labels, w = append(cases, 2*i+y), append(labels, y), append(w, count)
								proba = append(proba, b/(a+b), a/(a+b))
							}
						}
					}
					p, err := NewPredictions(cases, labels, mat.NewDense(len(cases), 2, proba), []float64{F, S})
					if err != nil {
						t.Fatal(err)
					}
					p.Weight = w
					parts = append(parts, p)
				}
				c.Parts = append(c.Parts, parts)
			}
			if bad {
				continue
			}
			sc, _ := ScoreNamed("information_bits")
			best, top := 0, math.Inf(-1)
			for k := range c.Parts {
				if e, _, _ := sc.Of(Pool(c.Parts[k]...)); e.Value > top {
					best, top = k, e.Value
				}
			}
			if c.Knows(best) {
				shown++
			}
		}
		if most := 0.05*float64(cell.sets) + 2*math.Sqrt(0.05*0.95*float64(cell.sets)); shown < cell.atLeast || cell.slope == 0 && float64(shown) > most {
			t.Errorf("%+v: skill is found in %d", cell, shown)
		}
		t.Logf("%+v: %d", cell, shown)
	}
}
