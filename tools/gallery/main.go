// Gallery runs the experiments of the gallery and compares the results with published ones. It
// writes docs/gallery.md, the overview; docs/gallery/ledger.csv, every row of the ledger with its
// computed value; and in docs/gallery a page and the figures of every experiment.
//
// Every number on the pages is a result of the runs or from the ledger. It is an error if a row of
// the ledger has neither a value nor a reason for its absence, or a difference without a reason.
// Experiments that are not run keep their files and rows.
package main

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gpc-tune/gpc-tune/experiments/gallery"
	"github.com/gpc-tune/gpc-tune/tools/gallery/ledger"
)

func main() {
	log.SetFlags(0)
	out := flag.String("o", "docs/gallery.md", "the page to write; all else is in a folder beside it")
	digits := flag.String("digits", ".", "folder of the USPS digits, as gpc-tune data usps writes them; without, "+
		"the experiments on them are left out")
	runs := flag.String("runs", "", "folder to keep the runs in, which another start goes on with; default: a "+
		"temporary one")
	full := flag.Bool("full", false, "the experiments that are too long to be run with the others, instead of these")
	finished := flag.Bool("finished", false, "run nothing: the page of the runs that -runs has finished")
	flag.Usage = func() {
		fmt.Fprintln(flag.CommandLine.Output(), "usage: page [flags] [experiment …]")
		flag.PrintDefaults()
	}
	flag.Parse()
	names := flag.Args()
	if len(names) == 0 {
		names = slices.DeleteFunc(gallery.Names(), func(name string) bool { return gallery.Long(name) != *full })
	}
	if *runs == "" {
		dir, err := os.MkdirTemp("", "gallery")
		if err != nil {
			log.Fatal(err)
		}
		defer os.RemoveAll(dir)
		*runs = dir
	}
	b := book{file: *out, part: flag.NArg() > 0, finished: *finished, runs: ledger.Runs{}, former: ledger.Runs{}}
	err := errors.Join(b.run(context.Background(), names, *digits, *runs), b.write())
	if err != nil {
		log.Fatal(err)
	}
}

// book has the results of the experiments run so far.
type book struct {
	file string // the page to read
	part bool   // only some experiments were asked for
	// nothing runs; only finished runs are read
	finished bool
	runs     ledger.Runs // runs of this call
	former   ledger.Runs // runs finished before, not asked for in this call
}

// folder is the folder of all files except the overview.
func (b *book) folder() string { return strings.TrimSuffix(b.file, filepath.Ext(b.file)) }

// run runs experiments, and reads the kept runs of the others.
func (b *book) run(ctx context.Context, names []string, digits, runs string) error {
	var faults []error
	for _, name := range gallery.Names() {
		dir, into, find := filepath.Join(runs, name), b.runs, result
		if !slices.Contains(names, name) {
			if b.part {
				continue
			}
			into, find = b.former, kept
		} else if b.finished {
			find = kept
		}
		start := time.Now()
		r, err := find(ctx, name, digits, dir)
		var absent absent
		switch {
		case errors.As(err, &absent):
			log.Printf("%s: not run, %v", name, absent)
		case err != nil:
			faults = append(faults, fmt.Errorf("%s: %w", name, err))
		case r != nil:
			into[name] = r
			log.Printf("%s: %v", name, time.Since(start).Round(time.Second/10))
		}
	}
	for _, name := range names {
		if !slices.Contains(gallery.Names(), name) {
			_, err := gallery.Read(name)
			faults = append(faults, err)
		}
	}
	return errors.Join(faults...)
}

// write judges the rows, writes all files and prints the counts. It removes the files of
// experiments that no longer exist.
func (b *book) write() error {
	rows, err := ledger.Rows()
	if err != nil {
		return err
	}
	former, err := b.formerEntries()
	if err != nil {
		return err
	}
	entries, err := ledger.Judge(rows, ledger.All, b.runs, b.former, former)
	faults := []error{err}
	fault := func(err error) { faults = append(faults, err) }
	if b.part { // rows without a value are left out if there was no ledger before
		entries = slices.DeleteFunc(entries, func(e ledger.Entry) bool {
			return former == nil && e.Verdict == ledger.NotApplicable
		})
	}
	short := func(name string) bool { return !gallery.Long(name) }
	for _, e := range entries {
		if !b.part && e.Kept == ledger.NotRun && slices.ContainsFunc(e.Experiments, short) {
			fault(fmt.Errorf("%v: %s", e.Row, e.Reason))
		}
	}
	if err := os.MkdirAll(b.folder(), 0o777); err != nil {
		return err
	}
	for _, runs := range []ledger.Runs{b.runs, b.former} {
		for name, r := range runs {
			fault(b.own(name, r, entries))
		}
	}
	if !b.part {
		fault(b.stubs())
	}
	if b.part {
		for _, e := range entries {
			if e.Verdict != ledger.NotApplicable && e.Kept == "" {
				log.Printf("%v: %s here, %s there, %s %s", e.Row, e.Here, e.Published, e.Verdict, e.Reason)
			}
		}
	}
	var table bytes.Buffer
	fault(ledger.Write(&table, entries))
	fault(os.WriteFile(filepath.Join(b.folder(), "ledger.csv"), table.Bytes(), 0o666))
	if !b.part {
		fault(b.tidy())
	}
	page, err := overview(entries, filepath.Base(b.folder()), func(file string) bool {
		_, err := os.Stat(filepath.Join(b.folder(), file))
		return err == nil
	})
	if !b.part {
		fault(err)
	}
	fault(os.WriteFile(b.file, page, 0o666))
	n := count(entries)
	log.Print(n)
	if kept := n.kept(); kept != "" {
		log.Printf("not run again: %s", kept)
	}
	return errors.Join(faults...)
}

// formerEntries reads the entries of the last run from the folder.
func (b *book) formerEntries() ([]ledger.Entry, error) {
	file, err := os.Open(filepath.Join(b.folder(), "ledger.csv"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	defer file.Close()
	entries, err := ledger.Read(file)
	if err != nil {
		err = fmt.Errorf("%s: %w", file.Name(), err)
	}
	return entries, err
}

// own replaces the files of an experiment.
func (b *book) own(name string, r *ledger.Run, entries []ledger.Entry) error {
	files, failed := own(name, r, entries)
	old, err := filepath.Glob(filepath.Join(b.folder(), name+"-*.svg"))
	for _, file := range old {
		err = errors.Join(err, os.Remove(file))
	}
	for file, text := range files {
		err = errors.Join(err, os.WriteFile(filepath.Join(b.folder(), file), text, 0o666))
	}
	if failed != nil {
		err = errors.Join(err, fmt.Errorf("%s: %w", name, failed))
	}
	return err
}

// stubs writes pages for experiments that have none.
func (b *book) stubs() error {
	for _, name := range gallery.Names() {
		file := filepath.Join(b.folder(), name+".md")
		if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
			continue
		}
		files, err := own(name, nil, nil)
		if err != nil {
			return err
		}
		if err := os.WriteFile(file, files[name+".md"], 0o666); err != nil {
			return err
		}
	}
	return nil
}

// tidy removes the files of experiments that no longer exist.
func (b *book) tidy() error {
	files, err := filepath.Glob(filepath.Join(b.folder(), "*"))
	for _, file := range files {
		base := filepath.Base(file)
		name := experimentOf(strings.TrimSuffix(base, filepath.Ext(base)))
		if base != "ledger.csv" && !slices.Contains(gallery.Names(), name) {
			err = errors.Join(err, os.Remove(file))
		}
	}
	return err
}
