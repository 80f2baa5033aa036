package split

// LeaveOneOut tests every case once, after training on all the others: n folds, fold i testing case
// i. It has no options and nothing random.
type LeaveOneOut struct{}

// Split implements Splitter.
func (LeaveOneOut) Split(n int, _ []int, _ []string, _ uint64) ([]Fold, error) {
	tested := make([]int, n)
	for i := range tested {
		tested[i] = i
	}
	return folds(tested, n, 0)
}
