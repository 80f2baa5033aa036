//go:build !race

package allocated

// Pools reports whether memory returned to a sync.Pool is reused. With the race detector pools drop
// memory at random.
const Pools = true
