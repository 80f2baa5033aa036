// Package table lays out reports: as tables of typed cells for people (Text, Summary), and as rows
// for programs (ScoresCSV, PredictionsCSV, TrialsCSV).
//
// A Cell keeps the number that it shows, and of how many folds that is. Tables can therefore be
// sorted and aligned without parsing texts. Nothing here computes a result.
package table
