package picture

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/internal/cause"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// listed are the panels of a figure in short: the title, the labels of the axes, and the names of
// its lines.
func listed(f figure.Figure) (all []string) {
	for _, p := range f.Panels {
		var names []string
		for _, l := range p.Layers {
			switch l := l.(type) {
			case figure.Line:
				names = append(names, l.Name)
			case figure.Contours:
				names = append(names, "contours of "+l.Name)
			}
		}
		all = append(all, fmt.Sprintf("%s|%s|%s|%s", p.Title, p.X.Label, p.Y.Label, strings.Join(names, "; ")))
	}
	return all
}

func columns(names string, rows ...[]record.Number) (all []record.Column) {
	for k, name := range strings.Fields(names) {
		c := record.Column{Name: name}
		for _, row := range rows {
			c.Values = append(c.Values, row[k])
		}
		all = append(all, c)
	}
	return all
}

func drawnOnce(t *testing.T, kind string, all ...record.Illustration) figure.Figure {
	t.Helper()
	for k := range all {
		all[k].Kind = kind
	}
	figures := pictured(t, kind, &reports.Report{Illustrations: all})
	if len(figures) != 1 || figures[0].Name != kind+"-0" {
		t.Fatalf("%d figures of %s", len(figures), kind)
	}
	return figures[0]
}

func lineOf(t *testing.T, f figure.Figure, panel, layer int) figure.Line {
	t.Helper()
	l, is := f.Panels[panel].Layers[layer].(figure.Line)
	if !is {
		t.Fatalf("layer %d of panel %d is %T", layer, panel, f.Panels[panel].Layers[layer])
	}
	return l
}

// The posterior of one value is shown with prior, likelihood and the Gaussians of the methods, and
// once more without the likelihood.
func TestPosteriorOfOne(t *testing.T) {
	i := record.Illustration{Likelihood: reporttest.Declared("probit"), Labels: []record.Number{1},
		Prior:   &record.Gaussian{Mean: []record.Number{0}, Covariance: [][]record.Number{{4}}},
		Exact:   &record.Gaussian{Mean: []record.Number{1}, Covariance: [][]record.Number{{2}}},
		Columns: columns("f prior likelihood exact", []record.Number{-2, 1, 2, 3}, []record.Number{0, 4, 5, 6}, []record.Number{3, 7, 8, 9}),
		Approximations: []record.Approximated{
			{Inference: reporttest.Declared("ep"), Gaussian: &record.Gaussian{Mean: []record.Number{1}, Covariance: [][]record.Number{{4}}}},
			{Inference: reporttest.Declared("laplace"), Failure: cause.Notice{Text: "no mode"}},
			{Inference: reporttest.Declared("pl"), Failure: cause.Notice{Text: "no mode"}},
			{Inference: reporttest.Declared("variational"), Failure: cause.Notice{Text: "no mode"}},
		}}
	f := drawnOnce(t, "posterior", i)
	looks := map[int]bool{} // the first seven, each once
	for _, name := range []string{"likelihood", "prior N(0, 4)", "exact posterior density", "ep", "laplace", "pl", "variational"} {
		look, is := f.Looks[name]
		if !is || look > 6 || looks[look] {
			t.Errorf("%s has the look %d, among %v", name, look, f.Looks)
		}
		looks[look] = true
	}
	want := []string{"|latent f|likelihood p(y = +1|f), and densities|likelihood; prior N(0, 4); exact posterior density; ep",
		"|latent f|density|prior N(0, 4); exact posterior density; ep"}
	if got := listed(f); !slices.Equal(got, want) || f.Columns != 2 {
		t.Errorf("%q in %d columns", got, f.Columns)
	}
	if !slices.Contains(f.Notes, "laplace fails: no mode") {
		t.Errorf("notes %q", f.Notes)
	}
	x := []float64{-2, 0, 3}
	for k, y := range [][]float64{{2, 5, 8}, {1, 4, 7}, {3, 6, 9}, nil} {
		l := lineOf(t, f, 0, k)
		if k == 3 { // N(1, 4)
			for _, v := range x {
				y = append(y, math.Exp(-(v-1)*(v-1)/8)/math.Sqrt(8*math.Pi))
			}
		}
		for n := range x {
			if l.X[n] != x[n] || math.Abs(l.Y[n]-y[n]) > 1e-15 {
				t.Errorf("%s: %v over %v, want %v", l.Name, l.Y, l.X, y)
			}
		}
	}
	if p := f.Panels[0]; p.X.Lo != -2 || p.X.Hi != 3 {
		t.Errorf("from %v to %v", p.X.Lo, p.X.Hi)
	}
}

