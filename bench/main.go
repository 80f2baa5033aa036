//go:build linux

// Bench measures gpc-tune beside what else there is, in one run on one machine: OpenBLAS and
// scikit-learn (peers.py), kernlab (peers.R), and the textbook's algorithms in numpy. It checks
// that the results agree before it compares times, and writes the page docs/performance.md.
//
// The contenders take turns, so that what else the machine does hits all of them alike; of the runs
// of each it reports the least and the median, of processor time (which leaves out the time that
// others had the processor) and of wall-clock time.
package main

import (
	"cmp"
	"errors"
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

// settings is what the command line says of a run.
type settings struct{ digits, python, rscript, core, only string }

func main() {
	log.SetFlags(0)
	var b bench
	var s settings
	flag.StringVar(&s.digits, "digits", "../shared/data", "folder of the USPS digits: usps_3v5_train.csv.gz, "+
		"usps_3v5_test.csv.gz and, for -ten, usps_resampled_train.csv.gz")
	out := flag.String("o", "docs/performance.md", "the page to write; - for standard output")
	flag.StringVar(&s.python, "python", "/usr/bin/python3", "a Python with scikit-learn")
	flag.StringVar(&s.rscript, "rscript", "Rscript", "an R with kernlab")
	flag.StringVar(&s.core, "core", "SKYLAKEX", "OPENBLAS_CORETYPE of the second way to run Python")
	flag.StringVar(&s.only, "only", "", "sections to run, by name, between commas; all but ten unless given")
	flag.IntVar(&b.stride, "stride", 4, "of the 17 x 23 grid, every so many values of each axis; 1 is all of it")
	flag.IntVar(&b.rounds, "rounds", 5, "how often the contenders take turns in the shorter sections")
	flag.Parse()
	if err := b.run(s); err != nil {
		log.Fatal("bench: ", err)
	}
	var err error
	if *out == "-" {
		_, err = os.Stdout.Write(b.page.Bytes())
	} else {
		err = os.WriteFile(*out, b.page.Bytes(), 0o666)
	}
	if err != nil {
		log.Fatal("bench: ", err)
	}
}

// sections, in the order of the page. What a section needs and is not there makes it say so and
// stop.
var sections = []struct {
	name   string
	always bool // unless others are asked for
	run    func(*bench)
}{
	{"level3", true, (*bench).level3},
	{"laplace", true, (*bench).laplace},
	{"ard", true, (*bench).ard},
	{"tune", true, (*bench).tune},
	{"ep", true, (*bench).sequentialEP},
	{"grid", true, (*bench).grid},
	{"kernlab", true, (*bench).kernlab},
	{"schedule", true, (*bench).schedule},
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

// scripts is the folder of this source file, where the peers' scripts are.
func scripts() string {
	_, file, _, ok := runtime.Caller(0)
	if _, err := os.Stat(file); !ok || err != nil {
		must(errors.New("the scripts of the peers were not found; run it in a checkout, as make bench-peers does"))
	}
	return filepath.Dir(file)
}

// introduce writes what was run where.
func (b *bench) introduce() {
	load := number("/proc/loadavg", 0)
	for range 20 { // the fastest of many moments
		b.peak = max(b.peak, peakNow(1))
	}
	var versions [2]struct{ Python, Numpy, Scipy, Sklearn, Version, Core string }
	var kernlab struct{ Kernlab, R string }
	for i, p := range b.ways {
		must(p.ask(&versions[i], "info"))
	}
	must(b.r.ask(&kernlab, "info"))
	v := versions[1]
	b.say("introduction",
		cmp.Or(field("/proc/cpuinfo", "model name"), runtime.GOARCH), runtime.NumCPU(), linalg.SIMD(), b.peak/1e9,
		runtime.Version(),
		v.Sklearn, v.Numpy, v.Scipy, v.Python, kernlab.Kernlab, kernlab.R,
		v.Version, versions[0].Core, b.ways[1].name, v.Core,
		load)
}
