package data

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"

	"gonum.org/v1/gonum/floats"

	"github.com/gpc-tune/gpc-tune/experiments/data/cells"
	"github.com/gpc-tune/gpc-tune/experiments/data/tables"
	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/internal/registry"
)

// readTrain reads the training data.
func (s Spec) readTrain(src tables.Source) (*Data, error) {
	var schema *Schema
	var group int
	want := readOptions{missing: s.Missing, drop: s.Unlabelled == "drop"}
	want.Decimal = s.Decimal
	var tokens []string
	for _, text := range s.MissingValues {
		tokens = append(tokens, strings.TrimSpace(string(text)))
	}
	want.SetMissing(tokens)
	for _, u := range s.uses() {
		want.Names = append(want.Names, u.column)
	}
	kept := s.canonicalNames(s.Classes...)
	var place func(class string) int
	if len(kept) > 0 {
		want.keep = func(class string) bool { return place(class) >= 0 }
	}
	want.plan = func(t *table) (err error) {
		if schema, group, err = s.layout(t); err == nil {
			place = schema.Label.place(kept)
		}
		return err
	}
	t, err := read(src, want)
	if err != nil {
		return nil, err
	}
	schema.MissingValues, schema.Unlabelled, schema.Decimal = tokens, s.Unlabelled, s.Decimal
	schema.Encoding = s.Encoding
	if t.Delimiter != 0 {
		schema.Delimiter = string(t.Delimiter)
	}
	for _, c := range append(slices.Clone(schema.Inputs), schema.Label) {
		if c.IgnoreCase && t.texts[c.Index] != nil && !t.marked[c.Index] {
			t.unify(c.Index)
		}
	}
	schema.categories(t)
	for k := range schema.Inputs {
		schema.Inputs[k].Currency = t.currency[schema.Inputs[k].Index]
		schema.Inputs[k].Percent = t.percents(schema.Inputs[k].Index)
		schema.Inputs[k].Coded = schema.Inputs[k].Levels != nil && s.Categorical == "kernel"
	}
	if s.MissingIndicators && len(t.rows) > 0 {
		schema.markGaps(t)
	}
	if err := t.Faults.Err(); err != nil {
		return nil, err
	}
	if !s.Regression {
		if schema.Classes, err = s.classes(t, schema, kept); err != nil {
			return nil, err
		}
	}
	d, err := schema.data(t, true)
	if err != nil {
		return nil, err
	}
	d.Guessed = s.Label == "" && s.Dataset == "" && !schema.Counts
	d.LeftOut = s.leftOut(t)
	if len(t.rows) < 2 {
		t.Faults.Add(t.lines[0], 0, "is the only case; at least two are needed to train on")
		return nil, t.Faults
	}
	d.OtherClasses = t.leftOutClasses(schema.Label)
	if group >= 0 {
		d.Groups = t.texts[group]
	}
	if s.Duplicates == "together" {
		d.Groups = d.alike()
	}
	var single []string
	for k, n := range d.Counts() {
		switch {
		case n == 1:
			single = append(single, strconv.Quote(d.Classes[k]))
		case n == len(d.Labels):
			t.Faults.Add(0, 0, "has only cases of class %q%s; at least two classes are needed", d.Classes[k],
				t.leftOut())
		}
	}
	switch n := len(single); {
	case n == 1:
		d.Warnings = append(d.Warnings, cause.Single.New("class %s has a single case", single[0]))
	case n > 1:
		d.Warnings = append(d.Warnings, cause.Single.New("%d classes have a single case: %s", n, Abridged(single)))
	}
	d.warnOfWeights()
	return d, t.Faults.Err()
}

// notableWeights is the ratio of the mean weights of two classes from which on weights are likely
// to be costs of errors.
const notableWeights = 2

// warnOfWeights warns if the cases of a class weigh more on average than the cases of another.
func (d *Data) warnOfWeights() {
	if d.Weights == nil || d.Schema.Counts || d.Labels == nil {
		return
	}
	counts, means := d.Counts(), make([]float64, len(d.Classes))
	for i, class := range d.Labels {
		means[class] += d.Weights[i] / float64(counts[class])
	}
	least, most := floats.MinIdx(means), floats.MaxIdx(means)
	if ratio := means[most] / means[least]; means[least] > 0 && ratio >= notableWeights {
		d.Warnings = append(d.Warnings, cause.Weighted.New("a case of class %q weighs on average %.3g times as much "+
			"as one of %q: a weight of 3 is three equal cases; where weights are costs of errors, leave them out, "+
			"and multiply the probabilities by the costs", d.Classes[most], ratio, d.Classes[least]))
	}
}

