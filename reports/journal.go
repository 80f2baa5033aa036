package reports

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/record"
)

// arrange assigns the lines of a journal to the studies of its manifest and checks them. Contests
// determine which studies run.
func arrange(m record.Manifest, lines []record.Line) ([][]Study, []contest, error) {
	studies := make([][]Study, len(m.Configurations))
	for c, configuration := range m.Configurations {
		if err := checkConfiguration(configuration); err != nil {
			return nil, nil, fmt.Errorf("manifest: configuration %d: %w", c, err)
		}
		for _, s := range configuration.Studies {
			studies[c] = append(studies[c], Study{Study: s})
		}
	}
	for _, of := range m.IDs {
		for _, c := range of.Columns {
			if len(c.Values) != len(of.Rows) {
				return nil, nil, fmt.Errorf("manifest: id column %q has %d values for %d cases", c.Name, len(c.Values),
					len(of.Rows))
			}
		}
	}
	jobs, err := unique(lines)
	if err != nil {
		return nil, nil, fmt.Errorf("journal: %w", err)
	}
	for _, line := range jobs {
		at := placeOf(line)
		if err := at.check(m); err != nil {
			return nil, nil, fmt.Errorf("journal: job %q: %w", line.Key, err)
		}
		if err := studies[at.configuration][at.study].add(m.Configurations[at.configuration], line); err != nil {
			return nil, nil, fmt.Errorf("journal: job %q (%v): %w", line.Key, at, err)
		}
	}
	if err := group(m, studies); err != nil {
		return nil, nil, fmt.Errorf("manifest: %w", err)
	}
	for _, c := range m.Dropped {
		for i := range studies[c] {
			studies[c][i] = Study{Study: studies[c][i].Study, dropped: true}
		}
	}
	contests, err := judge(m, studies)
	if err != nil {
		return nil, nil, fmt.Errorf("manifest: %w", err)
	}
	for _, of := range studies {
		for i := range of {
			// a recorded result of an eliminated study comes from another state of the contest, or
			// from gpc-tune fit
			if s := &of[i]; s.cut {
				s.Fit, s.Trials, s.Predictions = nil, nil, nil
			}
		}
	}
	return studies, contests, nil
}

// testSet is the evaluation of the cases of a second file, which have groups of their own.
const testSet = "test"

// group gives predictions the groups of their cases where the data have groups. It is an error if a
// held-out case has none.
func group(m record.Manifest, studies [][]Study) error {
	for _, g := range m.Groups {
		for c, of := range studies {
			for k := range of {
				s := &of[k]
				if m.Configurations[c].DataHash != g.DataHash || g.Test != (s.Evaluation == testSet) || s.Fit == nil {
					continue
				}
				for _, i := range s.Fit.Rows {
					if i < 0 || i >= len(g.Of) || g.Of[i] < 0 {
						return fmt.Errorf("groups: case %d of configuration %d has none", i, c)
					}
				}
				if s.Predictions != nil {
					s.Predictions.Groups = nil
					for _, i := range s.Predictions.Cases {
						s.Predictions.Groups = append(s.Predictions.Groups, g.Of[i])
					}
				}
			}
		}
	}
	return nil
}

// Checker returns a function that checks one line of a journal with the manifest of its run, as
// Build does, except for relations to other lines.
func Checker(m record.Manifest) func(record.Line) error {
	return func(line record.Line) error {
		at := placeOf(line)
		if err := at.check(m); err != nil {
			return err
		}
		c := m.Configurations[at.configuration]
		alone := Study{Study: c.Studies[at.study]}
		if err := alone.add(c, line); err != nil {
			return fmt.Errorf("%v: %w", at, err)
		}
		return nil
	}
}

// check returns an error if the manifest does not have the place.
func (p place) check(m record.Manifest) error {
	if p.configuration < 0 || p.configuration >= len(m.Configurations) {
		return fmt.Errorf("it is of configuration %d; the manifest has %d", p.configuration, len(m.Configurations))
	}
	if n := len(m.Configurations[p.configuration].Studies); p.study < 0 || p.study >= n {
		return fmt.Errorf("it is of study %d of configuration %d, which has %d", p.study, p.configuration, n)
	}
	return nil
}

// add adds a line to its study.
func (s *Study) add(c record.Configuration, line record.Line) error {
	if line.Trial != nil {
		s.seconds = append(s.seconds, line.Seconds)
		return s.addTrial(c, line.Trial)
	}
	return s.addFit(c, line.Fit)
}

func checkConfiguration(c record.Configuration) error {
	if len(c.Studies) == 0 {
		return fmt.Errorf("no studies; the first is the one on all the training data")
	}
	seen := map[string]bool{}
	for _, h := range c.Hyperparameters {
		if seen[h.Name] {
			return fmt.Errorf("two hyperparameters are named %q", h.Name)
		}
		seen[h.Name] = true
	}
	if k := c.Costs; k != nil && (len(k.Loss) != len(c.Classes) ||
		slices.ContainsFunc(k.Loss, func(row []record.Number) bool { return len(row) != len(c.Classes) })) {
		return fmt.Errorf("the costs are not those of decisions on %d classes", len(c.Classes))
	}
	if c.Coverage != nil {
		if err := cv.CheckCoverage(float64(*c.Coverage)); err != nil {
			return err
		}
	}
	for i, s := range c.Studies {
		if s.Test < 0 {
			return fmt.Errorf("study %d holds out %d cases", i, s.Test)
		}
	}
	return nil
}

