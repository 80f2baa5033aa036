package catalogue

import (
	"cmp"
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/gpc-tune/gpc-tune/experiments/ask"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/rates"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
)

// notInNames is what the name of a run may not have.
var notInNames = regexp.MustCompile(`[^A-Za-z0-9._-]+`)

// Starter is an experiment to begin with, as the text of a configuration file that is to have a
// path: with a bundled data set, or with a file of cases, whose columns and classes it names. label
// is the label's column, or empty for the last.
func Starter(path, name, label string) (string, error) {
	from, err := ask.Source(name)
	if err != nil {
		return "", fmt.Errorf("%w: %w", spec.ErrInvalid, err)
	}
	from.Label = data.Name(label)
	d, err := ask.ReadAny(&from)
	if err != nil {
		from.Categorical = "one_hot"
		var oneHot error
		if d, oneHot = ask.ReadAny(&from); oneHot != nil {
			return "", fmt.Errorf("%w: %w", spec.ErrInvalid, err)
		}
	}
	s := data.Describe(d)
	var text strings.Builder
	line := func(format string, args ...any) { fmt.Fprintf(&text, format+"\n", args...) }
	line("# An experiment: gpc-tune validate checks it, gpc-tune plan shows what it would run, gpc-tune run runs it.")
	line("version: 1")
	line("name: %s", scalar(cmp.Or(strings.Trim(notInNames.ReplaceAllString(strings.TrimSuffix(filepath.Base(path),
		filepath.Ext(path)), "-"), ".-_"), "experiment")))
	line("seed: 1")
	line("")
	line("data:")
	about := fmt.Sprintf("%d cases, %d inputs: %s", s.Cases, len(s.Inputs), data.Abridged(s.Inputs))
	if from.Dataset != "" {
		line("  dataset: %s # %s", from.Dataset, comment(about))
		line("  # train: cases.csv # or a file: CSV, svmlight, zip.train, compressed or not; its label is in the " +
			"last column unless label says another")
	} else {
		relative, err := filepath.Rel(filepath.Dir(path), from.Train)
		if err != nil {
			relative = from.Train
		}
		line("  train: %s # %s", scalar(filepath.ToSlash(relative)), comment(about))
		line("  # test: FILE # with the same columns")
		column := d.Schema.Label.Name
		if !d.Schema.Header {
			column = strconv.Itoa(d.Schema.Label.Index + 1)
		}
		line("  label: %s # a column's name, or its number from 1", scalar(column))
		line("  # columns: [%s] # the inputs to use; or drop: those to leave out",
			strings.Join(scalars(s.Inputs[:min(2, len(s.Inputs))]), ", "))
		line("  # id: NAME # a column that is carried through to the predictions; group: one whose cases no fold " +
			"divides")
	}
	var classes []string
	smallest := s.Cases
	for _, c := range s.Classes {
		classes = append(classes, fmt.Sprintf("%s (%d)", c.Class, c.N))
		smallest = min(smallest, c.N)
	}
	if classes != nil {
		line("  # classes: %s%s", comment(data.Abridged(classes)),
			map[bool]string{true: "; the second is +1 unless positive: CLASS says the other"}[len(classes) == 2])
	} else {
		line("  # the label is a number, %g to %g; above: %g makes two classes of it", s.Target.Min, s.Target.Max,
			s.Target.Median)
	}
	if len(s.Missing) > 0 {
		missing := 0
		for _, m := range s.Missing {
			missing += m.N
		}
		line("  missing: median # of %d values in %d inputs; or drop (the case), mean", missing, len(s.Missing))
	}
	if from.Categorical != "" {
		line("  categorical: %s # text in an input: an indicator for each of its values", from.Categorical)
	}
	line("  preprocess: standardize # none | standardize | whiten; fitted on the training part of every split")
	line("")
	line("model: # any value may be a list: every combination is tuned and compared")
	line("  kernel: {se: {ard: false}} # gpc-tune list kernels; ard: true gives every input a length scale")
	likelihood, inference, why := "[probit, logit]", "[laplace, ep]", "gpc-tune list pairs"
	switch {
	case classes == nil:
		likelihood, inference, why = "gaussian", "exact", "regression"
	case len(classes) > 2:
		likelihood, inference, why = "softmax", "laplace", "or a method for two classes, with classes: one_vs_rest"
	}
	if advised, reason, ok := rates.Advised(s.Cases, len(s.Inputs)); ok && len(classes) == 2 {
		inference, why = advised, reason
	}
	line("  likelihood: %s", likelihood)
	line("  inference: %s # %s", inference, why)
	line("")
	line("tune: {method: bfgs, restarts: 3} # gpc-tune list strategies; objective: log_evidence unless it says another")
	line("")
	if s.Test != nil {
		line("evaluate: test # the %d cases of the test set; or kfold: {k: 10} and others, gpc-tune list splitters",
			s.Test.Cases)
	} else {
		line("evaluate: {kfold: {k: %d}} # gpc-tune list splitters", max(2, min(10, smallest, s.Cases/4)))
	}
	line("")
	line("report: {formats: [text, html]} # gpc-tune list formats")
	return text.String(), nil
}

// comment is a text on one line.
func comment(text string) string {
	return strings.Join(strings.FieldsFunc(text,
		func(r rune) bool { return unicode.IsSpace(r) || !unicode.IsPrint(r) }), " ")
}

// scalar is a text as YAML, on one line.
func scalar(text string) string {
	n := strictyaml.Node{Kind: strictyaml.ScalarNode, Tag: "!!str", Value: text}
	if slices.ContainsFunc([]rune(text), func(r rune) bool {
		return !unicode.IsPrint(r) ||
			strings.ContainsRune(",[]{}", r)
	}) {
		n.Style = strictyaml.DoubleQuotedStyle
	}
	out, err := strictyaml.Marshal(&n)
	if err != nil {
		panic(err) // any text can be written
	}
	return strings.TrimSuffix(string(out), "\n")
}

func scalars(texts []string) (out []string) {
	for _, t := range texts {
		out = append(out, scalar(t))
	}
	return out
}
