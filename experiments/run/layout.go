package run

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"math"
	"os"
	"path/filepath"
	"slices"

	"github.com/gpc-tune/gpc-tune/experiments/journal"
	"github.com/gpc-tune/gpc-tune/experiments/plan"
	"github.com/gpc-tune/gpc-tune/experiments/spec"
	"github.com/gpc-tune/gpc-tune/internal/atomicfile"
	"github.com/gpc-tune/gpc-tune/internal/build"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/search/schedule"
)

// Layout is the content of plan.json in a run folder: the information with which a worker on any
// machine makes the plan again and finds its block.
type Layout struct {
	Schema   string       `json:"schema"`            // "gpc-tune/plan/2"
	Key      string       `json:"key"`               // key of the manifest
	ID       string       `json:"id"`                // identifies the run for engines
	Engine   string       `json:"engine,omitempty"`  // engine of the last submission
	Options  []string     `json:"options,omitempty"` // command-line options of that submission
	Blocks   int          `json:"blocks"`
	Build    record.Build `json:"build"` // build that workers must have
	File     string       `json:"file"`
	Folder   string       `json:"folder"` // absolute; relative paths in the file start here
	Text     string       `json:"text"`   // text of the file
	Settings []string     `json:"settings,omitempty"`
	// Measured means that the estimates are seconds of the machine that wrote them. Otherwise they
	// are relative only.
	Measured  bool       `json:"measured"`
	Estimates []Estimate `json:"estimates"`     // estimate of every study
	Sum       string     `json:"sum,omitempty"` // checksum of the bytes before it
}

const (
	layoutName   = "plan.json"
	layoutSchema = "gpc-tune/plan/2"
)

// LaidOut is a plan with the folder that its workers share.
type LaidOut struct {
	Layout
	Plan  *plan.Plan
	Dir   string
	retry bool // Missing counts the failed jobs as missing; nothing is written
}

// LayOutOptions are options of LayOut.
type LayOutOptions struct {
	Blocks  int                              // 0: the previous number, or a suggested one
	Jobs    int                              // concurrent jobs of a block
	Engine  string                           // engine that will run the blocks
	Rates   *plan.Rates                      // nil: nominal ones, which suffice to divide the work
	Options []string                         // command-line options to keep for the next submission
	Extend  bool                             // the folder may have a plan that this one extends
	Retry   bool                             // run recorded failed jobs again
	DryRun  bool                             // write nothing
	Warn    func(format string, args ...any) // receives warnings for the user; nil: they are dropped
}

// LayOut writes the manifest and plan.json into the run folder dir, for workers. If the folder has
// this plan already, its blocks are kept, so that running and new workers agree on them.
func LayOut(p *plan.Plan, dir string, o LayOutOptions) (*LaidOut, error) {
	if o.Warn == nil {
		o.Warn = func(string, ...any) {}
	}
	if o.DryRun {
		_, err := owned(p, dir)
		if of := (*extension)(nil); err != nil && !errors.Is(err, fs.ErrNotExist) &&
			!errors.Is(err, journal.ErrDamaged) && !(o.Extend && errors.As(err, &of)) {
			return nil, err
		}
	} else {
		j, _, err := open(p, dir, Options{Resume: true, Extend: o.Extend, Warn: o.Warn})
		if err == nil && o.Retry {
			err = retry(p.Search(), j, o.Warn)
		}
		if err == nil {
			err = j.Close()
		}
		if err != nil {
			return nil, err
		}
	}
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	folder, err := filepath.Abs(p.Spec.Dir)
	if err != nil {
		return nil, err
	}
	l := &LaidOut{Plan: p, Dir: absolute}
	l.Layout, err = ReadLayout(dir)
	switch {
	case errors.Is(err, journal.ErrDamaged):
		o.Warn("%v; it is written again", err)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return nil, err
	}
	if err != nil || l.Key != p.Manifest.Key || len(l.Estimates) != len(p.Studies) {
		sum := sha256.Sum256([]byte(p.Manifest.Key + "\x00" + absolute))
		l.Layout = Layout{Schema: layoutSchema, Key: p.Manifest.Key, ID: fmt.Sprintf("%x", sum[:4])}
		l.Estimates, l.Measured = estimate(p, o.Rates)
	}
	l.Build, l.Engine, l.Options = build.This(), o.Engine, o.Options
	l.File, l.Folder, l.Text, l.Settings = p.Spec.File, folder, p.Spec.Text, p.Spec.Settings
	switch {
	case o.Blocks > 0:
		l.Blocks = o.Blocks
	case l.Blocks == 0:
		l.Blocks = l.suggested(max(1, o.Jobs))
	}
	if o.DryRun {
		l.retry = o.Retry
		return l, nil
	}
	text, err := json.Marshal(l.Layout)
	if err != nil {
		return nil, err
	}
	return l, atomicfile.Write(filepath.Join(dir, layoutName), func(w io.Writer) error {
		_, err := w.Write(journal.Seal(text))
		return err
	})
}

