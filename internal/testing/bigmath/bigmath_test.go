package bigmath

import (
	"math"
	"math/big"
	"testing"
)

func near(t *testing.T, what string, got, want *big.Float, bits int) {
	t.Helper()
	d := new(big.Float).Sub(got, want)
	if d.Sign() != 0 && d.MantExp(nil) > want.MantExp(nil)-bits {
		t.Errorf("%s = %s, want %s", what, got.Text('g', 60), want.Text('g', 60))
	}
}

func parse(s string) *big.Float {
	f, _, err := big.ParseFloat(s, 10, 256, big.ToNearestEven)
	if err != nil {
		panic(err)
	}
	return f
}

func TestConstants(t *testing.T) {
	near(t, "π", Pi(256),
		parse("3.14159265358979323846264338327950288419716939937510582097494459230781640628620899"), 224)
	near(t, "e", Exp(New(1, 256)),
		parse("2.71828182845904523536028747135266249775724709369995957496696762772407663035354759"), 224)
	near(t, "log 2", Log(New(2, 256)),
		parse("0.69314718055994530941723212145817656807550013436025525412068000949339362196969471"), 224)
}

func TestLogInvertsExp(t *testing.T) {
	for _, x := range []float64{-700, -3.7, -1e-9, 1e-9, 0.3, 41, 700} {
		near(t, "log exp x", Log(Exp(New(x, 1500))), New(x, 1500), 1440)
	}
}

// The series and the continued fraction agree at -40, where they meet, and r′ = -r(z + r) everywhere.
func TestNormHazard(t *testing.T) {
	near(t, "r(-40)", NormHazard(New(-40, 4000)), NormHazard(New(math.Nextafter(-40, -41), 4000)), 47)
	two := New(2, 400)
	near(t, "r(0)", NormHazard(New(0, 400)), new(big.Float).Sqrt(two.Quo(two, Pi(400))), 360)
	for _, z := range []float64{-1e6, -100, -3, 0.5, 8} {
		const prec = 800
		h := new(big.Float).SetMantExp(New(1, prec), -100)
		up := NormHazard(new(big.Float).Add(New(z, prec), h))
		down := NormHazard(new(big.Float).Sub(New(z, prec), h))
		slope := up.Sub(up, down)
		slope.Quo(slope, h).Quo(slope, New(2, prec))
		r := NormHazard(New(z, prec))
		want := new(big.Float).Add(New(z, prec), r)
		want.Mul(want, r).Neg(want)
		near(t, "r′", slope, want, 150)
	}
}
