package columns

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/internal/registry"
)

// Evidence in points. The column with the most is the label if it has at least leastPoints and
// leads by at least leastLead.
const (
	strongName, partialName, weakName = 6, 3, 2
	roleName                          = -3 // the name of an input, such as age or treatment
	lastColumn, firstColumn           = 3, 2
	lastOfNumbered                    = 1 // the last column, in a table with row numbers
	onlyClasses                       = 3 // no other column could hold classes
	verdictPair, twoValues            = 3, 0.5
	besideClasses                     = -2 // numbers with the name of a label, next to such a column of two values
	manyTexts, manyNumbers            = -1, -5
	leastPoints, leastLead            = 3, 2
	mostCandidates                    = 5
)

// labelNames lists names that only labels have, in lower case without accents or blanks.
var labelNames = set(`label labels y target targets outcome outcomes response groundtruth gt truth dependent
	classlabel targetclass survived survival survive churn churned attrition default defaulted
	defaultpaymentnextmonth deny denied spam isspam ham vote voted votes purchase purchased
	bought buy species diagnosis diagnose released participation participate converted
	conversion fraud fraudulent approved approval hired admitted readmitted admission died death
	dead deceased mortality deathevent cancelled canceled clicked click subscribed subscribe
	malignant malignancy relapse relapsed recurrence infected heartdisease sick stroke won
	winner win passed failed failure machinefailure fault faulty defect defective anomaly toxic
	sentiment edible poisonous loanstatus creditrisk bad goodbad delinquent delinquency
	seriousdlqin2yrs repaid promoted accepted acceptance rejected retained quit resigned exited
	left lowbirthweight low hof halloffame complication complications cured recovered response1
	admit acceptability creditworthy creditworthiness kreditwurdig kreditwuerdig kreditwurdigkeit
	kreditwuerdigkeit avslag avslatt afgewezen odmowa refus rechazado respinto recusado hylatty
	zamitnuto prognosis verdict cultivar variety depvar affected casecontrol etikett zielvariable
	zielgroesse zielgrosse ziel ergebnis diagnosen ueberlebt uberlebt gekuendigt gekundigt
	kuendigung kundigung betrug gekauft genehmigt ausfall bewilligt gestorben verstorben krank erkrankt art
	etiquette cible resultat diagnostic survecu survie decede desabonne resilie resiliation
	fraude achat achete espece accepte defaut etiqueta objetivo resultado diagnostico sobrevivio
	superviviente abandono baja impago fraudulento compra compro especie aprobado fallecido
	muerte murio etichetta bersaglio esito risultato diagnosi sopravvissuto sopravvivenza
	abbandono frode acquisto acquistato specie approvato deceduto morto insolvenza rotulo alvo
	desfecho sobreviveu obito inadimplente inadimplencia evasao cancelou comprou aprovado
	faleceu doel doelvariabele uitkomst uitslag diagnose overleefd opgezegd fraude gekocht soort
	goedgekeurd overleden etykieta cel wynik rozpoznanie diagnoza przezyl przezycie odejscie
	rezygnacja oszustwo zakup gatunek zgon etikett maal mal utfall diagnos overlevde overlevt
	dod bedrageri kopt art udfald overlevede doed kobt tulos diagnoosi selvisi kuoli laji vystup
	trida diagnoza prezil druh podvod hedef sinif sonuc tani hayattakaldi метка целевая цель
	диагноз исход результат отток выжил дефолт мошенничество вид 标签 类别 目标 类 诊断 结果 是否流失 流失 ラベル
	目的変数 クラス 診断 結果 正解 분류 레이블 목표`)

// weakNames lists names that both labels and inputs have.
var weakNames = set(`class classes classe clase klasse klasa klass luokka класс classi clases klassen type status
	state sex gender result results category group grade level quality rating risk income salary
	decision condition kind event stage severity disease diabetes cancer party genre cluster
	segment score answer typ stato estado etat statut kategorie categorie categoria categoria
	tipo typ gruppe groupe grupo gruppo zustand sesso sexe sexo geschlecht plec kon stan status
	typ luokitus ocena note nota voto rodzaj`)

