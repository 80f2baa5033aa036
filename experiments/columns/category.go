package columns

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
	"github.com/gpc-tune/gpc-tune/internal/pattern"
)

// mostCategories is the largest number of different texts that are taken as categories.
const mostCategories = 60

// category is one of a few texts.
var category = Kind{Name: "category", Use: Input, is: func(p *profile) (string, bool) {
	n := len(p.levels)
	if n == 0 || n > mostCategories || p.present < 2*n {
		return "", false
	}
	return fmt.Sprintf("%d categories: %s", n, p.some()), true
}}

// some lists the most frequent values with their counts.
func (p *profile) some() string {
	const most = 5
	values := slices.SortedFunc(maps.Keys(p.levels), func(a, b string) int {
		return cmp.Or(cmp.Compare(p.levels[b], p.levels[a]), cells.Natural(a, b))
	})
	var told []string
	for _, v := range values[:min(most, len(values))] {
		told = append(told, fmt.Sprintf("%s (%d)", short(v), p.levels[v]))
	}
	if len(values) > most {
		told = append(told, "…")
	}
	return strings.Join(told, ", ")
}

// short returns the beginning of a text.
func short(text string) string {
	const most = 30
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "…"
	}
	return text
}

// answers lists pairs of answers, in lower case.
var answers = [][]string{{"no", "yes"}, {"false", "true"}, {"n", "y"}, {"f", "t"}, {"nein", "ja"}, {"off", "on"},
	{"non", "oui"}, {"no", "si"}, {"no", "sí"}, {"nee", "ja"}, {"absent", "present"}, {"negative", "positive"}}

// answer is yes or no.
var answer = Kind{Name: "yes or no", Use: Input, is: func(p *profile) (string, bool) {
	return p.some(), len(p.levels) == 2 && answered(slices.Collect(maps.Keys(p.levels)))
}}

// answered reports whether the texts are a pair of answers in any letter case.
func answered(words []string) bool {
	var lower []string
	for _, w := range words {
		lower = append(lower, strings.ToLower(w))
	}
	slices.Sort(lower)
	return slices.ContainsFunc(answers, func(a []string) bool { return slices.Equal(a, lower) })
}

var codeName = pattern.Of(`(?i)(^|[_ .-])(code|type|kind|category|cat|class|region|zone|zip|zipcode|` +
	`zip_code|plz|postcode|postal_code|district|sector|segment|cluster|branch|department|dept|site|centre|center|` +
	`station|ward|country|state|colou?r|sex|gender|race|ethnicity|religion|occupation|job|status|method|mode|brand|` +
	`channel|group|arm|batch|lot|machine|operator|lab|hospital|clinic|shop|store|product|plan|tariff)` +
	`(_?(id|code|nr|no))?$`)

// mostCodes is the largest number of different whole numbers that can be names of categories.
const mostCodes = 50

// code names categories by whole numbers.
var code = Kind{Name: "category", Use: Input, category: true, is: func(p *profile) (string, bool) {
	n := len(p.levels)
	if !p.isWhole() || n < 3 || n > mostCodes || p.present < 2*n || p.present < leastRows ||
		!codeName().MatchString(p.name) && (!idName().MatchString(p.name) || countName().MatchString(p.name)) {
		return "", false
	}
	return fmt.Sprintf("%d categories, by its name, although they are numbers: %s", n, p.some()), true
}}

