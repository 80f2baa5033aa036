package picture

import (
	"bytes"
	"fmt"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/cv"
	"github.com/gpc-tune/gpc-tune/internal/testing/exhaustive"
	_ "github.com/gpc-tune/gpc-tune/internal/testing/garbage"
	"github.com/gpc-tune/gpc-tune/internal/testing/golden"
	"github.com/gpc-tune/gpc-tune/record"
	"github.com/gpc-tune/gpc-tune/reports"
	"github.com/gpc-tune/gpc-tune/reports/figure"
	"github.com/gpc-tune/gpc-tune/reports/picture/shown"
	"github.com/gpc-tune/gpc-tune/reports/picture/tuning"
	"github.com/gpc-tune/gpc-tune/reports/reporttest"
)

// of returns the layers of one type.
func of[L figure.Layer](p figure.Panel) (out []L) {
	for _, l := range p.Layers {
		if l, ok := l.(L); ok {
			out = append(out, l)
		}
	}
	return out
}

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance }

// A grid has three panels over the logarithms of its hyperparameters, with each value at its place
// and the best points marked.
func TestGridPictures(t *testing.T) {
	c := reporttest.Hill()
	fs := only(&reports.Report{Experiment: "e", Missing: 3, Configurations: []reports.Configuration{c}}, "grid")
	if len(fs) != 1 || fs[0].Name != "grid-0" || fs[0].Title != "Grid" || len(fs[0].Panels) != 3 {
		t.Fatalf("%+v", fs)
	}
	f := fs[0]
	if want := []string{"hills, likelihood probit, inference laplace, kernel se(ard: true), tune grid; 50 training cases, 2 inputs; scores of test, 200 cases; contours are interpolated between the points of the grid", "incomplete: at least 3 jobs are missing"}; !slices.Equal(f.Notes, want) {
		t.Errorf("notes %q", f.Notes)
	}
	for k, title := range []string{"log evidence (nats), best 100.00", "test information (bits per case), best 0.000", "errors (cases), best 20"} {
		p := f.Panels[k]
		if p.Title != title || p.X.Label != "ln length scale" || p.Y.Label != "ln amplitude" {
			t.Errorf("panel %q over %q and %q", p.Title, p.X.Label, p.Y.Label)
		}
		var x, y []float64
		var z [][]float64
		if k < 2 {
			l := of[figure.Contours](p)[0]
			x, y, z = l.X, l.Y, l.Z
		} else {
			l := of[figure.NumberGrid](p)[0]
			x, y, z = l.X, l.Y, l.Z
		}
		if len(x) != 11 || len(y) != 3 || len(z) != 3 {
			t.Fatalf("%s: a lattice of %d by %d", title, len(x), len(y))
		}
		for j, row := range z {
			for i, v := range row {
				want := []float64{float64(10 * i), reporttest.HillInformation(float64(i), float64(j)), float64(20 + (i-6)*(i-6) + 40*j)}[k]
				if !near(x[i], 0.5*float64(i), 1e-12) || !near(y[j], float64(j-1), 1e-12) || v != want {
					t.Errorf("%s: %v at %v, %v, want %v", title, v, x[i], y[j], want)
				}
			}
		}
		// The largest evidence is at (5, -1), the largest information at (2, -1), the fewest errors
		// at (3, -1).
		marks := of[figure.Mark](p)
		want := []figure.Mark{{Name: "best log evidence", X: 5, Y: -1}, {Name: "best of the panel", X: []float64{5, 2, 3}[k], Y: -1}}[:1+min(k, 1)]
		if len(marks) != len(want) {
			t.Fatalf("%s: marks %+v, want %+v", title, marks, want)
		}
		for i, m := range marks {
			if m.Name != want[i].Name || !near(m.X, want[i].X, 1e-12) || !near(m.Y, want[i].Y, 1e-12) {
				t.Errorf("%s: mark %+v, want %+v", title, m, want[i])
			}
		}
	}
}

