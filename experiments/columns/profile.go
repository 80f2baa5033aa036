package columns

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"math"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
)

const (
	// Largest number of different values that are counted one by one: in a column, in a column of a
	// very wide table, and in all columns together.
	maxLevels, leastLevels, allLevels = 2000, 100, 10_000_000

	point   = 0 // index of profile.numbers
	comma   = 1
	plainly = 2 // the notation that Load reads by default

	// A column of numbers may have mostOdd different texts that stand for missing values, in at
	// most one of leastNumbers values.
	mostOdd, leastNumbers = 3, 50
)

// profile has the findings of one pass over a column.
type profile struct {
	name             string
	place            int // position from 0
	present, missing int // numbers of values
	numbers          [3]tally
	uncoded          [2]tally        // numbers without the codes, for the notations point and comma
	onlyIn           [2]string       // the first text that is a number with one decimal mark alone: point, comma
	nCodes           map[float64]int // how often each code occurs
	missingWords     map[string]int  // texts that stand for a missing value in a column of numbers
	texts            int             // values that are neither numbers nor missing words
	odd              map[string]int  // the first few different ones of these texts
	levels           map[string]int  // how often each value occurs; nil if there are more than most
	spelt            map[string]int  // levels in all spellings; nil: levels has them
	most             int
	repeats          bool // some value occurs twice
	runs             int  // runs of equal values
	last             []byte
	seen             map[uint64]bool
	blanks, bytes    int      // number of values with a blank, and length of all texts
	dates            []*dated // one for each form that nearly all texts so far have
	amounts          [3]tally // numbers in texts with a unit or a limit
	units            map[string]int
	limits           map[string]int // limits of detection, by their sides
	durations        durationStats  // durations
	currencies       map[string]int // numbers by their currency
	percent, bare    int            // numbers with a percent sign, and others that are not 0

	notation int // notation of the file: point or comma
}

// tally has statistics of the numbers in one notation.
type tally struct {
	n, whole int
	min, max float64
	mean     float64
	squares  float64 // Σ (v - mean)²
}

// skewed reports whether the mean lies in the lowest third of the range, and the largest value is
// ten times the smallest or more.
func (t *tally) skewed() bool { return t.max >= 10*t.min && t.mean-t.min < (t.max-t.min)/3 }

func (t *tally) add(v float64) {
	if t.n == 0 {
		t.min, t.max = v, v
	}
	t.n++
	t.min, t.max = min(t.min, v), max(t.max, v)
	d := v - t.mean
	t.mean += d / float64(t.n)
	t.squares += d * (v - t.mean)
	if v == math.Trunc(v) {
		t.whole++
	}
}

// infinite lists texts, in lower case, that stand for a missing value in a column of numbers, in
// addition to the texts of cells.IsMissingWord.
var infinite = []string{"inf", "-inf", "infinity"}

// isToken reports whether a text stands for a missing value in a column of numbers.
func isToken(text string) bool {
	return cells.IsMissingWord(text) || slices.Contains(infinite, strings.ToLower(text))
}

var hashSeed = maphash.MakeSeed() // hashes are compared only within a process

// newProfile begins the profile of a column at a position among a number of columns.
func newProfile(name string, place, columns int) *profile {
	return &profile{name: name, place: place, most: min(max(allLevels/columns, leastLevels), maxLevels),
		missingWords: map[string]int{}, nCodes: map[float64]int{}, odd: map[string]int{}, levels: map[string]int{},
		seen: map[uint64]bool{}, dates: newDates(), units: map[string]int{}, limits: map[string]int{}}
}

// add takes the next value.
func (p *profile) add(text string) {
	if cells.Missing(text) {
		p.missing++
		return
	}
	p.present++
	p.bytes += len(text)
	p.count(text)
	if p.addNumber(text) {
		if text[len(text)-1] == '%' {
			p.percent++
		} else if strings.Trim(text, "+-0.,") != "" {
			p.bare++
		}
		return
	}
	if strings.IndexByte(text, ' ') >= 0 {
		p.blanks++
	}
	if isToken(text) {
		p.missingWords[strings.Clone(text)]++
		return
	}
	p.texts++
	p.addDate(text)
	if len(p.durations.odd) <= mostOdd {
		p.durations.add(text)
	}
	if p.addAmount(text) {
		return
	}
	if _, known := p.odd[text]; known || len(p.odd) <= mostOdd {
		p.odd[strings.Clone(text)]++
	}
}

