package cells

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
)

// Each text is this amount.
func TestParseAmount(t *testing.T) {
	for _, of := range []struct {
		text, decimal string
		want          Amount
	}{
		{"70.1 kg", "", Amount{Value: 70.1, Unit: "kg"}},
		{"172cm", "", Amount{Value: 172, Unit: "cm"}},
		{"70,1 kg", "comma", Amount{Value: 70.1, Unit: "kg"}},
		{"1,200 kg", "point", Amount{Value: 1200, Unit: "kg"}},
		{"1 200 km / h", "point", Amount{Value: 1200, Unit: "km/h"}},
		{"-3 °C", "", Amount{Value: -3, Unit: "°C"}},
		{"28.5 kg/m2", "", Amount{Value: 28.5, Unit: "kg/m2"}},
		{"5e3 V", "", Amount{Value: 5000, Unit: "V"}},
		{"2E-1 kg", "", Amount{Value: 0.2, Unit: "kg"}},
		{"3m2", "", Amount{Value: 3, Unit: "m2"}},
		{"5 eggs", "", Amount{Value: 5, Unit: "eggs"}},
		{"<0.5", "", Amount{Value: 0.5, Limit: "<"}},
		{"< 0,5", "comma", Amount{Value: 0.5, Limit: "<"}},
		{"<= 3", "", Amount{Value: 3, Limit: "<"}},
		{"≥ 100 mg/dl", "", Amount{Value: 100, Unit: "mg/dl", Limit: ">"}},
		{">100", "", Amount{Value: 100, Limit: ">"}},
		{"$1,200", "point", Amount{Value: 1200, Sign: "USD"}},
		{"5.1 %", "", Amount{Value: 0.051, Sign: "%"}},
		{"12", "", Amount{Value: 12}},
	} {
		if got, ok := ParseAmount(of.text, of.decimal); !ok || got != of.want {
			t.Errorf("%q: %+v, %v; want %+v", of.text, got, ok, of.want)
		}
	}
	for _, text := range []string{"", "kg", "kg 5", "12/31", "3-4", "10:30", "5'", "<", "1.2.3 kg", "<>5", "70,1 kg",
		"5 a very long unit that is none"} {
		if got, ok := ParseAmount(text, ""); ok {
			t.Errorf("%q is no amount: %+v", text, got)
		}
	}
}

// A unit is itself in another letter case unless that makes it another unit (SI brochure, tables 7 and 8; IEC 80000-13):
// milli and mega, bit and byte, second and siemens. Lengths, weights, volumes and sizes of files are converted.
func TestConvert(t *testing.T) {
	for _, of := range []struct {
		from, to string
		times    float64 // 0: it cannot be
	}{{"kg", "kg", 1}, {"KG", "kg", 1}, {"g", "kg", 1e-3}, {"lb", "kg", 0.45359237}, {"inches", "cm", 2.54}, {"m", "cm", 100},
		{"mmHg", "mmhg", 1}, {"mW", "MW", 0}, {"MB", "kB", 1000}, {"KB", "MB", 1e-3}, {"mb", "kb", 1000}, {"GiB", "MiB", 1024}, {"kg", "cm", 0}, {"kPa", "bar", 0}, {"", "kg", 0},
		{"Mg", "mg", 0}, {"MG", "mg", 0}, {"Mg", "kg", 0}, {"Mb", "MB", 0}, {"kb", "kB", 0}, {"Gb", "GB", 0}, {"Mb", "mb", 1}, {"ML", "ml", 0}, {"mL", "ml", 1},
		{"DL", "dl", 1}, {"L", "l", 1}, {"Mm", "mm", 0}, {"KM", "km", 1}, {"CM", "cm", 1}, {"M", "m", 0}, {"M", "cm", 0}, {"T", "t", 1}, {"G", "kg", 1e-3},
		{"mS", "MS", 0}, {"mS", "ms", 0}, {"ms", "Ms", 0}, {"S", "s", 0}, {"S/cm", "s/cm", 0}, {"µS/cm", "µs/cm", 0}, {"pg", "Pg", 0}, {"pg/mL", "pg/ml", 1}, {"Pg/ml", "pg/ml", 0},
		{"pA", "Pa", 0}, {"kPa", "KPA", 1}, {"MPa", "mPa", 0}, {"MPA", "MPa", 1}, {"mHz", "MHz", 0}, {"Mhz", "MHz", 1}, {"µM", "µm", 0}, {"nM", "nm", 0}, {"mM", "mm", 0},
		{"mmol/L", "mmol/l", 1}, {"Mmol/l", "mmol/l", 0}, {"mol", "Mol", 1}, {"mg/dL", "Mg/dL", 0}, {"MIN", "min", 1}, {"mph", "MPH", 1}, {"pcs", "Pcs", 1}, {"mmHg", "MMHG", 1},
		{"kW", "kw", 1}, {"dB", "db", 1}, {"U/L", "u/l", 1}, {"mU/l", "MU/l", 0}, {"K", "k", 0}, {"°C", "°c", 1}, {"X", "x", 1}, {"kT", "kt", 0}, {"eV", "ev", 1}, {"meV", "MeV", 0},
		{"Inch", "cm", 2.54}, {"LBS", "kg", 0.45359237}, {"Meter", "m", 1}, {"mile", "Mile", 1}, {"Ω", "ω", 1}, {"mΩ", "MΩ", 0}} {
		times, ok := Convert(of.from, of.to)
		if ok != (of.times > 0) || ok && math.Abs(times/of.times-1) > 1e-12 {
			t.Errorf("%q in %q: %v, %v; want %v", of.from, of.to, times, ok, of.times)
		}
	}
}

