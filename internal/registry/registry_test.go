package registry

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

type animal interface{ Legs() int }

type dog struct {
	Age int `yaml:"age"`
}

type bird struct{ Wings int }

type herd struct{ Of []string }

func (dog) Legs() int    { return 4 }
func (b bird) Legs() int { return 4 - b.Wings }
func (h herd) Legs() int { return 4 * len(h.Of) }

func animals() Table[animal] {
	return Table[animal]{
		Of[dog, animal]("dog", "barks"), Of[bird, animal]("bird", "flies", bird{Wings: 2}).At(3),
		Composed[herd, animal]("herd", "several", herd{Of: []string{"cow"}}),
	}
}

// panics returns what f panics with, "" if it does not.
func panics(f func()) (text string) {
	defer func() {
		if r := recover(); r != nil {
			text = fmt.Sprint(r)
		}
	}()
	f()
	return ""
}

func TestEntries(t *testing.T) {
	all := animals()
	if !slices.Equal(all.Names(), []string{"dog", "bird", "herd"}) || all.Default("bird").Legs() != 2 || all.Default("dog") != (dog{}) {
		t.Errorf("%v", all.Names())
	}
	for i, want := range []bool{false, false, true} {
		if all[i].NeedsOptions != want {
			t.Errorf("%s needs options: %v", all[i].Name, all[i].NeedsOptions)
		}
	}
	e, err := all.Lookup("animal", "bird")
	if err != nil || e.Doc != "flies" {
		t.Errorf("%+v, %v", e, err)
	}
	read := func(v any) error { v.(*bird).Wings++; return errors.New("half read") }
	if b, err := e.New(read); b != (bird{Wings: 3}) || err == nil {
		t.Errorf("as far as it was read: %+v, %v", b, err)
	}
	if b, err := e.New(nil); b != (bird{Wings: 2}) || err != nil {
		t.Errorf("the default has changed: %+v, %v", b, err)
	}
	if h, err := all[2].New(nil); err != nil || h.Legs() != 4 {
		t.Errorf("an example: %+v, %v", h, err)
	}
	if h, err := all[2].New(func(v any) error { v.(*herd).Of = append(v.(*herd).Of, "a", "b"); return nil }); err != nil || h.Legs() != 8 {
		t.Errorf("composed from nothing: %+v, %v", h, err)
	}
	_, err = all.Lookup("animal", "dogs")
	if err == nil || err.Error() != `unknown animal "dogs"; did you mean "dog"? (have dog, bird, herd)` {
		t.Error(err)
	}
	if name := all.NameOf(bird{Wings: 7}); name != "bird" {
		t.Errorf("%q", name)
	}
	if name := all[:1].NameOf(bird{}); name != "" {
		t.Errorf("%q", name)
	}
	for want, f := range map[string]func(){
		"unknown component":   func() { all.Default("cat") },
		"needs a name, a doc": func() { Of[dog, animal]("", "barks") },
		`entry "dog" of`:      func() { Of[dog, animal]("dog", "") },
		`entry "text" of`:     func() { Of[string, animal]("text", "no animal") },
	} {
		if got := panics(f); !strings.Contains(got, want) {
			t.Errorf("panics with %q, want %q", got, want)
		}
	}
}

// made is a component that a function has made.
type made struct {
	origin *int
	legs   int
}

type madeOptions struct {
	Legs int `yaml:"legs"`
}

func (m made) Legs() int               { return m.legs }
func (m made) Origin() any             { return m.origin }
func (m made) Options() any            { return madeOptions{m.legs} }
func (m made) With(options any) animal { return made{m.origin, options.(madeOptions).Legs} }

