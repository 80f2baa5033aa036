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

const seeds = 20

// budgets are the numbers of evaluations after which searches are compared.
var budgets = []int{20, 40, 100}

// searcher is a strategy of gpc-tune or another program.
type searcher struct {
	name string
	// strongest is true for auto and for the other programs that bbobTable compares with it
	strongest bool
	run       func(request) // evaluates the points of a search
}

// request is a search that a searcher is asked for.
type request struct {
	searched
	seed        uint64
	evaluations int
	tell        func(value float64) // receives the value of every evaluation
}

// searchers returns gpc-tune's searchers, the first own of all, and then the other programs' that
// the processes can run.
func searchers(python peers) (all []searcher, own int) {
	all = []searcher{
		{"auto", true, ours(func(n int) search.Strategy { return search.Auto{Trials: n} })},
		{"cmaes", false, ours(func(n int) search.Strategy { return search.CMAES{Trials: n} })},
		{"nelder_mead", false, ours(func(n int) search.Strategy { return search.NelderMead{Trials: n} })},
	}
	own = len(all)
	for _, o := range []struct {
		name, method string
		strongest    bool
	}{
		{"Optuna GPSampler", "gp", true}, {"TuRBO", "turbo", true}, {"pycma BIPOP", "bipop", true},
		{"Optuna TPE", "tpe", false}, {"Optuna CMA-ES", "cmaes", false},
		{"SciPy differential evolution", "differential_evolution", false},
		{"SciPy dual annealing", "dual_annealing", false}, {"SciPy Nelder-Mead", "nelder_mead", false},
	} {
		if slices.Contains(python.missing, o.method) {
			fmt.Fprintf(os.Stderr, "%s is left out: its packages are missing\n", o.name)
			continue
		}
		all = append(all, searcher{o.name, o.strongest, asked(o.method, python.free)})
	}
	return append(all,
		searcher{"gonum CmaEsChol", false, gonum(func(seed uint64) optimize.Method {
			return &optimize.CmaEsChol{InitStepSize: 0.25, Src: rand.NewPCG(seed, 1)}
		})},
		searcher{"gonum NelderMead", false, gonum(func(uint64) optimize.Method { return &optimize.NelderMead{} })},
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
func ours(of func(trials int) search.Strategy) func(request) {
	return func(r request) {
		space, strategy := started(r.space, r.seed), of(r.evaluations)
		if strategy.Check(space) != nil {
			return
		}
		var done []record.Trial
		for {
			next := strategy.Ask(space, done, r.seed)
			if len(next) == 0 {
				return
			}
			for _, proposal := range next {
				for _, theta := range proposal.Points {
					x := make([]float64, len(theta))
					for i, h := range space {
						x[i] = min(max(h.Map.Natural(theta[i]), h.Lo), h.Hi)
					}
					value := r.value(x)
					r.tell(value)
					at := record.Point{Theta: record.Numbers(theta), Value: record.Number(-value)}
					done = append(done, record.Trial{Index: len(done), Points: []record.Point{at}})
				}
			}
		}
	}
}

// gonum runs a method of gonum in the unit cube. Outside of the cube f is the value at the nearest
// point plus the squared distance to it; whole numbers and choices are rounded.
func gonum(method func(seed uint64) optimize.Method) func(request) {
	return func(r request) {
		space := started(r.space, r.seed)
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
			value := r.value(x)
			r.tell(value)
			if math.IsNaN(value) {
				return math.Inf(1)
			}
			return value + outside
		}
		// The error is about the end of the search, whose values have been told.
		_, _ = optimize.Minimize(optimize.Problem{Func: f}, start,
			&optimize.Settings{FuncEvaluations: r.evaluations, Converger: optimize.NeverTerminate{}}, method(r.seed))
	}
}

// asked runs one of the methods of optimizers.py, in one of the processes that are free.
func asked(method string, free chan *peer) func(request) {
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
	return func(r request) {
		var space []hyperparameter
		for _, h := range started(r.space, r.seed) {
			next := hyperparameter{Name: h.Name, Kind: kinds[h.Map], Lo: h.Lo, Hi: h.Hi, Start: h.Init}
			if h.When != nil {
				next.Of = slices.IndexFunc(r.space, func(o param.Spec) bool { return o.Name == h.When.Name })
				next.Values = h.When.Values
			}
			space = append(space, next)
		}
		process := <-free
		defer func() { free <- process }()
		line := string(got(json.Marshal(map[string]any{"method": method, "seed": r.seed, "evaluations": r.evaluations,
			"space": space})))
		for {
			var next struct{ X []float64 }
			if must(process.ask(&next, "%s", line)); next.X == nil {
				return
			}
			value := r.value(next.X)
			r.tell(value)
			line = strconv.FormatFloat(value, 'g', -1, 64)
		}
	}
}

// peers are processes of optimizers.py, one for each core.
type peers struct {
	free                 chan *peer
	optuna, pycma, sciPy string   // versions; "" for pycma that is not installed
	missing              []string // methods whose packages are missing
}

func optimizers(python string) (p peers) {
	p.free = make(chan *peer, runtime.NumCPU())
	for range cap(p.free) {
		p.free <- start("optimizers.py", []string{"OPENBLAS_NUM_THREADS=1", "OMP_NUM_THREADS=1"}, python,
			filepath.Join(scripts(), "optimizers.py"))
	}
	var said struct {
		Optuna, Pycma, SciPy string
		Missing              []string
	}
	process := <-p.free
	must(process.ask(&said, "versions"))
	p.free <- process
	p.optuna, p.pycma, p.sciPy, p.missing = said.Optuna, said.Pycma, said.SciPy, said.Missing
	return p
}

func (p peers) stop() {
	for range cap(p.free) {
		(<-p.free).stop()
	}
}

// searches writes the page that compares gpc-tune's searches with other programs'. If keep names a
// file, the values that the other programs find are kept there and read by the next run.
func searches(python, keep, out string) {
	processes := optimizers(python)
	defer processes.stop()
	all := problems()
	ways, own := searchers(processes)
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
	page := text("search title", processes.optuna, processes.pycma, processes.sciPy, len(all), seeds) + "\n\n" +
		searchPage(all, ways, own, found)
	if out == "-" {
		fmt.Print(page)
		return
	}
	must(os.WriteFile(out, []byte(page), 0o666))
}

// measuredSearches returns best values, with the indices problem, searcher, budget and seed; NaN if
// the searcher refuses the space.
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
					best := s.best(p, uint64(seed), budgets)
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

// best has the best value of a search after each of the budgets; NaN if the searcher refuses the
// space.
func (s searcher) best(p searched, seed uint64, budgets []int) []float64 {
	var so []float64
	least := math.Inf(1)
	s.run(request{p, seed, slices.Max(budgets), func(value float64) {
		if value < least {
			least = value
		}
		so = append(so, least)
	}})
	at := make([]float64, len(budgets))
	for i, n := range budgets {
		if at[i] = math.NaN(); len(so) > 0 { // a search that has ended keeps its value
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
		from := param.Start(started(p.space, seed), seed, 0)
		p.climb(from, slices.Max(budgets), seed, func(evaluations int, value float64) {
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
		fmt.Fprintf(&page, "| %d | %d | %d | %d | %d |\n", n, level, ahead, bestLevel, bestAhead)
	}
	page.WriteString("\n" + text("search seeds", seeds) + "\n\n| after |")
	rule := "\n| --- |"
	for _, n := range budgets {
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
			for b := range budgets {
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
