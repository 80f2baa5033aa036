package split

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/panicked"
)

// Splitters without anything random.
var fixed = []string{"leave_one_out", "predefined"}

// Splitters whose folds are permuted with the cases; for the others only the sizes of the folds
// stay the same.
var equivariant = []string{"leave_one_out", "predefined"}

// Splitters that do not test every case in every repeat.
var partial = []string{"hold_out"}

// Splitters that need groups; the others are refused groups, because they cannot keep the cases of
// a group together.
var grouped = []string{"predefined", "group_kfold"}

// sample makes n cases of the given number of classes, with at least two cases of each, in 12
// groups that contain most classes.
func sample(n, classes int, r *rand.Rand) (labels []int, groups []string) {
	for i := range n {
		label := i % classes
		if i >= 2*classes {
			label = r.IntN(classes+1) % classes // class 0 is twice as large
		}
		labels = append(labels, label)
		groups = append(groups, strconv.Itoa(i*7%12))
	}
	order := r.Perm(n)
	return permuted(labels, order), permuted(groups, order)
}

func permuted[T any](v []T, order []int) []T {
	out := make([]T, len(v))
	for to, from := range order {
		out[to] = v[from]
	}
	return out
}

// variants are the splitters with options other than their defaults.
func variants() map[string][]Splitter {
	no, yes := false, true
	return map[string][]Splitter{
		"kfold":          {KFold{K: 2}, KFold{K: 7, Stratified: &no}, KFold{K: 5, Stratified: &yes}},
		"repeated_kfold": {RepeatedKFold{K: 3, Repeats: 4}, RepeatedKFold{K: 5, Repeats: 2, Stratified: &no}},
		"hold_out":       {HoldOut{TestSize: 0.5}, HoldOut{TestSize: 0.33, Stratified: &no}},
		"group_kfold":    {GroupKFold{K: 2}, GroupKFold{K: 12}, GroupKFold{K: 3, Stratified: true}},
	}
}

// TestConformance tests what splittertest leaves open.
func TestConformance(t *testing.T) {
	for _, entry := range Table {
		standard, err := entry.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range append([]Splitter{standard}, variants()[entry.Name]...) {
			t.Run(fmt.Sprintf("%s/%+v", entry.Name, s), func(t *testing.T) {
				r := rand.New(rand.NewPCG(1, 2))
				for _, n := range []int{41, 60, 120} {
					for _, classes := range []int{2, 3} {
						labels, groups := sample(n, classes, r)
						if !slices.Contains(grouped, entry.Name) {
							groups = nil
						}
						conform(t, entry.Name, s, labels, groups, r)
					}
				}
			})
		}
	}
}

func conform(t *testing.T, name string, s Splitter, labels []int, groups []string, r *rand.Rand) {
	t.Helper()
	n := len(labels)
	split := func(labels []int, groups []string, seed uint64) []Fold {
		folds, err := s.Split(n, labels, groups, seed)
		if err != nil {
			t.Fatalf("n = %d: %v", n, err)
		}
		return folds
	}
	folds := split(labels, groups, 7)

	// Both parts together contain every case once.
	repeats := map[int][]int{} // the cases tested in each repeat
	number := map[int]int{}
	for _, f := range folds {
		both := slices.Sorted(slices.Values(slices.Concat(f.Train, f.Test)))
		if !slices.Equal(both, firstNumbers(n)) {
			t.Fatalf("fold %d: the two parts are %v", f.Fold, both)
		}
		if f.Fold != number[f.Repeat] {
			t.Fatalf("repeat %d: fold %d comes when %d is due", f.Repeat, f.Fold, number[f.Repeat])
		}
		number[f.Repeat]++
		repeats[f.Repeat] = append(repeats[f.Repeat], f.Test...)
	}
	if !slices.Contains(partial, name) {
		for repeat, tested := range repeats {
			if slices.Sort(tested); !slices.Equal(tested, firstNumbers(n)) {
				t.Fatalf("repeat %d tests %v", repeat, tested)
			}
		}
	}

	// For random splitters another seed gives other folds.
	same := 0
	for seed := range uint64(20) {
		if reflect.DeepEqual(folds, split(labels, groups, 100+seed)) {
			same++
		}
	}
	if want := slices.Contains(fixed, name); want && same != 20 || !want && same > 1 {
		t.Fatalf("%d of 20 other seeds gave the same folds", same)
	}

	// Another order of the cases.
	order := r.Perm(n)
	var permutedGroups []string
	if groups != nil {
		permutedGroups = permuted(groups, order)
	}
	permuted := split(permuted(labels, order), permutedGroups, 7)
	if slices.Contains(equivariant, name) {
		for f := range permuted {
			if name == "leave_one_out" {
				continue // fold i tests case i: the folds themselves are permuted
			}
			back := make([]int, 0, len(permuted[f].Test))
			for _, i := range permuted[f].Test {
				back = append(back, order[i])
			}
			if slices.Sort(back); !slices.Equal(back, folds[f].Test) {
				t.Fatalf("fold %d tests %v, or %v with the cases in another order", f, folds[f].Test, back)
			}
		}
	} else if a, b := sizes(folds), sizes(permuted); !slices.Equal(a, b) && !dealtByClasses(s) {
		t.Fatalf("parts of %v and, with the cases in another order, %v", a, b)
	}
}

