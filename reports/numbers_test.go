package reports

import (
	"math"
	"testing"
)

// Four significant digits, also where rounding adds one: 999.9999999999998 has the logarithm 3.
func TestReadable(t *testing.T) {
	for x, want := range map[float64]string{999.9999999999998: "1000", 99.99999999999999: "100", 9.999999999999998: "10",
		999.96: "1000", 0.99996: "1", 1e-4: "0.0001", 1234.5: "1234", 123456: "123456", 1e6: "1e+06", -999.9999999999998: "-1000",
		0.5: "0.5", 120: "120", 1e-13: "0", 100: "100", 20: "20", math.Inf(1): "+Inf", math.NaN(): ""} {
		if got := Readable(x); got != want {
			t.Errorf("%v: %q, want %q", x, got, want)
		}
	}
}
