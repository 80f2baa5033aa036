//go:build !race

package allocated

// Pools says that memory which is given back to a sync.Pool is there again. The race detector has
// pools forget at random.
const Pools = true