// scales lists well-known scales in lower case, the lowest value first; | separates words of one
// rank.
var scales = func() (all [][]string) {
	for _, text := range slices.Concat(cells.Months, []string{
		// how often
		"never, almost never|hardly ever|very rarely, rarely|seldom|not often, sometimes|occasionally, " +
			"often|frequently|usually|most of the time, very often|almost always, always",
		"nie|niemals, fast nie|sehr selten, selten, manchmal|gelegentlich|ab und zu, oft|häufig|meistens, " +
			"sehr oft|fast immer|sehr häufig, immer",
		"jamais, presque jamais|très rarement, rarement, parfois|de temps en temps, souvent, très " +
			"souvent|presque toujours, toujours",
		"nunca, casi nunca, rara vez|raramente|pocas veces, a veces|algunas veces, a " +
			"menudo|frecuentemente|con frecuencia|muchas veces, casi siempre|muy a menudo, siempre",
		"mai, quasi mai, raramente, a volte|qualche volta, spesso, molto spesso|quasi sempre, sempre",
		"nooit, bijna nooit, zelden, soms, vaak, heel vaak|bijna altijd, altijd",
		// agreement
		"strongly disagree|disagree strongly|completely disagree, disagree, somewhat disagree|slightly " +
			"disagree|disagree somewhat, neutral|neither|neither agree nor disagree|undecided|not sure, " +
			"somewhat agree|slightly agree|agree somewhat, agree, strongly agree|agree strongly|completely " +
			"agree",
		"stimme gar nicht zu|stimme überhaupt nicht zu|trifft gar nicht zu|trifft überhaupt nicht zu, " +
			"stimme nicht zu|stimme eher nicht zu|trifft nicht zu|trifft eher nicht zu, neutral|weder " +
			"noch|teils teils|teils/teils|unentschieden, stimme eher zu|trifft eher zu, stimme zu|trifft zu, " +
			"stimme voll zu|stimme voll und ganz zu|trifft voll zu|trifft voll und ganz zu",
		"pas du tout d'accord, pas d'accord, plutôt pas d'accord, neutre|ni d'accord ni pas d'accord|ni en " +
			"accord ni en désaccord, plutôt d'accord, d'accord, tout à fait d'accord",
		"muy en desacuerdo|totalmente en desacuerdo, en desacuerdo, neutral|ni de acuerdo ni en " +
			"desacuerdo|indiferente, de acuerdo, muy de acuerdo|totalmente de acuerdo",
		// quality and satisfaction
		"terrible|awful|very poor|very bad, poor|bad, below average, " +
			"fair|average|ok|okay|acceptable|satisfactory, above average, good, very good, " +
			"excellent|outstanding",
		"sehr schlecht, schlecht, mäßig|mittel|mittelmäßig|befriedigend, gut, sehr gut, " +
			"ausgezeichnet|hervorragend",
		"très mauvais|très mauvaise, mauvais|mauvaise, moyen|moyenne|passable, bon|bonne, très bon|très " +
			"bonne, excellent|excellente",
		"muy malo|muy mala, malo|mala, regular|normal, bueno|buena, muy bueno|muy buena, excelente",
		"very dissatisfied|very unsatisfied, dissatisfied|unsatisfied, somewhat dissatisfied, " +
			"neutral|neither, somewhat satisfied, satisfied, very satisfied",
		"sehr unzufrieden, unzufrieden, neutral|teils teils, zufrieden, sehr zufrieden",
		"très insatisfait|très insatisfaite, insatisfait|insatisfaite, neutre, satisfait|satisfaite, très " +
			"satisfait|très satisfaite",
		"very unlikely|extremely unlikely, unlikely, neutral|possible|even, likely|probable, very " +
			"likely|extremely likely",
		"not at all|not at all important|unimportant, a little|slightly|slightly important|not very " +
			"important, somewhat|moderately|moderately important|important, quite a bit|very|very important, " +
			"extremely|extremely important|essential",
		// amounts, severities and sizes
		"none|no, very low|lowest, low|minor, medium|moderate|mid|intermediate|normal, high|major, very " +
			"high|highest, extreme|critical",
		"none|no pain|absent, minimal|very mild, mild|slight|light, moderate|medium, severe|strong|heavy, " +
			"very severe|critical|extreme",
		"keine|kein, sehr gering|sehr niedrig, gering|niedrig|leicht, mittel|mäßig, hoch|stark|schwer, " +
			"sehr hoch|sehr stark|sehr schwer",
		"aucun|aucune|nul|nulle, très faible|très bas, faible|bas|léger|légère, " +
			"moyen|moyenne|modéré|modérée, élevé|élevée|fort|forte|haut|haute|sévère, très élevé|très " +
			"élevée|très fort|très forte",
		"ninguno|ninguna, muy bajo|muy baja, bajo|baja|leve, medio|media|moderado|moderada, " +
			"alto|alta|grave|severo, muy alto|muy alta|muy grave",
		"tiny|extra small|very small, small, medium|regular, large|big, extra large|very " +
			"large|huge|x-large, xx-large",
		"xxs, xs, s, m, l, xl, xxl|2xl, xxxl|3xl",
		"winzig|sehr klein, klein, mittel|mittelgroß, groß|gross, sehr groß|sehr gross|riesig",
		"très petit|très petite, petit|petite, moyen|moyenne, grand|grande, très grand|très grande",
		"muy pequeño|muy pequeña, pequeño|pequeña, mediano|mediana, grande, muy grande",
		"cold|freezing, cool, mild|lukewarm, warm, hot",
		"beginner|novice, elementary, intermediate, advanced, expert|professional",
		"intern|trainee, junior, mid|middle|mid-level, senior, lead|principal, head|director|executive",
		// education
		"no schooling|none|no formal education, preschool|kindergarten, primary|primary " +
			"school|elementary|elementary school, middle school|lower secondary|some high school, " +
			"secondary|secondary school|high school|hs-grad|high school graduate|upper secondary, " +
			"vocational|trade school|some college|some-college, associate|associate's|associate " +
			"degree|associates, bachelor|bachelors|bachelor's|bachelor degree|bachelor's " +
			"degree|college|undergraduate|university, master|masters|master's|master degree|master's " +
			"degree|graduate|postgraduate, phd|doctorate|doctoral|doctor",
		"kein abschluss|ohne abschluss, hauptschule|hauptschulabschluss, realschule|mittlere " +
			"reife|realschulabschluss, fachabitur|fachhochschulreife, abitur|hochschulreife, ausbildung|lehre, " +
			"bachelor, master|diplom, promotion|doktor",
	}) {
		all = append(all, strings.Split(text, ", "))
	}
	return all
}()

