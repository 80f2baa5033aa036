//go:build linux

// Bench measures gpc-tune beside what else there is, in one run on one machine: OpenBLAS and scikit-learn (peers.py),
// kernlab (peers.R), and the textbook's algorithms in numpy. It checks that the results agree before it compares times,
// and writes the page docs/performance.md.
//
// The contenders take turns, so that what else the machine does hits all of them alike; of the runs of each it reports the
// least and the median, of processor time (which leaves out the time that others had the processor) and of wall-clock time.
package main

import (
	"bytes"
	"errors"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	"gonum.org/v1/gonum/stat"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
)

// bench is one run of the program.
type bench struct {
	page         bytes.Buffer
	dir          string // for files that pass between processes
	train, test  string // the digits, if they are there
	tenTrain     string
	ways         []*peer // Python with OpenBLAS as it comes, and with the kernels for this processor
	r            *peer   // nil: no kernlab
	sets         []set
	stride       int
	rounds       int
	peak         float64 // floating-point operations a second of one core, from registers
	onlySections []string
}

func main() {
	log.SetFlags(0)
	b := bench{}
	digits := flag.String("digits", "../shared/data", "folder of the USPS digits: usps_3v5_train.csv.gz, usps_3v5_test.csv.gz and, for -ten, usps_resampled_train.csv.gz")
	out := flag.String("o", "docs/performance.md", "the page to write; - for standard output")
	python := flag.String("python", "/usr/bin/python3", "a Python with scikit-learn")
	rscript := flag.String("rscript", "Rscript", "an R with kernlab")
	core := flag.String("core", "SKYLAKEX", "OPENBLAS_CORETYPE of the second way to run Python")
	only := flag.String("only", "", "sections to run, by name, between commas; all but ten unless given")
	flag.IntVar(&b.stride, "stride", 4, "of the 17 x 23 grid, every so many values of each axis; 1 is all of it")
	flag.IntVar(&b.rounds, "rounds", 5, "how often the contenders take turns in the shorter sections")
	flag.Parse()
	if *only != "" {
		b.onlySections = strings.Split(*only, ",")
	}
	if err := b.run(*digits, *python, *rscript, *core); err != nil {
		log.Fatal("bench: ", err)
	}
	if *out == "-" {
		os.Stdout.Write(b.page.Bytes())
	} else if err := os.WriteFile(*out, b.page.Bytes(), 0o666); err != nil {
		log.Fatal("bench: ", err)
	}
}

