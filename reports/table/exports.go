package table

import (
	"fmt"

	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/reports"
)

// RowForms are the formats of Rows.
var RowForms = Forms[Rows]{{Name: "csv", Render: rowsCSV}, {Name: "json", Render: rowsJSON}}

// Export is a part of a Report as Rows.
type Export struct {
	Name string
	Doc  string
	Rows func(*reports.Report) Rows
}

// Exports lists the parts that can be exported.
var Exports = []Export{
	{"configurations", "hyperparameters, log evidence and scores, a row for all the training data and one for every " +
		"evaluation, pooled", configurationRows},
	{"folds", "the same of every fold", foldRows},
	{"nested", "nested cross-validation: every configuration in every outer fold, its inner score, who won, and the " +
		"winner's outer scores", nestedRows},
	{"races", "every configuration in every race: its score, whether it was cut, when and why", raceRows},
	{"trials", "every evaluated point: where it started, hyperparameters, objective, scores, failure", trialRows},
	{"paths", "every step of local optimisers on all of the training data: hyperparameters on the theta scale, " +
		"objective", pathRows},
	{"predictions", "every held-out case: class probabilities, decision, latent means and variances", predictionRows},
}

// ExportNamed returns the export with this name.
func ExportNamed(name string) (Export, error) {
	var names []string
	for _, e := range Exports {
		if e.Name == name {
			return e, nil
		}
		names = append(names, e.Name)
	}
	return Export{}, fmt.Errorf("unknown export %q%s", name, registry.Suggest(name, names))
}
