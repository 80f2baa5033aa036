package plan

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/cv/split"
	"github.com/gpc-tune/gpc-tune/experiments/declared"
	"github.com/gpc-tune/gpc-tune/experiments/illustrate"
	"github.com/gpc-tune/gpc-tune/experiments/job"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/objective"
	"github.com/gpc-tune/gpc-tune/objective/comparator"
	"github.com/gpc-tune/gpc-tune/objective/kernel"
	"github.com/gpc-tune/gpc-tune/objective/preprocess"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search"
)

// This file contains everything that keys hash. A key covers all determinants of a result: the
// declarations of the file, the data, the seed, and the versions of the components' code. Two
// results with the same key are assumed to be equal.
//
// The JSON of the configurations and contests of a manifest, and of the types below, is hashed as
// it is. Adding, renaming or moving a field changes the keys, and every existing run folder is then
// refused; raise KeyForm in that case. Fields that are omitted at their usual value (omitempty) can
// be added safely.
const (
	// KeyForm is the version of the form of keys, recorded in the manifest.
	KeyForm = 1
	// sharedVersion is the version of the code that all components use: linear algebra, the
	// objective and its warm starts, sums and products of kernels, pooled scores. It is raised if
	// results change by more than rounding for a reason outside the components.
	sharedVersion = 2
)

// hyperparameterKey is the part of a study's key for a hyperparameter.
type hyperparameterKey struct {
	Name                   string
	Map                    int
	Init, Lo, Hi           float64
	Given, Fixed, FromData bool
	Prior                  param.Prior
}

// mustMarshal returns the JSON text of plain data.
func mustMarshal(v any) []byte {
	text, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("experiments: what is hashed must be plain data: %v", err))
	}
	return text
}

// hashed returns a key: the first half of the SHA-256 of all parts, in hexadecimal.
func hashed(parts ...[]byte) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write(p)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// configurationKey returns the part of keys for a configuration. It has only fields that affect
// results.
func configurationKey(c record.Configuration) record.Configuration {
	c.Studies, c.Costs, c.Coverage, c.Hyperparameters = nil, nil, nil, slices.Clone(c.Hyperparameters)
	for i := range c.Hyperparameters {
		h := &c.Hyperparameters[i]
		h.Column, h.When, h.Bounds, h.Init, h.Whole, h.Budget, h.Range = "", nil, nil, 0, false, false, nil
	}
	return c
}

// identityOf returns the common part of the keys of a configuration's studies.
func identityOf(c record.Configuration, specs []param.Spec, t spec.Tune, average string) []byte {
	return mustMarshal([]any{configurationKey(c), hyperparameterKeys(specs), tuneIdentity(t), average})
}

// startedAt adds the hyperparameters at which searches start, if they differ from the model's
// initial values.
func startedAt(identity []byte, starts ...[]param.Spec) []byte {
	if starts == nil {
		return identity
	}
	all := []any{string(identity)}
	for _, specs := range starts {
		all = append(all, hyperparameterKeys(specs))
	}
	return mustMarshal(all)
}

func hyperparameterKeys(specs []param.Spec) (keys []hyperparameterKey) {
	for _, s := range specs {
		keys = append(keys,
			hyperparameterKey{s.Name, int(s.Map), s.Init, s.Lo, s.Hi, s.Given, s.Fixed, s.FromData, s.Prior})
	}
	return keys
}

// planKey identifies a plan by its studies, their numbers of trials, and the settings that decide
// which studies run.
func planKey(m record.Manifest) string {
	parts := [][]byte{[]byte(m.Tune)}
	for _, c := range m.Configurations {
		for _, s := range c.Studies {
			parts = append(parts, []byte(s.Key))
		}
	}
	for _, i := range m.Illustrations {
		parts = append(parts, []byte(i.Key))
	}
	raced := versions{}
	for _, c := range m.Contests {
		raced.named("race", c.Race, cv.Races)
		raced.score(c.Score)
	}
	if m.Contests != nil {
		parts = append(parts, mustMarshal(m.Contests))
	}
	if len(raced) > 0 {
		parts = append(parts, mustMarshal(raced))
	}
	return hashed(parts...)
}

// illustrationKey identifies an illustration.
func illustrationKey(of record.Illustration, text string, seed uint64, models []declared.Model) string {
	identity := []any{of.Kind, of.Entry, text, of.Kernel.Text, of.Mean.Text, of.Likelihood.Text, seed}
	used := versions{}
	used.named("illustration", of.Kind, illustrate.Illustrations)
	for _, m := range models {
		identity = append(identity, m.Written.Inference.Text)
		used.of(m)
	}
	if len(used) > 0 {
		identity = append(identity, used)
	}
	return hashed(mustMarshal(identity))
}

// versions has the versions of components, if they are not the first version of this module, such
// as "kernel se": 2.
type versions map[string]int

// versionsOf returns the versions of all components on which the results of a configuration depend.
func versionsOf(m spec.Model, average objective.Average, how string, held bool) versions {
	v := versions{}
	v.of(m)
	v.of(average)
	v.named("preprocess", how, preprocess.Table)
	if s := m.Tune.Strategy; s != nil {
		v.named("objective", m.Tune.Criterion, objective.Criteria)
		v.named("optimizer", s.Optimizer(), objective.Optimizers)
		if c := m.Tune.Cross; c != nil {
			v.score(c.Score.Name)
		}
		if held && (s.Optimizer() == "" || m.Tune.Ascent().TraceScores) { // every point has all scores on record
			for _, score := range cv.Scores {
				v.score(score.Name)
			}
		}
	}
	if m.Tuning != nil {
		v.put("inference", "for predictions", 2) // the tolerance of EP
	}
	if sharedVersion > 1 {
		v.put("shared", "code", sharedVersion)
	}
	if len(v) == 0 {
		return nil
	}
	return v
}

