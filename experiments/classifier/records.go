package classifier

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/registry"
)

// Record is a case as a map from column names to values: numbers, texts, booleans, or null for a
// missing value.
type Record map[string]any

// Columns are the columns of a Record: the inputs, and the ids, which may be absent.
func (c *Classifier) Columns() (inputs, ids []data.Column) {
	return c.file.Columns.Inputs, c.file.Columns.ID
}

// Classes are the classes of the model; none if it predicts numbers.
func (c *Classifier) Classes() []string { return c.data.Classes }

// Records predicts records, like Predict for a file with them. Decisions use the threshold and
// costs of Deciding, or the threshold of the model file.
func (c *Classifier) Records(ctx context.Context, records []Record) (*Predicted, error) {
	text, err := c.table(records)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", spec.ErrInvalid, err)
	}
	s := stream{Classifier: c, name: "rows"}
	all := &Predicted{Schema: "gpc-tune/predictions/1", Rows: [][]any{}}
	err = c.file.Columns.Stream("-", strings.NewReader(text), streamed, func(ds *data.Data) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		t, err := s.predict(ds)
		if err == nil {
			all.Columns, all.Rows = t.Columns, append(all.Rows, t.Rows...)
		}
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", spec.ErrInvalid, err)
	}
	s.end(all)
	return all, nil
}

// table writes records as such a file, with every cell in quotes.
func (c *Classifier) table(records []Record) (string, error) {
	schema := c.file.Columns
	if schema.Sparse {
		return "", fmt.Errorf("the model was fitted to a svmlight file, whose columns have no names; use " +
			"gpc-tune predict")
	}
	columns := slices.Concat(schema.Inputs, schema.ID)
	slices.SortFunc(columns, func(a, b data.Column) int { return cmp.Compare(a.Index, b.Index) })
	var names []string
	optional := map[string]bool{}
	for _, column := range columns {
		names = append(names, column.Name)
	}
	for _, column := range schema.ID {
		optional[column.Name] = true
	}
	var text strings.Builder
	line := func(cell func(name string) string) {
		for i, name := range names {
			if i > 0 {
				text.WriteByte(',')
			}
			text.WriteString(`"` + strings.ReplaceAll(cell(name), `"`, `""`) + `"`)
		}
		text.WriteByte('\n')
	}
	if schema.Header {
		line(func(name string) string { return name })
	}
	for i, r := range records {
		for _, name := range slices.Sorted(maps.Keys(r)) {
			switch r[name].(type) {
			case nil, string, json.Number, bool:
			default:
				return "", fmt.Errorf("row %d: %q must be a number, a text, true, false or null", i, name)
			}
			if !slices.Contains(names, name) && name != schema.Label.Name {
				return "", fmt.Errorf("row %d: unknown column %q%s", i, name, registry.Suggest(name, names))
			}
		}
		for _, name := range names {
			if _, given := r[name]; !given && !optional[name] {
				return "", fmt.Errorf("row %d: there is no %q; give it, or null where it is missing", i, name)
			}
		}
		line(func(name string) string {
			if r[name] == nil {
				return ""
			}
			return fmt.Sprint(r[name])
		})
	}
	return text.String(), nil
}
