package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"

	"github.com/gpc-tune/gpc-tune/internal/atomicfile"
)

const (
	// grace is the time for running fits after the first signal: clusters kill processes 30 s after
	// it.
	grace = 25 * time.Second
	// Time for the program to end by itself after it has been cancelled: after a second signal, and
	// after the grace period.
	last, lastAfterGrace = 50 * time.Millisecond, 2 * time.Second
)

// interrupts handles SIGINT, SIGTERM and SIGHUP. If there is nothing to finish, the first signal
// ends the program. While jobs run whose results are kept, or requests are served, the first signal
// drains: running work may continue for the grace period, and nothing new starts. The second signal
// ends the program in any state, except SIGHUP, which a terminal that closes may send twice.
type interrupts struct {
	cancel  context.CancelFunc
	drained chan struct{}

	mu       sync.Mutex
	draining bool           // there is work to finish
	ending   bool           // a signal is ending the program; exit waits for that
	patience time.Duration  // time that running programs have to end by themselves
	well     bool           // a signal is the normal end of the command: exit code 0
	first    syscall.Signal // 0: none yet
}

// watch starts to handle signals. They cancel ctx, if at all, before they end the program.
func watch() (ctx context.Context, i *interrupts) {
	i = &interrupts{drained: make(chan struct{})}
	ctx, i.cancel = context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	if !signal.Ignored(syscall.SIGHUP) { // nohup ignores it
		signal.Notify(signals, syscall.SIGHUP)
	}
	go func() {
		s := (<-signals).(syscall.Signal)
		i.mu.Lock()
		i.first, i.ending = s, !i.draining
		ending, code, patience := i.ending, 128+int(s), i.patience
		if i.well {
			code = 0
		}
		i.mu.Unlock()
		if ending {
			end(code)
		}
		close(i.drained)
		finishing := max(0, grace-patience)
		// a goroutine, because writing blocks if nobody reads
		go fmt.Fprintf(os.Stderr, "\ngpc-tune: finishing what is under way for up to %v; signal again to stop at "+
			"once\n", finishing)
		wait, late := last, time.After(finishing)
		for again := os.Signal(syscall.SIGHUP); again == syscall.SIGHUP; {
			select {
			case again = <-signals:
			case <-late:
				wait, again = lastAfterGrace, nil
			}
		}
		i.cancel()
		time.Sleep(wait + patience)
		i.mu.Lock()
		i.ending = true
		i.mu.Unlock()
		end(128 + int(s))
	}()
	return ctx, i
}

// drain makes the first signal close drained, until done is called, instead of ending the program.
// A nil interrupts has no signals.
func (i *interrupts) drain() (drained <-chan struct{}, done func()) {
	if i == nil {
		return nil, func() {}
	}
	i.set(true)
	return i.drained, func() { i.set(false) }
}

func (i *interrupts) set(draining bool) {
	i.mu.Lock()
	i.draining = draining
	i.mu.Unlock()
}

// patient gives programs that run this time to end by themselves, within the grace period.
func (i *interrupts) patient(patience time.Duration) {
	if i == nil {
		return
	}
	i.mu.Lock()
	i.patience = patience
	i.mu.Unlock()
}

// endsWell makes the first signal the normal end of the command.
func (i *interrupts) endsWell() {
	if i == nil {
		return
	}
	i.mu.Lock()
	i.well = true
	i.mu.Unlock()
}

// exit ends the program with the code of its command. A command that a signal stopped exits with
// the code of the signal.
func (i *interrupts) exit(code int) {
	i.mu.Lock()
	if i.ending {
		i.mu.Unlock()
		select {} // the signal ends the program
	}
	if i.first != 0 && code == exitStopped {
		code = 128 + int(i.first)
	}
	os.Exit(code) // while holding the mutex, so that no signal interferes
}

// end ends the program for a signal. It waits only briefly, until incomplete files are deleted.
func end(code int) {
	abandoned := make(chan struct{})
	go func() {
		atomicfile.Abandon()
		close(abandoned)
	}()
	select {
	case <-abandoned:
	case <-time.After(time.Second): // the disk does not respond
	}
	os.Exit(code)
}
