package prior

import (
	"slices"
	"sync"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/gpc-tune/gpc-tune/internal/linalg"
	"github.com/gpc-tune/gpc-tune/internal/sparse"
)

// Neighbours are the cases on which each case depends, of the cases before it in an order.
type Neighbours struct {
	Order []int   // all cases
	Of    [][]int // Of[i] has the neighbours of case i, all before it in Order

	jitter  float64 // the share of the largest variance of a block that is added to its diagonal
	once    sync.Once
	pattern *sparse.Pattern

	mu     sync.Mutex
	joined map[int]*sparse.Pattern // the pattern for each number of classes
}

// addedShare is the share of its largest variance that the diagonal of a block gets, if any.
// nearlySingular is the smallest squared pivot of a block, relative to that variance, with which no
// block needs it. With other hyperparameters a pivot may become much smaller. With a
// share of 1e-10, or one that depended on the hyperparameters, EP and climbs with the kernel se did
// not converge.
const addedShare, nearlySingular = 1e-6, 1e-4

// Settle decides whether the diagonals of all blocks are raised, given blocks for usual
// hyperparameters. The decision holds for all others, so that the log evidence remains smooth.
// Neighbours of a smooth process, and cases with equal inputs, have nearly singular covariances.
// The inverse covariance would then be so large that rounding hides the sites.
func (b *Neighbours) Settle(blocks [][]float64) {
	raise := make([]bool, len(blocks))
	eachRow(len(blocks), func(i int) {
		k, widest := unpack(len(b.Of[i])+1, blocks[i])
		least := nearlySingular * k.Data[widest*(k.Stride+1)]
		u, ok := linalg.Cholesky(k)
		raise[i] = !ok || leastPivot(u) < least
	})
	if slices.Contains(raise, true) {
		b.jitter = addedShare
	}
}

// unpack makes a matrix from its upper triangle. widest is the place of its largest variance.
func unpack(m int, triangle []float64) (k blas64.Symmetric, widest int) {
	k = linalg.NewSym(m)
	for a := range m {
		row := k.Data[a*k.Stride+a : a*k.Stride+m]
		triangle = triangle[copy(row, triangle):]
		if row[0] > k.Data[widest*(k.Stride+1)] {
			widest = a
		}
	}
	return k, widest
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

// classes is the pattern of the precision of the values of some classes, with class c of case i at
// c n + i: rows for the neighbours of every class, and rows for every pair of classes of a case.
func (b *Neighbours) classes(classes int) *sparse.Pattern {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.joined[classes] == nil {
		n := len(b.Of)
		var rows [][]int
		for c := range classes {
			for i, of := range b.Of {
				var row []int
				for _, j := range of {
					row = append(row, c*n+j)
				}
				rows = append(rows, append(row, c*n+i))
			}
		}
		eachPair(classes, func(c, d int) {
			for i := range n {
				rows = append(rows, []int{c*n + i, d*n + i})
			}
		})
		if b.joined == nil {
			b.joined = map[int]*sparse.Pattern{}
		}
		b.joined[classes] = sparse.NewPattern(classes*n, rows)
	}
	return b.joined[classes]
}

// eachPair calls visit for every pair of classes c < d.
func eachPair(classes int, visit func(c, d int)) {
	for c := range classes {
		for d := c + 1; d < classes; d++ {
			visit(c, d)
		}
	}
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