// dealtByClasses reports whether the splitter deals groups by their classes. Groups of equal size
// and different classes are then dealt in an order that depends on the order in which they appear,
// and so do the sizes of parts.
func dealtByClasses(s Splitter) bool {
	g, is := s.(GroupKFold)
	return is && g.Stratified
}

func firstNumbers(n int) []int {
	all := make([]int, n)
	for i := range all {
		all[i] = i
	}
	return all
}

func sizes(folds []Fold) (out []int) {
	for _, f := range folds {
		out = append(out, len(f.Test))
	}
	return out
}

// The numbers of test cases of a class differ by at most one between stratified folds; so do the
// total numbers.
func TestStratifiedWithinOne(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		classes := 2 + r.IntN(6)
		n := 2*classes + r.IntN(80)
		k := 2 + r.IntN(min(n-1, 12))
		labels, _ := sample(n, classes, r)
		folds, err := KFold{K: k}.Split(len(labels), labels, nil, r.Uint64())
		if err != nil {
			t.Fatal(err)
		}
		tested := make([][]int, classes+1)
		for _, f := range folds {
			counts := make([]int, classes+1)
			for _, i := range f.Test {
				counts[labels[i]]++
				counts[classes]++
			}
			for c, count := range counts {
				tested[c] = append(tested[c], count)
			}
		}
		for c, counts := range tested {
			if slices.Max(counts)-slices.Min(counts) > 1 {
				t.Fatalf("n = %d, k = %d, class %d of %d (the last is the total): %v test cases", n, k, c, classes, counts)
			}
		}
	}
}

// The held-out part has the exact size, and the share of every class within one case.
func TestHoldOutShares(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		classes := 2 + r.IntN(5)
		n := 4*classes + r.IntN(90)
		size := 0.1 + 0.8*r.Float64()
		labels, _ := sample(n, classes, r)
		folds, err := HoldOut{TestSize: size}.Split(len(labels), labels, nil, r.Uint64())
		if err != nil {
			t.Fatal(err)
		}
		m := math.Round(size * float64(n))
		capped := false
		for c, count := range classCounts(labels) {
			got := 0.0
			for _, i := range folds[0].Test {
				if labels[i] == c {
					got++
				}
			}
			share := m * float64(count) / float64(n)
			if math.Abs(got-share) >= 1 || got == float64(count) {
				t.Fatalf("class %d: %v of %d cases held out, its share is %v", c, got, count, share)
			}
			capped = capped || math.Ceil(share) == float64(count)
		}
		if got := float64(len(folds[0].Test)); got > m || got < m && !capped {
			t.Fatalf("%v of %d cases held out, want %v", got, n, m)
		}
	}
}

