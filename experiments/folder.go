package experiments

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/gpc-tune/gpc-tune/internal/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/search"
)

// Folder is what a run folder has on record. Whether the run has ended, was stopped or goes on meanwhile makes no
// difference: the journal only grows, and a last line that is being written counts once it is there.
type Folder struct {
	Dir      string
	Manifest record.Manifest
	Lines    []record.Line
}

// ErrFolder marks a folder that is no run, or cannot be read as one.
var ErrFolder = errors.New("not the folder of a run, or damaged")

// ReadFolder reads the manifest and the journal of a run folder.
func ReadFolder(dir string) (*Folder, error) {
	m, err := search.ReadManifest(dir)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w; give the folder that gpc-tune run wrote, which is runs/NAME unless -o said otherwise", dir, ErrFolder, err)
	}
	journal, err := search.OpenJournal(dir, m.Key)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", dir, ErrFolder, err)
	}
	return &Folder{dir, m, journal.Lines()}, nil
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
	if p.Next = ResumeCommand(f.Manifest.Source, f.Dir, f.Manifest.Settings); p.Finished {
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
		return WriteFile(file, render)
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

// WriteFile replaces a file, so that whoever reads it sees the old one or the new one, whole.
func WriteFile(name string, write func(io.Writer) error) error {
	if info, err := os.Stat(name); err == nil && info.Mode().Type()&(fs.ModeDevice|fs.ModeNamedPipe) != 0 { // not to be replaced
		f, err := os.OpenFile(name, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	f, err := os.CreateTemp(filepath.Dir(name), filepath.Base(name)+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails once the file has its name
	buffered := bufio.NewWriter(f)
	err = write(buffered)
	if err := errors.Join(err, buffered.Flush(), f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

// ResumeCommand is the command line that goes on with the run in dir, for a POSIX shell.
func ResumeCommand(source, dir string, settings []string) string {
	args := []string{"gpc-tune", "run", cmp.Or(source, "FILE.yaml"), "-o", dir, "--resume"}
	for _, s := range settings {
		args = append(args, "--set", s)
	}
	return reports.CommandLine(args...)
}
