// Package page writes a report as a document, in HTML, Markdown and LaTeX, and has the table of all
// formats of a report.
//
// The three share one document, laid out once; each adds only how a heading, a list or a table is
// written. HTML has the figures too, and a page that follows a run while it goes on.
package page