// place is the position of a line of the journal: a trial of a study, or its fit.
type place struct{ configuration, study, kind, index int }

func (p place) String() string {
	if p.kind == 1 {
		return fmt.Sprintf("fit of study %d of configuration %d", p.study, p.configuration)
	}
	return fmt.Sprintf("trial %d of study %d of configuration %d", p.index, p.study, p.configuration)
}

func placeOf(line record.Line) place {
	if t := line.Trial; t != nil {
		return place{t.Configuration, t.Study, 0, t.Index}
	}
	return place{line.Fit.Configuration, line.Fit.Study, 1, 0}
}

func (p place) compare(q place) int {
	return cmp.Or(cmp.Compare(p.configuration, q.configuration), cmp.Compare(p.study, q.study),
		cmp.Compare(p.kind, q.kind), cmp.Compare(p.index, q.index))
}

// ordered sorts the lines by place and key.
func ordered(lines []record.Line) ([]record.Line, error) {
	for i, line := range lines {
		if (line.Trial == nil) == (line.Fit == nil) {
			return nil, fmt.Errorf("line %d (job %q) must have a trial or a fit, and not both", i, line.Key)
		}
	}
	lines = slices.Clone(lines)
	slices.SortFunc(lines, func(a, b record.Line) int {
		return cmp.Or(placeOf(a).compare(placeOf(b)), strings.Compare(a.Key, b.Key), cmp.Compare(a.Seconds, b.Seconds))
	})
	return lines, nil
}

// unique keeps one line per job of sorted lines. A job may occur more than once if its results are
// equal; times may differ.
func unique(lines []record.Line) ([]record.Line, error) {
	lines, err := ordered(lines)
	if err != nil {
		return nil, err
	}
	var jobs []record.Line
	keys := map[string]place{}
	for _, line := range lines {
		at := placeOf(line)
		if len(jobs) > 0 && placeOf(jobs[len(jobs)-1]) == at {
			if same, err := equal(jobs[len(jobs)-1], line); err != nil {
				return nil, err
			} else if !same {
				return nil, fmt.Errorf("the %v has two different results, of jobs %q and %q; they were not computed "+
					"by the same build on the same data", at, jobs[len(jobs)-1].Key, line.Key)
			}
			continue
		}
		if other, found := keys[line.Key]; found {
			return nil, fmt.Errorf("job %q is both the %v and the %v", line.Key, other, at)
		}
		keys[line.Key] = at
		jobs = append(jobs, line)
	}
	return jobs, nil
}

// equal compares everything except times; NaN equals NaN.
func equal(a, b record.Line) (bool, error) {
	a.Seconds, b.Seconds, a.Build, b.Build = 0, 0, "", ""
	x, err := json.Marshal(a)
	if err != nil {
		return false, err
	}
	y, err := json.Marshal(b)
	return bytes.Equal(x, y), err
}

// maxTrials limits the index of a trial, so that counting cannot overflow.
const maxTrials = 1 << 30

func (s *Study) addTrial(c record.Configuration, t *record.Trial) error {
	if t.Index < 0 || t.Index > maxTrials {
		return fmt.Errorf("the index is out of range")
	}
	if len(t.Start) != 0 && len(t.Start) != len(c.Hyperparameters) {
		return fmt.Errorf("the start has %d hyperparameters, want %d", len(t.Start), len(c.Hyperparameters))
	}
	free := len(ThetaNames(c))
	for i, p := range t.Points {
		nowhere := !p.Failure.IsZero() && len(p.Natural) == 0 && len(p.Theta) == 0
		if (len(p.Natural) != len(c.Hyperparameters) || len(p.Theta) != free) && !nowhere {
			return fmt.Errorf("point %d has %d hyperparameters, %d of them free; want %d and %d", i, len(p.Natural),
				len(p.Theta), len(c.Hyperparameters), free)
		}
	}
	for i, s := range t.Path {
		if len(s.Theta) != free {
			return fmt.Errorf("step %d has %d free hyperparameters, want %d", i, len(s.Theta), free)
		}
	}
	for _, theta := range t.Asked {
		if len(theta) != free {
			return fmt.Errorf("asked for %d free hyperparameters, want %d", len(theta), free)
		}
	}
	if c.Program != nil && c.Program.Minimize {
		t = negative(t)
	}
	s.Trials = append(s.Trials, t)
	return nil
}

// negative is a trial with the signs of its values changed.
func negative(t *record.Trial) *record.Trial {
	out := *t
	out.Points = slices.Clone(t.Points)
	for i := range out.Points {
		out.Points[i].Value = -out.Points[i].Value
	}
	out.Interim = slices.Clone(t.Interim)
	for i := range out.Interim {
		out.Interim[i].Value = -out.Interim[i].Value
	}
	return &out
}

