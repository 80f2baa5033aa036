package reports

import (
	"cmp"
	"fmt"
	"io"
	"regexp"
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
	{"sampled", "how far other methods are from a sampled objective over a grid", sampledPictures},
	{"curves", "the curves of all configurations on the same cases", curvePictures},
	{"roc", "receiver operating characteristics of two classes, with the areas under them", rocPicture},
	{"information", "test information with 95 % intervals, where there is no other picture", informationPictures},
	{"option", "scores against a numeric option of a component: learning curves, for one", optionPictures},
	{"evidence-information", "what is maximised against the test information, point by point", evidencePicture},
	{"paths", "where local optimisers went over two hyperparameters", pathsPicture},
	{"restarts", "the value that every restart reached, and its evaluations", restartsPicture},
	{"traces", "the tuning objective over the iterations of local optimisers", tracesPicture},
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

// PictureName matches the names of figures: the kind of picture, and maybe what it is of.
var PictureName = regexp.MustCompile("^(" + strings.Join(kinds(), "|") + ")(-[a-z0-9-]+)?$")

func kinds() (names []string) {
	for _, p := range Pictures() {
		names = append(names, p.Name)
	}
	return names
}

// CheckPicture says what is wrong with the name of a figure, or of a kind of them, of a report that is not there yet.
func CheckPicture(name string) error {
	if PictureName.MatchString(name) {
		return nil
	}
	return fmt.Errorf("unknown picture %q%s", name, registry.Suggest(strings.TrimRight(name, "-0123456789"), kinds()))
}

// Writes says if the experiment asks for a format.
func (r *Report) Writes(format string) bool { return slices.Contains(r.manifest.Formats, format) }

// Drawn are the figures that the experiment asks for, of which every one has a file: those that its report.figures names, in that
// order, each by its own name or all of a kind by that; or else all.
func (r *Report) Drawn() []figure.Figure {
	drawn, _ := r.drawn()
	return drawn
}

// drawn tells also what is asked for and not there.
func (r *Report) drawn() (out []figure.Figure, lacking []string) {
	all := r.Figures()
	if len(r.manifest.Figures) == 0 {
		return all, nil
	}
	seen := map[string]bool{}
	for _, name := range r.manifest.Figures {
		found := false
		for _, f := range all {
			if f.Name != name && f.Kind != name {
				continue
			}
			if found = true; !seen[f.Name] {
				out, seen[f.Name] = append(out, f), true
			}
		}
		if !found {
			lacking = append(lacking, name)
		}
	}
	return out, lacking
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
			seen[f.Name], f.Kind = true, p.Name
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
func (r *Report) each(of func(Configuration) bool, size int, draw func(part []member, n naming) figure.Figure) []figure.Figure {
	return r.together(func(c Configuration) string {
		if of(c) {
			return "all"
		}
		return ""
	}, size, draw)
}

// together draws the configurations with the same key in one figure, so many in each; those without a key in none.
func (r *Report) together(key func(Configuration) string, size int, draw func(part []member, n naming) figure.Figure) (out []figure.Figure) {
	var parts [][]member
	last := map[string]int{} // the part that takes the next one with a key
	for i, c := range r.Configurations {
		k := key(c)
		if k == "" {
			continue
		}
		at, found := last[k]
		if !found || len(parts[at]) == size {
			at, parts = len(parts), append(parts, nil)
			last[k] = at
		}
		parts[at] = append(parts[at], member{index: i, configuration: c})
	}
	short := r.shorten()
	for _, part := range parts[:min(len(parts), mostFigures)] {
		n := named(short, part...)
		for i, name := range n.members {
			n.members[i] = strings.TrimSpace(name)
		}
		f := draw(part, n)
		f.Name = fmt.Sprintf("%s-%d", f.Name, part[0].index)
		out = append(out, f)
	}
	left := 0
	for _, part := range parts[len(out):] {
		left += len(part)
	}
	if left > 0 {
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
	return fmt.Sprintf("%s (%s)", spaced(c.maximised()), unit)
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
		return written(e.Value, digits)
	}
	return fmt.Sprintf("%s (%s – %s)", written(e.Value, digits), figure.Number(e.Lo, digits), figure.Number(e.Hi, digits))
}

// written is a number within a figure, as decimals has it, with a true minus sign.
func written(x float64, digits int) string {
	return strings.ReplaceAll(decimals(x, digits), "-", "−")
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
		figures := r.Drawn()
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
	members []string // how each differs from the others, and of how many folds its scores are where that is not all
}

// named finds what configurations share and how they differ.
func named(short map[string]string, members ...member) naming {
	labels := []string{"", "", "", "kernel ", "mean ", "preprocess ", "tune "} // those without belong to the heading
	words := make([][]string, len(members))
	for i, m := range members {
		c := m.configuration
		inference := short[c.Inference.Text]
		if c.hybrid() {
			inference += " tuned with " + short[c.TuneInference.Text]
		}
		words[i] = []string{c.Dataset, c.part(short[c.Likelihood.Text]), inference, c.part(short[c.Kernel.Text]), c.part(c.Mean.Text), c.Preprocess, c.part(c.Tune)}
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
		case slices.ContainsFunc(words, func(w []string) bool { return w[k] != word && (w[k] != "" || label == "") }): // in a note "kernel se" is of those with a kernel
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
	n := naming{heading: strings.Join(heading, " · "), note: strings.Join(note, ", ")}
	for i, m := range members {
		n.members = append(n.members, m.Scores.Partial.beside(fmt.Sprintf("#%d %s", m.index, strings.Join(names[i], ", "))))
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
