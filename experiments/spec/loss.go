package spec

import (
	"encoding/csv"
	"errors"
	"fmt"
	"maps"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/record"
)

// decisionCosts reads the costs in the predict section at n; nil if there are none.
func (d *decoder) decisionCosts(n *strictyaml.Node, p predicting) *Costs {
	if p.Loss == nil && p.RejectCost == nil {
		return nil
	}
	c := &Costs{reject: p.RejectCost, place: d.Found.Place(n), lossPlace: d.Found.Place(p.Loss),
		rejectPlace: d.Found.Place(strictyaml.Find(n, "reject_cost"))}
	switch {
	case p.Loss != nil && p.Loss.Kind == strictyaml.SequenceNode:
		c.listed = true
	case p.Loss != nil:
		d.Into(p.Loss, &c.loss)
	}
	return c
}

// On returns the costs for the classes of a data set; nil if there are none.
func (c *Costs) On(found *strictyaml.Findings, ds *data.Data) *record.Costs {
	switch {
	case c == nil:
		return nil
	case ds.Classes == nil:
		found.AtPlace(c.place, "%s has numeric labels, and costs are for decisions on classes; leave out loss "+
			"and reject_cost", ds.Name)
		return nil
	}
	if c.listed {
		found.AtPlace(c.lossPlace, "%s", listedCosts(ds.Classes[0], ds.Classes[1]))
		return nil
	}
	checkRejection(found, c.rejectPlace, c.reject, ds.Classes)
	loss := newLoss(found, c.lossPlace, ds.Classes)
	loss.setAll(c.loss)
	out := &record.Costs{Reject: (*record.Number)(c.reject)}
	for _, row := range loss.Loss {
		out.Loss = append(out.Loss, record.Numbers(row))
	}
	return out
}

// listedCosts is the mistake of costs in a list, with the form for two of the classes.
func listedCosts(a, b string) string {
	return fmt.Sprintf("expected the costs of decisions by true class and decision, as in {%s: {%s: 5}, %s: {%s: 1}}, "+
		"found a list", a, b, b, a)
}

// checkRejection checks the cost of rejecting a case, if given.
func checkRejection(found *strictyaml.Findings, at strictyaml.Place, reject *float64, classes []string) {
	if reject == nil {
		return
	}
	if math.IsNaN(*reject) || math.IsInf(*reject, 0) {
		found.AtPlace(at, "%v is not a cost; write a finite number", *reject)
	}
	if slices.Contains(classes, record.Rejected) {
		found.AtPlace(at, "a class is also named %q; rename the class", record.Rejected)
	}
}

// lossReader fills a loss on classes entry by entry. Entries that are not given are 1 for an error
// and 0 for a correct decision.
type lossReader struct {
	cv.Loss
	found   *strictyaml.Findings
	place   strictyaml.Place
	classes []string
	given   map[[2]int]bool
}

func newLoss(found *strictyaml.Findings, at strictyaml.Place, classes []string) *lossReader {
	return &lossReader{cv.ZeroOne(len(classes)), found, at, classes, map[[2]int]bool{}}
}

// set sets one cost; a second value is an error.
func (l *lossReader) set(truth, decision string, cost float64) {
	var at [2]int
	for k, name := range []string{truth, decision} {
		if at[k] = slices.Index(l.classes, strings.TrimSpace(name)); at[k] < 0 {
			l.found.AtPlace(l.place, "unknown class %q%s", name, registry.Suggest(name, l.classes))
			return
		}
	}
	switch {
	case l.given[at]:
		l.found.AtPlace(l.place, "the cost of deciding %q where %q is the truth is given twice; keep one", decision,
			truth)
	case math.IsNaN(cost) || math.IsInf(cost, 0):
		l.found.AtPlace(l.place, "%v is not a cost; write a finite number", cost)
	default:
		l.given[at], l.Loss[at[0]][at[1]] = true, cost
	}
}

