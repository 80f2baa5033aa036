// Package interrupt returns from a computation as soon as its context ends, even if the computation
// checks its context only now and then.
package interrupt

import (
	"context"
	"errors"
	"sync"

	"github.com/sourcegraph/conc/panics"
)

// Do is f() or, as soon as ctx ends, the context's error. f then continues in the background until
// it checks its context itself, and its result is dropped. So after an error of the context, f must
// not share memory with its caller that either of them writes to. A panic of f is a panic of Do,
// with its position as panicked.Try reports it. If f ends its goroutine (runtime.Goexit), that is
// an error; with a context that never ends it is the goroutine of the caller.
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
		r := result{err: errLeft}
		defer func() { done <- r }()
		r.panicked = panics.Try(func() { r.value, r.err = f() })
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

var errLeft = errors.New("the computation ended without a result: it called runtime.Goexit, as FailNow and Fatal " +
	"of a test do")

// key of a context's value, a *sync.WaitGroup.
type key struct{}

// Counted is ctx with a count of the computations that Do leaves in the background; wait returns
// when there are none. No Do may start during wait.
func Counted(ctx context.Context) (counted context.Context, wait func()) {
	var left sync.WaitGroup
	return context.WithValue(ctx, key{}, &left), left.Wait
}
