package experiments

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
)

// Sampling asks for draws from the prior of a Query's model at the cases of its data, or on a grid of one input.
type Sampling struct {
	Query          // without inference and test
	Grid  string   // lo:hi:points, in place of data
	Names []string // of the classes, with a grid; only softmax needs them
	Count int
	Seed  uint64
}

// Drawn is a table of the inputs as the kernel sees them, the latent functions and what the likelihood makes of them, a row
// a case: x…, f1…, p1…, with p the probability of the positive class; or f1[label]… and p1[label]… for every label where the
// likelihood is for more than two classes. A likelihood of numbers has no p.
type Drawn struct {
	Theta    map[string]record.Number `json:"theta"`
	Columns  []string                 `json:"columns"`
	Rows     [][]record.Number        `json:"rows"`
	Warnings []string                 `json:"warnings"`

	inputs  [][]float64
	draws   []objective.Draw
	classes []string // where each has a latent function
	notes   []string // of what the draws are
}

// maxGridCases bounds a grid: its covariance has as many numbers squared.
const maxGridCases = 10_000

// Draw does it. Mistakes in the flags are Problems, each with the flag.
func (s Sampling) Draw(ctx context.Context) (*Drawn, error) {
	d := newDecoder("--grid")
	out := &Drawn{Theta: map[string]record.Number{}, Warnings: []string{}}
	m := s.model(d, "--", false)
	var cases objective.Data
	switch {
	case (s.Data == "") == (s.Grid == ""):
		d.at(nil, "give either --data NAME|FILE or --grid lo:hi:points")
	case s.Grid != "":
		x, err := parseGrid(s.Grid)
		if err != nil {
			d.at(nil, "%v", err)
		}
		out.Columns = []string{"x"}
		cases = objective.Data{X: &kernel.Inputs{X: mat.NewDense(max(1, len(x)), 1, x)}, Classes: s.Names}
	case len(s.Names) > 0:
		d.as("--class-names").at(nil, "is for --grid; data have their own classes")
	default:
		spec, err := source(s.Data)
		if err != nil {
			d.as("--data").at(nil, "%v", err)
			break
		}
		ds, p, err := s.load(d.as("--data"), spec, m, false)
		if err != nil {
			return nil, err
		}
		out.Columns, out.Warnings, cases = append(out.Columns, ds.ColumnNames...), append(append(out.Warnings, ds.Warnings...), p.warnings...), p.data
	}
	if s.Count < 1 {
		d.as("--draws").at(nil, "%d draws; ask for at least 1", s.Count)
	}
	if err := d.err(); err != nil {
		return nil, err
	}
	perClass := m.Likelihood.Domain() == likelihood.Categorical
	switch {
	case perClass && len(cases.Classes) < 2:
		d.as("--class-names").at(nil, "%s has a latent function for each of two or more classes; name them, as in --class-names a,b,c", m.LikelihoodText)
	case !perClass && len(s.Names) > 0:
		d.as("--class-names").at(nil, "is for softmax; %s has one latent function", m.LikelihoodText)
	case m.perClass && !perClass:
		d.as("--kernel").at(nil, "%s has one latent function, so per_class kernels do not apply; use softmax, or one kernel", m.LikelihoodText)
	}
	if err := kernel.CheckDim(m.Kernels[0], cases.X.Dim()); err != nil {
		d.as("--kernel").at(nil, "%v", err)
	}
	if err := d.err(); err != nil {
		return nil, err
	}
	model := m.on(len(cases.Classes))
	layout := model.LayoutOn(cases)
	theta := s.place(d, layout)
	if err := d.err(); err != nil {
		return nil, err
	}
	var values []string
	for j, h := range layout.Specs {
		out.Theta[h.ThetaName()] = record.Number(theta[j])
		values = append(values, fmt.Sprintf("%s = %.6g", h.ThetaName(), theta[j]))
	}
	draws, jitter, err := model.Draw(ctx, theta, cases, s.Count, s.Seed)
	if err != nil {
		d.as("--theta").at(nil, "%v", err)
		return nil, d.err()
	}
	if jitter > 0 {
		out.Warnings = append(out.Warnings, fmt.Sprintf("K has not full rank in floating point: %.3g was added to its diagonal", jitter))
	}
	columns := make([][]float64, cases.X.Dim())
	for i := range columns {
		columns[i] = mat.Col(nil, i, cases.X.X)
	}
	out.inputs, out.draws = slices.Clone(columns), draws
	out.notes = []string{fmt.Sprintf("kernel %s, mean %s, likelihood %s", m.KernelText, m.MeanText, m.LikelihoodText), strings.Join(values, ", ")}
	if perClass {
		out.classes = cases.Classes
	}
	add := func(letter string, draw int, parts [][]float64) {
		for c, part := range parts {
			name := fmt.Sprintf("%s%d", letter, draw+1)
			if perClass {
				name += "[" + cases.Classes[c] + "]"
			}
			out.Columns, columns = append(out.Columns, name), append(columns, part)
		}
	}
	for i, draw := range draws {
		add("f", i, draw.Latent)
	}
	for i, draw := range draws {
		add("p", i, draw.Proba)
	}
	for i := range cases.X.N() {
		row := make([]record.Number, len(columns))
		for c := range columns {
			row[c] = record.Number(columns[c][i])
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
		if err == nil && err2 == nil && err3 == nil && lo < hi && hi-lo <= 1e300 && points >= 2 && points <= maxGridCases {
			return floats.Span(make([]float64, points), lo, hi), nil
		}
	}
	return nil, fmt.Errorf("%q must be lo:hi:points, as in -5:5:101, with lo < hi and 2 to %d points", text, maxGridCases)
}