// 7 seats for classes of 5, 5 and 2 cases of 12: shares 2.92, 2.92, 1.17, rounded down 2, 2, 1, and the two seats
// left go to the two remainders of 11/12. Of 11 seats (4.58, 4.58, 1.83) the class of two must not get a second one,
// and neither may the others get their fifth.
func TestApportion(t *testing.T) {
	for _, test := range []struct {
		m            int
		counts, want []int
	}{
		{7, []int{5, 5, 2}, []int{3, 3, 1}},
		{11, []int{5, 5, 2}, []int{4, 4, 1}},
		{1, []int{3, 3}, []int{1, 0}}, // equal remainders: the first
		{2, []int{4, 0, 4}, []int{1, 0, 1}},
	} {
		if got := apportion(test.m, test.counts); !slices.Equal(got, test.want) {
			t.Errorf("apportion(%d, %v) = %v, want %v", test.m, test.counts, got, test.want)
		}
	}
}

func TestRepeats(t *testing.T) {
	labels, _ := sample(50, 2, rand.New(rand.NewPCG(1, 1)))
	once, err := KFold{K: 5}.Split(len(labels), labels, nil, 9)
	if err != nil {
		t.Fatal(err)
	}
	many, err := RepeatedKFold{K: 5, Repeats: 3}.Split(len(labels), labels, nil, 9)
	if err != nil {
		t.Fatal(err)
	}
	if len(many) != 15 || !reflect.DeepEqual(many[:5], once) {
		t.Error("the first repeat is not the kfold of the same seed")
	}
	for r := range 3 {
		for f := range 5 {
			if got := many[5*r+f]; got.Repeat != r || got.Fold != f {
				t.Errorf("fold %d is numbered %d, %d", 5*r+f, got.Repeat, got.Fold)
			}
		}
	}
	if slices.Equal(many[0].Test, many[5].Test) || slices.Equal(many[5].Test, many[10].Test) {
		t.Error("two repeats are the same")
	}
}

// Within a class every case is equally often in the first of five parts, within 4.5 standard
// deviations.
func TestShuffleIsEven(t *testing.T) {
	labels := []int{0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2}
	counts := make([]int, len(labels))
	for seed := range uint64(2000) {
		folds, err := KFold{K: 5}.Split(len(labels), labels, nil, seed)
		if err != nil {
			t.Fatal(err)
		}
		for _, i := range folds[0].Test {
			counts[i]++
		}
	}
	// The first part has 2 of the 6 cases of class 0, positions 0 and 5. It has no case of class 1,
	// because positions 6 … 9 go to parts 1 … 4. It has 1 case of class 2, position 10.
	for i, share := range []float64{2. / 6, 2. / 6, 2. / 6, 2. / 6, 2. / 6, 2. / 6, 0, 0, 0, 0, 1. / 3, 1. / 3, 1. / 3} {
		if want := 2000 * share; math.Abs(float64(counts[i])-want) > 4.5*math.Sqrt(want*(1-share)) {
			t.Errorf("case %d was in the first part %d times, want about %v", i, counts[i], want)
		}
	}
}

// Groups of 6, 3, 2, 2 and 1 cases into two parts, largest first into the smaller part: 6+1 and
// 3+2+2.
func TestGroupsBalanced(t *testing.T) {
	groups := strings.Split("a a a a a a b b b c c d d e", " ")
	for seed := range uint64(10) {
		folds, err := GroupKFold{K: 2}.Split(len(groups), nil, groups, seed)
		if err != nil {
			t.Fatal(err)
		}
		if got := sizes(folds); !slices.Equal(got, []int{7, 7}) {
			t.Errorf("parts of %v cases", got)
		}
		for _, f := range folds {
			for _, i := range f.Train {
				for _, j := range f.Test {
					if groups[i] == groups[j] {
						t.Fatalf("group %s is in both parts", groups[i])
					}
				}
			}
		}
	}
}

// Groups of other names are dealt out alike.
func TestNamesOfGroupsDoNotMatter(t *testing.T) {
	labels, groups := sample(90, 3, rand.New(rand.NewPCG(1, 1)))
	for seed := range uint64(10) {
		for _, s := range []GroupKFold{{K: 4}, {K: 4, Stratified: true}} {
			want, err := s.Split(len(groups), labels, groups, seed)
			if err != nil {
				t.Fatal(err)
			}
			renamed := make([]string, len(groups))
			for i, g := range groups {
				number, _ := strconv.Atoi(g)
				renamed[i] = fmt.Sprint("clinic ", number*5%12)
			}
			got, err := s.Split(len(groups), labels, renamed, seed)
			if err != nil || !reflect.DeepEqual(got, want) {
				t.Errorf("seed %d: %v, want %v; %v", seed, got, want, err)
			}
		}
	}
}

