package reports

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/reports/figure"
)

// pictureTable lists what can be drawn of a report, one file each: picture_NAME.go. A picture that a report has nothing for returns none.
var pictureTable = []struct {
	Name string // begins the names of its figures
	Doc  string
	Of   func(r *Report) []figure.Figure
}{
	{"grid", "contours of the tuning objective and the test information, and errors, over a grid of two hyperparameters", gridPictures},
	{"curves", "the curves of all configurations on the same cases", curvePictures},
	{"roc", "receiver operating characteristics of two classes, with the areas under them", rocPicture},
	{"information", "test information with 95 % intervals, where there is no other picture", informationPictures},
	{"evidence-information", "what is maximised against the test information, point by point", evidencePicture},
	{"paths", "where local optimisers went over two hyperparameters", pathsPicture},
	{"restarts", "the value that every restart reached, and its evaluations", restartsPicture},
	{"relevance", "the relevance of every input while its length scale is tuned", relevancePicture},
	{"latent", "latent means of training and held-out cases, by class", latentMeans},
	{"averaging", "averaged class probabilities against those at the latent mean", averaged},
	{"decision", "predictions over one or two inputs", decisions},
	{"prior", "illustrate: draws from priors, latent and squashed", priors},
	{"likelihood", "illustrate: log likelihoods and their derivatives", likelihoods},
	{"posterior", "illustrate: posteriors of one or two latent values, exact and approximate", posteriors},
}

// Pictures lists them.
func Pictures() (out []struct{ Name, Doc string }) {
	for _, p := range pictureTable {
		out = append(out, struct{ Name, Doc string }{p.Name, p.Doc})
	}
	return out
}

// Figures are all pictures of the report, in the order of the table. Their names differ and are fit for files.
func (r *Report) Figures() (out []figure.Figure) {
	seen := map[string]bool{}
	for _, p := range pictureTable {
		for _, f := range p.Of(r) {
			name := fileName(f.Name)
			for f.Name = name; seen[f.Name]; {
				f.Name = fmt.Sprintf("%s-%d", name, len(seen)+1)
			}
			seen[f.Name] = true
			if r.Missing > 0 {
				f.Notes = append(f.Notes, fmt.Sprintf("incomplete: at least %d jobs are missing", r.Missing))
			}
			out = append(out, f)
		}
	}
	return out
}

// mostFigures is how many figures of a kind there are of single configurations.
const mostFigures = 8

// each draws the configurations of which there is something to draw, so many in a figure.
func (r *Report) each(of func(Configuration) bool, size int, draw func(part []member, n naming) figure.Figure) (out []figure.Figure) {
	var all []member
	for i, c := range r.Configurations {
		if of(c) {
			all = append(all, member{index: i, configuration: c})
		}
	}
	short := r.shorten()
	for part := range slices.Chunk(all[:min(len(all), mostFigures*size)], size) {
		n := named(short, part...)
		for i, name := range n.members {
			n.members[i] = strings.TrimSpace(name)
		}
		f := draw(part, n)
		f.Name = fmt.Sprintf("%s-%d", f.Name, part[0].index)
		out = append(out, f)
	}
	if left := len(all) - mostFigures*size; left > 0 {
		f := &out[len(out)-1]
		f.Notes = append(f.Notes, fmt.Sprintf("%d more configurations are not drawn", left))
	}
	return out
}

// objectiveLabel names what is tuned, with its unit.
func (c Configuration) objectiveLabel() string {
	unit := "nats"
	if s, err := cv.ScoreNamed(strings.TrimPrefix(c.Objective, "cv_")); err == nil {
		unit = s.Unit
	}
	return fmt.Sprintf("%s (%s)", spaced(c.Objective), unit)
}

// thetaLabels name the free hyperparameters on the theta scale: "ln length scale".
func (c Configuration) thetaLabels() (out []string) {
	for _, h := range c.record.Hyperparameters {
		if !h.Fixed {
			scale := map[int]string{len("log_"): "ln ", len("logit_"): "logit "}[len(h.Theta)-len(h.Name)]
			out = append(out, scale+spaced(h.Name))
		}
	}
	return out
}

// spaced is a name as a reader likes it.
func spaced(name string) string { return strings.ReplaceAll(name, "_", " ") }

