package search

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/gpc-tune/gpc-tune/internal/record"
)

// ErrJournal marks every failure to read or to write a journal. A run stops at it: what is not on record is lost.
var ErrJournal = errors.New("journal")

// Journal is the state of a run: the finished jobs, by key. On disk it is the folder DIR/journal of append-only segments,
// one per process that wrote, one JSON line (record.Line) per job; the state is the union of the segments, so processes
// share a folder without locks. Nothing is ever rewritten: whoever opens a folder again writes a segment of its own.
//
// It is safe for concurrent use. It does not watch for what other processes add after it was opened.
type Journal struct {
	dir  string // the run's folder; "" keeps the journal in memory
	torn int

	mu      sync.Mutex // guards all below; held through a write and its sync, so that only the last line can ever be torn
	entries map[string]entry
	file    *os.File // this process's segment, created by the first Append
	written int      // lines in file
	err     error    // the first failed write: the end of file is unknown from then on
}

// entry is a finished job and where it was found.
type entry struct {
	line    record.Line
	segment string
	number  int
}

// OpenJournal reads the journal of the run in dir; a missing folder is an empty journal, and dir "" is a journal in
// memory. A last line that was cut off while it was being written is dropped (see Torn). A line that is malformed
// elsewhere, or one job with two different results, is an ErrJournal that names file and line.
func OpenJournal(dir string) (*Journal, error) {
	j := &Journal{dir: dir, entries: map[string]entry{}}
	if dir == "" {
		return j, nil
	}
	files, err := os.ReadDir(filepath.Join(dir, "journal"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%w: %w", ErrJournal, err)
	}
	for _, f := range files {
		if filepath.Ext(f.Name()) != ".jsonl" {
			continue
		}
		if err := j.readFile(filepath.Join(dir, "journal", f.Name())); err != nil {
			return nil, err
		}
	}
	return j, nil
}

func (j *Journal) readFile(name string) error {
	f, err := os.Open(name)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrJournal, err)
	}
	defer f.Close()
	return j.read(f, name)
}

// read adds the lines of one segment.
func (j *Journal) read(segment io.Reader, name string) error {
	r := bufio.NewReader(segment)
	for number := 1; ; number++ {
		text, err := r.ReadBytes('\n')
		switch {
		case err == io.EOF:
			if len(text) > 0 {
				j.torn++
			}
			return nil
		case err != nil:
			return fmt.Errorf("%w: %s:%d: %w", ErrJournal, name, number, err)
		}
		if _, err := r.Peek(1); err == io.EOF && !json.Valid(text) { // a crash of the machine can lose any part of the last write
			j.torn++
			return nil
		}
		line, err := decodeLine(text)
		if err != nil {
			return fmt.Errorf("%w: %s:%d: %w; the segment was damaged: restore it, or delete it to run its jobs again", ErrJournal, name, number, err)
		}
		if err := j.add(entry{line, name, number}); err != nil {
			return err
		}
	}
}

// decodeLine reads one line, strictly.
func decodeLine(text []byte) (line record.Line, err error) {
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&line); err != nil {
		return line, fmt.Errorf("not a line of a journal: %w", err)
	}
	if _, err := d.Token(); err != io.EOF {
		return line, errors.New("not a line of a journal: more than one value")
	}
	if line.Key == "" || (line.Trial == nil) == (line.Fit == nil) {
		return line, errors.New("not a line of a journal: it needs a key and either a trial or a fit")
	}
	return line, nil
}

// add enters e. A job that is there already must have the same result, to the last bit; only its time may differ.
func (j *Journal) add(e entry) error {
	old, found := j.entries[e.line.Key]
	if !found {
		j.entries[e.line.Key] = e
		return nil
	}
	a, b := old.line, e.line
	a.Seconds, b.Seconds = 0, 0
	if !bytes.Equal(encodeLine(a), encodeLine(b)) {
		return fmt.Errorf("%w: job %s has two different results, at %s:%d and %s:%d; they were not computed by the same build on the same data", ErrJournal,
			e.line.Key, old.segment, old.number, e.segment, e.number)
	}
	return nil
}

// encodeLine is the line as the journal writes it.
func encodeLine(line record.Line) []byte {
	text, err := json.Marshal(line)
	if err != nil {
		panic(fmt.Sprintf("search: a journal line must be plain data: %v", err)) // Number carries NaN and infinities
	}
	return append(text, '\n')
}

