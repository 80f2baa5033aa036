package search

import "github.com/gpc-tune/gpc-tune/experiments/journal"

type (
	// Journal is the folder of a run: its manifest, and a line for each finished job.
	Journal = journal.Journal
	// JournalOptions configure how a Journal is opened.
	JournalOptions = journal.Options
	// JournalControl is what the commands for a run amount to that were given by hand.
	JournalControl = journal.Control
	// JournalOwn is a point that a user has enqueued.
	JournalOwn = journal.Own
)

// OpenJournal opens the journal of the run in a folder.
func OpenJournal(dir string, o JournalOptions) (*Journal, error) { return journal.Open(dir, o) }
