package columns

import (
	"cmp"
	"fmt"
	"hash/maphash"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/gpc-tune/gpc-tune/experiments/data"
	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
	"github.com/gpc-tune/gpc-tune/experiments/data/tables"
)

const (
	fewCases     = 5 // a class of fewer is left out of a table of manyRows
	manyRows     = 50
	notableShare = 0.05 // fraction of labels none from which on it is a class
	// Rows that repeat an earlier one are kept together if their fraction is between these two. If
	// more rows do so, the inputs have few different values, and equal cases are no copies.
	copied, coincident = 0.01, 0.5
	// A skewed input has more different values than this.
	fewLevels = 5
)

// Read reads a file of columns once and decides the kind and use of each. label names the column of
// the label, by its name or its number from 1; empty lets the file decide. It is an error if
// tables.Scan fails, if there is no such column, or if no column could be the label.
func Read(path, label string) (*Table, error) { return ReadGiven(path, Given{Label: label}) }

// ReadGiven is Read for a table about which more is known.
func ReadGiven(path string, given Given) (*Table, error) {
	t := &Table{}
	var profiles []*profile
	copies, sum := repeated{}, sums{}
	err := tables.Scan(path, func(l tables.Layout) {
		t.Layout = l
		for j, name := range l.Names {
			profiles = append(profiles, newProfile(name, j, len(l.Names)))
		}
	}, func(fields []string) {
		t.Rows++
		for j, text := range fields {
			profiles[j].add(text)
		}
		copies.add(fields, nil)
		sum.add(fields)
	})
	if err != nil {
		return nil, err
	}
	if err := t.check(given); err != nil {
		return nil, err
	}
	for _, p := range profiles {
		p.settle()
	}
	t.Duplicates = copies.n
	t.Spec.Train, t.Spec.Encoding = path, t.Encoding
	t.notation(profiles)
	t.fold(profiles, given.Categories)
	t.shares = sum.of(t, profiles)
	if err := t.findLabel(profiles, given.Label); err != nil {
		return nil, err
	}
	t.standIns(profiles)
	if err := t.decide(profiles, given); err != nil {
		return nil, err
	}
	if err := t.recount(path); err != nil {
		return nil, err
	}
	t.specify(profiles)
	t.note(profiles)
	return t, nil
}

// standIns makes missing values of the numbers that certainly stand for them. missing_values holds
// for all columns, so a number stays a value if another column may have it as one.
func (t *Table) standIns(profiles []*profile) {
	sure := map[float64][]*profile{}
	for j, p := range profiles {
		if s := p.standIn(); s.sure && j != t.Label && p.isNumber() {
			sure[s.code] = append(sure[s.code], p)
		}
	}
	for _, code := range codes {
		others := slices.ContainsFunc(profiles, func(p *profile) bool {
			return p.nCodes[code] > 0 && !slices.Contains(sure[code], p)
		})
		for _, p := range sure[code] {
			if !others {
				p.forget(p.standIn())
			}
		}
	}
}

// mostNotes is the largest number of columns that are left out with a reason on the terminal.
const mostNotes = 5

// note writes what the user should decide or know.
func (t *Table) note(profiles []*profile) {
	left := 0
	for j, c := range t.Columns {
		p := profiles[j]
		switch s := p.standIn(); {
		case c.Use == Left && c.Found != asGiven:
			if left++; left <= mostNotes {
				t.Notes = append(t.Notes, fmt.Sprintf("%s is left out: %s: %s", c.Name, c.Kind, c.Found))
			}
		case c.Use == Group && c.Found != asGiven && !groupName().MatchString(c.Name) && !idName().MatchString(c.Name):
			t.Notes = append(t.Notes, fmt.Sprintf("%s is taken for a group, because its %d values repeat: it is no "+
				"input, and scores are for cases with other values. Will cases to come have the same values? Then "+
				"make it an input: repeat the command with --input %[1]s --force", c.Name, len(p.levels)))
		case c.Use != Input || !c.number || s.n == 0:
		case p.missingWords[s.text()] > 0:
			t.Notes = append(t.Notes, fmt.Sprintf("%s has %s %d times, far from all other values: written into "+
				"missing_values; take it out if it is a value", c.Name, s.text(), s.n))
		default:
			t.Notes = append(t.Notes, fmt.Sprintf("%s has %s %d times: if it stands for a missing value, add it to "+
				"missing_values", c.Name, s.text(), s.n))
		}
	}
	if left > mostNotes {
		t.Notes = append(t.Notes, fmt.Sprintf("%d more columns are left out: the file has the reasons", left-mostNotes))
	}
}

