package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"time"

	"gonum.org/v1/gonum/floats"
)

// row is one row while it is made. What a column draws may depend on columns before it.
type row struct {
	*rand.Rand
	at     int
	day    time.Time // the value of the last column of dates
	size   float64   // the value of the last column near
	class  int       // the class of a sheet that draws it before its columns
	logit  float64   // the logarithm of the odds of the second class, the sum over columns
	logits []float64 // the log probability of each class, up to a constant
}

// chances are the probabilities of the classes.
func (r *row) chances() []float64 {
	p := slices.Clone(r.logits)
	p[1] += r.logit
	sum := floats.LogSumExp(p)
	for k, v := range p {
		p[k] = math.Exp(v - sum)
	}
	return p
}

// column draws the texts of a column, and adds their contribution to the logit of the class.
type column struct {
	name string
	draw func(r *row) string
}

// sheet is a table as an export has it.
type sheet struct {
	name    string
	sign    string // the delimiter
	columns []column
	label   string
	at      int // the column before which the label stands; -1: it is the last one
	classes []string
	bias    float64 // logit without the contributions of the columns
	apart   bool    // the class is drawn first, and the columns (near, pick) depend on it
}

// number is normal with this mean and standard deviation, and printed with format. of returns its
// contribution to the logit.
func number(name, format string, mean, sd float64, of func(z float64) float64) column {
	return column{name, func(r *row) string {
		z := r.NormFloat64()
		r.logit += of(z)
		return fmt.Sprintf(format, mean+sd*z)
	}}
}

// amount is log-normal, in one of several units. formats has the size of each unit.
func amount(name string, median float64, of func(z float64) float64, formats map[string]float64) column {
	var order []string
	for f := range formats {
		order = append(order, f)
	}
	if len(order) > 1 && order[0] > order[1] {
		order[0], order[1] = order[1], order[0]
	}
	return column{name, func(r *row) string {
		z := r.NormFloat64()
		r.logit += of(z)
		format := order[r.IntN(len(order))]
		return fmt.Sprintf(format, median*math.Exp(0.6*z)/formats[format])
	}}
}

// limited is log-normal with a limit of detection.
func limited(name string, median, limit float64, unit string, of func(z float64) float64) column {
	return column{name, func(r *row) string {
		z := r.NormFloat64()
		v := median * math.Exp(z)
		r.logit += of(math.Log(max(v, 0.7*limit) / median))
		if v < limit {
			return strings.TrimSpace(fmt.Sprintf("<%g %s", limit, unit))
		}
		return strings.TrimSpace(fmt.Sprintf("%.2f %s", v, unit))
	}}
}

// choice is one of several texts, each with a contribution to the logit of at most slope.
func choice(name string, slope float64, texts string) column {
	all := strings.Split(texts, "|")
	return column{name, func(r *row) string {
		k := r.IntN(len(all))
		r.logit += slope * math.Sin(5*float64(k)+1)
		return all[k]
	}}
}

// scale is one of several ordered texts. Its contribution to the logit is linear in the rank.
func scale(name string, slope float64, texts string) column {
	all := strings.Split(texts, "|")
	return column{name, func(r *row) string {
		k := r.IntN(len(all))
		r.logit += slope * (float64(k) - float64(len(all)-1)/2)
		return all[k]
	}}
}

// moment is a day of two years, with a time if the layout has one.
func moment(name, layout string, of func(t time.Time) float64) column {
	return column{name, func(r *row) string {
		r.day = time.Date(2023, 1, 1, r.IntN(24), r.IntN(60), 0, 0, time.UTC).AddDate(0, 0, r.IntN(730))
		r.logit += of(r.day)
		return r.day.Format(layout)
	}}
}

// later is some days after the last moment.
func later(name, layout string, of func(days float64) float64) column {
	return column{name, func(r *row) string {
		days := r.ExpFloat64() * 8
		r.logit += of(days)
		return r.day.Add(time.Duration(days * float64(24*time.Hour))).Format(layout)
	}}
}

// span is a duration of some minutes.
func span(name string, minutes float64, of func(z float64) float64, print func(minutes int) string) column {
	return column{name, func(r *row) string {
		z := r.NormFloat64()
		r.logit += of(z)
		return print(int(minutes * math.Exp(0.8*z)))
	}}
}

