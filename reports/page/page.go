// Package page writes a report as a document, in HTML, Markdown and LaTeX, and has the table of all
// formats of a report: FormatNamed finds a format by its name in YAML files, Register adds one.
//
// The documents have the same content, laid out once; a format adds only how a heading, a list or a
// table is written. HTML has the figures too, and a page that follows a run while it goes on.
//
// A document of an unfinished run says what is missing. All errors come from the writer.
package page
