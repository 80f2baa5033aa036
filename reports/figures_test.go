package reports

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/gpc-tune/gpc-tune/cv"
)

// element is one of the elements of an SVG picture, in their order.
type element struct {
	name, class, text string
	attributes        map[string]string
}

var notANumber = regexp.MustCompile(`NaN|Inf`)

// elements parses a picture, which must be well-formed and have numbers for coordinates.
func elements(t testing.TB, svg []byte) (out []element) {
	t.Helper()
	d := xml.NewDecoder(bytes.NewReader(svg))
	var open []int // indices into out
	for {
		token, err := d.Token()
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatalf("not XML: %v\n%s", err, svg)
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := element{name: token.Name.Local, attributes: map[string]string{}}
			for _, a := range token.Attr {
				if e.attributes[a.Name.Local] = a.Value; notANumber.MatchString(a.Value) {
					t.Fatalf("%s has %s=%q", e.name, a.Name.Local, a.Value)
				}
			}
			e.class = e.attributes["class"]
			open = append(open, len(out))
			out = append(out, e)
		case xml.EndElement:
			open = open[:len(open)-1]
		case xml.CharData:
			if len(open) > 0 {
				out[open[len(open)-1]].text += string(token)
			}
		}
	}
	if len(out) == 0 || out[0].name != "svg" {
		t.Fatalf("no picture: %s", svg)
	}
	return out
}

func (e element) number(t testing.TB, name string) float64 {
	t.Helper()
	return parse64(t, e.attributes[name])
}

