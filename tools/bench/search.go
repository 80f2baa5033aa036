//go:build linux

package main

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"

	"gonum.org/v1/gonum/optimize"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/record"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/objective/param"
	"github.com/gpc-tune/gpc-tune/search"
)

// searched is a problem for strategies: the least value of a function on a space, in natural units.
type searched struct {
	name  string
	space search.Space
	value func(x []float64) float64
	least float64
}

// box is a space of d numbers between lo and hi.
func box(d int, lo, hi float64) (space search.Space) {
	for i := range d {
		space = append(space, param.Between(fmt.Sprintf("x%d", i+1), param.Identity, lo, hi))
	}
	return space
}

// sum adds f at every number.
func sum(x []float64, f func(v float64) float64) (total float64) {
	for _, v := range x {
		total += f(v)
	}
	return total
}

func rosenbrock(x []float64) (total float64) {
	for i := range len(x) - 1 {
		total += 100*math.Pow(x[i+1]-x[i]*x[i], 2) + math.Pow(1-x[i], 2)
	}
	return total
}

func branin(x []float64) float64 {
	valley := x[1] - 5.1/(4*math.Pi*math.Pi)*x[0]*x[0] + 5/math.Pi*x[0] - 6
	return valley*valley + 10*(1-1/(8*math.Pi))*math.Cos(x[0]) + 10
}

func levy(x []float64) float64 {
	w := func(v float64) float64 { return 1 + (v-1)/4 }
	first, last := w(x[0]), w(x[len(x)-1])
	total := math.Pow(math.Sin(math.Pi*first), 2) + math.Pow(last-1, 2)*(1+math.Pow(math.Sin(2*math.Pi*last), 2))
	return total + sum(x[:len(x)-1], func(v float64) float64 {
		return math.Pow(w(v)-1, 2) * (1 + 10*math.Pow(math.Sin(math.Pi*w(v)+1), 2))
	})
}

func ackley(x []float64) float64 {
	n := float64(len(x))
	squares := sum(x, func(v float64) float64 { return v * v })
	waves := sum(x, func(v float64) float64 { return math.Cos(2 * math.Pi * v) })
	return 20 + math.E - 20*math.Exp(-0.2*math.Sqrt(squares/n)) - math.Exp(waves/n)
}

// hartmann is the function of three or six numbers with these exponents and centres.
func hartmann(a, p [4][]float64) func([]float64) float64 {
	return func(x []float64) (total float64) {
		for i, weight := range []float64{1, 1.2, 3, 3.2} {
			exponent := 0.0
			for j := range x {
				exponent += a[i][j] * math.Pow(x[j]-p[i][j], 2)
			}
			total -= weight * math.Exp(-exponent)
		}
		return total
	}
}

