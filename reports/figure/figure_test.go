package figure

import (
	"bytes"
	"encoding/xml"
	"flag"
	"fmt"
	"image/png"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	_ "github.com/gpc-tune/gpc-tune/internal/testing/garbage"
	"github.com/gpc-tune/gpc-tune/internal/testing/golden"
)

var pictures = flag.String("pictures", "", "folder for the pictures that the tests draw, as SVG and PNG")

func ramp(n int, f func(t float64) float64) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = f(float64(i) / float64(n-1))
	}
	return out
}

func table(ys, xs []float64, f func(x, y float64) float64) [][]float64 {
	out := make([][]float64, len(ys))
	for i, y := range ys {
		for _, x := range xs {
			out[i] = append(out[i], f(x, y))
		}
	}
	return out
}

// examples has a layer of every kind.
func examples() []Figure {
	xs, ys := ramp(17, func(t float64) float64 { return 1 + 4*t }), ramp(23, func(t float64) float64 { return 5 * t })
	hill := func(x, y float64) float64 { return -100 - 20*(x-3)*(x-3) - 3*(y-2-x/2)*(y-2-x/2) }
	marks := []Layer{Mark{Name: "best log evidence", X: 3, Y: ys[16]}, Mark{Name: "best of the panel", X: 4, Y: ys[20]}}
	at := Axis{Label: "ln length_scale"}
	up := Axis{Label: "ln amplitude"}
	grid := Figure{Name: "grid", Title: "#0 USPS 3 against 5 · probit · laplace", Columns: 3, Notes: []string{"kernel se, mean zero; 767 training cases, 256 inputs; scores of test, 773 cases"}, Panels: []Panel{
		{Title: "log evidence (nats), best −100.00", X: at, Y: up, Layers: append([]Layer{Contours{X: xs, Y: ys, Z: table(ys, xs, hill)}}, marks...)},
		{Title: "test information (bits per case), best 0.853", X: at, Y: up, Layers: append([]Layer{Contours{X: xs, Y: ys, Z: table(ys, xs, func(x, y float64) float64 { return 0.85 - 0.03*math.Abs(hill(x+0.5, y)+100) })}}, marks...)},
		{Title: "errors (cases), best 18", X: at, Y: up, Layers: append([]Layer{NumberGrid{X: xs, Y: ys, Z: table(ys, xs, func(x, y float64) float64 { return math.Round(18 - 2*(hill(x, y)+100)) })}}, marks...)},
	}}
	r := rand.New(rand.NewPCG(1, 2))
	var reject []Layer
	names := []string{"#0 ep", "#1 laplace", "#2 svm", "#3 linear_probit", "#4 least_squares", "#5 nearest_neighbour, which has a long name", "#6 a", "#7 b"}
	for i, n := range names {
		x := ramp(200, func(t float64) float64 { return t })
		y := ramp(200, func(t float64) float64 { return 0.03 * (1 + 0.3*float64(i)) * math.Exp(-t*4) })
		if i < 2 {
			reject = append(reject, Band{Name: n, X: x, Lo: ramp(200, func(t float64) float64 { return 0.7 * y[int(t*199)] }), Hi: ramp(200, func(t float64) float64 { return 1.3 * y[int(t*199)] })})
		}
		reject = append(reject, Line{Name: n, X: x, Y: y, Markers: true})
	}
	curves := Figure{Name: "curves", Title: "usps · test", Columns: 2, Notes: []string{"773 predictions; reject curves end where fewer than 10 cases are left"}, Panels: []Panel{
		{Title: "error-reject", X: Axis{Label: "share rejected"}, Y: Axis{Label: "error rate of the rest"}, Layers: reject},
		{Title: "calibration", X: Axis{Label: "mean largest probability", Lo: 0.5, Hi: 1}, Y: Axis{Label: "share of correct decisions", Lo: 0.5, Hi: 1}, Square: true,
			Layers: []Layer{Line{X: []float64{0, 1}, Y: []float64{0, 1}, Dashed: true}, Line{Name: names[0], X: []float64{0.55, 0.65, 0.75, 0.85, 0.95, 0.999}, Y: []float64{0.4, 0.7, 0.74, 0.9, 0.96, 1}, Markers: true}}},
	}}
	cloud := func(n int, x, y, s float64) (xs, ys []float64) {
		for range n {
			xs, ys = append(xs, x+s*r.NormFloat64()), append(ys, y+s*r.NormFloat64())
		}
		return
	}
	ax, ay := cloud(60, -1, 0, 0.7)
	bx, by := cloud(60, 1, 0.5, 0.7)
	px := ramp(40, func(t float64) float64 { return -3 + 6*t })
	decision := Figure{Name: "decision", Title: "A decision in two dimensions", Columns: 1, Panels: []Panel{{Title: "p(1|x)", Square: true, X: Axis{Label: "x1"}, Y: Axis{Label: "x2"}, Layers: []Layer{
		Contours{X: px, Y: px, Z: table(px, px, func(x, y float64) float64 { return 1 / (1 + math.Exp(-2*x-y)) }), Levels: []float64{0.1, 0.3, 0.5, 0.7, 0.9}},
		Points{Name: "class 0", X: ax, Y: ay}, Points{Name: "class 1", X: bx, Y: by, Hollow: true},
	}}}}
	edges := ramp(21, func(t float64) float64 { return -4 + 8*t })
	bars := Figure{Name: "bars", Title: "Latent means", Columns: 2, Panels: []Panel{
		{Title: "test", X: Axis{Label: "latent mean"}, Y: Axis{Label: "cases"}, Layers: []Layer{
			Bars{Name: "class 0", Edges: edges, Heights: ramp(20, func(t float64) float64 { return math.Round(40 * math.Exp(-20*(t-0.3)*(t-0.3))) })},
			Bars{Name: "class 1", Edges: edges, Heights: ramp(20, func(t float64) float64 { return math.Round(30 * math.Exp(-20*(t-0.65)*(t-0.65))) })}}},
		{Title: "one dimension", X: Axis{Label: "x"}, Y: Axis{Label: "latent function"}, Layers: []Layer{
			Band{Name: "latent mean ± 2 standard deviations", X: px, Lo: ramp(40, func(t float64) float64 { return math.Sin(6*t) - 1 }), Hi: ramp(40, func(t float64) float64 { return math.Sin(6*t) + 1 })},
			Line{Name: "latent mean ± 2 standard deviations", X: px, Y: ramp(40, func(t float64) float64 { return math.Sin(6 * t) })},
			Line{Name: "chance", X: []float64{-3, 3}, Y: []float64{0.5, 0.5}, Dashed: true},
			Line{X: []float64{-3, 3}, Y: []float64{0, 0}},
		}},
	}}
	var rows, value, lo, hi []float64
	for i := range 6 {
		rows, value, lo, hi = append(rows, float64(i)), append(value, 0.2+0.1*float64(i)), append(lo, 0.15+0.09*float64(i)), append(hi, 0.25+0.11*float64(i))
	}
	intervals := Figure{Name: "intervals", Title: "crabs · kfold", Columns: 2, Panels: []Panel{
		{Title: "test information", X: Axis{Label: "bits per case; 0 is guessing"}, Y: Axis{Names: []string{"#0 ep", "#1 laplace with a name that is so long that it must go on a second line or third", "#2 pl", "#3", "#4", "#5"}},
			Layers: []Layer{Intervals{X: value, Y: rows, Lo: lo, Hi: hi, Horizontal: true}}},
		{Title: "the same upright", Y: Axis{Label: "bits per case"}, X: Axis{Names: []string{"ep", "laplace", "plain", "multiple logistic regression", "svm", "least squares"}},
			Layers: []Layer{Intervals{Name: "test", X: rows, Y: value, Lo: lo, Hi: hi}}},
	}}
	return []Figure{grid, curves, decision, bars, intervals}
}