// 12 groups of two cases of class 0 and 6 of class 1 into three equal parts; without
// stratification, chance decides the classes.
func TestGroupsStratified(t *testing.T) {
	var groups []string
	var labels []int
	for i := range 36 {
		groups, labels = append(groups, fmt.Sprint(i/2)), append(labels, i/24)
	}
	unequal := 0
	for seed := range uint64(10) {
		for _, stratified := range []bool{true, false} {
			folds, err := GroupKFold{K: 3, Stratified: stratified}.Split(len(groups), labels, groups, seed)
			if err != nil {
				t.Fatal(err)
			}
			later := make([]int, len(labels)) // classes 1 and 3: the others have no cases
			for i, c := range labels {
				later[i] = 2*c + 1
			}
			same, err := GroupKFold{K: 3, Stratified: stratified}.Split(len(groups), later, groups, seed)
			if err != nil || !reflect.DeepEqual(same, folds) {
				t.Errorf("seed %d: %v with classes without cases, want %v; %v", seed, same, folds, err)
			}
			for _, f := range folds {
				counts := make([]int, 2)
				for _, i := range f.Test {
					counts[labels[i]]++
				}
				switch equal := slices.Equal(counts, []int{8, 4}); {
				case !equal && stratified:
					t.Errorf("seed %d: a part of %v cases", seed, counts)
				case !equal:
					unequal++
				}
			}
		}
	}
	if unequal == 0 {
		t.Error("without stratification the classes are balanced too")
	}
	if _, err := (GroupKFold{K: 2, Stratified: true}).Split(len(groups), nil, groups, 1); err == nil {
		t.Error("stratified numbers: no error")
	}
}

// The fold numbers 10, -1 and 3 of the column are ordered as numbers: -1, 3, 10.
func TestPredefined(t *testing.T) {
	folds, err := Predefined{}.Split(6, []int{0, 1, 1, 0, 0, 1}, []string{"10", "-1", "10", " 3", "-1", "3"}, 0)
	if err != nil {
		t.Fatal(err)
	}
	want := []Fold{
		{0, 0, []int{0, 2, 3, 5}, []int{1, 4}},
		{0, 1, []int{0, 1, 2, 4}, []int{3, 5}},
		{0, 2, []int{1, 3, 4, 5}, []int{0, 2}},
	}
	if !reflect.DeepEqual(folds, want) {
		t.Errorf("got %v", folds)
	}
}

// Numeric targets have no labels.
func TestNumericTargets(t *testing.T) {
	groups := make([]string, 30)
	for i := range groups {
		groups[i] = strconv.Itoa(i)
	}
	for _, entry := range Table {
		s, err := entry.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		own := groups
		if !slices.Contains(grouped, entry.Name) {
			own = nil
		}
		folds, err := s.Split(30, nil, own, 1)
		if err != nil {
			t.Errorf("%s: %v", entry.Name, err)
		} else if got := len(folds[0].Train) + len(folds[0].Test); got != 30 {
			t.Errorf("%s: %d cases", entry.Name, got)
		}
	}
}