// repeated counts rows that repeat an earlier one.
type repeated struct {
	n    int
	seen map[uint64]bool
	hash maphash.Hash
}

// add takes the next row; columns that are left out do not count.
func (r *repeated) add(fields []string, leftOut []bool) {
	r.hash.Reset()
	for j, text := range fields {
		if leftOut == nil || !leftOut[j] {
			r.hash.WriteString(text)
			r.hash.WriteByte(0)
		}
	}
	switch sum := r.hash.Sum64(); {
	case r.seen == nil:
		r.seen = map[uint64]bool{sum: true}
	case r.seen[sum]:
		r.n++
	default:
		r.seen[sum] = true
	}
}

// recount counts the rows that repeat an earlier one, without regard to row numbers and other
// identifiers, if columns have them: a copy of a row may have a new one.
func (t *Table) recount(path string) error {
	leftOut := make([]bool, len(t.Columns))
	for j, c := range t.Columns {
		leftOut[j] = c.Use == ID
	}
	if !slices.Contains(leftOut, true) {
		return nil
	}
	copies := repeated{}
	err := tables.Scan(path, func(tables.Layout) {}, func(fields []string) { copies.add(fields, leftOut) })
	t.Duplicates = copies.n
	return err
}

// notation finds whether the file has decimal points or decimal commas, from the columns that are
// numbers in only one of the notations. If there are none and some numbers have a comma, the
// delimiter decides.
func (t *Table) notation(profiles []*profile) {
	only, marked := [2]int{}, false
	for _, p := range profiles {
		rest := p.present - p.nMissingWords()
		n := func(notation int) int { return p.numbers[notation].n + p.amounts[notation].n }
		is := [2]bool{n(point) == rest && rest > 0, n(comma) == rest && rest > 0}
		plain := n(plainly) == rest
		marked = marked || !plain && (is[point] || is[comma])
		for k := range only {
			if is[k] && !is[1-k] {
				only[k]++
			}
		}
	}
	notation := point
	if only[comma] > only[point] || only == [2]int{} && marked && t.Delimiter == ';' {
		notation = comma
	}
	if marked {
		t.Spec.Decimal = []string{"point", "comma"}[notation]
	}
	for _, p := range profiles {
		p.notation = notation
	}
}

// decide sets the kind and the use of every column.
func (t *Table) decide(profiles []*profile, given Given) error {
	t.Columns = make([]Column, len(profiles))
	grouped := false
	for j, p := range profiles {
		if j == t.Label {
			t.labelled(p, slices.Contains(given.Texts, cells.Name(t.Naming(j))))
			continue
		}
		for _, k := range kinds {
			found, is := k.is(p)
			if !is || k.Use == Group && grouped {
				continue
			}
			grouped = grouped || k.Use == Group
			t.Columns[j] = Column{Name: p.name, Kind: k.Name, Use: k.Use, Found: found, Missing: p.missing,
				number: k.Name == number.Name, names: k.category}
			t.Columns[j].describe(p)
			break
		}
	}
	t.dates(profiles)
	if err := t.apply(given, profiles); err != nil {
		return err
	}
	if !slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Use == Input }) {
		t.take(profiles)
	}
	for j, c := range t.Columns {
		t.Columns[j].UsedAs = c.Use.String()
		of := profiles[j].tally()
		if c.Use == Input && c.number && of.min >= 0 && of.skewed() && (profiles[j].levels == nil ||
			len(profiles[j].levels) > fewLevels) {
			t.Skewed = append(t.Skewed, c.Name)
		}
	}
	return nil
}

