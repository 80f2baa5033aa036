package catalogue

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
)

// clientTable is the file in which the package gpc_tune for Python writes its table.
const clientTable = "train.parquet"

// files are keys of data in whose place a client has a table; known are keys of columns.Given.
var files, known = []string{"dataset", "train", "test", "label"},
	[]string{"columns", "categories", "weights", "positive", "order", "group", "id", "drop"}

// parts are the keys of a model.
var parts = []string{"kernel", "mean", "likelihood", "inference", "classes"}

// TableStudy is a study of a client for its table.
type TableStudy struct {
	Text  string         `json:"text"`  // the study with the section Data in place of its own
	Data  map[string]any `json:"data"`  // section data: keys of the table and of the study, which win
	Given map[string]any `json:"given"` // what init takes of Data, with inputs that the study names
	Rest  map[string]any `json:"rest"`  // other keys of the study, which replace those of init

	// Model has the parts of models that a mapping of Python has. They are below model or without
	// it, such as kernel, or kernels. Sections has its other sections, without data.
	Model    map[string]any `json:"model"`
	Sections map[string]any `json:"sections"`

	Study string `json:"study"` // the whole study, with default values
	More  string `json:"more"`  // Rest and Sections for init
}

// ForTable makes a study of a client run on its table. table is the section data that describes the
// table, and columns has the names of its columns without the label. Keys of the study win. Files
// and the label are keys of the table alone. By default inputs are standardized. A number of a
// column, from 1, becomes its name. A list of inputs drops the other columns, so that the meanings
// in table stay. file names the study in errors. A study that is made already stays as it is.
func ForTable(study []byte, file string, table map[string]any, columns []string) (out TableStudy, err error) {
	found := strictyaml.NewFindings(file)
	root := strictyaml.Parse(study, found)
	if err := found.Err(); err != nil {
		return out, fmt.Errorf("%w: %w", spec.ErrInvalid, err)
	}
	if root == nil || root.Kind != strictyaml.MappingNode {
		return out, fmt.Errorf("%w: %s is no mapping, expected a study", spec.ErrInvalid, file)
	}
	whole := plainValue(root).(map[string]any)
	for _, key := range []string{"data", "model"} {
		if _, is := whole[key].(map[string]any); !is && whole[key] != nil {
			return out, fmt.Errorf("%w: %s is %v, expected a mapping (key: value)", spec.ErrInvalid, key, whole[key])
		}
	}
	own := map[string]any{}
	if of, is := whole["data"].(map[string]any); is {
		own = of
	}
	if how := whole["preprocess"]; how != nil {
		own["preprocess"] = how
	}
	out.Text, out.Data = string(study), own
	out.split(whole)
	if own["train"] == clientTable {
		return out, nil
	}
	out.Data, out.Rest = map[string]any{"preprocess": "standardize"}, map[string]any{}
	maps.Copy(out.Data, table)
	if err := out.merge(own, table, columns); err != nil {
		return out, fmt.Errorf("%w: %w", spec.ErrInvalid, err)
	}
	section, err := json.Marshal(out.Data)
	if err != nil {
		return out, err
	}
	if root.Style&strictyaml.FlowStyle == 0 {
		out.Text = replaceSection(string(study), root, "data: "+string(section))
		return out, nil
	}
	value := strictyaml.Parse(section, found)
	replace(root, &strictyaml.Node{Kind: strictyaml.ScalarNode, Value: "data"}, value)
	text, err := strictyaml.Marshal(root)
	out.Text = string(text)
	return out, err
}

// split finds the models and the sections of a mapping.
func (s *TableStudy) split(study map[string]any) {
	s.Model, s.Sections = map[string]any{}, map[string]any{}
	model, _ := study["model"].(map[string]any)
	maps.Copy(s.Model, model)
	for key, value := range study {
		part := key
		if one, plural := strings.CutSuffix(key, "s"); plural && slices.Contains(parts, one) {
			part = one
		}
		switch {
		case slices.Contains(parts, part):
			s.Model[part] = value
		case key != "data" && key != "model" && key != "preprocess":
			s.Sections[key] = value
		}
	}
}