// A hyperparameter that is not positive is not drawn on a logarithmic axis, and a score that no
// point has gives no panel.
func TestGridOfAnyNumbers(t *testing.T) {
	c := reporttest.Hill()
	c.Grid = nil
	for i := range 60 {
		for j := range 2 {
			evidence := reports.Number(i)
			c.Grid = append(c.Grid, reports.GridPoint{
				Point: reports.Values{{Name: "length_scale", Value: reports.Number(1 + i)}, {Name: "mean.constant", Value: reports.Number(j)}}, LogEvidence: &evidence,
				Scores: reports.Values{{Name: "errors", Value: reports.Number(1000 + (i-33)*(i-33) + j)}},
			})
		}
	}
	c.Best = c.BestPoints()
	f := only(&reports.Report{Configurations: []reports.Configuration{c}}, "grid")[0]
	if len(f.Panels) != 2 || f.Panels[1].Title != "errors (cases), best 1000" || f.Panels[1].Y.Label != "mean.constant" {
		t.Fatalf("panels %+v", f.Panels)
	}
}

func TestCurvePictures(t *testing.T) {
	r := &reports.Report{Configurations: []reports.Configuration{
		reporttest.Evaluated("probit", "laplace", cv.Estimate{Value: 0.1}, "error_reject", "information_reject", "calibration"),
		reporttest.Evaluated("logit", "laplace", cv.Estimate{Value: 0.2}, "error_reject", "information_reject", "calibration"),
	}}
	fs := All(r)
	if len(fs) != 1 || fs[0].Name != "curves-d-kfold" || fs[0].Title != "Curves of held-out cases" || len(fs[0].Panels) != 3 {
		t.Fatalf("%+v", fs)
	}
	for k, name := range []string{"error_reject", "information_reject", "calibration"} {
		p := fs[0].Panels[k]
		kind, _ := cv.CurveNamed(name)
		if p.Title != strings.ReplaceAll(name, "_", "-") || p.X.Label != kind.X || p.Y.Label != kind.Y {
			t.Errorf("panel %q over %q and %q", p.Title, p.X.Label, p.Y.Label)
		}
		lines := of[figure.Line](p)
		const points = 91 // until ten cases are left, or share a bin
		if kind.Diagonal {
			if d := lines[0]; !d.Dashed || d.Name != "" || !slices.Equal(d.X, []float64{0, 0.9}) || !slices.Equal(d.Y, d.X) {
				t.Errorf("the diagonal is %+v", d)
			}
			lines = lines[1:]
		}
		if len(lines) != 2 || lines[0].Name != "#0 probit" || lines[1].Name != "#1 logit" {
			t.Fatalf("%s: %+v", name, lines)
		}
		for c, line := range lines {
			if len(line.X) != points {
				t.Errorf("%s of %s: %d points, want %d", name, line.Name, len(line.X), points)
			}
			for i := range line.X {
				if line.X[i] != float64(i)/100 || line.Y[i] != []float64{0.1, 0.2}[c]+float64(i*i)/2e4 {
					t.Fatalf("%s of %s: %v, %v", name, line.Name, line.X[i], line.Y[i])
				}
			}
		}
	}
}

// With at most three members intervals are drawn, below all lines: a band along each line, bars for
// the calibration. The axis covers all lines in full, and the bands while at least a quarter of the
// cases is left.
func TestCurveIntervals(t *testing.T) {
	var r reports.Report
	for i := range 4 {
		c := reporttest.Evaluated("probit", fmt.Sprint("method_", i), cv.Estimate{Value: 0.1}, "information_reject", "calibration")
		for k := range c.Curves {
			s := &c.Curves[k].Series
			for _, y := range s.Y {
				s.Lo, s.Hi = append(s.Lo, y-0.25), append(s.Hi, y+1+float64(len(s.Hi)))
			}
		}
		r.Configurations = append(r.Configurations, c)
	}
	r.Configurations = r.Configurations[:3]
	p := only(&r, "curves")[0].Panels[0]
	if len(p.Layers) != 6 {
		t.Fatalf("%d layers", len(p.Layers))
	}
	for i := range 3 {
		band, line := p.Layers[i].(figure.Band), p.Layers[3+i].(figure.Line)
		if band.Name != line.Name || !slices.Equal(band.X, line.X) || len(band.Lo) != 91 || band.Lo[90] != line.Y[90]-0.25 || band.Hi[90] != line.Y[90]+91 {
			t.Errorf("band %+v of %+v", band, line)
		}
	}
	lo, hi := 0.1-0.25, 0.1+75*75/2e4+76 // after 75 of 100 cases
	if margin := 0.03 * (hi - lo); !near(p.Y.Lo, lo-margin, 1e-12) || !near(p.Y.Hi, hi+margin, 1e-12) {
		t.Errorf("the axis is %+v", p.Y)
	}
	calibration := only(&r, "curves")[0].Panels[1]
	if bars := of[figure.Intervals](calibration); len(bars) != 3 || len(bars[0].Hi) != 91 || bars[0].Hi[90] != bars[0].Y[90]+91 || calibration.Y.Lo != calibration.Y.Hi {
		t.Errorf("%d sets of bars, the axis %+v", len(bars), calibration.Y)
	}
	r.Configurations = append(r.Configurations, r.Configurations[0])
	for _, p := range only(&r, "curves")[0].Panels {
		if len(of[figure.Band](p)) > 0 || len(of[figure.Intervals](p)) > 0 {
			t.Errorf("four members have intervals: %+v", p)
		}
	}
}

