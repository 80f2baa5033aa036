// Package exhaustive thins large tests: go test tries a part of their cases, make test-all tries
// all of them.
package exhaustive

import "os"

// All reports whether tests try all their cases. It reads the environment variable that make
// test-all sets at each call, during a test, where go test notices: results of one setting are not
// taken from its cache for the other.
func All() bool { return os.Getenv("GPC_TUNE_TEST_ALL") != "" }

// Tries reports whether a test tries the cell of a grid that has these indexes, one for each
// factor. It tries one cell in k, where the sum of the indexes is divisible by k. If two factors
// have k levels or more, every level of every factor is in a cell that is tried.
func Tries(k int, indexes ...int) bool {
	sum := 0
	for _, i := range indexes {
		sum += i
	}
	return All() || sum%k == 0
}

// Of returns how many cases a test tries: few, or all of them.
func Of(few, all int) int {
	if All() {
		return all
	}
	return few
}
