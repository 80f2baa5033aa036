package shown

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
)

// Member is one evaluation of a configuration in a picture of several; no evaluation if the picture
// is of its grid.
type Member struct {
	Index         int // index of the configuration
	Configuration reports.Configuration
	reports.Evaluation
}

// Naming is the text of a picture about its members.
type Naming struct {
	Heading string   // what the members share and other configurations of the report do not
	Note    string   // what all configurations of the report share
	Members []string // how each differs, and the number of folds of its scores if some are missing
}

// Titled is a title: what a figure shows, and what tells it from other figures of the kind.
func Titled(what string, of ...string) string {
	if of = slices.DeleteFunc(of, func(text string) bool { return text == "" }); len(of) == 0 {
		return what
	}
	return what + ": " + strings.Join(of, ", ")
}

// NameMembers finds the settings that configurations share, and names each by the settings in
// which they differ. A setting that only some have, such as the kernel, is shared if these are two
// or more and agree.
func NameMembers(short map[string]string, members ...Member) (shared, named []string) {
	labels := []string{"", "likelihood ", "inference ", "kernel ", "mean ", "preprocess ", "tune "}
	words := make([][]string, len(members))
	for i, m := range members {
		c := m.Configuration
		inference := short[c.Inference.Text]
		if c.Hybrid() {
			inference += " tuned with " + short[c.TuneInference.Text]
		}
		words[i] = []string{c.Dataset, c.Part(short[c.Likelihood.Text]), inference, c.Part(short[c.Kernel.Text]),
			c.Part(c.Mean.Text), c.Preprocess, c.Part(c.Tune)}
	}
	names := make([][]string, len(members))
	for k, label := range labels {
		word, have := "", 0
		for _, w := range words {
			word = cmp.Or(word, w[k])
			have += min(len(w[k]), 1)
		}
		switch {
		case word == "":
		case have == 1 && len(members) > 1,
			slices.ContainsFunc(words, func(w []string) bool { return w[k] != word && w[k] != "" }):
			for i, w := range words {
				if w[k] != "" {
					names[i] = append(names[i], w[k])
				}
			}
		default:
			shared = append(shared, label+word)
		}
	}
	for i, m := range members {
		named = append(named, m.Scores.Partial.Beside(
			strings.TrimSpace(fmt.Sprintf("#%d %s", m.Index, Shortened(strings.Join(names[i], ", "))))))
	}
	return shared, named
}

var long = regexp.MustCompile(`\d+\.\d{5,}`)

// Shortened has four significant digits of every number with five decimals or more.
func Shortened(text string) string {
	return long.ReplaceAllStringFunc(text, func(number string) string {
		v, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return number
		}
		return strconv.FormatFloat(v, 'g', 4, 64)
	})
}

// nameAll returns what all configurations share, and names them by a number and by what they differ
// in: "#1 logit, ep".
func nameAll(r *reports.Report) (shared, labels []string) {
	var all []Member
	for i, c := range r.Configurations {
		all = append(all, Member{Index: i, Configuration: c})
	}
	return NameMembers(r.ShortNames(), all...)
}

// Conditioned is the name of a hyperparameter with its condition: "degree, where kind is poly".
func Conditioned(c reports.Configuration, h record.Hyperparameter) string {
	if h.When == nil {
		return spelled(h)
	}
	when := h.When.Text(reports.Spaced, func(name string, v float64) string {
		for _, of := range c.Record.Hyperparameters {
			if of.Name == name && int(v) < len(of.Choices) {
				return of.Choices[int(v)]
			}
		}
		return reports.Readable(v)
	})
	return fmt.Sprintf("%s, where %s", spelled(h), when)
}

// spelled is the name of a hyperparameter with the name of its input: "length scale of age".
func spelled(h record.Hyperparameter) string {
	name := reports.Spaced(h.Name)
	if base, _, of := strings.Cut(name, "["); of && h.Column != "" {
		return base + " of " + h.Column
	}
	return name
}

// Capital begins a text with a capital letter.
func Capital(text string) string { return strings.ToUpper(text[:1]) + text[1:] }
