package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/dustin/go-humanize"
	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/stat/distuv"
)

// The rough process: cases that are learned from, cases that are predicted, and the number of cases
// before a case on which its draw depends.
const (
	roughCases = 20000
	roughTests = 5000
	drawnFrom  = 60
)

// compareRough prints the rows of a table: fits of a rough process with each structure.
func compareRough(ctx context.Context, runs string) error {
	files, truth, err := drawRough(runs)
	if err != nil {
		return err
	}
	fmt.Printf("log loss of the true probabilities: %.5f\n", truth)
	for _, option := range []string{"inducing: 200", "inducing: 1000", "neighbours: 5", "neighbours: 10",
		"neighbours: 20", "neighbours: 40"} {
		r := row{}
		dir := filepath.Join(runs, strings.ReplaceAll(option, ": ", ""))
		err := r.run(ctx, files+", preprocess: none", "matern12", "probit", "{laplace: {"+option+"}}", "", dir)
		if err != nil {
			return err
		}
		loss, _ := r.result.Scores.Value("log_loss")
		fmt.Printf("| %s | %.1f | %.2f | %.5f | %s |\n", option, r.seconds, float64(r.result.LogEvidence), loss.Value,
			humanize.IBytes(uint64(r.memory)))
	}
	return nil
}

// drawRough writes classes of a process with exponential covariance, of amplitude 2 and length
// scale 0.2 on a square, and returns the log loss of the true probabilities of the test cases.
func drawRough(dir string) (files string, truth float64, err error) {
	rng := rand.New(rand.NewPCG(1, 1))
	n := roughCases + roughTests
	x, f := make([][2]float64, n), make([]float64, n)
	covariance := func(i, j int) float64 {
		return 4 * math.Exp(-math.Hypot(x[i][0]-x[j][0], x[i][1]-x[j][1])/0.2)
	}
	for i := range x {
		x[i] = [2]float64{rng.Float64(), rng.Float64()}
	}
	before := make([]int, n)
	for i := range x {
		before[i] = i
		near := nearestOf(before[:i], func(j int) float64 { return math.Hypot(x[i][0]-x[j][0], x[i][1]-x[j][1]) })
		f[i] = draw(rng, i, near, f, covariance)
	}
	if err = os.MkdirAll(dir, 0o777); err != nil {
		return "", 0, err
	}
	write := func(name string, from, to int) (path string) {
		path = filepath.Join(dir, name)
		file, failed := os.Create(path)
		if err = cmp.Or(err, failed); err != nil {
			return path
		}
		out := bufio.NewWriter(file)
		fmt.Fprintln(out, "x1,x2,class")
		for i := from; i < to; i++ {
			p := distuv.UnitNormal.CDF(f[i])
			class := "b"
			if rng.Float64() < p {
				class = "a"
			} else {
				p = 1 - p
			}
			fmt.Fprintf(out, "%v,%v,%s\n", x[i][0], x[i][1], class)
			if from > 0 {
				truth -= math.Log(p) / roughTests
			}
		}
		err = cmp.Or(err, out.Flush(), file.Close())
		return path
	}
	train, test := write("train.csv", 0, roughCases), write("test.csv", roughCases, n)
	return fmt.Sprintf("{train: %q, test: %q", train, test), truth, err
}

// nearestOf are the nearest drawnFrom of some cases.
func nearestOf(of []int, distance func(int) float64) []int {
	type near struct {
		distance float64
		i        int
	}
	var best []near
	for _, j := range of {
		d := distance(j)
		if len(best) == drawnFrom && d >= best[drawnFrom-1].distance {
			continue
		}
		at, _ := slices.BinarySearchFunc(best, d, func(n near, d float64) int { return cmp.Compare(n.distance, d) })
		if best = slices.Insert(best, at, near{d, j}); len(best) > drawnFrom {
			best = best[:drawnFrom]
		}
	}
	out := make([]int, len(best))
	for a, n := range best {
		out[a] = n.i
	}
	return out
}

// draw draws f_i given the values of other cases.
func draw(rng *rand.Rand, i int, of []int, f []float64, covariance func(i, j int) float64) float64 {
	m := len(of)
	if m == 0 {
		return math.Sqrt(covariance(i, i)) * rng.NormFloat64()
	}
	k, c, known := mat.NewSymDense(m, nil), make([]float64, m), make([]float64, m)
	for a, j := range of {
		c[a], known[a] = covariance(i, j), f[j]
		for b, l := range of[:a+1] {
			k.SetSym(a, b, covariance(j, l))
		}
	}
	var chol mat.Cholesky
	chol.Factorize(k)
	var w mat.VecDense
	if err := chol.SolveVecTo(&w, mat.NewVecDense(m, c)); err != nil {
		panic(err)
	}
	weights := w.RawVector().Data
	return floats.Dot(weights, known) + math.Sqrt(covariance(i, i)-floats.Dot(weights, c))*rng.NormFloat64()
}
