package main

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"time"
)

// row is one row while it is made. What a column draws may depend on columns before it.
type row struct {
	*rand.Rand
	at    int
	day   time.Time // of the last column of dates
	logit float64   // of the class, the sum over columns
}

// column draws the texts of a column, and adds to the logit of the class what they mean for it.
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
	first   bool // the label is the first column
	classes [2]string
	bias    float64 // of the logit, besides what the columns add
}

// number is normal; format prints it, with the mean and the standard deviation of the column, and
// of is its part of the logit.
func number(name, format string, mean, sd float64, of func(z float64) float64) column {
	return column{name, func(r *row) string {
		z := r.NormFloat64()
		r.logit += of(z)
		return fmt.Sprintf(format, mean+sd*z)
	}}
}

// amount is log-normal, in one of several units, which are so many of the first.
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

// choice is one of several texts, each with its part of the logit, weighted so that they matter.
func choice(name string, slope float64, texts string) column {
	all := strings.Split(texts, "|")
	return column{name, func(r *row) string {
		k := r.IntN(len(all))
		r.logit += slope * math.Sin(5*float64(k)+1)
		return all[k]
	}}
}

// scale is one of several texts in their order.
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

func note(name string) column {
	return column{name, func(r *row) string {
		return fmt.Sprintf("call back %d, see file %x", r.IntN(90), r.Uint32())
	}}
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

// Parts of logits.
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

// sheets are thirty tables.
var sheets = []sheet{
	{"survey, English", ",", []column{
		identity("ResponseId", "R_%d"), scale("exercise", 0.7, often),
		gaps(0.05, "prefer not to say", scale("trust", -0.6, agree)), scale("age", 0.4, ages),
		choice("region", 0.8, "north|south|east|west"), note("comments"),
	}, "would_return", false, [2]string{"no", "yes"}, 0},
	{"survey, German", ";", []column{
		scale("Sport", 0.7, oft), gaps(0.05, "keine Angabe", scale("Vertrauen", -0.6, zustimmung)),
		scale("Alter", 0.4, ages), number("Gewicht", "%.0f", 75, 12, wave(1)),
		choice("Land", 0.8, "Bayern|Hessen|Berlin|Sachsen"),
	}, "Wiederkehr", false, [2]string{"nein", "ja"}, 0.3},
	{"survey, French", ";", []column{
		scale("sport", 0.7, souvent), scale("confiance", -0.8, accord), gaps(0.1, "", scale("âge", 0.5, ages)),
		choice("ville", 0.7, "Paris|Lyon|Lille|Nantes|Nice"),
	}, "retour", true, [2]string{"non", "oui"}, -0.3},
	{"survey, numbers", ",", []column{
		identity("id", "%d"), scale("q1", 0.8, "1|2|3|4|5"), scale("q2", -0.5, "1|2|3|4|5"),
		scale("q3", 0.3, "1|2|3|4|5|6|7"), gaps(0.08, "99", scale("q4", 0.6, "1|2|3|4|5")),
	}, "target", false, [2]string{"0", "1"}, 0},
	{"survey, numbered answers", ",", []column{
		scale("satisfaction", 0.8, "1 - very poor|2 - poor|3 - fair|4 - good|5 - very good"),
		scale("income", 0.6, "under 20k|20k-40k|40k-60k|60k-100k|over 100k"),
		choice("channel", 0.9, "phone|web|shop"), number("visits", "%.0f", 9, 3, hump(0.5)),
	}, "recommends", false, [2]string{"no", "yes"}, 0.2},
	{"hospital stays", ",", []column{
		identity("patient_id", "P%d"), moment("admitted", "2006-01-02", seasonal(0.7)),
		later("discharged", "2006-01-02", func(d float64) float64 { return 0.15*d - 1 }),
		number("age", "%.0f", 60, 14, slope(0.8)), choice("ward", 0.6, "A1|A2|B1|C3"),
	}, "readmitted", false, [2]string{"no", "yes"}, 0},
	{"hospital, vital signs", ",", []column{
		amount("weight", 75, hump(0.8), map[string]float64{"%.1f kg": 1}),
		number("height", "%.0f cm", 172, 9, none), number("pulse", "%.0f bpm", 75, 12, slope(1)),
		gaps(0.1, "n/a", number("temperature", "%.1f °C", 37, 0.7, slope(0.9))),
		scale("pain", 0.5, "none|mild|moderate|severe"),
	}, "outcome", false, [2]string{"home", "ward"}, -0.4},
	{"hospital, emergency", ";", []column{
		moment("arrival", "02.01.2006 15:04", hourly(1.3, 23)), span("wait", 45, slope(0.9), clock),
		number("age", "%.0f", 45, 20, slope(0.4)), scale("triage", 0.6, "low|medium|high|very high"),
	}, "admitted", false, [2]string{"n", "y"}, 0},
	{"hospital, births", ",", []column{
		moment("date_of_birth", "01/02/2006", noDay),
		amount("birth weight", 3300, hump(1), map[string]float64{"%.0f g": 1}),
		number("weeks", "%.0f", 39, 2, slope(-0.9)), choice("delivery", 0.6, "vaginal|caesarean|forceps"),
	}, "icu", false, [2]string{"0", "1"}, -0.5},
	{"lab values", ",", []column{
		identity("sample", "S-%d"), limited("crp", 4, 2, "mg/l", slope(1.1)),
		limited("ferritin", 90, 30, "ng/ml", wave(1)), number("hb", "%.1f", 13.5, 1.6, slope(-0.9)),
	}, "diagnosis", false, [2]string{"healthy", "anaemia"}, 0},
	{"lab values, decimal commas", ";", []column{
		number("Natrium", "%.0f", 140, 3, slope(0.5)), number("Kalium", "%.0f", 42, 5, wave(1.2)),
		limited("Troponin", 12, 5, "", slope(1.2)), choice("Gerät", 0.5, "X1|X2|X3"),
	}, "Befund", false, [2]string{"negativ", "positiv"}, -0.2},
	{"water samples", ",", []column{
		moment("taken", "2006-01-02", seasonal(1.2)), limited("nitrate", 10, 5, "", slope(0.8)),
		limited("lead", 3, 2, "µg/l", slope(0.8)), number("ph", "%.2f", 7.2, 0.4, hump(0.7)),
	}, "exceeds", false, [2]string{"no", "yes"}, 0},
	{"assay", "\t", []column{
		identity("well", "W%d"),
		amount("dose", 5, slope(1.4), map[string]float64{"%.2f mg": 1, "%.0f µg": 1e-3}),
		choice("plate", 0.5, "p1|p2|p3"), number("signal", "%.1f", 300, 80, wave(0.8)),
	}, "hit", true, [2]string{"inactive", "active"}, 0},
	{"loans", ",", []column{
		identity("loan_id", "%d"), amount("amount", 12000, slope(0.6), map[string]float64{"$%.0f": 1}),
		number("rate", "%.1f%%", 9, 2, slope(0.9)), scale("grade", 0.4, "A|B|C|D|E"),
		span("tenure", 60, slope(-0.8), func(m int) string { return fmt.Sprintf("%d yrs %d mon", m/12, m%12) }),
	}, "status", false, [2]string{"paid", "default"}, -0.5},
	{"loans, euros", ";", []column{
		amount("Betrag", 9000, slope(0.7), map[string]float64{"%.0f €": 1}),
		moment("Antrag", "02.01.2006", noDay),
		scale("Schule", -0.5, "Hauptschule|Realschule|Abitur|Bachelor|Master"),
		number("Alter", "%.0f", 40, 11, hump(0.6)),
	}, "Ausfall", false, [2]string{"nein", "ja"}, -0.3},
	{"credit cards", ",", []column{
		moment("opened", "Jan 2006", noDay), number("utilisation", "%.0f%%", 40, 15, slope(1.2)),
		scale("income", -0.5, "<20k|20k-40k|40k-80k|80k+"),
		gaps(0.15, "", number("score", "%.0f", 650, 60, slope(-0.7))),
	}, "default", false, [2]string{"0", "1"}, -0.8},
	{"mortgages", ",", []column{
		amount("value", 300000, slope(-0.7), map[string]float64{"%.0f": 1}),
		scale("term", 0.5, "10 years|15 years|20 years|30 years"), choice("type", 0.7, "fixed|variable|mixed"),
		number("ratio", "%.2f", 0.8, 0.1, slope(1)),
	}, "arrears", false, [2]string{"no", "yes"}, -0.4},
	{"web log", ",", []column{
		moment("time", "2006-01-02T15:04:05Z", hourly(1.2, 3)),
		amount("sent", 40, slope(0.8), map[string]float64{"%.1f KB": 1, "%.3f MB": 1000}),
		choice("method", 0.5, "GET|POST|PUT"),
		span("latency", 3, slope(0.7), func(m int) string { return fmt.Sprintf("%d ms", 40*m+3) }),
	}, "bot", false, [2]string{"False", "True"}, 0},
	{"sessions", ",", []column{
		identity("session", "s%d"),
		span("duration", 9, hump(1), func(m int) string { return fmt.Sprintf("%d:%02d", m, m*7%60) }),
		moment("start", "02/Jan/2006:15:04:05 -0700", hourly(0.9, 20)),
		choice("browser", 0.5, "Chrome|Firefox|Safari|Edge"), number("pages", "%.0f", 12, 4, slope(0.8)),
	}, "bought", false, [2]string{"no", "yes"}, -0.3},
	{"alerts", ",", []column{
		moment("seen", "2006-01-02 15:04", weekend(1.5)), scale("severity", 0.7, "low|medium|high|critical"),
		number("count", "%.0f", 60, 20, wave(1)), choice("source", 0.6, "ids|av|mail|dns"),
	}, "incident", false, [2]string{"false", "true"}, 0},
	{"downloads", ";", []column{
		amount("size", 120, slope(-1), map[string]float64{"%.1f MB": 1}), span("took", 4, slope(0.9), spelled),
		choice("country", 0.7, "DE|FR|US|IN|BR"), moment("day", "02.01.2006", weekend(0.8)),
	}, "complete", false, [2]string{"no", "yes"}, 0.4},
	{"shop orders", ",", []column{
		identity("order_no", "%d"), moment("ordered", "01/02/2006", weekend(1)),
		later("delivered", "01/02/2006", func(d float64) float64 { return 0.2*d - 1.4 }),
		amount("total", 60, wave(1), map[string]float64{"$%.2f": 1}), scale("size", 0.4, "S|M|L|XL"),
	}, "returned", false, [2]string{"no", "yes"}, 0},
	{"parcels", ";", []column{
		amount("Gewicht", 2, slope(0.9), map[string]float64{"%.2f kg": 1, "%.0f g": 1e-3}),
		moment("Abholung", "02.01.2006 15:04", hourly(0.9, 17)), choice("Zone", 0.8, "1|2|3|4"),
		span("Fahrt", 300, slope(0.7), clock),
	}, "verspätet", false, [2]string{"nein", "ja"}, 0},
	{"subscriptions", ",", []column{
		identity("CustomerID", "%d"), moment("joined", "2006-01-02", noDay),
		scale("plan", -0.6, "small|medium|large"), number("usage", "%.1f", 30, 9, hump(0.9)),
		choice("payment", 0.7, "card|bank|cash"), number("support_calls", "%.0f", 6, 2, slope(0.8)),
	}, "churned", false, [2]string{"No", "Yes"}, -0.2},
	{"reviews", ",", []column{
		scale("quality", 0.7, "terrible|poor|average|good|excellent"),
		scale("price", -0.4, "very low|low|medium|high|very high"), note("text"),
		number("words", "%.0f", 90, 30, wave(0.9)),
	}, "helpful", false, [2]string{"0", "1"}, 0},
	{"school", ",", []column{
		identity("pupil", "%d"), scale("grade", 0.5, "5th|6th|7th|8th"),
		gaps(0.05, "-", number("maths", "%.0f", 70, 12, slope(0.9))), span("homework", 50, hump(0.8), spelled),
		scale("mother", 0.3, "primary school|secondary school|bachelor|master|phd"),
	}, "passed", false, [2]string{"no", "yes"}, 0.3},
	{"courses", ",", []column{
		moment("enrolled", "2 January 2006", seasonal(1)), number("progress", "%.0f%%", 50, 18, slope(1)),
		choice("track", 0.6, "data|web|design|law"), span("watched", 240, wave(0.8), standard),
	}, "finished", false, [2]string{"no", "yes"}, -0.1},
	{"exams", ";", []column{
		scale("Note", -0.7, "1 - sehr gut|2 - gut|3 - befriedigend|4 - ausreichend|5 - mangelhaft"),
		number("Punkte", "%.0f", 60, 15, wave(1)), moment("Beginn", "15:04", hourly(0.8, 10)),
		choice("Fach", 0.6, "Physik|Chemie|Kunst|Musik"),
	}, "bestanden", false, [2]string{"nein", "ja"}, 0.2},
	{"sensors", ",", []column{
		moment("timestamp", "2006-01-02T15:04:05+01:00", hourly(1.1, 14)),
		number("temperature", "%.1f °C", 21, 4, slope(0.8)), number("humidity", "%.0f%%", 50, 12, hump(0.6)),
		number("vibration", "%.3f", 0.2, 0.05, wave(1)),
		gaps(0.1, "NaN", number("pressure", "%.0f", 1013, 9, slope(0.5))),
	}, "fault", false, [2]string{"0", "1"}, -0.4},
	{"machines", "\t", []column{
		choice("line", 0.6, "L1|L2|L3"),
		span("uptime", 600, slope(1), days),
		amount("torque", 40, wave(1), map[string]float64{"%.1f Nm": 1}), limited("dust", 6, 3, "", slope(0.9)),
	}, "failed", false, [2]string{"ok", "failed"}, -0.3},
}