// merge sets the keys of a study.
func (s *TableStudy) merge(own, table map[string]any, columns []string) error {
	named := func(key string) []string { return namesOf(own[key], columns) }
	if err := contradicts(own, table, columns); err != nil {
		return err
	}
	for key, value := range own {
		if slices.Contains(files, key) {
			continue
		}
		if s.Data[key] = value; !slices.Contains(known, key) {
			s.Rest[key] = value
		}
	}
	if own["order"] != nil {
		delete(s.Data, "positive")
	}
	meanings, _ := own["columns"].(map[string]any)
	inputs := named("columns")
	drop, categories := named("drop"), named("categories")
	roles := slices.Concat(named("group"), named("weights"), named("id"), drop)
	if meanings == nil && inputs != nil {
		others, err := without(columns, inputs, roles)
		if err != nil {
			return err
		}
		drop, roles = append(drop, others...), append(roles, others...)
	}
	of := map[string]any{}
	for name, meaning := range meanings {
		of[namesOf(name, columns)[0]] = meaning
	}
	described, _ := table["columns"].(map[string]any)
	for name, meaning := range described {
		if of[name] == nil && !slices.Contains(roles, name) && !slices.Contains(categories, name) {
			of[name] = meaning
		}
	}
	s.Given = map[string]any{"inputs": append(inputs, categories...)}
	for _, name := range namesOf(table["categories"], columns) {
		if meanings[name] == nil && !slices.Contains(roles, name) && !slices.Contains(categories, name) {
			categories = append(categories, name)
		}
	}
	if s.Data["columns"] = of; len(of) == 0 {
		delete(s.Data, "columns")
	}
	for key, names := range map[string][]string{"drop": drop, "categories": categories, "id": named("id")} {
		if s.Data[key] = names; len(names) == 0 {
			delete(s.Data, key)
		}
	}
	for _, key := range []string{"group", "weights"} {
		if names := named(key); len(names) == 1 {
			s.Data[key] = names[0]
		}
	}
	for _, key := range known {
		if value := s.Data[key]; value != nil {
			s.Given[key] = value
		}
	}
	return nil
}

// contradicts returns an error if a study says what the table of fit says already.
func contradicts(own, table map[string]any, columns []string) error {
	if label, _ := own["label"].(string); slices.Contains(columns, label) {
		return fmt.Errorf("data: {label: %s} is a column of X, and the labels are y: leave one of them out", label)
	}
	if own["test"] != nil {
		return errors.New("data: {test: ...} has no use where fit has one table: leave it out, and score other cases")
	}
	if own["weights"] != nil && table["weights"] != nil {
		return fmt.Errorf("sample_weight and data: {weights: ...} are both given: leave one of them out")
	}
	return nil
}

// without lists the columns that are neither inputs nor have another role. It returns an error if
// an input is no column.
func without(columns, inputs, roles []string) (others []string, err error) {
	for _, name := range inputs {
		if !slices.Contains(columns, name) {
			return nil, fmt.Errorf("no column %q%s", name, registry.Suggest(name, columns))
		}
	}
	for _, name := range columns {
		if !slices.Contains(inputs, name) && !slices.Contains(roles, name) {
			others = append(others, name)
		}
	}
	return others, nil
}

// namesOf lists the names of columns in a value: a name, a number of a column, a list of them, or a
// mapping by name.
func namesOf(value any, columns []string) (names []string) {
	switch value := value.(type) {
	case nil:
	case []any:
		for _, v := range value {
			names = append(names, namesOf(v, columns)...)
		}
	case map[string]any:
		for _, name := range slices.Sorted(maps.Keys(value)) {
			names = append(names, namesOf(name, columns)...)
		}
	default:
		name := strings.TrimSpace(fmt.Sprint(value))
		if k, err := strconv.Atoi(name); err == nil && k >= 1 && k <= len(columns) && !slices.Contains(columns, name) {
			name = columns[k-1]
		}
		names = append(names, name)
	}
	return names
}

// replaceSection puts a line in place of the section data of a text in block style. Other lines
// keep their numbers.
func replaceSection(text string, root *strictyaml.Node, line string) string {
	lines := strings.Split(strings.TrimRight(text, "\n"), "\n")
	for i := 0; i+1 < len(root.Content); i += 2 {
		if root.Content[i].Value != "data" {
			continue
		}
		first, end := root.Content[i].Line-1, len(lines)
		if i+2 < len(root.Content) {
			end = root.Content[i+2].Line - 1
		}
		for j := first; j < end; j++ {
			lines[j] = ""
		}
		lines[first], line = line, ""
	}
	return strings.TrimRight(strings.Join(append(lines, line), "\n"), "\n") + "\n"
}

// plainValue converts a node to a value for JSON. A date is text.
func plainValue(n *strictyaml.Node) (value any) {
	switch {
	case n == nil:
	case n.Kind == strictyaml.MappingNode:
		of := map[string]any{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			of[n.Content[i].Value] = plainValue(n.Content[i+1])
		}
		value = of
	case n.Kind == strictyaml.SequenceNode:
		of := []any{}
		for _, item := range n.Content {
			of = append(of, plainValue(item))
		}
		value = of
	case n.Decode(&value) != nil || n.Tag == "!!timestamp":
		value = n.Value
	}
	return value
}
