//go:build race

package allocated

// Pools reports whether memory returned to a sync.Pool is reused.
const Pools = false