func (v versions) put(kind, name string, version int) {
	if version > 0 {
		v[kind+" "+name] = version
	}
}

// named adds a component by its name.
func (v versions) named(kind, name string, table interface{ VersionOf(name string) int }) {
	v.put(kind, name, table.VersionOf(name))
}

func (v versions) score(name string) {
	if s, err := cv.ScoreNamed(name); err == nil {
		v.put("score", name, s.KeyVersion())
	}
}

// of adds all components contained in a value, at any depth.
func (v versions) of(value any) {
	raised := map[any]func(){}
	for kind, table := range map[string]interface {
		Raised(put func(name string, version int, origin any))
	}{
		"kernel": kernel.Table, "mean": objective.Means, "likelihood": likelihood.Table, "inference": approx.Table,
		"comparator": comparator.Table,
		"prior":      param.Priors, "average": objective.Averages, "method": search.Table, "splitter": split.Table,
	} {
		table.Raised(func(name string, version int, origin any) {
			if _, is := origin.(reflect.Type); !is {
				origin = reflect.ValueOf(origin).Pointer()
			}
			raised[origin] = func() { v.put(kind, name, version) }
		})
	}
	if len(raised) > 0 {
		walk(reflect.ValueOf(value), func(origin any) {
			if put := raised[origin]; put != nil {
				put()
			}
		})
	}
}

// walk visits the types of a value and of everything in it, and where pointers point to.
func walk(v reflect.Value, visit func(origin any)) {
	if !v.IsValid() {
		return
	}
	visit(v.Type())
	switch v.Kind() {
	case reflect.Pointer:
		visit(v.Pointer())
		fallthrough
	case reflect.Interface:
		walk(v.Elem(), visit)
	case reflect.Struct:
		for i := range v.NumField() {
			walk(v.Field(i), visit)
		}
	case reflect.Slice, reflect.Array:
		for i := range v.Len() {
			walk(v.Index(i), visit)
		}
	case reflect.Map:
		for _, key := range v.MapKeys() {
			walk(v.MapIndex(key), visit)
		}
	}
}

// studyKey identifies a study by everything that determines its results.
func studyKey(t *job.Set, identity []byte) string {
	return hashed(identity, mustMarshal([]any{t.Evaluation, t.Seed, t.Train, t.Test}))
}

// tuningKey identifies the computation of trials, across studies: the model that is tuned and the
// training set. The model that predicts and the held-out cases are not included. It is "" if trials
// have scores of held-out cases. It is used within one run and is not stored.
func tuningKey(t *job.Set, c record.Configuration, specs []param.Spec, tune spec.Tune) string {
	if tune.Strategy == nil {
		return ""
	}
	_, samples := tune.Strategy.(search.Sampler)
	if (tune.Strategy.Optimizer() == "" && !samples || tune.Ascent().TraceScores) && t.Held() > 0 {
		return ""
	}
	of := configurationKey(c)
	if !of.TuneInference.IsZero() {
		of.Inference = of.TuneInference
	}
	of.TuneInference, of.StartInference, of.StartCases = record.Component{}, record.Component{}, 0
	of.Versions = nil
	tune.StandardErrors = false
	identity := []any{of, hyperparameterKeys(specs), tuneIdentity(tune), t.Train}
	if samples || tune.Cross != nil { // seeds of chains and of folds
		identity = append(identity, t.Seed)
	}
	return hashed(mustMarshal(identity))
}

// fittingKey identifies the computation of assessments on a part of the training data, across
// evaluations. It is "" if they depend on the seed of the study. It is used within one run and is
// not stored.
func fittingKey(t *job.Set, identity []byte, tune spec.Tune) string {
	if _, samples := tune.Strategy.(search.Sampler); samples {
		return ""
	}
	return hashed(identity, mustMarshal([][]int{t.Train, t.Test}))
}

// tuneIdentity returns the settings of the section that can change the result of a given trial, or
// of a fit at given hyperparameters. The number of trials and their locations are not included, so
// an experiment with more trials keeps the existing ones.
func tuneIdentity(t spec.Tune) any {
	var length [3]int
	if s, ok := t.Strategy.(search.Sampler); ok {
		length[0], length[1], length[2] = s.Length()
	}
	parts := []any{t.Method, t.Objective, t.StandardErrors, length}
	if t.Climbs() && t.Strategy.Optimizer() != t.Method {
		parts = append(parts, t.Strategy.Optimizer())
	}
	of := t.Ascent()
	if of.Gradient != objective.Exact {
		parts = append(parts, of.Gradient)
	}
	if of.Evaluations > 0 {
		parts = append(parts, "evaluations", of.Evaluations)
	}
	if of.TraceScores {
		parts = append(parts, "trace_scores")
	}
	if of := search.FidelityOf(t.Strategy).Of; slices.Contains(search.Shares, of) {
		parts = append(parts, of)
	}
	return parts
}