// inputNames lists names of inputs, times and parts of a design, which labels do not have.
var inputNames = set(`year month day week weekday hour date time season quarter age alter edad eta idade leeftijd
	wiek site region country city zone district area location province ward island race
	ethnicity ethnic religion education edu marital married job occupation smoker smoking smoke
	treatment trt treat arm dose drug therapy block plot batch fold split set dataset partition
	train test replicate rep run visit period phase wave round weight height length width size
	price cost amount balance count number num n id index code zip lat lon latitude longitude x
	z color colour ano jahr monat annee mois anno mese mes maand jaar rok offset exposure freq
	weights w source school hospital clinic lab operator machine brand model make channel plan
	contract payment gender children kids pclass embarked deck`)

// before lists words that turn the name of a label into the name of an earlier value, which is an
// input.
var before = set(`prior previous prev last past history hist number num n count cnt rate ratio pct percent
	date day days month months year time age amount amt mean avg sum total max min family father
	mother parent since first before pre expected predicted pred predict prediction probability
	prob proba score index id fruehere vorherige vorige precedent anterior precedente nombre
	anzahl numero numero dias tage jours`)

// around lists words in the name of a label that are ignored.
var around = set(`is has was did does had ever the of a in flag yn ind indicator binary bin cat code label
	class status type group target outcome variable col column true final hat ist war a ha e es
	est col fue foi var num5 value yes no event result loan patient customer client employee
	student user person passenger`)

// verdicts lists pairs of values that are a judgement.
var verdicts = pairs(`bad good|benign malignant|alive dead|loss win|fail pass|failed passed|negative positive|ham spam|
	healthy sick|case control|died survived|approved denied|e p|approved rejected|absent present|
	abnormal normal|accept reject|accepted rejected|b m|edible poisonous|fake real|fraud genuine|
	default nondefault|left stayed|lost won|churned retained|defective ok|nok ok|not spam|bot human|
	acquitted convicted|democrat republican|gesund krank|krank gesund|mort vivant|muerto vivo|
	morto vivo|neg pos|nonspam spam|lived died|responder nonresponder|unacc acc|g b|+ -`)

func isLabelWord(w string) bool { return labelNames[w] || weakNames[w] }

// nameEvidence returns the points that the name of a column gives it as the label, and why.
func nameEvidence(name string) (points float64, why string) {
	all := words(name)
	if len(all) == 0 {
		return 0, ""
	}
	whole := strings.Join(all, "")
	rest := slices.DeleteFunc(slices.Clone(all), func(w string) bool { return around[w] })
	unknown := func(w string) bool {
		return !labelNames[w] && (len(w) < 3 || !labelNames[strings.TrimRight(w, "0123456789")])
	}
	earlier := slices.ContainsFunc(all, func(w string) bool { return before[w] })
	switch {
	case labelNames[whole], !earlier && labelNames[strings.Join(rest, "")],
		!earlier && len(rest) > 0 && !slices.ContainsFunc(rest, unknown):
		return strongName, "its name"
	case earlier:
		if slices.ContainsFunc(all, func(w string) bool { return labelNames[w] }) || inputNames[all[len(all)-1]] {
			return roleName, ""
		}
	case labelNames[all[len(all)-1]] || labelNames[all[0]]:
		return partialName, "a word of its name"
	case len(all) == 1 && inputNames[whole] && weakNames[whole]:
		return 0, ""
	case len(all) == 1 && weakNames[whole], len(rest) == 0 && slices.ContainsFunc(all, isLabelWord):
		return weakName, "its name"
	case inputNames[whole], inputNames[all[len(all)-1]]:
		return roleName, ""
	case inputNames[all[0]]:
		return -1, ""
	case weakNames[all[len(all)-1]]:
		return 1, "a word of its name"
	}
	return 0, ""
}

