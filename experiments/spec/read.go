package spec

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/declared"
	"github.com/gpc-tune/gpc-tune/experiments/gallery"
	"github.com/gpc-tune/gpc-tune/internal/pattern"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/record/parsed"
	"github.com/gpc-tune/gpc-tune/reports/page"
	"github.com/gpc-tune/gpc-tune/reports/picture"
)

// Load reads and checks a configuration file, or a bundled one if path is gallery:NAME; settings
// are `path=value` assignments applied to it first. The error is Problems: all mistakes, each with
// its position.
func Load(path string, settings []string) (*Spec, error) {
	text, err := Read(path)
	if err != nil {
		return nil, err
	}
	return Parse(path, text, settings)
}

// Read reads a configuration file, or a bundled one, up to the maximum size.
func Read(path string) ([]byte, error) {
	if name, ok := strings.CutPrefix(path, Bundled); ok {
		text, err := gallery.Read(name)
		if err != nil {
			return nil, Problems{{File: path, Message: "cannot be read: " + err.Error()}}
		}
		return text, nil
	}
	f, err := os.Open(path)
	if err != nil {
		message := "cannot be read: " + err.Error()
		if _, missing := os.Stat(path + ".yaml"); errors.Is(err, fs.ErrNotExist) && missing == nil {
			message += fmt.Sprintf("; there is %s.yaml", path)
		}
		return nil, Problems{{File: path, Message: message}}
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, strictyaml.MaxBytes+1)) // one byte more than allowed is refused
	if err != nil {
		return nil, Problems{{File: path, Message: "cannot be read: " + err.Error()}}
	}
	return text, nil
}

// Parse is Load for text already read; file names it in messages, and relative paths start in its
// folder.
func Parse(file string, text []byte, settings []string) (*Spec, error) {
	s, found := Decode(file, text, settings)
	if s != nil && s.Costs != nil && s.Costs.listed {
		found.AtPlace(s.Costs.lossPlace, "%s", listedCosts("ill", "well"))
	}
	if err := found.Err(); err != nil {
		return nil, err
	}
	return s, nil
}

// Decode is Parse that returns the problems separately. If there are mistakes, the Spec contains
// the correct parts, so that these can be checked against the data too; it is nil if the text is
// not YAML.
func Decode(file string, text []byte, settings []string) (*Spec, *strictyaml.Findings) {
	d := newDecoder(file)
	return d.spec(file, text, settings), d.Found
}

