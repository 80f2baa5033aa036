// Package table lays out what reports holds: as tables of typed cells, for people, and as rows, for
// programs.
//
// A cell keeps the number that it shows and of how many folds that is, so that whoever shows a
// table sorts and aligns it by that and reads no text back. Nothing here computes a result.
package table
