// Command words is gpc-tune with a data format, a string kernel and a search strategy of its own:
// an experiment's file names them like any other component.
//
//	go run . run words.yaml
//	go run . fit words.yaml words.json
//	go run . predict words.json words.txt
//	go run . serve words.json
package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"math"
	"os"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/experiments"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports/table"
	"github.com/gpc-tune/gpc-tune/search"
)

func init() {
	data.RegisterReader("words", func(text string) bool { return strings.HasPrefix(text, "#words") }, readWords)
	kernel.Register("spectrum", "σ² Σ_u n_u(x) n_u(x') over all pieces u of `length` letters", 1, spectrum{Length: 2})
	search.Register("compass", "steps along every axis from the best point, halved each round", 1, compass{Rounds: 6})
}

// longest is the number of letters of a word that count.
const longest = 12

// readWords reads lines of a label and a word. Its inputs are the codes of the letters, then 0.
func readWords(text string) (cells data.Cells, err error) {
	for i := range longest {
		cells.Columns = append(cells.Columns, fmt.Sprintf("letter_%d", i+1))
	}
	cells.Columns = append(cells.Columns, "language")
	for _, line := range strings.Split(strings.TrimSpace(text), "\n")[1:] {
		label, word, ok := strings.Cut(line, " ")
		if !ok {
			return cells, fmt.Errorf("line %q: want a language and a word", line)
		}
		row := slices.Repeat([]string{"0"}, longest)
		for i, letter := range []byte(word)[:min(len(word), longest)] {
			row[i] = fmt.Sprint(letter)
		}
		cells.Rows = append(cells.Rows, append(row, label))
	}
	return cells, nil
}

// spectrum counts the pieces that two words share, each as often as it occurs in both (Leslie,
// Eskin & Noble 2002).
type spectrum struct {
	Length    int           `yaml:"length" within:"[1,12]"`
	Amplitude param.Setting `yaml:"amplitude"`
}

func (s spectrum) kernel() kernel.Kernel {
	return kernel.FromFunc(func(x, z, h []float64) float64 {
		shared := 0.0
		for i := range len(x) - s.Length + 1 {
			for j := range len(z) - s.Length + 1 {
				if x[i+s.Length-1] != 0 && slices.Equal(x[i:i+s.Length], z[j:j+s.Length]) {
					shared++
				}
			}
		}
		return h[0] * h[0] * shared
	}, nil, kernel.Setting{Name: "amplitude", Default: 1, Setting: s.Amplitude})
}

func (s spectrum) Params(dim int) []param.Spec                   { return s.kernel().Params(dim) }
func (s spectrum) Fill(dst kernel.Block, theta []float64)        { s.kernel().Fill(dst, theta) }
func (s spectrum) Memory(n, m, dim int) int64                    { return s.kernel().Memory(n, m, dim) }
func (s spectrum) Pull(grad, theta []float64, k, g kernel.Block) { s.kernel().Pull(grad, theta, k, g) }

// compass tries a step to either side along every axis of theta, from the best point so far, and
// halves the step after each round.
type compass struct {
	Rounds int `yaml:"rounds" within:"[1,100]"`
}

func (compass) Check(search.Space) error { return nil }
func (compass) Optimizer() string        { return "" } // points are evaluated as they are

func (c compass) Budget(s search.Space) search.Budget {
	return search.Budget{Trials: 1 + 2*len(s)*c.Rounds, AtOnce: 2 * len(s)}
}

func (c compass) Ask(s search.Space, done []record.Trial, _ uint64) (next []search.Proposal) {
	if len(done) == 0 {
		return []search.Proposal{{Points: [][]float64{param.Start(s, 0, 0)}}}
	}
	if len(done) >= c.Budget(s).Trials {
		return nil
	}
	byValue := func(a, b record.Trial) int { return cmp.Compare(a.Value(), b.Value()) }
	best := slices.MaxFunc(done, byValue).Theta()
	step := math.Ldexp(1, -(len(done)-1)/(2*len(s)))
	for j, p := range s {
		lo, hi := p.ThetaBounds()
		for _, d := range []float64{-step, step} {
			theta := slices.Clone(best)
			theta[j] = min(max(theta[j]+d, lo), hi)
			next = append(next, search.Proposal{Points: [][]float64{theta}})
		}
	}
	return next
}

// run does the experiment of a file in a folder, and writes its report.
func run(ctx context.Context, w io.Writer, file, folder string) error {
	plan, err := experiments.Load(ctx, file)
	if err != nil {
		return err
	}
	report, _, err := experiments.Run(ctx, plan, folder, experiments.Options{})
	if err != nil {
		return err
	}
	return table.Text(w, report)
}

// fit tunes the experiment of a file on all of its data, and keeps the classifier.
func fit(ctx context.Context, file, model string) error {
	plan, err := experiments.Load(ctx, file)
	if err != nil {
		return err
	}
	_, _, err = experiments.Fit(ctx, plan, model, experiments.FitOptions{})
	return err
}

// predict writes what the classifier says of the words in a file, as JSON.
func predict(ctx context.Context, w io.Writer, model, words string) error {
	predicted, err := experiments.Predict(ctx, model, words, experiments.Deciding{})
	if err != nil {
		return err
	}
	return json.NewEncoder(w).Encode(predicted)
}

// serve answers requests until ctx ends, to those who know the token. ready gets the address.
func serve(ctx context.Context, model, token string, ready func(address string)) error {
	return experiments.Serve(ctx, model, "127.0.0.1:0", token, experiments.Deciding{}, nil, ready)
}

// do does what the arguments say.
func do(ctx context.Context, w io.Writer, args []string) error {
	switch {
	case len(args) == 2 && args[0] == "run":
		folder, err := os.MkdirTemp("", "words")
		if err != nil {
			return err
		}
		defer os.RemoveAll(folder)
		return run(ctx, w, args[1], folder)
	case len(args) == 3 && args[0] == "fit":
		return fit(ctx, args[1], args[2])
	case len(args) == 3 && args[0] == "predict":
		return predict(ctx, w, args[1], args[2])
	case len(args) == 2 && args[0] == "serve":
		token := rand.Text()
		return serve(ctx, args[1], token, func(address string) {
			fmt.Fprintf(w, "http://%s/predict, with the header Authorization: Bearer %s\n", address, token)
		})
	}
	return errors.New("words run FILE.yaml | fit FILE.yaml MODEL.json | predict MODEL.json FILE | serve MODEL.json")
}

func main() {
	if err := do(context.Background(), os.Stdout, os.Args[1:]); err != nil {
		log.Fatal(err)
	}
}
