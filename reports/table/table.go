// Package table lays out reports: as tables of typed cells, for people, and as rows, for programs.
//
// A cell keeps its number and the number of folds it is over, so that tables can be sorted and
// aligned without parsing texts. Nothing here computes a result.
package table
