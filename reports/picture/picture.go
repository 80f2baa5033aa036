// Package picture draws the figures of a report, one file each: plain data in, figures of package
// figure out.
//
// A kind of figures is a function of a Report and a row in the table of pictures.go. It decides
// what belongs together and what is left out, and says so in the notes of a figure; it knows
// nothing of how lines become SVG.
package picture