// describe sets the meaning of a column's values, or their number.
func (c *Column) describe(p *profile) {
	switch c.Kind {
	case ordered.Name:
		c.Order = p.order()
	case measure.Name:
		c.Unit, _, _ = p.unitOfNumbers()
		c.Limits = p.limits["<"]+p.limits[">"] > 0
	case duration.Name:
		c.Duration, c.odd = p.durations.unit(), p.durations.odd
	default:
		if c.Use == Input && !c.number {
			c.Levels = len(p.levels)
		}
	}
}

// take makes inputs of the numbers among the other columns if there are no inputs.
func (t *Table) take(profiles []*profile) {
	for j, p := range profiles {
		if found, is := number.is(p); is && j != t.Label && len(p.levels) != 1 {
			t.Columns[j].Kind, t.Columns[j].Use, t.Columns[j].Found = number.Name, Input, found
			t.Columns[j].number, t.Columns[j].Levels = true, 0
		}
	}
}

// labelled describes the label. If texts is true, its values are classes even if all are numbers.
func (t *Table) labelled(p *profile, texts bool) {
	for text, n := range p.missingWords { // none may be a class, such as no disease
		if strings.EqualFold(text, "none") && float64(n) > notableShare*float64(p.present) && p.classes() {
			delete(p.missingWords, text)
			p.texts += n
		}
	}
	var without []string // texts that stand for a missing label
	if p.isNumber() {
		p.missing += p.nMissingWords()
		for _, token := range slices.Sorted(maps.Keys(p.missingWords)) {
			without = append(without, fmt.Sprintf("%s (%d)", token, p.missingWords[token]))
			delete(p.levels, token)
		}
	}
	if p.levels != nil { // 1 and 1.0 are one class
		classes := map[string]int{}
		for level, n := range p.levels {
			classes[cells.Canonical(level, t.Spec.Decimal)] += n
		}
		p.levels = classes
	}
	t.Unlabelled = p.missing
	c := Column{Name: p.name, Kind: "label", Use: Label, Missing: p.missing}
	limit := data.MaxClasses
	t.Numeric = p.isNumber() && !p.classes() && !(p.isWhole() && p.levels != nil &&
		(texts || len(p.levels) <= mostClasses))
	switch {
	case t.Numeric:
		of := p.tally()
		c.Found = fmt.Sprintf("numbers, %.6g to %.6g", of.min, of.max)
		t.Target = Spread{of.mean, math.Sqrt(of.squares / float64(of.n)),
			of.min > 0 && of.skewed()}
	case len(p.levels) > limit || p.levels == nil:
		c.Found = "too many different texts for classes"
	default:
		for _, name := range slices.SortedFunc(maps.Keys(p.levels), cells.Natural) {
			t.Classes = append(t.Classes, data.Count{Class: name, N: p.levels[name]})
		}
		c.Found = fmt.Sprintf("%d classes: %s", len(t.Classes), p.some())
		t.rare()
		t.orderClasses(p.order())
	}
	if without != nil {
		c.Found += "; no label: " + strings.Join(without, ", ")
	}
	t.Columns[p.place] = c
}

// orderClasses sets the order of three or more classes, if order has all of them.
func (t *Table) orderClasses(order []string) {
	has := func(text string) bool {
		return slices.ContainsFunc(t.Classes, func(c data.Count) bool { return c.Class == text })
	}
	order = slices.DeleteFunc(order, func(text string) bool { return !has(text) })
	if len(order) < len(t.Classes) || len(order) < 3 {
		return
	}
	for _, text := range order {
		t.Spec.Order = append(t.Spec.Order, cells.Name(text))
	}
}

