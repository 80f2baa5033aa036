package approx

// Size is how large a problem is.
type Size struct {
	Cases    int // n
	Distinct int // of them, cases whose rows of K differ; at most n
	New      int // cases to be predicted at a time
	Classes  int // 0 where the targets are numbers
	Kernels  int // covariances: one shared by all classes, or one per class
}

// Bytes is memory: what stays, and what is needed in passing.
type Bytes struct{ Kept, Passing int64 }

// Memory is what a method allocates beside the covariances and the adjoint that it is given, but
// for what does not grow with n². A conformance test holds it to what is allocated.
type Memory struct {
	Fit         Bytes // by a fit; what stays is the posterior's, and a prediction is in passing
	Evidence    Bytes // by the adjoint of the evidence
	LeaveOneOut Bytes // by the leave-one-out sum
	// LeaveOneOutAdjoint is by the adjoint of that sum, unless what the sum takes has it.
	LeaveOneOutAdjoint Bytes
}

// words is the memory of so many numbers, some that stay and some in passing.
func words(kept, passing int) Bytes { return Bytes{8 * int64(kept), 8 * int64(passing)} }

// And is both.
func (b Bytes) And(c Bytes) Bytes { return Bytes{b.Kept + c.Kept, b.Passing + c.Passing} }
