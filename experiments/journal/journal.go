// Package journal stores the progress of a run: the manifest of its folder, and the append-only
// journal of its finished jobs.
//
// It handles records only, and does not depend on the packages that compute them.
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
	"time"

	"github.com/gpc-tune/gpc-tune/internal/atomicfile"
	"github.com/gpc-tune/gpc-tune/record"
)

var (
	// ErrJournal marks every failure to read or to write a journal.
	ErrJournal = record.ErrJournal
	// ErrUnwritable marks a run folder that is not writable.
	ErrUnwritable = errors.New("the run folder cannot be written to")
)

// Options are options of a Journal.
type Options struct {
	Plan      string                  // key of the manifest to which the jobs belong
	StartedBy string                  // the build for lines that do not name one
	Build     string                  // the build of this process
	Check     func(record.Line) error // checks a line of the plan; nil: no check
	// keys of the first study of each configuration, to which commands of the control file refer
	Configurations []string
}

// Journal is the state of a run: the finished jobs of one plan, by key. On disk it is the folder
// DIR/journal of append-only segments, with one JSON line (record.Line) per job. Every process that
// opens the folder writes a segment of its own, so segments need no lock; leases reserve jobs.
// Nothing is ever rewritten: the state is the union of the segments. Lines of other plans, which an
// extended experiment leaves in its folder, are kept separately: see Earlier.
//
// Every line ends with a checksum. A line that raises the attempt of a job withdraws its earlier
// results, so that it runs again: only the lines of the highest attempt of a key count. So the
// state is the same in whatever order the segments are read. Of several retries of a trial, the one
// with the largest Known counts.
//
// It is safe for concurrent use.
type Journal struct {
	Options
	dir    string // "" keeps the journal in memory
	leases leases

	// guards all fields below; held during a write, so that only the last line can be incomplete
	mu              sync.Mutex
	ours            ledger             // ledger of this plan
	foreign         ledger             // ledger of other plans, for jobs that are not in ours
	segments        map[string]segment // position up to which each has been read
	damaged         map[string]string  // reasons why lines were dropped, by FILE:LINE
	retry           bool               // failures of other plans run again
	file            *os.File           // this process's segment
	written         int                // lines in file
	unsyncedSeconds float64            // seconds of computing time in file that are not synced
	err             error              // the first failed write; the end of file is unknown after it

	commands commands
}

// ledger has finished jobs, the number of withdrawals, and the retries of failed trials, by key.
type ledger struct {
	jobs     map[string]entry
	attempts map[string]int
	retries  map[string]record.Retry
	revised  *int // number of lines that were withdrawn or replaced
}

// entry is a finished job with its position.
type entry struct {
	line    record.Line
	segment string
	number  int
}

func newLedger() ledger {
	return ledger{map[string]entry{}, map[string]int{}, map[string]record.Retry{}, new(int)}
}

// counts reports whether a line belongs to its job's highest attempt. A line of a higher attempt
// removes all earlier lines.
func (l ledger) counts(line record.Line) bool {
	if r := line.Retry; r != nil {
		before, known := l.retries[line.Key]
		if known && r.Known > before.Known {
			*l.revised++
		}
		if !known || r.Known > before.Known {
			l.retries[line.Key] = *r
		}
	}
	switch now := l.attempts[line.Key]; {
	case line.Attempt < now:
		return false
	case line.Attempt > now:
		l.attempts[line.Key] = line.Attempt
		if _, there := l.jobs[line.Key]; there {
			*l.revised++
		}
		delete(l.jobs, line.Key)
	}
	return !line.Withdrawn()
}

// segment is the part of a file that has been read, in complete lines.
type segment struct {
	bytes int64
	lines int
}

// Open reads the lines of the plan from the journal of the run in dir. A missing folder is an empty
// journal, and dir "" is a journal in memory. A damaged line (cut off, changed, or not a line) is
// dropped, and its job is not on record (see Damaged). An intact line that this version does not
// support is an ErrJournal that names file and line, and so is a job with two different results.
func Open(dir string, o Options) (*Journal, error) {
	j := &Journal{
		Options: o, dir: dir, segments: map[string]segment{}, damaged: map[string]string{},
		ours: newLedger(), foreign: newLedger(),
	}
	_, err := j.Refresh()
	return j, err
}

