package experiments

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/gpc-tune/gpc-tune/internal/atomicfile"
	"github.com/gpc-tune/gpc-tune/internal/journal"
	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/reports"
)

// Folder is what a run folder has on record. Whether the run has ended, was stopped or goes on meanwhile makes no
// difference: the journal only grows, and a last line that is being written counts once it is there.
type Folder struct {
	Dir      string
	Manifest record.Manifest
	Lines    []record.Line
	Notes    []string // what is wrong with what is on record
}

// ErrFolder marks a folder that is no run, or cannot be read as one.
var ErrFolder = errors.New("not the folder of a run, or damaged")

// ReadFolder reads the manifest and the journal of a run folder.
func ReadFolder(dir string) (*Folder, error) { return (&Follower{Dir: dir}).Read() }

// Follower reads a run folder again and again, and of the journal only what is new.
type Follower struct {
	Dir      string
	manifest os.FileInfo // of the file that was read
	journal  *journal.Journal
	last     *Folder
}

// Read returns what is on record by now: the same Folder as before if there is no news. A manifest that was replaced, as
// --extend does, and a folder that was put in the place of another, are read from the beginning.
func (f *Follower) Read() (*Folder, error) {
	folder, err := f.read()
	if err != nil {
		*f = Follower{Dir: f.Dir} // a line that cannot be read stays an error
		return nil, fmt.Errorf("%s: %w: %w", f.Dir, ErrFolder, err)
	}
	return folder, nil
}

func (f *Follower) read() (*Folder, error) {
	info, err := journal.StatManifest(f.Dir)
	if err == nil && f.last != nil && os.SameFile(info, f.manifest) && info.ModTime().Equal(f.manifest.ModTime()) && info.Size() == f.manifest.Size() {
		news, err := f.journal.Refresh()
		if err == nil && news {
			f.last = f.folder(f.last.Manifest)
		}
		return f.last, err
	}
	var m record.Manifest
	if err == nil {
		m, err = journal.ReadManifest(f.Dir)
	}
	if errors.Is(err, journal.ErrDamaged) {
		return nil, fmt.Errorf("%w; %s", err, remedy)
	}
	if err != nil {
		return nil, fmt.Errorf("%w; give the folder that gpc-tune run wrote, which is runs/NAME unless -o said otherwise", err)
	}
	if f.journal, err = journal.Open(f.Dir, journalOptions(m, m)); err != nil {
		return nil, err
	}
	f.manifest, f.last = info, f.folder(m)
	return f.last, nil
}

// folder is what is on record now.
func (f *Follower) folder(m record.Manifest) *Folder {
	return &Folder{f.Dir, m, f.journal.Lines(), notes(f.Dir, m, f.journal)}
}

// Report builds the report of what is on record.
func (f *Folder) Report() (*reports.Report, error) {
	r, err := reports.Build(f.Manifest, f.Lines)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", f.Dir, ErrFolder, err)
	}
	return r, nil
}

// Progress says how far the run is, and what to do next.
func (f *Folder) Progress() (*reports.Progress, error) {
	p, err := reports.BuildProgress(f.Manifest, f.Lines)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", f.Dir, ErrFolder, err)
	}
	p.Next = ResumeCommand(f.Manifest.Source, f.Dir, f.Manifest.Settings)
	if p.Failed > 0 {
		p.Retry = p.Next + " --retry-failed"
	}
	if p.Finished {
		p.Next = reports.CommandLine("gpc-tune", "report", f.Dir)
	}
	return p, nil
}

// Write writes the report in the formats that are always written and in those named, and the times beside it. It returns
// the names of the files.
func (f *Folder) Write(report *reports.Report, formats []string) (files []string, err error) {
	write := func(file string, render func(io.Writer) error) error {
		file = filepath.Join(f.Dir, file)
		files = append(files, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return err
		}
		return atomicfile.Write(file, render)
	}
	for _, format := range reports.FilesOf(formats) {
		for _, file := range format.Files(report) {
			if err := write(file.Name, file.Write); err != nil {
				return nil, err
			}
		}
		found, err := fs.Glob(os.DirFS(f.Dir), format.File)
		if err != nil {
			return nil, err
		}
		for _, name := range found {
			if name = filepath.Join(f.Dir, name); !slices.Contains(files, name) { // of a figure that is no more
				if err := os.Remove(name); err != nil {
					return nil, err
				}
			}
		}
	}
	timings, err := reports.BuildTimings(f.Manifest, f.Lines)
	if err != nil {
		return nil, err
	}
	return files, write("timings.json", timings.WriteJSON)
}

// ResumeCommand is the command line that goes on with the run in dir, for a POSIX shell.
func ResumeCommand(source, dir string, settings []string) string {
	args := []string{"gpc-tune", "run", cmp.Or(source, "FILE.yaml"), "-o", dir, "--resume"}
	for _, s := range settings {
		args = append(args, "--set", s)
	}
	return reports.CommandLine(args...)
}