// Amounts are read as written, and their numbers are finite.
func FuzzParseAmount(f *testing.F) {
	for _, text := range []string{"70.1 kg", "<0,5", "≥ 100 mg/dl", "1 200 km / h", "5e3 V", "-3 °C"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, decimal := range []string{"", "point", "comma"} {
			a, ok := ParseAmount(text, decimal)
			if !ok {
				continue
			}
			if math.Abs(a.Value) > MaxMagnitude || math.IsNaN(a.Value) || !slices.Contains([]string{"", "<", ">"}, a.Limit) {
				t.Fatalf("%q: %+v", text, a)
			}
			number := fmt.Sprint(a.Value)
			if decimal == "comma" {
				number = strings.Replace(number, ".", ",", 1)
			}
			written := strings.TrimSpace(a.Limit + number + " " + a.Unit)
			a.Sign = ""
			if b, ok := ParseAmount(written, decimal); !ok || b != a {
				t.Fatalf("%q: %+v, and %q: %+v, %v", text, a, written, b, ok)
			}
		}
	})
}

// Each text is a duration of the given number of seconds.
func TestParseDuration(t *testing.T) {
	for _, of := range []struct {
		text    string
		unit    TimeUnit
		seconds float64
	}{
		{"1:30:00", "hours", 5400}, {"0:00:05.5", "hours", 5.5}, {"100:00:00", "hours", 360000}, {"-1:30:00", "hours", -5400},
		{"1:30", "hours", 5400}, {"1:30", "days", 5400}, {"1:30", "minutes", 90}, {"1:30", "seconds", 90},
		{"2h 15m", "hours", 8100}, {"2h15", "hours", 8100}, {"2 hrs. 15 min.", "hours", 8100}, {"2 hours and 15 minutes", "hours", 8100},
		{"3 days", "hours", 259200}, {"3 Tage", "hours", 259200}, {"1.5 h", "hours", 5400}, {"90 min", "hours", 5400},
		{"3 days, 4:05:06", "hours", 273906}, {"1 day 02:03:04", "hours", 93784}, {"0 days 01:30:00", "hours", 5400},
		{"P3DT4H", "hours", 273600}, {"PT1.5H", "hours", 5400}, {"P2W", "hours", 1209600}, {"PT2M", "hours", 120},
		{"P1Y2M", "hours", 426.125 * 86400}, {"11yrs 0mon", "hours", 11 * 365.25 * 86400},
		{"250 ms", "hours", 0.25}, {"90", "minutes", 5400}, {"1.5", "days", 129600}, {"2 weeks", "hours", 1209600},
		{"2m15", "hours", 135},
	} {
		got, _, ok := ParseDuration(of.text, "", of.unit)
		if !ok || math.Abs(got-of.seconds) > 1e-9*math.Abs(of.seconds) {
			t.Errorf("%q: %v, %v; want %v", of.text, got, ok, of.seconds)
		}
	}
	if got, _, ok := ParseDuration("1,5 Stunden", "comma", "hours"); !ok || got != 5400 {
		t.Errorf("1,5 Stunden: %v, %v", got, ok)
	}
	for _, text := range []string{"", "soon", "1:60", "1:5", "15m 2h", "P", "PT", "P1H", "PT1D", "1:30:00:00", "3 apples",
		"2h 2h", "2 days 15", "30s 15", "1,5 h", "h", "P1D2W", "10:30 pm", "-", "3 days 4 5",
		"50 %"} {
		if got, _, ok := ParseDuration(text, "", "hours"); ok {
			t.Errorf("%q is no duration: %v", text, got)
		}
	}
}

// A duration is finite, and is read again as the standard writes its seconds.
func FuzzParseDuration(f *testing.F) {
	for _, text := range []string{"1:30:00", "2h 15m", "3 days, 4:05:06", "P3DT4H", "1,5 h", "2h15", "250 µs"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, decimal := range []string{"", "point", "comma"} {
			for _, unit := range (TimeUnit("")).Names() {
				v, as, ok := ParseDuration(text, decimal, TimeUnit(unit))
				if !ok {
					continue
				}
				if math.IsNaN(v) || math.Abs(v) > MaxMagnitude || as.Fields < 0 || as.Fields > 3 {
					t.Fatalf("%q: %v, %+v", text, v, as)
				}
				whole := math.Round(math.Min(math.Abs(v), 1e9))
				written := fmt.Sprintf("PT%.0fH%dS", math.Floor(whole/3600), int(whole)%3600)
				if again, _, ok := ParseDuration(written, "", "days"); !ok || again != whole {
					t.Fatalf("%q: %v, %v; want %v", written, again, ok, whole)
				}
			}
		}
	})
}
