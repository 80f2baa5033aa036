// Package pattern has regular expressions that are compiled when they are first used, so that a
// program which does not use them starts sooner.
package pattern

import (
	"regexp"
	"sync"
)

// Of returns a function that compiles an expression at its first call, and panics if the syntax is
// wrong. It may be called concurrently.
func Of(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}