// addNumber adds the value to the tally of each notation in which it is a number.
func (p *profile) addNumber(text string) (is bool) {
	code := len(text) > 3 && (text[3] == ' ' || text[3] <= '9') // such as the code of a currency
	if text[0] > '9' && text[0] < 0x80 && !code {               // the quick answer for most texts
		return false
	}
	v, is := cells.ParseNumber(text, "")
	plain, unusual := is, !is
	if plain {
		p.numbers[plainly].add(v)
	} else {
		v, plain = cells.ParseNumber(text, "point")
	}
	if plain && slices.Contains(codes, v) {
		p.nCodes[v]++
	} else if plain {
		p.uncoded[point].add(v)
	}
	if plain {
		p.numbers[point].add(v)
	}
	if unusual {
		p.addCurrency(text)
	}
	dot := strings.IndexByte(text, '.')
	if !unusual && dot >= 0 && len(text)-dot != len(".000") { // no group of thousands
		if p.onlyIn[point] == "" {
			p.onlyIn[point] = strings.Clone(text)
		}
		return true
	}
	if dot >= 0 || strings.IndexByte(text, ',') >= 0 {
		w, is := cells.ParseNumber(text, "comma")
		if is {
			p.numbers[comma].add(w)
			p.uncoded[comma].add(w)
		}
		switch {
		case plain && !is && p.onlyIn[point] == "":
			p.onlyIn[point] = strings.Clone(text)
		case is && !plain && p.onlyIn[comma] == "":
			p.onlyIn[comma] = strings.Clone(text)
		}
		return plain || is
	}
	if plain {
		p.numbers[comma].add(v)
	}
	if plain && !slices.Contains(codes, v) {
		p.uncoded[comma].add(v)
	}
	return plain
}

// addCurrency counts numbers by their currencies.
func (p *profile) addCurrency(text string) {
	of := cells.Currency(text)
	_, point := cells.ParseNumber(text, "point")
	_, comma := cells.ParseNumber(text, "comma")
	if of == "" || !point && !comma || len(p.currencies) > mostTold {
		return
	}
	if p.currencies == nil {
		p.currencies = map[string]int{}
	}
	p.currencies[strings.Clone(of)]++
}

// settle makes missing values of a few texts among very many numbers, such as a unit below the
// header or the word before a sum.
func (p *profile) settle() {
	limits := p.limits["<"] + p.limits[">"]
	if p.texts == limits || len(p.odd) > mostOdd || (p.texts-limits)*leastNumbers > p.present {
		return
	}
	for text, n := range p.odd {
		p.missingWords[text] = n
	}
	p.texts = limits
}

// count counts each different value. For a column with many values it only notes whether one
// repeats, and for fractions it notes nothing.
func (p *profile) count(text string) {
	if p.levels != nil {
		if p.runs == 0 || text != string(p.last) {
			p.runs, p.last = p.runs+1, append(p.last[:0], text...)
		}
		if p.levels[text]++; len(p.levels) > p.most {
			p.levels = nil
		}
	}
	if p.repeats || p.levels == nil && p.texts == 0 && p.numbers[point].whole < p.numbers[point].n {
		return
	}
	h := maphash.String(hashSeed, text)
	if p.repeats = p.seen[h]; p.repeats {
		p.seen = nil
		return
	}
	p.seen[h] = true
}

// addDate keeps the forms in which nearly all texts so far are dates.
func (p *profile) addDate(text string) {
	if len(p.dates) == 0 {
		return
	}
	p.dates = slices.DeleteFunc(p.dates, func(d *dated) bool {
		at, how, ok := cells.ParseDate(text, d.form)
		if ok {
			d.add(text, at, how)
		} else {
			d.odd[strings.Clone(text)]++
		}
		return len(d.odd) > mostOdd
	})
}