func TestErrors(t *testing.T) {
	no, yes := false, true
	labels := []int{0, 0, 0, 0, 0, 1, 1, 1, 1, 1}
	single := []int{0, 0, 0, 0, 0, 1, 1, 1, 1, 2}
	pairs := strings.Split("a a b b c c d d e e", " ")
	for _, test := range []struct {
		s      Splitter
		labels []int
		groups []string
		want   string
	}{
		{KFold{K: 11}, labels, nil, "11 folds of 10 cases; k must be 2 to the number of cases"},
		{KFold{K: 1}, labels, nil, "1 folds of 10 cases"},
		{KFold{K: -3}, labels, nil, "-3 folds"},
		{KFold{}, labels[:9], nil, "10 folds of 9 cases"},
		{KFold{K: 3}, single, nil, "splitter kfold: fold 0 would train without class 2, which has 1 case; add cases of that class"},
		{KFold{K: 2, Stratified: &no}, []int{0, 0, 0, 0, 1}, nil, "would train without class 1"},
		{KFold{K: 2}, []int{0, 0, 0}, nil, "all 3 cases are of class 0"},
		{KFold{K: 2}, []int{0}, nil, "fewer (1)"},
		{KFold{K: 2}, nil, nil, "fewer (0)"},
		{KFold{K: 2, Stratified: &yes}, nil, pairs, "stratified: true needs classes"},
		{KFold{K: 5}, labels, pairs, "in both parts; use group_kfold"},
		{RepeatedKFold{Repeats: -1}, labels, nil, "repeats: -1"},
		{RepeatedKFold{K: 11}, labels, nil, "11 folds of 10 cases"},
		{LeaveOneOut{}, single, nil, "fold 9 would train without class 2"},
		{LeaveOneOut{}, labels, pairs, `splitter leave_one_out: fold 0 would have cases of group "a" in both parts`},
		{HoldOut{TestSize: 1}, labels, nil, "test_size: 1"},
		{HoldOut{TestSize: -0.1}, labels, nil, "test_size: -0.1"},
		{HoldOut{TestSize: math.NaN()}, labels, nil, "test_size: NaN"},
		{HoldOut{TestSize: 0.01}, labels, nil, "10 training and 0 test cases"},
		{HoldOut{TestSize: 0.99, Stratified: &no}, labels, nil, "0 training and 10 test cases"},
		{HoldOut{Stratified: &yes}, nil, pairs, "stratified: true needs classes"},
		{HoldOut{TestSize: 0.5}, labels, pairs, "in both parts"},
		{GroupKFold{}, labels, nil, "no groups"},
		{GroupKFold{K: 6}, labels, pairs, "6 folds of 5 groups"},
		{GroupKFold{K: 2}, []int{0, 0, 1, 1}, []string{"a", "a", "b", "b"}, "would train without class"},
		{Predefined{}, labels, nil, "do not say to which fold"},
		{Predefined{}, labels, pairs, `case 1 is in fold "a", which is no whole number`}, {Predefined{}, []int{0, 1, 0, 1}, []string{"1.5", "1", "2", "2"}, `case 1 is in fold "1.5"`},
		{Predefined{}, []int{0, 1, 0, 1}, []string{"1", "0x1", "2", "2"}, `case 2 is in fold "0x1"`},
		{Predefined{}, []int{0, 1}, []string{"1", "1"}, "0 training and 2 test cases"},
		{Predefined{}, []int{0, 1, 1}, []string{"1", "2", "2"}, "fold 0 would train without class 0"},
	} {
		_, err := Split(test.s, max(len(test.labels), len(test.groups)), test.labels, test.groups, 1)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%T%+v: error %v, want %q", test.s, test.s, err, test.want)
		}
	}
	for want, of := range map[string]func(){
		"split: 10 cases, 10 labels and 9 groups": func() { Split(KFold{}, 10, labels, pairs[:9], 1) },
		"split: label -1 of case 2; labels are":   func() { Split(KFold{}, 4, []int{0, 1, -1, 0}, nil, 1) },
	} {
		if err := panicked.Try(of); err == nil || !strings.HasPrefix(err.Error(), "panic: "+want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A class of fewer than k cases is allowed if every training part contains it.
func TestSmallClass(t *testing.T) {
	labels := make([]int, 40)
	labels[3], labels[30] = 1, 1
	for seed := range uint64(20) {
		if _, err := (KFold{}).Split(len(labels), labels, nil, seed); err != nil {
			t.Fatal(err)
		}
	}
}

// Without a number there are ten folds of fewer than 500 cases or groups, and five of others.
func TestUsualFolds(t *testing.T) {
	groups := func(n int) (all []string) {
		for i := range 2 * n {
			all = append(all, fmt.Sprint(i%n))
		}
		return all
	}
	for n, want := range map[int]int{10: 10, 499: 10, 500: 5, 2000: 5} {
		for _, s := range []struct {
			Splitter
			cases, parts int
			groups       []string
		}{{KFold{}, n, want, nil}, {RepeatedKFold{Repeats: 2}, n, 2 * want, nil}, {GroupKFold{}, 2 * n, want, groups(n)}} {
			if all, err := s.Split(s.cases, nil, s.groups, 1); err != nil || len(all) != s.parts {
				t.Errorf("%T of %d: %d folds, want %d; %v", s.Splitter, n, len(all), s.parts, err)
			}
		}
	}
}

// A training set is divided into the usual number of folds, but at most one per group, as groups
// stay together. A given number of folds is used as it is.
func TestInner(t *testing.T) {
	labels, groups := []int{0, 1, 0, 1, 0, 1, 0, 1, 0, 1, 0, 1}, strings.Split("a a a a b b b b c c c c", " ")
	for _, c := range []struct {
		k, n   int
		groups []string
		want   int // folds; 0: an error
	}{{0, 12, nil, 5}, {3, 12, nil, 3}, {0, 4, nil, 4}, {0, 12, groups, 3}, {2, 12, groups, 2}, {4, 12, groups, 0}} {
		folds, err := Split(Inner(c.k, 5, c.n, c.groups), c.n, labels[:c.n], c.groups, 1)
		if len(folds) != c.want || (err == nil) != (c.want > 0) {
			t.Errorf("%+v: %d folds, %v", c, len(folds), err)
		}
	}
}

// TestGroupsOfOneClassEach: a group of a class that no part has yet goes to the part with the
// fewest cases. Of groups of 5 and 3 of one class and 4 and 2 of the other, 4 goes to the part
// without 5, and each smaller group to the part without its class.
func TestGroupsOfOneClassEach(t *testing.T) {
	var labels []int
	var groups []string
	for g, size := range []int{5, 4, 3, 2} {
		for range size {
			labels, groups = append(labels, g%2), append(groups, string(rune('a'+g)))
		}
	}
	parts, err := GroupKFold{K: 2, Stratified: true}.Split(len(labels), labels, groups, 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(parts[0].Test) != 7 || len(parts[1].Test) != 7 {
		t.Errorf("parts of %d and %d cases, want 7 of each", len(parts[0].Test), len(parts[1].Test))
	}
}

// TestHoldOutIsOneFold: HoldOut gives only fold 0 of repeat 0.
func TestHoldOutIsOneFold(t *testing.T) {
	parts, err := HoldOut{}.Split(20, nil, nil, 1)
	if err != nil {
		t.Fatal(err)
	}
	if len(parts) != 1 || parts[0].Repeat != 0 || parts[0].Fold != 0 || len(parts[0].Test) != 4 || len(parts[0].Train) != 16 {
		t.Errorf("%+v", parts)
	}
}

// TestFoldsAreBounded: 7 071 folds of 7 071 cases are below 50 million, 7 072 of 7 072 above; with
// ten cases five million folds are exactly the limit.
func TestFoldsAreBounded(t *testing.T) {
	for _, c := range []struct {
		n, folds int
		good     bool
	}{{7071, 7071, true}, {7072, 7072, false}, {10, 5_000_000, true}, {10, 5_000_001, false}, {1, 50_000_001, false}, {0, 1 << 40, true}, {1 << 40, 1, false}} {
		if err := bounded(c.n, c.folds); (err == nil) != c.good {
			t.Errorf("%d folds of %d cases: %v", c.folds, c.n, err)
		}
	}
}

// A part is held out: neither none nor all.
func TestHeldOutShare(t *testing.T) {
	for size, ok := range map[float64]bool{0: true, 0.01: true, 0.99: true, 1: false, -0.1: false, 1.5: false} {
		if _, err := (HoldOut{TestSize: size}).Split(200, nil, nil, 1); (err == nil) != ok {
			t.Errorf("%v: %v", size, err)
		}
	}
	if _, err := (HoldOut{TestSize: math.NaN()}).Split(200, nil, nil, 1); err == nil {
		t.Error("NaN of the cases are held out")
	}
}
