package picture

import (
	"fmt"
	"io"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/illustration"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
	"github.com/gpc-tune/gpc-tune/reports/picture/tuning"
)

// pictureTable lists the kinds of pictures, one file each. A kind returns no figures if the report
// has no data for it.
var pictureTable = []struct {
	Name string // begins the names of its figures
	Doc  string
	Of   func(r shown.Report) []figure.Figure
}{
	{Against, "every configuration beside the best: differences of the score that decides, with intervals",
		againstPictures},
	{Drivers, "how much every input is worth to the held-out predictions of the best, with levels of noise",
		driverPictures},
	{"reliability", "frequencies of the second of two classes beside its probabilities, with the numbers of cases",
		reliabilityPictures},
	{"observed", "numbers beside their predictions, residuals, and the coverage of intervals", observedPictures},
	{Factors, "effects of kernels, likelihoods and other choices on the score that decides, over many configurations",
		factorPictures},
	{"progress", "the best value so far, over the points or restarts of a search", tuning.Progress},
	{"pareto", "the trials of a search over pairs of its objectives, with those that no other one dominates",
		tuning.Pareto},
	{"way", "the values on the way of a program's trials, by its own steps", tuning.Way},
	{"slices", "what is maximised against every hyperparameter, point by point", tuning.Slices},
	{"importance", "shares of each hyperparameter in the variance over the space of a search", tuning.Importance},
	{"parallel", "the points of a search across one axis for each hyperparameter, the best in colour",
		tuning.Parallel},
	{"grid", "contours of the tuning objective and the test information, and errors, over a grid of two " +
		"hyperparameters", tuning.Grid},
	{"sampled", "how far other methods are from a sampled objective over a grid", tuning.Sampled},
	{"curves", "the curves of all configurations on the same cases", curvePictures},
	{"roc", "receiver operating characteristics of two classes, with the areas under them", rocPicture.draw},
	{"precision-recall", "precision against recall of two classes, with the average precisions",
		precisionRecallPicture.draw},
	{"information", "test information with 95 % intervals, where there is no other picture", informationPictures},
	{"option", "scores against a numeric option of a component: learning curves, for one", optionPictures},
	{"evidence-information", "what is maximised against the test information, point by point",
		tuning.EvidenceInformation},
	{Time, "how long the jobs of every configuration took; only of report --figure and of serve", timePictures},
	{"paths", "where local optimisers went over two hyperparameters", tuning.Paths},
	{"restarts", "the value that every restart reached, and its evaluations", tuning.Restarts},
	{"traces", "the tuning objective over the iterations of local optimisers", tuning.Traces},
	{"relevance", "the relevance of every input while its length scale is tuned", tuning.Relevance},
	{"latent", "latent means of training and held-out cases, by class", latentMeans},
	{"confusion", "how many cases of every class are decided for every other, of more than 16 classes", confusions},
	{"averaging", "averaged class probabilities against those at the latent mean", averaged},
	{"decision", "predictions over one or two inputs", decisions},
	{"prior", "illustrate: draws from priors, latent and squashed", illustration.Priors},
	{"surface", "illustrate: level lines of draws from priors over two inputs", illustration.Surfaces},
	{"targets", "illustrate: a latent function, its class probability, and targets drawn with it",
		illustration.Targets},
	{"likelihood", "illustrate: log likelihoods and their derivatives", illustration.Likelihoods},
	{"posterior", "illustrate: posteriors of one or two latent values, exact and approximate", illustration.Posteriors},
	{"softmax", "illustrate: class probabilities, averaged ones, and the eigenvalues of W", illustration.Softmaxes},
	{"cavity", "illustrate: marginal and cavity over the precision of a site", illustration.Cavities},
}

// List returns the kinds of pictures and their documentation.
func List() (out []struct{ Name, Doc string }) {
	for _, p := range pictureTable {
		out = append(out, struct{ Name, Doc string }{p.Name, p.Doc})
	}
	return out
}

// Name matches the names of figures: the kind of picture, and maybe its subject.
var Name = regexp.MustCompile("^(" + strings.Join(kinds(), "|") + ")(-[a-z0-9-]+)?$")

