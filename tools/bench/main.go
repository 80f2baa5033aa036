//go:build linux

// Bench compares gpc-tune with other programs in one run on one machine: OpenBLAS, scikit-learn and
// GPBoost (peers.py), kernlab (peers.R), and the textbook's algorithms in numpy. It checks that the
// results agree before it compares times, and writes the page docs/performance.md. This prints one
// section alone:
//
//	go run ./tools/bench -only threads -o -
//
// Python, scikit-learn, R and kernlab must be there. GPBoost is optional: its Python package
// gpboost, of the public repository fabsig/GPBoost (1.7.3 at commit c93fa49), is used where that
// Python imports it, and the page says so where it does not.
//
// The programs run in turns, so that other load of the machine affects all of them alike. Of the
// runs of each it reports the least and the median, of processor time (which leaves out the time
// that others had the processor) and of wall-clock time.
package main

import (
	"cmp"
	"flag"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// settings are flags of the command line.
type settings struct{ digits, python, rscript, core, only string }

func main() {
	log.SetFlags(0)
	var b bench
	var s settings
	flag.StringVar(&s.digits, "digits", "../shared/data", "folder of data that do not come with gpc-tune: "+
		"usps_3v5_train.csv.gz, usps_3v5_test.csv.gz, spam.csv.gz and, for ten, usps_resampled_train.csv.gz")
	out := flag.String("o", performance, "the page to write; - for standard output")
	flag.StringVar(&s.python, "python", "/usr/bin/python3", "a Python with scikit-learn and, for tune, GPBoost")
	flag.StringVar(&s.rscript, "rscript", "Rscript", "an R with kernlab")
	flag.StringVar(&s.core, "core", "SKYLAKEX", "OPENBLAS_CORETYPE of the second way to run Python")
	flag.StringVar(&s.only, "only", "", "sections to run, by name, between commas; all but ten and large unless "+
		"given; search is a page of its own, and bbob is printed")
	keep := flag.String("keep", "", "for search: a file that keeps what other programs find, for the next run")
	flag.IntVar(&b.stride, "stride", 4, "of the 17 x 23 grid, every so many values of each axis; 1 is all of it")
	flag.IntVar(&b.rounds, "rounds", 5, "how often the contenders take turns in the shorter sections")
	flag.Parse()
	if s.only == searchOnly {
		if *out == performance {
			*out = "docs/search-peers.md"
		}
		searches(s.python, *keep, *out)
		return
	}
	if s.only == bbobOnly {
		fmt.Print(bbobTable(s.python))
		return
	}
	if err := b.run(s); err != nil {
		log.Fatal("bench: ", err)
	}
	if err := b.publish(*out); err != nil {
		log.Fatal("bench: ", err)
	}
}

// performance is the page of all sections, and searchOnly the name of a page of its own.
const (
	performance = "docs/performance.md"
	searchOnly  = "search"
)

// sections are in the order of the page. A section whose data are missing says so and stops.
var sections = []struct {
	name   string
	always bool // unless others are asked for
	run    func(*bench)
}{
	{"level3", true, (*bench).level3},
	{"laplace", true, (*bench).laplace},
	{"ard", true, (*bench).ard},
	{"tune", true, (*bench).tune},
	{"large", false, (*bench).large},
	{"ep", true, (*bench).sequentialEP},
	{"grid", true, (*bench).grid},
	{"kernlab", true, (*bench).kernlab},
	{"threads", true, (*bench).threads},
	{"schedule", true, (*bench).schedule},
	{"methods", true, (*bench).methods},
	{"ten", false, (*bench).tenClasses},
}

// run runs the sections; the first failure ends it.
func (b *bench) run(s settings) (err error) {
	section := ""
	defer func() {
		switch r := recover().(type) {
		case nil:
		case failure:
			err = r.error
			if section != "" {
				err = fmt.Errorf("%s: %w", section, err)
			}
		default:
			panic(r)
		}
	}()
	b.dir = got(os.MkdirTemp("", "gpc-tune-bench"))
	defer os.RemoveAll(b.dir)
	scripts, with := scripts(), "OPENBLAS_CORETYPE="+s.core
	python := []string{s.python, filepath.Join(scripts, "peers.py")}
	b.ways = append(b.ways, start("default", nil, python...))
	defer b.ways[0].stop()
	b.ways = append(b.ways, start(s.core, []string{with}, python...))
	defer b.ways[1].stop()
	b.r = start("kernlab", []string{with, "OPENBLAS_NUM_THREADS=1"}, s.rscript, filepath.Join(scripts, "peers.R"))
	defer b.r.stop()
	b.load(s.digits)
	b.introduce()
	for _, c := range sections {
		if s.only == "" && c.always || slices.Contains(strings.Split(s.only, ","), c.name) {
			started := time.Now()
			section = c.name
			c.run(b)
			log.Printf("%s: %.0f s", section, time.Since(started).Seconds())
		}
	}
	return nil
}

// introduce writes what was run where.
func (b *bench) introduce() {
	load := number("/proc/loadavg", 0)
	for range 20 { // the fastest of many moments
		b.peak = max(b.peak, peakNow(1))
	}
	var versions [2]struct {
		Python, Numpy, Scipy, Sklearn, GPBoost, NoGPBoost, Version, Core string
	}
	var kernlab struct{ Kernlab, R string }
	for i, p := range b.ways {
		must(p.ask(&versions[i], "info"))
	}
	must(b.r.ask(&kernlab, "info"))
	v := versions[1]
	b.noGPBoost = v.NoGPBoost
	b.say("introduction",
		cmp.Or(field("/proc/cpuinfo", "model name"), runtime.GOARCH), runtime.NumCPU(), linalg.SIMD(), b.peak/1e9,
		runtime.Version(),
		v.Sklearn, v.Numpy, v.Scipy, v.Python, cmp.Or(v.GPBoost, "missing"), kernlab.Kernlab, kernlab.R,
		v.Version, versions[0].Core, b.ways[1].name, v.Core,
		load)
}
