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
	{"paths", "ways of local optimisers over two hyperparameters", pathsPicture},
	{"restarts", "the value that every restart reached, and its evaluations", restartsPicture},
	{"relevance", "length scales of the inputs while they are tuned", relevancePicture},
	{"evidence-information", "what is maximised against the test information, point by point", evidencePicture},
	{"roc", "receiver operating characteristic of two classes", rocPicture},
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

// remarks joins what is not empty.
func remarks(all ...string) []string {
	text := strings.Join(slices.DeleteFunc(all, func(n string) bool { return n == "" }), "; ")
	if text == "" {
		return nil
	}
	return []string{text}
}

// estimate is an estimate with its interval.
func estimate(e cv.Estimate, digits int) string {
	if !drawable(e.Lo) || !drawable(e.Hi) {
		return number(e.Value, digits)
	}
	return fmt.Sprintf("%s (%s – %s)", number(e.Value, digits), number(e.Lo, digits), number(e.Hi, digits))
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
