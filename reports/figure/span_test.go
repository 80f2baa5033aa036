package figure

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

// Ticks are round and within their axis, and there are no more than requested. Very large numbers
// work too.
func TestTicks(t *testing.T) {
	for _, test := range []struct {
		lo, hi float64
		most   int
		want   string
	}{
		{0, 4, 9, "0.0 0.5 1.0 1.5 2.0 2.5 3.0 3.5 4.0"},
		{0, 0.63, 9, "0.0 0.1 0.2 0.3 0.4 0.5 0.6"},
		{-0.004, 0.03, 4, "0.00 0.01 0.02 0.03"},
		{0, 65, 9, "0 10 20 30 40 50 60"},
		{-1, 3, 7, "−1 0 1 2 3"},
		{0.602, 0.714, 8, "0.62 0.64 0.66 0.68 0.70"},
		{-120, 119, 4, "−100 0 100"},
		{0, 1e9, 4, "0 5e+08 1e+09"},
	} {
		if _, labels := (span{lo: test.lo, hi: test.hi}).ticks(test.most); strings.Join(labels, " ") != test.want {
			t.Errorf("%v … %v: %q, want %q", test.lo, test.hi, labels, test.want)
		}
	}
	r := rand.New(rand.NewPCG(5, 6))
	for range 1000 {
		a := Axis{}.shown([]span{spanOf([]float64{math.Exp(60*r.NormFloat64()) * r.NormFloat64(), math.Exp(60*r.NormFloat64()) * r.NormFloat64()})})
		most := 2 + r.IntN(9)
		at, _ := a.ticks(most)
		if len(at) == 0 || len(at) > most+1 {
			t.Fatalf("%v … %v: %d ticks", a.lo, a.hi, len(at))
		}
		for _, v := range at {
			if s := (v - a.lo) / (a.hi - a.lo); !(s > -1e-6 && s < 1+1e-6) {
				t.Fatalf("%v … %v: a tick at %v", a.lo, a.hi, v)
			}
		}
	}
}

// An axis has a margin around its data, except where a lattice or the foot of a bar ends it, unless
// a mark is there.
func TestShown(t *testing.T) {
	for _, test := range []struct {
		axis  Axis
		spans []span
		want  span
	}{
		{Axis{}, []span{{lo: 0, hi: 10}, {lo: 20, hi: 100}}, span{lo: -5, hi: 105}},
		{Axis{}, []span{{lo: 0, hi: 100, noMargin: true}, {lo: 20, hi: 80}}, span{lo: 0, hi: 100}},
		{Axis{}, []span{{lo: 0, hi: 100, noMargin: true}, {lo: 20, hi: 200}}, span{lo: 0, hi: 210}},
		{Axis{}, []span{{lo: 0, hi: 100, noMargin: true}, {lo: 100, hi: 100, margin: true}}, span{lo: 0, hi: 105}},
		{Axis{}, []span{nothing}, span{lo: 0, hi: 1}},
		{Axis{}, []span{{lo: 10, hi: 10}}, span{lo: 9, hi: 11}},
		{Axis{}, []span{{lo: 0, hi: 0}}, span{lo: -1, hi: 1}},
		{Axis{}, []span{{lo: 3, hi: 3 + 1e-9}}, span{lo: 3 - 3e-6*(1+1e-9/3), hi: 3 + 1e-9 + 3e-6*(1+1e-9/3)}},
		{Axis{Lo: -1, Hi: 1}, []span{{lo: 0, hi: 100}}, span{lo: -1, hi: 1}},
		{Axis{Lo: math.NaN(), Hi: 1}, []span{{lo: 0, hi: 100}}, span{lo: -5, hi: 105}},
		{Axis{Names: []string{"a", "b", "c"}}, []span{{lo: 0, hi: 1}}, span{lo: -0.5, hi: 2.5}},
	} {
		if got := test.axis.shown(test.spans); got != test.want {
			t.Errorf("%+v over %v: %v, want %v", test.axis, test.spans, got, test.want)
		}
	}
}