// Refresh reads new lines of other processes and new commands, and reports whether there were any.
// If this process's own segment is gone, it is an ErrJournal.
func (j *Journal) Refresh() (news bool, err error) {
	if j.dir == "" {
		return false, nil
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	// commands first: lines that others wrote before they knew a command are then read with it
	news, damaged, err := j.commands.read(j.dir, j.Configurations)
	if err != nil {
		return false, fmt.Errorf("%w: %w", ErrJournal, err)
	}
	files, err := os.ReadDir(filepath.Join(j.dir, "journal"))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, fmt.Errorf("%w: %w", ErrJournal, err)
	}
	control := filepath.Join(j.dir, controlName) + ":"
	if news { // all of them are read again
		maps.DeleteFunc(j.damaged, func(place, _ string) bool { return strings.HasPrefix(place, control) })
	}
	for _, line := range damaged {
		j.damaged[control+strconv.Itoa(line)] = "not a command; it has no effect, so give it again"
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
		j.err = fmt.Errorf("%w: %s is missing: the run folder was moved or deleted during the run; restore it",
			ErrJournal, j.file.Name())
	}
	return news, j.err
}

// readFile reads the new part of a segment.
func (j *Journal) readFile(name string) (news bool, err error) {
	before := j.segments[name]
	info, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == before.bytes {
		return false, nil
	}
	f, err := os.Open(name)
	if err == nil {
		defer f.Close()
		_, err = f.Seek(before.bytes, io.SeekStart)
	}
	if err != nil {
		return false, fmt.Errorf("%w: %w", ErrJournal, err)
	}
	err = j.read(f, name)
	return j.segments[name] != before, err
}

// read adds the lines of a segment, or of the rest of one.
func (j *Journal) read(rest io.Reader, name string) error {
	r := bufio.NewReader(rest)
	for {
		at := j.segments[name]
		text, err := r.ReadBytes('\n')
		place := name + ":" + strconv.Itoa(at.lines+1)
		switch {
		case err == io.EOF:
			if len(text) > 0 { // incomplete line, which is read again later
				j.damaged[place] = "cut off, or being written"
			}
			return nil
		case err != nil:
			return fmt.Errorf("%w: %s: %w", ErrJournal, place, err)
		}
		at = segment{at.bytes + int64(len(text)), at.lines + 1}
		j.segments[name] = at
		delete(j.damaged, place)
		line, err := j.decode(text)
		switch {
		case errors.Is(err, ErrDamaged):
			j.damaged[place] = err.Error()
			continue
		case err != nil:
			return fmt.Errorf("%w: %s: %w; another version of gpc-tune wrote it: use that version",
				ErrJournal, place, err)
		}
		if err := j.add(entry{line, name, at.lines}); err != nil {
			return err
		}
	}
}

// decode reads a line of a segment. A damaged line is an ErrDamaged.
func (j *Journal) decode(text []byte) (record.Line, error) {
	sealed, err := CheckSeal(text)
	if err != nil {
		return record.Line{}, err
	}
	if !sealed {
		return record.Line{}, fmt.Errorf("%w: it has no checksum", ErrDamaged)
	}
	line, err := decodeLine(text)
	if err != nil {
		return line, err
	}
	line.Sum = ""
	if line.Build == "" {
		line.Build = j.StartedBy
	}
	if j.Check != nil && line.Plan == j.Plan && !line.Withdrawn() {
		if err := j.Check(line); err != nil {
			return line, fmt.Errorf("%w: %w", ErrDamaged, err)
		}
	}
	return line, nil
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
	if line.Key == "" || line.Attempt < 0 || line.Retry != nil && !line.Withdrawn() ||
		(line.Trial == nil) == (line.Fit == nil) && !line.Withdrawn() {
		return line, errors.New("not a line of a journal: it needs a key and either a trial or a fit")
	}
	return line, nil
}