// remaining returns the columns that have no role yet. It leaves out dropped columns and the query
// numbers of a sparse file.
func (t *table) remaining(drop []int) (inputs []int) {
	for j, r := range t.roles {
		if r == ignored && !slices.Contains(drop, j) && !(t.Sparse && t.Names[j] == "qid") {
			inputs = append(inputs, j)
		}
	}
	return inputs
}

// layout finds the columns that the specification names in the file t and sets their roles. group
// is -1 if there is none.
func (s Spec) layout(t *table) (schema *Schema, group int, err error) {
	uses := s.uses()
	places, p := t.places(uses)
	if len(p) > 0 {
		return nil, -1, p
	}
	of := map[string][]int{} // columns of each key
	for i, j := range places {
		of[uses[i].key] = append(of[uses[i].key], j)
		uses[i].column = t.Names[j]
	}
	if t.Sparse {
		p = notSparse(uses)
	}
	if len(p) > 0 {
		return nil, -1, p
	}
	switch {
	case len(of["counts"]) > 0:
		t.label = of["counts"][0]
	case s.Label == "":
		uses = slices.Insert(uses, 0, use{"label", t.Names[t.label]})
	default:
		t.label = of["label"][0]
	}
	p = overlaps(uses)

	schema = &Schema{
		Sparse: t.Sparse, Header: t.Header, Width: len(t.Names), Label: Column{Name: t.Names[t.label], Index: t.label},
		Only: len(s.Classes) > 0, Ordered: len(s.Order) > 0, Above: s.Above, Missing: s.Missing,
	}
	t.roles, group = make([]role, len(t.Names)), -1
	for _, j := range of["id"] {
		t.roles[j] = carried
		schema.ID = append(schema.ID, Column{Name: t.Names[j], Index: j})
	}
	if s.Group != "" {
		group = of["group"][0]
		t.roles[group] = needed
	}
	schema.weigh(t, of["weights"])
	t.roles[t.label] = target
	schema.Label.IgnoreCase = s.IgnoreCase.All || slices.Contains(of["ignore_case"], t.label)
	schema.count(t, of["counts"])
	inputs := of["columns"]
	if len(s.Columns.Chosen) == 0 {
		inputs = t.remaining(of["drop"])
	}
	if len(inputs) == 0 && len(p) == 0 {
		p.add("columns", "no input column is left; the file has %s", cells.List(t.Names))
	}
	if len(p) > 0 {
		return nil, -1, p
	}
	schema.Inputs = make([]Column, 0, len(inputs))
	for _, j := range inputs {
		t.roles[j] = number
		if mode := s.categorical(); (mode == "one_hot" || mode == "kernel") && !t.Sparse {
			t.roles[j] = level
		}
		schema.Inputs = append(schema.Inputs, Column{Name: t.Names[j], Index: j,
			IgnoreCase: s.IgnoreCase.All || slices.Contains(of["ignore_case"], j)})
	}
	for _, j := range of["ignore_case"] {
		if j != t.label && !slices.Contains(inputs, j) {
			return nil, -1, problem("ignore_case", "column %q is neither an input nor the label; remove it", t.Names[j])
		}
	}
	if err := s.interpret(schema, t, of[described]); err != nil {
		return nil, -1, err
	}
	if err := t.categorise(of["categories"]); err != nil {
		return nil, -1, err
	}
	t.inputs = inputs
	return schema, group, nil
}

// categorise makes categories of the inputs at these positions.
func (t *table) categorise(places []int) error {
	for _, j := range places {
		if r := t.roles[j]; r != number && r != level {
			return problem("categories", "column %q is not an input; remove it here, or add it to columns", t.Names[j])
		}
		t.roles[j] = category
	}
	return nil
}

// interpret sets the meanings of the inputs at these positions, from the specification.
func (s Spec) interpret(schema *Schema, t *table, places []int) error {
	names := s.Columns.described()
	for i, j := range places {
		k := slices.IndexFunc(schema.Inputs, func(c Column) bool { return c.Index == j })
		if k < 0 {
			return problem("columns", "column %q is not an input; remove its meaning", t.Names[j])
		}
		c, of := &schema.Inputs[k], s.Columns.Described[string(names[i])]
		if of.Ordered != nil {
			c.Order = texts(of.Ordered)
		}
		c.Unit, c.Limits, c.Duration = string(of.Unit), of.Limits, of.Duration
		if of.Date != nil {
			date := *of.Date
			if other := slices.Index(names, date.Since); other >= 0 {
				date.Since = cells.Name(t.Names[places[other]])
			}
			c.Date = &date
		}
		t.interpret(*c)
	}
	return nil
}