// Default size of blocks: one hour each, or this number of blocks if times are not known.
const (
	blockSeconds = 3600
	blocksAnyway = 16
)

// suggested returns a number of blocks for workers that run this many jobs at a time.
func (l *LaidOut) suggested(jobs int) int {
	blocks, total, units := blocksAnyway, 0.0, 0
	for i, e := range l.Estimates {
		total += e.Trials + e.Later
		if s := l.Plan.Studies[i]; s.RunsTrialsOf == i {
			units += max(1, s.First)
		}
	}
	if l.Measured {
		blocks = int(min(math.Ceil(total/float64(blockSeconds*jobs)), 1e6))
	}
	return max(1, min(blocks, units))
}

// ReadLayout reads the plan.json of a run folder. Without one the error is fs.ErrNotExist.
func ReadLayout(dir string) (l Layout, err error) {
	name := filepath.Join(dir, layoutName)
	text, err := os.ReadFile(name)
	if err != nil {
		return l, err
	}
	l, err = decodeLayout(text)
	if err != nil {
		err = fmt.Errorf("%w: %s: %w; lay the run out again with gpc-tune submit", ErrFolder, name, err)
	}
	return l, err
}

func decodeLayout(text []byte) (l Layout, err error) {
	sealed, err := journal.CheckSeal(text)
	if err != nil {
		return l, err
	}
	if !sealed {
		return l, fmt.Errorf("%w: it has no checksum", journal.ErrDamaged)
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&l); err != nil || l.Schema != layoutSchema {
		return l, fmt.Errorf("not one of this version of gpc-tune (schema %q, want %q; %v); use one version", l.Schema,
			layoutSchema, err)
	}
	l.Sum = ""
	return l, nil
}

// OpenLaidOut makes the plan of a prepared folder again and verifies it: the data must have the
// same content, and the build and the kind of processor must be the same. A difference is an
// ErrInvalid, which a retry cannot solve.
func OpenLaidOut(ctx context.Context, dir string) (*LaidOut, error) {
	l, err := ReadLayout(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("%s: %w: %w; lay the run out with gpc-tune submit", dir, ErrFolder, err)
	}
	if err != nil {
		return nil, err
	}
	m, err := journal.ReadManifest(dir)
	lost := errors.Is(err, journal.ErrDamaged) // the worker writes it again
	if err != nil && !lost {
		return nil, fmt.Errorf("%s: %w: %w", dir, ErrFolder, err)
	}
	if here := build.This(); here != l.Build {
		return nil, fmt.Errorf("%w: the run was prepared by the build %v, and this build is %v; results may "+
			"differ in the last digits. Use one program, and processors of one kind, or set GPC_TUNE_SIMD=avx2 "+
			"or generic for submit and all workers", spec.ErrInvalid, l.Build, here)
	}
	if m.Key != l.Key && !lost {
		return nil, fmt.Errorf("%s: %w: the plan in the folder has changed since the run was submitted; submit "+
			"it again", dir,
			spec.ErrInvalid)
	}
	declared, err := spec.Parse(l.File, []byte(l.Text), l.Settings)
	if err != nil {
		return nil, err
	}
	declared.Dir = l.Folder
	p, err := plan.New(ctx, declared)
	if err != nil {
		return nil, err
	}
	if p.Manifest.Key != l.Key {
		for i, c := range p.Manifest.Configurations {
			if i < len(m.Configurations) && m.Configurations[i].DataHash != c.DataHash {
				return nil, fmt.Errorf("%w: %s: the data in %s have changed since the run was submitted: their "+
					"hash is %.12s, and was %.12s", spec.ErrInvalid, c.Dataset, l.Folder, c.DataHash,
					m.Configurations[i].DataHash)
			}
		}
		return nil, fmt.Errorf("%s: %w: its plan.json does not give the plan of its manifest; submit it again", dir,
			spec.ErrInvalid)
	}
	if len(l.Estimates) != len(p.Studies) || l.Blocks < 1 {
		return nil, fmt.Errorf("%s: %w: its plan.json has %d estimates for %d studies, and %d blocks; submit it again",
			dir, ErrFolder, len(l.Estimates), len(p.Studies), l.Blocks)
	}
	return &LaidOut{Layout: l, Plan: p, Dir: dir}, nil
}