// spec reads a configuration file. If there are mistakes, the result contains the correct parts, so
// that these can be checked against the data too; it is nil if the text is not YAML.
func (d *decoder) spec(file string, text []byte, settings []string) *Spec {
	root := d.parse(text)
	if root == nil {
		return nil
	}
	for _, s := range settings {
		d.set(root, s)
	}
	base := filepath.Base(file)
	doc := document{Version: 1, Name: strings.TrimSuffix(base, filepath.Ext(base))}
	d.Into(root, &doc)
	if doc.Version != 1 {
		d.At(strictyaml.Find(root, "version"), "version %d is not known; this gpc-tune reads version 1", doc.Version)
	}
	if !runName().MatchString(doc.Name) {
		d.At(strictyaml.Find(root, "name"), "name %q must be at most 200 letters, digits, '.', '_' or '-', "+
			"because it names the run folder", doc.Name)
	}
	s := &Spec{Name: doc.Name, Seed: doc.Seed, Dir: filepath.Dir(file), Average: objective.Averaged{},
		Reject: doc.Predict.Reject, Report: doc.Report, File: file, Text: string(text), Settings: settings}
	if a := doc.Predict.Average; a != nil && !strictyaml.IsNull(a) {
		if average, _, ok := component(d, a, "average", objective.Averages); ok {
			s.Average, s.Averaging = average, parsed.Component(a)
		}
	}
	s.Average = declared.Seeded(s.Average, s.Seed)
	s.Costs = d.decisionCosts(strictyaml.Find(root, "predict"), doc.Predict)
	d.adjusting(strictyaml.Find(root, "predict"), doc.Predict, s)
	d.conformal(doc.Predict, s)
	s.illustrates = doc.Illustrate != nil
	switch {
	case doc.Program != nil:
		d.without(root, "program has an objective of its own", slices.DeleteFunc(keysOf(reflect.ValueOf(doc)),
			func(key string) bool { return slices.Contains(programSections, key) })...)
		d.program(doc.Program, doc.Tune, s)
	case s.illustrates:
		d.illustrations(root, doc.Illustrate, s)
		d.models(root, doc.Model, s)
		d.checkIllustrations(s)
	default:
		d.models(root, doc.Model, s)
		d.data(root, doc.Data, s)
		d.tune(doc.Tune, s)
		d.evaluate(doc.Evaluate, s)
		d.race(doc.Race, s)
	}
	choose(d, strictyaml.Find(root, "predict"), "reject", &s.Reject, rejects())
	for i := range s.Report.Formats {
		choose(d, strictyaml.Find(root, "report"), "formats", &s.Report.Formats[i], formats())
	}
	if len(s.Report.Formats) == 0 {
		s.Report.Formats = []string{"text"}
	}
	for key, list := range map[string][]string{"formats": s.Report.Formats, "curves": s.Report.Curves,
		"figures": s.Report.Figures} {
		seen := map[string]bool{}
		for _, name := range list {
			if n := strictyaml.Find(strictyaml.Find(root, "report"), key); seen[name] && n != nil {
				d.At(n, "%q occurs twice; remove one", name)
			}
			seen[name] = true
		}
	}
	for i := range s.Report.Curves {
		choose(d, strictyaml.Find(root, "report"), "curves", &s.Report.Curves[i], curves())
	}
	for _, name := range s.Report.Figures {
		if err := picture.Check(name); err != nil {
			d.At(declared.Element(strictyaml.Find(strictyaml.Find(root, "report"), "figures"), name), "%v", err)
		}
	}
	return s
}

// document is the top level of a configuration file.
type document struct {
	Version    int              `yaml:"version"`
	Name       string           `yaml:"name"`
	Seed       uint64           `yaml:"seed"`
	Data       *strictyaml.Node `yaml:"data"`
	Model      *strictyaml.Node `yaml:"model"`
	Tune       *strictyaml.Node `yaml:"tune"`
	Evaluate   *strictyaml.Node `yaml:"evaluate"`
	Race       *strictyaml.Node `yaml:"race"`
	Predict    predicting       `yaml:"predict"`
	Report     Report           `yaml:"report"`
	Illustrate *strictyaml.Node `yaml:"illustrate"`
	Program    *strictyaml.Node `yaml:"program"`
}

var runName = pattern.Of(`^[A-Za-z0-9][A-Za-z0-9._-]{0,199}$`)

// Bundled is the prefix of the names of bundled experiments.
const Bundled = "gallery:"

func (d *decoder) data(root, n *strictyaml.Node, s *Spec) {
	if n == nil {
		d.At(root, "no data; add data: {dataset: crabs}, or data: {train: FILE}, or illustrate models without data")
		return
	}
	sections := d.expanded(n, dataLists)
	if len(sections) > maxSets {
		d.At(n, "%d data sets, more than %d; split the experiment", len(sections), maxSets)
		return
	}
	for _, v := range sections {
		before := d.Found.Found()
		spec := data.Spec{Regression: slices.ContainsFunc(s.Models, func(m Model) bool { return m.Numeric() })}
		d.Into(v, &spec)
		DataSpec{Place: d.Found.Place(v), places: d.Places(v)}.Faults(d.Found, spec.Check())
		s.Data = append(s.Data, DataSpec{spec, d.Found.Place(v), d.Places(v), d.Found.Found() == before})
	}
}

// Names that a file can use, including those registered by other programs.
func rejects() []string { return names(cv.Confidences, func(c cv.Confidence) string { return c.Name }) }
func formats() []string { return names(page.Formats, func(f page.Format) string { return f.Name }) }
func curves() []string  { return names(cv.Curves, func(c cv.Curve) string { return c.Name }) }
