// Package bigmath evaluates a few functions to any precision, by series that are independent of the
// float64 code they check. It is a slow reference for tests only.
//
// Results have the precision of the argument, with the last 32 bits or so uncertain.
package bigmath

import (
	"math"
	"math/big"
)

// New returns x with prec bits.
func New(x float64, prec uint) *big.Float { return new(big.Float).SetPrec(prec).SetFloat64(x) }

func like(x *big.Float) *big.Float { return new(big.Float).SetPrec(x.Prec()) }

// negligible reports whether adding term to sum would not change it.
func negligible(term, sum *big.Float) bool {
	return term.Sign() == 0 || sum.Sign() != 0 && term.MantExp(nil) < sum.MantExp(nil)-int(sum.Prec())
}

// Exp returns e^x, |x| < 1e8: the Taylor series of x/2^k, squared k times.
func Exp(x *big.Float) *big.Float {
	k := max(0, x.MantExp(nil)+16)
	small := new(big.Float).SetMantExp(x, -k)
	small.SetPrec(x.Prec() + uint(k))
	sum, term := like(small).SetInt64(1), like(small).SetInt64(1)
	for n := int64(1); !negligible(term, sum); n++ {
		term.Mul(term, small).Quo(term, like(small).SetInt64(n))
		sum.Add(sum, term)
	}
	for range k {
		sum.Mul(sum, sum)
	}
	return sum.SetPrec(x.Prec())
}

// Log returns the natural logarithm of x > 0, x in the range of float64: Halley's iteration on Exp.
func Log(x *big.Float) *big.Float {
	start, _ := x.Float64()
	y := like(x).SetFloat64(math.Log(start))
	for bits := uint(40); bits < 3*x.Prec(); bits *= 3 { // 40 correct bits, then three times as many each time
		e := Exp(y)
		step := like(x).Sub(x, e)
		y.Add(y, step.Add(step, step).Quo(step, e.Add(e, x)))
	}
	return y
}

// Pi returns π to prec bits, by the iteration of Gauss, Legendre, Salamin and Brent.
func Pi(prec uint) *big.Float {
	a, b, t := New(1, prec), New(0.5, prec), New(0.25, prec)
	b.Sqrt(b)
	for p := 1.0; p < float64(prec); p *= 2 { // twice as many correct digits each time
		mean := like(a).Add(a, b)
		mean.Quo(mean, New(2, prec))
		b.Sqrt(b.Mul(a, b))
		a.Sub(a, mean)
		t.Sub(t, a.Mul(a, a).Mul(a, New(p, prec)))
		a = mean
	}
	a.Add(a, b)
	return a.Mul(a, a).Quo(a, t.Mul(t, New(4, prec)))
}

// NormHazard returns r(z) = N(z)/Φ(z), the standard normal density over its distribution function:
// for z > -40 from Φ(z)/N(z) = √(π/2) exp(z²/2) + Σ_k z^(2k+1)/(1·3···(2k+1)), whose cancellation
// at z < 0 the precision must cover (NormBits), below from 400 terms of Laplace's continued
// fraction.
func NormHazard(z *big.Float) *big.Float {
	if f, _ := z.Float64(); f < -40 {
		t := like(z).Neg(z)
		a := New(0, z.Prec())
		for k := 400; k >= 1; k-- {
			a.Quo(New(float64(k), z.Prec()), a.Add(a, t))
		}
		return a.Add(a, t)
	}
	square := like(z).Mul(z, z)
	ratio := like(z).Quo(Pi(z.Prec()), New(2, z.Prec()))
	ratio.Sqrt(ratio).Mul(ratio, Exp(like(z).Quo(square, New(2, z.Prec()))))
	term := like(z).Set(z)
	for k := int64(1); !negligible(term, ratio); k++ {
		ratio.Add(ratio, term)
		term.Mul(term, square).Quo(term, New(float64(2*k+1), z.Prec()))
	}
	return ratio.Quo(New(1, z.Prec()), ratio)
}

// LogNormCDF returns log Φ(z) for the same z and precision as NormHazard.
func LogNormCDF(z *big.Float) *big.Float {
	// log Φ = -½ log 2π - z²/2 - log r; for z > 0, where r underflows float64, the last two are
	// -log(r exp(z²/2))
	half := like(z).Mul(z, z)
	half.Quo(half, New(2, z.Prec()))
	twoPi := Pi(z.Prec())
	sum := Log(twoPi.Add(twoPi, twoPi))
	sum.Quo(sum, New(-2, z.Prec()))
	r := NormHazard(z)
	if z.Sign() > 0 {
		return sum.Sub(sum, Log(r.Mul(r, Exp(half))))
	}
	return sum.Sub(sum, Log(r)).Sub(sum, half)
}

// NormBits is a precision that leaves 500 bits after the cancellation in NormHazard(z).
func NormBits(z float64) uint { return 500 + uint(2*min(z*z, 41*41)/math.Ln2) }

// RelativeError returns |got - want|/max(|want|, 2^-1000): near the bottom of float64's range
// digits go missing.
func RelativeError(got float64, want *big.Float) float64 {
	unit := new(big.Float).Abs(want)
	if least := New(0x1p-1000, 53); unit.Cmp(least) < 0 {
		unit = least
	}
	d := new(big.Float).Sub(New(got, 53).SetPrec(want.Prec()), want)
	e, _ := d.Quo(d, unit).Float64()
	return math.Abs(e)
}