// Components of other programs and raised versions have versions in keys.
func TestVersions(t *testing.T) {
	all := animals()
	one, two := made{new(int), 6}, made{new(int), 8}
	Register(&all, "animal", "ant", "is small", 1, one)
	Register(&all, "animal", "spider", "spins", 2, two)
	for name, want := range map[string]int{"dog": 0, "bird": 3, "herd": 0, "ant": 1, "spider": 2, "cat": 0} {
		if got := all.VersionOf(name); got != want {
			t.Errorf("%s: %d, want %d", name, got, want)
		}
	}
	var raised []string
	all.Raised(func(name string, version int, origin any) {
		raised = append(raised, fmt.Sprint(name, version, origin == any(one.origin), origin == any(two.origin),
			origin == any(reflect.TypeFor[bird]())))
	})
	if got, want := strings.Join(raised, ", "), "bird3 false false true, ant1 true false false, spider2 false true false"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if name := all.NameOf(made{two.origin, 100}); name != "spider" {
		t.Errorf("%q", name)
	}
	e, err := all.Lookup("animal", "spider")
	if err != nil {
		t.Fatal(err)
	}
	if v, err := e.New(nil); err != nil || v.Legs() != 8 {
		t.Errorf("%v, %v", v, err)
	}
	if v, err := e.New(func(v any) error { v.(*madeOptions).Legs--; return nil }); err != nil || v.Legs() != 7 {
		t.Errorf("%v, %v", v, err)
	}
	for want, f := range map[string]func(){
		`animal "ant": the name is taken`: func() { Register(&all, "animal", "ant", "again", 1, made{new(int), 1}) },
		`animal "A": a name is written`:   func() { Register(&all, "animal", "A", "upper case", 1, made{new(int), 1}) },
		`animal "1a": a name is written`:  func() { CheckName("animal", "1a", 1, nil) },
		"version 0; versions count":       func() { Register(&all, "animal", "b", "version", 0, made{new(int), 1}) },
		`it is "dog" already`:             func() { Register(&all, "animal", "hound", "barks", 1, dog{}) },
		`it is "spider" already`:          func() { Register(&all, "animal", "tarantula", "spins", 1, two) },
		"needs a doc":                     func() { Register(&all, "animal", "c", "", 1, made{new(int), 1}) },
	} {
		if got := panics(f); !strings.Contains(got, want) {
			t.Errorf("panics with %q, want %q", got, want)
		}
	}
	if len(all) != 5 {
		t.Errorf("%v", all.Names())
	}
}

// The nearest name is suggested if at most half of the letters differ. Of equally near names it is
// the first.
func TestSuggestions(t *testing.T) {
	for _, c := range []struct {
		name, have, want string
	}{
		{"probot", "probit logit", `; did you mean "probit"? (have probit, logit)`},
		{"lobit", "probit logit", `; did you mean "logit"? (have probit, logit)`},
		{"PROBIT", "probit", `; did you mean "probit"? (have probit)`},
		{"abxx", "abcd", `; did you mean "abcd"? (have abcd)`}, {"axxx", "abcd", " (have abcd)"},
		{"abcde", "abxxe", `; did you mean "abxxe"? (have abxxe)`}, {"abcde", "xxxde", " (have xxxde)"},
		{"ab", "b", `; did you mean "b"? (have b)`}, {"b", "ab", " (have ab)"}, {"", "a", " (have a)"},
		{"kitten", "sitting knitting", `; did you mean "sitting"? (have sitting, knitting)`},
		{"rbf", "se matern32", `; here that is "se" (have se, matern32)`},
		{"Squared Exponential", "se", `; here that is "se" (have se)`}, {"white-noise", "noise", `; here that is "noise" (have noise)`},
		{"variance", "amplitude", `; here that is "amplitude", amplitude is a standard deviation, the square root of a variance (have amplitude)`},
		{"max_iter", "evaluations", `; here that is "evaluations" (have evaluations)`},
		{"n_iter", "max_iterations trials", `; here that is "trials" (have max_iterations, trials)`},
		{"rbf", "rbg", `; did you mean "rbg"? (have rbg)`},
	} {
		if got := Suggest(c.name, strings.Fields(c.have)); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
	if got := Suggest("a", nil); got != " (there are none)" {
		t.Error(got)
	}
	if err := Known("fruit", "a", []string{"b", "a"}); err != nil {
		t.Error(err)
	}
	if err := Known("fruit", "c", []string{"b", "a"}); err == nil || !strings.HasPrefix(err.Error(), `unknown fruit "c"`) {
		t.Error(err)
	}
}

// Every name that is known elsewhere is written as it is looked up.
func TestNamesElsewhere(t *testing.T) {
	for name, e := range elsewhere {
		if strings.ContainsAny(name, " -") || strings.ToLower(name) != name || len(e.here) == 0 {
			t.Errorf("%q: %v", name, e.here)
		}
		for _, here := range e.here {
			if got, note := Elsewhere(name, []string{"", here}); got != here || note != e.note {
				t.Errorf("%s: %q, %q", name, got, note)
			}
		}
		if got, note := Elsewhere(name, []string{"nothing"}); got != "" || note != "" {
			t.Errorf("%s: %q, %q", name, got, note)
		}
	}
}

func TestDistances(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "abc", 3}, {"abc", "abc", 0}, {"abc", "acb", 2}, {"kitten", "sitting", 3},
		{"flaw", "lawn", 2}, {"intention", "execution", 5}, {"sunday", "saturday", 3}} {
		if got, back := editDistance(c.a, c.b), editDistance(c.b, c.a); got != c.want || back != c.want {
			t.Errorf("%s, %s: %d and %d, want %d", c.a, c.b, got, back, c.want)
		}
	}
}

