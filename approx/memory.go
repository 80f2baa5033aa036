package approx

// Size is the size of a problem.
type Size struct {
	Cases    int // n
	Distinct int // number of cases with distinct rows of K, 1 … n
	New      int // number of cases to predict at a time
	Classes  int // 0 for numeric targets, 1 or 2 if all classes have one latent process
	Kernels  int // covariances: one shared by all classes, or one per class
}

// Bytes is memory: what is kept, and what is needed temporarily.
type Bytes struct{ Kept, Passing int64 }

// Memory has the bytes that a method allocates. The given covariances and adjoint, and parts that
// do not grow with n², do not count. A conformance test compares it with the bytes allocated.
type Memory struct {
	// bytes of a fit; the posterior keeps a part, and a prediction needs memory temporarily
	Fit         Bytes
	Evidence    Bytes // bytes of the adjoint of the evidence
	LeaveOneOut Bytes // bytes of the leave-one-out sum
	// LeaveOneOutAdjoint has the bytes of the adjoint of the leave-one-out sum, unless LeaveOneOut
	// includes them.
	LeaveOneOutAdjoint Bytes
}

// words is the memory of this many numbers, kept and temporary.
func words(kept, passing int) Bytes { return Bytes{8 * int64(kept), 8 * int64(passing)} }

// And is the sum.
func (b Bytes) And(c Bytes) Bytes { return Bytes{b.Kept + c.Kept, b.Passing + c.Passing} }