// A figure shows the evaluations of one name on one data set and says what they share; too many are
// split into several figures.
func TestGroups(t *testing.T) {
	var r reports.Report
	for i, inference := range []string{"laplace", "ep", "ep"} {
		c := reporttest.Evaluated("probit", inference, cv.Estimate{Value: 0.1}, "error_reject")
		c.Dataset = []string{"a", "a", "b"}[i]
		again := c.Evaluations[0]
		again.Name, again.Curves = "test", nil
		c.Evaluations = append(c.Evaluations, again)
		r.Configurations = append(r.Configurations, c)
	}
	var titles, names []string
	for _, f := range All(&r) {
		titles = append(titles, f.Title)
		for _, l := range f.Panels[0].Layers {
			if l, ok := l.(figure.Line); ok {
				names = append(names, l.Name)
			}
		}
	}
	if want := []string{"Curves of held-out cases: a, kfold", "Curves of held-out cases: #2 b, ep, kfold", "Test information: a, test", "Test information: #2 b, ep, test"}; !slices.Equal(titles, want) {
		t.Errorf("titles %q, want %q", titles, want)
	}
	if want := []string{"#0 laplace", "#1 ep", "#2 b, ep"}; !slices.Equal(names, want) {
		t.Errorf("names %q, want %q", names, want)
	}
	r = reports.Report{Configurations: slices.Repeat([]reports.Configuration{reporttest.Evaluated("probit", "ep", cv.Estimate{Value: 0.1}, "error_reject")}, 2*shown.Most+1)}
	fs := only(&r, "curves")
	if len(fs) != 1 || len(fs[0].Of) != shown.Most || !strings.Contains(strings.Join(fs[0].Notes, " "), "21 more configurations are not drawn") {
		t.Errorf("%d pictures", len(fs))
	}
}

// A setting that one member of several has alone is in its name, and not in the title of all.
func TestSettingsOfOneMember(t *testing.T) {
	var r reports.Report
	for _, inference := range []string{"logistic_regression", "ep"} {
		r.Configurations = append(r.Configurations, reporttest.Evaluated("probit", inference, cv.Estimate{Value: 0.1}, "error_reject"))
	}
	r.Configurations[0].Kernel.Text = ""
	f := only(&r, "curves")[0]
	if line, ok := f.Panels[0].Layers[len(f.Panels[0].Layers)-1].(figure.Line); f.Title != "Curves of held-out cases" || !ok || line.Name != "#1 ep, se" {
		t.Errorf("title %q, layers %+v", f.Title, f.Panels[0].Layers)
	}
}

