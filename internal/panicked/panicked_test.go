package panicked

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sourcegraph/conc"
)

//go:noinline
func explode(v any) { panic(v) }

func TestTry(t *testing.T) {
	if err := Try(func() {}); err != nil {
		t.Errorf("no panic: %v", err)
	}
	cause := errors.New("the cause")
	for _, c := range []struct {
		value any
		want  string
	}{
		{"singular", "panic: singular, at "},
		{cause, "panic: the cause, at "},
		{&cause, "panic: a value of type *error, at "}, // its address would differ between runs
		{3 * time.Second, "panic: 3s, at "},
	} {
		const place = "github.com/gpc-tune/gpc-tune/internal/panicked.explode (panicked_test.go:13) < "
		err := Try(func() { explode(c.value) })
		if err == nil || !strings.HasPrefix(err.Error(), c.want+place) || strings.ContainsAny(err.Error(), "\n") || strings.Contains(err.Error(), "0x") {
			t.Errorf("got %v, want %s%s…", err, c.want, place)
		}
		var e *Error
		if !errors.As(err, &e) || len(e.At) != 4 || strings.Count(err.Error(), " < ") != 3 {
			t.Errorf("%v does not name the four innermost calls", err)
		}
		if errors.Is(err, cause) != (c.value == any(cause)) {
			t.Errorf("%v: errors.Is the cause: %v", err, errors.Is(err, cause))
		}
	}
	var none []int
	if err := Try(func() { none[len(none)] = 1 }); err == nil || !strings.HasPrefix(err.Error(), "panic: runtime error: index out of range [0] with length 0, at github.com/") {
		t.Errorf("the runtime's own panic: %v", err)
	}
}

// A panic in a goroutine that conc propagates is reported with the calls of that goroutine, not
// with the calls of the wait.
func TestTryInAGoroutine(t *testing.T) {
	err := Try(func() {
		var g conc.WaitGroup
		g.Go(func() { explode("far away") })
		g.Wait()
	})
	if err == nil || !strings.HasPrefix(err.Error(), "panic: far away, at github.com/gpc-tune/gpc-tune/internal/panicked.explode (") {
		t.Errorf("got %v", err)
	}
}