// rare leaves out classes with too few cases for training and testing.
func (t *Table) rare() {
	least := 2
	if t.Rows >= manyRows {
		least = fewCases
	}
	kept := slices.DeleteFunc(slices.Clone(t.Classes), func(c data.Count) bool { return c.N < least })
	if len(kept) < 2 || len(kept) == len(t.Classes) {
		return
	}
	t.Rare = slices.DeleteFunc(slices.Clone(t.Classes), func(c data.Count) bool { return c.N >= least })
	t.Classes = kept
	for _, c := range kept {
		t.Spec.Classes = append(t.Spec.Classes, cells.Name(c.Class))
	}
}

// specify makes the data section.
func (t *Table) specify(profiles []*profile) {
	s := &t.Spec
	s.Regression = t.Numeric
	s.Missing = "median" // values may be missing among cases to predict
	if share := float64(t.Duplicates) / float64(t.Rows); share >= copied && share <= coincident {
		s.Duplicates = "together"
	}
	tokens := map[string]bool{}
	for j, c := range t.Columns {
		name := cells.Name(t.Naming(j))
		switch c.Use {
		case Label:
			s.Label = name
			if t.Unlabelled > 0 {
				s.Unlabelled = "drop"
			}
			t.labelTokens(profiles, tokens)
			continue
		case ID:
			s.ID = append(s.ID, name)
			continue
		case Group:
			s.Group, s.Duplicates = name, "" // copies of a row are in its group
			continue
		case weights:
			s.Weights = name
			continue
		case Left:
			s.Drop = append(s.Drop, name)
			continue
		}
		p := profiles[j]
		switch {
		case c.means():
			t.Columns[j].Missing += t.interpret(p, c, tokens)
		case c.names:
			s.Categories = append(s.Categories, name)
		case !c.number:
			s.Categorical = "one_hot"
		}
		if c.number {
			t.Columns[j].Missing += p.nMissingWords()
			for token := range p.missingWords {
				tokens[token] = true
			}
		}
	}
	for _, token := range slices.Sorted(maps.Keys(tokens)) {
		s.MissingValues = append(s.MissingValues, cells.Name(token))
	}
	slices.SortFunc(t.Classes, func(a, b data.Count) int { return cmp.Compare(a.Class, b.Class) })
}

// interpret gives a column its meaning. Texts that have none, such as the word refused, become
// missing values. It returns the number of such values.
func (t *Table) interpret(p *profile, c Column, tokens map[string]bool) (missing int) {
	if t.Spec.Columns.Described == nil {
		t.Spec.Columns.Described = map[string]data.Meaning{}
	}
	var of []cells.Name
	for _, text := range c.Order {
		of = append(of, cells.Name(text))
	}
	t.Spec.Columns.Described[t.Naming(p.place)] = data.Meaning{Ordered: of, Date: c.Date,
		Unit: cells.Name(c.Unit), Limits: c.Limits, Duration: c.Duration}
	without := map[string]int{}
	if c.Order != nil {
		maps.Copy(without, p.levels)
		if p.spelt != nil {
			without = maps.Clone(p.spelt)
		}
		maps.DeleteFunc(without, func(text string, _ int) bool {
			return slices.ContainsFunc(c.Order, func(of string) bool {
				return of == text || p.spelt != nil && strings.EqualFold(of, text)
			})
		})
	} else {
		maps.Copy(without, p.missingWords)
		maps.Copy(without, c.odd)
	}
	for text, n := range without {
		tokens[text] = true
		missing += n
	}
	return missing
}

// labelTokens adds the texts that stand for a missing label to the texts that stand for missing
// inputs. In columns of categories they then mean missing values too.
func (t *Table) labelTokens(profiles []*profile, tokens map[string]bool) {
	label := profiles[t.Label]
	if !label.isNumber() {
		return
	}
	for token := range label.missingWords {
		tokens[token] = true
	}
}

