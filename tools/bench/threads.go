//go:build linux

package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"runtime/pprof"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gpc-tune/gpc-tune/approx"
	"github.com/gpc-tune/gpc-tune/approx/likelihood"
	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/objective"
)

// profiledFor is the time during which fits are profiled, with 100 samples per second of processor
// time.
const profiledFor = 5 * time.Second

// threads measures one fit with its gradient on 1, 2, 4 … threads, and the fraction of it that runs
// on one thread alone.
func (b *bench) threads() {
	b.say("threads")
	spam, ok := b.spam()
	if !ok {
		return
	}
	var counts []int
	for t := 1; t < runtime.NumCPU(); t *= 2 {
		counts = append(counts, t)
	}
	counts = append(counts, runtime.NumCPU())
	if len(counts) == 1 {
		b.say("threads, one core")
		return
	}
	lost, started := stolen(), time.Now()
	var rows []string
	var most []shares
	for _, n := range []int{1000, 2000, 4000} {
		s := newSet("spam", every(spam, n), [2]float64{1.5, 2})
		for _, m := range []struct {
			name  string
			model objective.Model
		}{
			{"Laplace, logit", model(false, likelihood.Logit{}, approx.Laplace{})},
			{"EP, probit", model(false, likelihood.Probit{}, approx.EP{})},
		} {
			fit := threaded{objective.NewRun(context.Background(), s.objective(m.model)), s.theta[:]}
			all := fit.race(b.rounds, counts)
			compare(all, 0, 0) // the same bits
			for i, t := range all[1:] {
				v := b.shares(fit, all[0], t, counts[i+1])
				rows = append(rows, fmt.Sprintf("| %s | %d | %s, %s | %d: %s, %s | %s |", m.name, n,
					seconds(all[0].least(wallOf)), seconds(all[0].median(wallOf)),
					counts[i+1], seconds(t.least(wallOf)), seconds(t.median(wallOf)), v))
				if i == len(counts)-2 {
					most = append(most, v)
				}
			}
		}
	}
	of := func(f func(shares) float64) (v []float64) {
		for _, s := range most {
			v = append(v, f(s))
		}
		return v
	}
	speedup := span(of(func(s shares) float64 { return s.speedup }))
	serial := span(of(func(s shares) float64 { return 100 * s.profile }))
	collected := slices.Max(of(func(s shares) float64 { return 100 * s.runtime }))
	b.say("threads, measured", runtime.NumCPU(), speedup, b.rounds, collected, stolen()-lost,
		time.Since(started).Seconds(), number("/proc/loadavg", 0))
	b.table("| fit | n | wall on 1 thread | wall on more | speed-up "+
		"| serial, by profile | by processor time | by times | 16 cores | 64 cores |",
		"|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|", rows...)
	b.conclude("threads", speedup, runtime.NumCPU(), serial)
}

// shares are the serial shares of a fit, and the share of the runtime in the profile.
type shares struct{ speedup, profile, processor, times, runtime float64 }

func (s shares) String() string {
	return fmt.Sprintf("%.2f | **%.1f %%** | %.1f %% | %.1f %% | %.1f, %.1f | %.1f, %.1f", s.speedup,
		100*s.profile, 100*s.processor, 100*s.times,
		amdahl(s.profile, 16), amdahl(s.processor, 16), amdahl(s.profile, 64), amdahl(s.processor, 64))
}

// shares measures the serial shares of a fit. one has its times on one thread, more has its times
// on several.
func (b *bench) shares(fit threaded, one, more timing, threads int) (s shares) {
	s.speedup = one.least(wallOf) / more.least(wallOf)
	s.profile, s.runtime = b.profile(fit, threads)
	s.processor = serialShare(more.median(func(a answer) float64 { return a.Wall / a.CPU }), threads)
	s.times = serialShare(1/s.speedup, threads)
	return s
}

// amdahl is the speed-up by several processors, by Amdahl's law. serial is the serial fraction of
// the time on one processor.
func amdahl(serial float64, processors int) float64 {
	serial = max(0, serial)
	return 1 / (serial + (1-serial)/float64(processors))
}

// serialShare is the serial fraction of the time on one thread, by Amdahl's law. part is the time
// on several threads over the time on one.
func serialShare(part float64, threads int) float64 {
	t := float64(threads)
	return (t*part - 1) / (t - 1)
}

// threaded is a fit with its gradient, to be repeated.
type threaded struct {
	run  *objective.Run
	free []float64
}

// fit fits from a cold start, in the memory of the previous fit.
func (f threaded) fit(threads int) answer {
	linalg.SetThreads(threads)
	defer linalg.SetThreads(1)
	f.run.Reset()
	a := answer{Out: make([]float64, len(f.free))}
	must(f.run.Gradient(a.Out, f.free))
	a.Value = got(f.run.At(f.free)).Value()
	return a
}

// race lets fits with different numbers of threads take turns.
func (f threaded) race(rounds int, counts []int) []timing {
	f.fit(slices.Max(counts)) // takes the memory
	var contenders []contender
	for _, threads := range counts {
		contenders = append(contenders, contender{strconv.Itoa(threads), func() answer {
			return clocked(func() answer { return f.fit(threads) })
		}})
	}
	return race(rounds, contenders...)
}

// profile runs fits under the profiler. serial is the fraction of their samples outside of parallel
// work, without samples of waiting threads. runtimes is the fraction of all samples in the Go
// runtime, which includes the garbage collector.
func (b *bench) profile(f threaded, threads int) (serial, runtimes float64) {
	path := filepath.Join(b.dir, "profile")
	file := got(os.Create(path))
	must(pprof.StartCPUProfile(file))
	for started := time.Now(); time.Since(started) < profiledFor; {
		f.fit(threads)
	}
	pprof.StopCPUProfile()
	must(file.Close())
	traces := exec.Command("go", "tool", "pprof", "-traces", "-sample_index=samples", path)
	traces.Stderr = os.Stderr
	var shared, alone, others float64
	for _, trace := range strings.Split(string(got(traces.Output())), "-----------+")[1:] {
		fields := strings.Fields(strings.TrimLeft(trace, "-\n"))
		if len(fields) == 0 {
			continue
		}
		count := got(strconv.ParseFloat(fields[0], 64))
		switch {
		case strings.Contains(trace, "internal/linalg.(*watch)"): // waits for the other threads
		case strings.Contains(trace, "internal/linalg.(*region).run"):
			shared += count
		case strings.Contains(trace, "internal/linalg.(*region).help"): // the same
		case strings.Contains(trace, "main.threaded.fit"):
			alone += count
		default:
			others += count
		}
	}
	if shared == 0 || alone == 0 {
		must(fmt.Errorf("the profile has %g samples in parallel work and %g beside it", shared, alone))
	}
	return alone / (alone + shared), others / (alone + shared + others)
}
