package preprocess

import (
	"encoding/json"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/gpc-tune/gpc-tune/internal/cause"
)

// inputs draws n cases of d correlated columns whose means and scales differ by powers of ten.
func inputs(n, d int, seed uint64) *mat.Dense {
	r := rand.New(rand.NewPCG(seed, 0))
	x := mat.NewDense(n, d, nil)
	for i := range n {
		common := r.NormFloat64()
		for j := range d {
			scale := math.Pow(10, float64(j%7-3))
			x.Set(i, j, scale*(float64(10*j)+r.NormFloat64()+0.8*common))
		}
	}
	return x
}

// moments returns the exact mean and covariance (divisor n) of the columns of x, rounded once at the end.
func moments(x *mat.Dense) (mean []float64, cov *mat.SymDense) {
	n, d := x.Dims()
	mean, cov = make([]float64, d), mat.NewSymDense(d, nil)
	exact := func(v float64) *big.Float { return new(big.Float).SetPrec(300).SetFloat64(v) }
	size := exact(float64(n))
	centred := make([][]*big.Float, d)
	for j := range d {
		sum := exact(0)
		for i := range n {
			sum.Add(sum, exact(x.At(i, j)))
		}
		mu := new(big.Float).Quo(sum, size)
		mean[j], _ = mu.Float64()
		for i := range n {
			centred[j] = append(centred[j], new(big.Float).Sub(exact(x.At(i, j)), mu))
		}
		for k := range j + 1 {
			sum := exact(0)
			for i := range n {
				sum.Add(sum, new(big.Float).Mul(centred[j][i], centred[k][i]))
			}
			v, _ := new(big.Float).Quo(sum, size).Float64()
			cov.SetSym(j, k, v)
		}
	}
	return mean, cov
}

func rows(values ...[]float64) *mat.Dense {
	m := mat.NewDense(len(values), len(values[0]), nil)
	for i, v := range values {
		m.SetRow(i, v)
	}
	return m
}

func fit(t testing.TB, x *mat.Dense, how, missing string) (*Map, []cause.Notice) {
	t.Helper()
	p, warnings, err := Fit(x, how, missing)
	if err != nil {
		t.Fatal(err)
	}
	return p, warnings
}

func TestNoneChangesNothing(t *testing.T) {
	x := inputs(20, 3, 1)
	for _, how := range []string{"", "none"} {
		if p, _ := fit(t, x, how, ""); !mat.Equal(p.Apply(x), x) {
			t.Errorf("%q changes the inputs", how)
		}
	}
}

func TestStandardizeAgainstExactMoments(t *testing.T) {
	x := inputs(50, 8, 2)
	before := mat.DenseCopyOf(x)
	mu, cov := moments(x)
	p, _ := fit(t, x, "standardize", "")
	for j := range mu {
		if math.Abs(p.Mean[j]-mu[j]) > 4e-16*math.Abs(mu[j])+1e-18 || math.Abs(p.Scale[j]-math.Sqrt(cov.At(j, j))) > 1e-15*p.Scale[j] {
			t.Errorf("column %d: mean %v, exactly %v; deviation %v, exactly %v", j, p.Mean[j], mu[j], p.Scale[j], math.Sqrt(cov.At(j, j)))
		}
	}
	mu, cov = moments(p.Apply(x))
	for j := range mu {
		if math.Abs(mu[j]) > 1e-13 || math.Abs(cov.At(j, j)-1) > 1e-14 {
			t.Errorf("column %d is left with mean %v, variance %v", j, mu[j], cov.At(j, j))
		}
	}
	if !mat.Equal(x, before) {
		t.Error("the inputs were changed")
	}
}