// The posterior of two values has a panel for each method: level lines of the exact density, the
// path of the means, and ellipses at three standard deviations.
func TestPosteriorOfTwo(t *testing.T) {
	gaussian := func(a, b, aa, ab, bb record.Number) *record.Gaussian {
		return &record.Gaussian{Mean: []record.Number{a, b}, Covariance: [][]record.Number{{aa, ab}, {ab, bb}}}
	}
	var rows [][]record.Number
	for _, b := range []record.Number{-10, 0, 10} { // a cone over an unequal lattice
		for _, a := range []record.Number{-8, 0, 8} {
			rows = append(rows, []record.Number{a, b, 8 - record.Number(math.Abs(float64(a)))/2 - record.Number(math.Abs(float64(b)))/5})
		}
	}
	i := record.Illustration{Likelihood: reporttest.Declared("probit"), Labels: []record.Number{1, -1}, Prior: gaussian(0, 0.5, 1, 0, 1), Exact: gaussian(0, 0, 1, 0, 1),
		Columns: columns("f1 f2 exact", rows...), Approximations: []record.Approximated{
			{Inference: reporttest.Declared("ep"), Gaussian: gaussian(1, -1, 1, 0.6, 1), Iterates: []record.Gaussian{*gaussian(2, 3, 4, 0, 0.25)}},
			{Inference: reporttest.Declared("laplace"), Failure: cause.Notice{Text: "no mode"}},
			{Inference: reporttest.Declared("pl"), Gaussian: gaussian(0, 0, 1, 0, 1)},
		}}
	f := drawnOnce(t, "posterior", i)
	lines := "contours of exact posterior density; "
	want := []string{"ep|f1|f2|" + lines + "; means of the iterates; approximation, 3 standard deviations", "laplace (fails)|f1|f2|contours of exact posterior density",
		"pl|f1|f2|" + lines + "approximation, 3 standard deviations"}
	if got := listed(f); !slices.Equal(got, want) || f.Columns != 3 {
		t.Errorf("%q in %d columns", got, f.Columns)
	}
	c := f.Panels[0].Layers[0].(figure.Contours)
	if !slices.Equal(c.X, []float64{-8, 0, 8}) || !slices.Equal(c.Y, []float64{-10, 0, 10}) || !slices.Equal(c.Z[0], []float64{2, 6, 2}) ||
		!slices.Equal(c.Z[1], []float64{4, 8, 4}) || len(c.Levels) != 7 || c.Levels[0] != 1 || c.Levels[6] != 7 {
		t.Errorf("%+v", c)
	}
	if way := lineOf(t, f, 0, 2); !slices.Equal(way.X, []float64{0, 2}) || !slices.Equal(way.Y, []float64{0.5, 3}) || !way.Markers {
		t.Errorf("way %+v", way)
	}
	for layer, g := range map[int]*record.Gaussian{1: gaussian(2, 3, 4, 0, 0.25), 3: gaussian(1, -1, 1, 0.6, 1)} {
		l := lineOf(t, f, 0, layer)
		aa, ab, bb := float64(g.Covariance[0][0]), float64(g.Covariance[0][1]), float64(g.Covariance[1][1])
		for k := range l.X {
			u, v := l.X[k]-float64(g.Mean[0]), l.Y[k]-float64(g.Mean[1])
			if d := (bb*u*u - 2*ab*u*v + aa*v*v) / (aa*bb - ab*ab); math.Abs(d-9) > 1e-9 { // Mahalanobis
				t.Fatalf("layer %d: (%v, %v) is at %v standard deviations squared", layer, l.X[k], l.Y[k], d)
			}
		}
		if l.Faint != (l.Name == "") || len(l.X) < 50 || math.Hypot(l.X[0]-l.X[len(l.X)-1], l.Y[0]-l.Y[len(l.Y)-1]) > 1e-9 {
			t.Errorf("layer %d: %q, faint %v, %d points", layer, l.Name, l.Faint, len(l.X))
		}
	}
	// One scale for all methods: the density above a hundredth of its top, which is everywhere.
	for _, p := range f.Panels {
		if p.X.Lo != -8 || p.X.Hi != 8 || p.Y.Lo != -10 || p.Y.Hi != 10 || !p.Square {
			t.Errorf("%s: %+v, %+v", p.Title, p.X, p.Y)
		}
	}
	for n, columns := range map[int]int{1: 1, 2: 2, 4: 2, 5: 3} {
		i.Approximations = nil
		for k := range n {
			i.Approximations = append(i.Approximations, record.Approximated{Inference: reporttest.Declared(fmt.Sprintf("{ep: {damping: 0.%d}}", k+1))})
		}
		if f := drawnOnce(t, "posterior", i); f.Columns != columns || len(f.Panels) != n {
			t.Errorf("%d panels of %d methods in %d columns, want %d", len(f.Panels), n, f.Columns, columns)
		}
	}
}