// ordered has values of a well-known scale, bands of numbers, or numbered texts.
var ordered = Kind{Name: "ordered", Use: Input, is: func(p *profile) (string, bool) {
	of := p.order()
	if of == nil {
		return "", false
	}
	return fmt.Sprintf("%d values with an order: %s", len(of), strings.Join(of, " < ")), true
}}

// order returns three or more different values in their order, or nil.
func (p *profile) order() []string {
	if n := len(p.levels); n < 3 || n > mostCategories || p.present < 2*n || p.isNumber() {
		return nil
	}
	given := maps.Clone(p.levels) // without words of refusal
	maps.DeleteFunc(given, func(text string, _ int) bool { return cells.IsMissingWord(text) })
	for _, values := range []map[string]int{p.levels, given} {
		for _, rank := range []func(string) float64{band, numbered} {
			if of := sorted(values, rank); len(of) > 2 {
				return of
			}
		}
		for _, scale := range scales {
			of := sorted(values, func(text string) float64 { return place(scale, text) })
			if len(of) > 2 {
				return of
			}
		}
	}
	return nil
}

// sorted returns the values by their ranks; nil if a value has no rank, or two have the same.
func sorted(values map[string]int, rank func(string) float64) []string {
	ranks, met := map[string]float64{}, map[float64]bool{}
	for text := range values {
		r := rank(text)
		if math.IsNaN(r) || met[r] {
			return nil
		}
		ranks[text], met[r] = r, true
	}
	return slices.SortedFunc(maps.Keys(values), func(a, b string) int {
		if ranks[a] < ranks[b] {
			return -1
		}
		return 1
	})
}

// place returns the rank of a text in a scale, or NaN.
func place(scale []string, text string) float64 {
	text = strings.ToLower(strings.Join(strings.Fields(strings.ReplaceAll(text, "’", "'")), " "))
	for k, words := range scale {
		if slices.Contains(strings.Split(words, "|"), strings.TrimSuffix(text, ".")) {
			return float64(k)
		}
	}
	return math.NaN()
}

var (
	amount = `[$€£]? ?(\d[\d.,]*) ?(k|m)?`
	ranged = pattern.Of(`(?i)^` + amount + ` ?(?:-|–|to|bis|à|a) ?` + amount + ` ?([a-z%€$]*)$`)
	below  = pattern.Of(`(?i)^(?:<|<=|≤|under|below|less than|up to|unter|bis|moins de|menos de) ?` + amount +
		` ?([a-z%€$]*)$`)
	above = pattern.Of(`(?i)^(?:(?:>|>=|≥|over|above|more than|über|ab|plus de|más de) ?` + amount +
		` ?([a-z%€$]*)|` + amount + ` ?(?:\+|and over|and above|or more|or older|and older|und mehr|et plus|y más))$`)
	thousands = pattern.Of(`^[1-9]\d{0,2}([.,]\d{3})+$`)
	alone     = pattern.Of(`^` + amount + `$`)
	heading   = pattern.Of(`^\(?(\d{1,2}) ?(?:[.:)=]| - | – )`)
)

// band returns the lower end of a band of numbers such as 18-24, <18, 65+ or 3; NaN for other
// texts.
func band(text string) float64 {
	if m := ranged().FindStringSubmatch(text); m != nil {
		to := amountOf(m[3], m[4])
		for _, unit := range []string{cmp.Or(m[2], m[4]), m[2]} { // 1-5k is 1k-5k, and 500-5k is not 500k-5k
			if from := amountOf(m[1], unit); from < to {
				return from
			}
		}
		return math.NaN()
	}
	if m := below().FindStringSubmatch(text); m != nil {
		return math.Inf(-1)
	}
	if m := above().FindStringSubmatch(text); m != nil {
		// above every band with the same begin
		return math.Nextafter(amountOf(m[1]+m[4], m[2]+m[5]), math.Inf(1))
	}
	if m := alone().FindStringSubmatch(text); m != nil {
		return amountOf(m[1], m[2])
	}
	return math.NaN()
}

// amountOf returns the number of a band with its unit of k or m. A point or comma before groups of
// three digits separates thousands, as in 1.000 and 1,000. Any other one is the decimal separator.
func amountOf(text, unit string) float64 {
	if thousands().MatchString(text) {
		text = strings.NewReplacer(",", "", ".", "").Replace(text)
	}
	v, err := strconv.ParseFloat(strings.Replace(text, ",", ".", 1), 64)
	if err != nil {
		return math.NaN()
	}
	return v * map[string]float64{"": 1, "k": 1e3, "m": 1e6}[strings.ToLower(unit)]
}

// numbered returns the number before a text, as in "2 - rarely", or NaN.
func numbered(text string) float64 {
	m := heading().FindStringSubmatch(text)
	if m == nil {
		return math.NaN()
	}
	v, _ := strconv.ParseFloat(m[1], 64)
	return v
}
