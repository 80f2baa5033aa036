package linalg

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/testing/bigmath"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
)

// bigTruncated evaluates the definitions of Truncated literally, with enough precision to absorb their cancellation.
func bigTruncated(z float64) (logMass, hazard, mean, variance, third *big.Float) {
	prec := bigmath.NormBits(z)
	num := func(x float64) *big.Float { return bigmath.New(x, prec) }
	hazard = bigmath.NormHazard(num(z))
	mean = num(0).Add(num(z), hazard)
	variance = num(0).Sub(num(1), num(0).Mul(hazard, mean))
	third = num(0).Mul(mean, mean)
	third.Sub(third, variance).Mul(third, hazard)
	return bigmath.LogNormCDF(num(z)), hazard, mean, variance, third
}

func TestTruncatedNormalIsRightToTheLastPlacesInBothTails(t *testing.T) {
	var points []float64
	for z := -45.0; z < 40; z += 1.217 {
		points = append(points, z)
	}
	for z := -2.2; z < 0.1; z += 0.0243 { // here the error function loses most digits, and the method changes
		points = append(points, z)
	}
	for i := range 291 { // the nodes of LogNormCDF, and the points farthest from them
		z := -9.0625 + 0.0625*float64(i)
		for k, at := range []float64{z, math.Nextafter(z, -10)} {
			if exhaustive.Tries(2, i, k) {
				points = append(points, at)
			}
		}
	}
	points = append(points, 0, 1e-300, -1e-9, -2, math.Nextafter(-2, -3), -1e2, -1e3, -1e4, -1e6, -1e8, 38, 39.5)
	for _, z := range points {
		got := TruncatedNormal(z)
		logMass, hazard, mean, variance, third := bigTruncated(z)
		for _, c := range []struct {
			field     string
			got       float64
			want      *big.Float
			tolerance float64
		}{
			{"LogMass", got.LogMass, logMass, 1e-15},
			{"Hazard", got.Hazard, hazard, 1e-15},
			{"Mean", got.Mean, mean, 4e-15},
			{"Variance", got.Variance, variance, 3e-14},
			{"Third", got.Third, third, 1e-13},
		} {
			tolerance := c.tolerance
			if z < -2 {
				tolerance = 2e-15
			}
			if e := bigmath.RelativeError(c.got, c.want); !(e <= tolerance) {
				t.Errorf("z = %v: %s = %v, want %v, relative error %.1e", z, c.field, c.got, c.want.Text('g', 20), e)
			}
		}
		fast, exact := LogNormCDF(z), got.LogMass // shown to be right above
		if e := math.Abs(fast - exact); !(e <= 2e-15*math.Abs(exact)+2e-18) {
			t.Errorf("LogNormCDF(%v) = %v, want %v", z, fast, exact)
		}
	}
}

func TestTruncatedNormalAtItsLimits(t *testing.T) {
	for _, z := range []float64{41, 1e8, 1e200, math.MaxFloat64} {
		if got := TruncatedNormal(z); got != (Truncated{Mean: z, Variance: 1}) {
			t.Errorf("TruncatedNormal(%v) = %+v", z, got)
		}
	}
	if nan := TruncatedNormal(math.NaN()); !math.IsNaN(nan.LogMass) || !math.IsNaN(nan.Hazard) {
		t.Errorf("TruncatedNormal(NaN) = %+v", nan)
	}
	got := TruncatedNormal(-0x1p500)
	if got.LogMass != -0x1p999 || got.Hazard != 0x1p500 || got.Mean != 0x1p-500 || got.Variance != 0x1p-1000 {
		t.Errorf("TruncatedNormal(-2^500) = %+v", got)
	}
	got = TruncatedNormal(-math.MaxFloat64)
	if !math.IsInf(got.LogMass, -1) || got.Hazard != math.MaxFloat64 || math.IsNaN(got.Mean+got.Variance+got.Third) {
		t.Errorf("TruncatedNormal(-MaxFloat64) = %+v", got)
	}
}

func BenchmarkLogNormCDF(b *testing.B) {
	z := 0.0
	for b.Loop() {
		z += 0.3
		if z > 9 {
			z -= 17.9
		}
		LogNormCDF(z)
	}
}

func BenchmarkTruncatedNormal(b *testing.B) {
	for _, z := range []float64{-30, -2.5, -1, 3} {
		b.Run(fmt.Sprintf("z=%v", z), func(b *testing.B) {
			for b.Loop() {
				TruncatedNormal(z)
			}
		})
	}
}

// TestTruncatedNormalOfNaN: an iteration that diverges may pass NaN, which gives NaN and no panic.
func TestTruncatedNormalOfNaN(t *testing.T) {
	if v := TruncatedNormal(math.NaN()); !math.IsNaN(v.LogMass) || !math.IsNaN(v.Hazard) || !math.IsNaN(v.Mean) {
		t.Errorf("%+v", v)
	}
}
