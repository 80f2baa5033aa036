package machine

import (
	"errors"
	"fmt"
	"runtime/debug"
	"runtime/metrics"

	"github.com/dustin/go-humanize"
)

// ErrMemory marks work that needs more memory than there is.
var ErrMemory = errors.New("not enough memory")

// Admit returns ErrMemory if bytes are more than limit; a limit of 0 stands for the free memory, if
// that is known.
func Admit(bytes, limit int64) error { return admit(bytes, limit, Available, debug.FreeOSMemory) }

func admit(bytes, limit int64, available func() (int64, bool), release func()) error {
	have, words := limit, "%w: %s are needed, and the limit is %s"
	if limit == 0 {
		free, ok := available()
		if ok && bytes > free {
			release() // memory that this process no longer uses is free
			free, ok = available()
		}
		if have, words = free, "%w: %s are needed, and %s are free"; !ok {
			return nil
		}
	}
	if bytes <= have {
		return nil
	}
	return fmt.Errorf(words, ErrMemory, humanize.IBytes(uint64(bytes)), humanize.IBytes(uint64(have)))
}

// Slack is the percentage of Footprint at which the garbage collector runs with matrices in use: a
// quarter costs little time, because they contain no pointers.
const Slack = 25

// overhead is the memory of any work, however small: buffers of products, and the initial heap of
// the garbage collector.
const overhead = 8 << 20

// Footprint is the memory, in bytes, of work that has this number of bytes in use. It includes
// garbage that is not collected yet: the collector starts when garbage is this percentage of the
// bytes in use (GOGC).
func Footprint(bytes int64, percent int) int64 {
	return overhead + int64(float64(bytes)*float64(100+percent)/100)
}

// Percent is the percentage of Footprint at which this process collects, at most 100.
func Percent() int {
	s := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(s)
	return int(min(s[0].Value.Uint64(), 100))
}