func svg(t testing.TB, f Figure) string {
	t.Helper()
	var b bytes.Buffer
	if err := SVG(&b, f); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestPNG(t *testing.T) {
	for _, f := range examples() {
		var b bytes.Buffer
		if err := PNG(&b, f); err != nil {
			t.Fatal(err)
		}
		if *pictures != "" {
			os.WriteFile(filepath.Join(*pictures, f.Name+".png"), b.Bytes(), 0o666)
			os.WriteFile(filepath.Join(*pictures, f.Name+".svg"), []byte(svg(t, f)), 0o666)
		}
		picture, err := png.Decode(&b)
		if err != nil {
			t.Fatal(err)
		}
		p := f.page()
		if size := picture.Bounds().Size(); float64(size.X) != math.Round(p.width.Dots(192)) || float64(size.Y) != math.Round(p.depth.Dots(192)) {
			t.Errorf("%s: %v pixels for %v by %v points", f.Name, size, p.width, p.depth)
		}
	}
}

// element is an element of an SVG picture.
type element struct{ name, style, text string }

var notANumber = regexp.MustCompile(`NaN|Inf`)

// elements parses a picture, which must be well-formed XML with finite coordinates.
func elements(t testing.TB, svg string) (out []element) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(svg))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return out
		}
		if err != nil {
			t.Fatalf("not XML: %v\n%s", err, svg)
		}
		switch token := token.(type) {
		case xml.StartElement:
			e := element{name: token.Name.Local}
			for _, a := range token.Attr {
				if notANumber.MatchString(a.Value) && a.Name.Local != "aria-label" {
					t.Fatalf("%s has %s=%q", e.name, a.Name.Local, a.Value)
				}
				if a.Name.Local == "style" {
					e.style = a.Value
					if strings.Contains(e.style+";", "opacity:0;") {
						t.Fatalf("%s cannot be seen: %s", e.name, e.style)
					}
				}
			}
			out = append(out, e)
		case xml.CharData:
			if len(out) > 0 {
				out[len(out)-1].text += strings.TrimSpace(string(token))
			}
		}
	}
}