// dates decides which parts of each column of dates become inputs. If the values of a column do not
// show whether day or month comes first, the other columns of dates decide. If there are two dates,
// an input of the one that is later on average is the days since the other.
func (t *Table) dates(profiles []*profile) {
	var all []int
	of, known := map[int]*dated{}, map[cells.Form]int{}
	for j, c := range t.Columns {
		if c.Kind != date.Name {
			continue
		}
		of[j] = profiles[j].dated()
		if profiles[j].other(of[j]) == nil {
			known[of[j].form]++
		}
		if of[j].form != cells.Clock {
			all = append(all, j)
		}
	}
	unsure := map[int]*dated{}
	for _, j := range all {
		if other := profiles[j].other(of[j]); other != nil {
			if known[other.form] > known[of[j].form] {
				of[j] = other
			}
			if known[of[j].form] == 0 {
				unsure[j] = profiles[j].other(of[j])
			}
		}
	}
	slices.SortStableFunc(all, func(a, b int) int {
		return cmp.Compare(of[a].sum/float64(of[a].n), of[b].sum/float64(of[b].n))
	})
	for _, j := range slices.Sorted(maps.Keys(of)) {
		c, d := &t.Columns[j], of[j]
		parts, leftOut := d.proposed(c.Name, d.n >= leastRows)
		meaning := &cells.Date{Form: d.form, Parts: parts}
		c.Found = d.found(leftOut, unsure[j])
		at := slices.Index(all, j)
		if at > 0 {
			before := all[at-1]
			meaning.Since = cells.Name(t.Naming(before))
			var same []cells.Part
			if meaning.Parts, same = d.apart(of[before], parts); same != nil {
				c.Found += "; left out, for nearly the same in " + t.Columns[before].Name + ": " + joined(same)
			}
		}
		c.odd = d.odd
		if len(parts) > 0 || at >= 0 && len(all) > 1 {
			c.Use, c.Date = Input, meaning
		}
	}
}

// fold finds columns whose categories are spelt in several ways, such as yes, Yes and YES, which
// ignore_case makes one. Single letters are not folded unless they are answers: alleles, for
// example, differ by case. Columns that are known to be categories stay as they are.
func (t *Table) fold(profiles []*profile, categories []cells.Name) {
	var all []string
	for _, p := range profiles {
		if ways := p.spellings(); ways != "" && !slices.Contains(categories, cells.Name(t.Naming(p.place))) {
			t.Spec.IgnoreCase.Columns = append(t.Spec.IgnoreCase.Columns, cells.Name(t.Naming(p.place)))
			all = append(all, ways)
			p.spelt, p.levels = p.levels, p.folded()
		}
	}
	t.Spellings = strings.Join(all, "; ")
}

// folded counts values that differ only in letter case under their most frequent spelling.
func (p *profile) folded() map[string]int {
	out, as := map[string]int{}, data.Spellings(p.levels)
	for level, n := range p.levels {
		out[as[level]] += n
	}
	return out
}

// spellings lists the spellings of a category that has several; empty without such a category.
func (p *profile) spellings() string {
	if p.texts == 0 || p.amounts[p.notation].n == p.texts || p.durations.n == p.texts || p.dated() != nil {
		return ""
	}
	folded := p.folded()
	if len(folded) == len(p.levels) || len(folded) > mostCategories || p.present < 2*len(folded) {
		return ""
	}
	all, letters := map[string][]string{}, []string(nil)
	for _, level := range slices.Sorted(maps.Keys(p.levels)) {
		lower := strings.ToLower(level)
		all[lower] = append(all[lower], level)
	}
	for _, lower := range slices.Sorted(maps.Keys(all)) {
		if !isToken(lower) {
			letters = append(letters, lower)
		}
	}
	told := ""
	for _, lower := range slices.Sorted(maps.Keys(all)) {
		switch ways := all[lower]; {
		case len(ways) == 1:
		case len(lower) == 1 && !answered(letters):
			return ""
		case told == "":
			told = p.name + ": " + strings.Join(ways, ", ")
		}
	}
	return told
}