// sections, in the order of the page. What a section needs and is not there makes it say so and stop.
var sections = []struct {
	name   string
	always bool // unless others are asked for
	run    func(*bench) error
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

func (b *bench) run(digits, python, rscript, core string) (err error) {
	if b.dir, err = os.MkdirTemp("", "gpc-tune-bench"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	scripts, err := scripts()
	if err != nil {
		return err
	}
	for _, way := range []struct{ name, setting string }{{"default", ""}, {core, "OPENBLAS_CORETYPE=" + core}} {
		var settings []string
		if way.setting != "" {
			settings = append(settings, way.setting)
		}
		p, err := start(way.name, settings, python, filepath.Join(scripts, "peers.py"))
		if err != nil {
			return err
		}
		defer p.stop()
		b.ways = append(b.ways, p)
	}
	if b.r, err = start("kernlab", []string{"OPENBLAS_CORETYPE=" + core, "OPENBLAS_NUM_THREADS=1"}, rscript, filepath.Join(scripts, "peers.R")); err != nil {
		return err
	}
	defer b.r.stop()
	if err := b.load(digits); err != nil {
		return err
	}
	if err := b.introduce(); err != nil {
		return err
	}
	for _, s := range sections {
		if len(b.onlySections) == 0 && s.always || slices.Contains(b.onlySections, s.name) {
			started := time.Now()
			if err := s.run(b); err != nil {
				return fmt.Errorf("%s: %w", s.name, err)
			}
			log.Printf("%s: %.0f s", s.name, time.Since(started).Seconds())
		}
	}
	return nil
}

// scripts is the folder of this source file, where the peers' scripts are.
func scripts() (string, error) {
	_, file, _, ok := runtime.Caller(0)
	if _, err := os.Stat(file); !ok || err != nil {
		return "", errors.New("the scripts of the peers were not found; run it in a checkout, as make bench-peers does")
	}
	return filepath.Dir(file), nil
}

// introduce writes what was run where.
func (b *bench) introduce() error {
	b.measurePeak()
	var load float64
	if text, err := os.ReadFile("/proc/loadavg"); err == nil {
		load, _ = strconv.ParseFloat(strings.Fields(string(text))[0], 64)
	}
	var versions struct{ Python, Numpy, Scipy, Sklearn, Version, Core string }
	var kernlab struct{ Kernlab, R string }
	cores := make([]string, len(b.ways))
	for i, p := range b.ways {
		if err := p.ask(&versions, "info"); err != nil {
			return err
		}
		cores[i] = versions.Core
	}
	if err := b.r.ask(&kernlab, "info"); err != nil {
		return err
	}
	b.printf("# Performance\n\n")
	b.printf("gpc-tune beside its peers, in one run on one machine. `make bench-peers` wrote this page.\n\n")
	b.table("| | |", "|---|---|",
		fmt.Sprintf("| processor | %s, %d cores; %s kernels; one core's peak %.1f GFLOP/s (multiply-adds from registers, measured here) |", processor(), runtime.NumCPU(), linalg.SIMD(), b.peak/1e9),
		fmt.Sprintf("| gpc-tune | %s, static, no cgo |", runtime.Version()),
		fmt.Sprintf("| peers | scikit-learn %s on numpy %s, scipy %s, Python %s; kernlab %s on R %s |", versions.Sklearn, versions.Numpy, versions.Scipy, versions.Python, kernlab.Kernlab, kernlab.R),
		fmt.Sprintf("| their BLAS | OpenBLAS %s: as it comes, which takes its %s kernels here (“default”), and with OPENBLAS_CORETYPE=%s, which takes %s; kernlab with the latter |", versions.Version, cores[0], b.ways[1].name, cores[1]),
		fmt.Sprintf("| load before the run | %.2f |", load),
	)
	b.printf("Contenders take turns. Times are those of the least and of the median turn: processor time of the whole process " +
		"(what else the machine did shows in it only through shared caches and clocks), and wall-clock time. Where only ratios " +
		"of least processor times are given, the wall-clock times differ in the same way. One thread unless said otherwise. " +
		"Results were found to agree within the tolerance stated before times were compared.\n\n")
	return nil
}

// processor is the name that the operating system gives it.
func processor() string {
	text, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(text)) {
		if key, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(key) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return runtime.GOARCH
}

// measurePeak takes the fastest of many moments.
func (b *bench) measurePeak() {
	for range 20 {
		b.peak = max(b.peak, peakNow())
	}
}

// peakNow is the speed of multiply-adds from registers at this moment, in floating-point operations a second of processor
// time; 0 where none is known.
func peakNow() float64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	started := clock(unix.CLOCK_THREAD_CPUTIME_ID)
	return multiplyAdds() / (clock(unix.CLOCK_THREAD_CPUTIME_ID) - started)
}

// peakDuring runs f and returns the mean peak of a core meanwhile, as clocks change with what the neighbours on the machine
// do: multiply-adds from registers for a millisecond or so of processor time, a few times a second.
func peakDuring(f func()) float64 {
	done, mean := make(chan struct{}), make(chan float64)
	go func() {
		runtime.LockOSThread()
		var rates []float64
		for {
			operations, started := 0.0, clock(unix.CLOCK_THREAD_CPUTIME_ID)
			for range 4 {
				operations += multiplyAdds()
			}
			rates = append(rates, operations/(clock(unix.CLOCK_THREAD_CPUTIME_ID)-started))
			select {
			case <-done:
				mean <- stat.Mean(rates, nil)
				return
			case <-time.After(500 * time.Millisecond):
			}
		}
	}()
	f()
	close(done)
	return <-mean
}

// stolen is the time in seconds, of all cores together, that the host of this virtual machine has given to others.
func stolen() float64 {
	text, _ := os.ReadFile("/proc/stat")
	f := strings.Fields(string(text)) // cpu, user, nice, system, idle, iowait, irq, softirq, steal
	if len(f) < 9 {
		return 0
	}
	ticks, _ := strconv.ParseFloat(f[8], 64)
	return ticks / 100
}

// clock is a clock of the system in seconds.
func clock(id int32) float64 {
	var t unix.Timespec
	if err := unix.ClockGettime(id, &t); err != nil {
		panic(err)
	}
	return float64(t.Nano()) / 1e9
}

func (b *bench) printf(format string, args ...any) { fmt.Fprintf(&b.page, format, args...) }

// table writes one; every row has its bars.
func (b *bench) table(header, rule string, rows ...string) {
	b.printf("%s\n%s\n%s\n\n", header, rule, strings.Join(rows, "\n"))
}

// contender is one of those that take turns.
type contender struct {
	name string
	run  func() (answer, error)
}

// timing is what a contender's turns gave.
type timing struct {
	name  string
	turns []answer
}

// race lets the contenders take turns. A round is one turn of each.
func race(rounds int, contenders ...contender) ([]timing, error) {
	all := make([]timing, len(contenders))
	for range rounds {
		for i, c := range contenders {
			a, err := c.run()
			if err != nil {
				return nil, fmt.Errorf("%s: %w", c.name, err)
			}
			all[i].name = c.name
			all[i].turns = append(all[i].turns, a)
		}
	}
	return all, nil
}

func (t timing) sorted(f func(answer) float64) []float64 {
	v := make([]float64, len(t.turns))
	for i, a := range t.turns {
		v[i] = f(a)
	}
	slices.Sort(v)
	return v
}

func cpuOf(a answer) float64  { return a.CPU }
func wallOf(a answer) float64 { return a.Wall }

func (t timing) least(f func(answer) float64) float64 { return t.sorted(f)[0] }

func (t timing) median(f func(answer) float64) float64 { return middle(t.sorted(f)) }

// middle is the median of sorted values.
func middle(v []float64) float64 { return (v[len(v)/2] + v[(len(v)-1)/2]) / 2 }

// ratio is the median over the rounds of how long another takes for each second of t.
func (t timing) ratio(other timing) float64 {
	v := make([]float64, len(t.turns))
	for i, a := range t.turns {
		v[i] = other.turns[i].CPU / a.CPU
	}
	slices.Sort(v)
	return middle(v)
}

// first is the answer of the first turn; all turns give the same.
func (t timing) first() answer { return t.turns[0] }

// here is one turn in this process.
func here(f func() (answer, error)) func() (answer, error) {
	return func() (answer, error) {
		debug.FreeOSMemory()
		os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // the peak of the resident set starts anew
		before := resident("VmRSS")
		cpu, wall := clock(unix.CLOCK_PROCESS_CPUTIME_ID), time.Now()
		a, err := f()
		a.CPU, a.Wall = clock(unix.CLOCK_PROCESS_CPUTIME_ID)-cpu, time.Since(wall).Seconds()
		a.Bytes = resident("VmHWM") - before
		return a, err
	}
}

// resident is a line of /proc/self/status, in bytes.
func resident(what string) float64 {
	text, _ := os.ReadFile("/proc/self/status")
	for line := range strings.Lines(string(text)) {
		if f := strings.Fields(line); len(f) > 1 && f[0] == what+":" {
			kib, _ := strconv.ParseFloat(f[1], 64)
			return 1024 * kib
		}
	}
	return math.NaN()
}

// times writes the table of a race; ratios are to the first.
func (b *bench) times(all []timing, more func(timing) string, moreHeader string) {
	var rows []string
	for _, t := range all {
		rows = append(rows, fmt.Sprintf("| %s | %s | %s | %s | %s | %.3g |%s", t.name, seconds(t.least(cpuOf)), seconds(t.median(cpuOf)),
			seconds(t.least(wallOf)), seconds(t.median(wallOf)), t.least(cpuOf)/all[0].least(cpuOf), more(t)))
	}
	columns := strings.Count(moreHeader, "|")
	b.table("| | CPU, least | CPU, median | wall, least | wall, median | ratio |"+moreHeader, "|---|---:|---:|---:|---:|---:|"+strings.Repeat("---:|", columns), rows...)
}

func none(timing) string { return "" }

func seconds(s float64) string {
	switch {
	case s < 0.1:
		return fmt.Sprintf("%.3g ms", 1000*s)
	case s < 1:
		return fmt.Sprintf("%.0f ms", 1000*s)
	}
	return fmt.Sprintf("%.2f s", s)
}

// agree says by how much a differs from b relative to max(1, |b|), and that this is too much if it exceeds the tolerance.
func agree(what string, a, b []float64, tolerance float64) (float64, error) {
	if len(a) != len(b) {
		return 0, fmt.Errorf("%s: %d numbers and %d", what, len(a), len(b))
	}
	scale, worst := 1.0, 0.0
	for i := range b {
		scale, worst = max(scale, math.Abs(b[i])), max(worst, math.Abs(a[i]-b[i]))
	}
	if !(worst <= tolerance*scale) {
		return worst / scale, fmt.Errorf("%s: results differ by %.3g of %.3g, more than %.0e of it", what, worst, scale, tolerance)
	}
	return worst / scale, nil
}
