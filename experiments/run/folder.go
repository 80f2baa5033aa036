package run

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/experiments/journal"
	"github.com/gpc-tune/gpc-tune/internal/atomicfile"
	"github.com/gpc-tune/gpc-tune/internal/terminal"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/page"
	"github.com/gpc-tune/gpc-tune/reports/picture"
)

// Folder is the content of a run folder. It can be read after and during a run: the journal only
// grows, and a line counts once it is completely written.
type Folder struct {
	Dir      string
	Manifest record.Manifest
	Lines    []record.Line
	Notes    []string       // problems of the records
	Control  record.Control // combined effect of the commands of the control file
}

// ReadFolder reads the manifest and the journal of a run folder.
func ReadFolder(dir string) (*Folder, error) { return (&Follower{Dir: dir}).Read() }

// Follower reads a run folder repeatedly, and only the new part of the journal.
type Follower struct {
	Dir      string
	manifest os.FileInfo // the manifest file that was last read
	drivers  os.FileInfo // the file of drivers at that time, which follows the last trial; nil: none
	journal  *journal.Journal
	last     *Folder
}

// Read returns the current content: the same Folder as before if nothing has changed. If the
// manifest was replaced, as by --extend, or the folder was, everything is read again.
func (f *Follower) Read() (*Folder, error) {
	folder, err := f.read()
	if err != nil {
		*f = Follower{Dir: f.Dir} // so that an unreadable line is reported again
		return nil, fmt.Errorf("%s: %w: %w", f.Dir, ErrFolder, err)
	}
	return folder, nil
}

func (f *Follower) read() (*Folder, error) {
	info, err := journal.StatManifest(f.Dir)
	if err == nil && f.last != nil && os.SameFile(info, f.manifest) && info.ModTime().Equal(f.manifest.ModTime()) &&
		info.Size() == f.manifest.Size() {
		news, err := f.journal.Refresh()
		if err == nil && (f.hasNewDrivers() || news) {
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
		return nil, fmt.Errorf("%w; give the folder that gpc-tune run wrote, or search, which is runs/NAME "+
			"unless -o said otherwise", err)
	}
	if f.journal, err = journal.Open(f.Dir, journalOptions(m, m)); err != nil {
		return nil, err
	}
	f.hasNewDrivers()
	f.manifest, f.last = info, f.folder(m)
	return f.last, nil
}

// hasNewDrivers reports whether the file of drivers is another one than at the last call.
func (f *Follower) hasNewDrivers() bool {
	was := f.drivers
	f.drivers, _ = os.Stat(filepath.Join(f.Dir, driversName)) // Report returns the error
	return f.drivers != nil && (was == nil || !os.SameFile(was, f.drivers))
}

// folder is the current content.
func (f *Follower) folder(m record.Manifest) *Folder {
	control := f.journal.Control()
	m.Dropped = control.Dropped
	return &Folder{f.Dir, m, f.journal.Lines(), notes(f.journal, m), control}
}

// Report builds the report of the content.
func (f *Folder) Report() (*reports.Report, error) {
	r, err := reports.Build(f.Manifest, f.Lines)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", f.Dir, ErrFolder, err)
	}
	if err := drive(f.Dir, r, nil); err != nil {
		return nil, fmt.Errorf("%s: %w", f.Dir, err)
	}
	picture.Warn(r)
	return r, nil
}

// Timed is the report with times, which the files of a report do not contain.
func (f *Folder) Timed() (*reports.Report, error) {
	r, err := f.Report()
	if err != nil {
		return nil, err
	}
	r.Times, err = reports.BuildTimings(f.Manifest, f.Lines)
	return r, err
}

// Progress returns the progress of the run and the command to continue.
func (f *Folder) Progress() (*reports.Progress, error) {
	p, err := reports.BuildProgress(f.Manifest, f.Lines)
	if err != nil {
		return nil, fmt.Errorf("%s: %w: %w", f.Dir, ErrFolder, err)
	}
	p.Processes = journal.Running(f.Dir)
	p.Next = ResumeCommand(f.Manifest, f.Manifest.Source, f.Dir, f.Manifest.Settings)
	if p.Failed > 0 {
		p.Retry = again(f.Manifest, f.Manifest.Source, f.Dir, f.Manifest.Settings) + " --retry-failed"
	}
	if program := f.Manifest.Build.Program; program != "" { // only it has its components
		p.Next = fmt.Sprintf("experiments.Run(ctx, plan, %q, experiments.Options{Resume: true}) in %s", f.Dir, program)
		if p.Failed > 0 {
			p.Retry = strings.Replace(p.Next, "Resume: true", "Resume: true, Retry: true", 1)
		}
	}
	if p.Finished {
		p.Next = terminal.CommandLine("gpc-tune", "report", f.Dir)
	}
	return p, nil
}

