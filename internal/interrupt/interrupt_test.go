package interrupt

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gpc-tune/gpc-tune/internal/panicked"
)

func TestDo(t *testing.T) {
	failed := errors.New("failed")
	ctx, cancel := context.WithCancel(t.Context())
	for name, ctx := range map[string]context.Context{"never ends": context.Background(), "may end": ctx} {
		if v, err := Do(ctx, func() (int, error) { return 3, failed }); v != 3 || err != failed {
			t.Errorf("%s: %v, %v", name, v, err)
		}
		if err := panicked.Try(func() { _, _ = Do(ctx, func() (int, error) { panic("broken") }) }); err == nil || !strings.HasPrefix(err.Error(), "panic: broken, at github.com/gpc-tune/gpc-tune/internal/interrupt.TestDo") {
			t.Errorf("%s: %v", name, err)
		}
	}
	soon, end := context.WithTimeout(ctx, 20*time.Second)
	if _, err := Do(soon, func() (int, error) { runtime.Goexit(); return 1, nil }); err != errLeft {
		t.Errorf("a goroutine that ended: %v", err)
	}
	end()
	release, ended := make(chan int), false
	counted, wait := Counted(ctx)
	v, err := Do(counted, func() (int, error) {
		cancel()
		<-release
		ended = true
		return 1, nil
	})
	if v != 0 || !errors.Is(err, context.Canceled) {
		t.Errorf("ended: %v, %v", v, err)
	}
	close(release)
	if wait(); !ended {
		t.Error("wait returned while there was something left")
	}
	if _, err := Do(ctx, func() (int, error) { t.Error("called"); return 0, nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("begun after the end: %v", err)
	}
}
