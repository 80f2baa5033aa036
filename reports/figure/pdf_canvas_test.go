package figure

import (
	"bytes"
	"compress/zlib"
	"encoding/binary"
	"fmt"
	"image/color"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/image/font/sfnt"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// operators are the names of the operators of a page, each with its operands.
func operators(t *testing.T, page string) (names []string, operands [][]float64) {
	t.Helper()
	var numbers []float64
	for _, word := range strings.Fields(page) {
		if v, err := strconv.ParseFloat(word, 64); err == nil {
			numbers = append(numbers, v)
			continue
		}
		names, operands, numbers = append(names, word), append(operands, numbers), nil
	}
	return names, operands
}

// An arc stays on its circle, from its start to its end, in the direction of its angle.
func TestArcsOfThePDF(t *testing.T) {
	const x, y, r = 30.0, -20.0, 12.0
	for _, c := range []struct {
		start, angle float64
		parts        int // arcs of at most a quarter circle
	}{
		{0, math.Pi / 2, 1}, {1, math.Pi / 4, 1}, {-2, -math.Pi, 2}, {0.5, 1.6, 2}, {0, 2 * math.Pi, 4}, {3, -5, 4}, {1, 0, 1},
	} {
		var path vg.Path
		path.Move(point{X: x + 1, Y: y})
		path.Arc(point{X: x, Y: y}, r, c.start, c.angle)
		path.Line(point{X: 7, Y: 8})
		path.Close()
		canvas := new(pdf)
		canvas.Stroke(path)
		names, operands := operators(t, canvas.page.String())
		if got, want := strings.Join(names, ""), "ml"+strings.Repeat("c", c.parts)+"lhS"; got != want {
			t.Errorf("%+v: operators %s, want %s", c, got, want)
			continue
		}
		if at := operands[0]; at[0] != x+1 || at[1] != y {
			t.Errorf("%+v: begins at %v", c, at)
		}
		from := operands[1]
		for k, to := range operands[2 : 2+c.parts] {
			before := math.Inf(-1)
			for _, s := range []float64{0, 0.25, 0.5, 0.75, 1} {
				cubic := func(i int) float64 {
					u := 1 - s
					return u*u*u*from[i] + 3*u*u*s*to[i] + 3*u*s*s*to[2+i] + s*s*s*to[4+i]
				}
				px, py := cubic(0), cubic(1)
				if d := math.Hypot(px-x, py-y); math.Abs(d-r) > 4e-4*r {
					t.Errorf("%+v: part %d is %v away from its centre", c, k, d)
				}
				// How far the point is turned from the start of the part, in the direction of the arc.
				begin := c.start + c.angle*float64(k)/float64(c.parts)
				turned := math.Remainder(math.Atan2(py-y, px-x)-begin, 2*math.Pi) * math.Copysign(1, c.angle)
				want := math.Abs(c.angle) / float64(c.parts) * s
				if s == 0 || s == 0.5 || s == 1 {
					if math.Abs(turned-want) > 1e-4 {
						t.Errorf("%+v: part %d has turned by %v after %v of it, want %v", c, k, turned, s, want)
					}
				}
				if turned < before-1e-9 {
					t.Errorf("%+v: part %d turns back", c, k)
				}
				before = turned
			}
			from = to[4:]
		}
	}
}

// Changes of the state of a page are written as in ISO 32000-1; equal opacities and fonts are the
// same objects.
func TestStateOfThePDF(t *testing.T) {
	c := new(pdf)
	c.SetColor(color.NRGBA{0x33, 0x66, 0xff, 0x80})
	c.SetColor(color.Black)
	c.SetColor(color.NRGBA{0xff, 0, 0x33, 0x80})
	c.SetLineWidth(1.5)
	c.SetLineDash([]vg.Length{3.5, 2}, 0.25)
	c.Push()
	c.Translate(point{X: 3, Y: -0.00001})
	c.Scale(2, 0.5)
	c.Rotate(math.Pi / 6)
	c.Pop()
	want := `0.2 0.4 1 rg
0.2 0.4 1 RG
/A0 gs
0 0 0 rg
0 0 0 RG
/A1 gs
1 0 0.2 rg
1 0 0.2 RG
/A0 gs
1.5 w
[ 3.5 2] 0.25 d
q
1 0 0 1 3 0 cm
2 0 0 0.5 0 0 cm
0.866 0.5 -0.5 0.866 0 0 cm
Q
`
	if got := c.page.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	c.page.Reset()
	for _, l := range []textStyle{plain, heading, small, headline} {
		c.FillString(l.face(), point{X: 10, Y: -2.5}, "i")
	}
	if got := regexp.MustCompile(`<.*>`).ReplaceAllString(c.page.String(), ""); len(c.fonts) != 2 ||
		got != "BT /F0 9 Tf 10 -2.5 Td [] TJ ET\nBT /F1 9.5 Tf 10 -2.5 Td [] TJ ET\nBT /F0 8 Tf 10 -2.5 Td [] TJ ET\n"+
			"BT /F1 12 Tf 10 -2.5 Td [] TJ ET\n" {
		t.Errorf("%d fonts, %s", len(c.fonts), got)
	}
}

// The numbers of a PDF have four decimals and no exponent; its texts are UTF-16 in hexadecimal digits.
func TestNumbersAndTextsOfThePDF(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 100: "100", -0.5: "-0.5", 1e-5: "0", -1e-5: "0", 1e9: "1000000000",
		1.23456: "1.2346", 0.0001: "0.0001", 20.10: "20.1"} {
		if got := decimal(v); got != want {
			t.Errorf("%v is written %s, want %s", v, got, want)
		}
	}
	if got, want := utf16Hex("aé𝛿"), "006100e9d835deff"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// objects returns the objects of a PDF, and the contents of its streams.
func objects(t *testing.T, file string) (bodies, streams map[int]string) {
	t.Helper()
	bodies, streams = map[int]string{}, map[int]string{}
	for _, found := range regexp.MustCompile(`(?s)(\d+) 0 obj\n(.*?)\nendobj\n`).FindAllStringSubmatch(file, -1) {
		n, _ := strconv.Atoi(found[1])
		bodies[n] = found[2]
		if dictionary, packed, is := strings.Cut(found[2], "\nstream\n"); is {
			packed = strings.TrimSuffix(packed, "\nendstream")
			if want := fmt.Sprintf("/Length %d ", len(packed)); !strings.Contains(dictionary, want) {
				t.Errorf("object %d: %s, want %s", n, dictionary, want)
			}
			z, err := zlib.NewReader(strings.NewReader(packed))
			if err != nil {
				t.Fatal(err)
			}
			content, err := io.ReadAll(z)
			if err != nil {
				t.Fatal(err)
			}
			bodies[n], streams[n] = dictionary, string(content)
		}
	}
	return bodies, streams
}

// Every object of a PDF is found at the place that others name for it. The opacities are the
// opacities of the colours.
func TestObjectsOfThePDF(t *testing.T) {
	c := &pdf{width: 200, height: 100.5}
	c.SetColor(color.NRGBA{A: 0xff})
	c.SetColor(color.NRGBA{A: 0x33})
	c.FillString(plain.face(), point{}, "AV")
	file := string(c.document("Title"))
	bodies, streams := objects(t, file)
	refer := func(from, name string) int {
		t.Helper()
		found := regexp.MustCompile(name + ` \[?(\d+) 0 R`).FindStringSubmatch(from)
		if found == nil {
			t.Fatalf("no %s in %s", name, from)
		}
		n, _ := strconv.Atoi(found[1])
		return n
	}
	trailer := file[strings.LastIndex(file, "trailer"):]
	if want := fmt.Sprintf("/Size %d ", len(bodies)+1); !strings.Contains(trailer, want) {
		t.Errorf("%s, want %s", trailer, want)
	}
	pages := refer(bodies[refer(trailer, "/Root")], "/Pages")
	page := refer(bodies[pages], "/Kids")
	if refer(bodies[page], "/Parent") != pages || !strings.Contains(bodies[page], "/MediaBox [0 0 200 100.5]") {
		t.Errorf("pages %d, page %s", pages, bodies[page])
	}
	if states := "/A0 << /ca 1 /CA 1 >> /A1 << /ca 0.2 /CA 0.2 >> "; !strings.Contains(bodies[page], states) {
		t.Errorf("%s, want %s", bodies[page], states)
	}
	if got := streams[refer(bodies[page], "/Contents")]; got != c.page.String() {
		t.Errorf("contents %s", got)
	}
	if info := bodies[refer(trailer, "/Info")]; !strings.Contains(info, "/Title <feff"+utf16Hex("Title")+">") {
		t.Error(info)
	}
	whole := bodies[refer(bodies[page], "/F0")]
	descendant := bodies[refer(whole, "/DescendantFonts")]
	if !strings.Contains(bodies[refer(descendant, "/FontDescriptor")], "/FontName /SUBSET+LiberationSans ") {
		t.Errorf("%s", bodies[refer(descendant, "/FontDescriptor")])
	}
	// The widths of A and V are 1366 units of the font, which has 2048 in its size.
	var b sfnt.Buffer
	for _, r := range "AV" {
		g, _ := regular().GlyphIndex(&b, r)
		if want := fmt.Sprintf("%d [666.9922]", g); !strings.Contains(descendant, want) {
			t.Errorf("%s, want %s", descendant, want)
		}
		if want := fmt.Sprintf("<%04x> <%04x>", g, r); !strings.Contains(streams[refer(whole, "/ToUnicode")], want) {
			t.Errorf("no %s", want)
		}
	}
	font := streams[refer(bodies[refer(descendant, "/FontDescriptor")], "/FontFile2")]
	if !strings.HasPrefix(font, "\x00\x01\x00\x00") {
		t.Errorf("the font begins with %q", font[:4])
	}
}

// Texts refer to their glyphs, moved together by the kerning of the font: AV by as much as V and A overlap.
func TestKerningInThePDF(t *testing.T) {
	e := &embedded{font: regular(), runes: map[sfnt.GlyphIndex]rune{}}
	var b sfnt.Buffer
	a, _ := regular().GlyphIndex(&b, 'A')
	v, _ := regular().GlyphIndex(&b, 'V')
	// Kerning moves the second letter to the left, which is a positive number in TJ.
	together := regular()
	face := font.Face{Font: font.Font{Size: 1000}, Face: together}
	kern := float64(face.Width("A")+face.Width("V")-face.Width("AV")) / 1000 * 1000
	found := regexp.MustCompile(fmt.Sprintf(`^\[<%04x>([0-9.]+)<%04x>\]$`, a, v)).FindStringSubmatch(e.show("AV"))
	if found == nil {
		t.Fatal(e.show("AV"))
	}
	if got, _ := strconv.ParseFloat(found[1], 64); kern <= 0 || math.Abs(got-kern) > 0.1 {
		t.Errorf("moved by %v, want %v", got, kern)
	}
	if got, want := e.show("AA"), fmt.Sprintf("[<%04x%04x>]", a, a); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got := e.show("V"); got != fmt.Sprintf("[<%04x>]", v) {
		t.Error(got)
	}
	if e.runes[a] != 'A' || e.runes[v] != 'V' || len(e.runes) != 2 {
		t.Errorf("glyphs in use: %v", e.runes)
	}
}

// fontTables reads the tables of a font file, and checks its directory. In files that were not made
// here, the sum of the table head is of other contents.
func fontTables(t *testing.T, file []byte, made bool) map[string][]byte {
	t.Helper()
	be := binary.BigEndian
	n := int(be.Uint16(file[4:]))
	entry := 0 // log₂ of the largest power of two that is not above n
	for 2<<entry <= n {
		entry++
	}
	for i, want := range []int{16 << entry, entry, 16*n - 16<<entry} {
		if got := int(be.Uint16(file[6+2*i:])); got != want {
			t.Errorf("number %d of the head of %d tables is %d, want %d", i, n, got, want)
		}
	}
	tables := map[string][]byte{}
	for i := range n {
		row := file[12+16*i:]
		from, length := int(be.Uint32(row[8:])), int(be.Uint32(row[12:]))
		padded := slices.Concat(file[from:from+length], make([]byte, 3))
		var sum uint32
		for at := 0; at+4 <= len(padded); at += 4 {
			sum += be.Uint32(padded[at:])
		}
		if name := string(row[:4]); (made || name != "head") && sum != be.Uint32(row[4:]) || from%4 != 0 {
			t.Errorf("table %s at %d has sum %x, not %x", row[:4], from, sum, be.Uint32(row[4:]))
		}
		tables[string(row[:4])] = file[from : from+length]
	}
	return tables
}

// The fonts in a PDF have the outlines of exactly the glyphs in use, including glyphs that are made
// up of others.
func TestSubsetsOfFonts(t *testing.T) {
	for _, f := range []*sfnt.Font{regular(), bold()} {
		e := &embedded{font: f, runes: map[sfnt.GlyphIndex]rune{}}
		used := map[sfnt.GlyphIndex]bool{}
		var b sfnt.Buffer
		for _, r := range "a ÅéǺǻ½ﬁΔ" {
			g, err := f.GlyphIndex(&b, r)
			if err != nil {
				t.Fatal(err)
			}
			used[g] = true
		}
		whole := e.source()
		file := subset(whole, slices.Sorted(maps.Keys(used)))
		if len(file) > len(whole)/2 {
			t.Errorf("%d bytes of %d", len(file), len(whole))
		}
		tables, all := fontTables(t, file, true), fontTables(t, whole, false)
		if got := binary.BigEndian.Uint16(tables["head"][50:]); got != 1 {
			t.Errorf("offsets are of kind %d", got)
		}
		if len(tables["glyf"])%4 != 0 || len(tables["loca"]) != 4*(f.NumGlyphs()+1) {
			t.Errorf("%d bytes of outlines, %d of their offsets", len(tables["glyf"]), len(tables["loca"]))
		}
		for name, table := range all { // tables that PDF does not require, but the reader of fonts does
			if tables[name] == nil {
				tables[name] = table
			}
		}
		read, err := sfnt.Parse(assembled(slices.Sorted(maps.Keys(tables)), tables))
		if err != nil {
			t.Fatal(err)
		}
		empty := 0
		for g := range sfnt.GlyphIndex(f.NumGlyphs()) {
			var b, b2 sfnt.Buffer
			want, err := f.LoadGlyph(&b, g, e.unit(), nil)
			if err != nil {
				t.Fatal(err)
			}
			got, err := read.LoadGlyph(&b2, g, e.unit(), nil)
			switch {
			case err == nil && slices.Equal(got, want):
			case used[g] || g == 0:
				t.Errorf("glyph %d has another outline, %v", g, err)
			case len(got) > 0:
				t.Errorf("glyph %d has a part of its outline", g)
			default:
				empty++
			}
		}
		if empty < f.NumGlyphs()/2 {
			t.Errorf("%d of %d outlines are left out", empty, f.NumGlyphs())
		}
	}
}

// The numbers of the components of an outline follow its ten bytes of head, with their flags and offsets between them.
func TestComponentsOfOutlines(t *testing.T) {
	const words, more = 1, 1 << 5
	var outline bytes.Buffer
	outline.Write(make([]byte, 10))
	put := func(flags, part uint16, rest int) {
		binary.Write(&outline, binary.BigEndian, []uint16{flags, part})
		outline.Write(bytes.Repeat([]byte{0xee}, rest))
	}
	put(more, 7, 2)              // offsets of a byte each
	put(more|words, 8, 4)        // offsets of two bytes each
	put(more|1<<3, 9, 2+2)       // and a scale
	put(more|1<<6, 10, 2+4)      // two scales
	put(more|words|1<<7, 11, 12) // a matrix
	put(0, 12, 2)
	put(more, 13, 2) // not a part any more
	if got := components(outline.Bytes()); !slices.Equal(got, []int{7, 8, 9, 10, 11, 12}) {
		t.Errorf("components %v", got)
	}
}
