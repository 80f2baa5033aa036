// Package stores writes the trials and results of a run in the forms of other programs. A store is
// one file and one line of All.
package stores

import "github.com/gpc-tune/gpc-tune/reports"

// Store is a form in which another program keeps its trials.
type Store struct {
	Name, Doc string
	// Folder means that the form is a folder with several files.
	Folder bool
	// Files returns the files of a run. The form of a single file has one without a name.
	Files func(r *reports.Report) ([]File, error)
}

// All lists the forms of other programs.
var All = []Store{
	{Name: "optuna", Doc: "every trial, as a journal file of Optuna: a study for each configuration",
		Files: optunaJournal},
	{Name: "mlflow", Doc: "a file store of MLflow, the folder mlruns: a run for each configuration or, of a search " +
		"of a program, for each trial", Folder: true, Files: mlflowStore},
}
