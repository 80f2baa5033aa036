package predict

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/experiments/classifier/explain"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/job"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/record"
)

// EffectOptions are options of Effects.
type EffectOptions struct {
	Inputs  []string // the inputs with curves; none: the mostCurves most important
	Pairs   []string // two inputs each, as in age,dose
	Repeats int      // permutations, 2 or more
	Seed    uint64   // seed of permutations and of the choice of cases
}

// Limits of the work of Effects.
const (
	mostCurves  = 6
	mostMeans   = 100  // cases over which curves are means
	leastScored = 200  // cases on which importances are measured, even if that takes long
	permitted   = 2e11 // multiplications for importances
	mostRug     = 60
	smallest    = 0x1p-1022 // replaces smaller probabilities before a logarithm is taken
	mostLevels  = 16        // points of a curve of a category
)

// Effects measures the importance of every input, and the effects of some, on the cases of a file
// or a bundled data set.
func (c *Classifier) Effects(ctx context.Context, name string, o EffectOptions) (*explain.Effects, error) {
	if o.Repeats < explain.LeastRepeats {
		return nil, fmt.Errorf("%w: %d permutations; the noise needs %d or more", spec.ErrInvalid, o.Repeats,
			explain.LeastRepeats)
	}
	ds, err := c.file.Columns.Read(name)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", spec.ErrInvalid, err)
	}
	linalg.SetThreads(runtime.GOMAXPROCS(0)) // there is only one job
	defer linalg.SetThreads(1)
	s := stream{Classifier: c, name: name}
	s.unread = data.Merge(s.unread, ds.Unread)
	s.substitute(ds)
	e := &explain.Effects{Schema: "gpc-tune/effects/1", About: c.About(), Cases: len(ds.Rows), Repeats: o.Repeats,
		Rugs: map[string][]record.Number{}, Warnings: []string{}}
	if err := s.importance(ctx, e, ds, o); err != nil {
		return nil, err
	}
	if err := s.curves(ctx, e, ds, o); err != nil {
		return nil, err
	}
	e.Sort()
	all, err := s.end(&Predicted{})
	e.Warnings = append(e.Warnings, all.Warnings...)
	return e, err
}

// inputs are the columns of the file with their columns of the input matrix.
func (c *Classifier) inputs() []explain.Input { return explain.Inputs(c.file.Columns.From()) }

// importance measures importances on the labelled cases, or on a part of them drawn at random if
// they are too many.
func (s *stream) importance(ctx context.Context, e *explain.Effects, ds *data.Data, o EffectOptions) error {
	if ds.Trials != nil {
		s.warn(cause.NoEffect.New("importance is not measured for labels that are counts"))
		return nil
	}
	var labelled []int
	for i := range ds.Rows {
		if ds.Targets != nil && !math.IsNaN(ds.Targets[i]) || ds.Labels != nil && ds.Labels[i] >= 0 {
			labelled = append(labelled, i)
		}
	}
	if len(labelled) < 3 {
		s.warn(cause.NoEffect.New("importance needs 3 cases with a label, and %d have one", len(labelled)))
		return nil
	}
	labelled = drawn(labelled, max(s.affordable(o.Repeats, permitted), leastScored), o.Seed)
	e.Scored = len(labelled)
	bits := func(x *mat.Dense) ([]float64, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return s.scores(ds, labelled, x)
	}
	x := data.PickRows(ds.X, labelled)
	own, err := bits(x)
	if err != nil {
		return err
	}
	for k, v := range own {
		e.Base += record.Number((v - s.baseline(ds, labelled[k])) / float64(len(own)))
	}
	e.Importance, err = explain.Importances(x, nil, s.inputs(), bits, o.Repeats, o.Seed)
	return err
}

// affordable is the number of cases whose importances take this number of multiplications.
func (c *Classifier) affordable(repeats int, multiplications float64) int {
	return int(multiplications / c.work() / float64(len(c.inputs())*repeats))
}

// predicted are the predictions for raw inputs.
func (c *Classifier) predicted(x *mat.Dense) (job.Outcome, error) {
	held, _, err := c.outcome(&kernel.Inputs{X: c.file.Preprocess.Apply(x)})
	return held, err
}

// scores are log₂ p(y_i|x_i) of cases with other inputs x, in bits; of numbers, of their density.
func (c *Classifier) scores(ds *data.Data, cases []int, x *mat.Dense) ([]float64, error) {
	held, err := c.predicted(x)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(cases))
	for k, i := range cases {
		if ds.Targets != nil {
			out[k] = logNormal(ds.Targets[i], held.Mean[k], held.Variance[k])
		} else {
			out[k] = math.Log(max(held.Proba.At(k, ds.Labels[i]), smallest))
		}
		out[k] /= math.Ln2
	}
	return out, nil
}

// baseline is log₂ p(y_i) of a case by the class frequencies, or the normal distribution, of the
// training cases.
func (s *stream) baseline(ds *data.Data, i int) float64 {
	of := s.fitted.Training
	if ds.Targets != nil {
		return logNormal(ds.Targets[i], float64(of.Moments.Mean), float64(of.Moments.Variance)) / math.Ln2
	}
	count, sum := 0.0, 0.0
	for k, n := range of.Counts {
		v := float64(n)
		if of.Weights != nil {
			v = of.Weights[k]
		}
		if sum += v; k == ds.Labels[i] {
			count = v
		}
	}
	return math.Log2(count / sum)
}