func (s *Study) addFit(c record.Configuration, f *record.Fit) error {
	s.Fit = f
	if f.Chosen < -1 || f.Chosen > maxTrials {
		return fmt.Errorf("the winner's index, %d, is out of range", f.Chosen)
	}
	if !f.Failure.IsZero() {
		return nil
	}
	if len(f.Natural) != len(c.Hyperparameters) {
		return fmt.Errorf("%d hyperparameters, want %d", len(f.Natural), len(c.Hyperparameters))
	}
	if k := f.Curvature; k != nil {
		n := len(k.Names)
		if len(k.StandardErrors) != n || len(k.Correlations) != n ||
			slices.ContainsFunc(k.Correlations, func(row []record.Number) bool { return len(row) != n }) {
			return fmt.Errorf("%d standard errors and %d rows of correlations of %d hyperparameters",
				len(k.StandardErrors), len(k.Correlations), n)
		}
	}
	m, classes := s.Test, len(c.Classes)
	labels, predictions := len(f.Labels), []int{len(f.Proba)}
	if classes == 0 {
		labels, predictions = len(f.Targets), []int{len(f.Mean), len(f.Variance)}
	}
	for _, k := range predictions {
		if len(f.Rows) != m || labels != m || k != m {
			return fmt.Errorf("%d held-out cases with %d labels and %d predictions; the study holds out %d",
				len(f.Rows), labels, k, m)
		}
	}
	means, variances := len(f.LatentMean), len(f.LatentVariance)
	for _, latent := range slices.Concat(f.LatentMean, f.LatentVariance) {
		if means != variances || means > 1 && means != classes || len(latent) != m {
			return fmt.Errorf("latent means and variances of %d and %d processes, one with %d cases; there are %d "+
				"classes and the study holds out %d", means, variances, len(latent), classes, m)
		}
	}
	if err := s.checkShown(f, classes); err != nil || m == 0 {
		return err
	}
	p, err := f.Predictions(classes)
	if err != nil {
		return err
	}
	p.Ordered = c.Ordered
	s.Predictions = &p
	return nil
}

// checkShown checks the records of a fit that figures show.
func (s *Study) checkShown(f *record.Fit, classes int) error {
	other := func(n int) func([]record.Number) bool { return func(v []record.Number) bool { return len(v) != n } }
	processes := func(v [][]record.Number) bool { return len(v) <= 1 || len(v) == classes }
	unknown := func(label int) bool { return label < 0 || label >= classes }
	if f.MAP != nil && (classes != 2 || len(f.MAP) != s.Test) {
		return fmt.Errorf("%d probabilities at the latent means, want one for each of %d held-out cases of two "+
			"classes", len(f.MAP), s.Test)
	}
	if n := len(f.TrainLabels); n > 0 && n != s.Train || slices.ContainsFunc(f.TrainLabels, unknown) {
		return fmt.Errorf("%d labels of %d training cases, each to be one of %d classes", n, s.Train, classes)
	}
	if !processes(f.TrainLatentMean) || slices.ContainsFunc(f.TrainLatentMean, other(len(f.TrainLabels))) {
		return fmt.Errorf("latent means of %d processes at %d labelled training cases; there are %d classes",
			len(f.TrainLatentMean), len(f.TrainLabels), classes)
	}
	l := f.Surface
	if l == nil {
		return nil
	}
	inputs, points := len(l.Axes), 1
	for _, axis := range l.Axes {
		points *= len(axis)
	}
	proba, targets, moments := classes, 0, 0 // required numbers
	switch classes {
	case 0:
		targets, moments = s.Train, points
	case 2:
		proba = 1
	}
	if inputs < 1 || inputs > 2 || slices.ContainsFunc(
		l.Axes, func(axis []record.Number) bool { return !ascending(axis) }) ||
		len(l.Names) != inputs || len(l.Inputs) != inputs || slices.ContainsFunc(l.Inputs, other(s.Train)) ||
		len(f.TrainLabels) != s.Train-targets || len(l.Targets) != targets ||
		len(l.Proba) != proba || len(l.Mean) != moments || len(l.Variance) != moments ||
		!processes(l.LatentMean) || len(l.LatentVariance) != len(l.LatentMean) ||
		len(l.Truth) != 0 && len(l.Truth) != max(1, proba) ||
		slices.ContainsFunc(slices.Concat(l.Proba, l.LatentMean, l.LatentVariance, l.Truth), other(points)) {
		return fmt.Errorf("the parts of the surface do not fit together: over %d inputs it has %d points, and there "+
			"are %d training cases and %d classes", inputs, points, s.Train, classes)
	}
	return nil
}

// ascending reports whether there are at least two numbers, all finite and strictly ascending.
func ascending(v []record.Number) bool {
	for i := range v[:max(0, len(v)-1)] {
		if !(v[i] < v[i+1]) || math.IsInf(float64(v[i+1]-v[0]), 0) {
			return false
		}
	}
	return len(v) > 1
}