// problems are functions whose least values are known, and minus the log evidence of two bundled
// sets, whose greatest value is that of ten climbs of bfgs.
func problems() []searched {
	number := func(name string, lo, hi float64) param.Spec { return param.Between(name, param.Identity, lo, hi) }
	return []searched{
		{"sphere, 5", box(5, -5, 5), func(x []float64) float64 {
			return sum(x, func(v float64) float64 { return (v - 1) * (v - 1) })
		}, 0},
		{"Branin, 2", search.Space{number("x1", -5, 10), number("x2", 0, 15)}, branin, 0.39788735772973816},
		{"six-hump camel, 2", search.Space{number("x1", -3, 3), number("x2", -2, 2)},
			func(x []float64) float64 {
				a, b := x[0]*x[0], x[1]*x[1]
				return (4-2.1*a+a*a/3)*a + x[0]*x[1] + (4*b-4)*b
			}, -1.031628453489877},
		{"Rosenbrock, 2", box(2, -2, 2), rosenbrock, 0},
		{"Rosenbrock, 5", box(5, -2, 2), rosenbrock, 0},
		{"Levy, 8", box(8, -10, 10), levy, 0},
		{"Ackley, 5", box(5, -10, 15), ackley, 0},
		{"Rastrigin, 3", box(3, -4, 5), func(x []float64) float64 {
			return sum(x, func(v float64) float64 { return v*v + 10 - 10*math.Cos(2*math.Pi*v) })
		}, 0},
		{"Hartmann, 3", box(3, 0, 1), hartmann(
			[4][]float64{{3, 10, 30}, {0.1, 10, 35}, {3, 10, 30}, {0.1, 10, 35}},
			[4][]float64{{0.3689, 0.1170, 0.2673}, {0.4699, 0.4387, 0.7470}, {0.1091, 0.8732, 0.5547},
				{0.03815, 0.5743, 0.8828}}), -3.8627797869493365},
		{"Hartmann, 6", box(6, 0, 1), hartmann(
			[4][]float64{{10, 3, 17, 3.5, 1.7, 8}, {0.05, 10, 17, 0.1, 8, 14}, {3, 3.5, 1.7, 10, 17, 8},
				{17, 8, 0.05, 10, 0.1, 14}},
			[4][]float64{{0.1312, 0.1696, 0.5569, 0.0124, 0.8283, 0.5886},
				{0.2329, 0.4135, 0.8307, 0.3736, 0.1004, 0.9991}, {0.2348, 0.1451, 0.3522, 0.2883, 0.3047, 0.6650},
				{0.4047, 0.8828, 0.8732, 0.5743, 0.1091, 0.0381}}),
			-3.322368011391339},
		{"mixed: Branin of 3 kinds with whole x2", search.Space{param.Among("kind", "a", "b", "c"),
			number("x1", -5, 10), param.Between("x2", param.Whole, 0, 15)},
			func(x []float64) float64 { return branin(x[1:]) + 5*x[0]*(2-x[0]) }, math.NaN()},
		{"conditional: 2 numbers, one for each kind", conditional(), func(x []float64) float64 {
			if x[0] == 0 {
				return 1 + math.Pow(x[1]-2, 2)
			}
			return math.Pow(x[2]+1, 2) + math.Abs(math.Sin(3*(x[2]+1)))
		}, 0},
		evidence("crabs", false),
		evidence("thyroid_binary", true),
	}
}

// conditional is a choice, and a number that matters for each of its values.
func conditional() search.Space {
	space := search.Space{param.Among("kind", "a", "b")}
	for i := range 2 {
		h := param.Between(fmt.Sprintf("x%d", i+1), param.Identity, -5, 5)
		h.When = &param.Condition{Name: "kind", Values: []float64{float64(i)}}
		space = append(space, h)
	}
	return space
}

// evidence is minus the log evidence of a bundled set as a function of the hyperparameters.
func evidence(name string, ard bool) searched {
	set := newSet(name, standardized(data.Spec{Dataset: name}), [2]float64{})
	within := param.Setting{Bounds: &[2]float64{math.Exp(-3), math.Exp(6)}}
	m := objective.Model{Kernels: []kernel.Kernel{kernel.SE{ARD: ard, Amplitude: within, LengthScale: within}},
		Likelihood: likelihood.Probit{}, Inference: approx.Laplace{}}
	o := got(objective.New(m, objective.LogEvidence{}, objective.Data{X: &kernel.Inputs{X: set.x}, Y: set.y,
		Scaled: true}))
	specs := o.Layout.FreeSpecs()
	p := searched{name: fmt.Sprintf("log evidence of %s, %d", name, len(specs)), least: math.Inf(1)}
	for _, h := range specs {
		p.space = append(p.space, param.Between(h.Name, param.Log, h.Lo, h.Hi))
	}
	p.value = func(x []float64) float64 {
		theta := make([]float64, len(x))
		for i, v := range x {
			theta[i] = math.Log(v)
		}
		fit, err := o.Fit(context.Background(), theta, nil)
		if err != nil {
			return math.NaN()
		}
		return -fit.Value()
	}
	for i := range 10 {
		best, err := objective.Optimize(context.Background(), o, param.Start(specs, 1, i), objective.Settings{})
		if err == nil {
			p.least = min(p.least, -best.Value)
		}
	}
	return p
}

