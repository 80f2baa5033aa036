package reports

import (
	"fmt"
	"io"
	"strings"

	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/reports/figure"
)

// pictureTable lists what can be drawn of a report, one file each: picture_NAME.go. A picture that a report has nothing for returns none.
var pictureTable = []struct {
	Name string // begins the names of its figures
	Doc  string
	Of   func(r *Report) []figure.Figure
}{
	{"latent", "latent means of training and held-out cases, by class", latentMeans},
	{"averaging", "averaged class probabilities against those at the latent mean", averaged},
	{"decision", "predictions over one or two inputs", decisions},
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