func TestInformationPictures(t *testing.T) {
	estimates := []cv.Estimate{{Value: 0.5, Lo: 0.375, Hi: 0.625}, {Value: -0.25, Lo: -0.5, Hi: 0}, {Value: 0.75, Lo: math.NaN(), Hi: math.NaN()}}
	var r reports.Report
	for _, e := range estimates {
		r.Configurations = append(r.Configurations, reporttest.Evaluated("probit", fmt.Sprintf("method_%v", e.Value), e))
	}
	r.Configurations = append(r.Configurations, reporttest.Hill()) // has contours
	fs := only(&r, "information")
	if len(fs) != 1 || fs[0].Name != "information-d-kfold" {
		t.Fatalf("%d figures with intervals, want one", len(fs))
	}
	p := fs[0].Panels[0]
	if want := []string{"#0 method_0.5: 0.500 (0.375\u00a0–\u00a00.625)", "#1 method_-0.25: −0.250 (−0.500\u00a0to\u00a00.000)", "#2 method_0.75: 0.750"}; !slices.Equal(p.Y.Names, want) {
		t.Errorf("rows %q, want %q", p.Y.Names, want)
	}
	rows := of[figure.Intervals](p)[0]
	for i, e := range estimates {
		if rows.X[i] != e.Value || rows.Y[i] != float64(i) || i < 2 && (rows.Lo[i] != e.Lo || rows.Hi[i] != e.Hi) || !rows.Horizontal {
			t.Errorf("row %d: %v (%v – %v)", i, rows.X[i], rows.Lo[i], rows.Hi[i])
		}
	}
	if zero := of[figure.Line](p); len(zero) != 1 || zero[0].X[0] != 0 || zero[0].X[1] != 0 || !zero[0].Dashed {
		t.Errorf("guessing is %+v", zero)
	}
}

func TestNothingToDraw(t *testing.T) {
	r := &reports.Report{Experiment: "empty", Missing: 3}
	svg := svgOf(t, r)
	if got := reporttest.Texts(t, svg); len(svg) > 2000 || len(got) != 2 || got[0] != "empty" || !strings.HasPrefix(got[1], "Nothing to draw") {
		t.Errorf("%s", svg)
	}
	if files := Drawn(r); len(files) != 0 {
		t.Errorf("%d files without a figure", len(files))
	}
}

// Any name is escaped.
func TestHostileText(t *testing.T) {
	for _, hostile := range []string{`<script>alert("x")</script>`, "</text></svg>", `"'&amp;`, "\x00\x1b\xff\ufffe", strings.Repeat("long ", 1000), "]]>", "%s%d", "../.."} {
		grid, curves := reporttest.Hill(), reporttest.Evaluated(hostile, hostile, cv.Estimate{Value: 1}, "error_reject")
		grid.Dataset, grid.Kernel, grid.Objective = hostile, record.Plain(hostile), hostile
		for i := range grid.Grid {
			grid.Grid[i].Point[0].Name = hostile
		}
		grid.Best = grid.BestPoints()
		curves.Dataset, curves.Evaluations[0].Name = hostile, hostile
		plain := reporttest.Evaluated(hostile, "", cv.Estimate{Value: 1, Lo: 0, Hi: 2})
		r := &reports.Report{Experiment: hostile, Configurations: []reports.Configuration{grid, curves, plain}}
		svg := svgOf(t, r)
		reporttest.Texts(t, svg)
		if bytes.Contains(svg, []byte("<script")) || bytes.Contains(svg, []byte("%!")) {
			t.Errorf("%q is not escaped", hostile)
		}
		fs := All(r)
		if len(fs) != 6 {
			t.Errorf("%q: %d figures", hostile, len(fs))
		}
		for _, f := range fs {
			if !regexp.MustCompile(`^[a-z0-9-]{1,90}$`).MatchString(f.Name) {
				t.Errorf("%q is the name of a file", f.Name)
			}
		}
	}
}

// Coordinates are finite for any input.
func TestOddNumbers(t *testing.T) {
	odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, -1, 1, 1e-320, 1e300, -math.MaxFloat64, 1e149, -1e149, 1e-149, 1 + 1e-15, math.Pi}
	r := rand.New(rand.NewPCG(7, 8))
	pick := func() float64 { return odd[r.IntN(len(odd))] }
	lattices := 0
	trials := exhaustive.Of(160, 500)
	for trial := range trials {
		c := reporttest.Hill()
		for range 1 + trial%20 {
			p := &c.Grid[r.IntN(len(c.Grid))]
			switch r.IntN(3) {
			case 0:
				value := reports.Number(pick())
				p.LogEvidence = &value
			case 1:
				p.Scores[r.IntN(2)].Value = reports.Number(pick())
			case 2:
				k, from, to := []int{0, 2}[r.IntN(2)], p.Point, reports.Number(pick())
				old := from[k].Value
				for i := range c.Grid { // a whole row of the grid
					if q := c.Grid[i].Point; q[k].Value == old {
						q[k].Value = to
					}
				}
			}
		}
		c.Best = c.BestPoints()
		if tuning.OnLattice(c.Grid) {
			lattices++
		}
		curves := reporttest.Evaluated("probit", "ep", cv.Estimate{Value: pick(), Lo: pick(), Hi: pick()}, "error_reject", "calibration")
		for range 5 {
			curves.Curves[r.IntN(2)].Series.Y[r.IntN(100)] = pick()
		}
		plain := reporttest.Evaluated("probit", "ep", cv.Estimate{Value: pick(), Lo: pick(), Hi: pick()})
		plain.Dataset = "other"
		reporttest.Texts(t, svgOf(t, &reports.Report{Configurations: []reports.Configuration{c, curves, plain}}))
	}
	if lattices < trials/5 {
		t.Errorf("only %d grids were drawn", lattices)
	}
}

