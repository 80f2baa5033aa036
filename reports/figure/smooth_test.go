package figure

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// A smoothed lattice keeps the coarse values at the coarse points; every value lies between the
// values of the surrounding corners; a plane stays a plane. A lattice with a hole is not smoothed.
func TestSmooth(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 50 {
		ascending := func(n int) (out []float64) {
			at := r.NormFloat64()
			for range n {
				at += 0.1 + r.Float64()
				out = append(out, at)
			}
			return out
		}
		x, y := ascending(2+r.IntN(6)), ascending(2+r.IntN(6))
		z, plane := make([][]float64, len(y)), make([][]float64, len(y))
		for i := range z {
			for j := range x {
				z[i], plane[i] = append(z[i], r.NormFloat64()), append(plane[i], 1+2*x[j]-3*y[i])
			}
		}
		fx, fy, fine := smooth(x, y, z)
		_, _, flat := smooth(x, y, plane)
		if len(fx) < 60 || len(fy) < 60 || !slices.IsSorted(fx) || !slices.IsSorted(fy) {
			t.Fatalf("%d, %d", len(fx), len(fy))
		}
		for i, at := range fy {
			for j, across := range fx {
				if want := 1 + 2*across - 3*at; math.Abs(flat[i][j]-want) > 1e-9 {
					t.Fatalf("plane: %v, want %v", flat[i][j], want)
				}
				a, is := slices.BinarySearch(y, at)
				b, on := slices.BinarySearch(x, across)
				if is && on {
					if math.Abs(fine[i][j]-z[a][b]) > 1e-12 {
						t.Fatalf("%v, want %v", fine[i][j], z[a][b])
					}
					continue
				}
				a, b = max(a, 1), max(b, 1)
				corners := []float64{z[a-1][b-1], z[a-1][b], z[a][b-1], z[a][b]}
				if v := fine[i][j]; is || on { // a point on an edge is between the values of its ends
					if v > slices.Max(corners)+1e-12 || v < slices.Min(corners)-1e-12 {
						t.Fatalf("%v of %v", v, corners)
					}
				}
			}
		}
		z[0][0] = math.NaN()
		if gx, _, same := smooth(x, y, z); len(gx) != len(x) || len(same) != len(y) {
			t.Fatal("a hole")
		}
	}
}

// Ticks of logarithmic axes are round numbers placed at their logarithms, within the span and not
// too many.
func TestLogarithmicTicks(t *testing.T) {
	for _, test := range []struct {
		lo, hi float64
		most   int
		want   string
	}{
		{0.001, 0.05, 9, "0.001 0.002 0.005 0.01 0.02 0.05"},
		{0.001, 100, 9, "0.001 0.01 0.1 1 10 100"},
		{1, 1e12, 4, "1 10000 1e+08 1e+12"},
		{3, 30, 5, "5 10 20"},
	} {
		at, labels := Axis{Log: true}.ticks(span{lo: math.Log(test.lo), hi: math.Log(test.hi)}, test.most)
		if got := strings.Join(labels, " "); got != test.want || len(at) != len(labels) {
			t.Errorf("%v … %v: %q, want %q", test.lo, test.hi, got, test.want)
		}
	}
	// At equal distances of the logarithms: e^1.1 and so on, with three digits.
	_, labels := Axis{Log: true}.ticks(span{lo: math.Log(3), hi: math.Log(3.4)}, 3)
	if got := strings.Join(labels, " "); got != "3 3.16 3.32" {
		t.Errorf("3 … 3.4: %q", got)
	}
	at, labels := Axis{Log: true}.ticks(span{lo: math.Log(3), hi: math.Log(3.1)}, 5)
	if len(at) < 2 || len(labels) != len(at) || !strings.HasPrefix(labels[0], "3") {
		t.Errorf("%v: %q", at, labels)
	}
}
