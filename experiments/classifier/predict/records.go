package predict

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/registry"
)

// Columns are the columns of a record: the inputs, and the ids, which may be absent.
func (c *Classifier) Columns() (inputs, ids []data.Column) {
	return c.file.Columns.Inputs, c.file.Columns.ID
}

// Classes are the classes of the model; none if it predicts numbers.
func (c *Classifier) Classes() []string { return c.fitted.Data.Classes }

// ReadRecords reads {"rows": [{column: value, …}, …]}, UTF-8 with nothing after it, and at most
// this many rows, in a time that is linear in the length of the text. A value is a number, a text,
// a boolean, or null for a missing value, as in data.Rows.Add. The label may be among the columns,
// and is not used. Values that the model cannot take are spec.ErrInvalid. Other errors are errors
// of the JSON. Rows count from 0.
func (c *Classifier) ReadRecords(text []byte, most int) (*data.Rows, error) {
	rows, err := c.file.Columns.Rows()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", spec.ErrInvalid, err)
	}
	if !utf8.Valid(text) {
		return nil, errors.New("invalid UTF-8")
	}
	// A json.Decoder looks at blanks again after each read, so its reads have to be long.
	d := &records{Decoder: json.NewDecoder(bytes.NewReader(text)), rows: rows}
	d.UseNumber()
	if err := d.all(c.file.Columns, most); err != nil {
		return nil, err
	}
	switch _, err := d.Token(); {
	case err == nil:
		return nil, errors.New("there is more after the first JSON value")
	case !errors.Is(err, io.EOF):
		return nil, fmt.Errorf("after the first JSON value: %w", err)
	}
	return rows, nil
}

// records decodes JSON row by row, so that only the columns of the model are kept.
type records struct {
	*json.Decoder
	rows *data.Rows
}

// all decodes the whole value.
func (d *records) all(schema *data.Schema, most int) error {
	begun := false
	if err := d.open('{'); err != nil {
		return err
	}
	for d.More() {
		switch key, err := d.next(); {
		case err != nil:
			return err
		case key != "rows":
			return fmt.Errorf("unknown field %q", key)
		case begun:
			return errors.New(`"rows" is there twice`)
		}
		begun = true
		if err := d.array(schema, most); err != nil {
			return err
		}
	}
	if _, err := d.next(); err != nil {
		return err
	}
	if d.rows.Len() == 0 {
		return fmt.Errorf("0 rows; ask for 1 to %d at a time", most)
	}
	return nil
}

// array decodes the rows.
func (d *records) array(schema *data.Schema, most int) error {
	names := d.rows.Columns()
	places, optional := map[string]int{}, len(schema.Inputs) // the ids, and the label after them
	for j, name := range names {
		places[name] = j
	}
	places[schema.Label.Name] = len(names)
	values, given := make([]any, len(names)+1), make([]bool, len(names)+1)
	if err := d.open('['); err != nil {
		return err
	}
	for d.More() {
		i := d.rows.Len()
		if i == most {
			return fmt.Errorf("more than %d rows; ask for 1 to %d at a time", most, most)
		}
		clear(values)
		clear(given)
		err := d.row(names, places, values, given)
		for j, is := range given[:optional] {
			if !is && err == nil {
				err = invalid{fmt.Errorf("there is no %q; give it, or null where it is missing", names[j])}
			}
		}
		if err == nil {
			if wrong := d.rows.Add(values[:len(names)]); wrong != nil {
				err = invalid{wrong}
			}
		}
		if value := (invalid{}); errors.As(err, &value) {
			return fmt.Errorf("%w: row %d: %w", spec.ErrInvalid, i, err)
		} else if err != nil {
			return fmt.Errorf("row %d: %w", i, err)
		}
	}
	_, err := d.next()
	return err
}

// row decodes the values of one row.
func (d *records) row(names []string, places map[string]int, values []any, given []bool) error {
	if err := d.open('{'); err != nil {
		return err
	}
	for d.More() {
		key, err := d.next()
		if err != nil {
			return err
		}
		name, _ := key.(string) // no other token is here
		j, known := places[name]
		switch {
		case !known:
			return invalid{fmt.Errorf("unknown column %q%s", name, registry.Suggest(name, names))}
		case given[j]:
			return fmt.Errorf("%q is there twice", name)
		}
		given[j] = true
		if values[j], err = d.next(); err != nil {
			return err
		}
		if _, nested := values[j].(json.Delim); nested {
			return invalid{fmt.Errorf("%q must be a number, a text, true, false or null", name)}
		}
	}
	_, err := d.next()
	return err
}

// open reads the beginning of an object or an array.
func (d *records) open(bracket json.Delim) error {
	token, err := d.next()
	if err == nil && token != bracket {
		err = fmt.Errorf("want %v at byte %d", bracket, d.InputOffset())
	}
	return err
}

// next is the next token; that there is none is an error.
func (d *records) next() (json.Token, error) {
	token, err := d.Token()
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF
	}
	return token, err
}

// invalid is the error for a value that the model cannot take.
type invalid struct{ error }

// Records predicts cases that ReadRecords has read, like Predict for a file with them. Decisions
// use the threshold and costs of Deciding, or else of the model file.
func (c *Classifier) Records(rows *data.Rows) (*Predicted, error) {
	ds, err := rows.Data()
	if err != nil {
		return nil, fmt.Errorf("%w: %w", spec.ErrInvalid, err)
	}
	s := stream{Classifier: c, name: "rows"}
	t, err := s.predict(ds)
	if err != nil {
		return nil, err
	}
	return s.end(t)
}