func (l *lossReader) setAll(m lossMap) {
	for _, truth := range slices.Sorted(maps.Keys(m)) {
		for _, decision := range slices.Sorted(maps.Keys(m[truth])) {
			if cost := m[truth][decision]; cost != nil {
				l.set(truth, decision, *cost)
			}
		}
	}
}

// setMatrix reads a header with decisions, whose first cell may have any text, and rows with a true
// class and its costs.
func (l *lossReader) setMatrix(text string) {
	r := csv.NewReader(strings.NewReader(text))
	r.TrimLeadingSpace = true
	rows, err := r.ReadAll()
	if err == nil && len(rows) == 0 {
		err = errors.New("the file is empty")
	}
	if err != nil {
		l.found.AtPlace(l.place, "%v", err)
		return
	}
	for i, row := range rows[1:] {
		for k, cell := range row[1:] {
			cost, err := strconv.ParseFloat(strings.TrimSpace(cell), 64)
			if err != nil {
				l.found.AtPlace(l.place, "row %d: %q is no cost", i+2, cell)
				continue
			}
			l.set(row[0], rows[0][k+1], cost)
		}
	}
}

// setTriples reads `truth,decision,cost …`.
func (l *lossReader) setTriples(text string) {
	for _, triple := range strings.Fields(text) {
		parts := strings.Split(triple, ",")
		var cost float64
		wrong := errors.New("no truth,decision,cost")
		if len(parts) == 3 {
			cost, wrong = strconv.ParseFloat(parts[2], 64)
		}
		if wrong != nil {
			l.found.AtPlace(l.place, "%q must be truth,decision,cost, as in %s,%s,5, and there is no file %q; "+
				"names with commas or blanks need {truth: {decision: cost}}", triple, l.classes[0], l.classes[1], text)
			continue
		}
		l.set(parts[0], parts[1], cost)
	}
}

// Deciding configures decisions: costs as texts, or a threshold, and which cases are refused.
type Deciding struct {
	// Loss is `truth,decision,cost …`, a YAML mapping {truth: {decision: cost, …}, …}, or a file
	// with such a mapping or with the whole matrix as CSV: a header with the decisions and a row
	// for every true class. Entries that are not given are 1 for an error and 0 for a correct
	// decision. Empty: no costs are given, and the class with the largest probability is decided
	// for.
	Loss   string
	Reject *float64 // cost of rejecting a case; nil: no case is rejected
	// Threshold replaces costs: the second of two classes is predicted if its probability is at
	// least this. It is nil for the threshold of the model, or ½.
	Threshold *float64
	// Strict refuses cases with values that cannot be read, or that are categories without a
	// training case. Otherwise the cases are predicted, and such values are named in the warnings.
	Strict bool
	// Coverage adds the conformal set of each case with this coverage, between 0 and 1. It is nil
	// for the coverage of the model file.
	Coverage *float64
	// Why adds columns that explain the prediction of each case, in up to seconds a case.
	Why bool
	// WhyOf adds these columns for this class, in place of the most probable one of each case.
	WhyOf string
}

// ReadThreshold checks the threshold of the flags; nil if there is none.
func ReadThreshold(o Deciding, classes []string) ([]float64, error) {
	d := newDecoder("--threshold")
	switch t := o.Threshold; {
	case t == nil:
		return nil, nil
	case classes == nil:
		d.At(nil, "the model predicts numbers, and a threshold is for two classes; leave it out")
	case len(classes) != 2:
		d.At(nil, "a threshold is for two classes, and the model has %d; leave it out", len(classes))
	case o.Loss != "" || o.Reject != nil:
		d.At(nil, "costs decide by themselves; leave out --threshold, or --loss and --reject")
	case !(*t >= 0 && *t <= 1):
		d.At(nil, "%v is not a probability; write a number from 0 to 1", *t)
	default:
		return []float64{*t}, nil
	}
	return nil, d.Found.Err()
}

