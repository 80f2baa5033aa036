package reports

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// Every cause of warnings matches a text in the current source, so that rewording a message does
// not silently lose its cause.
func TestWarningsOfTodayHaveTheirCauses(t *testing.T) {
	verb := regexp.MustCompile(`%[-+#.0-9]*[a-z]`)
	var texts []string
	err := filepath.WalkDir("..", func(path string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
			e.Name() == "cause.go" {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		ast.Inspect(f, func(n ast.Node) bool {
			e, ok := n.(ast.Expr)
			if !ok {
				return true
			}
			text, ok := joined(e)
			if ok {
				texts = append(texts, verb.ReplaceAllString(text, "1"))
			}
			return !ok
		})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	composed := map[string]bool{ // their words come from several places
		"approximations failed": true, "inputs have no influence": true, "hyperparameters ended at a bound": true,
		"the optimiser met points that could not be evaluated": true,
	}
	for _, k := range warningKinds {
		if composed[k.cause] {
			continue
		}
		pattern, found := regexp.MustCompile(k.pattern), false
		for _, text := range texts {
			found = found || pattern.MatchString(text)
		}
		if !found {
			t.Errorf("no text of the program matches %s, of the cause %q", k.pattern, k.cause)
		}
	}
}

// joined is the text of a string literal, or of several joined by +.
func joined(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		text, err := strconv.Unquote(e.Value)
		return text, err == nil && e.Kind == token.STRING
	case *ast.BinaryExpr:
		left, ok := joined(e.X)
		right, also := joined(e.Y)
		return left + right, ok && also && e.Op == token.ADD
	}
	return "", false
}