// weigh sets the column of the weights, if there is one.
func (s *Schema) weigh(t *table, columns []int) {
	for _, j := range columns {
		t.roles[j], s.Weights = weighing, &Column{Name: t.Names[j], Index: j}
	}
}

// count makes the first column the number of successes, and the second one, if there is one, the
// number of trials.
func (s *Schema) count(t *table, columns []int) {
	if len(columns) == 0 {
		return
	}
	s.Counts, t.counted = true, true
	t.roles[columns[0]] = succeeding
	for _, j := range columns[1:] {
		t.roles[j], s.Trials = trying, &Column{Name: t.Names[j], Index: j}
	}
}

// places returns the positions in t of the columns used, by name or number.
func (t *table) places(uses []use) (places []int, p Problems) {
	index, absent := t.index(), 0
	for _, u := range uses {
		if j, is := index[u.column]; is {
			places = append(places, j)
			continue
		}
		if j, err := strconv.Atoi(u.column); err == nil && j >= 1 && j <= len(t.Names) {
			places = append(places, j-1)
			continue
		}
		if absent++; absent >= tables.MaxFaults {
			continue
		}
		kind := "the file has no header; its columns are named"
		if t.Header {
			kind = "the file's columns are"
		}
		p.add(u.key, "no column %q%s (%s %s, or their numbers)", u.column,
			registry.Nearest(u.column, t.Names), kind, cells.List(t.Names))
	}
	if absent >= tables.MaxFaults {
		p.add("columns", "and %d more columns that the file does not have", absent-tables.MaxFaults+1)
	}
	return places, p
}

// notSparse reports columns that the svmlight format does not have.
func notSparse(uses []use) (p Problems) {
	for _, u := range uses {
		switch {
		case u.key == "label" && u.column != "label", u.key == "counts":
			p.add(u.key, "an svmlight file has its label first; remove the key")
		case u.key == "categories" || u.key == described || u.key == "ignore_case":
			p.add(u.key, "an svmlight file holds numbers alone; remove the key")
		case u.key == "columns" && u.column == "qid", (u.key == "id" || u.key == "group") && u.column != "qid":
			p.add(u.key, "in an svmlight file only qid can be id or group, and only the features inputs; remove %q",
				u.column)
		}
	}
	return p
}

// categories converts the columns read as text (one_hot) into numbers if they contain only numbers
// and are not declared as names, and else finds their levels.
func (s *Schema) categories(t *table) {
	for k := range s.Inputs {
		c := &s.Inputs[k]
		if t.roles[c.Index] != level && t.roles[c.Index] != category {
			continue
		}
		texts := t.texts[c.Index]
		text := slices.IndexFunc(texts, func(f string) bool {
			_, number := cells.ParseNumber(f, s.Decimal)
			return f != "" && (!number || t.roles[c.Index] == category)
		})
		if text < 0 {
			t.roles[c.Index] = number
			for i, f := range texts {
				v, ok := cells.ParseNumber(f, s.Decimal)
				if !ok {
					v = math.NaN()
				}
				if t.numbers.Set(i, k, v); ok {
					t.oneCurrency(t.lines[i], func(int) int { return 0 }, c.Index, f)
					t.oneScale(c.Index, f, v)
				}
			}
			if t.scales != nil {
				t.mixedScale(c.Index)
			}
			continue
		}
		seen := map[string]bool{}
		for _, f := range texts {
			seen[f] = true
		}
		delete(seen, "")
		c.Levels = slices.Sorted(maps.Keys(seen))
		if n := len(seen); n > MaxClasses {
			t.Faults.Add(t.lines[text], 0, "column %q has %d different texts (%q here), too many for categories (%d); "+
				"correct it, or name it under drop or id", c.Name, n, texts[text], MaxClasses)
		}
	}
}

// markGaps marks the inputs with missing values. Each gets an indicator.
func (s *Schema) markGaps(t *table) {
	for k := range s.Inputs {
		c := &s.Inputs[k]
		if c.Levels != nil {
			c.Gaps = !c.Coded && slices.Contains(t.texts[c.Index], "")
			continue
		}
		c.Gaps = slices.ContainsFunc(t.given(k, *c), math.IsNaN)
	}
}

