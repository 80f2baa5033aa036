package experiments

import (
	"cmp"
	"context"
	"fmt"
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

	inputs int // columns
	shown  record.Illustration
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
	m.drawable(cases, s.Names, "--class-names a,b,c", func(at string, err error) {
		d.as(map[string]string{"kernel": "--kernel", "classes": "--class-names"}[at]).at(nil, "%v", err)
	})
	if err := d.err(); err != nil {
		return nil, err
	}
	layout := m.on(len(cases.Classes)).LayoutOn(cases)
	theta := s.place(d, layout)
	if err := d.err(); err != nil {
		return nil, err
	}
	for j, h := range layout.Specs {
		out.Theta[h.ThetaName()] = record.Number(theta[j])
	}
	out.inputs, out.shown = len(out.Columns), record.Illustration{Kernel: m.Label.Kernel, Mean: m.Label.Mean, Likelihood: m.Label.Likelihood}
	if err := m.draw(ctx, &out.shown, cases, out.Columns, theta, s.Count, s.Seed); err != nil {
		d.as("--theta").at(nil, "%v", err)
		return nil, d.err()
	}
	if out.shown.Jitter > 0 {
		out.Warnings = append(out.Warnings, fmt.Sprintf("K has not full rank in floating point: %.3g was added to its diagonal", out.shown.Jitter))
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

// drawable hands to put what keeps a model from being drawn at cases, with the kernel or the classes at fault. names are those
// of classes that are given for the purpose, as in the example.
func (m Model) drawable(cases objective.Data, names []string, example string, put func(at string, err error)) {
	perClass, what := m.Likelihood.Domain() == likelihood.Categorical, cmp.Or(m.Label.Likelihood.Text, "a model without likelihood")
	switch {
	case perClass && len(cases.Classes) < 2:
		put("classes", fmt.Errorf("%s has a latent function for each of two or more classes; name them, as in %s", what, example))
	case !perClass && len(names) > 0:
		put("classes", fmt.Errorf("names of classes are for softmax; %s has one latent function", what))
	case m.perClass && !perClass:
		put("kernel", fmt.Errorf("%s has one latent function, so per_class kernels do not apply; use softmax, or one kernel", what))
	}
	if err := kernel.CheckDim(m.Kernels[0], cases.X.Dim()); err != nil {
		put("kernel", err)
	}
}

// draw draws from the prior of a model at theta, and fills an illustration: inputs by their names, then f1, f2, … and, where the
// likelihood is of classes, p1, p2, ….
func (m Model) draw(ctx context.Context, i *record.Illustration, cases objective.Data, inputs []string, theta []float64, count int, seed uint64) error {
	model := m.on(len(cases.Classes))
	draws, jitter, err := model.Draw(ctx, theta, cases, count, seed)
	if err != nil {
		return err
	}
	layout := model.LayoutOn(cases)
	for j, v := range layout.Natural(theta) {
		if name := layout.Specs[j].Name; !i.Likelihood.IsZero() || !strings.HasPrefix(name, "likelihood.") {
			i.Hyperparameters = append(i.Hyperparameters, record.Named{Name: name, Value: record.Number(v)})
		}
	}
	i.Jitter = record.Number(jitter)
	if m.Likelihood.Domain() == likelihood.Categorical {
		i.Classes = cases.Classes
	}
	for j, name := range inputs {
		i.Columns = append(i.Columns, recorded(name, mat.Col(nil, j, cases.X.X)))
	}
	add := func(letter string, draw int, parts [][]float64) {
		for c, part := range parts {
			name := fmt.Sprintf("%s%d", letter, draw+1)
			if i.Classes != nil {
				name += "[" + i.Classes[c] + "]"
			}
			i.Columns = append(i.Columns, recorded(name, part))
		}
	}
	for k, draw := range draws {
		add("f", k, draw.Latent)
	}
	for k, draw := range draws {
		add("p", k, draw.Proba)
	}
	return nil
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