// labelPlaces has the facts about a table on which the evidence for a single column depends.
type labelPlaces struct {
	end      int            // the last column, or in some formats the first
	last     int            // the last column
	counted  int            // columns that number or name the rows, before all others
	exported bool           // the first column numbers the rows, as exports have it
	classes  int            // columns of few values
	series   map[string]int // columns by the stem of their numbered names: q1, q2, q3 are inputs
}

func (t *Table) labelPlaces(profiles []*profile) labelPlaces {
	at := labelPlaces{end: t.Layout.Label, last: len(profiles) - 1, series: map[string]int{}}
	for at.counted < at.last && (profiles[at.counted].counts() || profiles[at.counted].identifies()) {
		at.counted++
	}
	at.exported = at.counted > 0 && profiles[0].numbersRows()
	for _, p := range profiles {
		if of := stem(p.name); of != "" {
			at.series[of]++
		}
		if p.label() {
			at.classes++
		}
	}
	return at
}

// candidates has the evidence for every column that could be the label, the most likely first.
func (t *Table) candidates(profiles []*profile) (all []Candidate) {
	at := t.labelPlaces(profiles)
	for j, p := range profiles {
		if (p.label() || p.quantity()) && !p.grouped() {
			all = append(all, t.candidate(j, p, at))
		}
	}
	if slices.ContainsFunc(all, func(c Candidate) bool {
		return !c.numeric && len(profiles[c.place].levels) == 2 && c.points >= strongName
	}) {
		for i := range all {
			if all[i].numeric && all[i].points >= strongName {
				all[i].points += besideClasses
			}
		}
	}
	t.alike(all, profiles)
	slices.SortStableFunc(all, func(a, b Candidate) int {
		return cmp.Or(cmp.Compare(b.points, a.points), cmp.Compare(b.place, a.place))
	})
	return all
}

// candidate adds up the evidence for column j as the label: its name, its place and its values.
func (t *Table) candidate(j int, p *profile, at labelPlaces) Candidate {
	c := Candidate{Column: t.Naming(j), place: j, numeric: !p.label()}
	var why []string
	add := func(points float64, text string) {
		c.points += points
		if text != "" {
			why = append(why, text)
		}
	}
	points, text := nameEvidence(p.name)
	switch {
	case !t.Header, c.numeric && strings.EqualFold(p.name, "y"): // y is a coordinate next to x
		points, text = 0, ""
	case at.series[stem(p.name)] > 2:
		points, text = roleName, ""
	}
	add(points, text)
	c.named = points > 0
	add(at.placeEvidence(j, p))
	if c.numeric {
		if points < strongName {
			add(manyNumbers, "")
		}
	} else {
		add(at.valueEvidence(p))
		c.named = c.named || p.judges()
	}
	if !p.filled() {
		add(-1, "")
	}
	switch {
	case c.numeric:
		why = append(why, "numbers")
	case len(why) == 0:
		why = append(why, "few values")
	}
	c.Why = strings.Join(why, ", ")
	return c
}

// placeEvidence returns the points of column j for its place in the table, and why.
func (at labelPlaces) placeEvidence(j int, p *profile) (points float64, why string) {
	switch {
	case !p.filled():
	case j == at.end && at.exported && at.end == at.last:
		return lastOfNumbered, "the last column"
	case j == at.end:
		return lastColumn, "the last column"
	case j == at.counted && p.label() && at.end == at.last:
		return firstColumn, "the first column"
	}
	return 0, ""
}