// Append puts a finished job on record and returns when it is on disk. After a write has failed, so does every later one.
func (j *Journal) Append(line record.Line) error {
	text := encodeLine(line)
	line, err := decodeLine(text) // what a reader will see, and no pointers shared with the caller
	if err != nil {
		return fmt.Errorf("%w: %w", ErrJournal, err)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return j.err
	}
	if _, found := j.entries[line.Key]; found {
		return j.add(entry{line, "this process", j.written + 1})
	}
	segment := "memory"
	if j.dir != "" {
		if j.err = j.write(text); j.err != nil {
			return j.err
		}
		segment = j.file.Name()
	}
	j.written++
	return j.add(entry{line, segment, j.written})
}

// write appends one line to this process's segment in one call, and syncs.
func (j *Journal) write(text []byte) (err error) {
	if j.file == nil {
		if j.file, err = createSegment(j.dir); err != nil {
			return err
		}
	}
	if _, err = j.file.Write(text); err == nil {
		err = j.file.Sync()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", ErrJournal, err)
	}
	return nil
}

// createSegment makes a segment that no process has written to: its name is unique, its content does not depend on it.
func createSegment(dir string) (*os.File, error) {
	folder := filepath.Join(dir, "journal")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, fmt.Errorf("%w: %w", ErrJournal, err)
	}
	host, err := os.Hostname()
	if err != nil {
		host = "worker"
	}
	for n := 0; ; n++ {
		name := filepath.Join(folder, fmt.Sprintf("%s-%d-%d.jsonl", host, os.Getpid(), n))
		f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY|os.O_APPEND, 0o666)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			err = errors.Join(syncDir(folder), syncDir(dir))
		}
		if err != nil {
			return nil, fmt.Errorf("%w: %w", ErrJournal, err)
		}
		return f, nil
	}
}

// syncDir makes the entries of a folder durable. Windows does so by itself and refuses the call.
func syncDir(dir string) error {
	if runtime.GOOS == "windows" {
		return nil
	}
	f, err := os.Open(dir)
	if err != nil {
		return err
	}
	return errors.Join(f.Sync(), f.Close())
}

// Done looks up a finished job. The line is shared: do not modify it.
func (j *Journal) Done(key string) (record.Line, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e, found := j.entries[key]
	return e.line, found
}

// Lines lists the finished jobs by configuration, study, kind (trials first) and index, whoever ran them and when. The
// lines are shared: do not modify them.
func (j *Journal) Lines() []record.Line {
	j.mu.Lock()
	lines := make([]record.Line, 0, len(j.entries))
	for _, e := range j.entries {
		lines = append(lines, e.line)
	}
	j.mu.Unlock()
	slices.SortFunc(lines, func(a, b record.Line) int {
		p, q := place(a), place(b)
		return cmp.Or(slices.Compare(p[:], q[:]), strings.Compare(a.Key, b.Key))
	})
	return lines
}

// place is what lines are sorted by.
func place(line record.Line) [4]int {
	if t := line.Trial; t != nil {
		return [4]int{t.Configuration, t.Study, 0, t.Index}
	}
	return [4]int{line.Fit.Configuration, line.Fit.Study, 1, line.Fit.Chosen}
}

// Torn is the number of segments whose last line was dropped because it had been cut off; its job runs again.
func (j *Journal) Torn() int { return j.torn }

// Close closes this process's segment. Every appended line is on disk already.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil {
		return nil
	}
	if err := j.file.Close(); err != nil && j.err == nil {
		j.err = fmt.Errorf("%w: %w", ErrJournal, err)
		return j.err
	}
	return nil
}

const (
	manifestName   = "manifest.json"
	manifestSchema = "gpc-tune/manifest/1"
)

// WriteManifest writes dir/manifest.json, making the folder if need be, and stamps its schema. The file appears whole
// or not at all. A manifest is written once: one that is there already is an fs.ErrExist.
func WriteManifest(dir string, m record.Manifest) error {
	name := filepath.Join(dir, manifestName)
	if _, err := os.Lstat(name); err == nil {
		return &fs.PathError{Op: "write", Path: name, Err: fs.ErrExist}
	}
	m.Schema = manifestSchema
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, manifestName+".*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // fails once the file has its name
	_, err = f.Write(append(text, '\n'))
	if err := errors.Join(err, f.Chmod(0o644), f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return err
	}
	return syncDir(dir)
}

// ReadManifest reads dir/manifest.json, strictly. A folder without one is an fs.ErrNotExist.
func ReadManifest(dir string) (record.Manifest, error) {
	name := filepath.Join(dir, manifestName)
	var m record.Manifest
	text, err := os.ReadFile(name)
	if err != nil {
		return m, err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&m); err != nil {
		return m, fmt.Errorf("%s: not a manifest: %w", name, err)
	}
	if m.Schema != manifestSchema {
		return m, fmt.Errorf("%s: schema is %q, want %q; it was written by another version", name, m.Schema, manifestSchema)
	}
	return m, nil
}
