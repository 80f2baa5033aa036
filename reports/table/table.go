// Package table lays out what package reports holds: as tables of typed cells for people (Text,
// Summary), and as rows for programs (ScoresCSV, PredictionsCSV, TrialsCSV).
//
// A Cell keeps the number that it shows, and of how many folds that is. Whoever shows a table sorts
// and aligns it by that number and never reads the text back. Nothing here computes a result.
package table