func count(all []element, name, style string) (n int) {
	for _, e := range all {
		if e.name == name && strings.Contains(e.style, style) {
			n++
		}
	}
	return n
}

func texts(all []element) (out []string) {
	for _, e := range all {
		if e.name == "text" {
			out = append(out, e.text)
		}
	}
	return out
}

// bare is a figure with only the given layers; what bare() draws without layers is subtracted in
// the tests.
func bare(layers ...Layer) Figure {
	return Figure{Panels: []Panel{{X: Axis{Lo: 0, Hi: 10}, Y: Axis{Lo: 0, Hi: 10}, Layers: layers}}}
}

// Every kind of layer draws its parts in its style, and once more in the legend if it has a name.
func TestLayers(t *testing.T) {
	empty := elements(t, svg(t, bare()))
	blue, black := "#0072B2", "#000000"
	square := [][]float64{{1, 2}, {3, math.NaN()}}
	for _, test := range []struct {
		layer          Layer
		stroke, fill   string
		strokes, fills int // counts include the legend
		paths, texts   int // counts of any colour
	}{
		{Line{Name: "a", X: []float64{0, 5, 10}, Y: []float64{1, 2, 3}, Markers: true}, blue, ":#0072B2", 2, 2, 4, 1},
		{Line{Name: "a", X: []float64{0, 5, 10}, Y: []float64{1, 2, 3}}, blue, ":#0072B2", 2, 0, 2, 1},
		{Line{X: []float64{0, 5, math.NaN(), 10, 12}, Y: []float64{1, 2, 3, 4, 5}}, black, "", 1, 0, 1, 0},
		{Line{Name: "a", X: []float64{0, 10}, Y: []float64{0, 10}, Dashed: true}, "#777777", "", 2, 0, 2, 1},
		{Points{Name: "a", X: []float64{1, 2, 11}, Y: []float64{1, 2, 3}}, blue, ":#0072B2", 0, 2, 2, 1}, // with white rims
		{Points{Name: "a", X: []float64{1, 2}, Y: []float64{1, 2}, Hollow: true}, blue, ":#FFFFFF", 2, 2, 2, 1},
		{Intervals{Name: "a", X: []float64{1, 2}, Y: []float64{3, 4}, Lo: []float64{2, math.NaN()}, Hi: []float64{5, 5}}, blue, ":#0072B2", 2, 2, 4, 1},
		{Intervals{Name: "a", X: []float64{1, 2}, Y: []float64{3, 4}, Lo: []float64{0, 1}, Hi: []float64{5, 5}, Horizontal: true}, blue, ":#0072B2", 3, 2, 5, 1},
		{Band{Name: "a", X: []float64{0, 5, 10}, Lo: []float64{1, 1, 1}, Hi: []float64{2, 3, 12}}, blue, "-opacity", 0, 2, 2, 1},
		{Bars{Name: "a", Edges: []float64{0, 1, 2, 3}, Heights: []float64{4, 0, 12}}, blue, "-opacity", 2, 2, 4, 1},
		{Contours{X: []float64{0, 10}, Y: []float64{0, 10}, Z: [][]float64{{0, 10}, {0, 10}}, Levels: []float64{2, 5}}, "#333333", "", 2, 0, 2 + 3 + 2, 2},
		{Contours{X: []float64{0, 10}, Y: []float64{0, 10}, Z: [][]float64{{0, 10}, {0, 10}}, Levels: []float64{2, 5}, Name: "a"}, blue, "", 2 + 1, 0, 3, 1},
		{Contours{X: []float64{0, 10}, Y: []float64{0, 10}, Z: [][]float64{{0, 10}, {0, 10}}, Levels: []float64{2, 5}, Name: "a", Dashed: true}, "#777777", "", 2 + 1, 0, 3, 1},
		{NumberGrid{X: []float64{2, 8}, Y: []float64{2, 8}, Z: square}, "#FFFFFF", "", 1, 0, 3 + 1, 3},
		{Mark{Name: "a", X: 5, Y: 5}, black, "", 2, 0, 4, 1},
		{Mark{Name: "a", X: 11, Y: 5}, black, "", 1, 0, 2, 1}, // outside
	} {
		all := elements(t, svg(t, bare(test.layer)))
		if got := count(all, "path", "stroke:"+test.stroke) - count(empty, "path", "stroke:"+test.stroke); got != test.strokes {
			t.Errorf("%+v: %d strokes of %s, want %d", test.layer, got, test.stroke, test.strokes)
		}
		if test.fill != "" {
			if got := count(all, "path", "fill"+test.fill); got != test.fills {
				t.Errorf("%+v: %d areas of %s, want %d", test.layer, got, test.fill, test.fills)
			}
		}
		if got := count(all, "path", "") - count(empty, "path", ""); got != test.paths {
			t.Errorf("%+v: %d paths, want %d", test.layer, got, test.paths)
		}
		if got := len(texts(all)) - len(texts(empty)); got != test.texts {
			t.Errorf("%+v: %d texts, want %d", test.layer, got, test.texts)
		}
	}
}