// estimate is an estimate with its interval.
func estimate(e cv.Estimate, digits int) string {
	if !figure.Drawable(e.Lo) || !figure.Drawable(e.Hi) {
		return figure.Number(e.Value, digits)
	}
	return fmt.Sprintf("%s (%s – %s)", figure.Number(e.Value, digits), figure.Number(e.Lo, digits), figure.Number(e.Hi, digits))
}

// Figure finds a figure by its name.
func (r *Report) Figure(name string) (figure.Figure, error) {
	var names []string
	for _, f := range r.Figures() {
		if f.Name == name {
			return f, nil
		}
		names = append(names, f.Name)
	}
	return figure.Figure{}, fmt.Errorf("unknown figure %q%s", name, registry.Suggest(name, names))
}

// fileName makes a name of lower-case letters, digits and single hyphens.
func fileName(name string) string {
	words := strings.FieldsFunc(strings.ToLower(name), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') })
	name = strings.Join(words, "-")
	return name[:min(len(name), 80)]
}

// draws prints all figures, one below the other.
func draws(draw func(io.Writer, ...figure.Figure) error) func(io.Writer, *Report) error {
	return func(w io.Writer, r *Report) error {
		figures := r.Figures()
		if len(figures) == 0 {
			figures = []figure.Figure{{Title: r.Experiment, Notes: []string{"Nothing to draw: no grid of two hyperparameters, no curves and no test information are on record."}}}
		}
		return draw(w, figures...)
	}
}

// member is one evaluation of a configuration in a picture of several; no evaluation if the picture is of its grid.
type member struct {
	index         int // of the configuration
	configuration Configuration
	Evaluation
}

// groups puts evaluations by the same name of the same data set together, in order of appearance.
func (r *Report) groups() (groups [][]member) {
	for i, c := range r.Configurations {
		for _, e := range c.Evaluations {
			g := slices.IndexFunc(groups, func(g []member) bool { return g[0].configuration.Dataset == c.Dataset && g[0].Name == e.Name })
			if g < 0 {
				g = len(groups)
				groups = append(groups, nil)
			}
			groups[g] = append(groups[g], member{i, c, e})
		}
	}
	return groups
}

// naming says what a picture shows.
type naming struct {
	heading string   // data set, likelihood and inference, as far as the members share them
	note    string   // what else they share
	members []string // how each differs from the others
}

// named finds what configurations share and how they differ.
func named(short map[string]string, members ...member) naming {
	labels := []string{"", "", "", "kernel ", "mean ", "preprocess ", "tune "} // those without belong to the heading
	words := make([][]string, len(members))
	for i, m := range members {
		c := m.configuration
		inference := short[c.Inference]
		if c.hybrid() {
			inference += " tuned with " + short[c.TuneInference]
		}
		words[i] = []string{c.Dataset, short[c.Likelihood], inference, short[c.Kernel], c.Mean, c.Preprocess, short[c.Tune]}
	}
	var heading, note []string
	names := make([][]string, len(members))
	for k, label := range labels {
		word := words[0][k]
		switch {
		case slices.ContainsFunc(words, func(w []string) bool { return w[k] != word }):
			for i, w := range words {
				if w[k] != "none" || w[1] != "none" { // a comparator has no likelihood, and needs not say so
					names[i] = append(names[i], w[k])
				}
			}
		case label == "":
			heading = append(heading, word)
		default:
			note = append(note, label+word)
		}
	}
	n := naming{heading: strings.Join(heading, " · "), note: strings.Join(note, ", ")}
	for i, m := range members {
		n.members = append(n.members, fmt.Sprintf("#%d %s", m.index, strings.Join(names[i], ", ")))
	}
	return n
}

// cases says how many predictions the members of a group have, if they have equally many.
func cases(group []member) string {
	n := group[0].Scores.N
	if slices.ContainsFunc(group, func(m member) bool { return m.Scores.N != n }) {
		return ""
	}
	return fmt.Sprintf("%d predictions", n)
}

// most is how many members one picture has: more looks cannot be told apart.
const most = 20

// parts cuts a group into pictures.
func parts(group []member) [][]member { return slices.Collect(slices.Chunk(group, most)) }

// remarks joins what is not empty.
func remarks(all ...string) []string {
	text := strings.Join(slices.DeleteFunc(all, func(n string) bool { return n == "" }), "; ")
	if text == "" {
		return nil
	}
	return []string{text}
}