// add adds e. If the job exists already, its result must be bit-identical; only the build and the
// time may differ.
func (j *Journal) add(e entry) error {
	key := e.line.Key
	other := e.line.Plan != j.Plan
	if other && !j.foreign.counts(e.line) || !other && !j.ours.counts(e.line) {
		return nil
	}
	old, found := j.ours.jobs[key]
	_, known := j.foreign.jobs[key]
	switch {
	case other:
		if !found && !known {
			j.foreign.jobs[key] = e
		}
		return nil
	case !found, old.replacedBy(e):
		if found {
			*j.ours.revised++
		}
		e.line.Plan = j.Plan // one string for all
		j.ours.jobs[key] = e
		delete(j.foreign.jobs, key)
		return nil
	}
	if err := old.same(e); err != nil || e.line.TimedOut() {
		return err
	}
	if e.line.Seconds < old.line.Seconds {
		*j.ours.revised++
	}
	// independent of the order of reading
	old.line.Build, old.line.Seconds = min(old.line.Build, e.line.Build), min(old.line.Seconds, e.line.Seconds)
	j.ours.jobs[key] = old
	return nil
}

// replacedBy reports whether a job that took too long has a result now.
func (e entry) replacedBy(other entry) bool { return e.line.TimedOut() && !other.line.TimedOut() }

// same returns an error if two results of a job differ. A second result that ended by a time limit
// is no error, because it depends on time.
func (e entry) same(other entry) error {
	a, b := e.line, other.line
	a.Seconds, b.Seconds, a.Build, b.Build = 0, 0, "", ""
	if b.TimedOut() || bytes.Equal(encodeLine(a), encodeLine(b)) {
		return nil
	}
	return fmt.Errorf("%w: job %s has two different results, at %s:%d and %s:%d, computed by %s and %s: the builds or "+
		"the data differ", ErrJournal, a.Key, e.segment, e.number, other.segment, other.number,
		cmp.Or(e.line.Build, "an unknown build"), cmp.Or(other.line.Build, "an unknown build"))
}

// Revised counts the recorded lines that were withdrawn or replaced. Conclusions from such lines
// must be drawn again.
func (j *Journal) Revised() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return *j.ours.revised
}

// encodeLine is the line in the form of the journal.
func encodeLine(line record.Line) []byte {
	text, err := json.Marshal(line)
	if err != nil {
		panic(fmt.Sprintf("journal: a line must be plain data: %v", err)) // Number carries NaN and infinities
	}
	return Seal(text)
}

// Append records finished jobs: when it returns, they are written, and survive the end of this
// process. A crash of the machine loses less than a second of computing time. After a failed write
// all later ones fail too.
func (j *Journal) Append(lines ...record.Line) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	lines = slices.Clone(lines)
	for i := range lines {
		lines[i].Attempt = j.ours.attempts[lines[i].Key]
		lines[i].Build = cmp.Or(lines[i].Build, j.Build)
	}
	return j.append(lines)
}

// Withdraw removes jobs from the record, so that they run again. Other processes that share the
// folder learn of it.
func (j *Journal) Withdraw(keys ...string) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	var lines []record.Line
	for _, key := range keys {
		lines = append(lines, record.Line{Key: key, Attempt: j.ours.attempts[key] + 1, Build: j.Build})
	}
	return j.append(lines)
}

// Retry withdraws failed trials of a search, so that they run again. proposed is the number of
// trials that the search has proposed. Where another process has withdrawn a trial already, only
// the larger number counts.
func (j *Journal) Retry(proposed int, failed ...record.Line) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	var lines []record.Line
	for _, line := range failed {
		lines = append(lines, record.Line{Key: line.Key, Attempt: max(j.ours.attempts[line.Key], line.Attempt+1),
			Build: j.Build, Retry: &record.Retry{Known: proposed, Ended: line.Trial.Ended, After: line.Trial.After}})
	}
	return j.append(lines)
}

