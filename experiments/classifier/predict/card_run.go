package predict

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/experiments/classifier/explain"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/experiments/run"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/internal/terminal"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/page"
	"github.com/gpc-tune/gpc-tune/reports/table"
)

// RunCard describes the best configuration of a finished run: all that Card describes, and the
// verdict, the scores of the held-out cases, their calibration, the importance of inputs for them,
// and groups with worse scores. p is the plan of the run, for its data. Fits are computed again at
// their recorded hyperparameters. If the run has several data sets, dataset names one.
func RunCard(ctx context.Context, folder *run.Folder, p *plan.Plan, dataset string) (card page.Article, err error) {
	r, err := folder.Report()
	if err != nil {
		return card, err
	}
	if p.Manifest.Key != folder.Manifest.Key {
		return card, fmt.Errorf("%w: %s: the experiment or its data have changed since the run; run it again",
			spec.ErrInvalid, cmp.Or(folder.Manifest.Source, folder.Dir))
	}
	a, err := answerOn(r, dataset)
	if err != nil {
		return card, err
	}
	c, err := again(ctx, p, folder.Lines, a.Configuration, 0)
	if err != nil {
		return card, err
	}
	set := p.Studies[studyOf(p, a.Configuration, 0)].Job.Set
	card = page.Article{Title: "Model card: " + r.Experiment, Facts: table.AnsweredFor(r, a), Parts: []page.Part{
		c.dataPart(set.Source.X), c.modelPart()}}
	about := &card.Parts[0].Texts
	for _, of := range a.LeftOut {
		*about = append(*about, fmt.Sprintf("The column %s is left out: %s.", of.Column, of.Reason))
	}
	limits := c.limits()
	for _, t := range a.Trust {
		limits = append(limits, strings.TrimSuffix("Reason to doubt it: "+t.Text+"; "+t.Remedy, "; ")+".")
	}
	if len(a.Scored()) == 0 {
		limits = append(limits, "The run has no held-out cases. Scores and groups are not known.")
	} else {
		parts, err := heldOutParts(ctx, r, a, p, folder.Lines)
		if err != nil {
			return card, err
		}
		card.Parts = append(card.Parts, parts...)
	}
	command := []string{"gpc-tune", "run", cmp.Or(r.Manifest.Source, "FILE.yaml")}
	for _, s := range r.Manifest.Settings {
		command = append(command, "--set", s)
	}
	card.Parts = append(card.Parts, paragraphs("Limits", limits...), paragraphs("How to repeat", append(c.origin(),
		"The run: "+terminal.CommandLine(command...), "The model file: "+a.Keep)...))
	return card, nil
}

// answerOn is the answer for a data set; "" means the only one.
func answerOn(r *reports.Report, dataset string) (reports.Answer, error) {
	var names []string
	for _, a := range r.Decided() {
		if names = append(names, a.Dataset); a.Dataset == dataset || dataset == "" && len(r.Decided()) == 1 {
			return a, nil
		}
	}
	switch {
	case names == nil || r.Configurations[0].Program != nil:
		return reports.Answer{}, fmt.Errorf("%w: the run has no answer yet, or fits no models; gpc-tune status says "+
			"what is missing", spec.ErrInvalid)
	case dataset == "":
		return reports.Answer{}, fmt.Errorf("%w: the run has an answer for each of %d data sets; choose one with "+
			"--dataset: %s", spec.ErrInvalid, len(names), listed(names))
	}
	return reports.Answer{}, fmt.Errorf("%w: %w", spec.ErrInvalid, registry.Known("dataset", dataset, names))
}

// studyOf is the index of a study in the plan.
func studyOf(p *plan.Plan, configuration, index int) int {
	return slices.IndexFunc(p.Studies, func(s plan.Study) bool {
		return s.Configuration == configuration && s.Index == index
	})
}

// again computes the fit of a study again, at its recorded hyperparameters.
func again(ctx context.Context, p *plan.Plan, lines []record.Line, configuration, index int) (*Classifier, error) {
	s := p.Studies[studyOf(p, configuration, index)]
	s.Job.Keeps, s.Job.SameTraining = true, nil
	f, err := keep(ctx, p, s.Job, configuration, outcomeOf(s.Study, lines))
	if err == nil {
		err = f.Seal()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.Job.Where(), err)
	}
	return restore(f, s.Job.Where())
}

