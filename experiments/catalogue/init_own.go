package catalogue

import (
	"fmt"
	"strings"

	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
)

// WithSections writes a study of Starter with sections of another text of YAML in place of its own.
// Keys of data that the text does not have stay. So do options of tune and predict, unless the
// method is another one. If the study has folds and the text no section predict, the study predicts
// sets of classes.
func WithSections(study, sections string) (string, error) {
	found := strictyaml.NewFindings("sections")
	root, own := strictyaml.Parse([]byte(study), found), strictyaml.Parse([]byte(sections), found)
	if err := found.Err(); err != nil {
		return "", fmt.Errorf("%w: %w", spec.ErrInvalid, err)
	}
	unquote(own)
	own.Content = append(own.Content, usualSets(root, own)...)
	for i := 0; i+1 < len(own.Content); i += 2 {
		key, value := own.Content[i], own.Content[i+1]
		old := strictyaml.Find(root, key.Value)
		switch key.Value {
		case "data", "tune", "predict":
			if old != nil && value.Kind == strictyaml.MappingNode && strictyaml.Find(value, "method") == nil {
				for j := 0; j+1 < len(value.Content); j += 2 {
					replace(old, value.Content[j], value.Content[j+1])
				}
				continue
			}
		}
		replace(root, key, value)
	}
	var text strings.Builder
	to := strictyaml.NewEncoder(&text)
	to.SetIndent(2)
	if err := to.Encode(root); err != nil {
		return "", err
	}
	return text.String(), to.Close()
}

// usualSets is the section predict of a study with folds and without own options of predictions.
func usualSets(study, own *strictyaml.Node) []*strictyaml.Node {
	evaluate := strictyaml.Find(own, "evaluate")
	if evaluate == nil {
		evaluate = strictyaml.Find(study, "evaluate")
	}
	name := evaluate.Value
	if len(evaluate.Content) > 0 {
		name = evaluate.Content[0].Value
	}
	if strictyaml.Find(own, "predict") != nil || name != "kfold" && name != "group_kfold" {
		return nil
	}
	return strictyaml.Parse([]byte("predict: {sets: {coverage: 0.9}}"), strictyaml.NewFindings("")).Content
}

// unquote lets the encoder decide which texts are in quotes.
func unquote(n *strictyaml.Node) {
	if n.Kind == strictyaml.ScalarNode {
		n.Style = 0
	}
	for _, child := range n.Content {
		unquote(child)
	}
}

// replace sets the value of a key of a mapping.
func replace(in, key, value *strictyaml.Node) {
	for i := 0; i+1 < len(in.Content); i += 2 {
		if in.Content[i].Value == key.Value {
			in.Content[i+1] = value
			return
		}
	}
	in.Content = append(in.Content, key, value)
}
