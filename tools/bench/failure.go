//go:build linux

package main

// failure ends a run, wherever it is.
type failure struct{ error }

// must ends the run where err is one.
func must(err error) {
	if err != nil {
		panic(failure{err})
	}
}

// got is v, where err is none.
func got[T any](v T, err error) T {
	must(err)
	return v
}
