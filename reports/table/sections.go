package table

import (
	"iter"

	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/reports"
)

// Writer is a set of outputs that show the tables of a report, one bit each.
type Writer int

// The writers: the text of a report, gpc-tune show, documents, the paper, and exports.
const (
	ForText Writer = 1 << iota
	ForShow
	ForPages
	ForPaper
	ForExport
)

// Section is a table of a report, or several of one kind: of the run, or of each configuration.
type Section struct {
	Name    string
	Doc     string // meaning of a row
	Chapter string // heading of a chapter that begins with it in documents; empty: no new one
	Results bool   // the table answers the question of the run and stands before warnings
	File    string // file with all rows; empty: results.json
	Left    Writer // writers that leave it out
	Run     func(*reports.Report) []Table
	Each    func(reports.Configuration) []Table
	Data    func(*reports.Report) Table // table for exports, instead of Run and Each
}

// Sections lists the tables of a report, in the order in which every writer shows them. The writers
// in Left leave a section out.
var Sections = []Section{
	{Name: "configurations", Doc: "hyperparameters, log evidence and scores, a row for all the training data, and " +
		"one for every evaluation, pooled", Data: configurationRows},
	{Name: "results", Chapter: "Results", Results: true, File: "results.csv", Left: ForShow | ForExport,
		Run: summaries},
	{Name: "data_sets", Doc: "one score of configurations on several data sets, a column for each", Results: true,
		File: "results.csv", Left: ForShow, Run: pivots},
	{Name: "against", Doc: "every configuration beside the best: difference, interval, p value, in the set or not",
		Chapter: "Against the best", Results: true, Left: ForShow, Run: Against},
	{Name: "strange_cases", Doc: "held-out cases of the best whose label, or number, is least probable",
		Chapter: "Strange cases", Left: ForText | ForShow | ForPaper, Run: strangeCases},
	{Name: "contests", Chapter: "Contests", Left: ForPaper | ForExport, Run: contests},
	{Name: "nested", Doc: "nested cross-validation: every configuration in every outer fold, its inner score, who " +
		"won, and the winner's outer scores", Data: nestedRows},
	{Name: "races", Doc: "every configuration in every race: its score, whether it was cut, when and why",
		Data: raceRows},
	{Name: "hyperparameters", Left: ForText | ForShow | ForExport, Each: hyperparameters},
	{Name: "standard_errors", Doc: "standard errors of the hyperparameters on the theta scale, and their correlations",
		Left: ForText | ForShow, Each: standardErrors},
	{Name: "posterior", Doc: "mean and standard deviation of hyperparameters that were sampled, and how the chains mix",
		Left: ForText | ForShow, Each: posterior},
	{Name: "coefficients", Doc: "coefficients of logistic regression and their standard errors, by class and input",
		Left: ForText | ForPaper, Each: coefficients},
	{Name: "best_points", Doc: "the best evaluated points, by the tuning objective and by each score", Left: ForText,
		Each: bestPoints},
	{Name: "pareto", Doc: "points of a search with several objectives that no other one dominates", Each: pareto},
	{Name: "restarts", File: "trials.csv", Left: ForText | ForExport, Each: restarts},
	{Name: "points", File: "trials.csv", Left: ForText | ForExport, Each: points},
	{Name: "scores", Left: ForText | ForExport, Each: scores},
	{Name: "folds", Doc: "hyperparameters, log evidence and scores of every fold", File: "results.csv", Left: ForText,
		Each: folds, Data: foldRows},
	{Name: "costs", Doc: "mean costs of the decisions of every evaluation", Left: ForText, Each: costs},
	{Name: "decisions", Doc: "number of held-out cases by true class and decision", Left: ForText, Each: decisions,
		Data: decisionRows},
	{Name: "trials", Doc: "every evaluated point: where it started, hyperparameters, objective, scores, failure, " +
		"wall time in seconds, values on the way; of a program each of its named values", Data: trialRows},
	{Name: "paths", Doc: "every step of local optimisers on all of the training Data: hyperparameters on the theta " +
		"scale, objective", Data: pathRows},
	{Name: "importance", Doc: "shares of each hyperparameter in the variance of the objective over the space of a " +
		"search: alone, and total, with its interactions, with standard errors if the regression predicts; or the " +
		"reason why they are not known", Data: importanceRows},
	{Name: "predictions", Doc: "every held-out case: class probabilities, decision, latent means and variances",
		Data: predictionRows},
}

// Of are the tables of the run for a writer.
func Of(r *reports.Report, to Writer) iter.Seq2[Section, Table] {
	return listed(to, func(s Section) []Table {
		if s.Run == nil {
			return nil
		}
		return s.Run(r)
	})
}

// OfConfiguration are the tables of a configuration for a writer.
func OfConfiguration(c reports.Configuration, to Writer) iter.Seq2[Section, Table] {
	return listed(to, func(s Section) []Table {
		if s.Each == nil {
			return nil
		}
		return s.Each(c)
	})
}

func listed(to Writer, tables func(Section) []Table) iter.Seq2[Section, Table] {
	return func(yield func(Section, Table) bool) {
		for _, s := range Sections {
			if s.Left&to != 0 {
				continue
			}
			for _, t := range tables(s) {
				if t.Name = reports.Spaced(s.Name); !yield(s, t) {
					return
				}
			}
		}
	}
}

// Exported are the names of the sections that can be exported, the first by default.
func Exported() (out []Section) {
	for _, s := range Sections {
		if s.Left&ForExport == 0 {
			out = append(out, s)
		}
	}
	return out
}

// ExportNamed returns the section with this name.
func ExportNamed(name string) (Section, error) {
	return registry.Find("export", name, Exported(), func(s Section) string { return s.Name })
}

// Export is the section as one table for programs. A table of configurations has their number in
// the first column.
func (s Section) Export(r *reports.Report) (out Table) {
	if s.Data != nil {
		return s.Data(r)
	}
	if s.Run != nil {
		for _, t := range s.Run(r) {
			out.join(t)
		}
		return out
	}
	for i, c := range r.Configurations {
		for _, t := range s.Each(c) {
			t.Columns = append(Columns("configuration"), t.Columns...)
			for k, row := range t.Rows {
				t.Rows[k] = append(Row(i), row...)
			}
			out.join(t)
		}
	}
	return out
}
