// Package picture draws the figures of a report, one file for each kind: receiver operating
// characteristics, contours of the log evidence, slices, scores with intervals and others. List
// names the kinds. All makes every figure that a report has data for, Named one of them; package
// figure writes them as SVG, PNG or PDF.
//
// A kind of figures is a function of a Report and a row in the table of pictures.go. It decides
// what belongs together and what is left out, and says so in the notes of a figure; it knows
// nothing of how lines become SVG.
package picture
