package table

import (
	"cmp"
	"strings"

	"github.com/gpc-tune/gpc-tune/cv"
)

// headDocs documents the columns of tables by name.
var headDocs = map[string]string{
	"":                   "what is to be said besides",
	"#":                  "number of the configuration, or of the illustration, as in the file",
	"status":             "how it stands: best, ≈ best, or what it lacks",
	"dataset":            "the data",
	"preprocess":         "what is done to the inputs first",
	"kernel":             "covariance function",
	"mean":               "prior mean, or of a posterior its mean",
	"prior mean":         "prior mean function",
	"likelihood":         "observation model",
	"inference":          "approximation, or another way of learning",
	"tuned with":         "the inference by which hyperparameters are tuned",
	"tune":               "how hyperparameters are tuned",
	"evaluation":         "how cases are held out",
	"log evidence":       "approximate log marginal likelihood of the training data, nats",
	"inducing inputs":    "how many there are",
	"95 % interval":      "of the number before it; none where not all folds are done",
	"cost":               "mean cost of a decision",
	"rejected":           "cases for which no class is decided",
	"time":               "seconds over those of the quickest row",
	"difference":         "score less that of the best: below 0 is worse",
	"p":                  "p value of no difference, two-sided",
	"p (Holm)":           "p with Holm's correction for all comparisons",
	"verdict":            "whether the difference is significant at 5 %",
	"illustration":       "what is shown",
	"hyperparameters":    "their values, in natural units",
	"hyperparameter":     "its name",
	"value":              "its value",
	"standard error":     "of the logarithm, from the curvature of the objective",
	"standard deviation": "of the posterior",
	"correlation":        "of the two latent values",
	"R-hat":              "near 1 where chains agree",
	"effective samples":  "independent samples that are worth as much",
	"points":             "how many there are",
	"jitter":             "added to the diagonal of the covariance",
	"iterations":         "of the approximation",
	"trial":              "number of the trial",
	"evaluations":        "of the objective",
	"gradient":           "largest component of the gradient at the end",
	"point":              "number of the point",
	"best":               "by which score or objective",
	"scores":             "of the point",
	"folds":              "how many the score is of",
	"inner folds":        "how many the score is of",
	"score":              "its name",
	"repeat":             "of cross-validation",
	"fold":               "of cross-validation",
	"train":              "training cases",
	"test":               "held-out cases",
	"configuration":      "its number",
	"winner":             "chosen on the inner folds",
	"next":               "second best on the inner folds",
	"class":              "the true class",
	"decisions":          "how classes are decided",
	"cost of a case":     "mean cost of a decision",
	"source":             "where the figure is published",
	"figure":             "which score or number",
	"published":          "the published number",
	"here":               "the number of this run",
	"here − published":   "their difference",
	"note":               "what is to be said besides",
	"log_posterior":      "log evidence plus log prior density of the hyperparameters, nats",
}

// heading is the heading of a score in summaries, or without one its name.
func heading(score string) string {
	s, _ := cv.ScoreNamed(score)
	return cmp.Or(s.Column.Heading, score)
}

// Explain documents the columns that have no documentation yet, and for scores whether more or less
// is better: by their names, or else with the given text.
func (t *Table) Explain(otherwise string) {
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Doc != "" {
			continue
		}
		name := strings.TrimPrefix(strings.TrimPrefix(c.Name, "inner "), "outer ")
		c.Doc = headDocs[name]
		for _, s := range cv.Scores {
			if s.Name == name || s.Column.Heading == name {
				*c = c.explained(s.Greater, s.Doc+" ("+s.Unit+")")
			}
		}
		switch {
		case strings.Contains(name, "log_evidence") || name == "log evidence":
			*c = c.explained(true, headDocs["log evidence"])
		case strings.HasPrefix(name, "correlation with "):
			c.Doc = "correlation of the two estimates"
		case c.Doc == "":
			c.Doc = otherwise
		}
	}
}