// addAmount takes a text as a number with a unit or a limit of detection, in each notation in which
// it is one. It reports whether it has a limit.
func (p *profile) addAmount(text string) (limit bool) {
	if text[0] >= 'A' && text[0] <= 'z' { // the quick answer for most texts
		return false
	}
	counted := false
	for k, notation := range []string{"point", "comma", ""} {
		a, ok := cells.ParseAmount(text, notation)
		if !ok {
			continue
		}
		p.amounts[k].add(a.Value)
		if _, known := p.units[a.Unit]; !counted && (known || len(p.units) <= mostTold) {
			p.units[strings.Clone(a.Unit)]++
		}
		if !counted && a.Limit != "" {
			p.limits[a.Limit]++
		}
		limit, counted = a.Limit != "", true
	}
	return limit
}

// codes are numbers that often stand for missing values.
var codes = []float64{-9, -99, 99, -999, 999, -9999, 9999, -99999, 99999}

// standIn is a number that probably stands for a missing value.
type standIn struct {
	code float64
	n    int // how often it occurs; 0: there is none
	// sure reports that it certainly is no value. It occurs three times or more, and is farther
	// from all others than three times their range.
	sure bool
}

// text is the number as it may stand in a file.
func (s standIn) text() string { return fmt.Sprintf("%g", s.code) }

// standIn returns a number such as -999 that occurs more than once and is far from all others.
func (p *profile) standIn() (found standIn) {
	rest := &p.uncoded[p.notation]
	if rest.n == 0 || p.levels != nil && len(p.levels) < 4 {
		return found
	}
	for _, code := range codes {
		n, gap := p.nCodes[code], max(rest.min-code, code-rest.max)
		if n < 2 || gap < 0.8*math.Abs(code) || code == -9 && rest.min < 0 {
			continue
		}
		if found = (standIn{code, n, n > 2 && gap > 3*(rest.max-rest.min) && (code > 0 || rest.min >= 0)}); found.sure {
			break
		}
	}
	return found
}

// forget makes a missing value of a number. All other numbers stay in the tally.
func (p *profile) forget(s standIn) {
	p.missingWords[s.text()] += s.n
	rest := p.uncoded[p.notation]
	for _, code := range codes {
		for range p.nCodes[code] {
			if code != s.code {
				rest.add(code)
			}
		}
	}
	p.numbers[p.notation] = rest
}

// tally returns the tally in the notation of the file.
func (p *profile) tally() *tally { return &p.numbers[p.notation] }

// nMissingWords returns the number of values that stand for a missing one if the column holds
// numbers.
func (p *profile) nMissingWords() (n int) {
	for _, k := range p.missingWords {
		n += k
	}
	return n
}

// isNumber reports whether all values except missing words are numbers.
func (p *profile) isNumber() bool {
	return p.tally().n > 0 && p.tally().n+p.nMissingWords() == p.present
}

// isWhole reports whether all values except missing words are whole numbers.
func (p *profile) isWhole() bool { return p.isNumber() && p.tally().whole == p.tally().n }

// unique reports whether no value occurs twice.
func (p *profile) unique() bool { return !p.repeats && p.seen != nil && len(p.seen) == p.present }

// dated returns the form in which all values are dates, except a few that stand for missing ones.
// If two forms read equally many values, it is the more usual one. It is nil if there is none.
func (p *profile) dated() *dated {
	if p.texts == 0 {
		return nil
	}
	all := slices.DeleteFunc(slices.Clone(p.dates), func(d *dated) bool {
		return d.n == 0 || (p.texts-d.n)*leastNumbers > p.present || p.texts+p.nMissingWords() != p.present
	})
	if len(all) == 0 {
		return nil
	}
	return slices.MaxFunc(all, func(a, b *dated) int {
		usual := func(d *dated) int {
			if d.form == d.usual {
				return 1
			}
			return 0
		}
		return cmp.Or(cmp.Compare(a.n, b.n), cmp.Compare(usual(a), usual(b)))
	})
}

// other returns a second form in which the values are dates, if day and month cannot be told apart;
// else nil.
func (p *profile) other(than *dated) *dated {
	for _, d := range p.dates {
		if d != than && d.n == than.n && d.fingerprint != than.fingerprint {
			return d
		}
	}
	return nil
}
