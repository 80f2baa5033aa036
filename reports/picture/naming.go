package picture

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
	Heading string   // data set, likelihood and inference, as far as the members share them
	Note    string   // everything else that the members share
	Members []string // how each differs, and the number of folds of its scores if some are missing
}

// NameMembers finds the settings that configurations share, and the settings in which they differ.
func NameMembers(short map[string]string, members ...Member) Naming {
	labels := []string{"", "", "", "kernel ", "mean ", "preprocess ", "tune "} // "": in the heading
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
	var heading, note []string
	names := make([][]string, len(members))
	for k, label := range labels {
		word := ""
		for _, w := range words {
			word = cmp.Or(word, w[k])
		}
		switch {
		case word == "":
		// in a note, "kernel se" is for the members with a kernel
		case slices.ContainsFunc(words, func(w []string) bool { return w[k] != word && (w[k] != "" || label == "") }):
			for i, w := range words {
				if w[k] != "" {
					names[i] = append(names[i], w[k])
				}
			}
		case label == "":
			heading = append(heading, word)
		default:
			note = append(note, label+word)
		}
	}
	n := Naming{Heading: shortened(strings.Join(heading, " · ")), Note: shortened(strings.Join(note, ", "))}
	for i, m := range members {
		n.Members = append(n.Members, m.Scores.Partial.Beside(
			strings.TrimSpace(fmt.Sprintf("#%d %s", m.Index, shortened(strings.Join(names[i], ", "))))))
	}
	return n
}

var long = regexp.MustCompile(`\d+\.\d{5,}`)

// shortened has four significant digits of every number with five decimals or more.
func shortened(text string) string {
	return long.ReplaceAllStringFunc(text, func(number string) string {
		v, err := strconv.ParseFloat(number, 64)
		if err != nil {
			return number
		}
		return strconv.FormatFloat(v, 'g', 4, 64)
	})
}

// Labels name the configurations by a number and by what they differ in: "#1 logit, ep".
func Labels(r *reports.Report) []string {
	var all []Member
	for i, c := range r.Configurations {
		all = append(all, Member{Index: i, Configuration: c})
	}
	if len(all) == 0 {
		return nil
	}
	return NameMembers(r.ShortNames(), all...).Members
}

// conditioned is the name of a hyperparameter with its condition: "degree, where kind is poly".
func conditioned(c reports.Configuration, h record.Hyperparameter) string {
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
