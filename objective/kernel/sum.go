package kernel

import (
	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/approx/param"
)

// Sum is the kernel k₁ + k₂ + … of a sum of independent latent functions [GPML section 4.2.4].
// theta has the hyperparameters of the kernels in order, with names prefixed by position and kind
// ("2.noise.amplitude").
type Sum []Named

func (s Sum) parts(dim int) ([]Named, int) { return s, dim }
func (s Sum) with(parts []Named) Kernel    { return Sum(parts) }
func (s Sum) path(string) string           { return "" }
func (s Sum) checkDim(dim int) error       { return checkParts("sum", s, dim) }
func (s Sum) checkOptions() error          { return checkCount("sum", len(s)) }

// Params implements Kernel.
func (s Sum) Params(dim int) []param.Spec {
	all := params(s, dim)
	for i := range all {
		all[i].Term = all[i].Term || len(s) > 1 && all[i].Component() == amplitudeName
	}
	return all
}

// isWhite reports whether k is zero between any two different cases.
func isWhite(k Kernel) bool {
	_, white := k.(interface{ white() })
	return white
}

// dense is the number of terms, from the given one on, that are not white noise.
func (s Sum) dense(from int) (n int) {
	for _, term := range s[from:] {
		if !isWhite(term.Kernel) {
			n++
		}
	}
	return n
}

// Memory implements Kernel: the terms' memory, and the covariances of one more term, which are
// added to the first term's.
func (s Sum) Memory(n, m, dim int) int64 {
	own := n * n
	if s.dense(1) > 0 {
		own += n * m
	}
	return memory(s, n, m, dim) + words(own)
}

// Fill implements Kernel. White terms are added in O(n).
func (s Sum) Fill(dst Block, theta []float64) {
	var term Block
	for i, t := range split(s, theta, dst.X.Dim()) {
		switch k := s[i].Kernel; {
		case i == 0:
			k.Fill(dst, t)
		case !isWhite(k):
			if !term.known() {
				term = dst.like()
			}
			k.Fill(term, t)
			dst.zip(term, floats.Add)
		case dst.noisy():
			on := dst.diagonal()
			own := on.like()
			k.Fill(own, t)
			on.zip(own, floats.Add)
		}
	}
}

// Pull implements Kernel: every term gets G itself. The covariances of the terms, one after the
// other, are in one block.
func (s Sum) Pull(grad, theta []float64, own, g Block) {
	grads := split(s, grad, g.X.Dim())
	var kept Block
	for i, t := range split(s, theta, g.X.Dim()) {
		k, term := s[i].Kernel, s.ownOf(i, t, own)
		if !term.known() && !isWhite(k) && len(Leaves(k, g.X.Dim())) == 1 {
			if !kept.known() {
				kept = g.like()
			}
			k.Fill(kept, t)
			term = kept
		}
		k.Pull(grads[i], t, term, g)
	}
}

// ownOf returns term i's covariances if they can be read from the sum's, because all other terms
// are white; else the zero Block.
func (s Sum) ownOf(i int, theta []float64, own Block) Block {
	others := s.dense(0)
	if !isWhite(s[i].Kernel) {
		others--
	}
	if !own.known() || others > 0 {
		return Block{}
	}
	k := own.like()
	k.set(own)
	if own.noisy() {
		s[i].Kernel.Fill(k.diagonal(), theta)
	}
	return k
}