// Files returns the absolute paths of the data files that workers read.
func (l *LaidOut) Files() (files []string) {
	for _, declared := range l.Plan.Spec.Data {
		files = append(files, declared.Files(l.Folder)...)
	}
	if of := l.Plan.Spec.Program; of != nil {
		files = append(files, of.Paths(l.Folder)...)
	}
	return files
}

// Work runs the missing jobs of a block that can run now. waits is the number of its studies with
// jobs that depend on other blocks. Another worker of the same block continues with these jobs
// later.
func (l *LaidOut) Work(ctx context.Context, b Block, o Options) (summary schedule.Summary, waits int, err error) {
	p, d := l.Plan, divide(l.Plan, l.Estimates, b.Of)
	owned := func(i int) bool {
		return d.own(b, i, schedule.Later) || slices.ContainsFunc(d.first[i],
			func(k int) bool { return d.block[k] == b.Index })
	}
	var studies []schedule.Study
	var places []int
	for i, s := range p.Studies {
		switch {
		case owned(i):
		// contests may decide which jobs this block has; they are checked without running anything
		case len(p.Manifest.Contests) > 0:
			s.Memory = 0
		default:
			continue
		}
		studies, places = append(studies, s.Study), append(places, i)
	}
	o.Ours = func(study, trial int) bool { return d.own(b, places[study], trial) }
	journal, err := Begin(p, l.Dir, studies, o)
	if err != nil {
		return summary, 0, err
	}
	defer journal.Close() // every line is on disk already
	defer Govern(p, &o)()
	if o.Folder, err = filepath.Abs(l.Dir); err != nil {
		return summary, 0, err
	}
	if summary, err = schedule.Run(ctx, studies, journal, o.Options); err == nil {
		err = journal.Close()
	}
	if err != nil {
		return summary, 0, err
	}
	left, err := schedule.Left(studies, journal)
	for _, m := range left {
		if owned(places[m.Study]) && (m.Closed || d.own(b, places[m.Study], schedule.Later)) {
			waits++
		}
	}
	return summary, waits, err
}

// Wave is a set of blocks that can run at the same time, after the previous wave.
type Wave struct {
	Index   int     // index of the wave
	Blocks  []int   // blocks with missing jobs, ascending
	Seconds float64 // processor time of the largest block
	Longest float64 // processor time of the longest unit: one worker runs a unit
	All     float64 // processor time of all blocks
}

// Workload is the missing part of a run.
type Workload struct {
	Waves   []Wave
	Rest    float64 // seconds of processor time outside all waves, run when the results are written
	Memory  int64   // bytes of the largest job of the plan; 0: none is missing
	Journal int64   // approximate final size of the journal in bytes
}

// Missing lists the blocks with jobs that are not on record. If the final jobs take no longer than
// one block takes before them, they are left to `--block rest`.
func (l *LaidOut) Missing() (w Workload, err error) {
	begun, err := journal.ReadManifest(l.Dir)
	if err != nil { // it must be written
		begun = l.Plan.Manifest
	}
	j, err := journal.Open(l.Dir, journalOptions(begun, l.Plan.Manifest))
	if err != nil {
		return w, err
	}
	if l.retry {
		if err := dryRetry(l.Plan.Search(), j); err != nil {
			return w, err
		}
	}
	left, err := schedule.Left(l.Plan.Search(), j)
	if err != nil {
		return w, err
	}
	w.Journal = l.Plan.Journal()
	d := divide(l.Plan, l.Estimates, l.Blocks)
	var loads []map[int]float64 // seconds of each wave, by block
	for _, k := range d.missing(left) {
		u := d.units[k]
		for len(w.Waves) <= u.wave {
			w.Waves, loads = append(w.Waves, Wave{Index: len(w.Waves)}), append(loads, map[int]float64{})
		}
		loads[u.wave][d.block[k]] += u.seconds
		wave := &w.Waves[u.wave]
		wave.Longest, wave.All = max(wave.Longest, u.seconds), wave.All+u.seconds
	}
	if len(w.Waves) > 0 { // because a worker refuses a plan if any job does not fit, even one that is on record
		for _, s := range l.Plan.Studies {
			w.Memory = max(w.Memory, s.Memory)
		}
	}
	for i, by := range loads {
		w.Waves[i].Blocks = slices.Sorted(maps.Keys(by))
		for _, seconds := range by {
			w.Waves[i].Seconds = max(w.Waves[i].Seconds, seconds)
		}
	}
	w.Waves = slices.DeleteFunc(w.Waves, func(v Wave) bool { return len(v.Blocks) == 0 })
	for n := len(w.Waves); n > 1 && w.Rest+w.Waves[n-1].All <= w.Waves[n-2].Seconds; n-- {
		w.Waves, w.Rest = w.Waves[:n-1], w.Rest+w.Waves[n-1].All
	}
	return w, nil
}