// identity names a row, and note is a remark.
func identity(name, format string) column {
	return column{name, func(r *row) string { return fmt.Sprintf(format, 10000+r.at*7919%90000) }}
}

// numbered has the numbers of the rows, without a name, as R writes them.
func numbered() column {
	return column{"", func(r *row) string { return strconv.Itoa(r.at + 1) }}
}

func note(name string) column {
	return column{name, func(r *row) string {
		return fmt.Sprintf("call back %d, see file %x", r.IntN(90), r.Uint32())
	}}
}

// near is normal about a mean of the class. A value of logarithms is printed as its exponential.
func near(name, format string, sd float64, logarithm bool, means ...float64) column {
	return column{name, func(r *row) string {
		v := means[r.class] + sd*r.NormFloat64()
		for c, m := range means {
			r.logits[c] -= (v - m) * (v - m) / (2 * sd * sd)
		}
		r.size = v
		if logarithm {
			v = math.Exp(v)
		}
		return fmt.Sprintf(format, v)
	}}
}

// share is a multiple of the value of the last column near, by class, up to a relative error.
func share(name, format string, sd float64, ratios ...float64) column {
	return column{name, func(r *row) string {
		v := math.Log(ratios[r.class]) + sd*r.NormFloat64()
		for c, m := range ratios {
			r.logits[c] -= (v - math.Log(m)) * (v - math.Log(m)) / (2 * sd * sd)
		}
		return fmt.Sprintf(format, r.size*math.Exp(v))
	}}
}

// pick is one of several texts. parts has, for each class, their probabilities in percent.
func pick(name, texts string, parts ...[]float64) column {
	all := strings.Split(texts, "|")
	return column{name, func(r *row) string {
		k, u := 0, 100*r.Float64()
		for ; k+1 < len(all) && u >= parts[r.class][k]; k++ {
			u -= parts[r.class][k]
		}
		for c := range parts {
			r.logits[c] += math.Log(parts[c][k] / 100)
		}
		return all[k]
	}}
}

// trait is 0 or 1. parts has, for each class, the probability of 1 in percent.
func trait(name string, parts ...float64) column {
	all := make([][]float64, len(parts))
	for c, p := range parts {
		all[c] = []float64{100 - p, p}
	}
	return pick(name, "0|1", all...)
}

// count is a Poisson variate. of returns its contribution to the logit from its standardised square
// root.
func count(name string, mean float64, of func(z float64) float64) column {
	return column{name, func(r *row) string {
		n := 0
		for t := r.ExpFloat64(); t < mean; t += r.ExpFloat64() {
			n++
		}
		r.logit += of(2 * (math.Sqrt(float64(n)) - math.Sqrt(mean)))
		return strconv.Itoa(n)
	}}
}

// within draws a column once for each group of rows. The rows of a group share its contribution to
// the logit.
func within(rows int, c column) column {
	last, text, part := -1, "", 0.0
	return column{c.name, func(r *row) string {
		if r.at/rows != last {
			before := r.logit
			last, text = r.at/rows, c.draw(r)
			part = r.logit - before
			return text
		}
		r.logit += part
		return text
	}}
}

// subject numbers groups of rows. The rows of a group share a contribution to the logit that no
// other column has.
func subject(name, format string, rows int, sd float64) column {
	return within(rows, column{name, func(r *row) string {
		r.logit += sd * r.NormFloat64()
		return fmt.Sprintf(format, 100+r.at/rows)
	}})
}

// gaps replaces a share of the texts by one that stands for a missing value.
func gaps(share float64, token string, c column) column {
	return column{c.name, func(r *row) string {
		text := c.draw(r)
		if r.Float64() < share {
			return token
		}
		return text
	}}
}

// Contributions to logits, as functions of a standardised value.
func slope(a float64) func(float64) float64 { return func(z float64) float64 { return a * z } }
func none(float64) float64                  { return 0 }
func hump(a float64) func(float64) float64  { return func(z float64) float64 { return a * (1 - z*z) } }
func wave(a float64) func(float64) float64 {
	return func(z float64) float64 { return a * math.Sin(2*z) }
}
func noDay(time.Time) float64 { return 0 }

