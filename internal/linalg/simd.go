package linalg

import (
	"fmt"
	"os"
	"slices"
)

// active is the instruction set in use: the best there is, or the one named by the environment
// variable GPC_TUNE_SIMD.
var active, unavailable = choose(os.Getenv("GPC_TUNE_SIMD"), supported())

func choose(name string, have []simd) (simd, error) {
	if name == "" {
		return have[0], nil
	}
	i := slices.IndexFunc(have, func(s simd) bool { return s.String() == name })
	if i < 0 {
		return have[0], fmt.Errorf("GPC_TUNE_SIMD = %q, but this machine has %v; "+
			"name one of these, or unset the variable for the first", name, have)
	}
	return have[i], nil
}

// Err returns an error if the environment asks for instructions that this machine lacks. Nothing
// may be computed then.
func Err() error { return unavailable }

// SIMD names the instruction set in use, "avx512", "avx2" or "generic". Machines that run one build
// with one instruction set get the same bits.
func SIMD() string { return active.String() }

// Paths lists the instruction sets that this machine has, best first.
func Paths() (names []string) {
	for _, s := range supported() {
		names = append(names, s.String())
	}
	return names
}

// With runs f with another instruction set of Paths. Nothing else may compute meanwhile.
func With(path string, f func()) {
	before := active
	defer func() { active = before }()
	var err error
	if active, err = choose(path, supported()); err != nil {
		panic(fmt.Sprintf("linalg: no instruction set %q here", path))
	}
	f()
}
