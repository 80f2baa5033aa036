package spec

import (
	"reflect"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/cv/split"
	"github.com/gpc-tune/gpc-tune/experiments/data/sets"
	"github.com/gpc-tune/gpc-tune/experiments/declared"
	"github.com/gpc-tune/gpc-tune/experiments/gallery"
	"github.com/gpc-tune/gpc-tune/experiments/illustrate"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/comparator"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/reports/page"
	"github.com/gpc-tune/gpc-tune/reports/picture"
	"github.com/gpc-tune/gpc-tune/search"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// Kind is a list of names that a configuration file can use.
type Kind struct {
	Name    string // "kernels"
	Entries []Entry
	Note    string // remarks beyond the entries
	In      string // how a file uses a name, "model: {kernel: %s}"; empty: it does not
}

// Entry is a name with its meaning on one line.
type Entry struct {
	Name, Doc string
	File      []byte        // experiment file of a gallery entry
	Options   reflect.Type  // type of a component's options; nil: no component of a table
	Component any           // component with its default options; nil: it needs options
	Defaults  reflect.Value // default options
}

// Kinds lists everything that a configuration file can name, from the tables that also decode it,
// and the bundled experiments.
func Kinds() []Kind {
	datasets := Kind{Name: "datasets"}
	for _, s := range sets.Table {
		datasets.Entries = append(datasets.Entries, Entry{Name: s.Name, Doc: s.Doc})
	}
	scores := Kind{Name: "scores"}
	for _, s := range cv.Scores {
		scores.Entries = append(scores.Entries, Entry{Name: s.Name, Doc: s.Doc + " (" + s.Unit + ")"})
	}
	curves := Kind{Name: "curves"}
	for _, c := range cv.Curves {
		curves.Entries = append(curves.Entries, Entry{Name: c.Name, Doc: c.Doc})
	}
	formats := Kind{Name: "formats"}
	for _, f := range page.Formats {
		formats.Entries = append(formats.Entries, Entry{Name: f.Name, Doc: f.Doc})
	}
	figures := Kind{Name: "figures", Note: "  report: {formats: [svg]} draws all figures for which the run has " +
		"results; figures: [grid, latent-0] draws only these\n"}
	for _, p := range picture.List() {
		figures.Entries = append(figures.Entries, Entry{Name: p.Name, Doc: p.Doc})
	}
	published := Kind{Name: "gallery", Note: "  gpc-tune run gallery:NAME runs one of them, gpc-tune explain " +
		"gallery:NAME prints its file; docs/gallery.md shows all results\n"}
	for _, name := range gallery.Names() {
		text, err := gallery.Read(name)
		if err != nil {
			panic(err) // cannot happen: it is one of them
		}
		published.Entries = append(published.Entries, Entry{Name: Bundled + name, Doc: gallery.Doc(text), File: text})
	}
	kernels := kind("kernels", kernel.Table)
	inference := kind("inference", approx.Table)
	inference.Entries = append(inference.Entries, kind("", comparator.Table).Entries...)
	inference.Note = "  base_rate and those below it are comparators: they need no likelihood and tune " +
		"themselves; only least_squares and svm use the kernel\n  gpc-tune list pairs shows which likelihoods " +
		"each inference method supports\n"
	splitters := kind("splitters", split.Table)
	splitters.Entries = append([]Entry{{Name: "test", Doc: "the data set's test file"},
		{Name: "training", Doc: "the training cases themselves: how well the model fits; optimistic for new cases"}},
		splitters.Entries...)
	splitters.Entries = append(splitters.Entries,
		Entry{Name: "nested", Doc: "in each outer training set, the inner folds select a configuration, and the " +
			"outer fold scores it (outer: kfold, inner: {kfold: {k: 5}}, score: information_bits)"})
	objectives := kind("objectives", objective.Criteria)
	objectives.Entries = append(objectives.Entries,
		Entry{Name: "cv", Doc: "cv: {score: information_bits, kfold: {k: 5}}; any score under any splitter of the " +
			"training set, for strategies without gradients"})
	strategies := kind("strategies", search.Table)
	// Some strategies need options, such as the axes of a grid, whatever they search.
	one := param.Between("length_scale", param.Log, 0.1, 10)
	one.Prior = param.HalfNormal{Scale: 1}
	for i, e := range strategies.Entries {
		if search.Table.Default(e.Name).Check(search.Space{one}) != nil {
			strategies.Entries[i].Component = nil
		}
	}
	strategies.Note = "  a kernel or a likelihood can be a hyperparameter, as in kernel: {choice: [se, matern32]}; " +
		"of a list of\n  kernels, likelihoods, inference methods or data sets in the file each combination is tuned " +
		"separately\n"
	all := []Kind{
		kernels,
		kind("means", objective.Means),
		kind("likelihoods", likelihood.Table),
		kind("priors", param.Priors),
		inference,
		strategies,
		objectives,
		splitters,
		kind("races", cv.Races),
		scores,
		kind("averages", objective.Averages),
		curves,
		formats,
		figures,
		datasets,
		published,
		kind("illustrations", illustrate.Illustrations),
		kind("ranges", param.Ranges),
		kind("stop_early", schedule.EarlyStops),
	}
	for i, in := range []string{"model: {kernel: %s}", "model: {mean: %s}", "model: {likelihood: %s}",
		"model: {kernel: {se: {length_scale: {prior: %s}}}}", "model: {inference: %s}",
		"tune: {method: %s}", "tune: {objective: %s}", "evaluate: %s", "race: %s",
		"tune: {method: auto, objective: {cv: {score: %s}}}", "predict: {average: %s}", "report: {curves: [%s]}",
		"report: {formats: [%s]}", "report: {formats: [svg]} # %s among them", "data: {dataset: %s}", "",
		"illustrate: %s", "program: {command: [./train, \"{rate}\"], hyperparameters: {rate: %s}}",
		"program: {command: [./train, \"{rate}\"], hyperparameters: {rate: {log: {from: 0.001, to: 1}}}, stop_early: " +
			"%s}"} {
		all[i].In = in
	}
	return all
}

func kind[I any](name string, table registry.Table[I]) Kind {
	k := Kind{Name: name}
	for _, e := range table {
		out := Entry{Name: e.Name, Doc: e.Doc, Component: table.Default(e.Name)}
		if e.NeedsOptions {
			out.Component = nil
		}
		e.New(func(v any) error { // decodes no options
			out.Defaults = reflect.ValueOf(v).Elem()
			out.Options = out.Defaults.Type()
			return declared.ErrReported
		})
		k.Entries = append(k.Entries, out)
	}
	return k
}
