// Package allocated measures allocated memory, for tests of the memory that components state.
package allocated

import (
	"runtime"
	"runtime/debug"
)

// Large is the memory, in allocations of more than 32 KiB, that f allocates: kept is held by its
// result, passing is the rest. f runs twice, first to fill pools. Nothing else may run at the same
// time.
func Large(f func() any) (kept, passing int64) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // pools have memory per processor
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
