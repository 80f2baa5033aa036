package spec

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/internal/pattern"
	"github.com/gpc-tune/gpc-tune/internal/registry"
	"github.com/gpc-tune/gpc-tune/internal/strictyaml"
)

// placeholder matches {NAME}, which stands for the value of a hyperparameter, and {{NAME}}, which
// stands for the text {NAME}.
var placeholder = pattern.Of(`\{\{([A-Za-z][A-Za-z0-9_.]*)\}\}|\{([A-Za-z][A-Za-z0-9_.]*)\}`)

// nearly matches texts that look like a placeholder and are none, such as { rate } and {rate:.3f}.
var nearly = pattern.Of(`\{\s*([A-Za-z][A-Za-z0-9_.]*)\s*([:!][^{}]*)?\}`)

// fill replaces the placeholders of an argument by the texts of the values.
func fill(arg string, text func(name string) string) string {
	return placeholder().ReplaceAllStringFunc(arg, func(found string) string {
		if name, literal := strings.CutPrefix(found, "{{"); literal {
			return "{" + strings.TrimSuffix(name, "}")
		}
		return text(found[1 : len(found)-1])
	})
}

// checkPlaceholders reports placeholders of a command that name no hyperparameter, and texts that
// are nearly placeholders. A $ before the brace makes it a variable of a shell.
func (d *decoder) checkPlaceholders(command *strictyaml.Node, names []string) {
	if command == nil {
		return
	}
	for _, n := range append(slices.Clone(command.Content), command) {
		if n.Kind != strictyaml.ScalarNode {
			continue
		}
		whole := placeholder().FindAllStringSubmatchIndex(n.Value, -1)
		for _, at := range whole {
			if at[4] < 0 || at[0] > 0 && n.Value[at[0]-1] == '$' {
				continue
			}
			if name := n.Value[at[4]:at[5]]; !slices.Contains(names, name) {
				d.At(n, "{%s} is no hyperparameter%s; the text itself is {{%s}}", name,
					registry.Suggest(name, names), name)
			}
		}
		for _, at := range nearly().FindAllStringSubmatchIndex(n.Value, -1) {
			name := n.Value[at[2]:at[3]]
			exact := slices.ContainsFunc(whole, func(w []int) bool { return w[0] <= at[0] && at[1] <= w[1] })
			if !exact && slices.Contains(names, name) {
				d.At(n, "%s is not replaced by a value; write {%s}", n.Value[at[0]:at[1]], name)
			}
		}
	}
}

// words splits a command that is written as a text into its arguments: at blanks, except within
// quotes or behind a backslash. What only a shell would understand is an error.
func words(text string) (args []string, err error) {
	var word strings.Builder
	inside, quote := false, rune(0) // inside a word; the open quote, or 0
	runes := []rune(strings.TrimSpace(text))
	for i := 0; i < len(runes); i++ {
		r := runes[i]
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == '\'':
			word.WriteRune(r)
		case r == '\\' && i+1 < len(runes) && (quote == 0 || strings.ContainsRune(`"\$`+"`", runes[i+1])):
			i++
			word.WriteRune(runes[i])
			inside = true
		case quote == '"' && (r == '$' || r == '`') || quote == 0 && strings.ContainsRune("|&;<>()$`*?[]~#\n", r) &&
			!(strings.ContainsRune("~#", r) && inside):
			return nil, fmt.Errorf("%q is for a shell, which the command does not have; write it in quotes, or "+
				"command: [sh, -c, …] with the whole text", r)
		case quote == 0 && (r == '\'' || r == '"'):
			quote, inside = r, true
		case quote == 0 && (r == ' ' || r == '\t'):
			if inside {
				args = append(args, word.String())
			}
			word.Reset()
			inside = false
		default:
			word.WriteRune(r)
			inside = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("the quote %c has no end", quote)
	}
	if inside {
		args = append(args, word.String())
	}
	return args, nil
}
