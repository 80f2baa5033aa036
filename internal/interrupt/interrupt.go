// Package interrupt lets a computation that looks at its context now and then end at once when that
// does.
package interrupt

import (
	"context"
	"sync"

	"github.com/sourcegraph/conc/panics"
)

// Do is f() or, as soon as ctx ends, the context's error. f then goes on in the background until it
// next looks at its context itself, and its result is dropped: it may share nothing with its caller
// that the caller writes to, or reads other than from the result, after an error of the context. A
// panic of f is one of Do, with where it was as panicked.Try tells it.
func Do[T any](ctx context.Context, f func() (T, error)) (T, error) {
	var none T
	if err := ctx.Err(); err != nil {
		return none, err
	}
	if ctx.Done() == nil {
		return f()
	}
	type result struct {
		value    T
		err      error
		panicked *panics.Recovered
	}
	done := make(chan result, 1)
	left, _ := ctx.Value(key{}).(*sync.WaitGroup)
	if left != nil {
		left.Add(1)
	}
	go func() {
		if left != nil {
			defer left.Done()
		}
		var r result
		r.panicked = panics.Try(func() { r.value, r.err = f() })
		done <- r
	}()
	select {
	case <-ctx.Done():
		return none, ctx.Err()
	case r := <-done:
		if r.panicked != nil {
			panic(r.panicked)
		}
		return r.value, r.err
	}
}

// key of a context's value, a *sync.WaitGroup.
type key struct{}

// Counted is ctx with a count of what Do leaves in the background; wait returns when that is none.
// No Do may begin meanwhile.
func Counted(ctx context.Context) (counted context.Context, wait func()) {
	var left sync.WaitGroup
	return context.WithValue(ctx, key{}, &left), left.Wait
}