// valueEvidence returns the points of a column of few values for these values, and why.
func (at labelPlaces) valueEvidence(p *profile) (points float64, why string) {
	var reasons []string
	if at.classes == 1 {
		points, reasons = points+onlyClasses, append(reasons, "the only column of few values")
	}
	if len(p.levels) == 2 {
		points += twoValues
		if p.judges() {
			points, reasons = points+verdictPair, append(reasons, "its values: "+p.some())
		}
	}
	if len(p.levels) > mostClasses {
		points += manyTexts
	}
	return points, strings.Join(reasons, ", ")
}

// alike treats columns before the last one as if they were last, if they look like it: labels of
// several tasks are adjacent, such as label_a and label_b.
func (t *Table) alike(all []Candidate, profiles []*profile) {
	if len(all) == 0 {
		return
	}
	last := len(profiles) - 1
	for at := len(all) - 2; at >= 0; at-- {
		a, b := &all[at], &all[at+1]
		p, q := profiles[a.place], profiles[b.place]
		if b.place != last && b.place != all[at+1].place || a.place != b.place-1 || !sameStem(p.name, q.name) ||
			p.label() != q.label() || !t.Header {
			return
		}
		if a.points < b.points {
			a.points, a.Why = b.points, "it looks like "+t.Naming(b.place)
		}
	}
}

// sameStem reports whether two names differ only in their last letter or word.
func sameStem(a, b string) bool {
	x, y := []rune(plain(a)), []rune(plain(b))
	if len(x) == len(y) && len(x) > 1 && slices.Equal(x[:len(x)-1], y[:len(y)-1]) {
		return true
	}
	v, w := words(a), words(b)
	return len(v) == len(w) && len(v) > 1 && slices.Equal(v[:len(v)-1], w[:len(w)-1])
}

// stem returns a name without the number at its end; "" if it has no number there.
func stem(name string) string {
	of := strings.TrimRight(name, "0123456789")
	if of == name {
		return ""
	}
	return strings.ToLower(of)
}

// counts reports whether the values count the rows.
func (p *profile) counts() bool { _, is := rowNumber.is(p); return is }

// numbersRows reports whether the column has no name, or a name that exports give to row numbers.
func (p *profile) numbersRows() bool {
	return slices.Contains([]string{"", "rownames", "rowname", "unnamed0", "x", "1", "index", "rowid", "rowno"},
		strings.Join(words(p.name), ""))
}

func (p *profile) identifies() bool { _, is := identifier.is(p); return is }

func (p *profile) grouped() bool { _, is := group.is(p); return is }

// judges reports whether the two values are a judgement, such as good and bad.
func (p *profile) judges() bool {
	var of []string
	for level := range p.levels {
		of = append(of, strings.Join(words(level), ""))
	}
	slices.Sort(of)
	return verdicts[strings.Join(of, " ")]
}

// findLabel sets Label and Why, or returns an UnclearLabel.
func (t *Table) findLabel(profiles []*profile, named string) error {
	if named != "" {
		return t.namedLabel(profiles, named)
	}
	for _, p := range profiles {
		if points, _ := nameEvidence(p.name); points == strongName && len(p.levels) == 1 && t.Header {
			return fmt.Errorf("column %q looks like the label, but has only one value, %s; name another, or add "+
				"cases of other classes", p.name, p.some())
		}
	}
	all := t.candidates(profiles)
	if len(all) == 0 {
		return fmt.Errorf("no column can be the label: none has two to %d different values that repeat, and none is "+
			"of numbers; name one", mostClasses)
	}
	first := all[0]
	all = slices.DeleteFunc(all, func(c Candidate) bool { // numbers only without better candidates
		return c.numeric && !first.numeric && c.place != t.Layout.Label && c.points < leastPoints
	})
	t.Label, t.Why, t.Candidates = first.place, first.Why, all[:min(len(all), mostCandidates)]
	switch {
	case t.shares != nil:
		t.unclear = "the numbers of " + strings.Join(t.shares, ", ") + " add up to 1 in every row: they are " +
			"probabilities of classes, which no column names"
	case t.classLike(all) == 0 && first.place == t.Layout.Label: // regression
	case len(all) > 1 && first.points-all[1].points < leastLead:
		t.unclear = fmt.Sprintf("%q and %q may both be it", first.Column, all[1].Column)
	case len(all) > 1 && (first.points < leastPoints || !first.named && t.classLike(all) > 1):
		t.unclear = "hardly anything speaks for one of them"
	}
	return nil
}

