// Package panicked converts panics to errors. Their text is deterministic for one build, because it
// becomes part of results: it has no addresses and no goroutines, unlike a stack trace.
package panicked

import (
	"fmt"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/sourcegraph/conc/panics"

	"github.com/gpc-tune/gpc-tune/internal/cause"
)

// calls is the number of innermost calls that an Error names.
const calls = 4

// Error is a panic.
type Error struct {
	Value any      // argument of panic
	At    []string // the innermost calls, as "kernel.SE.Gram (se.go:31)"
}

// Try calls f. It returns the value of a panic of f as an *Error, or nil.
func Try(f func()) error {
	p := panics.Try(f)
	if p == nil {
		return nil
	}
	for {
		inner, ok := p.Value.(*panics.Recovered) // panic of a goroutine that f waited for
		if !ok {
			break
		}
		p = inner
	}
	e := &Error{Value: p.Value}
	frames := runtime.CallersFrames(p.Callers)
	for panicking, more := false, true; more && len(e.At) < calls; {
		var f runtime.Frame
		f, more = frames.Next()
		if strings.HasPrefix(f.Function, "runtime.") {
			panicking = panicking || f.Function == "runtime.gopanic"
		} else if panicking {
			e.At = append(e.At, fmt.Sprintf("%s (%s:%d)", f.Function, filepath.Base(f.File), f.Line))
		}
	}
	return e
}

// Error describes the panic and its position in one line.
func (e *Error) Error() string {
	what := fmt.Sprintf("a value of type %T", e.Value) // other types would print addresses
	switch v := e.Value.(type) {
	case error:
		what = v.Error()
	case fmt.Stringer:
		what = v.String()
	case string:
		what = v
	}
	return fmt.Sprintf("panic: %s, at %s", what, strings.Join(e.At, " < "))
}

// Cause is cause.Panic.
func (e *Error) Cause() cause.Kind { return cause.Panic }

// Unwrap is the value of the panic if that is an error.
func (e *Error) Unwrap() error {
	err, _ := e.Value.(error)
	return err
}
