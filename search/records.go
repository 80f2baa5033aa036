package search

import (
	"github.com/gpc-tune/gpc-tune/internal/journal"
	"github.com/gpc-tune/gpc-tune/internal/record"
)

// Types of the journal, for callers of Run. They are plain data, stored as JSON.
type (
	// Journal is the folder of a run: its manifest, and a line for each finished job.
	Journal = journal.Journal
	// JournalOptions configure how a Journal is opened.
	JournalOptions = journal.Options
	// TrialRecord is a finished trial: its start, its final point, and the value there.
	TrialRecord = record.Trial
	// PointRecord is a point of a trial with the value of the objective.
	PointRecord = record.Point
	// FitRecord is a finished assessment: hyperparameters, log evidence, predictions.
	FitRecord = record.Fit
)

// OpenJournal opens the journal of the run in a folder.
func OpenJournal(dir string, o JournalOptions) (*Journal, error) { return journal.Open(dir, o) }
