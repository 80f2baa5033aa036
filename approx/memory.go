package approx

// Size is the size of a problem.
type Size struct {
	Cases    int // n
	Distinct int // number of cases with distinct rows of K; at most n
	New      int // number of cases to predict at a time
	Classes  int // 0 for numeric targets; at most 2 if all classes have one latent process
	Kernels  int // covariances: one shared by all classes, or one per class
}

// Bytes is memory: what is kept, and what is needed temporarily.
type Bytes struct{ Kept, Passing int64 }

// Memory is what a method allocates besides the given covariances and adjoint, without parts that
// do not grow with n². A conformance test compares it with the bytes allocated.
type Memory struct {
	Fit         Bytes // by a fit; the posterior keeps a part, and a prediction needs memory temporarily
	Evidence    Bytes // by the adjoint of the evidence
	LeaveOneOut Bytes // by the leave-one-out sum
	// LeaveOneOutAdjoint is by the adjoint of that sum, unless what the sum takes has it.
	LeaveOneOutAdjoint Bytes
}

// words is the memory of this many numbers, kept and temporary.
func words(kept, passing int) Bytes { return Bytes{8 * int64(kept), 8 * int64(passing)} }

// And is the sum.
func (b Bytes) And(c Bytes) Bytes { return Bytes{b.Kept + c.Kept, b.Passing + c.Passing} }