func hourly(a, peak float64) func(time.Time) float64 {
	return func(t time.Time) float64 { return a * math.Cos(2*math.Pi*(float64(t.Hour())-peak)/24) }
}

func weekend(a float64) func(time.Time) float64 {
	return func(t time.Time) float64 {
		if t.Weekday() == time.Saturday || t.Weekday() == time.Sunday {
			return a
		}
		return -a / 2
	}
}

func seasonal(a float64) func(time.Time) float64 {
	return func(t time.Time) float64 { return a * math.Cos(2*math.Pi*float64(t.YearDay())/365) }
}

func clock(minutes int) string { return fmt.Sprintf("%d:%02d:00", minutes/60, minutes%60) }
func spelled(minutes int) string {
	if minutes < 60 {
		return fmt.Sprintf("%d min", minutes)
	}
	return fmt.Sprintf("%dh %02dm", minutes/60, minutes%60)
}

func days(m int) string { return fmt.Sprintf("%d days, %d:%02d:00", m/200, m%24, m%60) }

func standard(minutes int) string { return fmt.Sprintf("PT%dH%dM", minutes/60, minutes%60) }

const (
	often      = "never|rarely|sometimes|often|always"
	agree      = "strongly disagree|disagree|neutral|agree|strongly agree"
	oft        = "nie|selten|manchmal|oft|immer"
	zustimmung = "stimme gar nicht zu|stimme nicht zu|neutral|stimme zu|stimme voll zu"
	souvent    = "jamais|rarement|parfois|souvent|toujours"
	accord     = "pas du tout d'accord|pas d'accord|neutre|d'accord|tout à fait d'accord"
	ages       = "18-24|25-34|35-44|45-54|55-64|65+"
)