// classLike counts the candidates that have few values and no name of an input.
func (t *Table) classLike(all []Candidate) (n int) {
	for _, c := range all {
		if c.points > roleName+twoValues && !c.numeric {
			n++
		}
	}
	return n
}

// namedLabel takes the column that the user names.
func (t *Table) namedLabel(profiles []*profile, named string) error {
	t.Label, t.Why = slices.Index(t.Names, named), asked
	if k, err := strconv.Atoi(named); t.Label < 0 && err == nil && k >= 1 && k <= len(t.Names) {
		t.Label = k - 1
	}
	switch {
	case t.Label < 0:
		return fmt.Errorf("no column %q%s", named, registry.Suggest(named, t.Names))
	case profiles[t.Label].present == 0 || len(profiles[t.Label].levels) == 1:
		return fmt.Errorf("column %q cannot be the label: it has fewer than two different values; name another", named)
	}
	return nil
}

// Clear is nil if the label was named, or is clear; else it is an UnclearLabel.
func (t *Table) Clear() error {
	if t.unclear == "" {
		return nil
	}
	return &UnclearLabel{t.Candidates, t.unclear}
}

// sums finds columns at the end of a table whose numbers add up to 1 in every row.
type sums struct {
	fails []bool // fails[k]: the last k+1 columns do not add up to 1 in some row
}

const mostShares = 20

func (s *sums) add(fields []string) {
	if s.fails == nil {
		s.fails = make([]bool, min(mostShares, len(fields)))
	}
	sum := 0.0
	for k := range s.fails {
		v, err := strconv.ParseFloat(strings.Replace(strings.TrimSpace(fields[len(fields)-1-k]), ",", ".", 1), 64)
		if err != nil || v < 0 || v > 1 {
			for ; k < len(s.fails); k++ {
				s.fails[k] = true
			}
			return
		}
		sum += v
		s.fails[k] = s.fails[k] || sum < 0.99 || sum > 1.01
	}
}

// of returns the names of these columns, which have more values than 0 and 1; nil: there are none.
func (s *sums) of(t *Table, profiles []*profile) []string {
	for k, fails := range s.fails {
		n := len(profiles)
		if k == 0 || fails || len(profiles[n-1].levels) == 2 {
			continue
		}
		var out []string
		for j := n - 1 - k; j < n; j++ {
			out = append(out, t.Naming(j))
		}
		return out
	}
	return nil
}

// mostClasses is the largest number of values of a label that the user has not named.
const mostClasses = 20

// classes reports whether the values could be classes: few different texts or whole numbers.
func (p *profile) classes() bool {
	n := len(p.levels)
	if n < 2 || n > mostClasses || p.present < 2*n || p.dated() != nil {
		return false
	}
	return !p.isNumber() || p.isWhole() && (n <= 10 || p.present >= 20*n)
}

// label reports whether the values could be classes of a column that is the label by its name or
// place. These may also be many texts that repeat often.
func (p *profile) label() bool {
	n := len(p.levels)
	return p.classes() ||
		n > mostClasses && n <= data.MaxClasses && p.present >= 5*n && p.dated() == nil && !p.isNumber()
}

// filled reports whether nearly all values are present, as in a label.
func (p *profile) filled() bool { return 10*p.missing <= p.present }

// quantity reports whether the values are numbers other than row numbers and dates.
func (p *profile) quantity() bool {
	_, counts := rowNumber.is(p)
	_, identifies := identifier.is(p)
	return p.isNumber() && len(p.levels) != 1 && !counts && !identifies && !p.countsDays()
}
