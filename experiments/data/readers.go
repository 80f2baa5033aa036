package data

import "github.com/gpc-tune/gpc-tune/experiments/data/tables"

// The types of package tables that other programs use.
type (
	FileError = tables.FileError // the problems of a file
	Fault     = tables.Fault     // one of them
	Cells     = tables.Cells     // a data file as texts
)

// RegisterReader adds a reader for another data format. is reports whether a text has that format;
// no other reader's function may accept it. read parses the text. Missing values, categories and
// classes are then handled as in any other format. Registered readers are tried before the readers
// of this module. They have no version, because the hash of the content identifies the data. Call
// it during initialisation: it is not safe for concurrent use, and panics if the name is taken.
func RegisterReader(name string, is func(text string) bool, read func(text string) (Cells, error)) {
	tables.Register(name, is, read)
}