// Test data are mapped with the training statistics: the map is affine and fixed.
func TestApplyUsesTrainingStatistics(t *testing.T) {
	x := inputs(40, 4, 3)
	train, other := mat.DenseCopyOf(x.Slice(0, 30, 0, 4)), mat.DenseCopyOf(x.Slice(30, 40, 0, 4))
	for _, how := range Table.Names() {
		p, _ := fit(t, train, how, "")
		var both mat.Dense
		both.Stack(train, other)
		want := p.Apply(&both).Slice(30, 40, 0, 4)
		if !mat.EqualApprox(p.Apply(other), want, 1e-12) { // the products may use other blocks
			t.Errorf("%s: a case is mapped in a way that depends on its company", how)
		}
	}
	p, _ := fit(t, train, "standardize", "")
	if got, want := p.Apply(other).At(5, 2), (other.At(5, 2)-p.Mean[2])/p.Scale[2]; got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestConstantColumnsAreOnlyCentred(t *testing.T) {
	x := inputs(7, 3, 4)
	for i := range 7 {
		x.Set(i, 1, 0.1) // 7 × 0.1 / 7 is not 0.1
	}
	p, _ := fit(t, x, "standardize", "")
	if z := p.Apply(rows([]float64{0, 0.1, 0}, []float64{0, 2.1, 0})); p.Scale[1] != 1 || z.At(0, 1) != 0 || z.At(1, 1) != 2 {
		t.Errorf("scale %v, values %v %v", p.Scale[1], z.At(0, 1), z.At(1, 1))
	}
}

// Names are left as they are.
func TestNamesAreNotStandardized(t *testing.T) {
	x := rows([]float64{3, 1}, []float64{5, 2}, []float64{3, 3})
	p, _, err := Fit(x, "standardize", "", true, false)
	if err != nil {
		t.Fatal(err)
	}
	z, s := p.Apply(x), math.Sqrt(1.5)
	if want := rows([]float64{3, -s}, []float64{5, 0}, []float64{3, s}); !mat.EqualApprox(z, want, 1e-15) {
		t.Errorf("%v", mat.Formatted(z))
	}
	if p, _, err = Fit(x, "power", "", true, false); err != nil {
		t.Fatal(err)
	}
	if z := p.Apply(x); z.At(0, 0) != 3 || z.At(1, 0) != 5 || z.At(2, 0) != 3 {
		t.Errorf("power: %v", mat.Formatted(z))
	}
}

// 1, 2, 4 have the deviation √14/3 about their mean 7/3; a mean that is off by 1/3 changes nothing.
func TestDeviationCorrectsTheMean(t *testing.T) {
	if got, want := deviation([]float64{1, 2, 4}, nil, 2), math.Sqrt(14)/3; math.Abs(got-want) > 1e-15 {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestStandardizeExtremeScales(t *testing.T) {
	for _, unit := range []float64{1e-300, 1e-160, 1, 1e99} {
		x := rows([]float64{1 * unit}, []float64{2 * unit}, []float64{4 * unit})
		p, _ := fit(t, x, "standardize", "")
		z := p.Apply(x)
		for i, want := range []float64{-4 / math.Sqrt(14), -1 / math.Sqrt(14), 5 / math.Sqrt(14)} {
			if math.Abs(z.At(i, 0)-want) > 1e-14 {
				t.Errorf("unit %v: %v, want %v", unit, z.At(i, 0), want)
			}
		}
	}
	// The deviation of the smallest number and 0 is half that number, which is 0.
	if p, _ := fit(t, rows([]float64{0}, []float64{5e-324}), "standardize", ""); p.Scale[0] != 1 {
		t.Errorf("scale %v", p.Scale[0])
	}
	// Only differences between the numbers matter, also where their sum overflows.
	far := rows([]float64{1.1e308}, []float64{1.2e308}, []float64{1.4e308})
	p, _ := fit(t, far, "standardize", "")
	for i, want := range []float64{-4 / math.Sqrt(14), -1 / math.Sqrt(14), 5 / math.Sqrt(14)} {
		if z := p.Apply(far).At(i, 0); math.Abs(z-want) > 1e-14 {
			t.Errorf("far from 0: %v, want %v", z, want)
		}
	}
	// Small differences on a large offset lose no digits.
	x := rows([]float64{1e9}, []float64{1e9 + 1}, []float64{1e9 + 2})
	p, _ = fit(t, x, "standardize", "")
	if z := p.Apply(x).At(2, 0); math.Abs(z-math.Sqrt(1.5)) > 1e-15 {
		t.Errorf("%v, want %v", z, math.Sqrt(1.5))
	}
}

func TestWhitenGivesIdentityCovariance(t *testing.T) {
	for _, size := range [][2]int{{50, 1}, {50, 4}, {9, 7}, {300, 8}} {
		x := inputs(size[0], size[1], 5)
		p, warnings := fit(t, x, "whiten", "")
		if len(warnings) > 0 {
			t.Errorf("%v: warnings %q", size, warnings)
		}
		d := size[1]
		mu, cov := moments(p.Apply(x))
		// The singular values span up to 7 decades; each is accurate to 1e-16 of the largest.
		for j := range d {
			if math.Abs(mu[j]) > 1e-8 {
				t.Errorf("%v: mean %v", size, mu[j])
			}
			for k := range d {
				want := 0.0
				if j == k {
					want = 1
				}
				if math.Abs(cov.At(j, k)-want) > 1e-8 {
					t.Errorf("%v: covariance (%d, %d) is %v", size, j, k, cov.At(j, k))
				}
			}
		}
		// Of all whitening maps ZCA is the one with a symmetric positive definite matrix; its columns are the images
		// of the unit vectors minus the image of 0.
		ones := mat.NewDense(d+1, d, nil)
		for j := range d {
			ones.Set(j, j, 1)
		}
		z := p.Apply(ones)
		w := mat.NewSymDense(d, nil)
		for j := range d {
			for k := range d {
				v, mirrored := z.At(j, k)-z.At(d, k), z.At(k, j)-z.At(d, j)
				if math.Abs(v-mirrored) > 1e-9*mat.Max(z) {
					t.Errorf("%v: W is not symmetric at (%d, %d)", size, j, k)
				}
				w.SetSym(j, k, v)
			}
		}
		var eigen mat.EigenSym
		if !eigen.Factorize(w, false) || eigen.Values(nil)[0] <= 0 {
			t.Errorf("%v: W has the eigenvalues %v", size, eigen.Values(nil))
		}
	}
}

// Whitening does not depend on a unit that all columns have.
func TestWhitenInOtherUnits(t *testing.T) {
	x := inputs(30, 4, 5)
	p, _ := fit(t, x, "whiten", "")
	want := p.Apply(x)
	for _, unit := range []float64{1e-12, 1e12} {
		other := mat.DenseCopyOf(x)
		other.Scale(unit, x)
		p, warnings := fit(t, other, "whiten", "")
		if z := p.Apply(other); len(warnings) > 0 || !mat.EqualApprox(z, want, 1e-7) {
			t.Errorf("unit %v: warnings %q, cases\n%.3f\nwant\n%.3f", unit, warnings, mat.Formatted(z),
				mat.Formatted(want))
		}
	}
}

// With far more columns than cases the matrix W would not fit into memory. The whitened cases are equally far from
// each other in their n-1 directions: the corners of a simplex, |z_i - z_j|² = 2n.
func TestWhitenMoreColumnsThanCases(t *testing.T) {
	const n, d = 6, 100_000
	x := inputs(n, d, 7)
	p, warnings := fit(t, x, "whiten", "")
	if len(warnings) != 1 || !strings.Contains(warnings[0].Text, "vary in 5 of 100000 directions") {
		t.Errorf("warnings %q", warnings)
	}
	z := p.Apply(x)
	for i := range n {
		for j := range i {
			if r := floats.Distance(z.RawRowView(i), z.RawRowView(j), 2); math.Abs(r*r-2*n) > 1e-6 {
				t.Errorf("cases %d and %d are %v apart, want √%d", i, j, r, 2*n)
			}
		}
	}
}

func TestWhitenProjectsOutWhatDoesNotVary(t *testing.T) {
	x := inputs(30, 3, 6)
	wide := mat.NewDense(30, 5, nil)
	for i := range 30 {
		a, b, c := x.At(i, 0), x.At(i, 1), x.At(i, 2)
		wide.SetRow(i, []float64{a, b, c, a + 2*b, 0.3})
	}
	p, warnings := fit(t, wide, "whiten", "")
	if len(warnings) != 1 || !strings.Contains(warnings[0].Text, "vary in 3 of 5 directions") {
		t.Errorf("warnings %q", warnings)
	}
	// The covariance is the projection onto the 3 directions.
	_, cov := moments(p.Apply(wide))
	var square mat.Dense
	square.Mul(cov, cov)
	if trace := mat.Trace(cov); math.Abs(trace-3) > 1e-9 || !mat.EqualApprox(&square, cov, 1e-9) {
		t.Errorf("covariance %v", mat.Formatted(cov))
	}
	// Columns that are functions of others up to the rounding of large values do not count as varying either.
	for i := range 30 {
		a, b := 1e6+float64(i*i%7)/3, 2e7-float64(i%5)/7
		wide.SetRow(i, []float64{a, b, 1.1*a + 3, b - a/3, a / 7})
	}
	if _, warnings := fit(t, wide, "whiten", ""); len(warnings) != 1 || !strings.Contains(warnings[0].Text, "vary in 2 of 5 directions") {
		t.Errorf("warnings %q", warnings)
	}
	for i := range 30 {
		a, b, c := x.At(i, 0), x.At(i, 1), x.At(i, 2)
		wide.SetRow(i, []float64{a, b, c, a + 2*b, 0.3})
	}
	// Variation that occurs only in the test data is projected out as well.
	off := mat.NewDense(2, 5, nil)
	off.SetRow(0, []float64{1, 1, 1, 3, 0.3})
	off.SetRow(1, []float64{1, 1, 1, 3, 7})
	if z := p.Apply(off); !mat.EqualApprox(z.Slice(0, 1, 0, 5), z.Slice(1, 2, 0, 5), 1e-9) {
		t.Errorf("%v", mat.Formatted(z))
	}

	few := mat.DenseCopyOf(inputs(4, 6, 7)) // more columns than cases
	if _, warnings := fit(t, few, "whiten", ""); len(warnings) != 1 || !strings.Contains(warnings[0].Text, "vary in 3 of 6 directions") {
		t.Errorf("warnings %q", warnings)
	}
	still := rows([]float64{1, 2}, []float64{1, 2})
	if p, _ := fit(t, still, "whiten", ""); mat.Norm(p.Apply(still), 1) != 0 || mat.Norm(p.Apply(off.Slice(0, 2, 0, 2).(*mat.Dense)), 1) != 0 {
		t.Error("by cases that do not vary not everything is mapped to 0")
	}
}

func TestRowOrderDoesNotMatter(t *testing.T) {
	x := inputs(40, 5, 8)
	x.Set(3, 2, math.NaN())
	shuffled := mat.NewDense(40, 5, nil)
	for i, k := range rand.New(rand.NewPCG(9, 0)).Perm(40) {
		shuffled.SetRow(i, x.RawRowView(k))
	}
	for _, how := range Table.Names() {
		for _, missing := range []string{"mean", "median"} {
			p, _ := fit(t, x, how, missing)
			q, _ := fit(t, shuffled, how, missing)
			if !mat.EqualApprox(p.Apply(x), q.Apply(x), 1e-9) {
				t.Errorf("%s, %s: another order of the rows gives another map", how, missing)
			}
		}
	}
}

func TestImputationIsFittedOnTheTrainingPart(t *testing.T) {
	nan := math.NaN()
	train := rows([]float64{1, 5}, []float64{2, nan}, []float64{nan, 7}, []float64{9, nan})
	other := rows([]float64{nan, nan}, []float64{100, nan})
	for missing, want := range map[string][]float64{"mean": {4, 6}, "median": {2, 6}} {
		p, _ := fit(t, train, "none", missing)
		if z := p.Apply(other); !mat.Equal(z, rows(want, []float64{100, want[1]})) {
			t.Errorf("%s: %v", missing, mat.Formatted(z))
		}
	}
	p, _ := fit(t, train, "standardize", "mean")
	if p.Mean[0] != 4 || p.Scale[1] != math.Sqrt(0.5) || p.Apply(other).At(0, 0) != 0 {
		t.Errorf("standardized after imputation: %+v", p)
	}
	if !math.IsNaN(train.At(1, 1)) {
		t.Error("the inputs were changed")
	}
}

func TestFitRefuses(t *testing.T) {
	nan := math.NaN()
	for name, f := range map[string]struct {
		x            *mat.Dense
		how, missing string
		want         string
	}{
		"missing":          {rows([]float64{1, 2}, []float64{3, nan}), "none", "error", "case 2 has NaN as input 2"},
		"missing at first": {rows([]float64{nan, 2}, []float64{3, 4}), "none", "error", "case 1 has NaN as input 1"},
		"names in a mix":   {rows([]float64{1, 2}, []float64{3, 4}), "whiten", "", "whiten would mix input 2, which holds names"},
		"infinite":         {rows([]float64{1, 2}, []float64{math.Inf(-1), 3}), "none", "mean", "case 2 has -Inf as input 1"},
		"nothing to go by": {rows([]float64{1, nan}, []float64{3, nan}), "none", "median", "input 2 has no value in these 2 cases"},
		"unknown":          {rows([]float64{1}), "standardise", "", `did you mean "standardize"?`},
	} {
		if _, _, err := Fit(f.x, f.how, f.missing, false, true); err == nil || !strings.Contains(err.Error(), f.want) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestApplyPanicsOnWhatItWasNotFittedFor(t *testing.T) {
	p, _ := fit(t, inputs(5, 2, 1), "standardize", "error")
	for name, x := range map[string]*mat.Dense{"width": inputs(5, 3, 1), "missing": rows([]float64{1, math.NaN()})} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: no panic", name)
				}
			}()
			p.Apply(x)
		}()
	}
}

func TestMapSurvivesAModelFile(t *testing.T) {
	x := inputs(20, 4, 10)
	for _, how := range Table.Names() {
		p, _ := fit(t, x, how, "median")
		file, err := json.Marshal(p)
		if err != nil {
			t.Fatal(err)
		}
		var back Map
		if err := json.Unmarshal(file, &back); err != nil || !mat.Equal(back.Apply(x), p.Apply(x)) {
			t.Errorf("%s: %v", how, err)
		}
	}
}

func BenchmarkPreprocess(b *testing.B) {
	x := inputs(767, 256, 1)
	for _, how := range Table.Names() {
		b.Run(how, func(b *testing.B) {
			for b.Loop() {
				p, _ := fit(b, x, how, "")
				p.Apply(x)
			}
		})
	}
}

// TestChoice: the method and the cases of every form of a choice, and the errors of invalid ones.
func TestChoice(t *testing.T) {
	part, all := ofTraining, ofAll
	for _, c := range []struct {
		choice Choice
		name   string // name in tables
		all    bool
		want   string // part of the error
	}{
		{Choice{}, "none", false, ""},
		{Choice{How: "whiten"}, "whiten", false, ""},
		{Choice{Standardize: &part}, "standardize", false, ""},
		{Choice{Standardize: &all}, "standardize(all)", true, ""},
		{Choice{Whiten: &part}, "whiten", false, ""},
		{Choice{Whiten: &all}, "whiten(all)", true, ""},
		{Choice{Standardize: &all, Whiten: &part}, "standardize(all)", true, "standardize and whiten are both given"},
		{Choice{How: "whitened"}, "whitened", false, `did you mean "whiten"?`},
	} {
		err := c.choice.Check()
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
		if c.choice.String() != c.name || c.choice.All() != c.all {
			t.Errorf("%v of all %v, want %s of all %v", c.choice, c.choice.All(), c.name, c.all)
		}
	}
	name := Choice{Whiten: &all}
	if err := name.UnmarshalText([]byte("standardize")); err != nil || name != (Choice{How: "standardize"}) {
		t.Errorf("a name alone is %+v, error %v", name, err)
	}
	var c Cases
	if err := c.UnmarshalText([]byte("all")); err != nil || c != ofAll {
		t.Errorf("all is %d, error %v", c, err)
	}
	if err := c.UnmarshalText([]byte("al")); err == nil || !strings.Contains(err.Error(), `did you mean "all"?`) {
		t.Error(err)
	}
}

func TestMapCheck(t *testing.T) {
	x := mat.NewDense(4, 2, []float64{1, 2, 3, 5, 4, 4, 7, 1})
	for _, how := range Table.Names() {
		for _, missing := range []string{"error", "median"} {
			p, _, err := Fit(x, how, missing)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Check(2); err != nil {
				t.Errorf("%s, missing: %s: %v", how, missing, err)
			}
			if err := p.Check(3); err == nil && (how != "none" || missing != "error") {
				t.Errorf("%s, missing: %s: 3 columns were accepted", how, missing)
			}
		}
	}
	two := []float64{1, 2}
	if err := (&Map{How: "standardize", Mean: two, Scale: []float64{1e-300, 0.5}}).Check(2); err != nil {
		t.Error(err)
	}
	for _, p := range []Map{
		{}, {How: "norm"}, {How: "none", Mean: two}, {How: "none", Root: two}, {How: "standardize", Mean: two}, {How: "standardize", Mean: two, Scale: []float64{1, 0}},
		{How: "whiten"}, {How: "whiten", Mean: two, Root: []float64{1}}, {How: "whiten", Mean: two, Root: []float64{1, 2, 3, 4, 5, 6}}, {How: "whiten", Mean: two, Scale: two}, {How: "none", Impute: []float64{}},
	} {
		if p.Check(2) == nil {
			t.Errorf("%+v was accepted", p)
		}
	}
}