// Write writes the report in the formats that are always written and in those named, and the times.
// It returns the names of the files.
func (f *Folder) Write(report *reports.Report, formats []string) (files []string, err error) {
	write := func(file string, render func(io.Writer) error) error {
		file = filepath.Join(f.Dir, file)
		files = append(files, file)
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			return err
		}
		return atomicfile.Write(file, render)
	}
	for _, format := range page.FilesOf(formats) {
		var own ownFiles
		if strings.Contains(format.File, "*") {
			own = f.own(path.Dir(format.File))
		}
		written := map[string]bool{}
		for _, file := range format.Files(report) {
			h := sha256.New()
			if err := write(file.Name, func(w io.Writer) error {
				return file.Write(io.MultiWriter(w,
					h))
			}); err != nil {
				return nil, err
			}
			written[path.Base(file.Name)] = true
			if own.files != nil {
				own.files[path.Base(file.Name)] = hex.EncodeToString(h.Sum(nil))
			}
		}
		if own.files == nil {
			continue
		}
		for name, hash := range own.files { // figures that no longer exist
			if of, _ := path.Match(path.Base(format.File), name); of && !written[name] {
				if err := own.remove(name, hash); err != nil {
					return nil, err
				}
			}
		}
		if err := own.save(); err != nil {
			return nil, err
		}
	}
	timings, err := reports.BuildTimings(f.Manifest, f.Lines)
	if err != nil {
		return nil, err
	}
	return files, write("timings.json", timings.WriteJSON)
}

// ownFiles lists the files that reports have written to a subfolder of the run folder, with their
// SHA-256. Other files, and files that have changed since, belong to the user.
type ownFiles struct {
	dir   string
	files map[string]string
}

const ownName = "written.json"

// own reads the list. Without a list no file counts as written by a report.
func (f *Folder) own(dir string) (o ownFiles) {
	o.dir = filepath.Join(f.Dir, dir)
	text, err := os.ReadFile(filepath.Join(o.dir, ownName))
	if err != nil || json.Unmarshal(text, &o.files) != nil || o.files == nil {
		o.files = map[string]string{}
	}
	return o
}

// remove deletes a file if it is unchanged since it was written, and removes it from the list.
func (o ownFiles) remove(name, hash string) error {
	delete(o.files, name)
	file := filepath.Join(o.dir, name)
	if info, err := os.Lstat(file); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	text, err := os.ReadFile(file)
	if err != nil || fmt.Sprintf("%x", sha256.Sum256(text)) != hash {
		return nil
	}
	return os.Remove(file)
}

// save writes the list, or deletes it if it is empty.
func (o ownFiles) save() error {
	name := filepath.Join(o.dir, ownName)
	if len(o.files) == 0 {
		if err := os.Remove(name); !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	}
	return atomicfile.Write(name, func(w io.Writer) error {
		e := json.NewEncoder(w)
		e.SetIndent("", "  ")
		return e.Encode(o.files)
	})
}

// ResumeCommand is the command line that continues the run in dir, quoted for a POSIX shell. For a
// program without a command it asks for the next point.
func ResumeCommand(m record.Manifest, source, dir string, settings []string) string {
	if slices.ContainsFunc(m.Configurations, func(c record.Configuration) bool {
		return c.Program != nil && len(c.Program.Command) == 0
	}) {
		return terminal.CommandLine("gpc-tune", "ask", dir)
	}
	return again(m, source, dir, settings)
}

// again is the command line that runs what is left in dir.
func again(m record.Manifest, source, dir string, settings []string) string {
	args := []string{"gpc-tune", m.Command(), cmp.Or(source, "FILE.yaml"), "-o", dir, "--resume"}
	for _, s := range settings {
		args = append(args, "--set", s)
	}
	return terminal.CommandLine(args...)
}