// heldOutCases are the held-out cases of an answer, a row for each prediction.
type heldOutCases struct {
	cv.Predictions
	source *data.Data
	at     []int // the case of source of each row
	model  []int // the index in models of each row
	// models has the fit of each fold; nil beyond mostMatrices, and for repeats of folds.
	models []*Classifier
}

// mostMatrices is the number of numbers in the covariance matrices of the folds that are kept.
const mostMatrices = 2.5e8

// heldOut returns the held-out cases of an answer with the fits that do not know them, computed
// again at their recorded hyperparameters.
func heldOut(ctx context.Context, a reports.Answer, p *plan.Plan, lines []record.Line) (h heldOutCases, err error) {
	var parts []cv.Predictions
	numbers := 0.0
	for k, s := range a.Scored() {
		set := p.Studies[studyOf(p, s.Fit.Configuration, s.Fit.Study)].Job.Set
		if h.source = set.Source; s.Evaluation == "test" {
			h.source = set.Source.Test
		}
		place := map[int]int{}
		for i, row := range h.source.Rows {
			place[row] = i
		}
		for _, row := range s.Predictions.Cases {
			h.at, h.model = append(h.at, place[row]), append(h.model, k)
		}
		var c *Classifier
		if numbers += float64(s.Train) * float64(s.Train); s.Repeat == 0 && (k == 0 || numbers <= mostMatrices) {
			if c, err = again(ctx, p, lines, s.Fit.Configuration, s.Fit.Study); err != nil {
				return h, err
			}
		}
		parts, h.models = append(parts, *s.Predictions), append(h.models, c)
	}
	h.Predictions = cv.Pool(parts...)
	return h, nil
}

// heldOutParts are the parts of a card that need held-out cases.
func heldOutParts(ctx context.Context, r *reports.Report, a reports.Answer, p *plan.Plan,
	lines []record.Line) ([]page.Part, error) {
	h, err := heldOut(ctx, a, p, lines)
	if err != nil {
		return nil, err
	}
	scores, err := h.scores()
	if err != nil {
		return nil, err
	}
	driven, err := h.drivers(ctx, r.Manifest.Seed, max(h.models[0].affordable(cardRepeats, permitted), leastScored))
	if err != nil {
		return nil, err
	}
	about := driven.Missing
	if driven.Inputs != nil {
		about = fmt.Sprintf("The loss of information, in bits per case, if the values of an input come from other "+
			"held-out cases: %s, each predicted by the fit that does not know it.",
			table.Counted(driven.Cases, "case", "cases"))
	}
	of := h.groups(h.Units(), r.Manifest.Seed)
	return []page.Part{scores, h.calibration(), driving(driven.Inputs, about), of}, nil
}

// scores is the part on the scores of the held-out cases.
func (h heldOutCases) scores() (page.Part, error) {
	t := table.Table{Columns: table.Columns("score", "value", "95 % interval", "better")}
	results, _, err := cv.Evaluate(h.Predictions)
	for _, of := range results {
		s, unknown := cv.ScoreNamed(of.Name)
		if unknown != nil {
			return page.Part{}, unknown
		}
		factor, unit := 1.0, ""
		switch {
		case s.Column.Percent:
			factor, unit = 100, " %"
		case s.Count || strings.HasSuffix(s.Unit, "per case"):
			unit = " " + s.Unit
		}
		value, interval := reports.Readable(factor*of.Value), ""
		if err := factor * (of.Hi - of.Lo) / 2; err > 0 { // the last digit is below a third of the error
			digits := max(0, int(math.Ceil(-math.Log10(err/3))))
			value = reports.Decimals(factor*of.Value, digits)
			interval = reports.Between(reports.Decimals(factor*of.Lo, digits), reports.Decimals(factor*of.Hi, digits))
		}
		name := strings.ReplaceAll(of.Name, "_", " ")
		if s.OfSecond && len(h.source.Classes) == 2 {
			name += " of " + h.source.Classes[1]
		}
		t.Add(name, value+unit, interval,
			map[bool]string{true: "more", false: "less"}[s.Greater])
	}
	return page.Part{Heading: "Scores", Tables: []table.Table{t}, Texts: []string{fmt.Sprintf("%s of %s.",
		table.Counted(len(h.Cases), "prediction", "predictions"),
		table.Counted(len(units(h.Cases)), "held-out case", "held-out cases"))}}, err
}