// Layers of the same name have the same style and one legend entry, in all panels.
func TestLegend(t *testing.T) {
	line := func(name string) Layer { return Line{Name: name, X: []float64{0, 1}, Y: []float64{0, 1}} }
	f := Figure{Columns: 2, Panels: []Panel{{Layers: []Layer{line("a"), line("b")}}, {Layers: []Layer{line("b"), Band{Name: "a", X: []float64{0, 1}, Lo: []float64{0, 0}, Hi: []float64{1, 1}}}}}}
	all := elements(t, svg(t, f))
	for name, want := range map[string]int{"a": 1, "b": 1} {
		n := 0
		for _, text := range texts(all) {
			if text == name {
				n++
			}
		}
		if n != want {
			t.Errorf("%s is in the legend %d times", name, n)
		}
	}
	for style, want := range map[string]int{"stroke:#0072B2": 2, "fill-opacity": 2, "stroke:#D55E00": 3} {
		if got := count(all, "path", style); got != want {
			t.Errorf("%d paths with %s, want %d", got, style, want)
		}
	}
}

// Styles differ for any realistic number of curves, and neighbouring styles differ without colour
// too.
func TestLooks(t *testing.T) {
	seen := map[string]int{}
	grey := func(i int) string {
		l := lookOf(i, 140)
		return fmt.Sprint(l.dashes, l.marker, l.hollow)
	}
	for i := range 140 {
		l := fmt.Sprint(lookOf(i, 140).colour, grey(i))
		if first, found := seen[l]; found {
			t.Errorf("curves %d and %d look the same", first, i)
		}
		seen[l] = i
		for j := max(0, i-19); j < i; j++ {
			if grey(i) == grey(j) {
				t.Errorf("curves %d and %d look the same in grey", j, i)
			}
		}
	}
}