// most is the number of evaluations of a search, and mostBayes that of one that takes the longer
// for a proposal the more it knows.
const (
	most      = 400
	mostBayes = 40
	seeds     = 20
)

// budgets are the numbers of evaluations after which searches are compared.
var budgets = []int{20, 40, 100, 400}

// searcher is a way of searching, ours or another's: it tells every value that it has.
type searcher struct {
	name string
	run  func(p searched, seed uint64, tell func(value float64))
}

func searchers() []searcher {
	return []searcher{
		{"bayes", ours(search.Bayes{Trials: mostBayes})},
		{"cmaes", ours(search.CMAES{Evaluations: most})},
		{"nelder_mead", ours(search.NelderMead{Evaluations: most})},
		{"random", ours(search.Random{Design: search.Design{Trials: most}})},
		{"gonum CmaEsChol", gonum(func(seed uint64) optimize.Method {
			return &optimize.CmaEsChol{InitStepSize: 0.25, Src: rand.NewPCG(seed, 1)}
		})},
		{"gonum NelderMead", gonum(func(uint64) optimize.Method { return &optimize.NelderMead{} })},
	}
}

// started is the space with starts drawn from it.
func started(space search.Space, seed uint64) search.Space {
	rng := rand.New(rand.NewPCG(seed, 2))
	space = slices.Clone(space)
	for i := range space {
		h := &space[i]
		lo, hi := h.ThetaBounds()
		h.Init = h.Map.Natural(lo + (hi-lo)*rng.Float64())
		if h.Map.Discrete() {
			h.Init = math.Round(h.Init)
		}
	}
	return space
}

// ours runs a strategy; one that refuses the space runs nothing.
func ours(strategy search.Strategy) func(searched, uint64, func(float64)) {
	return func(p searched, seed uint64, tell func(float64)) {
		space := started(p.space, seed)
		if strategy.Check(space) != nil {
			return
		}
		var done []record.Trial
		for {
			next := strategy.Ask(space, done, seed)
			if len(next) == 0 {
				return
			}
			for _, proposal := range next {
				for _, theta := range proposal.Points {
					x := make([]float64, len(theta))
					for i, h := range space {
						x[i] = min(max(h.Map.Natural(theta[i]), h.Lo), h.Hi)
					}
					value := p.value(x)
					tell(value)
					at := record.Point{Theta: record.Numbers(theta), Value: record.Number(-value)}
					done = append(done, record.Trial{Index: len(done), Points: []record.Point{at}})
				}
			}
		}
	}
}

// gonum runs a method of gonum in the unit cube. Outside of it the value is that of the nearest
// point, with the squared distance from it added; whole numbers and choices are rounded.
func gonum(method func(seed uint64) optimize.Method) func(searched, uint64, func(float64)) {
	return func(p searched, seed uint64, tell func(float64)) {
		space := started(p.space, seed)
		start := make([]float64, len(space))
		for i, h := range space {
			lo, hi := h.ThetaBounds()
			start[i] = (h.Map.Theta(h.Init) - lo) / (hi - lo)
		}
		f := func(u []float64) float64 {
			x, outside := make([]float64, len(u)), 0.0
			for i, h := range space {
				lo, hi := h.ThetaBounds()
				inside := min(max(u[i], 0), 1)
				outside += (u[i] - inside) * (u[i] - inside)
				theta := lo + (hi-lo)*inside
				if h.Map.Discrete() {
					theta = math.Round(theta)
				}
				x[i] = min(max(h.Map.Natural(theta), h.Lo), h.Hi)
			}
			value := p.value(x)
			tell(value)
			if math.IsNaN(value) {
				return math.Inf(1)
			}
			return value + outside
		}
		// The error is about the end of the search, whose values have been told.
		_, _ = optimize.Minimize(optimize.Problem{Func: f}, start,
			&optimize.Settings{FuncEvaluations: most, Converger: optimize.NeverTerminate{}}, method(seed))
	}
}