// colour is an enumeration.
type colour int

func (colour) Names() []string { return []string{"red", "green"} }

func TestChoose(t *testing.T) {
	c := colour(0)
	if err := Choose(&c, "colour", []byte("green")); err != nil || c != 1 {
		t.Error(c, err)
	}
	if err := Choose(&c, "colour", []byte("blue")); err == nil || c != 1 {
		t.Error(c, err)
	}
}

type inner struct {
	Depth int `yaml:"depth"`
}

// zoo has options of each kind.
type zoo struct {
	Size   int `yaml:"size,omitempty"`
	inner  `yaml:",inline"`
	Beast  beast `yaml:",inline"`
	Hidden int   `yaml:"-"`
	Bare   int
}

type (
	beast interface{ Roar() }
	lion  int
	tiger string
	bear  bool
	pair  struct {
		lion lion
		bear bear
	}
)

func (lion) Roar()  {}
func (tiger) Roar() {}
func (bear) Roar()  {}
func (pair) Roar()  {}

// Join is for lions only.
func (b bear) Join(other any) any {
	if l, is := other.(lion); is {
		return pair{l, b}
	}
	return nil
}

func (l lion) Join(other any) any {
	if b, is := other.(bear); is {
		return pair{l, b}
	}
	return nil
}

func (p pair) Parts() []any { return []any{p.lion, p.bear} }

func init() {
	Inlined(Table[beast]{Of[lion, beast]("lion", "roars"), Of[tiger, beast]("tiger", "too"),
		Of[bear, beast]("bear", "with lions only")})
}

// The names of an inlined table are options. Only one of them can be given, or two that join.
func TestOptions(t *testing.T) {
	list := func(z zoo) (found []string) {
		Options(reflect.ValueOf(z), func(name string, f reflect.Value, of reflect.StructField) {
			found = append(found, fmt.Sprintf("%s=%v", name, f.Interface()))
		})
		return found
	}
	if got := list(zoo{Size: 3, inner: inner{4}}); !slices.Equal(got, []string{"size=3", "depth=4", "lion=0", "tiger=", "bear=false"}) {
		t.Errorf("%q", got)
	}
	if got := list(zoo{Beast: tiger("t")}); !slices.Equal(got, []string{"size=0", "depth=0", "lion=0", "tiger=t", "bear=false"}) {
		t.Errorf("%q", got)
	}
	Options(reflect.ValueOf(3), func(string, reflect.Value, reflect.StructField) { t.Error("a number has options") })
	z := zoo{}
	v := reflect.ValueOf(&z).Elem()
	if other := Store(v, "size", reflect.ValueOf(3)); other != "" || z.Beast != nil {
		t.Errorf("%q, %+v", other, z)
	}
	if other := Store(v, "lion", reflect.ValueOf(lion(0))); other != "" || z.Beast != nil {
		t.Errorf("nothing is given: %q, %+v", other, z)
	}
	if other := Store(v, "lion", reflect.ValueOf(lion(2))); other != "" || z.Beast != lion(2) {
		t.Errorf("%q, %+v", other, z)
	}
	if other := Store(v, "lion", reflect.ValueOf(lion(3))); other != "" || z.Beast != lion(3) {
		t.Errorf("%q, %+v", other, z)
	}
	if other := Store(v, "tiger", reflect.ValueOf(tiger("t"))); other != "lion" {
		t.Errorf("%q excludes it", other)
	}
	for _, first := range []string{"lion", "bear"} {
		z.Beast = nil
		values := map[string]any{"lion": lion(2), "bear": bear(true)}
		for _, name := range []string{first, map[string]string{"lion": "bear", "bear": "lion"}[first]} {
			if other := Store(v, name, reflect.ValueOf(values[name])); other != "" {
				t.Errorf("%s after %s: excluded by %q", name, first, other)
			}
		}
		if z.Beast != (pair{2, true}) {
			t.Errorf("%+v", z.Beast)
		}
	}
	if got := list(z); !slices.Equal(got[2:], []string{"lion=2", "tiger=", "bear=true"}) {
		t.Errorf("%q", got)
	}
	if other := Store(v, "tiger", reflect.ValueOf(tiger("t"))); other != "bear" {
		t.Errorf("%q excludes it", other)
	}
}