// units are the distinct numbers, in order.
func units(of []int) []int { return slices.Compact(slices.Sorted(slices.Values(of))) }

// calibration is the part on the calibration of the held-out predictions.
func (h heldOutCases) calibration() page.Part {
	test := cv.CaseT(h.Surplus(), h.Units(), h.Weight)
	interval := fmt.Sprintf("95 %% interval %.3f to %.3f", test.Lo, test.Hi)
	if h.Numeric() {
		interval = fmt.Sprintf("95 %% interval %.2f to %.2f", 1+test.Lo, 1+test.Hi)
		return paragraphs("Calibration", fmt.Sprintf("Squared errors are on average %.2f times the predicted variance "+
			"(%s). Above 1 the variances are too small.", 1+test.Value, interval))
	}
	verdict := "No miscalibration is shown."
	switch {
	case test.Lo > 0:
		verdict = "The probabilities are overconfident."
	case test.Hi < 0:
		verdict = "The probabilities are underconfident."
	}
	return paragraphs("Calibration", fmt.Sprintf("The largest probability of a case exceeds the frequency of right "+
		"decisions by %.3f on average (%s). %s", test.Value, interval, verdict))
}

// drivers are the importances of the inputs for the cases of the first repeat of the folds. If
// there are more than most cases, this number of cases is drawn at random.
func (h heldOutCases) drivers(ctx context.Context, seed uint64, most int) (*record.Drivers, error) {
	var rows []int
	for i, k := range h.model {
		if h.models[k] != nil {
			rows = append(rows, i)
		}
	}
	rows = drawn(rows, most, seed)
	d := &record.Drivers{Cases: len(rows), Repeats: cardRepeats}
	switch {
	case h.source.Schema.Counts:
		d.Missing = "Importance is not measured for labels that are counts."
	case len(rows) < 3:
		d.Missing = "Importance needs 3 held-out cases."
	case len(units(data.Pick(h.Units(), rows))) < 2:
		d.Missing = "Importance needs held-out cases of 2 groups."
	}
	if d.Missing != "" {
		return d, nil
	}
	x := data.PickRows(h.source.X, data.Pick(h.at, rows))
	for i, row := range rows {
		values := x.RawRowView(i)
		for j, v := range h.models[h.model[row]].substitutes {
			if math.IsNaN(values[j]) {
				values[j] = v
			}
		}
	}
	e := explain.Effects{}
	var err error
	bits := func(x *mat.Dense) ([]float64, error) {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return h.bits(rows, x)
	}
	e.Importance, err = explain.Importances(x, data.Pick(h.Groups, rows), h.models[0].inputs(), bits, cardRepeats, seed)
	e.Sort()
	d.Inputs, d.Unequal = e.Importance, h.unequal()
	return d, err
}

// unequal is the input on which the size of errors depends most surely; nil: it is shown for none.
// Only numbers are tested.
func (h heldOutCases) unequal() *record.Unequal {
	if !h.Numeric() {
		return nil
	}
	var best *record.Unequal
	var numbers []explain.Input
	for _, in := range h.models[0].inputs() {
		k := slices.IndexFunc(h.source.Schema.Inputs, func(c data.Column) bool { return c.Name == in.Name })
		if len(in.Columns) == 1 && k >= 0 && h.source.Schema.Inputs[k].Levels == nil {
			numbers = append(numbers, in)
		}
	}
	for _, in := range numbers {
		x := make([]float64, len(h.at))
		for i, at := range h.at {
			x[i] = h.source.X.At(at, in.Columns[0])
		}
		u := h.Unequal(x)
		if p := record.Number(u.P * float64(len(numbers))); reports.ShowsUnequal(u, len(numbers)) &&
			(best == nil || p < best.P) {
			best = &record.Unequal{Input: in.Name, Rho: record.Number(u.Rho), P: p, Low: record.Number(u.Low),
				High: record.Number(u.High)}
		}
	}
	return best
}

// bits are log₂ p(y|x) of some rows with other inputs x, each by the fit that does not know the
// case.
func (h heldOutCases) bits(rows []int, x *mat.Dense) ([]float64, error) {
	out, of := make([]float64, len(rows)), make([][]int, len(h.models)) // indices in rows, by fit
	for i, row := range rows {
		of[h.model[row]] = append(of[h.model[row]], i)
	}
	for k, mine := range of {
		if mine == nil {
			continue
		}
		bits, err := h.models[k].scores(h.source, data.Pick(h.at, data.Pick(rows, mine)), data.PickRows(x, mine))
		if err != nil {
			return nil, err
		}
		for i, v := range bits {
			out[mine[i]] = v
		}
	}
	return out, nil
}

