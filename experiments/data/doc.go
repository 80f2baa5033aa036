// Package data makes data sets of the bundled sets (package sets) and of a user's files (package
// tables): a matrix of inputs with class indices or numeric labels. It knows no models and prints
// nothing. Every problem of a file is an error with its position, what was expected and how to
// correct it; up to 20 are listed and the others counted.
//
// # Values
//
// Inputs are decimal numbers of magnitude up to 1e100 (their squares must not overflow), with a
// percent sign or without; the key decimal selects decimal commas and separators of thousands
// (ParseNumber). Missing values are the empty field, ?, NA and NaN in upper or lower case, and the
// texts of missing_values. Leading zeros of an input do not count; underscores, hexadecimal numbers
// and words such as inf are no numbers. Labels are texts: 007 and 7, or 1e2 and 100, are different
// classes, with a warning. Only a whole number loses a plus sign and a fraction of zeros: 3, +3 and
// 3.0000 are the class "3", with a warning that lists the forms if there are several (Canonical).
// Classes are in natural order: by number if all are numbers, else by bytes.
package data
