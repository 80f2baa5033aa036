//go:build linux

package main

import (
	"math"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
	"gonum.org/v1/gonum/stat"
)

// clock is a clock of the system in seconds.
func clock(id int32) float64 {
	var t unix.Timespec
	must(unix.ClockGettime(id, &t))
	return float64(t.Nano()) / 1e9
}

// peakNow measures the speed of multiply-adds from registers, in floating-point operations per
// second of processor time. It calls multiplyAdds the given number of times. The speed is 0 where
// multiplyAdds does nothing.
func peakNow(times int) float64 {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	operations, started := 0.0, clock(unix.CLOCK_THREAD_CPUTIME_ID)
	for range times {
		operations += multiplyAdds()
	}
	return operations / (clock(unix.CLOCK_THREAD_CPUTIME_ID) - started)
}

// peakDuring runs f and returns the mean peak of a core during the run. The clock rate changes with
// the load of other cores. So the peak is measured twice a second, by multiply-adds from registers
// for about a millisecond of processor time.
func peakDuring(f func()) float64 {
	done, mean := make(chan struct{}), make(chan float64)
	go func() {
		var rates []float64
		for {
			rates = append(rates, peakNow(4))
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

// besidePeak runs a turn between two measurements of the peak, whose mean it adds to the answer.
func besidePeak(turn func() answer) answer {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	before := peakNow(1)
	a := turn()
	a.Peak = (before + peakNow(1)) / 2
	return a
}

// here makes f a turn in this process, which begins without garbage.
func here(f func() answer) func() answer {
	return func() answer {
		debug.FreeOSMemory()
		os.WriteFile("/proc/self/clear_refs", []byte("5"), 0) // the peak of the resident set starts anew
		before := resident("VmRSS")
		a := clocked(f)
		a.Bytes = resident("VmHWM") - before
		return a
	}
}

// clocked runs f and adds its processor time and wall-clock time in this process to its answer.
func clocked(f func() answer) answer {
	cpu, wall := clock(unix.CLOCK_PROCESS_CPUTIME_ID), time.Now()
	a := f()
	a.CPU, a.Wall = clock(unix.CLOCK_PROCESS_CPUTIME_ID)-cpu, time.Since(wall).Seconds()
	return a
}

// field is the text behind a key and its colon, in a file of /proc.
func field(path, key string) string {
	text, _ := os.ReadFile(path)
	for line := range strings.Lines(string(text)) {
		if k, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(k) == key {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// resident is a size in /proc/self/status, in bytes; NaN if it is absent.
func resident(what string) float64 {
	kib, err := strconv.ParseFloat(strings.TrimSuffix(field("/proc/self/status", what), " kB"), 64)
	if err != nil {
		return math.NaN()
	}
	return 1024 * kib
}

// number is the number at the position word, from 0, in a file of /proc; 0 if it is absent.
func number(path string, word int) float64 {
	text, _ := os.ReadFile(path)
	if f := strings.Fields(string(text)); word < len(f) {
		v, _ := strconv.ParseFloat(f[word], 64)
		return v
	}
	return 0
}

// stolen is the time that the host of this virtual machine has given to others, in seconds summed
// over all cores. It is the field steal of /proc/stat: cpu user nice system idle iowait irq softirq
// steal, in hundredths of a second.
func stolen() float64 { return number("/proc/stat", 8) / 100 }
