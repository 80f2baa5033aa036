package cv

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"
)

// TestAreaIntervalCovers draws binormal and exponential scores of known area: the 95 % interval
// covers the area in at least 94 of 100 samples on average over the settings, and in at least 93 in
// each setting, less four standard errors.
func TestAreaIntervalCovers(t *testing.T) {
	const samples = 1000
	all, settings := 0.0, 0.0
	for _, size := range [][2]int{{10, 10}, {15, 15}, {6, 24}, {50, 50}, {30, 170}} {
		for _, area := range []float64{0.6, 0.8, 0.9, 0.97} {
			for _, exponential := range []bool{false, true} {
				r := rand.New(rand.NewPCG(11, uint64(size[0]+1000*size[1])))
				covered := 0
				for range samples {
					proba, p := mat.NewDense(size[0]+size[1], 2, nil), Predictions{}
					for i := range size[0] + size[1] {
						label := 0
						if i >= size[0] {
							label = 1
						}
						var score float64
						if exponential { // P(X₁ > X₀) = rate₀/(rate₀ + rate₁)
							score = r.ExpFloat64()
							if label == 1 {
								score *= area / (1 - area)
							}
						} else {
							score = r.NormFloat64() + float64(label)*math.Sqrt2*mathext.NormalQuantile(area)
						}
						proba.SetRow(i, []float64{1 - score, score})
						p.Labels, p.Cases = append(p.Labels, label), append(p.Cases, i)
					}
					p.Proba = proba
					e, ok := areaUnderCurve(p)
					if !ok || !(0 <= e.Lo && e.Lo <= e.Value && e.Value <= e.Hi && e.Hi <= 1 && e.Lo < e.Hi) {
						t.Fatalf("%+v, %v", e, ok)
					}
					if e.Lo <= area && area <= e.Hi {
						covered++
					}
				}
				share := float64(covered) / samples
				t.Logf("%v, area %v, exponential %v: %.3f", size, area, exponential, share)
				if share < 0.93-4*math.Sqrt(0.93*0.07/samples) {
					t.Errorf("%v, area %v, exponential %v: covered in %v", size, area, exponential, share)
				}
				all, settings = all+share, settings+1
			}
		}
	}
	t.Logf("on average %.4f", all/settings)
	if mean := all / settings; mean < 0.94-4*math.Sqrt(0.94*0.06/samples/settings) {
		t.Errorf("on average %v", mean)
	}
}

// TestAreaInterval checks that the ends of the interval solve their equation, and that the interval
// has positive width if the classes are separated.
func TestAreaInterval(t *testing.T) {
	for _, m := range []int{2, 5, 40} {
		for _, n := range []int{2, 9, 1000} {
			for _, area := range []float64{0, 0.1, 0.5, 0.93, 1} {
				lo, hi := areaInterval(area, float64(m), float64(n))
				if !(0 <= lo && lo <= area && area <= hi && hi <= 1 && lo < hi) {
					t.Errorf("%d and %d cases, area %v: %v … %v", m, n, area, lo, hi)
				}
				for _, theta := range []float64{lo, hi} {
					if theta == area {
						continue
					}
					// Hanley & McNeil's form: Q₁ = θ/(2-θ) is P(two of class 1 beat one of class 0), Q₂ = 2θ²/(1+θ)
					q1, q2, half := theta/(2-theta), 2*theta*theta/(1+theta), float64(m+n)/2-1
					v := (theta*(1-theta) + half*(q1-theta*theta) + half*(q2-theta*theta)) / float64(m*n)
					if d := math.Abs(area - theta); math.Abs(d-z95*math.Sqrt(v)) > 1e-9 {
						t.Errorf("%d and %d cases, area %v: %v is %v standard deviations away", m, n, area, theta, d/math.Sqrt(v))
					}
				}
			}
		}
	}
	if lo, hi := areaInterval(0.7, 1, 50); lo == lo || hi == hi {
		t.Errorf("one case of a class: %v … %v, want none", lo, hi)
	}
}
