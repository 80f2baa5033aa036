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
	// grace is how long running fits may go on after the first signal: clusters kill what is there
	// 30 s after it.
	grace = 25 * time.Second
	// last is how long the program may take to end by itself once it has been cancelled: after a
	// second signal, and after the grace period.
	last, lastAfterGrace = 50 * time.Millisecond, 2 * time.Second
)

// interrupts is what SIGINT and SIGTERM do. Where nothing is to be finished the first ends the
// program. While jobs run whose results are kept, or requests are served, the first drains: what is
// under way is finished for up to the grace period, and nothing is started. The second ends the
// program, whatever it reads, computes or writes.
type interrupts struct {
	cancel  context.CancelFunc
	drained chan struct{}

	mu       sync.Mutex
	draining bool           // something is to be finished
	ending   bool           // by a signal: nothing else may end the program
	well     bool           // a signal is how the command ends when all is well: with code 0
	first    syscall.Signal // 0: none yet
}

// watch begins to handle signals. They cancel ctx, if at all, before they end the program.
func watch() (ctx context.Context, i *interrupts) {
	i = &interrupts{drained: make(chan struct{})}
	ctx, i.cancel = context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, syscall.SIGINT, syscall.SIGTERM)
	go func() {
		s := (<-signals).(syscall.Signal)
		i.mu.Lock()
		i.first, i.ending = s, !i.draining
		ending, code := i.ending, 128+int(s)
		if i.well {
			code = 0
		}
		i.mu.Unlock()
		if ending {
			end(code)
		}
		close(i.drained)
		// nobody may read it
		go fmt.Fprintf(os.Stderr, "\ngpc-tune: finishing what is under way for up to %v; signal again to stop at "+
			"once\n", grace)
		wait := last
		select {
		case <-signals:
		case <-time.After(grace):
			wait = lastAfterGrace
		}
		i.cancel()
		time.Sleep(wait)
		i.mu.Lock()
		i.ending = true
		i.mu.Unlock()
		end(128 + int(s))
	}()
	return ctx, i
}

// drain says that from now on, until done, the first signal closes drained instead of ending the
// program. A nil interrupts has no signals.
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

// endsWell says that from now on the first signal is how the command ends when all is well.
func (i *interrupts) endsWell() {
	if i == nil {
		return
	}
	i.mu.Lock()
	i.well = true
	i.mu.Unlock()
}

// exit ends the program with the code of its command. What was stopped by a signal ends with that
// of the signal.
func (i *interrupts) exit(code int) {
	i.mu.Lock()
	if i.ending {
		i.mu.Unlock()
		select {} // the signal ends the program
	}
	if i.first != 0 && code == exitStopped {
		code = 128 + int(i.first)
	}
	os.Exit(code) // with the mutex: no signal comes in between
}

// end ends the program for a signal, and waits for nothing but, for a moment, that files that are
// half written are deleted.
func end(code int) {
	abandoned := make(chan struct{})
	go func() {
		atomicfile.Abandon()
		close(abandoned)
	}()
	select {
	case <-abandoned:
	case <-time.After(20 * time.Millisecond): // the disk does not answer
	}
	os.Exit(code)
}
