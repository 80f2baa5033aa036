package prior

import (
	"slices"
	"sync"

	"github.com/gpc-tune/gpc-tune/internal/sparse"
)

// Neighbours are the cases on which each case depends, of the cases before it in an order.
type Neighbours struct {
	Order []int   // all cases
	Of    [][]int // Of[i] has the neighbours of case i, all before it in Order

	once    sync.Once
	pattern *sparse.Pattern
}

// sites is the pattern of K̂⁻¹.
func (b *Neighbours) sites() *sparse.Pattern {
	b.once.Do(func() {
		rows := make([][]int, len(b.Of))
		for i, of := range b.Of {
			rows[i] = append(slices.Clip(of), i)
		}
		b.pattern = sparse.NewPattern(len(rows), rows)
	})
	return b.pattern
}

// NewBlocks makes the memory of the Blocks of a Cov.
func (b *Neighbours) NewBlocks() [][]float64 {
	blocks := make([][]float64, len(b.Of))
	for i, of := range b.Of {
		blocks[i] = make([]float64, blockSize(len(of)))
	}
	return blocks
}

// CrossRows is the number of rows of the covariances of new inputs with m neighbours each: their
// indices, and the block of the neighbours and the input without its last number, the variance of
// the input.
func (b *Neighbours) CrossRows(m int) int { return m + blockSize(m) - 1 }

// blockSize is the length of a block: the upper triangle, row by row, of the matrix of m neighbours
// and the case itself.
func blockSize(m int) int { return (m + 1) * (m + 2) / 2 }