// sheets are fifty tables: exports of two classes, and then tables of science. These have separable
// classes, repeated subjects, counts, a label in the first columns, or a second column that looks
// like a label.
var sheets = []sheet{
	{"survey, English", ",", []column{
		identity("ResponseId", "R_%d"), scale("exercise", 0.7, often),
		gaps(0.05, "prefer not to say", scale("trust", -0.6, agree)), scale("age", 0.4, ages),
		choice("region", 0.8, "north|south|east|west"), note("comments"),
	}, "would_return", -1, []string{"no", "yes"}, 0, false},
	{"survey, German", ";", []column{
		scale("Sport", 0.7, oft), gaps(0.05, "keine Angabe", scale("Vertrauen", -0.6, zustimmung)),
		scale("Alter", 0.4, ages), number("Gewicht", "%.0f", 75, 12, wave(1)),
		choice("Land", 0.8, "Bayern|Hessen|Berlin|Sachsen"),
	}, "Wiederkehr", -1, []string{"nein", "ja"}, 0.3, false},
	{"survey, French", ";", []column{
		scale("sport", 0.7, souvent), scale("confiance", -0.8, accord), gaps(0.1, "", scale("âge", 0.5, ages)),
		choice("ville", 0.7, "Paris|Lyon|Lille|Nantes|Nice"),
	}, "retour", 0, []string{"non", "oui"}, -0.3, false},
	{"survey, numbers", ",", []column{
		identity("id", "%d"), scale("q1", 0.8, "1|2|3|4|5"), scale("q2", -0.5, "1|2|3|4|5"),
		scale("q3", 0.3, "1|2|3|4|5|6|7"), gaps(0.08, "99", scale("q4", 0.6, "1|2|3|4|5")),
	}, "target", -1, []string{"0", "1"}, 0, false},
	{"survey, numbered answers", ",", []column{
		scale("satisfaction", 0.8, "1 - very poor|2 - poor|3 - fair|4 - good|5 - very good"),
		scale("income", 0.6, "under 20k|20k-40k|40k-60k|60k-100k|over 100k"),
		choice("channel", 0.9, "phone|web|shop"), number("visits", "%.0f", 9, 3, hump(0.5)),
	}, "recommends", -1, []string{"no", "yes"}, 0.2, false},
	{"hospital stays", ",", []column{
		identity("patient_id", "P%d"), moment("admitted", "2006-01-02", seasonal(0.7)),
		later("discharged", "2006-01-02", func(d float64) float64 { return 0.15*d - 1 }),
		number("age", "%.0f", 60, 14, slope(0.8)), choice("ward", 0.6, "A1|A2|B1|C3"),
	}, "readmitted", -1, []string{"no", "yes"}, 0, false},
	{"hospital, vital signs", ",", []column{
		amount("weight", 75, hump(0.8), map[string]float64{"%.1f kg": 1}),
		number("height", "%.0f cm", 172, 9, none), number("pulse", "%.0f bpm", 75, 12, slope(1)),
		gaps(0.1, "n/a", number("temperature", "%.1f °C", 37, 0.7, slope(0.9))),
		scale("pain", 0.5, "none|mild|moderate|severe"),
	}, "outcome", -1, []string{"home", "ward"}, -0.4, false},
	{"hospital, emergency", ";", []column{
		moment("arrival", "02.01.2006 15:04", hourly(1.3, 23)), span("wait", 45, slope(0.9), clock),
		number("age", "%.0f", 45, 20, slope(0.4)), scale("triage", 0.6, "low|medium|high|very high"),
	}, "admitted", -1, []string{"n", "y"}, 0, false},
	{"hospital, births", ",", []column{
		moment("date_of_birth", "01/02/2006", noDay),
		amount("birth weight", 3300, hump(1), map[string]float64{"%.0f g": 1}),
		number("weeks", "%.0f", 39, 2, slope(-0.9)), choice("delivery", 0.6, "vaginal|caesarean|forceps"),
	}, "icu", -1, []string{"0", "1"}, -0.5, false},
	{"lab values", ",", []column{
		identity("sample", "S-%d"), limited("crp", 4, 2, "mg/l", slope(1.1)),
		limited("ferritin", 90, 30, "ng/ml", wave(1)), number("hb", "%.1f", 13.5, 1.6, slope(-0.9)),
	}, "diagnosis", -1, []string{"healthy", "anaemia"}, 0, false},
	{"lab values, decimal commas", ";", []column{
		number("Natrium", "%.0f", 140, 3, slope(0.5)), number("Kalium", "%.0f", 42, 5, wave(1.2)),
		limited("Troponin", 12, 5, "", slope(1.2)), choice("Gerät", 0.5, "X1|X2|X3"),
	}, "Befund", -1, []string{"negativ", "positiv"}, -0.2, false},
	{"water samples", ",", []column{
		moment("taken", "2006-01-02", seasonal(1.2)), limited("nitrate", 10, 5, "", slope(0.8)),
		limited("lead", 3, 2, "µg/l", slope(0.8)), number("ph", "%.2f", 7.2, 0.4, hump(0.7)),
	}, "exceeds", -1, []string{"no", "yes"}, 0, false},
	{"assay", "\t", []column{
		identity("well", "W%d"),
		amount("dose", 5, slope(1.4), map[string]float64{"%.2f mg": 1, "%.0f µg": 1e-3}),
		choice("plate", 0.5, "p1|p2|p3"), number("signal", "%.1f", 300, 80, wave(0.8)),
	}, "hit", 0, []string{"inactive", "active"}, 0, false},
	{"loans", ",", []column{
		identity("loan_id", "%d"), amount("amount", 12000, slope(0.6), map[string]float64{"$%.0f": 1}),
		number("rate", "%.1f%%", 9, 2, slope(0.9)), scale("grade", 0.4, "A|B|C|D|E"),
		span("tenure", 60, slope(-0.8), func(m int) string { return fmt.Sprintf("%d yrs %d mon", m/12, m%12) }),
	}, "status", -1, []string{"paid", "default"}, -0.5, false},
	{"loans, euros", ";", []column{
		amount("Betrag", 9000, slope(0.7), map[string]float64{"%.0f €": 1}),
		moment("Antrag", "02.01.2006", noDay),
		scale("Schule", -0.5, "Hauptschule|Realschule|Abitur|Bachelor|Master"),
		number("Alter", "%.0f", 40, 11, hump(0.6)),
	}, "Ausfall", -1, []string{"nein", "ja"}, -0.3, false},
	{"credit cards", ",", []column{
		moment("opened", "Jan 2006", noDay), number("utilisation", "%.0f%%", 40, 15, slope(1.2)),
		scale("income", -0.5, "<20k|20k-40k|40k-80k|80k+"),
		gaps(0.15, "", number("score", "%.0f", 650, 60, slope(-0.7))),
	}, "default", -1, []string{"0", "1"}, -0.8, false},
	{"mortgages", ",", []column{
		amount("value", 300000, slope(-0.7), map[string]float64{"%.0f": 1}),
		scale("term", 0.5, "10 years|15 years|20 years|30 years"), choice("type", 0.7, "fixed|variable|mixed"),
		number("ratio", "%.2f", 0.8, 0.1, slope(1)),
	}, "arrears", -1, []string{"no", "yes"}, -0.4, false},
	{"web log", ",", []column{
		moment("time", "2006-01-02T15:04:05Z", hourly(1.2, 3)),
		amount("sent", 40, slope(0.8), map[string]float64{"%.1f KB": 1, "%.3f MB": 1000}),
		choice("method", 0.5, "GET|POST|PUT"),
		span("latency", 3, slope(0.7), func(m int) string { return fmt.Sprintf("%d ms", 40*m+3) }),
	}, "bot", -1, []string{"False", "True"}, 0, false},
	{"sessions", ",", []column{
		identity("session", "s%d"),
		span("duration", 9, hump(1), func(m int) string { return fmt.Sprintf("%d:%02d", m, m*7%60) }),
		moment("start", "02/Jan/2006:15:04:05 -0700", hourly(0.9, 20)),
		choice("browser", 0.5, "Chrome|Firefox|Safari|Edge"), number("pages", "%.0f", 12, 4, slope(0.8)),
	}, "bought", -1, []string{"no", "yes"}, -0.3, false},
	{"alerts", ",", []column{
		moment("seen", "2006-01-02 15:04", weekend(1.5)), scale("severity", 0.7, "low|medium|high|critical"),
		number("count", "%.0f", 60, 20, wave(1)), choice("source", 0.6, "ids|av|mail|dns"),
	}, "incident", -1, []string{"false", "true"}, 0, false},
	{"downloads", ";", []column{
		amount("size", 120, slope(-1), map[string]float64{"%.1f MB": 1}), span("took", 4, slope(0.9), spelled),
		choice("country", 0.7, "DE|FR|US|IN|BR"), moment("day", "02.01.2006", weekend(0.8)),
	}, "complete", -1, []string{"no", "yes"}, 0.4, false},
	{"shop orders", ",", []column{
		identity("order_no", "%d"), moment("ordered", "01/02/2006", weekend(1)),
		later("delivered", "01/02/2006", func(d float64) float64 { return 0.2*d - 1.4 }),
		amount("total", 60, wave(1), map[string]float64{"$%.2f": 1}), scale("size", 0.4, "S|M|L|XL"),
	}, "returned", -1, []string{"no", "yes"}, 0, false},
	{"parcels", ";", []column{
		amount("Gewicht", 2, slope(0.9), map[string]float64{"%.2f kg": 1, "%.0f g": 1e-3}),
		moment("Abholung", "02.01.2006 15:04", hourly(0.9, 17)), choice("Zone", 0.8, "1|2|3|4"),
		span("Fahrt", 300, slope(0.7), clock),
	}, "verspätet", -1, []string{"nein", "ja"}, 0, false},
	{"subscriptions", ",", []column{
		identity("CustomerID", "%d"), moment("joined", "2006-01-02", noDay),
		scale("plan", -0.6, "small|medium|large"), number("usage", "%.1f", 30, 9, hump(0.9)),
		choice("payment", 0.7, "card|bank|cash"), number("support_calls", "%.0f", 6, 2, slope(0.8)),
	}, "churned", -1, []string{"No", "Yes"}, -0.2, false},
	{"reviews", ",", []column{
		scale("quality", 0.7, "terrible|poor|average|good|excellent"),
		scale("price", -0.4, "very low|low|medium|high|very high"), note("text"),
		number("words", "%.0f", 90, 30, wave(0.9)),
	}, "helpful", -1, []string{"0", "1"}, 0, false},
	{"school", ",", []column{
		identity("pupil", "%d"), scale("grade", 0.5, "5th|6th|7th|8th"),
		gaps(0.05, "-", number("maths", "%.0f", 70, 12, slope(0.9))), span("homework", 50, hump(0.8), spelled),
		scale("mother", 0.3, "primary school|secondary school|bachelor|master|phd"),
	}, "passed", -1, []string{"no", "yes"}, 0.3, false},
	{"courses", ",", []column{
		moment("enrolled", "2 January 2006", seasonal(1)), number("progress", "%.0f%%", 50, 18, slope(1)),
		choice("track", 0.6, "data|web|design|law"), span("watched", 240, wave(0.8), standard),
	}, "finished", -1, []string{"no", "yes"}, -0.1, false},
	{"exams", ";", []column{
		scale("Note", -0.7, "1 - sehr gut|2 - gut|3 - befriedigend|4 - ausreichend|5 - mangelhaft"),
		number("Punkte", "%.0f", 60, 15, wave(1)), moment("Beginn", "15:04", hourly(0.8, 10)),
		choice("Fach", 0.6, "Physik|Chemie|Kunst|Musik"),
	}, "bestanden", -1, []string{"nein", "ja"}, 0.2, false},
	{"sensors", ",", []column{
		moment("timestamp", "2006-01-02T15:04:05+01:00", hourly(1.1, 14)),
		number("temperature", "%.1f °C", 21, 4, slope(0.8)), number("humidity", "%.0f%%", 50, 12, hump(0.6)),
		number("vibration", "%.3f", 0.2, 0.05, wave(1)),
		gaps(0.1, "NaN", number("pressure", "%.0f", 1013, 9, slope(0.5))),
	}, "fault", -1, []string{"0", "1"}, -0.4, false},
	{"machines", "\t", []column{
		choice("line", 0.6, "L1|L2|L3"),
		span("uptime", 600, slope(1), days),
		amount("torque", 40, wave(1), map[string]float64{"%.1f Nm": 1}), limited("dust", 6, 3, "", slope(0.9)),
	}, "failed", -1, []string{"ok", "failed"}, -0.3, false},
	{"flowers", ",", []column{
		near("sepal_length", "%.1f", 0.5, false, 5, 5.9, 6.6), near("sepal_width", "%.1f", 0.3, false, 3.4, 2.8, 3),
		near("petal_length", "%.1f", 0.35, false, 1.5, 4.2, 5.6),
		near("petal_width", "%.1f", 0.22, false, 0.25, 1.3, 2),
	}, "species", -1, []string{"setosa", "versicolor", "virginica"}, 0, true},
	{"birds", ",", []column{
		pick("island", "Biscoe|Dream|Torgersen", []float64{30, 38, 32}, []float64{1, 98, 1}, []float64{98, 1, 1}),
		gaps(0.02, "NA", near("bill_length_mm", "%.1f", 2.6, false, 38.8, 48.8, 47.5)),
		gaps(0.02, "NA", near("bill_depth_mm", "%.1f", 0.9, false, 18.3, 18.4, 15)),
		gaps(0.02, "NA", near("flipper_length_mm", "%.0f", 5.5, false, 190, 196, 217)),
		gaps(0.02, "NA", near("body_mass_g", "%.0f", 380, false, 3700, 3730, 5080)),
		pick("sex", "female|male", []float64{50, 50}, []float64{50, 50}, []float64{50, 50}),
	}, "species", 0, []string{"Adelie", "Chinstrap", "Gentoo"}, 0, true},
	{"wines", ",", []column{
		near("alcohol", "%.2f", 0.5, false, 13.7, 12.3, 13.2), near("malic", "%.2f", 0.9, false, 2, 1.9, 3.3),
		near("ash", "%.2f", 0.25, false, 2.45, 2.25, 2.44), near("phenols", "%.2f", 0.4, false, 2.8, 2.3, 1.7),
		near("flavanoids", "%.2f", 0.45, false, 3, 2.1, 0.8), near("color", "%.2f", 1.2, false, 5.5, 3.1, 7.4),
		near("hue", "%.2f", 0.14, false, 1.06, 1.06, 0.68), near("proline", "%.0f", 170, false, 1115, 520, 630),
	}, "cultivar", 0, []string{"1", "2", "3"}, 0, true},
	{"animals", ",", []column{
		identity("animal_name", "a%d"), trait("hair", 95, 2, 4, 3, 2, 40, 2), trait("feathers", 1, 98, 1, 1, 1, 1, 1),
		trait("eggs", 5, 98, 80, 97, 98, 97, 90), trait("milk", 98, 1, 1, 1, 1, 1, 1),
		trait("airborne", 5, 80, 2, 2, 2, 70, 2),
		trait("aquatic", 15, 30, 20, 97, 98, 3, 60), trait("toothed", 97, 2, 80, 97, 95, 2, 2),
		trait("fins", 10, 1, 1, 97, 2, 1, 1),
		pick("legs", "0|2|4|6", []float64{7, 16, 76, 1}, []float64{1, 97, 1, 1}, []float64{55, 1, 43, 1},
			[]float64{97, 1, 1, 1}, []float64{2, 2, 95, 1}, []float64{1, 1, 1, 97}, []float64{40, 1, 20, 39}),
	}, "type", -1, []string{"mammal", "bird", "reptile", "fish", "amphibian", "insect", "mollusc"}, 0, true},
	{"panes", ",", []column{
		identity("Id", "%d"), near("RI", "%.5f", 0.002, false, 1.5185, 1.5186, 1.518, 1.519, 1.5175, 1.517),
		near("Na", "%.2f", 0.55, false, 13.2, 13.1, 13.4, 12.8, 14.6, 14.4),
		near("Mg", "%.2f", 0.6, false, 3.5, 3, 3.5, 0.8, 1.3, 0.5),
		near("Al", "%.2f", 0.32, false, 1.16, 1.41, 1.2, 2, 1.37, 2.1),
		near("Ca", "%.2f", 0.9, false, 8.8, 9.1, 8.8, 10.1, 9.4, 8.5),
		near("Ba", "%.2f", 0.3, false, 0.1, 0.1, 0.1, 0.2, 0, 1),
	}, "Type", -1, []string{"1", "2", "3", "5", "6", "7"}, 0, true},
	{"stars", ",", []column{
		near("temperature", "%.0f", 0.13, true, 8.03, 8.7, 8.95, 9.3, 10),
		near("luminosity", "%.5g", 0.8, true, -7, 0, 3, 6, 11),
		near("radius", "%.4f", 0.4, true, -2, 0, 0.6, 1.2, 2.2), near("magnitude", "%.2f", 1.2, false, 14, 5, 2, 0, -6),
	}, "spectral class", -1, []string{"M", "G", "F", "A", "O"}, 0, true},
	{"fish", ",", []column{
		near("length", "%.1f", 4, false, 30, 21, 23, 19, 42, 12, 25),
		share("height", "%.2f", 0.06, 0.4, 0.27, 0.26, 0.39, 0.16, 0.17, 0.25),
		share("width", "%.2f", 0.07, 0.14, 0.14, 0.15, 0.14, 0.1, 0.1, 0.17),
		share("tail", "%.2f", 0.05, 0.25, 0.2, 0.17, 0.22, 0.12, 0.2, 0.15),
	}, "Species", 0, []string{"Bream", "Roach", "Whitefish", "Parkki", "Pike", "Smelt", "Perch"}, 0, true},
	{"blobs", ",", []column{
		near("x1", "%.3f", 1, false, -4, 4, 0), near("x2", "%.3f", 1, false, 0, 0, 5),
	}, "y", -1, []string{"0", "1", "2"}, 0, true},
	{"seeds", "\t", []column{
		near("V1", "%.2f", 1.1, false, 14.3, 18.3, 11.9), near("V2", "%.2f", 0.25, false, 14.3, 16.1, 13.2),
		near("V3", "%.4f", 0.015, false, 0.88, 0.884, 0.85), near("V4", "%.3f", 0.2, false, 5.5, 6.1, 5.2),
		near("V5", "%.3f", 0.15, false, 3.24, 3.68, 2.85), near("V6", "%.3f", 1.2, false, 2.7, 3.6, 4.8),
	}, "V7", -1, []string{"1", "2", "3"}, 0, true},
	{"leaves", ",", []column{
		near("eccentricity", "%.4f", 0.08, false, 0.9, 0.4, 0.7, 0.95, 0.6, 0.8, 0.3, 0.5),
		near("aspect", "%.3f", 0.25, true, 1, 0.2, 0.5, 1.6, 0.3, 0.8, 0.1, 0.2),
		near("solidity", "%.4f", 0.05, false, 0.95, 0.97, 0.7, 0.93, 0.85, 0.6, 0.96, 0.8),
		near("lobedness", "%.4f", 0.6, true, -3, -4, 0, -3, -1, 1, -4, -1),
		near("smoothness", "%.4f", 0.4, true, -4, -4.5, -3, -5, -3.5, -3, -3.6, -4),
	}, "specimen", 0, []string{"oak", "birch", "maple", "willow", "alder", "hawthorn", "lime", "hazel"}, 0, true},
	{"visits", ",", []column{
		subject("subject", "%d", 4, 1.2), within(4, number("age", "%.0f", 50, 12, slope(0.6))),
		within(4, choice("arm", 0.8, "placebo|drug")), number("pressure", "%.0f", 130, 15, slope(0.9)),
		number("pulse", "%.0f", 72, 9, hump(0.5)),
	}, "relapse", -1, []string{"no", "yes"}, -0.3, false},
	{"households", ",", []column{
		subject("hh", "%d", 3, 1), within(3, number("income", "%.0f", 3100, 800, slope(0.8))),
		number("age", "%.0f", 41, 14, wave(0.9)), choice("sex", 0.4, "f|m"),
		number("hours", "%.0f", 36, 6, slope(-0.5)),
	}, "employed", -1, []string{"no", "yes"}, 0.4, false},
	{"movements", ",", []column{
		subject("ID", "%d", 4, 0), near("step", "%.2f", 0.35, false, 0.2, 1.5, 2.9),
		near("heart", "%.0f", 11, false, 68, 95, 140), near("tilt", "%.1f", 9, false, 30, 8, 12),
	}, "activity", -1, []string{"sitting", "walking", "running"}, 0, true},
	{"plots", ";", []column{
		subject("Parzelle", "P%d", 5, 0.8), within(5, choice("Boden", 0.9, "Lehm|Sand|Ton")),
		number("Regen", "%.1f", 42, 11, slope(0.9)), number("Stickstoff", "%.2f", 3.1, 0.8, hump(0.8)),
	}, "befallen", -1, []string{"nein", "ja"}, 0, false},
	{"operations", ",", []column{
		number("Age", "%.0f", 84, 30, hump(0.6)), count("Number", 4, slope(0.9)),
		number("Start", "%.0f", 12, 3, slope(-1.1)),
	}, "Kyphosis", 0, []string{"absent", "present"}, -1, false},
	{"accidents", ",", []column{
		count("cars", 2, slope(0.7)), count("lanes", 3, none), number("limit", "%.0f", 60, 15, slope(1)),
		choice("light", 0.8, "day|dusk|night"), count("previous", 1, slope(0.6)),
	}, "severe", -1, []string{"0", "1"}, -0.3, false},
	{"refusals", ",", []column{
		number("ratio", "%.3f", 0.33, 0.08, slope(1.2)), choice("type", 0.6, "house|flat|farm"),
		count("unpaid", 1, slope(0.8)), number("score", "%.0f", 640, 50, slope(-0.9)),
	}, "deny", 0, []string{"no", "yes"}, -0.8, false},
	{"labour", ",", []column{
		numbered(), number("age", "%.0f", 42, 8, hump(0.7)), count("kids", 1.2, slope(-1)),
		number("wage", "%.2f", 3.4, 0.8, slope(0.9)), choice("college", 0.6, "no|yes"),
	}, "participation", 1, []string{"no", "yes"}, 0.2, false},
	{"votes", ",", []column{
		numbered(), near("age", "%.0f", 11, false, 38, 52, 61), near("left_right", "%.1f", 0.9, false, 2.4, 5.1, 7.7),
		pick("class", "lower|middle|upper", []float64{50, 40, 10}, []float64{30, 50, 20}, []float64{10, 50, 40}),
		near("europe", "%.1f", 1.5, false, 8, 5.5, 3),
	}, "vote", 1, []string{"Labour", "Liberal", "Conservative"}, 0, true},
	{"passengers", ",", []column{
		identity("passenger", "%d"), scale("class", -0.7, "1st|2nd|3rd"), choice("sex", 1.2, "female|male"),
		gaps(0.15, "", number("age", "%.0f", 31, 12, slope(-0.4))), count("siblings", 0.6, slope(-0.4)),
		amount("fare", 22, slope(0.5), map[string]float64{"%.2f": 1}),
	}, "survived", 1, []string{"0", "1"}, -0.3, false},
}
