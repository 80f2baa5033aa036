package table

import (
	"cmp"
	"strings"

	"github.com/gpc-tune/gpc-tune/cv"
)

// HeadDocs documents the columns of tables by name, except scores.
var HeadDocs = map[string]string{
	"":  "remark",
	"#": "number of the configuration, in the order of the file; show and fit select it by this number",
	"status": "best, in the set (may be the best, at 95 %), or what is wrong with it: failed, cut by a race, " +
		"missing, with the number of folds that are done",
	"dataset":    "data set or file",
	"preprocess": "transformation of the inputs before the model",
	"kernel":     "covariance function",
	"mean":       "prior mean function; of a posterior its mean",
	"prior mean": "prior mean function",
	"likelihood": "likelihood of a label given the latent function",
	"inference":  "method of approximate inference, or another classifier",
	"tuned with": "inference method that tunes the hyperparameters, if another one predicts",
	"tune":       "how hyperparameters are tuned",
	"evaluation": "how cases are held out",
	"log evidence": "log marginal likelihood of all training data at the tuned hyperparameters, in " +
		"nats, as the inference method approximates it",
	"loo":       "leave-one-out log probability: the mean of ln p(y_i|y_-i) over the training cases, nats",
	"free":      "free hyperparameters",
	"trainings": "number of training sets: all training data, and each fold",
	"jobs": "units of work that are computed and recorded separately: a trial, or " +
		"the final fit of a training",
	"inducing inputs":    "number of inducing inputs",
	"95 % interval":      "95 % confidence interval of the number before it; none if folds are missing",
	"95 % bounds":        "one-sided 95 % bounds of the difference",
	"cost":               "mean cost of a decision, the score mean_loss",
	"rejected":           "held-out cases for which no class is decided",
	"time":               "computing time relative to the fastest row",
	"difference":         "score minus that of the best; below 0 is worse",
	"p":                  "p value of the hypothesis that no other configuration is better",
	"verdict":            "in the set of those that may be the best, at 95 %: the bounds reach 0",
	"illustration":       "kind of illustration",
	"hyperparameters":    "tuned values, in natural units",
	"hyperparameter":     "name of the hyperparameter",
	"value":              "its value",
	"standard error":     "of the logarithm, from the curvature of the objective",
	"standard deviation": "of the posterior",
	"correlation":        "posterior correlation of the two latent values",
	"R-hat":              "potential scale reduction of the chains: near 1 if they agree",
	"effective samples":  "number of independent samples with the same precision",
	"points":             "number of points",
	"jitter":             "number added to the diagonal of the covariance for numerical stability",
	"iterations":         "iterations of the approximation",
	"trial":              "number of the trial, from 0",
	"evaluations":        "evaluations of the objective",
	"gradient":           "largest component of the gradient at the end",
	"point":              "number of the point, from 0",
	"best":               "the score or objective that is best here",
	"scores":             "scores at the point",
	"folds":              "number of folds that the score is computed from",
	"inner folds":        "number of inner folds that the score is computed from",
	"score":              "name of the score",
	"repeat":             "repeat of cross-validation, from 0",
	"fold":               "fold of cross-validation, from 0",
	"train":              "number of training cases",
	"test":               "number of held-out cases",
	"configuration":      "number of the configuration",
	"winner":             "configuration chosen on the inner folds",
	"next":               "second best configuration on the inner folds",
	"class":              "the true class",
	"decisions":          "how classes are decided",
	"cost of a case":     "mean cost of a decision",
	"note":               "remark",
	"log_posterior":      "log evidence plus log prior density of the hyperparameters, nats",
}

// heading is the heading of a score in summaries; a score without a heading has its name.
func heading(score string) string {
	s, _ := cv.ScoreNamed(score)
	return cmp.Or(s.Column.Heading, score)
}

// Heading is a heading without the words inner and outer, which name the folds of a score.
func Heading(name string) string {
	if _, known := HeadDocs[name]; known {
		return name
	}
	return strings.TrimPrefix(strings.TrimPrefix(name, "inner "), "outer ")
}

// Explain documents the columns that have no documentation yet, and for scores whether more or less
// is better: by their names, or else with the given text.
func (t *Table) Explain(otherwise string) {
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Doc != "" {
			continue
		}
		name := Heading(c.Name)
		c.Doc = HeadDocs[name]
		for _, s := range cv.Scores {
			if s.Name == name || s.Column.Heading == name {
				*c = c.explained(s.Greater, s.Doc+" ("+s.Unit+")")
			}
		}
		switch {
		case strings.Contains(name, "log_evidence") || name == "log evidence":
			*c = c.explained(true, HeadDocs["log evidence"])
		case c.Doc == "":
			c.Doc = otherwise
		}
	}
}
