package query

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/experiments/declared"
	"github.com/gpc-tune/gpc-tune/experiments/illustrate"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/illustration"
)

// Sampling draws from the prior of a Query's model at the cases of its data, or on a grid of one
// input.
type Sampling struct {
	Query          // without inference and test
	Grid  string   // lo:hi:points, instead of data
	Names []string // names of the classes, with a grid; needed for softmax only
	Count int
	Seed  uint64
}

// Drawn is a table with a row per case: the preprocessed inputs, the latent functions and the
// resulting probabilities, x…, f1…, p1…, with p the probability of the positive class; or
// f1[label]… and p1[label]… for every label if the likelihood is for more than two classes. A
// likelihood for numbers has no p.
type Drawn struct {
	Theta    map[string]record.Number `json:"theta"`
	Columns  []string                 `json:"columns"`
	Rows     [][]record.Number        `json:"rows"`
	Warnings []string                 `json:"warnings"`

	inputs int // columns
	shown  record.Illustration
}

// maxGridCases limits a grid, whose covariance has the square of this size.
const maxGridCases = 10_000

// Draw draws. Mistakes in the flags are Problems that name the flag.
func (s Sampling) Draw(ctx context.Context) (*Drawn, error) {
	found := strictyaml.NewFindings("--grid")
	out := &Drawn{Theta: map[string]record.Number{}, Warnings: []string{}}
	m := declared.ReadModel(found, s.parts(), "--", false)
	var cases objective.Data
	switch {
	case (s.Data == "") == (s.Grid == ""):
		found.At(nil, "give either --data NAME|FILE or --grid lo:hi:points")
	case s.Grid != "":
		x, err := parseGrid(s.Grid)
		if err != nil {
			found.At(nil, "%v", err)
		}
		out.Columns = []string{"x"}
		cases = objective.Data{X: &kernel.Inputs{X: mat.NewDense(max(1, len(x)), 1, x)}, Classes: s.Names}
	case len(s.Names) > 0:
		found.As("--class-names").At(nil, "needs --grid; data have their own classes")
	default:
		spec, err := Source(s.Data)
		if err != nil {
			found.As("--data").At(nil, "%v", err)
			break
		}
		ds, p, err := s.load(found.As("--data"), spec, m, false)
		if err != nil {
			return nil, err
		}
		n := int64(p.Data.X.N())
		if err := admit(ds.Name, 3*8*n*n); err != nil { // a covariance, its factor and a copy
			return nil, err
		}
		out.Columns, out.Warnings, cases = append(out.Columns, ds.ColumnNames...),
			cause.Texts(append(ds.Warnings, p.Warnings...)), p.Data
	}
	if s.Count < 1 {
		found.As("--draws").At(nil, "%d draws; ask for at least 1", s.Count)
	}
	if err := found.Err(); err != nil {
		return nil, err
	}
	illustrate.Drawable(m, cases, s.Names, "--class-names a,b,c", func(at string, err error) {
		found.As(map[string]string{"kernel": "--kernel", "classes": "--class-names"}[at]).At(nil, "%v", err)
	})
	if err := found.Err(); err != nil {
		return nil, err
	}
	layout := m.On(len(cases.Classes)).LayoutOn(cases)
	theta := s.place(found, layout)
	if err := found.Err(); err != nil {
		return nil, err
	}
	for j, h := range layout.Specs {
		out.Theta[h.ThetaName()] = record.Number(theta[j])
	}
	out.inputs, out.shown = len(out.Columns),
		record.Illustration{Kernel: m.Written.Kernel.Component, Mean: m.Written.Mean.Component,
			Likelihood: m.Written.Likelihood.Component}
	if err := illustrate.Draw(ctx, m, &out.shown, cases, out.Columns, theta, s.Count, s.Seed); err != nil {
		found.As("--theta").At(nil, "%v", err)
		return nil, found.Err()
	}
	if out.shown.Jitter > 0 {
		out.Warnings = append(out.Warnings, fmt.Sprintf("the covariance matrix is numerically singular: %.3g was "+
			"added to its diagonal", out.shown.Jitter))
	}
	out.Columns = nil
	for _, c := range out.shown.Columns {
		out.Columns = append(out.Columns, c.Name)
	}
	for i := range cases.X.N() {
		var row []record.Number
		for _, c := range out.shown.Columns {
			row = append(row, c.Values[i])
		}
		out.Rows = append(out.Rows, row)
	}
	return out, nil
}

// parseGrid reads lo:hi:points.
func parseGrid(text string) ([]float64, error) {
	parts := strings.Split(text, ":")
	if len(parts) == 3 {
		lo, err := strconv.ParseFloat(parts[0], 64)
		hi, err2 := strconv.ParseFloat(parts[1], 64)
		points, err3 := strconv.Atoi(parts[2])
		if err == nil && err2 == nil && err3 == nil && lo < hi && hi-lo <= 1e300 && points >= 2 &&
			points <= maxGridCases {
			return floats.Span(make([]float64, points), lo, hi), nil
		}
	}
	return nil, fmt.Errorf("%q must be lo:hi:points, as in -5:5:101, with lo < hi and 2 to %d points", text,
		maxGridCases)
}

// Figure plots the latent functions over their one input, and the probabilities at their right. If
// every class has a latent function, each of the first draws has a row. More than one input is a
// Problem.
func (d *Drawn) Figure() (figure.Figure, error) {
	if d.inputs != 1 {
		return figure.Figure{}, spec.Problems{{File: "--format",
			Message: fmt.Sprintf("a picture has one input, and these cases have %d; use --grid lo:hi:points or "+
				"data with one, or csv or json", d.inputs)}}
	}
	return illustration.Samples(d.shown), nil
}