// Likelihoods, softmax and cavities are lines over their first column.
func TestLinesOfIllustrations(t *testing.T) {
	lik := record.Illustration{Likelihood: reporttest.Declared("probit"), Labels: []record.Number{-1}, Columns: columns(
		"f log_likelihood first_derivative second_derivative third_derivative", []record.Number{-1, 1, 2, 3, 4}, []record.Number{1, 5, 6, 7, 8})}
	f := drawnOnce(t, "likelihood", lik)
	if got := listed(f); len(got) != 1 || got[0] != "|latent f|log p(y = -1|f)|log likelihood; first derivative; second derivative" || f.Columns != 1 {
		t.Errorf("%q in %d columns", got, f.Columns)
	}
	if l := lineOf(t, f, 0, 2); !slices.Equal(l.Y, []float64{3, 7}) {
		t.Errorf("%+v", l)
	}
	soft := record.Illustration{Likelihood: reporttest.Declared("softmax"), Columns: columns(
		"f1 p1 p2 averaged1 averaged2 eigenvalue1 eigenvalue2", []record.Number{-1, 1, 2, 3, 4, 5, 6}, []record.Number{1, 7, 8, 9, 10, 11, 12})}
	f = drawnOnce(t, "softmax", soft)
	want := []string{"|mean of f1|probability at the mean|class 1; class 2", "|mean of f1|averaged probability|class 1; class 2", "|mean of f1|eigenvalues of W|eigenvalue 1; eigenvalue 2"}
	if got := listed(f); !slices.Equal(got, want) || f.Columns != 3 {
		t.Errorf("%q in %d columns", got, f.Columns)
	}
	if l := lineOf(t, f, 1, 1); !slices.Equal(l.Y, []float64{4, 10}) || f.Panels[1].X.Lo != -1 || f.Panels[1].X.Hi != 1 {
		t.Errorf("%+v", l)
	}
	cavity := record.Illustration{Likelihood: reporttest.Declared("probit"), Columns: columns("precision mean variance cavity_mean cavity_variance",
		[]record.Number{0, 1, 2, 3, 4}, []record.Number{2, 5, 6, 7, 8})}
	f = drawnOnce(t, "cavity", cavity)
	want = []string{"|precision of the first site|mean of f1|marginal; cavity", "|precision of the first site|variance of f1|marginal; cavity"}
	if got := listed(f); !slices.Equal(got, want) || f.Columns != 2 {
		t.Errorf("%q in %d columns", got, f.Columns)
	}
	if l := lineOf(t, f, 1, 1); !slices.Equal(l.Y, []float64{4, 8}) {
		t.Errorf("%+v", l)
	}
}

// Draws are drawn in the order of their input. A second panel shows the values that the likelihood
// gives them.
func TestDrawsOfPriors(t *testing.T) {
	draws := func(n int, proba bool) record.Illustration {
		i := record.Illustration{Kernel: reporttest.Declared("se"), Columns: columns("x", []record.Number{3}, []record.Number{1}, []record.Number{2})}
		for _, letter := range []string{"f", "p"}[:1+map[bool]int{true: 1}[proba]] {
			for k := range n {
				i.Columns = append(i.Columns, record.Column{Name: fmt.Sprint(letter, k+1), Values: []record.Number{30, 10, record.Number(20 + k)}})
			}
		}
		return i
	}
	f := drawnOnce(t, "prior", draws(2, true))
	want := []string{"|x|latent f|draw 1; draw 2", "|x|p(y = +1)|draw 1; draw 2"}
	if got := listed(f); !slices.Equal(got, want) || f.Columns != 2 {
		t.Errorf("%q in %d columns", got, f.Columns)
	}
	if l := lineOf(t, f, 0, 1); !slices.Equal(l.X, []float64{1, 2, 3}) || !slices.Equal(l.Y, []float64{10, 21, 30}) || !l.Markers {
		t.Errorf("%+v", l)
	}
	if p := f.Panels[1]; p.Y.Lo != 0 || p.Y.Hi != 1 || p.X.Lo != 1 || p.X.Hi != 3 {
		t.Errorf("%+v", p)
	}
	for n, names := range map[int]string{7: "draw 1; draw 2; draw 3; draw 4; draw 5; draw 6; draw 7", 8: "; ; ; ; ; ; ; "} {
		if got := listed(drawnOnce(t, "prior", draws(n, false))); len(got) != 1 || got[0] != "|x|latent f|"+names {
			t.Errorf("%d draws: %q", n, got)
		}
	}
	for n, columns := range map[int]int{1: 1, 2: 2, 3: 3, 4: 3} {
		var all []record.Illustration
		for k := range n {
			one := draws(1, false)
			one.Kernel = reporttest.Declared([]string{"se", "linear", "matern32", "noise"}[k])
			all = append(all, one)
		}
		if f := drawnOnce(t, "prior", all...); f.Columns != columns || len(f.Panels) != n {
			t.Errorf("%d priors: %d panels in %d columns", n, len(f.Panels), f.Columns)
		}
	}
	of := record.Illustration{Kernel: reporttest.Declared("se"), Classes: []string{"a", "b"}, Columns: columns("x", []record.Number{1}, []record.Number{2})}
	for k := range 8 {
		for _, name := range []string{"f%d[a]", "f%d[b]", "p%d[a]", "p%d[b]"} {
			of.Columns = append(of.Columns, record.Column{Name: fmt.Sprintf(name, k+1), Values: []record.Number{0, 1}})
		}
	}
	f = drawnOnce(t, "prior", of)
	if got := listed(f); len(got) != 14 || got[0] != "draw 1|x|latent f|class a; class b" || got[13] != "draw 7|x|p(y)|class a; class b" ||
		!slices.Contains(f.Notes, "the first 7 of 8 draws") {
		t.Errorf("%q, %q", got, f.Notes)
	}
}