// regrets are how far the best value is above the least after each number of evaluations, NaN where
// the search does not go so far.
func regrets(s searcher, p searched, seed uint64, limit int) []float64 {
	var best []float64
	least := math.Inf(1)
	s.run(p, seed, func(value float64) {
		if value < least {
			least = value
		}
		best = append(best, least-p.least)
	})
	at := make([]float64, len(budgets))
	for i, n := range budgets {
		switch {
		case len(best) == 0 || n > limit:
			at[i] = math.NaN()
		default: // one that has ended stays where it is
			at[i] = best[min(n, len(best))-1]
		}
	}
	return at
}

// searches writes the page of searches beside those of gonum.
func searches(out string) {
	all, ways := problems(), searchers()
	findLeast(all)
	medians := measuredSearches(all, ways)
	var page strings.Builder
	page.WriteString(text("search title", len(all), seeds) + "\n\n")
	for b, n := range budgets {
		fmt.Fprintf(&page, "## After %d evaluations\n\n", n)
		searchTable(&page, all, ways, medians, b)
	}
	if out == "-" {
		fmt.Print(page.String())
		return
	}
	must(os.WriteFile(out, []byte(page.String()), 0o666))
}

// findLeast finds the least values that are not known: of Branin with a whole number, by
// enumeration.
func findLeast(all []searched) {
	for i := range all {
		if math.IsNaN(all[i].least) {
			all[i].least = math.Inf(1)
			for k := range 16 {
				for x := -5.0; x <= 10; x += 1e-4 {
					all[i].least = min(all[i].least, all[i].value([]float64{0, x, float64(k)}))
				}
			}
		}
	}
}

// measuredSearches are the median regrets by problem, searcher and budget.
func measuredSearches(all []searched, ways []searcher) [][][]float64 {
	medians := make([][][]float64, len(all))
	var wait sync.WaitGroup
	for i, p := range all {
		medians[i] = make([][]float64, len(ways))
		for k, s := range ways {
			wait.Go(func() {
				limit := most
				if s.name == "bayes" {
					limit = mostBayes
				}
				var of [][]float64
				for seed := range uint64(seeds) {
					of = append(of, regrets(s, p, seed, limit))
				}
				for b := range budgets {
					var v []float64
					for _, r := range of {
						v = append(v, r[b])
					}
					slices.Sort(v)
					medians[i][k] = append(medians[i][k], middle(v))
				}
			})
		}
	}
	wait.Wait()
	return medians
}

// searchTable writes the medians of a budget, those in bold that are best or within 5 %.
func searchTable(page *strings.Builder, all []searched, ways []searcher, medians [][][]float64, b int) {
	page.WriteString("| problem |")
	rule := "| --- |"
	shown := []int{}
	for k, s := range ways {
		if slices.ContainsFunc(medians, func(of [][]float64) bool { return !math.IsNaN(of[k][b]) }) {
			shown = append(shown, k)
			fmt.Fprintf(page, " %s |", s.name)
			rule += " --: |"
		}
	}
	fmt.Fprintf(page, "\n%s\n", rule)
	for i, p := range all {
		fmt.Fprintf(page, "| %s |", p.name)
		least := math.Inf(1)
		for _, k := range shown {
			if v := medians[i][k][b]; v < least {
				least = v
			}
		}
		for _, k := range shown {
			switch v := medians[i][k][b]; {
			case math.IsNaN(v):
				page.WriteString(" – |")
			case v <= max(1.05*least, negligible):
				fmt.Fprintf(page, " **%s** |", short(v))
			default:
				fmt.Fprintf(page, " %s |", short(v))
			}
		}
		page.WriteString("\n")
	}
	page.WriteString("\n")
}

// negligible is less than is worth telling.
const negligible = 1e-6

// short is a number with two significant digits, or 0.
func short(v float64) string {
	if v < negligible {
		return "0"
	}
	return twoDigits(v)
}
