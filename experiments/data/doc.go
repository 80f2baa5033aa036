// Package data is where data sets come from: the bundled sets (Table) and the readers for a user's
// files (Load). It hands out a matrix of inputs and class indices; it knows no model, prints
// nothing and never guesses past a fault: whatever is wrong with a file is an error with the place,
// what was expected and the way out, up to 20 of them at once and then a count.
//
// # Which form a file has
//
// The content decides, never the name. Files may be compressed with gzip or bzip2. A byte-order
// mark, Windows line ends and blank lines do not count, nor do lines that start with #. Text is
// what its byte-order mark says (UTF-8, UTF-16), else what the key encoding says, else UTF-8.
//
// svmlight (LIBSVM): the first line of more than one field, between blanks, has in second place
// index:value or qid:number, and there is no comma or semicolon up to there. Each line is a label,
// an optional qid:number, and pairs with indices from 1 that increase; the rest after # is a
// comment. An index that is left out is 0. The inputs are named x1, x2, … and the other two columns
// label and qid; qid is an input never, a group if the specification says so. There are no missing
// values.
//
// Anything else is a table of columns between delimiters: tab, semicolon, comma or blanks,
// whichever occurs, outside quotes, in most of the first 10 lines (the earlier in this list if
// equally many). Several blanks, or blanks mixed with tabs, are one delimiter. Blanks around a
// field do not count. A field in double quotes may hold delimiters and line ends; a quote inside is
// doubled. A delimiter that ends the first two lines (or only the second, which is then one field
// longer than the header) is no column.
//
// The first line is a header if some column is a number in the second line and neither a number nor
// a missing value in the first, or if the specification names a column that stands in it. A column
// without a name is called x and its number in the file: x1, x2, … Wherever a column is named, its
// number, from 1, will do unless another column has that name.
//
// The label is the last column, unless the specification says otherwise or the file has the form of
// zip.train: blanks as delimiters, no header, 257 columns, in the first nothing but the digits 0 to
// 9, and something else in the last. Then it is the first.
//
// # Values
//
// Inputs are decimal numbers of magnitude up to 1e100 (their squares must not overflow), with a
// percent sign or without; decimals after a comma and signs between thousands are read where the
// key decimal says so (ParseNumber). Missing are the empty field, ? and, in any case of letters, NA
// and NaN, and the texts under missing_values. Labels are text, but a label that
// is a number means the number: 3, 3.0 and +3.0000 are the class "3". Classes are in natural order:
// by number if all are numbers, else by bytes.
//
// A file of more than 2 GiB of text, 2^20 columns, or 2^27 values (cases × columns) is refused
// before room is made for it.
package data