// Any text is escaped, and none is wider than the page.
func TestHostileText(t *testing.T) {
	for _, hostile := range []string{`<script>alert("x")</script>`, "</text></svg>", `"'&amp;`, "\x00\x1b\xff\ufffe", strings.Repeat("long ", 1000), strings.Repeat("x", 5000), "]]>", "%s%d", "a\nb", ""} {
		f := Figure{Name: "a", Title: hostile, Notes: []string{hostile}, Columns: 3, Panels: []Panel{
			{Title: hostile, X: Axis{Label: hostile}, Y: Axis{Label: hostile}, Layers: []Layer{Line{Name: hostile, X: []float64{0, 1}, Y: []float64{0, 1}}, Mark{Name: hostile}}},
			{X: Axis{Names: []string{hostile, hostile}}, Y: Axis{Names: []string{hostile, "b"}}, Layers: []Layer{Points{Name: hostile + "2", X: []float64{0, 1}, Y: []float64{0, 1}}}},
		}}
		picture := svg(t, f)
		all := elements(t, picture)
		if strings.Contains(picture, "<script") || strings.Contains(picture, "%!") {
			t.Errorf("%q is not escaped", hostile)
		}
		for _, text := range texts(all) {
			if w := small.width(text); w > f.page().width {
				t.Errorf("%q is %v wide", text, w)
			}
		}
		if strings.HasPrefix(hostile, "<") && texts(all)[0] != hostile {
			t.Errorf("%q reads %q", hostile, texts(all)[0])
		}
	}
}

// Coordinates are finite for any input.
func TestOddNumbers(t *testing.T) {
	odd := []float64{math.NaN(), math.Inf(1), math.Inf(-1), 0, -1, 1, 1e-320, 1e300, -math.MaxFloat64, 1e149, -1e149, 1e-149, 1 + 1e-15, math.Pi, 2, 3}
	r := rand.New(rand.NewPCG(7, 8))
	pick := func(n int) (out []float64) {
		for range n {
			out = append(out, odd[r.IntN(len(odd))])
		}
		return out
	}
	for range 300 {
		lattice := spanOf(pick(3))
		xs, z := []float64{0, 1, 2 + math.Abs(min(lattice.hi, 1e100))}, [][]float64{pick(3), pick(3), pick(3)}
		f := Figure{Columns: r.IntN(4) - 1, Panels: []Panel{
			{X: Axis{Lo: pick(1)[0], Hi: pick(1)[0]}, Square: r.IntN(2) == 0, Layers: []Layer{Line{Name: "a", X: pick(5), Y: pick(5), Markers: true}, Points{X: pick(3), Y: pick(3)}, Mark{Name: "b", X: pick(1)[0], Y: pick(1)[0]}}},
			{Layers: []Layer{Band{X: pick(4), Lo: pick(4), Hi: pick(4)}, Bars{Edges: pick(4), Heights: pick(3)}}},
			{Layers: []Layer{Intervals{X: pick(4), Y: pick(4), Lo: pick(4), Hi: pick(4), Horizontal: r.IntN(2) == 0}}},
			{Layers: []Layer{Contours{X: xs, Y: xs, Z: z}}},
			{Layers: []Layer{NumberGrid{X: xs, Y: xs, Z: z}}},
			{},
		}}
		elements(t, svg(t, f))
	}
	elements(t, svg(t, Figure{}))
}

