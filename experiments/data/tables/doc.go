// Package tables reads the tables in data files. A Source is the decompressed content of a file.
// Source.Read finds its columns and returns a Table; its rows are then read one after another. The
// package knows no roles of columns.
//
// # File formats
//
// The content determines the format, never the file name. Files may be compressed with gzip, bzip2
// or zstd. In a text, a byte-order mark, Windows line ends, blank lines and lines that start with #
// are ignored. A byte-order mark determines the encoding of the text (UTF-8 or UTF-16). Without it
// the encoding is the value of the key encoding, or else UTF-8.
//
// svmlight (LIBSVM): in the first line with more than one blank-separated field, the second field
// is index:value or qid:number, and no comma or semicolon precedes it. Each line is a label, an
// optional qid:number, and pairs with increasing indices from 1; text after # is a comment. The
// value of an absent index is 0. The inputs are named x1, x2, … and the other two columns label and
// qid; qid is never an input, and is the group if the specification says so. There are no missing
// values.
//
// Anything else is a table with delimited columns. The delimiter is tab, semicolon, comma, | or
// blanks: the one that occurs, outside quotes, in most of the first 10 lines (among equals the
// first in the list delimiters). Several blanks, or blanks mixed with tabs, are one delimiter.
// Blanks around a field are ignored. A field in double quotes may contain delimiters and line ends;
// a quote inside is doubled. A delimiter at the end of the first two lines (or only of the second,
// which is then one field longer than the header) does not begin a column.
//
// The first line is a header in two cases: some column is a number in the second line and neither a
// number nor a missing value in the first, or the first line contains a column name of the
// specification. A column without a name is called x and its number in the file: x1, x2, … A column
// can also be given by its number, from 1, unless another column has that name.
//
// The label is the last column by default. It is the first in the format of zip.train: blanks as
// delimiters, no header, and 257 columns. The first column has only the digits 0 to 9, and the last
// has other values.
//
// An xlsx sheet has a header if its first row has no number, or a text above a number; a cell is a
// date if its number format shows one. Parquet and JSON lines (or an array of objects) name their
// columns. The key decimal does not apply to numbers of these formats. Null and NaN are missing
// values. Truth values become the texts true and false, dates and times become texts (2006-01-02,
// 2006-01-02 15:04:05). Decimal numbers keep their zeros; others have the fewest digits that
// identify them.
//
// The files of a folder are the parts of one table, with the same columns, in the order of their
// names.
//
// A file of more than 2 GiB of text, 2^20 columns, or 2^27 values (cases × columns) is refused
// before memory is allocated for it.
package tables