// only returns the figures whose names begin with name.
func only(r *reports.Report, name string) (out []figure.Figure) {
	for _, f := range All(r) {
		if strings.HasPrefix(f.Name, name) {
			out = append(out, f)
		}
	}
	return out
}

func svgOf(t testing.TB, r *reports.Report) []byte {
	t.Helper()
	var out bytes.Buffer
	if err := Draws(figure.SVG)(&out, r); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestSameBytes(t *testing.T) {
	r := &reports.Report{Experiment: "e", Configurations: []reports.Configuration{
		reporttest.Hill(), reporttest.Evaluated("probit", "ep", cv.Estimate{Value: 0.1}, "error_reject", "calibration"), reporttest.Evaluated("logit", "ep", cv.Estimate{Value: 0.2, Lo: 0, Hi: 1}),
	}}
	want := svgOf(t, r)
	for range 5 {
		if !golden.Equal(t, "the same report, other bytes", svgOf(t, r), want) {
			t.FailNow()
		}
	}
}

// Of many configurations the best have figures, and every other one has its own by its number.
func TestFiguresFollowTheVerdict(t *testing.T) {
	const n, best = 40, 33
	r := &reports.Report{Answer: &reports.Answer{Configuration: best}}
	for i := range n {
		c := reporttest.Evaluated("probit", "ep", cv.Estimate{Value: 0.1}, "error_reject")
		for k := range 9 {
			value := reports.Number(k)
			c.Grid = append(c.Grid, reports.GridPoint{LogEvidence: &value,
				Point: reports.Values{{Name: "a", Value: reports.Number(1 + k%3)}, {Name: "b", Value: reports.Number(1 + k/3)}}})
		}
		r.Configurations = append(r.Configurations, c)
		if i != best {
			r.Answer.Rivals = append(r.Answer.Rivals, reports.Rival{Configuration: (i*7 + 3) % n})
		}
	}
	r.Answer.Rivals = slices.DeleteFunc(r.Answer.Rivals, func(v reports.Rival) bool { return v.Configuration == best })
	grids := only(r, "grid")
	if len(grids) != shown.MostFigures || grids[0].Name != "grid-33" || grids[1].Name != fmt.Sprintf("grid-%d", r.Answer.Rivals[0].Configuration) {
		t.Fatalf("%d grids, the first %s, the next %s", len(grids), grids[0].Name, grids[1].Name)
	}
	looks := map[string]int{}
	for _, name := range []string{"grid-33", "grid-0", "grid-39", "curves-d-kfold", "curves-d-kfold-39", "curves-39"} {
		f, err := Named(r, name)
		if err != nil || f.Name != name {
			t.Fatalf("%s: %q, %v", name, f.Name, err)
		}
		for label, look := range f.Looks {
			number, _, _ := strings.Cut(label, " ")
			if was, met := looks[number]; met && was != look {
				t.Errorf("%s: %s has the look %d, elsewhere %d", name, number, look, was)
			}
			looks[number] = look
		}
	}
	if f, _ := Named(r, "curves-d-kfold-39"); !slices.Equal(f.Of, []int{best, 39}) {
		t.Errorf("the curves of #39 are beside others than the best: %v", f.Of)
	}
	for _, name := range []string{"grid-40", "latent-3", "grid"} {
		if _, err := Named(r, name); err == nil {
			t.Errorf("%s is found", name)
		}
	}
	r.Manifest.Figures = []string{"grid-39"}
	if fs := Drawn(r); len(fs) != 1 || fs[0].Name != "grid-39" {
		t.Errorf("files of %d figures", len(fs))
	}
}