// ReadCosts reads the costs of decisions on classes from the values of flags; nil if none are
// given.
func ReadCosts(o Deciding, classes []string) (*cv.Costs, error) {
	d := newDecoder("--loss")
	place := d.Found.Place(nil)
	switch {
	case o.Loss == "" && o.Reject == nil:
		return nil, nil
	case classes == nil:
		d.At(nil, "the model predicts numbers, and costs are for decisions on classes; leave out --loss and --reject")
		return nil, d.Found.Err()
	}
	checkRejection(d.Found, strictyaml.Place{File: "--reject"}, o.Reject, classes)
	loss := newLoss(d.Found, place, classes)
	text := strings.TrimSpace(o.Loss)
	file, err := os.ReadFile(text)
	if err == nil {
		text = strings.TrimSpace(string(file))
	}
	switch {
	case strings.HasPrefix(text, "{"):
		if n := d.parse([]byte(text)); n != nil {
			var m lossMap
			d.Into(n, &m)
			loss.setAll(m)
		}
	case err == nil:
		loss.setMatrix(text)
		if all := len(classes) * len(classes); d.Found.Err() == nil && len(loss.given) != all {
			d.At(nil, "%s must be a header with the classes %s as decisions and a row for each as truth; %d of %d "+
				"costs are there", o.Loss, strings.Join(classes, ", "), len(loss.given), all)
		}
	default:
		loss.setTriples(text)
	}
	return &cv.Costs{Loss: loss.Loss, Reject: o.Reject}, d.Found.Err()
}

// predicting is the predict section.
type predicting struct {
	Average    *strictyaml.Node `yaml:"average"`
	Reject     string           `yaml:"reject"`
	Loss       *strictyaml.Node `yaml:"loss"`
	RejectCost *float64         `yaml:"reject_cost"`
	Calibrate  string           `yaml:"calibrate"`
	Threshold  *strictyaml.Node `yaml:"threshold"`
	Sets       *strictyaml.Node `yaml:"sets"`
}

// setting is the coverage of conformal sets.
type setting struct {
	Coverage *float64 `yaml:"coverage"`
}

// conformal reads the coverage of conformal sets.
func (d *decoder) conformal(p predicting, s *Spec) {
	if p.Sets == nil || strictyaml.IsNull(p.Sets) {
		return
	}
	s.SetsPlace = d.Found.Place(p.Sets)
	of := setting{}
	if p.Sets.Kind == strictyaml.ScalarNode {
		d.At(p.Sets, "expected {coverage: 0.9}, found %s", strictyaml.Describe(p.Sets))
		return
	}
	d.Into(p.Sets, &of)
	switch n := strictyaml.Find(p.Sets, "coverage"); {
	case of.Coverage == nil:
		d.At(p.Sets, "coverage is missing; write sets: {coverage: 0.9}")
	case cv.CheckCoverage(*of.Coverage) != nil:
		d.At(n, "%v", cv.CheckCoverage(*of.Coverage))
	default:
		s.Coverage = (*record.Number)(of.Coverage)
	}
}

// thresholding names the score that the threshold on the probability of the second of two classes
// maximises.
type thresholding struct {
	Maximise string `yaml:"maximise"`
}

// adjusting reads calibration and threshold.
func (d *decoder) adjusting(n *strictyaml.Node, p predicting, s *Spec) {
	s.AdjustPlace = d.Found.Place(n)
	choose(d, n, "calibrate", &p.Calibrate, calibrations)
	if way, err := cv.CalibrationNamed(p.Calibrate); err == nil {
		s.Calibration = &way
	}
	if p.Threshold == nil || strictyaml.IsNull(p.Threshold) {
		return
	}
	if p.Threshold.Kind == strictyaml.ScalarNode {
		d.At(p.Threshold, "expected {maximise: f1}, or another of %s, found %s", strings.Join(cv.Thresholds(), ", "),
			strictyaml.Describe(p.Threshold))
		return
	}
	t := thresholding{}
	d.Into(p.Threshold, &t)
	choose(d, p.Threshold, "maximise", &t.Maximise, cv.Thresholds())
	s.Threshold = t.Maximise
}

// calibrations are the names of the methods of calibration; the first is the default.
var calibrations = append([]string{"none"}, names(cv.Calibrations, func(c cv.Calibration) string { return c.Name })...)
