// Package journal keeps what a run has done: the manifest of its folder, and the append-only journal of its finished jobs.
//
// It knows records only, and nothing of what made them.
package journal

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"

	"github.com/gpc-tune/gpc-tune/internal/record"
)

var (
	// ErrJournal marks every failure to read or to write a journal. A run stops at it: what is not on record is lost.
	ErrJournal = errors.New("journal")
	// ErrUnwritable marks a run folder in which nothing may be written.
	ErrUnwritable = errors.New("the run folder cannot be written to")
)

// Journal is the state of a run: the finished jobs of one plan, by key. On disk it is the folder DIR/journal of append-only
// segments, one per process that wrote, one JSON line (record.Line) per job; the state is the union of the segments, so
// processes share a folder without locks. Nothing is ever rewritten: whoever opens a folder again writes a segment of its
// own. Lines of other plans, which an extended experiment leaves in its folder, are kept apart: see Earlier.
//
// It is safe for concurrent use.
type Journal struct {
	dir  string // the run's folder; "" keeps the journal in memory
	plan string // key of the manifest whose jobs these are

	mu       sync.Mutex // guards all below; held through a write and its sync, so that only the last line can ever be torn
	entries  map[string]entry
	others   map[string]record.Line // jobs of other plans that are not in entries
	segments map[string]segment     // how far each has been read
	damaged  map[string]bool        // places of lines that were dropped
	file     *os.File               // this process's segment
	written  int                    // lines in file
	risk     float64                // seconds of computing in file that are not synced
	err      error                  // the first failed write: the end of file is unknown from then on
}

// entry is a finished job and where it was found.
type entry struct {
	line    record.Line
	segment string
	number  int
}

// segment is the part of a file that has been read.
type segment struct {
	size  int64 // of the file then
	bytes int64 // of whole lines
	lines int
}

// Open reads the journal of the run in dir, as far as it belongs to the plan of this key; a missing folder is an
// empty journal, and dir "" is a journal in memory. What was cut off or garbled while it was being written, as a crash or a
// full disk does to a line, is dropped, and its job is not on record (see Damaged). What is well-formed but not a line that
// this version knows, or one job with two different results, is an ErrJournal that names file and line.
func Open(dir, plan string) (*Journal, error) {
	j := &Journal{dir: dir, plan: plan, entries: map[string]entry{}, others: map[string]record.Line{}, segments: map[string]segment{}, damaged: map[string]bool{}}
	_, err := j.Refresh()
	return j, err
}