// classes returns the classes of the training labels in order: numbers by value, texts by Natural.
func (s Spec) classes(t *table, schema *Schema, kept []string) ([]string, error) {
	if s.Above != nil {
		return s.orderClasses(schema.Label, []string{aboveClass(*s.Above, false), aboveClass(*s.Above, true)})
	}
	seen := map[string]bool{}
	for _, l := range t.texts[schema.Label.Index] {
		seen[cells.Canonical(l, s.Decimal)] = true
	}
	classes := slices.SortedFunc(maps.Keys(seen), cells.Natural)
	value := func(c string) float64 { v, _ := cells.ParsePlain(c); return v }
	numeric := cells.AllNumbers(classes)
	if numeric {
		slices.SortStableFunc(classes, func(a, b string) int { return cmp.Compare(value(a), value(b)) })
	}

	fraction := slices.IndexFunc(classes, func(c string) bool { return value(c) != math.Trunc(value(c)) })
	wayOut := "name the column that holds the label"
	if numeric {
		wayOut = "turn it into two classes with above: 25, say, predict it as a number with likelihood: " +
			"gaussian, or name another column with label:"
	}
	name := t.Names[t.label]
	switch {
	case numeric && fraction >= 0:
		return nil, problem("label", "column %q is a numeric label (%s, for one), not a class; %s", name,
			classes[fraction], wayOut)
	case len(classes) > MaxClasses:
		return nil, problem("label", "column %q has %d different values, too many for classes (%d); %s",
			name, len(classes), MaxClasses, wayOut)
	}
	var p Problems
	find := schema.Label.place(classes)
	for _, k := range kept {
		if find(k) < 0 {
			have := slices.Concat(classes, slices.Sorted(maps.Keys(t.skippedLabels)))
			p.add("classes", "no case has the label %q%s", k, registry.Suggest(k, have))
		}
	}
	if len(p) > 0 {
		return nil, p
	}
	t.Warnings = append(t.Warnings, resembling(name, classes)...)
	return s.orderClasses(schema.Label, classes)
}

// resembling warns of classes that may be meant as one: equal numbers, or texts that differ only in
// letter case.
func resembling(label string, classes []string) (warnings []cause.Notice) {
	const exact = 400 // bits, enough for every whole number up to maxMagnitude
	first := map[string]string{}
	for _, c := range classes {
		key, why := strings.ToLower(c), fmt.Sprintf("differ in case alone; ignore_case: [%s] makes them one", label)
		if v, _, err := big.ParseFloat(c, 10, exact, big.ToNearestEven); err == nil && cells.IsNumber(c) {
			key, why = v.Text('p', 0), "are the same number; write them alike if they are one class"
		}
		if other, met := first[key]; met {
			warnings = append(warnings, cause.Labels.New("labels %q and %q are different classes, and %s", other, c,
				why))
		}
		first[key] = c
	}
	return warnings
}

// orderClasses puts the classes in the order of the file, or the positive one last.
func (s Spec) orderClasses(label Column, classes []string) ([]string, error) {
	find := label.place(classes)
	if order := s.canonicalNames(s.Order...); len(order) > 0 {
		for i, c := range order {
			if find(c) < 0 {
				return nil, problem("order", "no class %q%s", c, registry.Suggest(c, classes))
			}
			order[i] = classes[find(c)]
		}
		for _, c := range classes {
			if !slices.Contains(order, c) {
				return nil, problem("order", "class %q is missing; name all classes, the lowest first", c)
			}
		}
		return order, nil
	}
	if s.Positive == "" {
		return classes, nil
	}
	positive := s.canonicalNames(s.Positive)[0]
	switch k := find(positive); {
	case k < 0:
		return nil, problem("positive", "no class %q%s", positive, registry.Suggest(positive, classes))
	case len(classes) > 2:
		return nil, problem("positive", "only two classes have a positive one, and there are %d (%s); "+
			"remove positive, or keep two by classes", len(classes), cells.List(classes))
	default:
		return append(slices.Delete(slices.Clone(classes), k, k+1), classes[k]), nil
	}
}

// unify gives one spelling to texts of column j that differ only in letter case.
func (t *table) unify(j int) {
	counts := map[string]int{}
	for _, text := range t.texts[j] {
		counts[text]++
	}
	as := Spellings(counts)
	for i, text := range t.texts[j] {
		t.texts[j][i] = as[text]
	}
}

// leftOutClasses returns the classes of the cases that were skipped because of their label, in
// order.
func (t *table) leftOutClasses(label Column) (all []Count) {
	as := map[string]string{}
	if label.IgnoreCase {
		as = Spellings(t.skippedLabels)
	}
	sums := map[string]int{}
	for class, n := range t.skippedLabels {
		sums[cmp.Or(as[class], class)] += n
	}
	for _, class := range slices.SortedFunc(maps.Keys(sums), cells.Natural) {
		all = append(all, Count{Class: class, N: sums[class]})
	}
	return all
}