func kinds() (names []string) {
	for _, p := range List() {
		names = append(names, p.Name)
	}
	return names
}

// Check returns an error if no report can have a figure file, or a kind of figures, of this name.
// It is for files whose report does not exist yet.
func Check(name string) error {
	switch {
	case name == Time:
		return fmt.Errorf("files of a run have no times, since equal runs have equal files: "+
			"gpc-tune report DIR --figure %s prints this figure", Time)
	case Name.MatchString(name):
		return nil
	}
	return fmt.Errorf("unknown picture %q%s", name, registry.Suggest(strings.TrimRight(name, "-0123456789"), kinds()))
}

// Drawn returns the figures that the experiment asks for, each with a file. report.figures of the
// experiment names figures, or kinds of figures, in that order. Without it the experiment asks for
// all figures.
func Drawn(r *reports.Report) []figure.Figure {
	drawn, _ := drawn(r)
	return drawn
}

// drawn also returns the names that are asked for and that no figure has.
func drawn(r *reports.Report) (out []figure.Figure, lacking []string) {
	all := All(r)
	if len(r.Manifest.Figures) == 0 {
		return all, nil
	}
	seen := map[string]bool{}
	for _, name := range r.Manifest.Figures {
		found := slices.DeleteFunc(slices.Clone(all), func(f figure.Figure) bool { return f.Kind != name })
		if f, err := find(r, all, name); len(found) == 0 && err == nil {
			found = append(found, f)
		}
		for _, f := range found {
			if !seen[f.Name] {
				out, seen[f.Name] = append(out, f), true
			}
		}
		if len(found) == 0 {
			lacking = append(lacking, name)
		}
	}
	return out, lacking
}

// Warn adds a warning to a complete report for every figure that the experiment asks for but has no
// data for.
func Warn(r *reports.Report) {
	if len(r.Manifest.Figures) == 0 || r.Missing > 0 {
		return
	}
	_, lacking := drawn(r)
	for _, name := range lacking {
		r.Warn(cause.NoEffect.New("report: figures: there is no %q on record, nor a figure of that kind", name))
	}
}

// All returns the pictures of the report, in the order of the table, with the pictures of the best
// configurations first. Their names differ and are fit for files. If there are very many
// configurations, Named finds further pictures.
func All(r *reports.Report) (out []figure.Figure) {
	s := shown.New(r, -1)
	for _, p := range pictureTable {
		out = append(out, s.Draw(p.Name, p.Of)...)
	}
	return out
}

// Named finds a figure by its name: one of All, or the figure of any other configuration by its
// number.
func Named(r *reports.Report, name string) (figure.Figure, error) { return find(r, All(r), name) }

// find is Named, given the figures of All.
func find(r *reports.Report, all []figure.Figure, name string) (figure.Figure, error) {
	found, unknown := registry.Find("figure", name, all, func(f figure.Figure) string { return f.Name })
	if unknown == nil {
		return found, nil
	}
	at := strings.LastIndex(name, "-")
	number, err := strconv.Atoi(name[at+1:])
	if at < 0 || err != nil || number < 0 || number >= len(r.Configurations) {
		return figure.Figure{}, unknown
	}
	for _, p := range pictureTable {
		if name[:at] != p.Name && !strings.HasPrefix(name, p.Name+"-") {
			continue
		}
		for _, f := range shown.New(r, number).Draw(p.Name, p.Of) {
			if slices.Contains(f.Of, number) && (name == f.Name || name[:at] == p.Name || name[:at] == f.Name) {
				f.Name = name
				return f, nil
			}
		}
	}
	return figure.Figure{}, unknown
}

// Draws prints all figures, one below the other.
func Draws(draw func(io.Writer, ...figure.Figure) error) func(io.Writer, *reports.Report) error {
	return func(w io.Writer, r *reports.Report) error {
		figures := Drawn(r)
		if len(figures) == 0 {
			figures = []figure.Figure{{Title: r.Experiment,
				Notes: []string{"Nothing to draw: no grid of two hyperparameters, no curves and no test information " +
					"are on record."}}}
		}
		return draw(w, figures...)
	}
}