// Refresh reads what other processes have written meanwhile, and says if there was any. It is an ErrJournal if this
// process's own segment is gone.
func (j *Journal) Refresh() (news bool, err error) {
	if j.dir == "" {
		return false, nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	files, err := os.ReadDir(filepath.Join(j.dir, "journal"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("%w: %w", ErrJournal, err)
	}
	own := false
	for _, f := range files {
		if filepath.Ext(f.Name()) != ".jsonl" {
			continue
		}
		name := filepath.Join(j.dir, "journal", f.Name())
		if j.file != nil && name == j.file.Name() {
			own = true
			continue
		}
		more, err := j.readFile(name)
		if err != nil {
			return news, err
		}
		news = news || more
	}
	if j.file != nil && !own && j.err == nil {
		j.err = fmt.Errorf("%w: %s is gone: the run folder was moved or deleted while the run went on; put it back", ErrJournal, j.file.Name())
	}
	return news, j.err
}

// readFile reads what a segment has more than before.
func (j *Journal) readFile(name string) (news bool, err error) {
	before := j.segments[name]
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == before.size {
		return false, nil
	}
	f, err := os.Open(name)
	if err != nil {
		return false, fmt.Errorf("%w: %w", ErrJournal, err)
	}
	defer f.Close()
	if _, err := f.Seek(before.bytes, io.SeekStart); err != nil {
		return false, fmt.Errorf("%w: %w", ErrJournal, err)
	}
	return true, j.read(f, name)
}

// read adds the lines of a segment, or of the rest of one.
func (j *Journal) read(rest io.Reader, name string) error {
	r := bufio.NewReader(rest)
	at := j.segments[name]
	at.size = at.bytes
	defer func() { j.segments[name] = at }()
	for number := at.lines + 1; ; number++ {
		text, err := r.ReadBytes('\n')
		place := name + ":" + strconv.Itoa(number)
		switch {
		case err == io.EOF:
			if len(text) > 0 { // cut off, or being written: it is looked at again when there is more
				j.damaged[place] = true
			}
			at.size += int64(len(text))
			return nil
		case err != nil:
			return fmt.Errorf("%w: %s: %w", ErrJournal, place, err)
		}
		at.bytes += int64(len(text))
		at.size = at.bytes
		at.lines++
		delete(j.damaged, place)
		line, err := decodeLine(text)
		if err != nil && !json.Valid(text) { // the crash of a machine can lose any part of what it was writing
			j.damaged[place] = true
			continue
		}
		if err != nil {
			return fmt.Errorf("%w: %s: %w; another version of gpc-tune wrote it, or no gpc-tune: use that version, or delete the segment to run its jobs again", ErrJournal, place, err)
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
	switch {
	case e.line.Plan != j.plan:
		if !found {
			j.others[e.line.Key] = e.line
		}
		return nil
	case !found, old.line.TimedOut() && !e.line.TimedOut():
		e.line.Plan = j.plan // one string for all
		j.entries[e.line.Key] = e
		delete(j.others, e.line.Key)
		return nil
	case e.line.TimedOut(): // which depends on the clock
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
		panic(fmt.Sprintf("journal: a line must be plain data: %v", err)) // Number carries NaN and infinities
	}
	return append(text, '\n')
}

// Append puts finished jobs on record: when it returns, they are written, and whoever ends this process does not take them
// back. What a crash of the machine can is less than a second of computing. After a write has failed, so does every later one.
func (j *Journal) Append(lines ...record.Line) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err != nil {
		return j.err
	}
	var text []byte
	var fresh []entry
	for _, line := range lines {
		line.Plan = j.plan
		one := encodeLine(line)
		line, err := decodeLine(one) // what a reader will see, and no pointers shared with the caller
		if err != nil {
			return fmt.Errorf("%w: %w", ErrJournal, err)
		}
		e := entry{line, "this process", j.written + len(fresh) + 1}
		if _, found := j.entries[line.Key]; found {
			if err := j.add(e); err != nil {
				return err
			}
			continue
		}
		text, fresh = append(text, one...), append(fresh, e)
		j.risk += line.Seconds
	}
	if j.dir != "" && len(fresh) > 0 {
		if j.err = j.write(text); j.err != nil {
			return j.err
		}
	}
	j.written += len(fresh)
	for _, e := range fresh {
		if err := j.add(e); err != nil {
			return err
		}
	}
	return nil
}

// write appends lines to this process's segment in one call, and syncs where they are worth it.
func (j *Journal) write(text []byte) error {
	if err := j.begin(); err != nil {
		return err
	}
	if _, err := j.file.Write(text); err != nil {
		return writing(err)
	}
	if j.risk >= 1 {
		return j.sync()
	}
	return nil
}

func (j *Journal) sync() error {
	j.risk = 0
	if err := j.file.Sync(); err != nil {
		return writing(err)
	}
	return nil
}

// Begin makes this process's segment, so that a folder that cannot be written to is known before there is anything to
// write.
func (j *Journal) Begin() error {
	if j.dir == "" {
		return nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.err == nil {
		j.err = j.begin()
	}
	return j.err
}

func (j *Journal) begin() (err error) {
	if j.file == nil {
		j.file, err = createSegment(j.dir)
	}
	if err != nil {
		return writing(err)
	}
	return nil
}

// writing says what failed to be written, and what to do about it.
func writing(err error) error {
	if errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return fmt.Errorf("%w: %w; change its permissions, or choose another with -o", ErrUnwritable, err)
	}
	return fmt.Errorf("%w: %w; make room (on the disk, in the quota, or under the limit on file sizes), and go on", ErrJournal, err)
}

// createSegment makes a segment that no process has written to: its name is unique, its content does not depend on it.
func createSegment(dir string) (*os.File, error) {
	folder := filepath.Join(dir, "journal")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, err
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
		return f, err
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

// Detach makes j one in memory: what is appended from now on is not written.
func (j *Journal) Detach() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.dir = ""
}

// Done looks up a finished job. The line is shared: do not modify it.
func (j *Journal) Done(key string) (record.Line, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e, found := j.entries[key]
	return e.line, found
}

// Earlier looks up a job that another plan finished in this folder, and that is not on record for this one. A timeout is
// not taken over.
func (j *Journal) Earlier(key string) (record.Line, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	line, found := j.others[key]
	return line, found && !line.TimedOut()
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

// Damaged lists the places, FILE:LINE, of what could not be read: a line that was cut off, or is none. Its job runs again.
func (j *Journal) Damaged() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.Sorted(maps.Keys(j.damaged))
}

// Close syncs and closes this process's segment.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil || j.err != nil {
		return j.err
	}
	if j.err = j.sync(); j.err == nil {
		if err := j.file.Close(); err != nil {
			j.err = fmt.Errorf("%w: %w", ErrJournal, err)
		}
	}
	return j.err
}

const (
	manifestName   = "manifest.json"
	manifestSchema = "gpc-tune/manifest/2"
)

// WriteManifest writes dir/manifest.json, making the folder if need be, and stamps its schema. The file appears whole
// or not at all. One that is there already is an fs.ErrExist, unless it is the one that m replaces: that is kept beside it, as
// manifest-KEY.json with the first eight characters of its key.
func WriteManifest(dir string, m record.Manifest, replaces string) (err error) {
	defer func() {
		if err != nil && !errors.Is(err, fs.ErrExist) {
			err = writing(err)
		}
	}()
	name := filepath.Join(dir, manifestName)
	m.Schema = manifestSchema
	text, err := json.MarshalIndent(m, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	if _, err := os.Lstat(name); err == nil {
		old, err := ReadManifest(dir)
		if err != nil || replaces == "" || old.Key != replaces {
			return &fs.PathError{Op: "write", Path: name, Err: fs.ErrExist}
		}
		kept, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("manifest-%.8s.json", old.Key)), kept, 0o644); err != nil {
			return err
		}
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
	err = os.ErrInvalid
	if replaces == "" { // of several processes that begin at the same time one makes the folder's manifest
		err = os.Link(f.Name(), name)
	}
	if err != nil && !errors.Is(err, fs.ErrExist) { // or there are no links here
		err = os.Rename(f.Name(), name)
	}
	return errors.Join(err, syncDir(dir))
}

// StatManifest describes the file dir/manifest.json, by which one that replaces it is told from it.
func StatManifest(dir string) (os.FileInfo, error) { return os.Stat(filepath.Join(dir, manifestName)) }

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