func logNormal(y, mean, variance float64) float64 {
	return -((y-mean)*(y-mean)/variance + math.Log(2*math.Pi*variance)) / 2
}

// model is the classifier as curves use it.
func (c *Classifier) model() explain.Model {
	m := explain.Model{Classes: c.file.Columns.Classes,
		Preprocess: func(x *mat.Dense) *kernel.Inputs { return &kernel.Inputs{X: c.file.Preprocess.Apply(x)} },
		Predict: func(z *kernel.Inputs) (*mat.Dense, error) {
			held, _, err := c.outcome(z)
			if err != nil || held.Proba != nil {
				return held.Proba, err
			}
			return mat.NewDense(z.N(), 1, held.Mean), nil
		},
	}
	if c.fitted.Compared == nil {
		m.Posteriors = c.fitted.Posteriors
	}
	if c.calibrate != nil && len(m.Classes) == 2 {
		m.Calibrate = func(p float64) float64 {
			row := []float64{1 - p, p}
			c.calibrate.Adjust(c.file.Calibration, row)
			return row[1]
		}
	}
	return m
}

// grids are the grids of an input: of its levels, its ranks or its numbers, or of each part of a
// date.
func (c *Classifier) grids(input string, x *mat.Dense) (out []explain.Grid, err error) {
	all := c.inputs()
	at := slices.IndexFunc(all, func(i explain.Input) bool { return i.Name == input })
	k := slices.IndexFunc(c.file.Columns.Inputs, func(of data.Column) bool { return of.Name == input })
	if at < 0 || k < 0 {
		return nil, c.unknown(input)
	}
	of, columns := c.file.Columns.Inputs[k], all[at].Columns
	g := explain.Grid{Input: explain.Input{Name: input, Columns: columns}}
	switch {
	case of.Levels != nil:
		for l, level := range of.Levels[:min(len(of.Levels), mostLevels)] {
			row := make([]float64, len(columns))
			if row[0] = float64(l); !of.Coded {
				row[0] = 0
				row[l] = 1
			}
			g.Names, g.X, g.Rows = append(g.Names, level), append(g.X, float64(l)), append(g.Rows, row)
		}
	case of.Order != nil:
		g.Columns = columns[:1]
		for l, level := range of.Order {
			rank := float64(l + 1)
			g.Names, g.X, g.Rows = append(g.Names, level), append(g.X, rank), append(g.Rows, []float64{rank})
		}
	case of.Date != nil:
		for _, j := range columns {
			out = append(out, explain.Numeric(c.file.Columns.ColumnNames()[j], x, j))
		}
		return out, nil
	default:
		g = explain.Numeric(input, x, columns[0])
	}
	return []explain.Grid{g}, nil
}

// curves adds the curves of the chosen inputs and pairs.
func (s *stream) curves(ctx context.Context, e *explain.Effects, ds *data.Data, o EffectOptions) error {
	cases := make([]int, len(ds.Rows))
	for i := range cases {
		cases[i] = i
	}
	x := data.PickRows(ds.X, drawn(cases, mostMeans, o.Seed))
	e.Means, _ = x.Dims()
	names := o.Inputs
	if len(names) == 0 && len(o.Pairs) == 0 {
		if names = e.Leading(mostCurves); names == nil {
			names = s.names()[:min(mostCurves, len(s.names()))]
		}
	}
	for _, name := range names {
		grids, err := s.grids(name, ds.X)
		if err != nil {
			return err
		}
		for _, g := range grids {
			if g.Names == nil {
				column := mat.Col(nil, g.Columns[0], x)
				e.Rugs[g.Name] = record.Numbers(column[:min(len(column), mostRug)])
			}
			if err := s.curve(ctx, e, g, x, "", ""); err != nil {
				return err
			}
		}
	}
	for _, pair := range o.Pairs {
		first, second, found := strings.Cut(pair, ",")
		if !found {
			return fmt.Errorf("%w: a pair is two inputs with a comma between them, as in age,dose, not %q",
				spec.ErrInvalid, pair)
		}
		a, err := s.grids(strings.TrimSpace(first), ds.X)
		if err != nil {
			return err
		}
		b, err := s.grids(strings.TrimSpace(second), ds.X)
		if err != nil {
			return err
		}
		values, fixed := b[0].Fix(x)
		for k, given := range values {
			if err := s.curve(ctx, e, a[0], fixed[k], b[0].Name, given); err != nil {
				return err
			}
		}
	}
	return nil
}

// curve adds the curves of a grid over the cases x. For a pair of inputs, given names the value of
// the second input, which all cases have.
func (s *stream) curve(ctx context.Context, e *explain.Effects, g explain.Grid, x *mat.Dense,
	beside, given string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	curves, err := s.model().Curves(g, x)
	for k := range curves {
		curves[k].Beside, curves[k].Given = beside, given
	}
	e.Curves = append(e.Curves, curves...)
	return err
}

// unknown is the error for an input that the model does not have.
func (c *Classifier) unknown(name string) error {
	return fmt.Errorf("%w: the model has no input %q%s", spec.ErrInvalid, name, registry.Suggest(name, c.names()))
}

// names are the names of the inputs.
func (c *Classifier) names() (names []string) {
	for _, of := range c.file.Columns.Inputs {
		names = append(names, of.Name)
	}
	return names
}
