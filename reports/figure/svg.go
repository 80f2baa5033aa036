package figure

import (
	"bytes"
	"cmp"
	"fmt"
	"html"
	"image"
	"image/color"
	"io"
	"math"
	"strconv"
	"strings"

	weight "golang.org/x/image/font"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// SVG writes figures, one below the other, as one svg element, for a file or a part of a page.
func SVG(w io.Writer, figures ...Figure) error { return boxed(w, figures, writeSVG) }

func writeSVG(w io.Writer, figures []Figure) error {
	p := stack(figures)
	c := &svgCanvas{width: p.width, height: p.depth, stack: []state{{}}}
	c.group("scale(1, -1) translate(0, -%s)", digits(p.depth.Points()))
	vg.Initialize(c)
	p.draw(draw.New(c))
	c.Pop()
	c.flush()
	var titles, alts []string
	style, paper := "", "\n"+`<rect width="100%" height="100%" fill="#fff"/>`
	for _, f := range figures {
		titles, alts = append(titles, f.Title), append(alts, f.alt())
		if f.part != 0 {
			// inside a page it has no background, and shrinks only as far as it stays legible
			style, paper = fmt.Sprintf(` style="min-width:%.0fpt"`, 0.68*p.width), ""
		}
	}
	title := html.EscapeString(clean(strings.Join(titles, "; ")))
	alt := html.EscapeString(clean(strings.Join(alts, "; ")))
	_, err := fmt.Fprintf(w, `<svg xmlns="http://www.w3.org/2000/svg" width="%[8]gpt" height="%[9]gpt" `+
		`viewBox="0 0 %[1]g %[2]g"%[3]s role="img" aria-label="%[5]s" `+
		`font-family="Liberation Sans,Arial,Helvetica,sans-serif" font-size="8px">`+
		"\n<title>%[4]s</title>%[6]s\n%[7]s</svg>\n",
		p.width.Points(), p.depth.Points(), style, title, alt, paper, c.elements.String(),
		(p.scale * p.width).Points(), (p.scale * p.depth).Points())
	return err
}

// svgCanvas is a canvas that writes SVG elements, upside down in a group that turns them. It does
// not support curves and images, which no layer draws.
type svgCanvas struct {
	width, height vg.Length
	elements      bytes.Buffer
	stack         []state
	// The last path is held back: filled and then stroked, or stroked and then filled, it is one
	// element.
	points, filled, stroked string
	over                    bool // the stroke was first and the fill covers half of it
}

// state is saved by Push and restored by Pop.
type state struct {
	colour color.NRGBA
	width  float64
	dashes string
	offset float64
	groups int // number of groups that Pop ends
}

func (c *svgCanvas) Size() (w, h vg.Length) { return c.width, c.height }

func (c *svgCanvas) now() *state { return &c.stack[len(c.stack)-1] }

func (c *svgCanvas) SetLineWidth(w vg.Length) { c.now().width = w.Points() }

func (c *svgCanvas) SetLineDash(dashes []vg.Length, offset vg.Length) {
	var texts []string
	for _, d := range dashes {
		texts = append(texts, digits(d.Points()))
	}
	c.now().dashes, c.now().offset = strings.Join(texts, ","), offset.Points()
}

func (c *svgCanvas) SetColor(colour color.Color) {
	c.now().colour = color.NRGBAModel.Convert(colour).(color.NRGBA)
}

// group begins a group; all that follows is part of it, up to the Pop.
func (c *svgCanvas) group(transform string, args ...any) {
	c.flush()
	fmt.Fprintf(&c.elements, `<g transform="`+transform+"\">\n", args...)
	c.now().groups++
}

func (c *svgCanvas) Rotate(angle float64) { c.group("rotate(%g)", angle*180/math.Pi) }
func (c *svgCanvas) Translate(by vg.Point) {
	c.group("translate(%s, %s)", digits(by.X.Points()), digits(by.Y.Points()))
}
func (c *svgCanvas) Scale(x, y float64) { c.group("scale(%g,%g)", x, y) }

func (c *svgCanvas) Push() {
	top := *c.now()
	top.groups = 0
	c.stack = append(c.stack, top)
}

func (c *svgCanvas) Pop() {
	c.flush()
	c.elements.WriteString(strings.Repeat("</g>\n", c.now().groups))
	c.stack = c.stack[:len(c.stack)-1]
}

func (c *svgCanvas) Stroke(path vg.Path) {
	s := c.now()
	if s.width <= 0 {
		return
	}
	style := "stroke:" + hex(s.colour) + opacity(";stroke-opacity:", s.colour)
	if s.width != 1 {
		style += ";stroke-width:" + digits(s.width)
	}
	if s.dashes != "" {
		style += ";stroke-dasharray:" + s.dashes
	}
	if s.offset != 0 {
		style += ";stroke-dashoffset:" + digits(s.offset)
	}
	if points := trace(path); points != c.points || c.stroked != "" {
		c.flush()
		c.points = points
	}
	c.stroked = style
}

func (c *svgCanvas) Fill(path vg.Path) {
	s := c.now()
	style := opacity("fill-opacity:", s.colour)
	if colour := hex(s.colour); colour != "#000000" {
		style = strings.TrimSuffix("fill:"+colour+";"+style, ";")
	}
	if points := trace(path); points != c.points || c.filled != "" {
		c.flush()
		c.points = points
	}
	c.filled, c.over = cmp.Or(style, none), c.stroked != ""
}

// none is the style of a black fill, the default.
const none = " "

// flush writes the path that was held back.
func (c *svgCanvas) flush() {
	if c.points == "" {
		return
	}
	fill, stroke, end := strings.TrimSpace(c.filled), c.stroked, " />\n"
	switch {
	case c.filled == "":
		stroke = "fill:none;" + stroke
	case stroke != "":
		end = "/>\n"
		if c.over {
			stroke += ";paint-order:stroke"
		}
	}
	style := strings.Trim(fill+";"+stroke, ";")
	if style != "" {
		style = `style="` + style + `"`
	}
	fmt.Fprintf(&c.elements, `<path d="%s" %s%s`, c.points, style, end)
	c.points, c.filled, c.stroked, c.over = "", "", "", false
}

// tooltip lays an invisible circle with a tooltip over a point.
func (c *svgCanvas) tooltip(at vg.Point, radius vg.Length, title string) {
	c.flush()
	fmt.Fprintf(&c.elements, `<circle cx="%s" cy="%s" r="%s" fill-opacity="0"><title>%s</title></circle>`+"\n",
		digits(at.X.Points()), digits(at.Y.Points()), digits(radius.Points()), html.EscapeString(clean(title)))
}

func (c *svgCanvas) FillString(f font.Face, at vg.Point, text string) {
	c.flush()
	var styles []string
	if f.Font.Weight == weight.WeightBold {
		styles = append(styles, "font-weight:bold")
	}
	if size := digits(f.Font.Size.Points()); size != "8" { // the size of the svg element
		styles = append(styles, "font-size:"+size+"px")
	}
	if colour := hex(c.now().colour); colour != "#000000" {
		styles = append(styles, "fill:"+colour)
	}
	fmt.Fprintf(&c.elements, `<text x="%s" y="%s" transform="scale(1, -1)" style="%s">%s</text>`+"\n",
		digits(at.X.Points()), digits(-at.Y.Points()), strings.Join(styles, ";"), html.EscapeString(text))
}

func (c *svgCanvas) DrawImage(vg.Rectangle, image.Image) { panic("figure: an image in an SVG") }

// hair is the distance, in points, by which a line of an SVG may pass its vertices.
const hair = 0.05

// tracer writes the d of a path. Lines and circles have relative coordinates, which are shorter.
// Rounding errors do not add up, as each line begins where the one before ends after rounding.
type tracer struct {
	d    strings.Builder
	x, y float64    // the place of the pen, in hundredths of a point
	line []vg.Point // vertices that are not yet written, from the pen on
}

// trace is the d of a path, to hundredths of a point.
func trace(path vg.Path) string {
	var t tracer
	for _, part := range path {
		switch part.Type {
		case vg.MoveComp:
			t.jump("M", part.Pos)
		case vg.LineComp:
			t.line = append(t.line, part.Pos)
		case vg.ArcComp:
			t.arc(part)
		case vg.CloseComp:
			t.lines()
			t.d.WriteString("Z")
		default:
			panic("figure: a curve in an SVG")
		}
	}
	t.lines()
	return t.d.String()
}

// jump ends the line and moves the pen by a command with absolute coordinates.
func (t *tracer) jump(command string, to vg.Point) {
	t.lines()
	t.x, t.y = math.Round(100*to.X.Points()), math.Round(100*to.Y.Points())
	t.d.WriteString(command + hundredths(t.x) + "," + hundredths(t.y))
	t.line = append(t.line[:0], to)
}

// lines writes the vertices, and leaves the last one.
func (t *tracer) lines() {
	if len(t.line) < 2 {
		return
	}
	command := "l"
	for _, to := range thinned(t.line)[1:] {
		x, y := math.Round(100*to.X.Points()), math.Round(100*to.Y.Points())
		t.d.WriteString(command + hundredths(x-t.x) + "," + hundredths(y-t.y))
		t.x, t.y, command = x, y, " "
	}
	t.line = append(t.line[:0], t.line[len(t.line)-1])
}

func (t *tracer) arc(part vg.PathComp) {
	on := func(angle float64) vg.Point {
		sin, cos := math.Sincos(angle)
		return vg.Point{X: part.Pos.X + part.Radius*vg.Length(cos), Y: part.Pos.Y + part.Radius*vg.Length(sin)}
	}
	if from := on(part.Start); len(t.line) == 0 || from != t.line[len(t.line)-1] {
		t.line = append(t.line, from)
	}
	radius := part.Radius.Points()
	r := digits(radius)
	if part.Angle >= 2*math.Pi {
		t.lines()
		w := digits(2 * radius)
		fmt.Fprintf(&t.d, "a%[1]s,%[1]s 0 1 1-%[2]s,0 %[1]s,%[1]s 0 1 1 %[2]s,0", r, w)
		return
	}
	large, sweep := 0, 1
	if math.Abs(part.Angle) >= math.Pi {
		large = 1
	}
	if part.Angle < 0 {
		sweep = 0
	}
	t.jump(fmt.Sprintf("A%s,%s 0 %d %d ", r, r, large, sweep), on(part.Start+part.Angle))
}

// thinned is a line without the vertices that its other vertices pass by less than hair: Douglas &
// Peucker (1973).
func thinned(line []vg.Point) []vg.Point {
	first, last := line[0], line[len(line)-1]
	farthest, at := vg.Length(hair), 0
	for i := 1; i < len(line)-1; i++ {
		if d := apart(line[i], first, last); d > farthest {
			farthest, at = d, i
		}
	}
	if at == 0 {
		return []vg.Point{first, last}
	}
	return append(thinned(line[:at+1]), thinned(line[at:])[1:]...)
}

// apart returns the distance of p from the line through from and to.
func apart(p, from, to vg.Point) vg.Length {
	along, p := to.Sub(from), p.Sub(from)
	if length := along.Dot(along); length > 0 {
		p = p.Sub(along.Scale(max(0, min(1, p.Dot(along)/length))))
	}
	return vg.Length(math.Hypot(float64(p.X), float64(p.Y)))
}

// hundredths is a whole number of hundredths as a decimal.
func hundredths(v float64) string { return strconv.FormatFloat(v/100+0, 'f', -1, 64) }

// digits is a number to five significant digits.
func digits(v float64) string { return strconv.FormatFloat(v, 'g', 5, 64) }

func hex(c color.NRGBA) string { return fmt.Sprintf("#%02X%02X%02X", c.R, c.G, c.B) }

// opacity is the property of a colour that is not opaque, or empty.
func opacity(property string, c color.NRGBA) string {
	if c.A == 0xff {
		return ""
	}
	return property + digits(float64(c.A)/0xff)
}
