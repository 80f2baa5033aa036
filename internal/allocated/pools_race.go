//go:build race

package allocated

// Pools says that memory which is given back to a sync.Pool is there again.
const Pools = false
