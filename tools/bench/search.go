//go:build linux

package main

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"

	"gonum.org/v1/gonum/optimize"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
)

const (
	most  = 400 // evaluations of a search
	fewer = 100 // evaluations of a search with 10 ms or more a proposal
	seeds = 40
)

// budgets are the numbers of evaluations after which searches are compared.
var budgets = []int{20, 40, 100, 400}

// searcher is a strategy of gpc-tune or another program. run calls tell with the value of every
// evaluation.
type searcher struct {
	name  string
	limit int // evaluations of a search
	run   func(p searched, seed uint64, tell func(value float64))
}

// searchers returns gpc-tune's searchers, the first own of all, and then the other programs'.
func searchers(python chan *peer) (all []searcher, own int) {
	all = []searcher{
		{"auto", most, ours(search.Auto{Trials: most})},
		{"cmaes", most, ours(search.CMAES{Trials: most})},
		{"nelder_mead", most, ours(search.NelderMead{Trials: most})},
	}
	own = len(all)
	all = append(all, searcher{"Optuna TPE", fewer, asked("tpe", fewer, python)})
	for _, o := range []struct{ name, method string }{
		{"Optuna CMA-ES", "cmaes"},
		{"SciPy differential evolution", "differential_evolution"}, {"SciPy dual annealing", "dual_annealing"},
		{"SciPy Nelder-Mead", "nelder_mead"},
	} {
		all = append(all, searcher{o.name, most, asked(o.method, most, python)})
	}
	return append(all,
		searcher{"gonum CmaEsChol", most, gonum(func(seed uint64) optimize.Method {
			return &optimize.CmaEsChol{InitStepSize: 0.25, Src: rand.NewPCG(seed, 1)}
		})},
		searcher{"gonum NelderMead", most, gonum(func(uint64) optimize.Method { return &optimize.NelderMead{} })},
	), own
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

// ours runs a strategy, unless the strategy refuses the space.
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

// gonum runs a method of gonum in the unit cube. Outside of the cube f is the value at the nearest
// point plus the squared distance to it; whole numbers and choices are rounded.
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

// asked runs one of the methods of optimizers.py, in one of the processes that are free.
func asked(method string, evaluations int, free chan *peer) func(searched, uint64, func(float64)) {
	type hyperparameter struct {
		Name   string    `json:"name"`
		Kind   string    `json:"kind"`
		Lo     float64   `json:"lo"`
		Hi     float64   `json:"hi"`
		Start  float64   `json:"start"`
		Of     int       `json:"of"`
		Values []float64 `json:"when"`
	}
	kinds := map[param.Transform]string{param.Log: "log", param.Identity: "linear", param.Whole: "whole",
		param.Choice: "choice"}
	return func(p searched, seed uint64, tell func(float64)) {
		var space []hyperparameter
		for _, h := range started(p.space, seed) {
			next := hyperparameter{Name: h.Name, Kind: kinds[h.Map], Lo: h.Lo, Hi: h.Hi, Start: h.Init}
			if h.When != nil {
				next.Of = slices.IndexFunc(p.space, func(o param.Spec) bool { return o.Name == h.When.Name })
				next.Values = h.When.Values
			}
			space = append(space, next)
		}
		process := <-free
		defer func() { free <- process }()
		request := string(got(json.Marshal(map[string]any{"method": method, "seed": seed, "evaluations": evaluations,
			"space": space})))
		for {
			var next struct{ X []float64 }
			if must(process.ask(&next, "%s", request)); next.X == nil {
				return
			}
			value := p.value(next.X)
			tell(value)
			request = strconv.FormatFloat(value, 'g', -1, 64)
		}
	}
}

// searches writes the page that compares gpc-tune's searches with other programs'. If keep names a
// file, the values that the other programs find are kept there and read by the next run.
func searches(python, keep, out string) {
	free := make(chan *peer, runtime.NumCPU())
	for range cap(free) {
		process := start("optimizers.py", []string{"OPENBLAS_NUM_THREADS=1"}, python,
			filepath.Join(scripts(), "optimizers.py"))
		defer process.stop()
		free <- process
	}
	var versions struct{ Optuna, SciPy string }
	process := <-free
	must(process.ask(&versions, "versions"))
	free <- process
	all := problems()
	ways, own := searchers(free)
	found := measuredSearches(all, ways, own, keep)
	for i := range all {
		for _, of := range found[i] {
			for _, best := range of {
				for _, v := range best {
					if v := float64(v); v < all[i].least || math.IsNaN(all[i].least) {
						all[i].least = v
					}
				}
			}
		}
	}
	page := text("search title", versions.Optuna, versions.SciPy, len(all), seeds) + "\n\n" +
		searchPage(all, ways, own, found)
	if out == "-" {
		fmt.Print(page)
		return
	}
	must(os.WriteFile(out, []byte(page), 0o666))
}

// measuredSearches returns best values, with the indices problem, searcher, budget and seed; NaN if
// the budget exceeds the limit of the search.
func measuredSearches(all []searched, ways []searcher, own int, keep string) [][][][]record.Number {
	kept := map[string][][]record.Number{}
	if text, err := os.ReadFile(keep); err == nil {
		must(json.Unmarshal(text, &kept))
	}
	found := make([][][][]record.Number, len(all))
	free := make(chan bool, runtime.NumCPU())
	var lock sync.Mutex
	var wait sync.WaitGroup
	for k, s := range ways {
		for i, p := range all {
			found[i] = append(found[i], kept[s.name+": "+p.name])
			if found[i][k] != nil {
				continue
			}
			found[i][k] = make([][]record.Number, len(budgets))
			for b := range budgets {
				found[i][k][b] = make([]record.Number, seeds)
			}
			left := seeds
			for seed := range seeds {
				free <- true
				wait.Go(func() {
					best := s.best(p, uint64(seed))
					lock.Lock()
					defer lock.Unlock()
					for b, v := range best {
						found[i][k][b][seed] = record.Number(v)
					}
					if left--; left == 0 && k >= own && keep != "" {
						kept[s.name+": "+p.name] = found[i][k]
						must(os.WriteFile(keep, got(json.Marshal(kept)), 0o666))
					}
					<-free
				})
			}
		}
	}
	wait.Wait()
	return found
}

// best has the best value of a search after each budget; NaN if a budget exceeds the limit of the
// search.
func (s searcher) best(p searched, seed uint64) []float64 {
	var so []float64
	least := math.Inf(1)
	s.run(p, seed, func(value float64) {
		if value < least {
			least = value
		}
		so = append(so, least)
	})
	at := make([]float64, len(budgets))
	for i, n := range budgets {
		if at[i] = math.NaN(); len(so) > 0 && n <= s.limit { // a search that has ended keeps its value
			at[i] = so[min(n, len(so))-1]
		}
	}
	return at
}

// climbed are the best ends of climbs after the budgets, by budget and seed.
func climbed(p searched) [][]record.Number {
	best := make([][]record.Number, len(budgets))
	for b := range best {
		best[b] = slices.Repeat([]record.Number{record.Number(math.Inf(1))}, seeds)
	}
	for seed := range uint64(seeds) {
		p.climb(param.Start(started(p.space, seed), seed, 0), most, seed, func(evaluations int, value float64) {
			for b, n := range budgets {
				if evaluations <= n {
					best[b][seed] = min(best[b][seed], record.Number(value))
				}
			}
		})
	}
	return best
}

// searchPage is the text of the page. It shows the median best value over the seeds, as its
// difference from the least value of the problem.
func searchPage(all []searched, ways []searcher, own int, found [][][][]record.Number) string {
	var page strings.Builder
	regrets := make([][][]float64, len(budgets)) // indices: budget, problem, searcher
	for b := range budgets {
		for i, p := range all {
			regrets[b] = append(regrets[b], nil)
			for _, of := range found[i] {
				v := record.Floats(of[b])
				slices.Sort(v)
				regrets[b][i] = append(regrets[b][i], middle(v)-p.least)
			}
		}
	}
	page.WriteString("| evaluations | `auto` | ahead | best of ours | ahead |\n| --: | --: | --: | --: | --: |\n")
	for b, n := range budgets {
		level, ahead := standing(regrets[b], 1, own)
		bestLevel, bestAhead := standing(regrets[b], own, own)
		of := fmt.Sprintf("%d | %d", level, ahead)
		if n > ways[0].limit {
			of = "– | –"
		}
		fmt.Fprintf(&page, "| %d | %s | %d | %d |\n", n, of, bestLevel, bestAhead)
	}
	page.WriteString("\n" + text("search seeds", seeds) + "\n\n| after |")
	rule := "\n| --- |"
	shown := slices.DeleteFunc(slices.Clone(budgets), func(n int) bool { return n > ways[0].limit })
	for _, n := range shown {
		fmt.Fprintf(&page, " %d |", n)
		rule += " --: |"
	}
	page.WriteString(rule + "\n")
	for i, p := range all {
		if p.climb == nil {
			continue
		}
		for _, of := range []struct {
			name string
			best [][]record.Number
		}{{"without", found[i][0]}, {"with", climbed(p)}} {
			fmt.Fprintf(&page, "| %s, %s the gradient |", p.name, of.name)
			for b := range shown {
				fmt.Fprintf(&page, " %d (%d) |", short(of.best[b], p.least+0.01), short(of.best[b], p.least+0.1))
			}
			page.WriteString("\n")
		}
	}
	for b, n := range budgets {
		fmt.Fprintf(&page, "\n## After %d evaluations\n\n", n)
		searchTable(&page, all, ways, regrets[b])
	}
	return page.String()
}

// standing compares the best of the first few searchers with the best of the other programs', from
// index own on. level counts the problems on which it is better or within 5 %, ahead the problems
// on which it is better by more than 5 %.
func standing(regrets [][]float64, few, own int) (level, ahead int) {
	for _, of := range regrets {
		ours, others := least(of[:few]), least(of[own:])
		if ours <= max(1.05*others, negligible) {
			level++
		}
		if others > max(1.05*ours, negligible) {
			ahead++
		}
	}
	return level, ahead
}

// least is the smallest of numbers that may be NaN.
func least(v []float64) float64 {
	low := math.Inf(1)
	for _, x := range v {
		if x < low {
			low = x
		}
	}
	return low
}

// searchTable writes the regrets after a budget, those in bold that are best or within 5 %.
func searchTable(page *strings.Builder, all []searched, ways []searcher, regrets [][]float64) {
	page.WriteString("| problem |")
	rule := "| --- |"
	shown := []int{}
	for k, s := range ways {
		if slices.ContainsFunc(regrets, func(of []float64) bool { return !math.IsNaN(of[k]) }) {
			shown = append(shown, k)
			fmt.Fprintf(page, " %s |", s.name)
			rule += " --: |"
		}
	}
	fmt.Fprintf(page, "\n%s\n", rule)
	for i, p := range all {
		fmt.Fprintf(page, "| %s |", p.name)
		for _, k := range shown {
			switch v := regrets[i][k]; {
			case math.IsNaN(v):
				page.WriteString(" – |")
			case v <= max(1.05*least(regrets[i]), negligible):
				fmt.Fprintf(page, " **%s** |", twoOrZero(v))
			default:
				fmt.Fprintf(page, " %s |", twoOrZero(v))
			}
		}
		page.WriteString("\n")
	}
}

// negligible is the difference from the least value below which a value counts as the least.
const negligible = 1e-6

// short counts the values above least, the largest value that is near enough.
func short(values []record.Number, least float64) (n int) {
	for _, v := range values {
		if !(float64(v) <= least) {
			n++
		}
	}
	return n
}

// twoOrZero is a number with two significant digits, or 0.
func twoOrZero(v float64) string {
	if v < negligible {
		return "0"
	}
	return twoDigits(v)
}