// groups is the part on groups of cases with worse scores.
func (h heldOutCases) groups(units []int, seed uint64) page.Part {
	const heading = "Groups with worse scores"
	loss := make([]float64, len(h.Cases)) // bits
	for i := range loss {
		if h.Numeric() {
			loss[i] = -logNormal(h.Targets[i], h.Mean[i], h.Variance[i]) / math.Ln2
		} else {
			loss[i] = -math.Log2(max(h.Proba.At(i, h.Labels[i]), smallest))
		}
	}
	var inputs []string
	var names [][]string
	var levels [][]int
	columns := explain.Inputs(h.source.Schema.From())
	for _, of := range h.source.Schema.Inputs {
		k := slices.IndexFunc(columns, func(i explain.Input) bool { return i.Name == of.Name })
		if k < 0 {
			continue
		}
		level, all := categories(of, columns[k].Columns, h.source.X)
		if all != nil {
			inputs, names = append(inputs, of.Name), append(names, all)
			levels = append(levels, data.Pick(level, h.at))
		}
	}
	t := table.Table{Columns: table.Columns("group", "cases", "loss (bits)", "others", "difference", "95 % interval",
		"")}
	worse := 0
	slicesOf := cv.Slices(loss, units, h.Weight, levels, seed)
	slices.SortStableFunc(slicesOf, func(a, b cv.Slice) int { return cmp.Compare(b.Difference.Lo, a.Difference.Lo) })
	for _, s := range slicesOf {
		verdict, d := "", s.Difference
		switch {
		case d.Lo > 0:
			verdict = "worse"
			worse++
		case d.Hi < 0:
			verdict = "better"
		}
		t.Add(inputs[s.Input]+" = "+names[s.Input][s.Level], s.Units, inBits(s.Mean), inBits(s.Rest),
			inBits(d.Value), reports.Between(inBits(d.Lo), inBits(d.Hi)), verdict)
	}
	if len(slicesOf) == 0 {
		return paragraphs(heading, fmt.Sprintf("No groups were compared: no input is a category with %d held-out "+
			"cases or more of a value, and of the others.", cv.LeastSliced))
	}
	verdict := "No group is shown to be worse."
	if worse > 0 {
		verdict = table.Counted(worse, "group is worse", "groups are worse") + " than the other cases."
	}
	return page.Part{Heading: heading, Tables: []table.Table{t}, Texts: []string{fmt.Sprintf("%s The loss is -log₂ p "+
		"of the true label (of a number, its density), in bits per case. The intervals of all %d groups together "+
		"contain their true differences "+
		"with 95 %%. Values with fewer than %d cases are left out.", verdict, len(slicesOf), cv.LeastSliced)}}
}

// inBits is a loss with three decimals.
func inBits(v float64) string { return reports.Decimals(v, 3) }

// categories are the levels of an input, with the level of every case; -1: none. A number with two
// values counts as a category; nil: the input is none.
func categories(of data.Column, columns []int, x *mat.Dense) (level []int, names []string) {
	n, _ := x.Dims()
	values := make([]float64, n)
	for i := range values {
		values[i] = valueOf(of, columns, x.RawRowView(i))
	}
	switch {
	case of.Levels != nil:
		names = append(slices.Clone(of.Levels), "missing")
	case of.Order != nil:
		names = of.Order
	default:
		two := slices.Compact(slices.Sorted(slices.Values(values))) // NaN come first, each different
		two = slices.DeleteFunc(two, math.IsNaN)
		if len(two) != 2 {
			return nil, nil
		}
		for i, v := range values {
			values[i] = float64(slices.Index(two, v))
		}
		names = []string{reports.Readable(two[0]), reports.Readable(two[1])}
	}
	for _, v := range values {
		switch l := int(v); {
		case math.IsNaN(v) && of.Levels != nil:
			level = append(level, len(of.Levels))
		case !(v >= 0) || l >= len(names):
			level = append(level, -1)
		default:
			level = append(level, l)
		}
	}
	return level, names
}
