package search

import (
	"github.com/gpc-tune/gpc-tune/internal/journal"
	"github.com/gpc-tune/gpc-tune/internal/record"
)

// What Run writes and goes on from. The record types are plain data; JSON of them is what the
// journal has.
type (
	// Journal is the folder of a run: its manifest, and a line for each finished job.
	Journal = journal.Journal
	// JournalOptions are those with which a Journal is opened.
	JournalOptions = journal.Options
	// TrialRecord is a finished trial: where it started, where it ended, and the value there.
	TrialRecord = record.Trial
	// PointRecord is a point of a trial, with the value of the objective there.
	PointRecord = record.Point
	// FitRecord is a finished assessment: hyperparameters, log evidence, predictions.
	FitRecord = record.Fit
)

// OpenJournal opens the journal of the run in a folder.
func OpenJournal(dir string, o JournalOptions) (*Journal, error) { return journal.Open(dir, o) }