func parse64(t testing.TB, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(strings.ReplaceAll(text, "−", "-"), 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

var vertex = regexp.MustCompile(`[ML](-?[0-9.]+) (-?[0-9.]+)`)

// vertices are the absolute points of a path.
func (e element) vertices(t testing.TB) (out []spot) {
	t.Helper()
	for _, m := range vertex.FindAllStringSubmatch(e.attributes["d"], -1) {
		out = append(out, spot{parse64(t, m[1]), parse64(t, m[2])})
	}
	return out
}

// panel is a panel read back from a picture: axes map pixels to values.
type panel struct {
	title, xLabel, yLabel string
	x, y                  func(px float64) float64
	content               []element
}

func (p panel) value(s spot) (x, y float64) { return p.x(s.x), p.y(s.y) }

// of lists the content of a class.
func (p panel) of(class string) (out []element) {
	for _, e := range p.content {
		if e.class == class {
			out = append(out, e)
		}
	}
	return out
}

// panels reads the panels of a picture. A panel's content stands before its ticks, but for marks and labels of levels,
// which follow its titles.
func panels(t testing.TB, all []element) (out []panel) {
	t.Helper()
	last := 0
	for i, e := range all {
		if e.class != "frame" {
			continue
		}
		first := i
		for strings.HasPrefix(all[first-1].class, "tick ") {
			first--
		}
		axis := func(class, attribute string, shift float64) func(float64) float64 {
			var at, values []float64
			for _, tick := range all[first:i] {
				if tick.class == class {
					at, values = append(at, tick.number(t, attribute)-shift), append(values, parse64(t, tick.text))
				}
			}
			if len(at) < 2 {
				return nil
			}
			n := len(at) - 1
			return func(px float64) float64 {
				return values[0] + (px-at[0])/(at[n]-at[0])*(values[n]-values[0])
			}
		}
		p := panel{title: all[i+1].text, xLabel: all[i+2].text, yLabel: all[i+3].text, x: axis("tick middle", "x", 0), y: axis("tick end", "y", 4)}
		for _, e := range all[last:first] {
			if !slices.Contains([]string{"best", "rim", "level"}, e.class) {
				p.content = append(p.content, e)
			}
		}
		last = i + 4
		for _, e := range all[last:] {
			if !slices.Contains([]string{"best", "rim", "level"}, e.class) {
				break
			}
			p.content = append(p.content, e)
		}
		out = append(out, p)
	}
	return out
}

func texts(all []element, class string) (out []string) {
	for _, e := range all {
		if e.class == class {
			out = append(out, e.text)
		}
	}
	return out
}

func near(a, b, tolerance float64) bool { return math.Abs(a-b) <= tolerance }

// pixel bounds the error of a value read off an axis: coordinates have a tenth of a pixel, and panels are wider and
// higher than 150 pixels.
func pixel(valueRange float64) float64 { return 0.3 / 150 * valueRange }

// hill is a configuration with a grid of 11 length scales, ln = 0, 0.5, … 5, and 3 amplitudes, ln = -1, 0, 1. The log
// evidence is 10 i for the i-th length scale; the information is greatest and the errors are fewest elsewhere.
func hill() Configuration {
	c := Configuration{
		Dataset: "hills", Cases: 50, Inputs: 2, Kernel: "{se: {ard: true}}", Likelihood: "probit", Inference: "laplace", Tune: "grid",
		Objective: "log_evidence", Evaluations: []Evaluation{{Name: "test", Scores: Scores{N: 200}}}, Scores: Scores{N: 200},
	}
	for i := range 11 {
		for j := range 3 {
			evidence := Number(10 * i)
			c.Grid = append(c.Grid, GridPoint{
				Point:       Values{{"amplitude", Number(math.Exp(float64(j - 1)))}, {"noise", 0.1}, {"length_scale", Number(math.Exp(0.5 * float64(i)))}},
				LogEvidence: &evidence,
				Scores:      Values{{"information_bits", Number(hillInformation(float64(i), float64(j)))}, {"errors", Number(20 + (i-6)*(i-6) + 40*j)}, {"n", 200}},
			})
		}
	}
	c.Best = best(c.Objective, c.Grid)
	return c
}

func hillInformation(i, j float64) float64 { return -0.01*(i-4)*(i-4) - 0.013*j }

func TestContours(t *testing.T) {
	c := hill()
	all := elements(t, render(t, "svg", &Report{Experiment: "e", Configurations: []Configuration{c}}))
	if got := texts(all, "heading"); !slices.Equal(got, []string{"#0 hills · probit · laplace"}) {
		t.Errorf("headings %q", got)
	}
	ps := panels(t, all)
	if len(ps) != 3 {
		t.Fatalf("%d panels, want 3", len(ps))
	}
	for k, title := range []string{"log evidence (nats), best 100.00", "test information (bits per case), best 0.000", "errors (cases), best 20"} {
		p := ps[k]
		if p.title != title || p.xLabel != "ln length_scale" || p.yLabel != "ln amplitude" {
			t.Errorf("panel %q over %q and %q", p.title, p.xLabel, p.yLabel)
		}
	}
	// The evidence grows along x alone, by 20 for each unit of ln length_scale: the region above a level is a rectangle.
	p := ps[0]
	bands := p.of("contour")
	want := []float64{math.Inf(-1), 50, 80, 90, 95, 98, 99}
	if len(bands) != len(want) {
		t.Fatalf("%d bands, want %d", len(bands), len(want))
	}
	for k, band := range bands {
		x0, x1, y0, y1 := math.Inf(1), math.Inf(-1), math.Inf(1), math.Inf(-1)
		for _, v := range band.vertices(t) {
			x, y := p.value(v)
			x0, x1, y0, y1 = min(x0, x), max(x1, x), min(y0, y), max(y1, y)
		}
		if !near(x0, max(0, want[k]/20), pixel(5)) || !near(x1, 5, pixel(5)) || !near(y0, -1, pixel(2)) || !near(y1, 1, pixel(2)) {
			t.Errorf("above %v: x %v … %v, y %v … %v", want[k], x0, x1, y0, y1)
		}
	}
	for _, level := range p.of("level") {
		if x := p.x(level.number(t, "x")); !near(20*x, parse64(t, level.text), 20*pixel(5)) {
			t.Errorf("the label %s stands at ln length_scale %v", level.text, x)
		}
	}
	if len(p.of("level")) < 3 {
		t.Errorf("%d labels", len(p.of("level")))
	}
	// The information, linear along the edges of the grid, is the level where a line crosses one.
	p = ps[1]
	at, _ := levels(surface{z: [][]float64{informations(c)}}.known())
	crossed := [2]int{}
	for k, band := range p.of("contour")[1:] {
		for _, v := range band.vertices(t) {
			x, y := p.value(v)
			if x < 0.02 || x > 4.98 || y < -0.98 || y > 0.98 {
				continue // the border
			}
			i, j := 2*x, y+1
			along := 0
			if near(i, math.Round(i), 0.03) && !near(j, math.Round(j), 0.03) {
				along, i = 1, math.Round(i)
			}
			crossed[along]++
			lower, share := math.Floor(i), i-math.Floor(i)
			if value := (1-share)*hillInformation(lower, j) + share*hillInformation(lower+1, j); !near(value, at[k], 0.003) {
				t.Errorf("level %v passes %v, %v, where the information is %v", at[k], i, j, value)
			}
		}
	}
	if crossed[0] < 5 || crossed[1] < 5 {
		t.Errorf("lines cross %v edges", crossed)
	}
	// Marks: a cross at the best, which starts 6 pixels to the left, and a ring around the best evidence, 8 pixels.
	for k, want := range []spot{{5, -1}, {2, -1}} {
		p := ps[k]
		marks := p.of("best")
		if len(marks) != 2 {
			t.Fatalf("%d marks, want 2", len(marks))
		}
		cross, ring := marks[0].vertices(t)[0], marks[1].vertices(t)[0]
		if x, y := p.value(spot{cross.x + 6, cross.y}); !near(x, want.x, pixel(5)) || !near(y, want.y, pixel(2)) {
			t.Errorf("panel %d: the cross is at %v, %v", k, x, y)
		}
		if x, y := p.value(spot{ring.x + 8, ring.y}); !near(x, 5, pixel(5)) || !near(y, -1, pixel(2)) {
			t.Errorf("panel %d: the ring is at %v, %v", k, x, y)
		}
	}
}

func informations(c Configuration) (out []float64) {
	for _, p := range c.Grid {
		v, _ := p.Scores.Get("information_bits")
		out = append(out, v)
	}
	return out
}

// Every error count stands at its point, on a cell of its own, and what is best is framed.
func TestNumbersOnGrid(t *testing.T) {
	c := hill()
	p := panels(t, elements(t, render(t, "svg", &Report{Configurations: []Configuration{c}})))[2]
	written := map[[2]int]string{}
	for _, e := range p.of("count") {
		x, y := p.x(e.number(t, "x")), p.y(e.number(t, "y")-4)
		i, j := math.Round(2*x), math.Round(y)
		if !near(x, i/2, pixel(5.5)) || !near(y, j, 0.1) {
			t.Errorf("%s stands at %v, %v", e.text, x, y)
		}
		written[[2]int{int(i), int(j)}] = e.text
	}
	for i := range 11 {
		for j := range 3 {
			if got, want := written[[2]int{i, j - 1}], fmt.Sprint(20+(i-6)*(i-6)+40*j); got != want {
				t.Errorf("errors at %d, %d: %q, want %q", i, j, got, want)
			}
		}
	}
	if len(p.of("cell")) != 33 || len(written) != 33 {
		t.Errorf("%d cells, %d numbers, want 33", len(p.of("cell")), len(written))
	}
	cells := map[string]string{} // the colour below each number
	for k, e := range p.of("cell") {
		cells[p.of("count")[k].text] = e.attributes["fill"]
	}
	if cells["20"] != shade(1, 1) || cells["136"] != shade(0, 1) {
		t.Errorf("the fewest errors are on %s, the most on %s", cells["20"], cells["136"])
	}
	box := regexp.MustCompile(`M([0-9.]+) ([0-9.]+)H([0-9.]+)V([0-9.]+)`).FindStringSubmatch(p.of("best")[0].attributes["d"])
	x := p.x((parse64(t, box[1]) + parse64(t, box[3])) / 2)
	y := p.y((parse64(t, box[2]) + parse64(t, box[4])) / 2)
	if !near(x, 3, pixel(5.5)) || !near(y, -1, pixel(3)) {
		t.Errorf("framed: %v, %v", x, y)
	}
}

// Too many columns for all numbers: every second or third is written, and the best always.
func TestNumbersLeftOut(t *testing.T) {
	c := hill()
	c.Grid = nil
	for i := range 60 {
		for j := range 2 {
			evidence := Number(i)
			c.Grid = append(c.Grid, GridPoint{
				Point: Values{{"length_scale", Number(1 + i)}, {"mean.constant", Number(j)}}, LogEvidence: &evidence,
				Scores: Values{{"errors", Number(1000 + (i-33)*(i-33) + j)}},
			})
		}
	}
	c.Best = best(c.Objective, c.Grid)
	ps := panels(t, elements(t, render(t, "svg", &Report{Configurations: []Configuration{c}})))
	if len(ps) != 2 {
		t.Fatalf("%d panels, want 2: there is no information", len(ps))
	}
	p := ps[1]
	if p.yLabel != "mean.constant" {
		t.Errorf("a hyperparameter that is not positive is drawn as %q", p.yLabel)
	}
	var numbers []string
	for _, e := range p.of("count") {
		numbers = append(numbers, e.text)
	}
	if len(numbers) > 60 || !slices.Contains(numbers, "1000") {
		t.Errorf("%q", numbers)
	}
	if len(p.of("cell")) != 120 {
		t.Errorf("%d cells, want 120", len(p.of("cell")))
	}
}

func TestLevels(t *testing.T) {
	ramp := func(lo, hi float64) (out []float64) {
		for i := range 101 {
			out = append(out, lo+(hi-lo)*float64(i)/100)
		}
		return out
	}
	for _, test := range []struct {
		values []float64
		want   string
	}{
		{ramp(0, 100), "50 80 90 95 98 99"},                 // 5 % and less are left out, so 100 is too far below
		{ramp(-300, -90.4), "−200 −150 −120 −105 −100 −93"}, // 100, 50, 20, … nats below -90.4, rounded down
		{ramp(-0.2, 0.852), "0 0.6 0.75 0.8 0.83 0.84"},     // 0.5, 0.2, 0.1, … below 0.852
		{ramp(-3e-7, 5e-7), "0 3e−07 4e−07 4.5e−07 4.8e−07 4.9e−07"},
		{[]float64{3, 3, 3}, ""},
		{[]float64{1e6, 1e6 + 1e-6}, ""}, // as flat as rounding errors
	} {
		at, labels := levels(test.values)
		if got := strings.Join(labels, " "); got != test.want || len(at) != len(labels) {
			t.Errorf("%v … %v: levels %q, want %q", test.values[0], slices.Max(test.values), got, test.want)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		values := make([]float64, 2+r.IntN(100))
		scale, shift := math.Exp(10*r.NormFloat64()), math.Exp(5*r.NormFloat64())*r.NormFloat64()
		for i := range values {
			values[i] = shift + scale*r.NormFloat64()
		}
		at, _ := levels(values)
		for k, v := range at {
			if k > 0 && v <= at[k-1] || v >= slices.Max(values) {
				t.Fatalf("levels %v of values up to %v", at, slices.Max(values))
			}
		}
	}
}

// The region that loops enclose holds every point of the grid that is at least the level and no other one; with a level
// of -∞ and without gaps it is the whole grid, and its area grows by what an unknown point takes away.
func TestOutline(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for trial := range 300 {
		nx, ny := 3+r.IntN(6), 3+r.IntN(6)
		z := make([][]float64, nx)
		for i := range z {
			z[i] = make([]float64, ny)
			for j := range z[i] {
				z[i][j] = float64(r.IntN(7)) // ties with the level are common
			}
		}
		if trial%3 == 0 {
			z[r.IntN(nx)][r.IntN(ny)] = math.NaN()
		}
		level := 3.0
		if trial%5 == 0 {
			level = 3.5
		}
		loops := outline(z, level)
		at := func(n node) spot {
			p := spot{float64(n.i), float64(n.j)}
			switch n.along {
			case 'x':
				p.x += (level - z[n.i][n.j]) / (z[n.i+1][n.j] - z[n.i][n.j])
			case 'y':
				p.y += (level - z[n.i][n.j]) / (z[n.i][n.j+1] - z[n.i][n.j])
			}
			return p
		}
		for i := range nx - 2 {
			for j := range ny - 2 {
				i, j := i+1, j+1 // inner points
				unknown := false
				for di := -1; di <= 1; di++ {
					for dj := -1; dj <= 1; dj++ {
						unknown = unknown || math.IsNaN(z[i+di][j+dj])
					}
				}
				if unknown || z[i][j] == level {
					continue // on the boundary
				}
				if got, want := winding(loops, at, spot{float64(i), float64(j)}), z[i][j] >= level; got != 0 != want {
					t.Fatalf("%v: point %d, %d, level %v: winding number %v", z, i, j, level, got)
				}
			}
		}
	}
	square := [][]float64{{1, 2}, {3, 4}}
	if loops := outline(square, math.Inf(-1)); len(loops) != 1 || len(loops[0]) != 4 {
		t.Errorf("all of a cell: %v", loops)
	}
	// Opposite corners: apart if the mean of the cell is below the level.
	for level, want := range map[float64]int{4: 1, 6: 2} {
		if got := len(outline([][]float64{{10, 0}, {0, 10}}, level)); got != want {
			t.Errorf("level %v: %d regions, want %d", level, got, want)
		}
	}
	if loops := outline([][]float64{{1, 2}, {3, math.NaN()}}, 0); loops != nil {
		t.Errorf("around an unknown point: %v", loops)
	}
}

// winding is the number of times that loops go around a point.
func winding(loops [][]node, at func(node) spot, p spot) int {
	angle := 0.0
	for _, loop := range loops {
		for k, n := range loop {
			a, b := at(n), at(loop[(k+1)%len(loop)])
			ax, ay, bx, by := a.x-p.x, a.y-p.y, b.x-p.x, b.y-p.y
			angle += math.Atan2(ax*by-ay*bx, ax*bx+ay*by)
		}
	}
	return int(math.Round(angle / (2 * math.Pi)))
}

// Darker is worse, in grey too.
func TestShade(t *testing.T) {
	for last := 1; last < 12; last++ {
		before := -1.0
		for k := range last + 1 {
			var red, green, blue float64
			if _, err := fmt.Sscanf(shade(k, last), "#%02x%02x%02x", newByte(&red), newByte(&green), newByte(&blue)); err != nil {
				t.Fatal(err)
			}
			luminance := 0.2126*red + 0.7152*green + 0.0722*blue
			if luminance <= before || luminance < 110 {
				t.Errorf("colour %d of %d has luminance %v after %v", k, last, luminance, before)
			}
			before = luminance
		}
	}
}

type byteOf struct{ f *float64 }

func newByte(f *float64) byteOf { return byteOf{f} }

func (b byteOf) Scan(state fmt.ScanState, verb rune) error {
	var v uint8
	_, err := fmt.Fscanf(state, "%02x", &v)
	*b.f = float64(v)
	return err
}

func TestLatticeOf(t *testing.T) {
	points := func(keep func(i, j int) bool, place func(i, j int) Values) (out []GridPoint) {
		v := Number(1)
		for i := range 4 {
			for j := range 3 {
				if keep(i, j) {
					out = append(out, GridPoint{Point: place(i, j), LogEvidence: &v})
				}
			}
		}
		return out
	}
	all := func(int, int) bool { return true }
	plane := func(i, j int) Values { return Values{{"a", Number(1 + j)}, {"b", Number(1 + i)}} }
	for _, test := range []struct {
		what string
		grid []GridPoint
		want bool
	}{
		{"a grid", points(all, plane), true},
		{"with gaps", points(func(i, j int) bool { return (i+j)%2 == 0 }, plane), true},
		{"too few points", points(func(i, j int) bool { return i == j }, plane), false},
		{"one axis", points(all, func(i, j int) Values { return Values{{"a", 1}, {"b", Number(1 + i)}} }), false},
		{"random points", points(all, func(i, j int) Values {
			return Values{{"a", Number(1 + 3*i + j)}, {"b", Number(math.Exp(float64(j + 3*i)))}}
		}), false},
		{"three axes", points(all, func(i, j int) Values {
			return Values{{"a", Number(1 + i)}, {"b", Number(1 + j)}, {"c", Number(1 + i + j)}}
		}), false},
		{"infinity", points(all, func(i, j int) Values { return Values{{"a", Number(math.Inf(1 - 2*(i%2)))}, {"b", Number(1 + j)}} }), false},
		{"nothing", nil, false},
	} {
		l, ok := latticeOf(test.grid)
		if ok != test.want {
			t.Errorf("%s: %v", test.what, ok)
		}
		if !ok {
			continue
		}
		if l.across.label != "ln b" || l.up.label != "ln a" {
			t.Errorf("%s: %q across, which changes more slowly, and %q", test.what, l.across.label, l.up.label)
		}
		for k, p := range test.grid {
			i, j := l.find(k)
			if i < 0 || !near(math.Exp(l.across.values[i]), float64(p.Point[1].Number), 1e-12) || !near(math.Exp(l.up.values[j]), float64(p.Point[0].Number), 1e-12) {
				t.Errorf("%s: point %d is at %d, %d", test.what, k, i, j)
			}
		}
	}
	// A point that failed is not there.
	grid := points(all, plane)
	failed := Number(math.NaN())
	grid[5].LogEvidence = &failed
	if l, ok := latticeOf(grid); !ok || l.point[1][2] != -1 {
		t.Errorf("a failed point: %v, %v", ok, l.point)
	}
}

// evaluated is a configuration with reject curves of 100 cases and the test information given.
func evaluated(likelihood, inference string, information cv.Estimate, curves ...string) Configuration {
	e := Evaluation{Name: "kfold", Scores: Scores{N: 100, Results: []cv.Result{{Score: cv.Scores[0], Estimate: information}}}}
	for _, name := range curves {
		curve, err := cv.CurveNamed(name)
		if err != nil {
			panic(err)
		}
		var s cv.Series
		for i := range 100 {
			s.X, s.Y, s.N = append(s.X, float64(i)/100), append(s.Y, information.Value+float64(i*i)/2e4), append(s.N, 100-i)
		}
		e.Curves = append(e.Curves, Curve{curve, s})
	}
	return Configuration{Dataset: "d", Kernel: "se", Mean: "zero", Likelihood: likelihood, Inference: inference, Evaluations: []Evaluation{e}, Curves: e.Curves}
}

func TestCurves(t *testing.T) {
	r := &Report{Configurations: []Configuration{
		evaluated("probit", "laplace", cv.Estimate{Value: 0.1}, "error_reject", "information_reject", "calibration"),
		evaluated("logit", "laplace", cv.Estimate{Value: 0.2}, "error_reject", "information_reject", "calibration"),
	}}
	all := elements(t, render(t, "svg", r))
	if got := texts(all, "heading"); !slices.Equal(got, []string{"d · laplace · kfold"}) {
		t.Errorf("headings %q", got)
	}
	if got := texts(all, "key"); !slices.Equal(got, []string{"#0 probit", "#1 logit"}) {
		t.Errorf("legend %q", got)
	}
	ps := panels(t, all)
	if len(ps) != 3 {
		t.Fatalf("%d panels", len(ps))
	}
	for k, name := range []string{"error_reject", "information_reject", "calibration"} {
		p := ps[k]
		curve, _ := cv.CurveNamed(name)
		if p.title != strings.ReplaceAll(name, "_", "-") || p.xLabel != curve.X || p.yLabel != curve.Y {
			t.Errorf("panel %q over %q and %q", p.title, p.xLabel, p.yLabel)
		}
		lines := p.of("curve")
		if len(lines) != 2 || lines[0].attributes["stroke"] == lines[1].attributes["stroke"] || lines[0].attributes["stroke-dasharray"] == lines[1].attributes["stroke-dasharray"] {
			t.Fatalf("%s: lines %+v", name, lines)
		}
		last := 90. // with ten cases left
		if curve.Diagonal {
			last = 99
		}
		if diagonal := len(p.of("dashed")) == 1; diagonal != curve.Diagonal {
			t.Errorf("%s: a diagonal: %v", name, diagonal)
		} else if diagonal {
			for _, v := range p.of("dashed")[0].vertices(t) {
				if x, y := p.value(v); !near(x, y, pixel(2)) {
					t.Errorf("the diagonal passes %v, %v", x, y)
				}
			}
		}
		for c, line := range lines {
			vs := line.vertices(t)
			check := func(v spot, i float64) {
				t.Helper()
				if x, y := p.value(v); !near(x, i/100, pixel(1)) || !near(y, 0.1*float64(c+1)+i*i/2e4, pixel(1)) {
					t.Errorf("%s of configuration %d: %v, %v at %v", name, c, x, y, i)
				}
			}
			if len(vs) != int(last)+1 {
				t.Errorf("%s of configuration %d: %d points, want %v", name, c, len(vs), last+1)
			}
			check(vs[0], 0)
			check(vs[len(vs)-1], last)
			for _, v := range vs {
				check(v, math.Round(100*p.x(v.x)))
			}
		}
	}
}

// A picture has the evaluations by one name on one data set, and says what they share.
func TestGroups(t *testing.T) {
	var r Report
	for i, inference := range []string{"laplace", "ep", "ep"} {
		c := evaluated("probit", inference, cv.Estimate{Value: 0.1}, "error_reject")
		c.Dataset = []string{"a", "a", "b"}[i]
		again := c.Evaluations[0]
		again.Name, again.Curves = "test", nil
		c.Evaluations = append(c.Evaluations, again)
		r.Configurations = append(r.Configurations, c)
	}
	all := elements(t, render(t, "svg", &r))
	if got, want := texts(all, "heading"), []string{"a · probit · kfold", "a · probit · test", "b · probit · ep · kfold", "b · probit · ep · test"}; !slices.Equal(got, want) {
		t.Errorf("headings %q, want %q", got, want)
	}
	if got, want := texts(all, "key"), []string{"#0 laplace", "#1 ep", "#2 "}; !slices.Equal(got, want) {
		t.Errorf("legends %q, want %q", got, want)
	}
	if len(panels(t, all)) != 4 {
		t.Errorf("%d panels, want 4", len(panels(t, all)))
	}
}

// Looks differ for as many curves as anybody compares, and neighbours differ without colour.
func TestLooks(t *testing.T) {
	seen := map[string]int{}
	grey := func(i int) string {
		_, _, outline := look(i)
		return fmt.Sprint(outline, dashes[i%len(dashes)])
	}
	for i := range 140 {
		line, marker, outline := look(i)
		if first, found := seen[line+marker+outline]; found {
			t.Errorf("curves %d and %d look the same", first, i)
		}
		seen[line+marker+outline] = i
		for j := max(0, i-19); j < i; j++ {
			if grey(i) == grey(j) {
				t.Errorf("curves %d and %d look the same in grey", j, i)
			}
		}
	}
}

func TestInformation(t *testing.T) {
	estimates := []cv.Estimate{{Value: 0.5, Lo: 0.375, Hi: 0.625}, {Value: -0.25, Lo: -0.5, Hi: 0}, {Value: 0.75, Lo: math.NaN(), Hi: math.NaN()}}
	var r Report
	for _, e := range estimates {
		r.Configurations = append(r.Configurations, evaluated("probit", fmt.Sprintf("method_%v", e.Value), e))
	}
	r.Configurations = append(r.Configurations, hill()) // has contours
	all := elements(t, render(t, "svg", &r))
	ps := panels(t, all)
	if len(ps) != 4 {
		t.Fatalf("%d panels, want three with contours and one with intervals", len(ps))
	}
	p := ps[3]
	if p.title != "test information" || p.xLabel != "bits per case; 0 is guessing" {
		t.Errorf("panel %q over %q", p.title, p.xLabel)
	}
	dots, bars := p.of("marker"), p.of("curve")
	if len(dots) != 3 || len(bars) != 2 || len(p.of("dashed")) != 1 {
		t.Fatalf("%d dots, %d intervals, %d zeros", len(dots), len(bars), len(p.of("dashed")))
	}
	for i, e := range estimates {
		if x := p.x(dots[i].vertices(t)[0].x); !near(x, e.Value, pixel(2)) {
			t.Errorf("dot %d: %v, want %v", i, x, e.Value)
		}
		if i < 2 {
			lo, hi := bars[i].vertices(t)[0].x, parse64(t, regexp.MustCompile(`H([0-9.]+)`).FindStringSubmatch(bars[i].attributes["d"])[1])
			if !near(p.x(lo), e.Lo, pixel(2)) || !near(p.x(hi), e.Hi, pixel(2)) {
				t.Errorf("interval %d: %v … %v, want %v … %v", i, p.x(lo), p.x(hi), e.Lo, e.Hi)
			}
		}
	}
	if got, want := texts(p.content, "end"), []string{"#0 method_0.5", "#1 method_-0.25", "#2 method_0.75"}; !slices.Equal(got, want) {
		t.Errorf("rows %q, want %q", got, want)
	}
	if got, want := texts(p.content, "tick"), []string{"0.500  (0.375 – 0.625)", "−0.250  (−0.500 – 0.000)", "0.750"}; !slices.Equal(got, want) {
		t.Errorf("numbers %q, want %q", got, want)
	}
}

func TestNothingToDraw(t *testing.T) {
	svg := render(t, "svg", &Report{Experiment: "empty", Missing: 3})
	all := elements(t, svg)
	if notes := texts(all, "note"); len(svg) > 2000 || len(notes) != 2 || notes[0] != "incomplete: at least 3 jobs are missing" || !strings.HasPrefix(notes[1], "Nothing to draw") {
		t.Errorf("%s", svg)
	}
}

// Names are text, whatever they hold.
func TestHostileText(t *testing.T) {
	for _, hostile := range []string{`<script>alert("x")</script>`, "</text></svg>", `"'&amp;`, "\x00\x1b\xff\ufffe", strings.Repeat("long ", 1000), "]]>", "%s%d"} {
		grid, curves := hill(), evaluated(hostile, hostile, cv.Estimate{Value: 1}, "error_reject")
		grid.Dataset, grid.Kernel, grid.Objective = hostile, hostile, hostile
		for i := range grid.Grid {
			grid.Grid[i].Point[0].Name = hostile
		}
		grid.Best = best(hostile, grid.Grid)
		curves.Dataset, curves.Evaluations[0].Name = hostile, hostile
		plain := evaluated(hostile, "", cv.Estimate{Value: 1, Lo: 0, Hi: 2})
		svg := render(t, "svg", &Report{Experiment: hostile, Configurations: []Configuration{grid, curves, plain}})
		all := elements(t, svg)
		if bytes.Contains(svg, []byte("<script")) || bytes.Contains(svg, []byte("%!")) {
			t.Errorf("%q is not escaped", hostile)
		}
		if len(panels(t, all)) != 5 {
			t.Errorf("%q: %d panels", hostile, len(panels(t, all)))
		}
		if want := truncate(hostile, pageWidth-2*pageMargin); strings.HasPrefix(hostile, "<") && texts(all, "experiment")[0] != want {
			t.Errorf("%q reads %q", hostile, texts(all, "experiment")[0])
		}
	}
}

// Whatever the numbers are, coordinates are numbers.
func TestOddNumbers(t *testing.T) {
	odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, -1, 1, 1e-320, 1e300, -math.MaxFloat64, 1e149, -1e149, 1e-149, 1 + 1e-15, math.Pi}
	r := rand.New(rand.NewPCG(7, 8))
	pick := func() float64 { return odd[r.IntN(len(odd))] }
	lattices := 0
	for trial := range 2000 {
		c := hill()
		for range 1 + trial%20 {
			p := &c.Grid[r.IntN(len(c.Grid))]
			switch r.IntN(3) {
			case 0:
				value := Number(pick())
				p.LogEvidence = &value
			case 1:
				p.Scores[r.IntN(2)].Number = Number(pick())
			case 2:
				k, from, to := []int{0, 2}[r.IntN(2)], p.Point, Number(pick())
				old := from[k].Number
				for i := range c.Grid { // a whole row of the grid
					if q := c.Grid[i].Point; q[k].Number == old {
						q[k].Number = to
					}
				}
			}
		}
		c.Best = best(c.Objective, c.Grid)
		if _, ok := latticeOf(c.Grid); ok {
			lattices++
		}
		curves := evaluated("probit", "ep", cv.Estimate{Value: pick(), Lo: pick(), Hi: pick()}, "error_reject", "calibration")
		for range 5 {
			curves.Curves[r.IntN(2)].Series.Y[r.IntN(100)] = pick()
		}
		plain := evaluated("probit", "ep", cv.Estimate{Value: pick(), Lo: pick(), Hi: pick()})
		plain.Dataset = "other"
		elements(t, render(t, "svg", &Report{Configurations: []Configuration{c, curves, plain}}))
	}
	if lattices < 500 {
		t.Errorf("only %d grids were drawn", lattices)
	}
}

func TestSameBytes(t *testing.T) {
	r := &Report{Experiment: "e", Configurations: []Configuration{
		hill(), evaluated("probit", "ep", cv.Estimate{Value: 0.1}, "error_reject", "calibration"), evaluated("logit", "ep", cv.Estimate{Value: 0.2, Lo: 0, Hi: 1}),
	}}
	want := render(t, "svg", r)
	for range 20 {
		if !bytes.Equal(render(t, "svg", r), want) {
			t.Fatal("the same report, other bytes")
		}
	}
}

// Ticks are round, inside their axis, and at most as many as asked for; numbers far out do not break them.
func TestTicks(t *testing.T) {
	for _, test := range []struct {
		lo, hi float64
		most   int
		want   string
	}{
		{0, 4, 9, "0.0 0.5 1.0 1.5 2.0 2.5 3.0 3.5 4.0"},
		{-1, 3, 7, "−1 0 1 2 3"},
		{0.602, 0.714, 8, "0.62 0.64 0.66 0.68 0.70"},
		{-120, 119, 4, "−100 0 100"},
		{0, 1e9, 4, "0 5e+08 1e+09"},
	} {
		if _, labels := (axis{lo: test.lo, hi: test.hi}).ticks(test.most); strings.Join(labels, " ") != test.want {
			t.Errorf("%v … %v: %q, want %q", test.lo, test.hi, labels, test.want)
		}
	}
	r := rand.New(rand.NewPCG(5, 6))
	for range 1000 {
		a := newAxis("", []float64{math.Exp(60*r.NormFloat64()) * r.NormFloat64(), math.Exp(60*r.NormFloat64()) * r.NormFloat64()}, 0.05)
		most := 2 + r.IntN(9)
		at, _ := a.ticks(most)
		if len(at) == 0 || len(at) > most+1 {
			t.Fatalf("%v … %v: %d ticks", a.lo, a.hi, len(at))
		}
		for _, v := range at {
			if s := (v - a.lo) / (a.hi - a.lo); !(s > -1e-6 && s < 1+1e-6) {
				t.Fatalf("%v … %v: a tick at %v", a.lo, a.hi, v)
			}
		}
	}
}

// Pictures are drawn for whoever asks; results are always there.
func TestAlways(t *testing.T) {
	for _, f := range Formats {
		if want := f.Name == "json" || f.Name == "csv"; f.Always != want || f.Always && f.File == "" {
			t.Errorf("%s: always %v, in %q", f.Name, f.Always, f.File)
		}
	}
}
