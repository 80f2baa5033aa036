// Package allocated measures memory, for the tests that hold what components say of theirs to what
// they take.
package allocated

import (
	"runtime"
	"runtime/debug"
)

// Large is the memory, in pieces of more than 32 KiB, that f takes: what its result keeps, and the
// rest. f is run twice, to fill pools first. Nothing else may run meanwhile.
func Large(f func() any) (kept, passing int64) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // a pool has room for each
	defer debug.SetGCPercent(debug.SetGCPercent(-1))
	var m runtime.MemStats
	total := func() int64 {
		runtime.ReadMemStats(&m)
		large := int64(m.TotalAlloc)
		for _, class := range m.BySize {
			large -= int64(class.Mallocs) * int64(class.Size)
		}
		return large
	}
	live := func() int64 {
		runtime.ReadMemStats(&m)
		return int64(m.HeapAlloc)
	}
	f()
	before := total()
	result := f()
	all := total() - before
	runtime.GC()
	runtime.GC() // empties pools
	with := live()
	runtime.KeepAlive(result)
	runtime.GC()
	kept = with - live()
	return kept, all - kept
}