func (j *Journal) append(lines []record.Line) error {
	if j.err != nil {
		return j.err
	}
	var text []byte
	var fresh []entry
	for _, line := range lines {
		line.Plan = j.Plan
		one := encodeLine(line)
		line, err := decodeLine(one) // the line as a reader sees it, without the caller's pointers
		if err != nil {
			return fmt.Errorf("%w: %w", ErrJournal, err)
		}
		line.Sum = ""
		e := entry{line, "this process", j.written + len(fresh) + 1}
		if old, found := j.ours.jobs[line.Key]; found && !line.Withdrawn() && !old.replacedBy(e) {
			if err := old.same(e); err != nil {
				return err
			}
			continue
		}
		text, fresh = append(text, one...), append(fresh, e)
		j.unsyncedSeconds += line.Seconds
	}
	if j.dir != "" && len(fresh) > 0 {
		if j.err = writing(j.write(text)); j.err != nil {
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

// write appends lines to this process's segment in one call, and syncs if enough computing time is
// at stake.
func (j *Journal) write(text []byte) error {
	if err := j.begin(); err != nil {
		return err
	}
	if _, err := j.file.Write(text); err != nil || j.unsyncedSeconds < 1 {
		return err
	}
	j.unsyncedSeconds = 0
	return j.file.Sync()
}

// Begin creates this process's segment, so that an unwritable folder is detected before there are
// results.
func (j *Journal) Begin() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.dir != "" && j.err == nil {
		j.err = writing(j.begin())
	}
	return j.err
}

func (j *Journal) begin() (err error) {
	if j.file == nil {
		j.file, err = createSegment(j.dir)
	}
	return err
}

// writing is the error for a failed write, with a remedy.
func writing(err error) error {
	switch {
	case err == nil:
		return nil
	case errors.Is(err, fs.ErrPermission), errors.Is(err, syscall.EROFS):
		return atomicfile.Remedied{Err: fmt.Errorf("%w: %w; %s with -o", ErrUnwritable, err, atomicfile.Remedy(err))}
	}
	return atomicfile.Remedied{Err: fmt.Errorf("%w: %w; %s, and go on", ErrJournal, err,
		cmp.Or(atomicfile.Remedy(err), "remove the cause"))}
}

// createSegment creates a segment with a new name.
func createSegment(dir string) (*os.File, error) {
	folder := filepath.Join(dir, "journal")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return nil, err
	}
	for n := 0; ; n++ {
		name := filepath.Join(folder, fmt.Sprintf("%s-%d-%d.jsonl", hostname(), os.Getpid(), n))
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

// syncDir makes the entries of a folder durable. Windows does this itself and refuses the call.
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

// Detach keeps j in memory only: later lines are not written.
func (j *Journal) Detach() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.dir = ""
}

// Done looks up a finished job. The line is shared: do not modify it.
func (j *Journal) Done(key string) (record.Line, bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e, found := j.ours.jobs[key]
	return e.line, found
}

// Earlier looks up a job that another plan finished in this folder and that is not on record for
// this plan. again: it is a failure that runs again, which a timeout is, and after RetryEarlier
// every failure.
func (j *Journal) Earlier(key string) (line record.Line, again, found bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	e, found := j.foreign.jobs[key]
	line = e.line
	again = line.TimedOut() || j.retry && !line.Failure().IsZero()
	return line, again, found && j.ours.attempts[key] == 0
}

// Retried looks up a failed trial that runs again, or has run again, of this plan or another one.
func (j *Journal) Retried(key string) (r record.Retry, found bool) {
	j.mu.Lock()
	defer j.mu.Unlock()
	r, found = j.ours.retries[key]
	if other, is := j.foreign.retries[key]; is && (!found || other.Known > r.Known) {
		return other, true
	}
	return r, found
}

// Usable reports whether a report could use the line as one of the plan.
func (j *Journal) Usable(line record.Line) bool { return j.Check == nil || j.Check(line) == nil }

// RetryEarlier makes failed jobs of other plans run again.
func (j *Journal) RetryEarlier() {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.retry = true
}

// Others counts the jobs of other plans.
func (j *Journal) Others() int {
	j.mu.Lock()
	defer j.mu.Unlock()
	return len(j.foreign.jobs)
}

// Lines lists the finished jobs by configuration, study, kind (trials first) and index, independent
// of process and time. Of two fits of a study only the one that knows more enqueued points is
// listed, and of a point that was withdrawn no failure. The lines are shared: do not modify them.
func (j *Journal) Lines() []record.Line {
	j.mu.Lock()
	lines := make([]record.Line, 0, len(j.ours.jobs))
	for _, e := range j.ours.jobs {
		t := e.line.Trial
		if t == nil || t.Failure.IsZero() || !j.commands.control.Withdrawn(t.Configuration, t.Enqueued) {
			lines = append(lines, e.line)
		}
	}
	j.mu.Unlock()
	place := func(line record.Line) [4]int {
		if t := line.Trial; t != nil {
			return [4]int{t.Configuration, t.Study, 0, t.Index}
		}
		return [4]int{line.Fit.Configuration, line.Fit.Study, 1, line.Fit.Chosen}
	}
	slices.SortFunc(lines, func(a, b record.Line) int {
		p, q := place(a), place(b)
		return cmp.Or(slices.Compare(p[:], q[:]), strings.Compare(a.Key, b.Key))
	})
	latest := map[[2]int]int{} // by study
	for _, line := range lines {
		if f := line.Fit; f != nil {
			latest[[2]int{f.Configuration, f.Study}] = max(latest[[2]int{f.Configuration, f.Study}], f.Enqueued)
		}
	}
	return slices.DeleteFunc(lines, func(line record.Line) bool {
		f := line.Fit
		return f != nil && f.Enqueued < latest[[2]int{f.Configuration, f.Study}]
	})
}

// Damaged lists unreadable lines, as FILE:LINE: REASON. Their jobs run again.
func (j *Journal) Damaged() (all []string) {
	j.mu.Lock()
	defer j.mu.Unlock()
	for _, at := range slices.Sorted(maps.Keys(j.damaged)) {
		all = append(all, at+": "+j.damaged[at])
	}
	return all
}

// Close syncs and closes this process's segment. An empty segment is deleted.
func (j *Journal) Close() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.file == nil || j.err != nil {
		return j.err
	}
	if err := j.file.Sync(); err != nil {
		j.err = writing(err)
	} else if err := j.file.Close(); err != nil {
		j.err = fmt.Errorf("%w: %w", ErrJournal, err)
	} else if j.written == 0 {
		os.Remove(j.file.Name()) // if it stays, it does no harm
	}
	return j.err
}

// Control returns the combined effect of all commands read so far.
func (j *Journal) Control() record.Control {
	j.mu.Lock()
	defer j.mu.Unlock()
	c := j.commands.control
	return record.Control{Dropped: slices.Clone(c.Dropped), Paused: slices.Clone(c.Paused),
		First: slices.Clone(c.First), Enqueued: slices.Clone(c.Enqueued)}
}

// Claim reserves a job, or anything else that has a key, for this process, until Release. It is
// false if another process that is alive has reserved it. The lines of other processes are read
// after the reservation. A journal in memory has one process.
func (j *Journal) Claim(key string) (ours bool, err error) {
	if err := j.Begin(); err != nil {
		return false, err
	}
	j.mu.Lock()
	dir, file := j.dir, j.file
	j.mu.Unlock()
	if dir == "" {
		return true, nil
	}
	ours, fresh, err := j.leases.claim(filepath.Join(dir, "journal", "leases"), file.Name(), key)
	if err != nil {
		_, missing := j.Refresh() // a folder that was moved has no place for a reservation
		return false, cmp.Or(missing, writing(err))
	}
	if fresh {
		_, err = j.Refresh() // reads the results of the last holder
	}
	return ours && err == nil, err
}

// Reserve reserves a key until Told, beyond the end of this process. It is false if the key is
// reserved. This process must have claimed a key before. A journal in memory has no other process.
func (j *Journal) Reserve(key string) (ours bool, err error) {
	if j.leaseFolder() == "" {
		return true, nil
	}
	if ours, err = j.leases.reserve(key); err != nil {
		return false, writing(err)
	}
	_, err = j.Refresh()
	return ours && err == nil, err
}

// Asked reports whether a key has a reservation of Reserve, and since when.
func (j *Journal) Asked(key string) (since time.Time, asked bool) {
	return j.leases.reserved(j.leaseFolder(), key)
}

// Told ends a reservation of Reserve.
func (j *Journal) Told(key string) { j.leases.told(j.leaseFolder(), key) }

// leaseFolder is the folder of the reservations; "": the journal is in memory.
func (j *Journal) leaseFolder() string {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.dir == "" {
		return ""
	}
	return filepath.Join(j.dir, "journal", "leases")
}

// Elsewhere counts the reservations of other processes. Those of processes of this machine that
// have ended do not count.
func (j *Journal) Elsewhere() int {
	j.mu.Lock()
	dir := j.dir
	j.mu.Unlock()
	return j.leases.elsewhere(filepath.Join(dir, "journal", "leases"))
}

// Holds reports whether this process still has a reservation. If this process was suspended for a
// minute, another one may have taken it.
func (j *Journal) Holds(key string) bool { return j.leases.holds(key) }

// Release ends the reservation of a job.
func (j *Journal) Release(key string) { j.leases.release(key) }

// ReleaseAll ends all reservations of this process.
func (j *Journal) ReleaseAll() { j.leases.releaseAll() }