func TestSameBytes(t *testing.T) {
	for _, f := range examples() {
		golden.Equal(t, f.Name+": the same figure, other bytes", svg(t, f), svg(t, f))
	}
}

// A line through very many points takes no more space than its visible detail, and markers on the
// same place are drawn once.
func TestManyPoints(t *testing.T) {
	x := ramp(100_000, func(t float64) float64 { return t })
	y := ramp(100_000, func(t float64) float64 { return math.Sin(20 * t) })
	for _, l := range []Layer{Line{Name: "a", X: x, Y: y, Markers: true}, Points{Name: "a", X: x, Y: y}, Band{X: x, Lo: y, Hi: x}} {
		if n := len(svg(t, bare(l))); n > 300_000 {
			t.Errorf("%T: %d bytes", l, n)
		}
	}
}

// The parts of a figure are its styles, its panels and a sample for every name; a stack of figures
// contains what each contains alone.
func TestPartsAndStacks(t *testing.T) {
	for _, f := range examples() {
		panels, names, samples := f.Parts()
		if len(panels) != len(f.Panels) || len(names) != len(samples) {
			t.Fatalf("%s: %d panels, %d names, %d samples", f.Name, len(panels), len(names), len(samples))
		}
		whole := elements(t, svg(t, f))
		paths := 0
		for _, part := range slices.Concat(panels, samples) {
			paths += count(elements(t, svg(t, part)), "path", "")
		}
		if want := count(whole, "path", ""); paths != want {
			t.Errorf("%s: %d paths in parts, %d in all", f.Name, paths, want)
		}
	}
	fs := examples()
	var together bytes.Buffer
	if err := SVG(&together, fs...); err != nil {
		t.Fatal(err)
	}
	paths, depth := 0, 0.0
	for _, f := range fs {
		paths, depth = paths+count(elements(t, svg(t, f)), "path", ""), depth+f.page().depth.Points()
	}
	if got := count(elements(t, together.String()), "path", ""); got != paths {
		t.Errorf("%d paths in a stack, want %d", got, paths)
	}
	if got := stack(fs).depth.Points(); got != depth {
		t.Errorf("a stack is %v deep, want %v", got, depth)
	}
	_, _, samples := fs[1].Parts()
	if n := count(elements(t, svg(t, samples[1])), "path", "stroke:#D55E00"); n != 1 {
		t.Errorf("the second sample has %d lines of the second colour", n)
	}
}

// In SVG, points with titles have tooltips, escaped. Points outside the axes have none.
func TestTitlesOfPoints(t *testing.T) {
	var b bytes.Buffer
	f := Figure{Panels: []Panel{{X: Axis{Lo: 0, Hi: 2}, Y: Axis{Lo: 0, Hi: 2}, Layers: []Layer{
		Points{X: []float64{1, 1.5, 9}, Y: []float64{1, 1, 1}, Titles: []string{"a < b", "second", "outside"}}}}}}
	if err := SVG(&b, f); err != nil {
		t.Fatal(err)
	}
	for title, want := range map[string]bool{"<title>a &lt; b</title>": true, "<title>second</title>": true, "outside": false} {
		if strings.Contains(b.String(), title) != want {
			t.Errorf("%q: %v, want %v", title, !want, want)
		}
	}
	if err := PNG(io.Discard, f); err != nil {
		t.Error(err)
	}
}
