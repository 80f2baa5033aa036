package tables

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
	"github.com/gpc-tune/gpc-tune/internal/cause"
)

// Options has the options for reading the columns and the rows of a file.
type Options struct {
	Decimal    string   // notation of numbers in texts, as in cells.ParseNumber
	Delimiter  string   // delimiter of the training file; empty: unknown
	Names      []string // known column names: one in the first line makes it a header
	Words      bool     // a first line that looks like names above columns of texts is a header
	Predicting bool     // cases to predict: missing words are missing numbers, nested JSON values are texts
	Unparsed   bool     // values of svmlight features that are no numbers are fields, not faults
	Layout     *Layout  // layout of earlier parts of the file; nil: this is the whole file or its first part

	missingTexts   []string  // further texts for a missing value
	missingNumbers []float64 // the numbers among them, which count in any spelling
}

// SetMissing sets further texts that mean a missing value. A number among them also means it in
// other spellings.
func (o *Options) SetMissing(texts []string) {
	o.missingTexts, o.missingNumbers = texts, nil
	for _, text := range texts {
		if v := o.parse(Field{Text: text}); !math.IsNaN(v) {
			o.missingNumbers = append(o.missingNumbers, v)
		}
	}
}

// Missing reports whether a field stands for a missing value.
func (o *Options) Missing(f Field) bool {
	return o.missingText(f) || o.missingNumbers != nil && slices.Contains(o.missingNumbers, o.parse(f))
}

// Number returns the number of a field, or NaN, and reports whether the number is missing.
func (o *Options) Number(f Field) (v float64, missing bool) {
	if o.missingText(f) {
		return math.NaN(), true
	}
	v = o.parse(f)
	refused := o.Predicting && math.IsNaN(v) && cells.IsMissingWord(f.Text)
	return v, refused || slices.Contains(o.missingNumbers, v)
}

// missingText reports whether the text of a field means a missing value. A known number may have no
// text.
func (o *Options) missingText(f Field) bool {
	known := f.Typed && !math.IsNaN(f.Number)
	return !known && cells.Missing(f.Text) || slices.Contains(o.missingTexts, f.Text)
}

// parse returns the number of a field, or NaN.
func (o *Options) parse(f Field) float64 {
	if f.Typed {
		return f.Number
	}
	if v, ok := cells.ParseNumber(f.Text, o.Decimal); ok {
		return v
	}
	return math.NaN()
}

// isNumber reports whether a text is a number that is not missing.
func (o *Options) isNumber(text string) bool {
	v, missing := o.Number(Field{Text: text})
	return !missing && !math.IsNaN(v)
}

// Field is the content of one field of a row.
type Field struct {
	Text   string  // may be empty if Number is known
	Typed  bool    // Number is known, and not to be read from the text
	Number float64 // NaN: the text is not a number
	Own    bool    // the text is no substring of a line; other cells may share it
}

// textCell returns the field of a text, like a field of CSV.
func textCell(text string) Field { return Field{Text: strings.TrimSpace(text), Own: true} }

// numberCell returns the field of a number, to which no notation of a file applies. Its text has
// the fewest digits that identify v among floating-point numbers with this number of bits. Its
// value is the value of the text. NaN is a missing value.
func numberCell(v float64, bits int) Field {
	if math.IsNaN(v) {
		return Field{}
	}
	form := byte('f')
	if size := math.Abs(v); size != 0 && !(size >= 1e-5 && size < 1e21) {
		form = 'e'
	}
	text := strconv.FormatFloat(v, form, -1, bits)
	if bits < 64 {
		v, _ = strconv.ParseFloat(text, 64)
	}
	return typedCell(text, v)
}

// wholeCell returns the field of a whole number.
func wholeCell(v int64) Field { return typedCell(strconv.FormatInt(v, 10), float64(v)) }

// typedCell returns the field of a number with its text. A number beyond the limits is not a
// number, as in a text.
func typedCell(text string, v float64) Field {
	if !(math.Abs(v) <= cells.MaxMagnitude) {
		v = math.NaN()
	}
	return Field{Text: text, Typed: true, Number: v}
}

// timeCell returns the field of a time as databases write it: 2006-01-02 15:04:05, with a fraction
// if it has one.
func timeCell(at time.Time) Field {
	return Field{Text: at.UTC().Format("2006-01-02 15:04:05.999999999")}
}

// Rows are the rows of a file, read one after another.
type Rows interface {
	// Next goes to the next row that has a cell in every column; others are faults. line is the
	// row's line, or its number from 1 in a file without lines.
	Next() (line int, ok bool)
	// Cell is the content of a column, counted from 0.
	Cell(column int) Field
	// At is the begin of the cell in its line, or its column, from 1; 0: unknown.
	At(column int) int
}

// Layout is the layout of a file, as its first lines show it. If a file is read in parts, the
// layout of the first part is used for the later ones.
type Layout struct {
	Form      string // for people: "CSV, comma, header"
	Sparse    bool   // svmlight: columns of numbers without names, then label and perhaps qid
	Header    bool   // the file has column names
	Names     []string
	Label     int    // the column of the label, unless specified otherwise
	Delimiter rune   // delimiter of columns; a blank stands for any sequence of blanks; 0: none
	Encoding  string // encoding that was guessed; empty: none was

	reader   *reader
	trailing int  // see records
	single   bool // see records
}

// Table is a file that is being read.
type Table struct {
	Layout
	Rows     Rows // nil: a fault of the file as a whole
	Most     int  // upper bound of the number of rows
	Warnings []cause.Notice
	Faults   *FileError

	source  Source
	later   bool // a later part of a file
	renamed int  // number of columns that are renamed without a separate warning
}

// reader reads one file format: a text that it recognises, or a binary format, by its first bytes.
type reader struct {
	magic  string
	is     func(text string) bool
	lines  bool // lines of a file give the same rows when they are read separately
	sparse bool // svmlight
	// open sets the layout of the table, and returns its rows, and an upper bound of their number.
	// It returns nil after a fault of the file as a whole.
	open func(t *Table, src Source, want *Options) (rows Rows, n int)
}

// Fits refuses a file that is too large for a dense matrix.
func (e *FileError) Fits(rows, columns int) bool {
	if columns > MaxColumns || rows > MaxCells/max(1, columns) {
		e.Add(0, 0, "%s of %s are more than can be held (%d columns, %d values); take a part of the "+
			"file", cells.Several(rows, "row"), cells.Several(columns, "column"), MaxColumns, MaxCells)
		return false
	}
	return true
}

// filled refuses a file that would need much memory for few values.
func (e *FileError) filled(rows, columns, values int) bool {
	if rows <= max(sparseFree, maxEmpty*values)/max(1, columns) {
		return true
	}
	e.Add(0, 0, "%s of %s have only %s; a table has a value in one of %d places or more; leave out the columns "+
		"that have few", cells.Several(rows, "row"), cells.Several(columns, "column"), cells.Several(values, "value"),
		maxEmpty)
	return false
}
