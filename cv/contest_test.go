package cv

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/cause"
)

func contest(t *testing.T, score, race, options string, folds int) Contest {
	t.Helper()
	c, err := NewContest(score, race, []byte(options), folds)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// attempt is a fold of consecutive cases, the first with number from, all of class 1, with probabilities p of class 1.
func attempt(t *testing.T, from int, p ...float64) Attempt {
	t.Helper()
	labels, proba := make([]int, len(p)), make([][]float64, len(p))
	for i := range p {
		labels[i], proba[i] = 1, []float64{1 - p[i], p[i]}
	}
	out := predict(t, labels, proba, 1, 1)
	for i := range out.Cases {
		out.Cases[i] += from
	}
	return Attempt{Predictions: &out}
}

// Four of ten folds. The p value is from scipy (1.14, stats.t.sf), for the differences ¼, ½, ¼ and
// ⅝ of the logarithms.
func TestPairedT(t *testing.T) {
	const want = 0.005641196045625456
	better, worse := make([]Predictions, 4), make([]Predictions, 4)
	for f, d := range []float64{.25, .5, .25, .625} {
		better[f] = *attempt(t, f, .9, .8).Predictions
		worse[f] = *attempt(t, f, .9*math.Exp(-d), .8*math.Exp(-d)).Predictions
	}
	for _, score := range []string{"log_loss", "information_bits"} {
		c := contest(t, score, "paired_t", "{}", 10)
		round := Round{Score: c.Score, Contestants: 2, Folds: 10, Done: 4, In: []int{1, 0}, Parts: [][]Predictions{worse, better}}
		for contestants := range 8 {
			if contestants < 2 {
				continue
			}
			round.Contestants = contestants         // any other contestant might have been the best
			tests := float64(7 * (contestants - 1)) // after 3, 4, … 9 folds
			cuts := PairedT{Alpha: tests * want * 1.001}.Cut(round)
			if len(cuts) != 1 || cuts[0].Contestant != 0 || cuts[0].Better != 1 || cuts[0].Folds != 4 || math.Abs(cuts[0].P-want) > 1e-12 {
				t.Errorf("%s: %+v, want p %v", score, cuts, want)
			}
			if n := len(PairedT{Alpha: tests * want * 0.999}.Cut(round)); n != 0 {
				t.Errorf("%d cuts at a level just below p", n)
			}
		}
	}
}

// If the error counts differ by one in every fold, the observed variance of the differences is 0.
// That does not mean the true variance is 0, so nobody is cut. One more error in one fold gives a
// variance and a test.
func TestPairedTOfEqualDifferences(t *testing.T) {
	c := contest(t, "error_rate", "paired_t", "{}", 10)
	errors := func(counts ...int) (parts []Predictions) {
		for f, wrong := range counts {
			p := []float64{.9, .9, .9, .9, .9}
			for i := range wrong {
				p[i] = .2
			}
			parts = append(parts, *attempt(t, 5*f, p...).Predictions)
		}
		return parts
	}
	round := Round{Score: c.Score, Contestants: 2, Folds: 10, Done: 4, In: []int{1, 0}, Parts: [][]Predictions{errors(1, 2, 3, 4), errors(0, 1, 2, 3)}}
	if cuts := (PairedT{Alpha: 0.5}).Cut(round); len(cuts) != 0 {
		t.Errorf("%+v", cuts)
	}
	round.Parts[0] = errors(2, 2, 3, 4)
	if cuts := (PairedT{Alpha: 0.5}).Cut(round); len(cuts) != 1 || !(cuts[0].P > 1e-3) {
		t.Errorf("%+v", cuts)
	}
}

// Contestants that do not differ are never cut.
func TestPairedTOfEqualPredictions(t *testing.T) {
	c := contest(t, "error_rate", "paired_t", "{}", 6)
	var same, other []Attempt
	for f := range 6 {
		same, other = append(same, attempt(t, f, .9, .2)), append(other, attempt(t, f, .1, .6))
	}
	s := c.Judge([][]Attempt{same, other, same})
	if len(s.Cuts) != 0 || s.Winner != 0 || !s.Ended || !slices.Equal(s.In, []int{0, 1, 2}) {
		t.Errorf("%+v", s)
	}
}

func TestRounds(t *testing.T) {
	for _, test := range []struct {
		race               Race
		contestants, folds int
		want               []int
	}{
		{PairedT{}, 7, 3, nil}, {PairedT{}, 7, 5, []int{3, 4}}, {PairedT{}, 7, 10, []int{3, 4, 5, 6, 7, 8, 9}},
		{PairedT{}, 7, 100, []int{10, 20, 30, 40, 50, 60, 70, 80, 90}}, {PairedT{}, 7, 12, []int{3, 4, 5, 6, 8, 9, 10, 11}}, {PairedT{}, 7, 1, nil},
		{PairedT{}, 7, 13, []int{3, 4, 6, 7, 8, 10, 11, 12}}, {PairedT{}, 7, 19, []int{4, 6, 8, 10, 12, 14, 16, 18}},
		{SuccessiveHalving{}, 8, 10, []int{2, 3, 5}}, {SuccessiveHalving{}, 6, 10, []int{2, 3, 5}}, {SuccessiveHalving{}, 100, 10, []int{1, 2, 3, 5}},
		{SuccessiveHalving{Eta: 3}, 9, 10, []int{2, 4}}, {SuccessiveHalving{}, 2, 1, nil}, {SuccessiveHalving{}, 1, 10, nil},
	} {
		if got := test.race.Rounds(test.contestants, test.folds); !slices.Equal(got, test.want) {
			t.Errorf("%#v of %d over %d folds: %v, want %v", test.race, test.contestants, test.folds, got, test.want)
		}
	}
	// 100 → 50 → 25 → 13 → 7 after the first fold, 4 after the second.
	if _, keep := (SuccessiveHalving{}).rungs(100, 10); !slices.Equal(keep, []int{7, 4, 2, 1}) {
		t.Errorf("%v are kept", keep)
	}
}

// Four contestants over four folds are halved after the first and after the second fold. A
// contestant that was cut takes no further part, even if it would be the best in the end.
func TestSuccessiveHalving(t *testing.T) {
	folds := func(p ...float64) (out []Attempt) {
		for i, p := range p {
			out = append(out, attempt(t, i, p))
		}
		return out
	}
	c := contest(t, "log_loss", "successive_halving", "{}", 4)
	s := c.Judge([][]Attempt{folds(.6, .99, .99, .99), folds(.8, .5, .9, .9), folds(.7, .9, .5, .5), folds(.5, .99, .99, .99)})
	var cuts [][3]int
	for _, cut := range s.Cuts {
		cuts = append(cuts, [3]int{cut.Contestant, cut.Folds, cut.Better})
	}
	if want := [][3]int{{0, 1, 1}, {3, 1, 1}, {1, 2, 2}}; !slices.Equal(cuts, want) || s.Winner != 2 || !s.Ended {
		t.Errorf("%+v", s)
	}
	if got, want := s.Scores[1].Value, -(math.Log(.8)+math.Log(.5))/2; math.Abs(got-want) > 1e-15 {
		t.Errorf("who was cut has the score %v, want that of its two folds, %v", got, want)
	}
}

// An unfinished contest is judged at the last complete round, whatever else has arrived. A
// contestant that fails is out, and later rounds do not wait for it.
func TestUnfinishedContest(t *testing.T) {
	good, bad := attempt(t, 0, .9, .8), attempt(t, 0, .6, .7)
	c := contest(t, "brier", "successive_halving", "{}", 4)
	s := c.Judge([][]Attempt{{bad, {}, bad, bad}, {good, {}, {}, {}}, {{Failure: cause.Failure.New("no")}, {}, {}, {}}, {{}, {}, {}, {}}})
	if s.Ended || s.Folds != 0 || s.Next != 1 || len(s.In) != 4 || s.Winner != -1 {
		t.Errorf("%+v", s)
	}
	s = c.Judge([][]Attempt{{bad, {}, bad, bad}, {good, {}, {}, {}}, {{Failure: cause.Failure.New("no")}, {}, {}, {}}, {bad, {}, {}, {}}})
	if s.Ended || s.Folds != 1 || s.Next != 2 || !slices.Equal(s.In, []int{0, 1}) || len(s.Cuts) != 2 || s.Cuts[0].Better != -1 || s.Cuts[0].Reason != "failed: no" {
		t.Errorf("%+v", s)
	}
	c.Race = nil
	s = c.Judge([][]Attempt{{bad, bad, bad, bad}, {good, good, good, {Failure: cause.Failure.New("at last")}}})
	if !s.Ended || s.Winner != 0 || len(s.Cuts) != 1 || !math.IsNaN(s.Scores[1].Value) {
		t.Errorf("%+v", s)
	}
	if s = c.Judge([][]Attempt{{{Failure: cause.Failure.New("a")}, bad, bad, bad}}); !s.Ended || s.Winner != -1 || len(s.In) != 0 {
		t.Errorf("%+v", s)
	}
}

// The winner on all folds is cut with probability at most alpha. The contestants are equally good,
// which is the hardest case, and each fold has an effect common to its cases.
func TestPairedTKeepsTheWinner(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	const races, contestants, folds, size, alpha = 400, 4, 8, 10, 0.2
	c := contest(t, "log_loss", "paired_t", fmt.Sprintf(`{"alpha": %v}`, alpha), folds)
	all := contest(t, "log_loss", "", "", folds)
	lost, cuts := 0, 0
	for range races {
		attempts := make([][]Attempt, contestants)
		for f := range folds {
			common := make([]float64, size)
			for i := range common {
				common[i] = r.NormFloat64()
			}
			for k := range attempts {
				p := make([]float64, size)
				shift := 0.3 * r.NormFloat64()
				for i := range p {
					p[i] = 1 / (1 + math.Exp(-1-common[i]-shift-0.1*r.NormFloat64()))
				}
				attempts[k] = append(attempts[k], attempt(t, size*f, p...))
			}
		}
		raced := c.Judge(attempts)
		cuts += len(raced.Cuts)
		if raced.Winner != all.Judge(attempts).Winner {
			lost++
		}
	}
	if limit := alpha*races + 3*math.Sqrt(alpha*(1-alpha)*races); float64(lost) > limit || cuts < races/4 {
		t.Errorf("the winner was cut in %d of %d races, alpha %v; %d cuts", lost, races, alpha, cuts)
	}
}

func TestBadContests(t *testing.T) {
	for _, c := range []struct{ Score, Race, Options string }{
		{Score: "bits"}, {Score: "brier", Race: "paired", Options: "{}"},
		{Score: "brier", Race: "paired_t", Options: `{"alpha": 2}`}, {Score: "auc", Race: "successive_halving", Options: `{"eta": 1}`},
	} {
		if _, err := NewContest(c.Score, c.Race, []byte(c.Options), 0); err == nil {
			t.Errorf("%+v: no error", c)
		}
	}
}
