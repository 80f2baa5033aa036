package schedule

import (
	"testing"

	"github.com/gpc-tune/gpc-tune/approx/param"
	"github.com/gpc-tune/gpc-tune/search"
)

// The logarithm of a bound is not exact: exp(log 1000) is below 1000. A point at the bound has the
// bound itself.
func TestBoundsAreExact(t *testing.T) {
	s := Study{Space: search.Space{param.Between("rate", param.Log, 1e-2, 1e3)}}
	for _, want := range []float64{1e-2, 1e3} {
		if got := s.natural([]float64{param.Log.Theta(want)}); float64(got[0]) != want {
			t.Errorf("%v, want %v", got, want)
		}
	}
}
