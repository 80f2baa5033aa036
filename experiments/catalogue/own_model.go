package catalogue

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/internal/pattern"
	"github.com/gpc-tune/gpc-tune/objective/comparator"
)

// flowText matches a JSON string whose text is a YAML mapping or list, such as "{se: {ard: true}}".
var flowText = pattern.Of(`"[\[{](?:[^"\\]|\\.)*"`)

// Complete sets Study and More. classes is the number of classes of the table. rows is its number
// of cases if models are compared by default: by cross-validation with ten folds, or fewer for
// fewer cases, or with five folds of groups. rows is 0 if a study without evaluate has none.
func (s *TableStudy) Complete(classes, rows int) (err error) {
	if s.More, err = written(map[string]any{"data": s.Rest}, s.Sections); err != nil {
		return err
	}
	model, tune := completed(s.Model, classes)
	sections := map[string]any{"tune": tune}
	switch {
	case s.Data["group"] != nil && rows > 0:
		sections["evaluate"] = map[string]any{"group_kfold": map[string]any{"k": 5, "stratified": true}}
	case rows > 0:
		sections["evaluate"] = map[string]any{"kfold": map[string]any{"k": min(10, rows)}}
	}
	for key, value := range s.Sections {
		if value != nil {
			sections[key] = value
		}
	}
	folds, _ := sections["evaluate"].(map[string]any)
	if sections["predict"] == nil && (folds["kfold"] != nil || folds["group_kfold"] != nil) {
		sections["predict"] = map[string]any{"sets": map[string]any{"coverage": 0.9}}
	}
	sections["model"] = model
	s.Study, err = written(map[string]any{"data": s.Data}, sections)
	return err
}

// completed adds the defaults of a model, and returns how it is tuned by default: by BFGS on the
// log evidence of Laplace's method if expectation propagation or sampling predicts, of expectation
// propagation if sampling predicts and the likelihood has no derivatives, and else of the method
// itself; with priors in every kernel on the log posterior.
func completed(model map[string]any, classes int) (full, tune map[string]any) {
	full = map[string]any{"kernel": "se", "likelihood": "probit", "inference": "ep"}
	if how := model["classes"]; classes > 2 && (how == nil || how == "joint") {
		full["likelihood"] = "softmax"
	}
	maps.Copy(full, model)
	others := append(comparator.Table.Names(), "laplace")
	methods := slices.DeleteFunc(partNames(full["inference"]), func(name string) bool {
		return slices.Contains(others, name)
	})
	only := func(method string) bool {
		return len(methods) > 0 && !slices.ContainsFunc(methods, func(m string) bool { return m != method })
	}
	smooth := !slices.ContainsFunc(partNames(full["likelihood"]), func(name string) bool {
		return !slices.Contains([]string{"probit", "logit", "softmax", "ordinal"}, name)
	})
	tune = map[string]any{"method": "bfgs"}
	switch {
	case smooth && (only("ep") || only("sampling")):
		tune["inference"] = "laplace"
	case only("sampling"):
		tune["inference"] = "ep"
	}
	if !slices.ContainsFunc(listed(full["kernel"]), func(k any) bool {
		return !strings.Contains(fmt.Sprint(k), "prior")
	}) {
		tune["objective"] = "log_posterior"
	}
	return full, tune
}

// listed is a list, or a list of one value.
func listed(value any) []any {
	if list, is := value.([]any); is {
		return list
	}
	return []any{value}
}

// partNames lists the names of a part of models, which may have options or be texts of YAML.
func partNames(part any) (names []string) {
	for _, one := range listed(part) {
		if of, is := one.(map[string]any); is {
			names = append(names, slices.Sorted(maps.Keys(of))...)
			continue
		}
		name, _, _ := strings.Cut(strings.Trim(fmt.Sprint(one), "{ "), ":")
		names = append(names, name)
	}
	return names
}

// written is a study of both mappings as JSON. In sections a text that is a mapping or list of YAML
// stands as it is.
func written(data, sections map[string]any) (string, error) {
	var parts [2]string
	for i, part := range []map[string]any{data, sections} {
		var text bytes.Buffer
		to := json.NewEncoder(&text)
		to.SetEscapeHTML(false)
		to.SetIndent("", " ")
		if err := to.Encode(part); err != nil {
			return "", err
		}
		parts[i] = strings.TrimSpace(text.String())
	}
	own := flowText().ReplaceAllStringFunc(parts[1], func(quoted string) (text string) {
		if json.Unmarshal([]byte(quoted), &text) != nil {
			return quoted
		}
		return text
	})
	if len(sections) == 0 {
		return parts[0], nil
	}
	return strings.TrimSuffix(parts[0], "\n}") + "," + strings.TrimPrefix(own, "{"), nil
}
